//! Careful Resume (RFC 9959, draft-ietf-tsvwg-careful-resume) around another congestion control: a
//! connection with saved path parameters jumps to half of the saved window after its first round
//! trip, with pacing, and retreats if the jump causes losses.
//!
//! Not modelled: storage of the parameters (their lifetime, who may use them); a configuration
//! gives them. Comments mark each rule that goes beyond the RFC's text.

use crate::config::delegate;
use crate::transport::Timetable;
use crate::transport::tcp::config::{SavedPath, TcpConfig};
use crate::transport::tcp::congestion::{
    Ack, CongestionControl, Loss, Pace, Reduction, Subflow, Totals, Window,
};
use crate::units::{Duration, Instant};

/// Burst size while the window is not validated, in segments: at most an initial window.
const QUANTUM: (u64, u64) = (2, 10);

/// The phases of section 3, with their state.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ResumePhase {
    Reconnaissance,
    /// The jump: the first segment sent after it, its time, and the round-trip time used for
    /// pacing.
    Unvalidated {
        first: u64,
        began: Instant,
        rtt: Duration,
    },
    /// Lasts until all segments below `end` are acknowledged.
    Validating {
        end: u64,
    },
    SafeRetreat {
        end: u64,
    },
    Normal,
}

/// A congestion control with parameters saved from an earlier connection.
#[derive(Debug)]
pub(crate) struct CarefulResume {
    inner: Box<dyn CongestionControl>,
    jump: u32,
    saved_rtt: Duration,
    mss: u32,
    initial_window: u32,
    phase: ResumePhase,
    least_rtt: Option<Duration>,
    /// Segments known to have passed the path (PipeSize).
    pipe: u64,
    /// Next new segment to send, as of the last ACK.
    next: u64,
    /// Upper limit of the window until a recovery ends.
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
            phase: ResumePhase::Reconnaissance,
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

    /// True if the round-trip time confirms the saved path: above half of it and at most ten times
    /// it.
    fn is_confirmed(&self, rtt: Duration) -> bool {
        rtt + rtt > self.saved_rtt && rtt <= self.saved_rtt * 10
    }

    /// Jumps once the initial data are acknowledged, unless the path is a different one. Waits
    /// while the application sends less than the window allows.
    fn jump_if_due(&mut self, ack: &Ack, window: &mut Window) {
        if ack.first < u64::from(self.initial_window) || !ack.fills(window) {
            return;
        }
        let Some(rtt) = self.least_rtt else { return };
        if !self.is_confirmed(rtt) || self.jump <= window.cwnd() {
            self.phase = ResumePhase::Normal;
            return;
        }
        self.pipe = flight_after(ack);
        window.set_cwnd(self.jump);
        self.phase = ResumePhase::Unvalidated { first: ack.next, began: ack.now, rtt };
    }

    /// Ends the unvalidated phase when the jump is sent or a round trip is over. The window becomes
    /// the data in flight, or PipeSize if the jump was not used.
    fn validate(&mut self, ack: &Ack, window: &mut Window) {
        let flight = flight_after(ack);
        if flight <= self.pipe {
            window.set_cwnd(narrow(self.pipe).max(2));
            self.phase = ResumePhase::Normal;
        } else {
            window.set_cwnd(narrow(flight));
            self.phase = ResumePhase::Validating { end: ack.next };
        }
    }

    fn follow(&mut self, ack: &Ack, window: &mut Window) {
        self.pipe += u64::from(ack.segments);
        match self.phase {
            ResumePhase::Unvalidated { first, began, rtt } => {
                let sent = flight_after(ack) + u64::from(ack.segments) >= window.cwnd().into();
                if ack.first > first || sent || ack.now > began + rtt {
                    self.validate(ack, window);
                }
            }
            ResumePhase::Validating { end } if ack.first >= end => self.phase = ResumePhase::Normal,
            // The RFC: "no larger than PipeSize * Beta". Beta is 0.5 unless the control has a
            // different value.
            ResumePhase::SafeRetreat { end } if ack.first >= end => {
                window.set_ssthresh(narrow(self.pipe / 2).max(2));
                self.phase = ResumePhase::Normal;
            }
            _ => {}
        }
    }
}

/// Segments in flight after an ACK.
fn flight_after(ack: &Ack) -> u64 {
    ack.prior_in_flight.saturating_sub(ack.segments.into())
}

fn narrow(segments: u64) -> u32 {
    u32::try_from(segments).unwrap_or(u32::MAX)
}

