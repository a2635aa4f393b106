//! DCTCP (RFC 8257) as in Linux: the window falls by half the fraction of marked packets.

use super::reno::Reno;
use crate::transport::tcp::congestion::{Ack, CongestionControl, Loss, Reduction, Window};

/// Fixed-point one of the marked fraction alpha, which starts at 1.
const ALL: u32 = 1024;
/// Weight of one round trip in alpha, a sixteenth (RFC 8257, section 4.2: g; `dctcp_shift_g`).
const SHIFT_G: u32 = 4;

/// The marked fraction alpha and the counters of the current round trip.
#[derive(Debug)]
pub(crate) struct Dctcp {
    alpha: u32,
    /// The segment whose ACK ends the round trip.
    round_end: u64,
    delivered: u64,
    marked: u64,
}

impl Dctcp {
    pub(crate) fn new() -> Self {
        Self { alpha: ALL, round_end: 0, delivered: 0, marked: 0 }
    }

    /// Updates alpha at the end of a round trip (RFC 8257, section 3.3, steps 5 to 8).
    fn update(&mut self) {
        self.alpha -= match self.alpha >> SHIFT_G {
            // A sixteenth would round down to zero, so that alpha would never reach 0: drop all of
            // it.
            0 => self.alpha,
            share => share,
        };
        if self.marked > 0 {
            let share = (self.marked << (10 - SHIFT_G)) / self.delivered.max(1);
            self.alpha = self.alpha.saturating_add(share.min(u64::from(ALL)) as u32).min(ALL);
        }
        (self.delivered, self.marked) = (0, 0);
    }

    fn half(window: &Window) -> Reduction {
        Reduction::to((window.cwnd() / 2).max(2))
    }
}

impl CongestionControl for Dctcp {
    fn watches(&self) -> bool {
        true
    }

    fn on_ack(&mut self, ack: &Ack, _: &mut Window) {
        self.delivered += u64::from(ack.segments);
        self.marked += u64::from(ack.marked);
        if ack.first >= self.round_end {
            self.update();
            self.round_end = ack.next;
        }
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        Reno.grow(ack, window);
    }

    /// A packet loss halves the window (section 3.5).
    fn reduce(&mut self, _: Loss, window: &Window) -> Reduction {
        Self::half(window)
    }

    fn reduce_marked(&mut self, window: &Window) -> Reduction {
        let cwnd = u64::from(window.cwnd());
        let cut = (cwnd * u64::from(self.alpha)) >> 11;
        Reduction::to(((cwnd - cut) as u32).max(2))
    }

    fn reduce_among_marks(&mut self, window: &Window) -> Option<Reduction> {
        Some(Self::half(window))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Duration, Instant};

    fn round(dctcp: &mut Dctcp, number: u64, marked: u32) {
        let (first, next) = (number * 100, (number + 1) * 100);
        let ack = Ack { segments: 100, marked, first, next, ..Ack::default() };
        dctcp.on_ack(&ack, &mut Window::of(100, 10));
    }

    /// `dctcp_cwnd_event_tx_start` keeps what was counted before a pause.
    #[test]
    fn a_pause_keeps_the_marks_of_its_round_trip() {
        let (mut dctcp, mut window) = (Dctcp::new(), Window::of(100, 10));
        round(&mut dctcp, 0, 0);
        let ack = Ack { segments: 50, marked: 50, first: 50, next: 150, ..Ack::default() };
        dctcp.on_ack(&ack, &mut window);
        dctcp.on_idle(Instant::ZERO, Duration::from_millis(1000), true, &mut window);
        round(&mut dctcp, 2, 0);
        assert_eq!(dctcp.alpha, 900 + 21, "50 of 150 marked");
    }

    /// RFC 8257, section 3.3: per round trip alpha moves by a sixteenth of the distance to the
    /// fraction of marks, and the window falls by half of alpha. Quotients are rounded down: up to
    /// 16 of 1024 short.
    #[test]
    fn the_window_falls_by_half_the_marked_fraction() {
        let mut dctcp = Dctcp::new();
        assert_eq!(
            dctcp.reduce_marked(&Window::of(100, 10)),
            Reduction::to(50),
            "it begins with all"
        );
        round(&mut dctcp, 0, 0);
        assert_eq!(dctcp.alpha, 960);
        (1..200).for_each(|number| round(&mut dctcp, number, 25));
        assert!((256 - 16..=256 + 16).contains(&dctcp.alpha), "{}", dctcp.alpha);
        let after = dctcp.reduce_marked(&Window::of(800, 10)).ssthresh;
        assert!((693..=706).contains(&after), "{after}");
        assert_eq!(dctcp.reduce(Loss::Detected, &Window::of(800, 10)), Reduction::to(400));
        (200..600).for_each(|number| round(&mut dctcp, number, 0));
        assert_eq!(dctcp.alpha, 0, "without marks it ends");
    }
}
