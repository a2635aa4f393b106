//! The sending end of a TCP connection in profile `papers`.

mod recovery;
mod sending;

use std::cmp::Ordering;

use super::config::TcpConfig;
use super::congestion::{Acked, CongestionControl, Window, controller};
use super::counters::SenderCounters;
use super::endpoint::CongestionState;
use super::flight::{Flight, State};
use super::pacing::RateHalving;
use super::rtt::{Clock, RttEstimator};
use super::scoreboard::{Blocks, FackScoreboard, Findings};
use super::supply::Supply;
use crate::transport::{Endpoint, Segment};
use crate::units::{Duration, Instant};

/// Segments that may leave in one burst when recovery ends.
const BURST: u64 = 3;

/// What `Agent/TCP/Linux` of ns-2.35 does.
#[derive(Debug)]
pub(super) struct PapersSender {
    headers: u32,
    initial_window: u32,
    timestamps: bool,
    supply: Supply,
    flight: Flight,
    scoreboard: FackScoreboard,
    rtt: RttEstimator,
    timed: Option<Timed>,
    deadline: Option<Instant>,
    window: Window,
    control: Box<dyn CongestionControl>,
    /// It watches every ACK.
    watched: bool,
    pacing: RateHalving,
    state: CongestionState,
    /// The segment that was to be sent next when the losses being repaired were detected.
    recovery_point: u64,
    counters: SenderCounters,
}

/// What the cumulative acknowledgement of an ACK covered for the first time.
#[derive(Clone, Copy, Debug, Default)]
struct Advance {
    segments: u32,
    /// When the highest of them last left; `None` if there is none or one was sent again in this
    /// episode.
    last_sent: Option<Instant>,
}

/// The segment whose round trip is being timed, without timestamps.
#[derive(Clone, Copy, Debug)]
struct Timed {
    segment: u64,
    sent: Instant,
}

impl PapersSender {
    /// A sender without data, with its initial window to send at once.
    pub(super) fn new(config: &TcpConfig) -> Self {
        let control = controller(config);
        Self {
            headers: config.headers(),
            initial_window: config.initial_window,
            timestamps: config.timestamps,
            supply: Supply::new(config),
            flight: Flight::new(config.mss().0),
            scoreboard: FackScoreboard::new(),
            rtt: RttEstimator::new(Clock::LINUX_AGENT),
            timed: None,
            deadline: None,
            window: Window::new(config),
            watched: control.watches(),
            control,
            pacing: RateHalving::default(),
            state: CongestionState::Open,
            recovery_point: 0,
            counters: SenderCounters::default(),
        }
    }

    /// The application hands over `bytes` more; they leave in full segments, the last one short.
    /// Nothing is taken after [`PapersSender::close`].
    pub(super) fn supply(&mut self, bytes: u64) {
        if self.supply.add(bytes) {
            self.pacing.on_event(self.flight.outstanding());
        }
    }

    /// The application hands over nothing more. Of data without end, what was sent is the end.
    pub(super) fn close(&mut self) {
        self.supply.close(self.flight.nxt());
        if self.is_complete() {
            self.deadline = None;
        }
    }

    /// Whether the application has closed and everything is acknowledged.
    pub(super) fn is_complete(&self) -> bool {
        self.supply.is_complete(self.flight.una())
    }

    /// What was counted so far.
    pub(super) fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// Congestion window in segments. While rate halving leads down to it, more is in flight.
    pub(super) fn cwnd(&self) -> u32 {
        self.window.cwnd
    }

    /// Slow-start threshold in segments; `None` before there is one.
    pub(super) fn ssthresh(&self) -> Option<u32> {
        (self.window.ssthresh != u32::MAX).then_some(self.window.ssthresh)
    }

    /// Segments believed to be on their way.
    pub(super) fn in_flight(&self) -> u64 {
        self.flight.outstanding()
    }

    /// Smoothed round-trip time; `None` before the first sample and after four timeouts in a row.
    pub(super) fn srtt(&self) -> Option<Duration> {
        self.rtt.smoothed()
    }

    /// The retransmission timeout in force.
    pub(super) fn rto(&self) -> Duration {
        self.rtt.timeout()
    }

    /// What is being done about losses.
    pub(super) fn state(&self) -> CongestionState {
        self.state
    }

    /// First byte not acknowledged.
    pub(super) fn acknowledged(&self) -> u64 {
        self.flight.una()
    }