impl CongestionControl for CarefulResume {
    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        match self.phase {
            ResumePhase::Unvalidated { .. } | ResumePhase::SafeRetreat { .. } => {}
            _ => self.inner.grow(ack, window),
        }
    }

    /// A loss of unvalidated segments reduces the window to half of PipeSize. The inner control
    /// then handles a loss at that window.
    fn reduce(&mut self, loss: Loss, window: &Window) -> Reduction {
        let (next, phase) = (self.next, self.phase);
        self.phase = ResumePhase::Normal;
        let end = match phase {
            ResumePhase::Unvalidated { .. } => next,
            ResumePhase::Validating { end } | ResumePhase::SafeRetreat { end } => end,
            ResumePhase::Reconnaissance | ResumePhase::Normal => {
                return self.inner.reduce(loss, window);
            }
        };
        if loss == Loss::Timeout {
            return self.inner.reduce(loss, window);
        }
        let mut passed = *window;
        passed.set_cwnd(narrow(self.pipe).max(2));
        self.inner.reduce(loss, &passed);
        self.phase = ResumePhase::SafeRetreat { end };
        let half = narrow(self.pipe / 2).max(2);
        self.most = Some(half);
        Reduction::to(half)
    }

    /// Marks of unvalidated segments count as a loss of them.
    fn reduce_marked(&mut self, window: &Window) -> Reduction {
        if !matches!(self.phase, ResumePhase::Reconnaissance | ResumePhase::Normal) {
            return self.reduce(Loss::Detected, window);
        }
        self.phase = ResumePhase::Normal;
        self.inner.reduce_marked(window)
    }

    /// During a safe retreat the window has fallen already.
    fn reduce_among_marks(&mut self, window: &Window) -> Option<Reduction> {
        match self.phase {
            ResumePhase::Normal => self.inner.reduce_among_marks(window),
            _ => None,
        }
    }

    /// Proportional rate reduction is too slow after an overshooting jump (section 4.5).
    fn falls_at_once(&self) -> bool {
        matches!(self.phase, ResumePhase::SafeRetreat { .. })
    }

    fn watches(&self) -> bool {
        self.phase != ResumePhase::Normal || self.inner.watches()
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if self.inner.watches() {
            self.inner.on_ack(ack, window);
        }
        if self.phase == ResumePhase::Normal {
            return;
        }
        self.next = ack.next;
        if self.phase == ResumePhase::Reconnaissance {
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
        (self.phase, self.most) = (ResumePhase::Normal, None);
        self.inner.on_timeout(now, next, totals);
    }

    fn on_repaired(&mut self, loss: Loss, next: u64, window: &mut Window) {
        self.inner.on_repaired(loss, next, window);
        if let Some(most) = self.most.take() {
            window.set_cwnd(window.cwnd().min(most));
        }
    }

    fn on_undo(&mut self, totals: Totals) {
        (self.phase, self.most) = (ResumePhase::Normal, None);
        self.inner.on_undo(totals);
    }

    /// Paces the jump over one round trip until it is validated.
    fn pace(&self) -> Option<Pace> {
        let ResumePhase::Unvalidated { rtt, .. } = self.phase else { return self.inner.pace() };
        let bytes = u128::from(self.jump) * u128::from(self.mss) * 1_000_000_000;
        let rate = bytes / u128::from(rtt.as_nanos().max(1));
        let bytes_per_second = u64::try_from(rate).unwrap_or(u64::MAX).max(1);
        let quantum = bytes_per_second / 1024 / u64::from(self.mss);
        Some(Pace { bytes_per_second, quantum: quantum.clamp(QUANTUM.0, QUANTUM.1) })
    }

    delegate! { self.inner =>
        fn couple(&mut self, subflow: Subflow);
        fn foresee(&mut self, timetable: &Timetable);
        fn on_idle(&mut self, now: Instant, idle: Duration, app_limited: bool, window: &mut Window);
    }
}

#[cfg(test)]
mod tests {
    use super::super::reno::Reno;
    use super::*;
    use crate::transport::tcp::config::CongestionAlgorithm;
    use crate::units::Packets;

    const MS: Duration = Duration::from_millis(1);

    /// A connection with initial window 10 and a saved path of 400 segments and 600 ms.
    struct TestConnection {
        control: CarefulResume,
        window: Window,
        now: Instant,
        first: u64,
    }

    impl TestConnection {
        fn new() -> Self {
            let config = TcpConfig::linux(CongestionAlgorithm::NEWRENO);
            let saved = SavedPath { cwnd: Packets::new(400).unwrap(), rtt: MS * 600 };
            let control = CarefulResume::new(Box::new(Reno), saved, &config);
            let now = Instant::ZERO;
            Self { control, window: Window::of(10, u32::MAX), now, first: 0 }
        }

        /// Handles an ACK of `segments` after this many ms, with `prior` in flight before it and
        /// `next` as next new segment. The window grows if the ACK allows it.
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

        /// State after the jump: two halves of the initial window are acknowledged; 20 segments are
        /// in flight.
        fn jumped(rtt: u64) -> Self {
            let mut connection = Self::new();
            connection.ack(rtt, 5, 10, 10, rtt);
            connection.ack(0, 5, 15, 20, rtt);
            connection
        }
    }

    /// By hand: after the initial window half of 400 segments, paced at 200 segments per round trip
    /// of 600 ms.
    #[test]
    fn the_window_jumps_to_half_of_the_saved_one_paced_over_a_round_trip() {
        let connection = TestConnection::jumped(600);
        assert_eq!(connection.window.cwnd(), 200);
        let expected = ResumePhase::Unvalidated { first: 20, began: connection.now, rtt: MS * 600 };
        assert_eq!(connection.control.phase, expected);
        let pace = connection.control.pace().unwrap();
        assert_eq!(pace.bytes_per_second, 200 * 1448 * 10 / 6);
        assert_eq!(connection.control.pipe, 10);
    }

