//! A TCP connection on which both ends send data: a sender and a receiver of profile `linux` per
//! direction, with one handshake.

use rand_chacha::ChaCha8Rng;

use super::config::{EcnMode, LinuxOptions, TcpConfig};
use super::connection::{TcpConnection, handle_timeout, transmit};
use super::linux::{LinuxReceiver, LinuxSender};
use crate::transport::{
    Connection, Dialogue, End, Endpoint, Heard, Outbox, Packet, Received, Report, Window,
};
use crate::units::Instant;

/// Direction of the data. [`Packet::body`] holds the direction of a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Direction {
    /// From the server to the client: answers.
    Down,
    /// From the client to the server: requests.
    Up,
}

impl Direction {
    /// Both directions.
    pub(super) const BOTH: [Self; 2] = [Self::Down, Self::Up];

    /// Direction of the packet with this body.
    pub(super) fn of(body: u32) -> Self {
        if body == 0 { Self::Down } else { Self::Up }
    }

    /// The end that sends the data.
    pub(super) fn source(self) -> End {
        match self {
            Self::Down => End::Sender,
            Self::Up => End::Receiver,
        }
    }
}

const DOWN: u32 = Direction::Down as u32;
const UP: u32 = Direction::Up as u32;

/// The client is at [`End::Receiver`]. Acknowledgements use packets of their own: they are not
/// piggybacked on data of the other direction.
#[derive(Debug)]
pub(super) struct TcpDialogue {
    /// From the server to the client.
    down: TcpConnection<LinuxSender, LinuxReceiver>,
    /// From the client to the server.
    up: TcpConnection<LinuxSender, LinuxReceiver>,
    /// When the server answered the SYN; `None` once the client's next packet has arrived.
    answered: Option<Answered>,
    told: [u64; 2],
}

/// The server's state during the handshake.
#[derive(Clone, Copy, Debug)]
struct Answered {
    at: Instant,
    /// How often.
    times: u32,
}

impl TcpDialogue {
    pub(super) fn new(config: &TcpConfig, rng: ChaCha8Rng) -> Self {
        Self::between(config, config, rng)
    }

    /// A dialogue whose directions differ in the receive window.
    pub(super) fn between(down: &TcpConfig, up: &TcpConfig, rng: ChaCha8Rng) -> Self {
        let other = rng.clone();
        // The client's handshake serves both directions.
        let options = LinuxOptions { handshake: false, ..down.options() };
        let answers = TcpConfig { linux: Some(options), ..down.clone() };
        let marks = down.ecn_mode() != EcnMode::Off;
        let join = |sender, receiver| TcpConnection::new(sender, receiver, marks);
        Self {
            down: join(LinuxSender::new(&answers, rng), LinuxReceiver::new(down)),
            up: join(LinuxSender::new(up, other), LinuxReceiver::new(up)),
            answered: None,
            told: [0; 2],
        }
    }

    /// The connection of one direction.
    pub(super) fn half(&self, direction: Direction) -> &dyn Connection {
        match direction {
            Direction::Down => &self.down,
            Direction::Up => &self.up,
        }
    }

    pub(super) fn half_mut(&mut self, direction: Direction) -> &mut dyn Connection {
        match direction {
            Direction::Down => &mut self.down,
            Direction::Up => &mut self.up,
        }
    }

    /// Handles a packet of the request direction at the server.
    fn server_hears(&mut self, now: Instant, packet: &Packet) {
        if packet.segment.syn {
            let times = self.answered.map_or(1, |answered| answered.times + 1);
            self.answered = Some(Answered { at: now, times });
        } else if let Some(Answered { at, times }) = self.answered.take() {
            self.down.sender.accept(now, now.saturating_since(at), times);
        }
        self.up.receiver.handle_segment(now, &packet.segment);
    }

    /// Handles an acknowledgement, or the SYN-ACK, at the client.
    fn client_hears(&mut self, now: Instant, packet: &Packet) {
        let was_open = self.is_open();
        self.up.sender.handle_segment(now, &packet.segment);
        if !was_open && self.is_open() {
            self.down.receiver.accept(now, self.up.sender.srtt());
        }
    }
}

impl Dialogue for TcpDialogue {
    fn open(&mut self) {
        self.up.sender.open();
    }

    fn is_open(&self) -> bool {
        self.up.sender.is_established()
    }

    fn say(&mut self, end: End, _: u32, bytes: u64, _: bool) {
        match end {
            End::Sender => self.down.sender.supply(bytes),
            End::Receiver => self.up.sender.supply(bytes),
        }
    }

    fn heard(&mut self, end: End) -> Option<Heard> {
        let received = match end {
            End::Sender => self.up.receiver.received(),
            End::Receiver => self.down.receiver.received(),
        };
        let told = &mut self.told[end as usize];
        let bytes = received - std::mem::replace(told, received);
        (bytes > 0).then_some(Heard { stream: 0, bytes })
    }

    fn unsent(&self, end: End) -> u64 {
        match end {
            End::Sender => self.down.sender.unsent(),
            End::Receiver => self.up.sender.unsent(),
        }
    }
}

impl Connection for TcpDialogue {
    fn supply(&mut self, bytes: u64) {
        self.down.supply(bytes);
    }

    fn close(&mut self) {
        self.down.close();
    }

