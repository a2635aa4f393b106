//! The chain of connections.

use rand_chacha::ChaCha8Rng;

use super::births::Births;
use super::config::ProxyConfig;
use super::relay::Relay;
use crate::transport::tcp::config::TcpConfig;
use crate::transport::{
    Connection, End, Outbox, Packet, Protocol, Received, Relayed, Report, Segment, Window,
};
use crate::units::{Bytes, Instant, Size};

/// In [`Packet::body`]: the sender asks for the window.
const ASKS: u32 = 1 << 16;

/// Connections one behind the other, each over its own stretch of the way, with a relay between two
/// of them. The application's sender is that of the first, its receiver that of the last; whatever
/// is between is a proxy's. [`Packet::body`] names the stretch.
pub(in crate::transport::tcp) struct Chain {
    /// One more than relays.
    stages: Vec<Box<dyn Connection>>,
    relays: Vec<Relay>,
    main: usize,
    /// Bytes that the application handed over; `u64::MAX`: it always has more.
    supplied: u64,
    /// How many there are in all, once it has closed.
    total: Option<u64>,
    births: Births,
    /// Bytes of a packet that only asks.
    headers: u32,
}

impl Chain {
    /// The chain that `proxies` make of a connection like `own`.
    pub(in crate::transport::tcp) fn new(
        own: &TcpConfig,
        proxies: &[ProxyConfig],
        main: usize,
        rngs: Vec<ChaCha8Rng>,
    ) -> Self {
        let stages = rngs.into_iter().enumerate().map(|(stage, rng)| {
            let before = stage.checked_sub(1).map(|before| proxies[before].sending(own));
            let mut config = before.unwrap_or_else(|| own.clone());
            // Whoever receives announces its own window.
            config.receive_window = match proxies.get(stage) {
                Some(proxy) => Some(Size(proxy.receive_buffer())),
                None => own.receive_window,
            };
            config.connect(rng)
        });
        Self {
            stages: stages.collect(),
            relays: proxies.iter().map(|proxy| Relay::new(proxy, own.mss().0)).collect(),
            main,
            supplied: 0,
            total: None,
            births: Births::default(),
            headers: own.headers(),
        }
    }

    fn last(&self) -> &dyn Connection {
        &*self.stages[self.relays.len()]
    }

    fn acknowledged_by(&self, stage: usize) -> u64 {
        self.stages[stage].acknowledged().unwrap_or(0)
    }

    /// The proxies hand on what they can.
    fn relay(&mut self) {
        for stage in 0..self.relays.len() {
            let (arrived, acknowledged) =
                (self.stages[stage].delivered(), self.acknowledged_by(stage + 1));
            let relay = &mut self.relays[stage];
            let taken = relay.turn(arrived, acknowledged);
            if taken > 0 {
                self.stages[stage + 1].supply(taken);
            }
            if self.total.is_some_and(|total| relay.closes(total)) {
                self.stages[stage + 1].close();
            }
        }
    }

    /// What one of the senders sends.
    fn transmit_from(
        &mut self,
        stage: usize,
        now: Instant,
        outbox: &mut Outbox,
    ) -> Option<Instant> {
        let first = outbox.sent().len();
        let timeout = self.stages[stage].transmit(now, End::Sender, outbox);
        for index in first..outbox.sent().len() {
            let number = outbox.sent()[index];
            let packet = &mut outbox[number];
            packet.body = stage as u32;
            if packet.len == 0 {
                continue;
            }
            if stage > 0 {
                packet.first_sent = self.births.of(packet.start).unwrap_or(packet.first_sent);
            } else if packet.retransmission == 0 {
                self.births.add(packet.start, packet.len, now);
            }
        }
        if stage == self.relays.len() {
            return timeout;
        }
        let asks = self.ask(stage, now, outbox);
        [timeout, asks].into_iter().flatten().min()
    }

    /// A sender that the window of a proxy has stopped asks for it from time to time, since what
    /// tells that it has opened may be lost (RFC 9293 section 3.8.6.1).
    fn ask(&mut self, stage: usize, now: Instant, outbox: &mut Outbox) -> Option<Instant> {
        let acknowledged = self.acknowledged_by(stage);
        let supplied = match stage {
            0 => self.supplied,
            _ => self.relays[stage - 1].moved(),
        };
        let sender = &self.stages[stage];
        let relay = &mut self.relays[stage];
        let window = relay.stops(acknowledged, supplied).then(|| sender.window()).flatten();
        let Some(Window { in_flight: 0, srtt, .. }) = window else {
            relay.goes_on();
            return None;
        };
        if relay.probes(now, srtt) {
            let seq = acknowledged.saturating_sub(1);
            let wire = self.headers;
            let packet = outbox.draft();
            *packet = Packet {
                size: Bytes(wire),
                body: stage as u32 | ASKS,
                segment: Segment { seq, wire, ts_val: now, ..Segment::default() },
                ..Packet::default()
            };
            outbox.send();
        }
        relay.next_probe()
    }

