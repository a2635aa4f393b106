//! The chain of connections.

use rand_chacha::ChaCha8Rng;

use super::config::ProxyConfig;
use super::lane::{ASKS, Lane, STRETCH, permitted, total};
use crate::transport::tcp::config::TcpConfig;
use crate::transport::{
    Connection, End, Outbox, Packet, Protocol, Received, Relayed, Report, Window,
};
use crate::units::{Instant, Size};

/// Connections one behind the other, each over its own stretch of the way, with a relay between two
/// of them. The application's sender is that of the first, its receiver that of the last; whatever
/// is between is a proxy's. [`Packet::body`] names the stretch.
pub(in crate::transport::tcp) struct Chain {
    /// One more than relays.
    stages: Vec<Box<dyn Connection>>,
    lane: Lane,
    main: usize,
    /// How many bytes there are in all, once the application has closed.
    total: Option<u64>,
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
            let mut config = over(own, proxies, stage);
            // Whoever receives announces its own window.
            config.receive_window = window(own, proxies.get(stage));
            config.connect(rng)
        });
        Self {
            stages: stages.collect(),
            lane: Lane::new(proxies, own.mss().0, own.headers()),
            main,
            total: None,
        }
    }

    fn last(&self) -> &dyn Connection {
        &*self.stages[self.lane.count()]
    }

    fn acknowledged_by(&self, stage: usize) -> u64 {
        self.stages[stage].acknowledged().unwrap_or(0)
    }

    /// The proxies hand on what they can.
    fn relay(&mut self) {
        for stage in 0..self.lane.count() {
            let (arrived, acknowledged) =
                (self.stages[stage].delivered(), self.acknowledged_by(stage + 1));
            let Some(relay) = self.lane.relay(stage) else { return };
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
            self.lane.stamp(stage, now, packet);
        }
        let asks = self.lane.ask(stage, &*self.stages[stage], now, stage as u32, outbox);
        [timeout, asks].into_iter().flatten().min()
    }

    /// What one of the receivers sends.
    fn answer_from(&mut self, stage: usize, now: Instant, outbox: &mut Outbox) -> Option<Instant> {
        if let Some(relay) = self.lane.relay(stage) {
            let tells = relay.tells();
            self.stages[stage].permit(relay.edge(), tells);
        }
        let first = outbox.sent().len();
        let timeout = self.stages[stage].transmit(now, End::Receiver, outbox);
        for index in first..outbox.sent().len() {
            let number = outbox.sent()[index];
            let packet = &mut outbox[number];
            packet.body = stage as u32;
            if let Some(relay) = self.lane.relay(stage) {
                relay.on_told();
            }
        }
        timeout
    }
}

/// What the connection over a stretch is like, whose window is whoever receives.
pub(super) fn over(own: &TcpConfig, proxies: &[ProxyConfig], stage: usize) -> TcpConfig {
    let before = stage.checked_sub(1).map(|before| proxies[before].sending(own));
    before.unwrap_or_else(|| own.clone())
}

/// The window that a proxy announces, or an end.
pub(super) fn window(own: &TcpConfig, proxy: Option<&ProxyConfig>) -> Option<Size> {
    match proxy {
        Some(proxy) => Some(Size(proxy.receive_buffer())),
        None => own.receive_window,
    }
}

impl Connection for Chain {
    fn supply(&mut self, bytes: u64) {
        if self.total.is_none() {
            self.lane.supply(bytes);
            self.stages[0].supply(bytes);
        }
    }

    fn close(&mut self) {
        self.total = Some(self.lane.close());
        self.stages[0].close();
        self.relay();
    }

    fn receive(&mut self, now: Instant, end: End, packet: &Packet) -> Received {
        let stage = (packet.body & STRETCH) as usize;
        if packet.body & ASKS != 0 {
            if let Some(relay) = self.lane.relay(stage) {
                relay.on_asked();
            }
            return Received::Relayed { in_vain: true };
        }
        let received = self.stages[stage].receive(now, end, packet);
        match (end, self.lane.relay(stage)) {
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
            self.lane.forget(self.acknowledged_by(self.lane.count()));
        }
        match received {
            Received::Data { in_vain, .. } if stage < self.lane.count() => {
                Received::Relayed { in_vain }
            }
            received => received,
        }
    }

    fn discard(&mut self, packet: &Packet) {
        let stage = (packet.body & STRETCH) as usize;
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

    fn report(&self) -> Report {
        total(self.stages.iter().map(|stage| stage.report()))
    }

    fn window(&self) -> Option<Window> {
        self.stages[self.main].window()
    }

    fn proxies(&self) -> Vec<Relayed> {
        self.lane.report()
    }
}
