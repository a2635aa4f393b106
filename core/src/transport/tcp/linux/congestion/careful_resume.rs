//! Careful Resume (RFC 9959, draft-ietf-tsvwg-careful-resume) around a congestion control: a
//! connection that knows what the path bore earlier jumps to half of it after its first round trip,
//! paced, and retreats if that shows losses.
//!
//! Left out: everything about how the parameters are kept (their lifetime, who may use them); a
//! configuration gives them. What is beyond the text is said where it is.

use crate::transport::tcp::config::{SavedPath, TcpConfig};
use crate::transport::tcp::congestion::{
    Ack, CongestionControl, Loss, Pace, Reduction, Totals, Window,
};
use crate::units::{Duration, Instant};

/// Segments that leave at a time while the window is not validated: no more than an initial window.
const QUANTUM: (u64, u64) = (2, 10);

/// The phases of section 3 (and what each has to remember).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    Reconnaissance,
    /// The jump: the first segment sent after it, when, and the round-trip time that paces it.
    Unvalidated {
        first: u64,
        began: Instant,
        rtt: Duration,
    },
    /// Until everything below `end` is acknowledged.
    Validating {
        end: u64,
    },
    SafeRetreat {
        end: u64,
    },
    Normal,
}

/// A congestion control with parameters from an earlier connection.
#[derive(Debug)]
pub(crate) struct CarefulResume {
    inner: Box<dyn CongestionControl>,
    jump: u32,
    saved_rtt: Duration,
    mss: u32,
    initial_window: u32,
    phase: Phase,
    least_rtt: Option<Duration>,
    /// Segments that are known to have passed (PipeSize).
    pipe: u64,
    /// The segment to be sent next, as of the last ACK.
    next: u64,
    /// The window may not exceed this until a recovery is over.
    most: Option<u32>,
}

impl CarefulResume {
    pub(crate) fn new(
        inner: Box<dyn CongestionControl>,
        saved: SavedPath,
        config: &TcpConfig,
    ) -> Self {
        Self {
            inner,
            jump: saved.cwnd.saturated() / 2,
            saved_rtt: saved.rtt,
            mss: config.mss().0,
            initial_window: config.initial_window(),
            phase: Phase::Reconnaissance,
            least_rtt: None,
            pipe: 0,
            next: 0,
            most: None,
        }
    }

    fn note_rtt(&mut self, rtt: Option<Duration>) {
        if let Some(rtt) = rtt {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
    }

    /// Whether the path is the saved one by its round-trip time: above half and up to ten times.
    fn is_confirmed(&self, rtt: Duration) -> bool {
        rtt + rtt > self.saved_rtt && rtt <= self.saved_rtt * 10
    }

    /// The initial data are acknowledged: the jump, unless the path is another one. It waits while
    /// the application sends less than the window allows.
    fn jump_if_due(&mut self, ack: &Ack, window: &mut Window) {
        if ack.first < u64::from(self.initial_window) || !ack.fills(window) {
            return;
        }
        let Some(rtt) = self.least_rtt else { return };
        if !self.is_confirmed(rtt) || self.jump <= window.cwnd() {
            self.phase = Phase::Normal;
            return;
        }
        self.pipe = flight_after(ack);
        window.set_cwnd(self.jump);
        self.phase = Phase::Unvalidated { first: ack.next, began: ack.now, rtt };
    }

    /// The jump is sent, or a round trip is over: the window is what is in flight, and no more than
    /// what passed if the jump was not used.
    fn validate(&mut self, ack: &Ack, window: &mut Window) {
        let flight = flight_after(ack);
        if flight <= self.pipe {
            window.set_cwnd(narrow(self.pipe).max(2));
            self.phase = Phase::Normal;
        } else {
            window.set_cwnd(narrow(flight));
            self.phase = Phase::Validating { end: ack.next };
        }
    }

    fn follow(&mut self, ack: &Ack, window: &mut Window) {
        self.pipe += u64::from(ack.segments);
        match self.phase {
            Phase::Unvalidated { first, began, rtt } => {
                let sent = flight_after(ack) + u64::from(ack.segments) >= window.cwnd().into();
                if ack.first > first || sent || ack.now > began + rtt {
                    self.validate(ack, window);
                }
            }
            Phase::Validating { end } if ack.first >= end => self.phase = Phase::Normal,
            // "no larger than PipeSize * Beta": Beta is 0.5 unless a control has another.
            Phase::SafeRetreat { end } if ack.first >= end => {
                window.set_ssthresh(narrow(self.pipe / 2).max(2));
                self.phase = Phase::Normal;
            }
            _ => {}
        }
    }
}

/// In flight after an ACK.
fn flight_after(ack: &Ack) -> u64 {
    ack.prior_in_flight.saturating_sub(ack.segments.into())
}

fn narrow(segments: u64) -> u32 {
    u32::try_from(segments).unwrap_or(u32::MAX)
}

impl CongestionControl for CarefulResume {
    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        match self.phase {
            Phase::Unvalidated { .. } | Phase::SafeRetreat { .. } => {}
            _ => self.inner.grow(ack, window),
        }
    }

