//! Unacknowledged datagrams, as a constant-rate source over UDP sends them.

use rand_chacha::ChaCha8Rng;

use crate::config::Fault;
use crate::transport::tcp::ProxyConfig;
use crate::transport::{
    Chunk, Contents, Endpoint, FlowControl, Limit, Outbox, Packet, Protocol, Purpose, Received,
    Report, Window,
};
use crate::units::{Bytes, Instant};

/// Bytes of an IPv4 and a UDP header.
pub const HEADER: u32 = 28;

/// UDP datagrams up to a maximum size.
///
/// ```
/// use clift::transport::Protocol;
/// use clift::transport::datagram::DatagramConfig;
/// use clift::units::Bytes;
/// let error = DatagramConfig { packet: Bytes(28) }.check().unwrap_err();
/// assert_eq!(error.to_string(), "packet: 28 bytes leave no room for data; give 29 to 65535");
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DatagramConfig {
    /// Size of the largest IP packet, headers included; at least 29.
    pub packet: Bytes,
}

impl Protocol for DatagramConfig {
    fn name(&self) -> &'static str {
        "udp"
    }

    fn check(&self) -> Result<(), Fault> {
        let (packet, least) = (self.packet.0, HEADER + 1);
        if !(least..=65_535).contains(&packet) {
            let message = format!("{packet} bytes leave no room for data; give {least} to 65535");
            return Err(Fault::new("packet", message));
        }
        Ok(())
    }

    fn packet(&self) -> Bytes {
        self.packet
    }

    fn payload(&self) -> Bytes {
        Bytes(self.packet.0.saturating_sub(HEADER).max(1))
    }

    fn flow_control(&self) -> FlowControl {
        FlowControl::None
    }

    fn connect(
        &self,
        purpose: Purpose,
        _: [Option<&ProxyConfig>; 2],
        _: ChaCha8Rng,
    ) -> Option<[Box<dyn Endpoint>; 2]> {
        let end = || Datagrams { payload: self.payload().0, ..Datagrams::default() };
        (purpose != Purpose::Dialogue).then(|| [end(), end()].map(|end| Box::new(end) as _))
    }
}

/// Sends everything that the application writes at once and counts arrivals. No acknowledgements,
/// no retransmissions.
#[derive(Clone, Debug, Default)]
struct Datagrams {
    payload: u32,
    supplied: u64,
    next: u64,
    delivered: u64,
    read: u64,
    report: Report,
}

impl Endpoint for Datagrams {
    fn write(&mut self, _: u32, bytes: u64, _: bool) {
        self.supplied = self.supplied.saturating_add(bytes);
    }

    fn close(&mut self) {}

    fn read(&mut self) -> Option<Chunk> {
        let bytes = self.delivered - std::mem::replace(&mut self.read, self.delivered);
        (bytes > 0).then_some(Chunk { stream: 0, bytes })
    }

    fn handle(&mut self, _: Instant, packet: &Packet, _: Option<Contents>) -> Received {
        self.delivered += u64::from(packet.len);
        self.report.receiver.distinct_bytes += u64::from(packet.size.0);
        Received::Data { in_vain: false, delivered: self.delivered }
    }

    fn transmit(&mut self, now: Instant, outbox: &mut Outbox) -> Option<Instant> {
        while self.next < self.supplied {
            let len = (self.supplied - self.next).min(u64::from(self.payload)) as u32;
            let size = Bytes(len + HEADER);
            let start = self.next;
            *outbox.draft() = Packet { size, len, start, first_sent: now, ..Packet::default() };
            outbox.send();
            self.next += u64::from(len);
            self.report.sender.on_sent(size.0);
            self.report.sender.on_acknowledged(1);
        }
        None
    }

    fn handle_timeout(&mut self, _: Instant) {}

    fn in_order(&self) -> bool {
        false
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn acknowledged(&self) -> Option<u64> {
        None
    }

    fn report(&self) -> Report {
        self.report
    }

    /// Everything leaves at once.
    fn limit(&self) -> Limit {
        Limit::Application
    }

    fn window(&self) -> Option<Window> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};

    #[test]
    fn data_are_split_into_packets_of_the_maximum_size() {
        let protocol = DatagramConfig { packet: Bytes(1500) };
        let rng = Seed(1).rng(Stream::Flow(0));
        let [mut sender, _] = protocol.connect(Purpose::OneWay, [None; 2], rng).unwrap();
        sender.write(0, 2000, false);
        let mut outbox = Outbox::default();
        sender.transmit(Instant::ZERO, &mut outbox);
        let sizes = outbox.sent().iter().map(|&number| outbox[number].size.0);
        assert_eq!(sizes.collect::<Vec<_>>(), [1500, 556]);
    }
}
