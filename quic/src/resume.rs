//! Careful Resume (RFC 9959) around any controller: a connection with saved path parameters jumps
//! to half of the saved window after its first round trip, and retreats if losses follow.
//!
//! quinn's controllers accept a window only when they are made. To set the window, the controller
//! is therefore built again with it, in slow start as before. quinn paces the jump like any window.
//! As over TCP, storing the parameters is not modelled: a configuration gives them.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clift::transport::tcp::SavedPath;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerMetrics};

use crate::congestion::Factory;

/// Minimum window, in packets.
const LEAST: u64 = 2;

/// The phases of section 3 with their state. Packets are identified by their send time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    Reconnaissance,
    /// The jump: its start, and its maximum duration.
    Unvalidated {
        began: Instant,
        rtt: Duration,
    },
    /// Lasts until a packet sent after this time is acknowledged.
    Validating {
        end: Instant,
    },
    /// As Validating, with this maximum window in bytes.
    SafeRetreat {
        end: Instant,
        most: u64,
    },
    Normal,
}

/// A controller with path parameters of an earlier connection.
pub(crate) struct CarefulResume {
    inner: Box<dyn Controller>,
    factory: Arc<Factory>,
    saved: SavedPath,
    mtu: u64,
    phase: Phase,
    least_rtt: Option<Duration>,
    /// Bytes known to have passed the path (PipeSize); during Reconnaissance, from the beginning.
    pipe: u64,
    /// State of the ACK being processed: send time of the newest packet, and bytes.
    newest: Option<Instant>,
    acked: u64,
}

impl CarefulResume {
    pub(crate) fn new(
        inner: Box<dyn Controller>,
        factory: Arc<Factory>,
        saved: SavedPath,
        mtu: u16,
    ) -> Self {
        Self {
            inner,
            factory,
            saved,
            mtu: mtu.into(),
            phase: Phase::Reconnaissance,
            least_rtt: None,
            pipe: 0,
            newest: None,
            acked: 0,
        }
    }

    fn least(&self) -> u64 {
        LEAST * self.mtu
    }

    /// Half of the saved window.
    fn jump(&self) -> u64 {
        self.saved.cwnd.0.get() / 2 * self.mtu
    }

    /// Whether the round-trip time confirms the saved path: above half of the saved time and at
    /// most ten times it.
    fn is_confirmed(&self, rtt: Duration) -> bool {
        let saved = Duration::from_nanos(self.saved.rtt.as_nanos());
        rtt + rtt > saved && rtt <= saved * 10
    }

    /// Builds the controller again, in slow start with this window.
    fn begin_anew(&mut self, now: Instant, window: u64) {
        let mtu = u16::try_from(self.mtu).unwrap_or(u16::MAX);
        self.inner = self.factory.control(now, mtu, Some(window.max(self.least())));
    }

    /// Starts the jump once the initial data is acknowledged, unless the path differs.
    fn jump_if_due(&mut self, now: Instant, in_flight: u64, app_limited: bool) {
        if self.pipe < self.inner.initial_window() || app_limited {
            return;
        }
        let Some(rtt) = self.least_rtt else { return };
        if !self.is_confirmed(rtt) || self.jump() <= self.inner.window() {
            self.phase = Phase::Normal;
            return;
        }
        self.pipe = in_flight;
        self.phase = Phase::Unvalidated { began: now, rtt };
    }

    /// Called when the jump is sent or a round trip is over: sets the window to the bytes in
    /// flight, or to PipeSize if that is more.
    fn validate(&mut self, now: Instant, began: Instant, in_flight: u64) {
        // Packets sent after the jump began may let the window grow.
        self.begin_anew(began, in_flight.max(self.pipe));
        self.phase = match in_flight <= self.pipe {
            true => Phase::Normal,
            false => Phase::Validating { end: now },
        };
    }
}

impl Controller for CarefulResume {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        if self.phase != Phase::Normal {
            self.pipe += bytes;
            self.acked += bytes;
            self.newest = self.newest.max(Some(sent));
            let own = now.saturating_duration_since(sent);
            self.least_rtt = Some(self.least_rtt.map_or(own, |least| least.min(own)));
        }
        // While this wrapper sets the window, the inner controller does not let it grow.
        if !matches!(self.phase, Phase::Unvalidated { .. } | Phase::SafeRetreat { .. }) {
            self.inner.on_ack(now, sent, bytes, app_limited, rtt);
        }
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
        let (newest, acked) = (self.newest.take(), std::mem::take(&mut self.acked));
        match self.phase {
            Phase::Reconnaissance => self.jump_if_due(now, in_flight, app_limited),
            Phase::Unvalidated { began, rtt } => {
                let acknowledged = newest.is_some_and(|sent| sent >= began);
                let sent = in_flight + acked + self.mtu >= self.jump();
                if acknowledged || sent || now > began + rtt {
                    self.validate(now, began, in_flight);
                }
            }
            Phase::Validating { end } | Phase::SafeRetreat { end, .. } => {
                if newest.is_some_and(|sent| sent > end) {
                    self.phase = Phase::Normal;
                }
            }
            Phase::Normal => {}
        }
    }

    /// On losses of unvalidated packets, sets the window to half of PipeSize. The controller learns
    /// of a loss at that window, as if the window had applied when the lost packet was sent.
    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        if matches!(self.phase, Phase::Unvalidated { .. } | Phase::Validating { .. })
            && !is_persistent_congestion
        {
            let before = sent.checked_sub(Duration::from_nanos(1)).unwrap_or(sent);
            self.begin_anew(before, self.pipe);
            let most = (self.pipe / 2).max(self.least());
            self.phase = Phase::SafeRetreat { end: now, most };
        } else if !matches!(self.phase, Phase::SafeRetreat { .. }) || is_persistent_congestion {
            self.phase = Phase::Normal;
        }
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu.into();
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        match self.phase {
            Phase::Unvalidated { .. } => self.jump(),
            Phase::SafeRetreat { most, .. } => self.inner.window().min(most),
            _ => self.inner.window(),
        }
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = self.inner.metrics();
        metrics.congestion_window = self.window();
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
            factory: Arc::clone(&self.factory),
            ..*self
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