    /// Losses of unvalidated segments: half of what passed. The control hears of a loss at that
    /// window.
    fn reduce(&mut self, loss: Loss, window: &Window) -> Reduction {
        let (next, phase) = (self.next, self.phase);
        self.phase = Phase::Normal;
        let end = match phase {
            Phase::Unvalidated { .. } => next,
            Phase::Validating { end } | Phase::SafeRetreat { end } => end,
            Phase::Reconnaissance | Phase::Normal => return self.inner.reduce(loss, window),
        };
        if loss == Loss::Timeout {
            return self.inner.reduce(loss, window);
        }
        let mut passed = *window;
        passed.set_cwnd(narrow(self.pipe).max(2));
        self.inner.reduce(loss, &passed);
        self.phase = Phase::SafeRetreat { end };
        let half = narrow(self.pipe / 2).max(2);
        self.most = Some(half);
        Reduction::to(half)
    }

    /// Proportional rate reduction is too slow where a jump overshot (section 4.5).
    fn falls_at_once(&self) -> bool {
        matches!(self.phase, Phase::SafeRetreat { .. })
    }

    fn watches(&self) -> bool {
        self.phase != Phase::Normal || self.inner.watches()
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if self.inner.watches() {
            self.inner.on_ack(ack, window);
        }
        if self.phase == Phase::Normal {
            return;
        }
        self.next = ack.next;
        if self.phase == Phase::Reconnaissance {
            self.note_rtt(ack.rtt);
            self.jump_if_due(ack, window);
        } else {
            self.follow(ack, window);
        }
    }

    fn on_established(
        &mut self,
        now: Instant,
        srtt: Option<Duration>,
        delivered: u64,
        window: &mut Window,
    ) {
        self.note_rtt(srtt);
        self.inner.on_established(now, srtt, delivered, window);
    }

    fn on_timeout(&mut self, now: Instant, next: u64, totals: Totals) {
        (self.phase, self.most) = (Phase::Normal, None);
        self.inner.on_timeout(now, next, totals);
    }

    fn on_repaired(&mut self, loss: Loss, next: u64, window: &mut Window) {
        self.inner.on_repaired(loss, next, window);
        if let Some(most) = self.most.take() {
            window.set_cwnd(window.cwnd().min(most));
        }
    }

    fn on_undo(&mut self, totals: Totals) {
        (self.phase, self.most) = (Phase::Normal, None);
        self.inner.on_undo(totals);
    }

    fn on_idle(&mut self, now: Instant, idle: Duration, app_limited: bool, window: &mut Window) {
        self.inner.on_idle(now, idle, app_limited, window);
    }

