//! Prague (draft-briscoe-iccrg-prague-congestion-control), with the constants and rules of
//! `tcp_prague` 0.6 in the L4S team's Linux: DCTCP's law on exact counts of marks, a fractional
//! window that grows during reductions too, pacing, and independence of the round-trip time.

use crate::transport::tcp::congestion::{
    Ack, CongestionControl, Loss, Pace, Reduction, Sample, Totals, Window,
};
use crate::units::{Duration, Instant};

/// Fixed-point one of windows and of the marked fraction: 2^20.
const ONE: u64 = 1 << 20;
/// Weight of one round trip in the marked fraction, a sixteenth. The fraction is stored 16 times as
/// large.
const SHIFT_G: u32 = 4;
const LEAST_WINDOW: u32 = 2;
/// Shorter round trips are treated as this long (`prague_rtt_target`) ...
const TARGET_RTT: Duration = Duration::from_millis(25);
/// ... after this many rounds outside slow start (`prague_rtt_transition`).
const TRANSITION: u64 = 500;
/// Segments leave in bursts of at most 2^-12 s, or two segments if that is more.
const BURSTS: u64 = 1 << 12;
const LEAST_BURST: u64 = 2;
/// Largest burst in segments, the kernel's limit.
const MOST_BURST: u64 = 127;

/// The fractional window, the marked fraction and the state of the round trip.
#[derive(Debug, Default)]
pub(crate) struct Prague {
    /// Bytes of a full packet with its headers: what a rate counts (`tcp_mss_to_mtu`).
    packet: u64,
    /// The window; before a loss.
    window: u64,
    window_before: u64,
    /// The marked fraction, times 2^20 and 16.
    alpha: u64,
    /// True once a mark was seen: the path has a marking queue.
    saw_marks: bool,
    in_loss: bool,
    round_end: u64,
    rounds: u64,
    delivered: u64,
    marked: u64,
    alpha_updated: Instant,
    reduced: Instant,
    now: Instant,
    srtt: Option<Duration>,
    /// The ACK being processed.
    ack: Ack,
    fills: bool,
    pace: Option<Pace>,
}

impl Prague {
    pub(crate) fn new(packet: u32, initial_window: u32) -> Self {
        Self {
            packet: u64::from(packet),
            window: u64::from(initial_window) * ONE,
            alpha: ONE << SHIFT_G,
            ..Self::default()
        }
    }

    /// The window in whole segments.
    fn segments(&self) -> u32 {
        u32::try_from(self.window.div_ceil(ONE)).unwrap_or(u32::MAX).max(1)
    }

    fn is_rtt_independent(&self, window: &Window) -> bool {
        !window.in_slow_start() && self.rounds >= TRANSITION
    }

    /// Growth per window of segments: one segment, or less for a short round trip, so that it gains
    /// in the same time what one of the target length gains.
    fn gain(&self) -> u64 {
        match self.srtt {
            Some(rtt) if self.rounds >= TRANSITION && rtt < TARGET_RTT => {
                let share = u128::from(rtt.as_nanos()).pow(2) * u128::from(ONE);
                (share / u128::from(TARGET_RTT.as_nanos()).pow(2)) as u64
            }
            _ => ONE,
        }
    }

    /// Grows the window for segments that arrived unmarked.
    fn grow_by(&mut self, segments: u32, window: &mut Window) {
        let mut left = u64::from(segments);
        if window.in_slow_start() {
            left = u64::from(window.slow_start(segments));
            self.window = u64::from(window.cwnd()) * ONE;
        }
        if left > 0 {
            let whole = u64::from(self.segments());
            self.window += ((left * self.gain() + whole / 2) / whole).max(left);
        }
    }

    /// Finishes an ACK: grows the window and may end the round trip.
    fn take_in(&mut self, window: &mut Window) {
        self.saw_marks |= self.ack.marked > 0;
        let unmarked = self.ack.segments.saturating_sub(self.ack.marked);
        if unmarked > 0 && !self.in_loss && self.fills {
            self.grow_by(unmarked, window);
        }
        self.follow(window);
        let waited = self.now.saturating_since(self.alpha_updated) >= TARGET_RTT;
        if self.ack.first >= self.round_end && (waited || !self.is_rtt_independent(window)) {
            self.end_round(window);
        }
        self.update_pace(window);
        (self.ack.segments, self.ack.marked) = (0, 0);
    }