    /// What one of the receivers sends.
    fn answer_from(&mut self, stage: usize, now: Instant, outbox: &mut Outbox) -> Option<Instant> {
        if let Some(relay) = self.relays.get_mut(stage) {
            let tells = relay.tells();
            self.stages[stage].permit(relay.edge(), tells);
        }
        let first = outbox.sent().len();
        let timeout = self.stages[stage].transmit(now, End::Receiver, outbox);
        for index in first..outbox.sent().len() {
            let number = outbox.sent()[index];
            let packet = &mut outbox[number];
            packet.body = stage as u32;
            if let Some(relay) = self.relays.get_mut(stage) {
                relay.on_told(permitted(&packet.segment));
            }
        }
        timeout
    }
}

/// First byte that an acknowledgement does not permit.
fn permitted(ack: &Segment) -> u64 {
    ack.ack + u64::from(ack.window)
}

impl Connection for Chain {
    fn supply(&mut self, bytes: u64) {
        if self.total.is_none() {
            self.supplied = self.supplied.saturating_add(bytes);
            self.stages[0].supply(bytes);
        }
    }

    fn close(&mut self) {
        if self.supplied == u64::MAX {
            self.supplied = self.births.end();
        }
        self.total = Some(self.supplied);
        self.stages[0].close();
        self.relay();
    }

    fn receive(&mut self, now: Instant, end: End, packet: &Packet) -> Received {
        let stage = (packet.body & (ASKS - 1)) as usize;
        if packet.body & ASKS != 0 {
            self.relays[stage].on_asked();
            return Received::Relayed { in_vain: true };
        }
        let received = self.stages[stage].receive(now, end, packet);
        match (end, self.relays.get_mut(stage)) {
            (_, None) => {}
            (End::Sender, Some(relay)) => relay.on_heard(permitted(&packet.segment)),
            (End::Receiver, Some(relay)) => {
                relay.on_arrival(packet.start + u64::from(packet.len));
                if packet.segment.syn {
                    self.stages[stage + 1].open();
                }
            }
        }
        self.relay();
        if end == End::Sender {
            self.births.forget(self.acknowledged_by(self.relays.len()));
        }
        match received {
            Received::Data { in_vain, .. } if stage < self.relays.len() => {
                Received::Relayed { in_vain }
            }
            received => received,
        }
    }

    fn discard(&mut self, packet: &Packet) {
        let stage = (packet.body & (ASKS - 1)) as usize;
        self.stages[stage].discard(packet);
    }

    fn transmit(&mut self, now: Instant, end: End, outbox: &mut Outbox) -> Option<Instant> {
        let stages = 0..self.stages.len();
        let timeouts = stages.filter_map(|stage| match end {
            End::Sender => self.transmit_from(stage, now, outbox),
            End::Receiver => self.answer_from(stage, now, outbox),
        });
        timeouts.min()
    }

    fn handle_timeout(&mut self, now: Instant, end: End) {
        self.stages.iter_mut().for_each(|stage| stage.handle_timeout(now, end));
    }

    fn in_order(&self) -> bool {
        true
    }

    fn delivered(&self) -> u64 {
        self.last().delivered()
    }

    /// What all of the senders know to be delivered.
    fn acknowledged(&self) -> Option<u64> {
        self.stages.iter().filter_map(|stage| stage.acknowledged()).min()
    }

    /// Everything that was sent, by whomever; of what was received, what the destination has.
    fn report(&self) -> Report {
        let mut sum = Report::default();
        for stage in &self.stages {
            let own = stage.report();
            sum.bytes_sent += own.bytes_sent;
            sum.bytes_received = own.bytes_received;
            sum.sent += own.sent;
            sum.retransmissions += own.retransmissions;
            for (sum, own) in sum.by_retransmissions.iter_mut().zip(own.by_retransmissions) {
                *sum += own;
            }
            sum.spurious_retransmissions += own.spurious_retransmissions;
            sum.stale += own.stale;
            sum.timeouts += own.timeouts;
            sum.fast_retransmits += own.fast_retransmits;
            sum.recovery_entries += own.recovery_entries;
            sum.duplicate_acks += own.duplicate_acks;
            sum.window_reductions += own.window_reductions;
            sum.undo_events += own.undo_events;
            sum.reordering = sum.reordering.max(own.reordering);
        }
        sum
    }

    fn window(&self) -> Option<Window> {
        self.stages[self.main].window()
    }

    fn proxies(&self) -> Vec<Relayed> {
        self.relays.iter().map(Relay::report).collect()
    }
}