    /// The jump over the round-trip time while it is not validated.
    fn pace(&self) -> Option<Pace> {
        let Phase::Unvalidated { rtt, .. } = self.phase else { return self.inner.pace() };
        let bytes = u128::from(self.jump) * u128::from(self.mss) * 1_000_000_000;
        let rate = bytes / u128::from(rtt.as_nanos().max(1));
        let bytes_per_second = u64::try_from(rate).unwrap_or(u64::MAX).max(1);
        let quantum = bytes_per_second / 1024 / u64::from(self.mss);
        Some(Pace { bytes_per_second, quantum: quantum.clamp(QUANTUM.0, QUANTUM.1) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::reno::Reno;
    use super::*;
    use crate::transport::tcp::congestion::CongestionAlgorithm;
    use crate::units::Packets;

    const MS: Duration = Duration::from_millis(1);

    /// A connection of window 10 that knows a path of 400 segments and 600 ms.
    struct Connection {
        control: CarefulResume,
        window: Window,
        now: Instant,
        first: u64,
    }

    impl Connection {
        fn new() -> Self {
            let config = TcpConfig::linux(CongestionAlgorithm::NEWRENO);
            let saved = SavedPath { cwnd: Packets::new(400).unwrap(), rtt: MS * 600 };
            let control = CarefulResume::new(Box::new(Reno), saved, &config);
            let now = Instant::ZERO;
            Self { control, window: Window::of(10, u32::MAX), now, first: 0 }
        }

        /// After so many ms an ACK of `segments`, with `prior` in flight before it and
        /// `next` to be sent next; the window grows by it if it may.
        fn ack(&mut self, after: u64, segments: u32, prior: u64, next: u64, rtt: u64) {
            self.now = self.now + MS * after;
            self.first += u64::from(segments);
            let ack = Ack {
                now: self.now,
                segments,
                prior_in_flight: prior,
                first: self.first,
                next,
                rtt: Some(MS * rtt),
                ..Ack::default()
            };
            self.control.on_ack(&ack, &mut self.window);
            self.control.grow(&Ack { limited: Some(true), ..ack }, &mut self.window);
        }

        /// The initial window was acknowledged in two halves; 20 are in flight.
        fn jumped(rtt: u64) -> Self {
            let mut connection = Self::new();
            connection.ack(rtt, 5, 10, 10, rtt);
            connection.ack(0, 5, 15, 20, rtt);
            connection
        }
    }

    /// By hand: half of 400 after the initial window, at 200 segments a round trip of 600 ms.
    #[test]
    fn half_of_the_saved_window_paced_over_a_round_trip() {
        let connection = Connection::jumped(600);
        assert_eq!(connection.window.cwnd(), 200);
        let expected = Phase::Unvalidated { first: 20, began: connection.now, rtt: MS * 600 };
        assert_eq!(connection.control.phase, expected);
        let pace = connection.control.pace().unwrap();
        assert_eq!(pace.bytes_per_second, 200 * 1448 * 10 / 6);
        assert_eq!(connection.control.pipe, 10);
    }

    #[test]
    fn another_path_by_its_round_trip_time_is_left_alone() {
        for (rtt, jumps) in [(299, false), (300, false), (301, true), (6_000, true), (6_001, false)]
        {
            let connection = Connection::jumped(rtt);
            assert_eq!(connection.window.cwnd() == 200, jumps, "{rtt} ms");
            assert_eq!(connection.control.phase == Phase::Normal, !jumps, "{rtt} ms");
        }
    }

    #[test]
    fn a_loss_in_reconnaissance_ends_it() {
        let mut connection = Connection::new();
        connection.ack(600, 5, 10, 10, 600);
        assert_eq!(connection.control.reduce(Loss::Detected, &connection.window).ssthresh, 7);
        connection.ack(1, 5, 15, 20, 600);
        assert_eq!(connection.control.phase, Phase::Normal);
        assert_eq!(connection.window.cwnd(), 20);
    }

    /// The first unvalidated segment is acknowledged: the window is what is in flight, grows as
    /// slow start does, and once all of the jump is acknowledged nothing is special.
    #[test]
    fn an_acknowledged_jump_is_validated() {
        let mut connection = Connection::jumped(600);
        connection.ack(600, 10, 180, 190, 600); // what had been in flight before the jump
        assert_eq!((connection.window.cwnd(), connection.control.pipe), (200, 20));
        assert!(matches!(connection.control.phase, Phase::Unvalidated { .. }));
        connection.ack(1, 2, 182, 200, 600);
        assert_eq!(connection.control.phase, Phase::Validating { end: 200 });
        assert_eq!(connection.window.cwnd(), 180 + 2);
        assert_eq!(connection.control.pace(), None);
        connection.ack(300, 177, 182, 250, 600);
        assert_eq!(connection.control.phase, Phase::Validating { end: 200 });
        connection.ack(1, 1, 182, 260, 600);
        assert_eq!(connection.control.phase, Phase::Normal);
        assert_eq!(connection.window.cwnd(), 182 + 178);
    }

    /// A jump that the application did not use leaves what passed.
    #[test]
    fn an_unused_jump_is_given_back() {
        let mut connection = Connection::jumped(600);
        connection.ack(601, 10, 15, 25, 600);
        assert_eq!((connection.control.phase, connection.window.cwnd()), (Phase::Normal, 20 + 10));
    }

    /// Losses: half of what passed until then, no growth, and half of all that passed as threshold
    /// once the jump is acknowledged.
    #[test]
    fn losses_lead_to_a_safe_retreat() {
        let mut connection = Connection::jumped(600);
        connection.ack(600, 10, 180, 190, 600);
        connection.ack(1, 2, 182, 200, 600);
        connection.ack(1, 38, 182, 240, 600);
        let reduction = connection.control.reduce(Loss::Detected, &connection.window);
        assert_eq!(connection.control.pipe, 60);
        assert_eq!(reduction.ssthresh, 30);
        assert!(connection.control.falls_at_once());
        connection.window.set_ssthresh(30);
        connection.window.set_cwnd(30);
        connection.ack(100, 40, 140, 240, 600);
        assert_eq!(connection.window.cwnd(), 30);
        connection.ack(100, 100, 100, 240, 600);
        assert_eq!(connection.control.phase, Phase::Normal);
        assert_eq!(connection.window.ssthresh(), 100);
        connection.window.set_cwnd(100); // what a recovery's end does
        connection.control.on_repaired(Loss::Detected, 240, &mut connection.window);
        assert_eq!(connection.window.cwnd(), 30);
    }

    #[test]
    fn a_timeout_ends_it() {
        let mut connection = Connection::jumped(600);
        connection.control.reduce(Loss::Timeout, &connection.window);
        connection.control.on_timeout(connection.now, 200, Totals::default());
        assert_eq!(connection.control.phase, Phase::Normal);
    }
}
