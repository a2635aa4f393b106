//! A conversation whose connection proxies split.

use rand_chacha::ChaCha8Rng;

use super::chain::{over, window};
use super::config::ProxyConfig;
use super::lane::{ASKS, Lane, STRETCH, permitted, total};
use crate::transport::tcp::config::TcpConfig;
use crate::transport::tcp::dialogue::{Direction, TcpDialogue};
use crate::transport::{
    Connection, Dialogue, End, Heard, Outbox, Packet, Received, Relayed, Report, Window,
};
use crate::units::Instant;

/// Where in [`Packet::body`] the direction stands, above the stretch and what asks.
const DIRECTION: u32 = 17;

/// Dialogues side by side from the server to the client, each over its own stretch of the way, with a
/// proxy between two of them that relays either direction. The client's SYN opens the last, and what
/// comes to a proxy opens the one towards the server. Each direction has buffers of its own, as the two
/// sockets of a proxy have.
pub(in crate::transport::tcp) struct SplitDialogue {
    /// From the server to the client, one more than proxies.
    stages: Vec<TcpDialogue>,
    /// By [`Direction`].
    lanes: [Lane; 2],
    main: usize,
}

impl SplitDialogue {
    /// What `proxies` make of a dialogue like `own`. A stretch has one configuration for both its
    /// directions, that of the proxy at its end towards the server.
    pub(in crate::transport::tcp) fn new(
        own: &TcpConfig,
        proxies: &[ProxyConfig],
        main: usize,
        rngs: Vec<ChaCha8Rng>,
    ) -> Self {
        let stages = rngs.into_iter().enumerate().map(|(stage, rng)| {
            let config = over(own, proxies, stage);
            let facing = |proxy| TcpConfig { receive_window: window(own, proxy), ..config.clone() };
            let nearer = stage.checked_sub(1).and_then(|nearer| proxies.get(nearer));
            TcpDialogue::between(&facing(proxies.get(stage)), &facing(nearer), rng)
        });
        let (mss, headers) = (own.mss().0, own.headers());
        Self {
            stages: stages.collect(),
            lanes: [
                Lane::new(proxies, mss, headers),
                Lane::new(proxies.iter().rev(), mss, headers),
            ],
            main,
        }
    }

    fn lane(&mut self, direction: Direction) -> &mut Lane {
        &mut self.lanes[direction as usize]
    }

    /// Which stretch is at this place as data go, and at which place a stretch is.
    fn place(&self, direction: Direction, number: usize) -> usize {
        match direction {
            Direction::Down => number,
            Direction::Up => self.stages.len() - 1 - number,
        }
    }

    /// The proxies hand on what they can.
    fn relay(&mut self, direction: Direction) {
        for place in 0..self.stages.len() - 1 {
            let before = self.place(direction, place);
            let behind = self.place(direction, place + 1);
            let arrived = self.stages[before].half(direction).delivered();
            let acknowledged = self.stages[behind].half(direction).acknowledged().unwrap_or(0);
            let Some(relay) = self.lane(direction).relay(place) else { return };
            let taken = relay.turn(arrived, acknowledged);
            if taken > 0 {
                self.stages[behind].half_mut(direction).supply(taken);
            }
        }
    }

    /// What an end of one stretch sends, in both directions.
    fn transmit_over(
        &mut self,
        stage: usize,
        now: Instant,
        end: End,
        outbox: &mut Outbox,
    ) -> Option<Instant> {
        let (sends, hears) = match end {
            End::Sender => (Direction::Down, Direction::Up),
            End::Receiver => (Direction::Up, Direction::Down),
        };
        let (from, to) = (self.place(sends, stage), self.place(hears, stage));
        if let Some(relay) = self.lanes[hears as usize].relay(to) {
            let tells = relay.tells();
            self.stages[stage].half_mut(hears).permit(relay.edge(), tells);
        }
        let first = outbox.sent().len();
        let timeout = self.stages[stage].transmit(now, end, outbox);
        for index in first..outbox.sent().len() {
            let number = outbox.sent()[index];
            let packet = &mut outbox[number];
            let direction = Direction::of(packet.body);
            packet.body = body(stage, direction);
            if direction == sends {
                self.lane(sends).stamp(from, now, packet);
            } else if let Some(relay) = self.lane(hears).relay(to) {
                relay.on_told();
            }
        }
        let sender = self.stages[stage].half(sends);
        let lane = &mut self.lanes[sends as usize];
        let asks = lane.ask(from, sender, now, body(stage, sends), outbox);
        [timeout, asks].into_iter().flatten().min()
    }
}