    /// Moves the integer window towards the fractional one, one segment per ACK.
    fn follow(&self, window: &mut Window) {
        let (cwnd, segments) = (window.cwnd(), self.segments());
        if cwnd > segments && cwnd > LEAST_WINDOW {
            window.set_cwnd(cwnd - 1);
            window.set_ssthresh(cwnd - 1);
        } else if cwnd < segments {
            window.set_cwnd(cwnd + 1);
        }
    }

    fn end_round(&mut self, window: &Window) {
        if self.saw_marks {
            let share = (self.marked * ONE) / self.delivered.max(1);
            let alpha = self.alpha - (self.alpha >> SHIFT_G) + share;
            self.alpha = alpha.min(ONE << SHIFT_G);
            self.alpha_updated = self.now;
        }
        (self.delivered, self.marked) = (0, 0);
        self.round_end = self.ack.next;
        self.rounds += u64::from(!window.in_slow_start());
    }

    /// Sets the pacing rate to the window's rate, or twice that rate in slow start.
    fn update_pace(&mut self, window: &Window) {
        let Some(rtt) = self.srtt.filter(|&rtt| rtt > Duration::ZERO) else { return };
        let double = u128::from(window.cwnd() < window.ssthresh() / 2);
        let bytes = (u128::from(self.packet) * u128::from(self.window)) << double;
        let rate = bytes * 1_000_000_000 / u128::from(rtt.as_nanos()) / u128::from(ONE);
        let bytes_per_second = u64::try_from(rate).unwrap_or(u64::MAX).max(1);
        let quantum = (bytes_per_second / self.packet / BURSTS).clamp(LEAST_BURST, MOST_BURST);
        self.pace = Some(Pace { bytes_per_second, quantum });
    }

    /// Ends slow start; the window itself falls one segment per ACK.
    fn keep(window: &Window) -> Reduction {
        Reduction::to(window.ssthresh().min(window.cwnd()).max(LEAST_WINDOW))
    }

    fn halve(&mut self, window: &Window) -> Reduction {
        self.window_before = self.window;
        self.window -= self.window / 2;
        self.in_loss = true;
        Self::keep(window)
    }
}

impl CongestionControl for Prague {
    fn has_model(&self) -> bool {
        true
    }

    fn watches(&self) -> bool {
        true
    }

    /// The window grows in [`CongestionControl::on_sample`].
    fn grow(&mut self, _: &Ack, _: &mut Window) {}

    fn on_established(&mut self, _: Instant, srtt: Option<Duration>, _: u64, window: &mut Window) {
        self.srtt = srtt;
        self.update_pace(window);
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.fills = ack.fills(window);
        (self.ack, self.now) = (*ack, ack.now);
        self.srtt = ack.srtt.or(self.srtt);
        self.delivered += u64::from(ack.segments);
        self.marked += u64::from(ack.marked);
    }

    fn on_sample(&mut self, _: &Sample, window: &mut Window) {
        self.take_in(window);
    }

    fn reduce(&mut self, _: Loss, window: &Window) -> Reduction {
        self.halve(window)
    }

    /// Reduces by half the marked fraction, once per round trip or per target round-trip time.
    fn reduce_marked(&mut self, window: &Window) -> Reduction {
        let soon = self.now.saturating_since(self.reduced) < TARGET_RTT;
        if !(soon && self.is_rtt_independent(window)) {
            self.reduced = self.now;
            let alpha = u128::from(self.alpha >> SHIFT_G);
            let cut = (alpha * u128::from(self.window) + u128::from(ONE)) >> 21;
            self.window -= cut as u64;
        }
        Self::keep(window)
    }

    fn reduce_among_marks(&mut self, window: &Window) -> Option<Reduction> {
        Some(self.halve(window))
    }

    fn on_repaired(&mut self, _: Loss, _: u64, _: &mut Window) {
        self.in_loss = false;
    }

    fn on_undo(&mut self, _: Totals) {
        self.window = self.window.max(self.window_before);
    }

