//! Prague (draft-briscoe-iccrg-prague-congestion-control), with the constants and rules of `tcp_prague` 0.6 in
//! the L4S team's Linux: DCTCP's law on exact counts of marks, a window in fractions of a segment that
//! grows in reduction too, pacing, and independence of the round-trip time.

use crate::transport::tcp::congestion::{
    Ack, CongestionControl, Loss, Pace, Reduction, Sample, Totals, Window,
};
use crate::units::{Duration, Instant};

/// Windows and the share of marks are in 2^-20.
const ONE: u64 = 1 << 20;
/// Weight of a round trip in the share of marks, a sixteenth; the share is kept 16 times as large.
const SHIFT_G: u32 = 4;
const LEAST_WINDOW: u32 = 2;
/// Round trips shorter than this one count as this one (`prague_rtt_target`) ...
const TARGET_RTT: Duration = Duration::from_millis(25);
/// ... after so many rounds beyond slow start (`prague_rtt_transition`).
const TRANSITION: u64 = 500;
/// Segments leave in bursts of 2^-12 s at most, or of two segments.
const BURSTS: u64 = 1 << 12;
const LEAST_BURST: u64 = 2;
/// Most segments of a burst, as the sizes of bursts are bounded in the kernel.
const MOST_BURST: u64 = 127;

/// The window in fractions, the share of marks, and the round trip.
#[derive(Debug)]
pub(crate) struct Prague {
    mss: u64,
    /// The window; before a loss.
    window: u64,
    window_before: u64,
    /// The share of marks, times 2^20 and 16.
    alpha: u64,
    /// There is a queue on the path that marks.
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
    /// What the ACK says that is being taken in.
    ack: Ack,
    fills: bool,
    pace: Option<Pace>,
}

impl Prague {
    pub(crate) fn new(mss: u32, initial_window: u32) -> Self {
        Self {
            mss: u64::from(mss),
            window: u64::from(initial_window) * ONE,
            window_before: 0,
            alpha: ONE << SHIFT_G,
            saw_marks: false,
            in_loss: false,
            round_end: 0,
            rounds: 0,
            delivered: 0,
            marked: 0,
            alpha_updated: Instant::ZERO,
            reduced: Instant::ZERO,
            now: Instant::ZERO,
            srtt: None,
            ack: Ack::default(),
            fills: false,
            pace: None,
        }
    }

    /// The window in whole segments.
    fn segments(&self) -> u32 {
        u32::try_from(self.window.div_ceil(ONE)).unwrap_or(u32::MAX).max(1)
    }

    fn is_rtt_independent(&self, window: &Window) -> bool {
        !window.in_slow_start() && self.rounds >= TRANSITION
    }

    /// What a window of segments adds to the window: one, or as many as let a short round trip gain what
    /// one of the target gains in the same time.
    fn gain(&self) -> u64 {
        match self.srtt {
            Some(rtt) if self.rounds >= TRANSITION && rtt < TARGET_RTT => {
                let share = u128::from(rtt.as_nanos()).pow(2) * u128::from(ONE);
                (share / u128::from(TARGET_RTT.as_nanos()).pow(2)) as u64
            }
            _ => ONE,
        }
    }

    /// What arrived without a mark makes the window grow.
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

    /// The end of an ACK: the window grows, a round trip may be over.
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

    /// The window that is used follows, a segment an ACK.
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

    /// All of the rate of the window, twice of it in slow start.
    fn update_pace(&mut self, window: &Window) {
        let Some(rtt) = self.srtt.filter(|&rtt| rtt > Duration::ZERO) else { return };
        let double = u128::from(window.cwnd() < window.ssthresh() / 2);
        let bytes = (u128::from(self.mss) * u128::from(self.window)) << double;
        let rate = bytes * 1_000_000_000 / u128::from(rtt.as_nanos()) / u128::from(ONE);
        let bytes_per_second = u64::try_from(rate).unwrap_or(u64::MAX).max(1);
        let quantum = (bytes_per_second / self.mss / BURSTS).clamp(LEAST_BURST, MOST_BURST);
        self.pace = Some(Pace { bytes_per_second, quantum });
    }

    /// Slow start is over; the window itself falls a segment an ACK.
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

    /// By half the share of marks, once a round trip, or once in the target's time.
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

    /// The mean window over 2000 of 4000 round trips, in segments, where `marks` says of each packet
    /// whether it is marked.
    fn mean_window(mut marks: impl FnMut(u64) -> bool) -> f64 {
        let mut prague = Prague::new(1448, 10);
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

    /// A round trip adds 1 - p to the window; a reduction takes W p / 2 and comes a round trip and the
    /// wait for a mark after the one before. Where packets are marked at random, the wait is 1 / (p W) of a
    /// round trip: with x = p W / (1 - p) about x^2 = 2 x + 2, the window is 2.73 (1 - p) / p. (2 / p is
    /// that law with a reduction each round trip.)
    #[test]
    fn the_window_is_inverse_to_the_share_of_marks() {
        for every in [10, 20, 50, 100] {
            let mut rng = Seed(1).rng(Stream::Queue(0));
            let mean = mean_window(|_| rng.next_u64().is_multiple_of(every));
            let p = 1.0 / every as f64;
            let law = (1.0 + libm::sqrt(3.0)) * (1.0 - p) / p;
            assert!((mean / law - 1.0).abs() < 0.04, "{every}: {mean}, by the law {law}");
        }
    }

    /// Where every n-th packet is marked, reductions are in step with the marks, and the window is less:
    /// with the first mark beyond a window, the third, W p / 2 = 3 n (1 - p) / W, which is W = sqrt(6 (1 -
    /// p)) / p.
    #[test]
    fn regular_marks_lock_the_reductions() {
        for every in [20, 50, 100] {
            let mean = mean_window(|number| number.is_multiple_of(every));
            let p = 1.0 / every as f64;
            let law = libm::sqrt(6.0 * (1.0 - p)) / p;
            assert!((mean / law - 1.0).abs() < 0.02, "{every}: {mean}, by the law {law}");
        }
    }

    /// A flow of a fifth of the target's round trip gains 1/25 of a segment a round trip: as much in rate as
    /// one of the target, once it is old enough.
    #[test]
    fn short_round_trips_gain_as_the_target_does() {
        let mut prague = Prague::new(1448, 10);
        prague.srtt = Some(Duration::from_millis(5));
        assert_eq!(prague.gain(), ONE);
        prague.rounds = TRANSITION;
        assert_eq!(prague.gain(), ONE / 25);
        prague.srtt = Some(Duration::from_millis(25));
        assert_eq!(prague.gain(), ONE);
    }

    #[test]
    fn a_loss_halves_it() {
        let mut prague = Prague::new(1448, 40);
        let window = Window::of(40, 30);
        prague.reduce(Loss::Detected, &window);
        assert_eq!(prague.segments(), 20);
        prague.on_undo(Totals::default());
        assert_eq!(prague.segments(), 40);
    }
}
