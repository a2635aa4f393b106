//! The sending end of a TCP connection as in Linux: the connection, and what leaves next.

use rand_chacha::ChaCha8Rng;

use super::delivery::DeliveryRate;
use super::prr::Prr;
use super::rack::Rack;
use super::reordering::Reordering;
use super::repair::Phase;
use super::rtt::RttEstimator;
use super::sacks::Said;
use super::sent_order::SentOrder;
use super::spacing::Spacing;
use super::timers::{Probe, Timer};
use super::undo::Undo;
use super::usage::Usage;
use super::window::{Control, RttSample, Window, control};
use crate::transport::tcp::config::{LinuxOptions, TcpConfig};
use crate::transport::tcp::endpoint::CongestionState;
use crate::transport::tcp::shared::counters::SenderCounters;
use crate::transport::tcp::shared::flight::Flight;
use crate::transport::tcp::shared::sack_blocks::Blocks;
use crate::transport::tcp::shared::supply::Supply;
use crate::transport::{Endpoint, Segment};
use crate::units::{Duration, Instant};

/// How far the connection has come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Connection {
    /// No data yet.
    Closed,
    /// A SYN must leave.
    SynDue,
    /// It left then, for the `attempts`-th time.
    SynSent { at: Instant, attempts: u32 },
    /// The SYN was answered.
    Established,
}

/// A TCP sender. Segments are counted by number; see [`Flight`].
#[derive(Debug)]
pub(crate) struct LinuxSender {
    pub(super) options: LinuxOptions,
    pub(super) mss: u32,
    pub(super) headers: u32,
    pub(super) syn_size: u32,
    pub(super) initial_window: u32,
    pub(super) timestamps: bool,
    pub(super) connection: Connection,
    supply: Supply,
    pub(super) flight: Flight,
    pub(super) order: SentOrder,
    /// The blocks of the last ACK that had any.
    pub(super) covered: Blocks,
    /// The highest SACKed segment.
    pub(super) highest_sacked: u64,
    /// Segments delivered, and declared lost, since the start.
    pub(super) delivered: u64,
    pub(super) declared_lost: u64,
    /// Duplicates reported by D-SACKs.
    pub(super) duplicates: u64,
    pub(super) rtt: RttEstimator,
    pub(super) rack: Rack,
    pub(super) reordering: Reordering,
    pub(super) window: Window,
    pub(super) control: Box<dyn Control>,
    /// For those congestion controls that have a model.
    pub(super) delivery: Option<Box<DeliveryRate>>,
    pub(super) usage: Usage,
    pub(super) prr: Prr,
    pub(super) undo: Undo,
    /// The lowest byte in flight when it was armed.
    pub(super) undo_start: u64,
    /// Without RACK: segments below were looked at.
    pub(super) examined: u64,
    pub(super) phase: Phase,
    /// The segment that was to be sent next when the phase began.
    pub(super) phase_end: u64,
    /// Timeouts since the last one that was taken back or recovered from.
    pub(super) timeouts_in_row: u32,
    pub(super) frto: bool,
    /// Lost segments may be sent again (until the next ACK says otherwise).
    pub(super) repairing: bool,
    pub(super) timer: Option<(Instant, Timer)>,
    pub(super) probe: Probe,
    pub(super) spacing: Spacing,
    /// Something was sent since the window's use was looked at.
    pub(super) sent_some: bool,
    pub(super) last_sent: Instant,
    pub(super) counters: SenderCounters,
}

impl LinuxSender {
    pub(crate) fn new(config: &TcpConfig, rng: ChaCha8Rng) -> Self {
        let mss = config.mss().0;
        let control = control(config, rng);
        let delivery = control.is_model().then(|| Box::new(DeliveryRate::new()));
        Self {
            options: config.linux,
            mss,
            headers: config.headers(),
            syn_size: config.syn_size(),
            initial_window: config.initial_window,
            timestamps: config.timestamps,
            connection: Connection::Closed,
            supply: Supply::new(config),
            flight: Flight::new(mss),
            order: SentOrder::new(),
            covered: Blocks::default(),
            highest_sacked: 0,
            delivered: 0,
            declared_lost: 0,
            duplicates: 0,
            rtt: RttEstimator::new(),
            rack: Rack::new(),
            reordering: Reordering::new(config.linux.max_reordering),
            window: Window::new(config),
            control,
            delivery,
            usage: Usage::default(),
            prr: Prr::default(),
            undo: Undo::default(),
            undo_start: 0,
            examined: 0,
            phase: Phase::Open,
            phase_end: 0,
            timeouts_in_row: 0,
            frto: false,
            repairing: false,
            timer: None,
            probe: Probe::None,
            spacing: Spacing::new(config.linux.pacing),
            sent_some: false,
            last_sent: Instant::ZERO,
            counters: SenderCounters::default(),
        }
    }

    pub(crate) fn supply(&mut self, bytes: u64) {
        let short = self.connection == Connection::Established && self.next_new().is_none();
        if bytes == 0 || !self.supply.add(bytes) {
            return;
        }
        if short {
            self.note_shortage();
        }
        if self.connection == Connection::Closed {
            if self.options.handshake {
                self.connection = Connection::SynDue;
            } else {
                self.begin(Instant::ZERO);
            }
        }
    }

