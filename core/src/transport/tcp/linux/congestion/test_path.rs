//! By hand: a path of 100 ms with one ACK per round trip.

use crate::transport::tcp::config::TcpConfig;
use crate::transport::tcp::congestion::CongestionControl;
use crate::transport::tcp::congestion::CongestionState;
use crate::transport::tcp::congestion::LostSegment;
use crate::transport::tcp::congestion::Rate;
use crate::transport::tcp::congestion::Sample;
use crate::transport::tcp::congestion::Totals;
use crate::transport::tcp::congestion::Window;
use crate::units::Duration;
use crate::units::Instant;

pub(super) const RTT: Duration = Duration::from_millis(100);

pub(super) struct Path<C> {
    pub(super) bbr: C,
    pub(super) window: Window,
    pub(super) now: Instant,
    pub(super) delivered: u64,
    lost: u64,
    in_flight: u64,
    pub(super) state: CongestionState,
    rtt: Duration,
    /// By how much the round-trip time falls with every ACK.
    fall: Duration,
}

impl<C: CongestionControl> Path<C> {
    pub(super) fn over(mut bbr: C, config: &TcpConfig, fall: Duration) -> Self {
        let (mut window, now) = (Window::new(config), Instant::ZERO + RTT);
        bbr.on_established(now, Some(RTT), 1, &mut window);
        let state = CongestionState::Open;
        Self { bbr, window, now, delivered: 1, lost: 0, in_flight: 0, state, rtt: RTT, fall }
    }

    /// An ACK of `acked` segments sent one round trip earlier, with `lost` lost segments; `left`
    /// are in flight afterwards.
    pub(super) fn ack(&mut self, acked: u64, lost: u64, left: u64) {
        self.ack_of(acked, lost, left, |_| {});
    }

    pub(super) fn ack_of(
        &mut self,
        acked: u64,
        lost: u64,
        left: u64,
        change: impl FnOnce(&mut Sample),
    ) {
        self.now = self.now + RTT;
        self.rtt = Duration::from_nanos(self.rtt.as_nanos() - self.fall.as_nanos());
        let prior_delivered = self.delivered;
        self.delivered += acked;
        self.lost += lost;
        let rate = Rate {
            delivered: Some(acked),
            interval: Some(RTT),
            prior_delivered,
            app_limited: false,
            in_flight: acked + lost,
            lost,
        };
        let totals = Totals { delivered: self.delivered, lost: self.lost, delivered_at: self.now };
        for nth in 1..=lost {
            let lost = LostSegment {
                now: self.now,
                in_flight: Some(acked + lost),
                lost: nth,
                app_limited: false,
                totals,
            };
            self.bbr.on_segment_lost(&lost, &self.window);
        }
        let mut sample = Sample {
            now: self.now,
            rate,
            rtt: Some(self.rtt),
            delayed: false,
            acked,
            lost,
            prior_in_flight: self.in_flight,
            in_flight: left,
            totals,
            state: self.state,
            departure: self.now,
            srtt: Some(RTT),
            cwnd_limited: false,
            of_probe: false,
        };
        change(&mut sample);
        self.in_flight = left;
        self.bbr.on_sample(&sample, &mut self.window);
    }
}