    fn pace(&self) -> Option<Pace> {
        self.pace
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::seed::{Seed, Stream};
    use crate::transport::tcp::config::{CongestionAlgorithm, Profile, TcpConfig};

    /// Mean window in segments over the last 2000 of 4000 round trips; `marks` decides whether a
    /// packet is marked.
    fn mean_window(mut marks: impl FnMut(u64) -> bool) -> f64 {
        let mut prague = Prague::new(1500, 10);
        let mut window = Window::of(10, u32::MAX);
        let (mut first, mut reducing_until, mut sum) = (0u64, None, 0.0);
        for round in 0..4000u64 {
            for _ in 0..window.cwnd() {
                first += 1;
                let marked = u32::from(marks(first));
                let now = Instant::from_nanos(round * 100_000_000);
                let next = first + u64::from(window.cwnd());
                let limited = Some(true);
                let ack = Ack { now, segments: 1, marked, first, next, limited, ..Ack::default() };
                prague.on_ack(&ack, &mut window);
                reducing_until = reducing_until.filter(|&until| first <= until);
                if marked > 0 && reducing_until.is_none() {
                    let ssthresh = prague.reduce_marked(&window).ssthresh;
                    window.set_ssthresh(ssthresh);
                    reducing_until = Some(next);
                }
                prague.take_in(&mut window);
            }
            if round >= 2000 {
                sum += prague.window as f64 / ONE as f64 / 2000.0;
            }
        }
        sum
    }

    /// Each round trip adds 1 - p to the window. A reduction takes W p / 2 and follows the previous
    /// one after a round trip plus the wait for a mark. With random marks the wait is 1 / (p W) of
    /// a round trip: with x = p W / (1 - p), about x^2 = 2 x + 2, so that the window is 2.73 (1 -
    /// p) / p. (2 / p is the law for one reduction per round trip.)
    #[test]
    fn the_window_is_inversely_proportional_to_the_marked_fraction() {
        for every in [10, 20, 50, 100] {
            let mut rng = Seed(1).rng(Stream::Queue(0));
            let mean = mean_window(|_| rng.next_u64().is_multiple_of(every));
            let p = 1.0 / every as f64;
            let law = (1.0 + libm::sqrt(3.0)) * (1.0 - p) / p;
            assert!((mean / law - 1.0).abs() < 0.04, "{every}: {mean}, by the law {law}");
        }
    }

    /// With every n-th packet marked, reductions synchronise with the marks and the window is
    /// smaller: if the first mark beyond a window is the third, W p / 2 = 3 n (1 - p) / W, that is
    /// W = sqrt(6 (1 - p)) / p.
    #[test]
    fn regular_marks_synchronise_the_reductions() {
        for every in [20, 50, 100] {
            let mean = mean_window(|number| number.is_multiple_of(every));
            let p = 1.0 / every as f64;
            let law = libm::sqrt(6.0 * (1.0 - p)) / p;
            assert!((mean / law - 1.0).abs() < 0.02, "{every}: {mean}, by the law {law}");
        }
    }

    /// A flow with a fifth of the target's round trip gains 1/25 segment per round trip: the same
    /// gain in rate as a flow at the target, once it is old enough.
    #[test]
    fn short_round_trips_gain_rate_as_fast_as_the_target() {
        let mut prague = Prague::new(1500, 10);
        prague.srtt = Some(Duration::from_millis(5));
        assert_eq!(prague.gain(), ONE);
        prague.rounds = TRANSITION;
        assert_eq!(prague.gain(), ONE / 25);
        prague.srtt = Some(Duration::from_millis(25));
        assert_eq!(prague.gain(), ONE);
    }

    /// A rate counts headers (`tcp_mss_to_mtu`): ten packets of 1500 bytes over 100 ms.
    #[test]
    fn the_pace_counts_headers() {
        let mut kinds = CongestionAlgorithm::in_profile(Profile::Linux);
        let prague = kinds.find(|kind| kind.name() == "prague").expect("a registered control");
        let config = TcpConfig::linux(prague);
        let mut control = prague.build(&config, Seed(1).rng(Stream::Queue(0)));
        let rtt = Some(Duration::from_millis(100));
        control.on_established(Instant::ZERO, rtt, 0, &mut Window::of(10, 10));
        assert_eq!(control.pace().map(|pace| pace.bytes_per_second), Some(150_000));
    }

    #[test]
    fn a_loss_halves_the_window() {
        let mut prague = Prague::new(1500, 40);
        let window = Window::of(40, 30);
        prague.reduce(Loss::Detected, &window);
        assert_eq!(prague.segments(), 20);
        prague.on_undo(Totals::default());
        assert_eq!(prague.segments(), 40);
    }
}
