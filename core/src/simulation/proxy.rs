//! A proxy of a flow: a host whose application copies between two endpoints.

use crate::metrics::ProxyMetrics;
use crate::simulation::socket::Socket;
use crate::transport::tcp::ProxyConfig;
use crate::transport::{End, Packet};

/// The application of a proxy for one flow. Of its two sockets the first ends the connection towards
/// the source of the flow's data, the second that towards their destination.
#[derive(Debug)]
pub(super) struct Proxy {
    sockets: [u32; 2],
    /// Of the flow's data, and of those that go the other way.
    down: Relay,
    up: Relay,
}

/// What a proxy holds of one direction. It moves bytes from the receive buffer to the send buffer as
/// soon as that has room, and takes no time for it.
#[derive(Debug, Default)]
struct Relay {
    receive_buffer: u64,
    send_buffer: u64,
    /// Bytes moved to the send buffer.
    moved: u64,
    /// One past the last byte that arrived, in order or not.
    highest: u64,
    most_held: u64,
    closed: bool,
}

impl Proxy {
    pub(super) fn new(config: &ProxyConfig, sockets: [u32; 2]) -> Self {
        Self { sockets, down: Relay::new(config), up: Relay::new(config) }
    }

    /// The other socket of the proxy.
    pub(super) fn beyond(&self, socket: u32) -> u32 {
        let [nearer, farther] = self.sockets;
        if socket == nearer { farther } else { nearer }
    }

    /// A packet reached a socket, which has handled it.
    pub(super) fn arrived(&mut self, end: End, packet: &Packet) {
        if !packet.answers {
            let relay = match end {
                End::Receiver => &mut self.down,
                End::Sender => &mut self.up,
            };
            relay.highest = relay.highest.max(packet.start + u64::from(packet.len));
        }
    }

    /// Copies what it can; `total`: bytes of all data of the flow, if there will be no more.
    pub(super) fn run(&mut self, sockets: &mut [Socket], total: Option<u64>) {
        let pair = self.sockets.map(|number| number as usize);
        let Ok([nearer, farther]) = sockets.get_disjoint_mut(pair) else { return };
        self.down.run(nearer, farther, total);
        self.up.run(farther, nearer, None);
    }

    /// What it did for the flow's data.
    pub(super) fn metrics(&self) -> ProxyMetrics {
        ProxyMetrics { relayed: self.down.moved, most_held: self.down.most_held }
    }
}

impl Relay {
    fn new(config: &ProxyConfig) -> Self {
        Self {
            receive_buffer: config.receive_buffer(),
            send_buffer: config.send_buffer(),
            ..Self::default()
        }
    }

    /// Copies from one endpoint to the other. The caller of one has the other call its peer.
    fn run(&mut self, from: &mut Socket, to: &mut Socket, total: Option<u64>) {
        let (from, to) = (&mut *from.endpoint, &mut *to.endpoint);
        if from.is_called() {
            to.open();
        }
        let taken = self.turn(from.delivered(), to.acknowledged().unwrap_or(0));
        if taken > 0 {
            to.write(0, taken, false);
        }
        if !self.closed && total == Some(self.moved) {
            self.closed = true;
            to.close();
        }
        from.permit(self.edge());
    }

    /// Takes the bytes that arrived in order, and those that are acknowledged beyond the proxy; returns how
    /// many the send buffer takes now.
    fn turn(&mut self, arrived: u64, acknowledged: u64) -> u64 {
        self.highest = self.highest.max(arrived);
        self.most_held = self.most_held.max(self.highest - acknowledged);
        let moved = arrived.min(acknowledged.saturating_add(self.send_buffer));
        moved - std::mem::replace(&mut self.moved, moved)
    }

    /// First byte for which there is no room.
    fn edge(&self) -> u64 {
        self.moved.saturating_add(self.receive_buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Size;

    #[test]
    fn the_window_closes_as_the_buffers_fill_and_opens_as_they_drain() {
        let mut relay = Relay::new(&ProxyConfig {
            buffer: Size(3000),
            receive_buffer: Some(Size(4000)),
            ..ProxyConfig::default()
        });
        assert_eq!(relay.edge(), 4000);
        assert_eq!(relay.turn(3000, 0), 3000, "the send buffer takes all");
        assert_eq!(relay.edge(), 7000);
        assert_eq!(relay.turn(7000, 0), 0, "it is full");
        assert_eq!(relay.edge(), 7000);
        assert_eq!(relay.turn(7000, 500), 500);
        assert_eq!((relay.moved, relay.most_held, relay.edge()), (3500, 7000, 7500));
    }
}
