//! HyStart++ (RFC 9406) around another congestion control. When round-trip times rise, the first
//! slow start continues with five rounds of slower growth (conservative slow start), then ends
//! unless round-trip times fall again. Names and constants are the RFC's (sections 4.2 and 4.3).
//!
//! Where the RFC leaves a choice: a round ends when all data sent before its start are
//! acknowledged. Growth counts segments and keeps fractions of a segment.

use crate::config::delegate;
use crate::transport::tcp::congestion::{Ack, CongestionControl, Loss, Reduction, Totals, Window};
use crate::units::{Duration, Instant};

const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u32 = 4;
const CSS_ROUNDS: u32 = 5;
/// Limit of the growth per ACK, in segments; with pacing there is no limit.
const L: u32 = 8;

/// SlowStartPhase of the first slow start.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum SlowStartPhase {
    SlowStart,
    /// Conservative slow start: the increased round-trip time, and the number of rounds begun.
    Conservative {
        baseline: Duration,
        rounds: u32,
    },
}

/// A congestion control with HyStart++ in its first slow start.
#[derive(Debug)]
pub(crate) struct HyStartPlus {
    inner: Box<dyn CongestionControl>,
    paced: bool,
    phase: SlowStartPhase,
    /// The segment whose ACK ends the round (windowEnd).
    end: u64,
    last_least: Option<Duration>,
    least: Option<Duration>,
    samples: u32,
    /// Acknowledged segments of conservative slow start not yet converted into growth; less than
    /// the divisor.
    credit: u32,
}

impl HyStartPlus {
    pub(crate) fn new(inner: Box<dyn CongestionControl>, paced: bool) -> Self {
        Self {
            inner,
            paced,
            phase: SlowStartPhase::SlowStart,
            end: 0,
            last_least: None,
            least: None,
            samples: 0,
            credit: 0,
        }
    }

    /// Section 4.3: HyStart++ applies only while the initial threshold is unchanged.
    fn applies(window: &Window) -> bool {
        window.ssthresh() == u32::MAX
    }

    /// Handles an ACK. Returns true if slow start is over.
    fn is_over(&mut self, ack: &Ack) -> bool {
        if ack.first >= self.end {
            self.end = ack.next;
            self.last_least = self.least.take();
            self.samples = 0;
            if let SlowStartPhase::Conservative { rounds, .. } = &mut self.phase {
                *rounds += 1;
                if *rounds > CSS_ROUNDS {
                    return true;
                }
            }
        }
        let Some(rtt) = ack.rtt else { return false };
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        self.samples = self.samples.saturating_add(1);
        if self.samples < N_RTT_SAMPLE {
            return false;
        }
        match self.phase {
            SlowStartPhase::SlowStart => {
                let rises = |last: Duration| {
                    let eighth = Duration::from_nanos(last.as_nanos() / MIN_RTT_DIVISOR);
                    least >= last + eighth.clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
                };
                if self.last_least.is_some_and(rises) {
                    // The current round counts.
                    self.phase = SlowStartPhase::Conservative { baseline: least, rounds: 1 };
                    self.credit = 0;
                }
            }
            SlowStartPhase::Conservative { baseline, .. } if least < baseline => {
                self.phase = SlowStartPhase::SlowStart;
            }
            SlowStartPhase::Conservative { .. } => {}
        }
        false
    }

    fn growth(&mut self, segments: u32) -> u32 {
        let counted = if self.paced { segments } else { segments.min(L) };
        if self.phase == SlowStartPhase::SlowStart {
            return counted;
        }
        self.credit = self.credit.saturating_add(counted);
        let grown = self.credit / CSS_GROWTH_DIVISOR;
        self.credit %= CSS_GROWTH_DIVISOR;
        grown
    }
}

impl CongestionControl for HyStartPlus {
    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        if !Self::applies(window) {
            return self.inner.grow(ack, window);
        }
        if ack.fills(window) {
            let grown = self.growth(ack.segments);
            window.set_cwnd(window.cwnd().saturating_add(grown));
        }
    }

    fn watches(&self) -> bool {
        true
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if self.inner.watches() {
            self.inner.on_ack(ack, window);
        }
        if Self::applies(window) && self.is_over(ack) {
            window.set_ssthresh(window.cwnd());
        }
    }

    fn on_established(
        &mut self,
        now: Instant,
        srtt: Option<Duration>,
        delivered: u64,
        window: &mut Window,
    ) {
        self.inner.on_established(now, srtt, delivered, window);
    }

    delegate! { self.inner =>
        fn reduce(&mut self, loss: Loss, window: &Window) -> Reduction;
        fn on_timeout(&mut self, now: Instant, next: u64, totals: Totals);
        fn on_repaired(&mut self, loss: Loss, next: u64, window: &mut Window);
        fn on_undo(&mut self, totals: Totals);
        fn on_idle(&mut self, now: Instant, idle: Duration, app_limited: bool, window: &mut Window);
    }
}

#[cfg(test)]
mod tests {
    use super::super::reno::Reno;
    use super::*;