    #[test]
    fn a_different_round_trip_time_prevents_the_jump() {
        for (rtt, jumps) in [(299, false), (300, false), (301, true), (6_000, true), (6_001, false)]
        {
            let connection = TestConnection::jumped(rtt);
            assert_eq!(connection.window.cwnd() == 200, jumps, "{rtt} ms");
            assert_eq!(connection.control.phase == ResumePhase::Normal, !jumps, "{rtt} ms");
        }
    }

    /// Answers marks by another law than losses.
    #[derive(Debug)]
    struct OwnLaw;

    impl CongestionControl for OwnLaw {
        fn grow(&mut self, _: &Ack, _: &mut Window) {}

        fn reduce(&mut self, _: Loss, _: &Window) -> Reduction {
            Reduction::to(50)
        }

        fn reduce_marked(&mut self, _: &Window) -> Reduction {
            Reduction::to(90)
        }

        fn reduce_among_marks(&mut self, _: &Window) -> Option<Reduction> {
            Some(Reduction::to(45))
        }
    }

    #[test]
    fn the_control_answers_marks_unless_they_end_a_jump() {
        let mut connection = TestConnection::new();
        connection.control.inner = Box::new(OwnLaw);
        assert_eq!(connection.control.reduce_marked(&connection.window), Reduction::to(90));
        assert_eq!(connection.control.phase, ResumePhase::Normal);
        let again = connection.control.reduce_among_marks(&connection.window);
        assert_eq!(again, Some(Reduction::to(45)));
        let mut jumped = TestConnection::jumped(600);
        jumped.control.inner = Box::new(OwnLaw);
        let half_of_pipe = Reduction::to(5);
        assert_eq!(jumped.control.reduce_marked(&jumped.window), half_of_pipe);
        assert_eq!(jumped.control.reduce_among_marks(&jumped.window), None);
    }

    #[test]
    fn a_loss_in_reconnaissance_prevents_the_jump() {
        let mut connection = TestConnection::new();
        connection.ack(600, 5, 10, 10, 600);
        assert_eq!(connection.control.reduce(Loss::Detected, &connection.window).ssthresh, 7);
        connection.ack(1, 5, 15, 20, 600);
        assert_eq!(connection.control.phase, ResumePhase::Normal);
        assert_eq!(connection.window.cwnd(), 20);
    }

    /// When the first unvalidated segment is acknowledged, the window is the data in flight and
    /// grows as in slow start. When the whole jump is acknowledged, the connection is in the normal
    /// phase.
    #[test]
    fn an_acknowledged_jump_is_validated() {
        let mut connection = TestConnection::jumped(600);
        connection.ack(600, 10, 180, 190, 600); // what had been in flight before the jump
        assert_eq!((connection.window.cwnd(), connection.control.pipe), (200, 20));
        assert!(matches!(connection.control.phase, ResumePhase::Unvalidated { .. }));
        connection.ack(1, 2, 182, 200, 600);
        assert_eq!(connection.control.phase, ResumePhase::Validating { end: 200 });
        assert_eq!(connection.window.cwnd(), 180 + 2);
        assert_eq!(connection.control.pace(), None);
        connection.ack(300, 177, 182, 250, 600);
        assert_eq!(connection.control.phase, ResumePhase::Validating { end: 200 });
        connection.ack(1, 1, 182, 260, 600);
        assert_eq!(connection.control.phase, ResumePhase::Normal);
        assert_eq!(connection.window.cwnd(), 182 + 178);
    }

    /// If the application did not use the jump, the window returns to PipeSize.
    #[test]
    fn an_unused_jump_is_given_back() {
        let mut connection = TestConnection::jumped(600);
        connection.ack(601, 10, 15, 25, 600);
        assert_eq!(
            (connection.control.phase, connection.window.cwnd()),
            (ResumePhase::Normal, 20 + 10)
        );
    }

    /// Losses: the window is half of what had passed by then and does not grow. Once the jump is
    /// acknowledged, ssthresh is half of all that passed.
    #[test]
    fn losses_lead_to_a_safe_retreat() {
        let mut connection = TestConnection::jumped(600);
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
        assert_eq!(connection.control.phase, ResumePhase::Normal);
        assert_eq!(connection.window.ssthresh(), 100);
        connection.window.set_cwnd(100); // what a recovery's end does
        connection.control.on_repaired(Loss::Detected, 240, &mut connection.window);
        assert_eq!(connection.window.cwnd(), 30);
    }

    #[test]
    fn a_timeout_ends_careful_resume() {
        let mut connection = TestConnection::jumped(600);
        connection.control.reduce(Loss::Timeout, &connection.window);
        connection.control.on_timeout(connection.now, 200, Totals::default());
        assert_eq!(connection.control.phase, ResumePhase::Normal);
    }
}