/// [`Packet::body`] of a packet of this stretch and direction.
fn body(stage: usize, direction: Direction) -> u32 {
    stage as u32 | (direction as u32) << DIRECTION
}

impl Dialogue for SplitDialogue {
    fn open(&mut self) {
        if let Some(last) = self.stages.last_mut() {
            Dialogue::open(last);
        }
    }

    fn is_open(&self) -> bool {
        self.stages.last().is_some_and(Dialogue::is_open)
    }

    fn say(&mut self, end: End, stream: u32, bytes: u64, last: bool) {
        let direction = match end {
            End::Sender => Direction::Down,
            End::Receiver => Direction::Up,
        };
        self.lane(direction).supply(bytes);
        let first = self.place(direction, 0);
        self.stages[first].say(end, stream, bytes, last);
    }

    fn heard(&mut self, end: End) -> Option<Heard> {
        match end {
            End::Sender => self.stages.first_mut()?.heard(end),
            End::Receiver => self.stages.last_mut()?.heard(end),
        }
    }

    fn unsent(&self, end: End) -> u64 {
        let own = match end {
            End::Sender => self.stages.first(),
            End::Receiver => self.stages.last(),
        };
        own.map_or(0, |stage| stage.unsent(end))
    }
}

impl Connection for SplitDialogue {
    fn supply(&mut self, bytes: u64) {
        self.say(End::Sender, 0, bytes, false);
    }

    /// A dialogue has no end: neither its ends nor proxies close it.
    fn close(&mut self) {}

    fn receive(&mut self, now: Instant, end: End, packet: &Packet) -> Received {
        let stage = (packet.body & STRETCH) as usize;
        let direction = Direction::of(packet.body >> DIRECTION);
        let place = self.place(direction, stage);
        if packet.body & ASKS != 0 {
            if let Some(relay) = self.lane(direction).relay(place) {
                relay.on_asked();
            }
            return Received::Relayed { in_vain: true };
        }
        let own = Packet { body: direction as u32, ..*packet };
        let received = self.stages[stage].receive(now, end, &own);
        let to_source = direction.source() == end;
        if let Some(relay) = self.lane(direction).relay(place) {
            if to_source {
                relay.on_heard(permitted(&packet.segment));
            } else {
                relay.on_arrival(packet.start + u64::from(packet.len));
                if packet.segment.syn {
                    let next = self.place(direction, place + 1);
                    Dialogue::open(&mut self.stages[next]);
                }
            }
        }
        // The other direction may go on too: what tells of a handshake lets both of them send.
        for direction in Direction::BOTH {
            self.relay(direction);
        }
        if to_source {
            let last = self.place(direction, self.stages.len() - 1);
            let acknowledged = self.stages[last].half(direction).acknowledged().unwrap_or(0);
            self.lane(direction).forget(acknowledged);
        }
        match received {
            Received::Data { in_vain, .. } if stage + 1 < self.stages.len() => {
                Received::Relayed { in_vain }
            }
            received => received,
        }
    }

    fn discard(&mut self, _: &Packet) {}

    fn transmit(&mut self, now: Instant, end: End, outbox: &mut Outbox) -> Option<Instant> {
        let stages = 0..self.stages.len();
        stages.filter_map(|stage| self.transmit_over(stage, now, end, outbox)).min()
    }

    fn handle_timeout(&mut self, now: Instant, end: End) {
        self.stages.iter_mut().for_each(|stage| stage.handle_timeout(now, end));
    }

    fn in_order(&self) -> bool {
        true
    }

    fn delivered(&self) -> u64 {
        self.stages.last().map_or(0, Connection::delivered)
    }

    /// What all who send answers know to be delivered.
    fn acknowledged(&self) -> Option<u64> {
        self.stages.iter().filter_map(Connection::acknowledged).min()
    }

    /// Of the answers.
    fn report(&self) -> Report {
        total(self.stages.iter().map(Connection::report))
    }

    fn window(&self) -> Option<Window> {
        self.stages[self.main].window()
    }

    /// Of the answers.
    fn proxies(&self) -> Vec<Relayed> {
        self.lanes[Direction::Down as usize].report()
    }

    fn dialogue(&mut self) -> Option<&mut dyn Dialogue> {
        Some(self)
    }
}