    /// Takes acknowledged segments out of the flight.
    #[inline]
    fn advance(&mut self, ack: u64) -> Advance {
        let una = self.flight.una();
        let (mut segments, mut last_sent, mut ambiguous) = (0, None, false);
        while let Some(segment) = self.flight.pop_acknowledged(ack) {
            self.scoreboard.on_acknowledged(&segment);
            self.counters.on_acknowledged(segment.sends);
            segments += 1;
            last_sent = Some(segment.last_sent);
            ambiguous |= segment.state == State::Retransmitted;
        }
        self.counters.bytes_acked += self.flight.una() - una;
        Advance { segments, last_sent: last_sent.filter(|_| !ambiguous) }
    }

    #[inline]
    fn update_scoreboard(&mut self, segment: &Segment) -> Findings {
        if segment.sack.is_empty() && self.scoreboard.is_empty() {
            return Findings::default();
        }
        self.take_in_sacks(segment)
    }

    fn take_in_sacks(&mut self, segment: &Segment) -> Findings {
        let mut blocks = Blocks::default();
        for block in segment.sack.iter(segment.ack) {
            // Blocks below the acknowledgement report duplicates; none may reach beyond what was
            // sent.
            if block.start < self.flight.una() || block.end > self.flight.nxt() {
                continue;
            }
            let start = self.flight.at_or_after(block.start);
            let end = self.flight.at_or_after(block.end);
            if start < end {
                blocks.insert(start, end);
            }
        }
        self.scoreboard.update(&mut self.flight, &blocks)
    }

    /// Every ACK in the window gives a sample and restarts the timer (ns-2 TCP/Linux).
    #[inline]
    fn update_timer(&mut self, now: Instant, segment: &Segment) {
        if self.timestamps {
            self.rtt.sample(now.saturating_since(segment.ts_ecr));
            self.rtt.end_backoff();
        } else if let Some(timed) = self.timed.filter(|timed| timed.segment < self.flight.first()) {
            self.rtt.sample(now.saturating_since(timed.sent));
            self.rtt.end_backoff();
            self.timed = None;
        }
        self.deadline = (!self.is_complete()).then(|| now + self.rtt.timeout());
    }
}

impl Endpoint for PapersSender {
    fn handle_segment(&mut self, now: Instant, segment: &Segment) {
        let una = self.flight.una();
        if segment.ack > self.flight.nxt() || segment.ack < una {
            return;
        }
        self.supply.on_ack(segment);
        let outstanding = self.flight.outstanding();
        if segment.ack.cmp(&una) == Ordering::Equal && !self.flight.is_empty() {
            self.counters.duplicate_acks += 1;
        }

        let Advance { segments, last_sent } = self.advance(segment.ack);
        self.window.acked = self.window.acked.saturating_add(segments);
        let findings = self.update_scoreboard(segment);
        self.update_timer(now, segment);
        let open = self.state == CongestionState::Open;
        let echo = self.timestamps.then_some(segment.ts_ecr);
        let mut acked = Acked {
            now,
            segments,
            outstanding,
            una: self.flight.una(),
            first: self.flight.first(),
            next: self.flight.next(),
            echo,
            rtt: None,
            srtt: None,
            undisturbed: open && !findings.newly_sacked,
            open,
        };
        if self.watched {
            let answered = last_sent.filter(|_| !findings.retransmission_sacked).or(echo);
            acked.rtt = answered.map(|sent| now.saturating_since(sent));
            acked.srtt = self.rtt.smoothed();
            self.control.on_arrival(&acked, &mut self.window);
        }
        self.update_window(&acked, findings);
        self.pacing.on_event(self.flight.outstanding());
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        if self.flight.is_empty() {
            // Idle for a timeout: the next data start with the initial window.
            self.window.cwnd = self.initial_window.clamp(1, self.window.max);
            self.window.acked = 0;
            self.deadline = None;
        } else {
            self.enter_loss();
            self.rtt.back_off();
            self.deadline = Some(now + self.rtt.timeout());
        }
        self.pacing.on_event(self.flight.outstanding());
    }

    fn transmit_into(&mut self, now: Instant, segment: &mut Segment) -> bool {
        if self.flight.outstanding() >= self.pacing.limit(self.window.cwnd) {
            return false;
        }
        match self.scoreboard.next_retransmission(&self.flight) {
            Some(number) => {
                self.retransmit(now, number, segment);
                true
            }
            None => self.send_new(now, segment),
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.deadline
    }
}

#[cfg(test)]
mod tests;