    pub(crate) fn close(&mut self) {
        self.supply.close(self.flight.nxt());
        if self.is_complete() {
            self.timer = None;
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.supply.is_complete(self.flight.una())
    }

    pub(crate) fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    pub(crate) fn cwnd(&self) -> u32 {
        self.window.cwnd
    }

    pub(crate) fn ssthresh(&self) -> Option<u32> {
        (self.window.ssthresh != u32::MAX).then_some(self.window.ssthresh)
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.flight.outstanding()
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    pub(crate) fn rto(&self) -> Duration {
        self.rtt.timeout()
    }

    pub(crate) fn state(&self) -> CongestionState {
        match self.phase {
            Phase::Open | Phase::Disorder => CongestionState::Open,
            Phase::Recovery => CongestionState::Recovery,
            Phase::Loss => CongestionState::Loss,
        }
    }

    pub(crate) fn acknowledged(&self) -> u64 {
        self.flight.una()
    }

    /// Bytes of the next new segment, if it may leave.
    #[inline]
    pub(super) fn next_new(&self) -> Option<u32> {
        self.supply.segment_at(self.flight.nxt())
    }

    /// The SYN was answered: that is the first round-trip sample.
    fn establish(&mut self, now: Instant) {
        let Connection::SynSent { at, attempts } = self.connection else { return };
        self.timer = None;
        self.rtt = RttEstimator::new();
        self.delivered = 1; // the SYN
        if attempts == 1 {
            let rtt = now.saturating_since(at);
            self.rtt.sample(rtt, 0, 0);
            self.rtt.sample_least(now, rtt);
        } else {
            // RFC 6298 section 5.7: after a lost SYN the window starts at one segment (Linux).
            self.window.set(1);
        }
        self.begin(now);
    }

    /// What an ACK delivered makes the window grow or fall.
    fn update_window(&mut self, now: Instant, said: &Said, delivered: u64, lost: u64) {
        if self.delivery.is_some() {
            return self.update_model(now, said, delivered, lost);
        }
        if self.phase == Phase::Recovery && self.options.prr {
            self.reduce_in_proportion(delivered, said.advanced && lost == 0);
        } else if self.phase != Phase::Recovery {
            let progress = said.advanced || (self.reordering.is_high() && said.sacked);
            if progress && self.usage.is_limit(&self.window) {
                let acked = u32::try_from(delivered).unwrap_or(u32::MAX);
                self.control.grow(now, acked, &mut self.window);
            }
        }
    }

    fn sample_for_control(&mut self, now: Instant, rtt: Option<Duration>) {
        let Some(rtt) = rtt else { return };
        let (first, next) = (self.flight.first(), self.flight.next());
        self.control.on_rtt(&RttSample { now, rtt, first, next }, &mut self.window);
    }
}

impl Endpoint for LinuxSender {
    fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        if segment.syn {
            return self.establish(now);
        }
        if self.connection != Connection::Established || segment.ack > self.flight.nxt() {
            return;
        }
        self.supply.on_ack(segment);
        if segment.ack == self.flight.una() && !self.flight.is_empty() {
            self.counters.duplicate_acks += 1;
        }
        let was_empty = self.flight.is_empty();
        let (delivered, lost) = (self.delivered, self.declared_lost);
        let mut said = self.take_in(now, segment);
        if was_empty {
            // A D-SACK may still say that what was sent again was not lost.
            if said.dsack {
                self.repair(now, &mut said);
            }
            self.conclude_probe(now, segment, &said);
            return;
        }
        self.rack.adapt(said.prior_delivered, self.delivered);
        self.sample_for_control(now, said.control_rtt);
        self.conclude_probe(now, segment, &said);
        self.repairing = false;
        if said.is_dubious() || self.phase != Phase::Open {
            self.repair(now, &mut said);
        }
        if said.restarts_timer {
            self.restart_timer(now);
        }
        if !said.old {
            let (delivered, lost) = (self.delivered - delivered, self.declared_lost - lost);
            self.update_window(now, &said, delivered, lost);
        }
        if self.is_complete() {
            self.timer = None;
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.spacing.on_time(now);
        let Some((at, timer)) = self.timer else { return };
        if now < at {
            return;
        }
        self.timer = None;
        if self.connection != Connection::Established {
            self.rtt.back_off();
            self.counters.timeouts += 1;
            return;
        }
        if self.flight.is_empty() {
            return;
        }
        match timer {
            Timer::Retransmission => self.on_retransmission_timeout(now),
            Timer::Probe => self.on_probe_timeout(now),
            Timer::Reordering => self.on_reordering_timeout(now),
        }
    }

    fn transmit_into(&mut self, now: Instant, segment: &mut Segment) -> bool {
        match self.connection {
            Connection::Established => {}
            Connection::Closed => return false,
            Connection::SynSent { .. } if self.timer.is_some() => return false,
            Connection::SynDue | Connection::SynSent { .. } => {
                self.write_syn(now, segment);
                return true;
            }
        }
        self.send_next(now, segment)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let timer = self.timer.map(|(at, _)| at);
        match (timer, self.spacing.deadline()) {
            (Some(timer), Some(paced)) => Some(timer.min(paced)),
            (timer, paced) => timer.or(paced),
        }
    }
}

#[cfg(test)]
mod tests;
