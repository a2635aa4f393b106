//! Unacknowledged datagrams, as a constant-rate source over UDP sends them.

use std::collections::VecDeque;

use rand_chacha::ChaCha8Rng;

use crate::config::Fault;
use crate::transport::tcp::ProxyConfig;
use crate::transport::{
    Chunk, Contents, Endpoint, FlowControl, Outbox, Packet, Protocol, Purpose, Received, Report,
    Streams,
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
        let dialogue = (purpose == Purpose::Dialogue).then(Default::default);
        let own = Datagrams { payload: self.payload().0, dialogue, ..Datagrams::default() };
        Some([Box::new(own.clone()), Box::new(own)])
    }

    fn dialogues(&self) -> Option<Streams> {
        Some(Streams::Datagrams)
    }
}

/// Sends everything that the application writes at once and counts arrivals. No acknowledgements,
/// no retransmissions.
#[derive(Clone, Debug, Default)]
struct Datagrams {
    payload: u32,
    /// In a dialogue, the datagrams written and not sent, and those that arrived and were not read.
    dialogue: Option<[VecDeque<Chunk>; 2]>,
    supplied: u64,
    next: u64,
    delivered: u64,
    read: u64,
    report: Report,
}

impl Endpoint for Datagrams {
    fn write(&mut self, stream: u32, bytes: u64, _: bool) {
        self.supplied = self.supplied.saturating_add(bytes);
        if let Some([written, _]) = &mut self.dialogue {
            written.push_back(Chunk { stream, bytes });
        }
    }

    fn close(&mut self) {}

    fn read(&mut self) -> Option<Chunk> {
        if let Some([_, arrived]) = &mut self.dialogue {
            return arrived.pop_front();
        }
        let bytes = self.delivered - std::mem::replace(&mut self.read, self.delivered);
        (bytes > 0).then_some(Chunk { stream: 0, bytes })
    }

    fn handle(&mut self, _: Instant, packet: &Packet, contents: Option<Contents>) -> Received {
        if let Some([_, arrived]) = &mut self.dialogue {
            let stream = contents.and_then(|own| own.downcast().ok().map(|own| *own));
            arrived.extend(stream.map(|stream| Chunk { stream, bytes: u64::from(packet.len) }));
        }
        self.delivered += u64::from(packet.len);
        self.report.receiver.distinct_bytes += u64::from(packet.size.0);
        Received::Data { in_vain: false, delivered: self.delivered }
    }

    fn transmit(&mut self, now: Instant, outbox: &mut Outbox) -> Option<Instant> {
        while self.next < self.supplied {
            let written = self.dialogue.as_mut().and_then(|[written, _]| written.pop_front());
            let bytes = written.map_or(self.supplied - self.next, |chunk| chunk.bytes);
            let len = bytes.min(u64::from(self.payload)) as u32;
            let size = Bytes(len + HEADER);
            let start = self.next;
            *outbox.draft() = Packet { size, len, start, first_sent: now, ..Packet::default() };
            if let Some(chunk) = written {
                outbox.attach(Box::new(chunk.stream));
            }
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

    fn report(&self) -> Report {
        self.report
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

    #[test]
    fn a_datagram_of_a_dialogue_arrives_with_its_number() {
        let protocol = DatagramConfig { packet: Bytes(1500) };
        let rng = Seed(1).rng(Stream::Flow(0));
        let [mut server, mut client] = protocol.connect(Purpose::Dialogue, [None; 2], rng).unwrap();
        let mut outbox = Outbox::default();
        server.write(7, 100, true);
        server.write(8, 200, true);
        server.transmit(Instant::ZERO, &mut outbox);
        let sent = outbox.sent().to_vec();
        assert_eq!(sent.iter().map(|&own| outbox[own].size.0).collect::<Vec<_>>(), [128, 228]);
        // The second arrives first.
        for number in sent.into_iter().rev() {
            let contents = outbox.take_contents(number);
            client.handle(Instant::ZERO, &outbox[number], contents);
        }
        let read = std::iter::from_fn(|| client.read()).collect::<Vec<_>>();
        assert_eq!(read, [Chunk { stream: 8, bytes: 200 }, Chunk { stream: 7, bytes: 100 }]);
        assert_eq!(client.delivered(), 300);
    }
}