    /// Drives rounds of `acks` ACKs of one segment each.
    struct Rounds {
        control: HyStartPlus,
        window: Window,
        first: u64,
    }

    impl Rounds {
        fn new(paced: bool) -> Self {
            let control = HyStartPlus::new(Box::new(Reno), paced);
            Self { control, window: Window::of(100, u32::MAX), first: 0 }
        }

        /// A round in which every ACK has a sample of `rtt_ms`. Returns the growth of the window.
        fn round(&mut self, acks: u64, rtt_ms: u64) -> u32 {
            let (before, next) = (self.window.cwnd(), self.first + acks + 1);
            for _ in 0..acks {
                self.first += 1;
                self.ack(1, next, rtt_ms);
            }
            self.window.cwnd() - before
        }

        fn ack(&mut self, segments: u32, next: u64, rtt_ms: u64) {
            let ack = Ack {
                segments,
                first: self.first,
                next,
                rtt: Some(Duration::from_millis(rtt_ms)),
                limited: Some(true),
                ..Ack::default()
            };
            self.control.on_ack(&ack, &mut self.window);
            self.control.grow(&ack, &mut self.window);
        }

        fn is_conservative(&self) -> bool {
            matches!(self.control.phase, SlowStartPhase::Conservative { .. })
        }

        fn is_over(&self) -> bool {
            self.window.ssthresh() < u32::MAX
        }
    }

    /// Section 4.2: RttThresh is an eighth of the last round's minimum, within 4 and 16 ms.
    #[test]
    fn a_rise_by_an_eighth_begins_conservative_slow_start() {
        for (last, rise) in [(100, 13), (16, 4), (24, 4), (400, 16), (600, 16)] {
            let mut rounds = Rounds::new(false);
            rounds.round(20, last);
            rounds.round(20, last + rise - 1);
            assert!(!rounds.is_conservative(), "{last} ms");
            let mut rounds = Rounds::new(false);
            rounds.round(20, last);
            rounds.round(20, last + rise);
            assert!(rounds.is_conservative(), "{last} ms");
            assert!(!rounds.is_over());
        }
    }

    /// Seven samples are not enough, and the first round has no predecessor to compare with.
    #[test]
    fn a_round_needs_eight_samples() {
        let mut rounds = Rounds::new(false);
        rounds.round(20, 100);
        rounds.round(7, 200);
        assert!(!rounds.is_conservative());
        rounds.round(8, 400);
        assert!(rounds.is_conservative());
    }

    /// Five rounds, including the one in which it began, at a quarter of the growth. Then the
    /// threshold is set to the window.
    #[test]
    fn five_rounds_at_a_quarter_then_congestion_avoidance() {
        let mut rounds = Rounds::new(false);
        assert_eq!(rounds.round(40, 100), 40);
        // The eighth ACK reveals the rise and already grows by a quarter: 7 + 33/4.
        assert_eq!(rounds.round(40, 120), 7 + 8);
        for _ in 0..4 {
            assert_eq!(rounds.round(40, 120), 10);
            assert!(!rounds.is_over());
        }
        let cwnd = rounds.window.cwnd();
        rounds.round(1, 120);
        assert!(rounds.is_over());
        assert_eq!(rounds.window.ssthresh(), cwnd);
        assert_eq!(rounds.round(20, 100), 0, "Reno beyond the threshold");
    }

    /// A round with a minimum below the baseline shows that the rise was spurious.
    #[test]
    fn a_spurious_exit_resumes_slow_start() {
        let mut rounds = Rounds::new(false);
        rounds.round(40, 100);
        rounds.round(40, 120);
        assert!(rounds.is_conservative());
        rounds.round(40, 120);
        assert!(rounds.is_conservative());
        rounds.round(40, 119);
        assert!(!rounds.is_conservative() && !rounds.is_over());
        assert_eq!(rounds.round(40, 119), 40);
        // A new rise begins all rounds again.
        rounds.round(40, 160);
        assert!(rounds.is_conservative());
        (0..4).for_each(|_| _ = rounds.round(40, 160));
        assert!(!rounds.is_over());
    }

    /// An ACK of 20 segments grows the window by 8, with pacing by 20.
    #[test]
    fn stretched_acks_are_limited_unless_paced() {
        for (paced, grown) in [(false, 8), (true, 20)] {
            let mut rounds = Rounds::new(paced);
            rounds.first = 20;
            rounds.ack(20, 100, 50);
            assert_eq!(rounds.window.cwnd(), 100 + grown);
        }
    }

    /// A loss ends slow start as usual, and HyStart++ does not apply afterwards.
    #[test]
    fn a_loss_ends_it() {
        let mut rounds = Rounds::new(false);
        rounds.round(40, 100);
        let reduction = rounds.control.reduce(Loss::Detected, &rounds.window);
        assert_eq!(reduction.ssthresh, 70);
        rounds.window.set_ssthresh(70);
        rounds.window.set_cwnd(20);
        assert_eq!(rounds.round(20, 300), 20, "slow start by all of it");
        assert!(!rounds.is_conservative());
    }
}