    fn receive(&mut self, now: Instant, end: End, packet: &Packet) -> Received {
        match (end, packet.body) {
            (_, DOWN) => return self.down.receive(now, end, packet),
            (End::Sender, _) => self.server_hears(now, packet),
            (End::Receiver, _) => self.client_hears(now, packet),
        }
        match end {
            End::Sender => Received::Ack(self.down.sender.acknowledged()),
            End::Receiver => Received::Data { in_vain: false, delivered: self.delivered() },
        }
    }

    fn discard(&mut self, _: &Packet) {}

    fn transmit(&mut self, now: Instant, end: End, outbox: &mut Outbox) -> Option<Instant> {
        match end {
            End::Sender => {
                let own = (&mut self.up.receiver, UP, &mut self.down.sender, DOWN);
                transmit_both(own, now, outbox)
            }
            End::Receiver => {
                let own = (&mut self.down.receiver, DOWN, &mut self.up.sender, UP);
                transmit_both(own, now, outbox)
            }
        }
    }

    fn handle_timeout(&mut self, now: Instant, end: End) {
        match end {
            End::Sender => {
                handle_timeout(&mut self.down.sender, now);
                handle_timeout(&mut self.up.receiver, now);
            }
            End::Receiver => {
                handle_timeout(&mut self.down.receiver, now);
                handle_timeout(&mut self.up.sender, now);
            }
        }
    }

    fn in_order(&self) -> bool {
        true
    }

    fn delivered(&self) -> u64 {
        self.down.delivered()
    }

    fn acknowledged(&self) -> Option<u64> {
        self.down.acknowledged()
    }

    /// Totals of the answer direction.
    fn report(&self) -> Report {
        self.down.report()
    }

    fn window(&self) -> Option<Window> {
        self.down.window()
    }

    fn dialogue(&mut self) -> Option<&mut dyn Dialogue> {
        Some(self)
    }
}

/// Sends the packets of one end, acknowledgements first. A delayed acknowledgement leaves with
/// data.
fn transmit_both(
    (receiver, heard, sender, said): (&mut LinuxReceiver, u32, &mut LinuxSender, u32),
    now: Instant,
    outbox: &mut Outbox,
) -> Option<Instant> {
    let mut acknowledgement = transmit(receiver, now, heard, outbox);
    let first = outbox.sent().len();
    let retransmission = transmit(sender, now, said, outbox);
    if outbox.sent()[first..].iter().any(|&id| outbox[id].len > 0) {
        receiver.on_reply(now);
        acknowledgement = transmit(receiver, now, heard, outbox);
    }
    [retransmission, acknowledgement].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, Stream};
    use crate::transport::tcp::CongestionAlgorithm;
    use crate::units::Duration;

    /// Runs over a loss-free path of 50 ms each way until no packet is in flight.
    fn run(connection: &mut TcpDialogue, from: Instant) -> (Instant, Vec<(End, u32, u32)>) {
        let mut outbox = Outbox::default();
        let mut way: std::collections::VecDeque<(Instant, End, Packet)> = Default::default();
        let (mut now, mut sent) = (from, Vec::new());
        loop {
            for (end, other) in [(End::Sender, End::Receiver), (End::Receiver, End::Sender)] {
                let _ = connection.transmit(now, end, &mut outbox);
                for &id in outbox.sent() {
                    let packet = outbox[id];
                    sent.push((end, packet.body, packet.len));
                    way.push_back((now + Duration::from_millis(50), other, packet));
                }
                outbox.sent().to_vec().iter().for_each(|&id| outbox.free(id));
                outbox.forget_sent(0);
            }
            let Some((at, end, packet)) = way.pop_front() else { return (now, sent) };
            now = at;
            connection.receive(now, end, &packet);
        }
    }

    #[test]
    fn one_handshake_opens_both_directions() {
        let config = TcpConfig::linux(CongestionAlgorithm::CUBIC);
        let mut connection = TcpDialogue::new(&config, Seed(1).rng(Stream::Flow(0)));
        Dialogue::open(&mut connection);
        let (now, sent) = run(&mut connection, Instant::ZERO);
        // SYN, its answer, the acknowledgement of that.
        let control = [(End::Receiver, UP, 0), (End::Sender, UP, 0), (End::Receiver, UP, 0)];
        assert_eq!(sent, control);
        assert_eq!(now, Instant::ZERO + Duration::from_millis(150));
        assert!(connection.is_open());
        // Both ends have timed the round trip.
        let rtt = Some(Duration::from_millis(100));
        assert_eq!((connection.up.sender.srtt(), connection.down.sender.srtt()), (rtt, rtt));

        connection.say(End::Receiver, 0, 350, true);
        let (now, sent) = run(&mut connection, now);
        assert_eq!(sent[0], (End::Receiver, UP, 350));
        assert_eq!(connection.heard(End::Sender), Some(Heard { stream: 0, bytes: 350 }));
        assert_eq!(connection.heard(End::Sender), None);
        connection.say(End::Sender, 0, 3000, true);
        assert_eq!(connection.unsent(End::Sender), 3000);
        let (_, sent) = run(&mut connection, now);
        let lens: Vec<_> = sent.iter().filter(|it| it.0 == End::Sender).map(|it| it.2).collect();
        assert_eq!(lens, [1448, 1448, 104]);
        assert_eq!(connection.heard(End::Receiver), Some(Heard { stream: 0, bytes: 3000 }));
        assert_eq!(connection.delivered(), 3000);
    }
}
