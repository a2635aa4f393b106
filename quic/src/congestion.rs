//! Congestion control: quinn's controllers, and CLIFT's behind quinn's interface, with an optional
//! limit on the window.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use clift::transport::Timetable;
use clift::transport::tcp::{
    Ack, CongestionAlgorithm, CongestionControl, CongestionState, Loss, SavedPath, TcpConfig,
    Totals, Window,
};
use clift::units;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{
    BbrConfig, Controller, ControllerFactory, ControllerMetrics, CubicConfig, NewRenoConfig,
};
use rand_chacha::ChaCha8Rng;

use crate::clock::Clock;
use crate::resume::CarefulResume;

/// The implementation of the congestion control.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whose {
    /// quinn's controller with this name.
    Quinn(&'static str),
    /// CLIFT's controller.
    Ours(CongestionAlgorithm),
}

/// quinn's algorithms.
pub(crate) const QUINNS: [&str; 3] = ["newreno", "cubic", "bbr"];

impl Whose {
    /// The implementation that a name selects over QUIC.
    pub(crate) fn of(algorithm: CongestionAlgorithm) -> Self {
        let name = algorithm.name();
        if QUINNS.contains(&name) { Self::Quinn(name) } else { Self::Ours(algorithm) }
    }
}

/// What an endpoint and its controller tell each other.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Bytes in flight, as the controller counts them.
    pub(crate) in_flight: AtomicU64,
    /// Reductions of the window, and those of them that ECN marks caused.
    pub(crate) reductions: AtomicU64,
    pub(crate) marked_reductions: AtomicU64,
    /// Recovery periods that a loss began.
    pub(crate) recoveries: AtomicU64,
    /// The handovers that the endpoint knows beforehand.
    pub(crate) foreseen: OnceLock<Timetable>,
}

/// Makes the controller of a connection.
#[derive(Debug)]
pub(crate) struct Factory {
    pub(crate) whose: Whose,
    /// Initial window in bytes; `None` for quinn's default.
    pub(crate) initial: Option<u64>,
    /// Path parameters of an earlier connection.
    pub(crate) saved: Option<SavedPath>,
    /// Limit of the window in packets.
    pub(crate) limit: Option<u32>,
    pub(crate) rng: ChaCha8Rng,
    pub(crate) clock: Clock,
    pub(crate) told: Arc<Told>,
}

impl Factory {
    /// Makes the controller alone, with an initial window in bytes, if it differs from the default.
    pub(crate) fn control(
        &self,
        now: Instant,
        current_mtu: u16,
        initial: Option<u64>,
    ) -> Box<dyn Controller> {
        macro_rules! quinns {
            ($config:ty) => {{
                let mut config = <$config>::default();
                if let Some(bytes) = initial {
                    config.initial_window(bytes);
                }
                Arc::new(config).build(now, current_mtu)
            }};
        }
        match self.whose {
            Whose::Quinn("newreno") => quinns!(NewRenoConfig),
            Whose::Quinn("bbr") => quinns!(BbrConfig),
            Whose::Quinn(_) => quinns!(CubicConfig),
            Whose::Ours(algorithm) => {
                Box::new(Ours::new(algorithm, self, now, current_mtu, initial))
            }
        }
    }
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let own = self.control(now, current_mtu, self.initial);
        let inner = match self.saved {
            None => own,
            Some(saved) => Box::new(CarefulResume::new(own, Arc::clone(&self), saved, current_mtu)),
        };
        let told = Arc::clone(&self.told);
        Box::new(Watched {
            inner,
            mtu: current_mtu.into(),
            limit: self.limit,
            recovery: None,
            unanswered: false,
            told,
        })
    }
}

/// A controller with a limit, which reports the bytes in flight and the reductions of its window.
struct Watched {
    inner: Box<dyn Controller>,
    mtu: u64,
    limit: Option<u32>,
    /// When the last recovery period began: losses and marks of packets sent before it belong to it
    /// (RFC 9002 section 7.3.2).
    recovery: Option<Instant>,
    /// A loss began a recovery period, and the window has not fallen: BBR reduces it at the next
    /// acknowledgement.
    unanswered: bool,
    told: Arc<Told>,
}

impl Watched {
    /// Counts a recovery period that a loss began; `falls`: with a smaller window.
    fn count_recovery(&self, falls: bool) {
        self.told.recoveries.fetch_add(1, Ordering::Relaxed);
        self.told.reductions.fetch_add(falls.into(), Ordering::Relaxed);
    }
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.told.in_flight.fetch_add(bytes, Ordering::Relaxed);
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
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.told.in_flight.store(in_flight, Ordering::Relaxed);
        let before = self.window();
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
        if std::mem::take(&mut self.unanswered) {
            self.count_recovery(self.window() < before);
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let left = self.told.in_flight.load(Ordering::Relaxed).saturating_sub(lost_bytes);
        self.told.in_flight.store(left, Ordering::Relaxed);
        let before = self.window();
        self.inner.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
        let falls = self.window() < before;
        // quinn states no lost bytes for marks.
        let marked = lost_bytes == 0;
        // quinn reports each detection of losses, also of those in a recovery period.
        let begins = falls || !marked && self.recovery.is_none_or(|began| sent > began);
        if !begins {
            return;
        }
        self.recovery = Some(now);
        match (marked, falls) {
            (true, _) => {
                self.told.reductions.fetch_add(1, Ordering::Relaxed);
                self.told.marked_reductions.fetch_add(1, Ordering::Relaxed);
            }
            (false, true) => self.count_recovery(true),
            (false, false) => self.unanswered = true,
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu.into();
        self.inner.on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        let limit = self.limit.map_or(u64::MAX, |packets| u64::from(packets) * self.mtu);
        self.inner.window().min(limit)
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = self.inner.metrics();
        metrics.congestion_window = self.window();
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
            mtu: self.mtu,
            limit: self.limit,
            recovery: self.recovery,
            unanswered: self.unanswered,
            told: Arc::clone(&self.told),
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// One of CLIFT's controllers, which count in packets. quinn detects losses and counts several
/// losses in a window once, as for its own controllers.
struct Ours {
    algorithm: CongestionAlgorithm,
    config: TcpConfig,
    rng: ChaCha8Rng,
    clock: Clock,
    /// Only quinn locks it, because quinn requires that controllers can be shared between threads.
    control: Mutex<Box<dyn CongestionControl>>,
    window: Window,
    mtu: u64,
    initial: u64,
    /// Start time and cause of the reduction that is being repaired.
    recovery: Option<(Instant, Loss)>,
    last_recovery: Instant,
    established: bool,
    /// State of the ACK being processed: packets, send time of the newest, bytes, and whether any
    /// of them was sent after the last reduction.
    acked: u32,
    newest: Option<Instant>,
    fresh: u32,
    acked_bytes: u64,
    srtt: Option<units::Duration>,
    next: u64,
    totals: Totals,
}

impl Ours {
    fn new(
        algorithm: CongestionAlgorithm,
        factory: &Factory,
        now: Instant,
        current_mtu: u16,
        initial: Option<u64>,
    ) -> Self {
        let mtu = u64::from(current_mtu);
        let mut config = TcpConfig::linux(algorithm);
        config.packet = units::Bytes(u32::from(current_mtu) + 52);
        let packets = initial.map_or(10, |bytes| (bytes / mtu).max(1));
        config.initial_window = units::Packets::new(packets);
        config.cwnd_max = factory.limit.and_then(|limit| units::Packets::new(limit.into()));
        let mut control = algorithm.build(&config, factory.rng.clone());
        if let Some(timetable) = factory.told.foreseen.get() {
            control.foresee(timetable);
        }
        Self {
            algorithm,
            window: Window::new(&config),
            config,
            rng: factory.rng.clone(),
            clock: factory.clock,
            control: Mutex::new(control),
            mtu,
            initial: packets * mtu,
            recovery: None,
            last_recovery: now,
            established: false,
            acked: 0,
            newest: None,
            fresh: 0,
            acked_bytes: 0,
            srtt: None,
            next: 0,
            totals: Totals::default(),
        }
    }

    fn control(&mut self) -> (&mut dyn CongestionControl, &mut Window) {
        let control = self.control.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        (&mut **control, &mut self.window)
    }
}

fn duration(time: std::time::Duration) -> units::Duration {
    units::Duration::from_nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

impl Controller for Ours {
    fn on_sent(&mut self, _: Instant, _: u64, last_packet_number: u64) {
        self.next = last_packet_number + 1;
    }

    fn on_ack(&mut self, _: Instant, sent: Instant, bytes: u64, _: bool, rtt: &RttEstimator) {
        self.acked += 1;
        self.fresh += u32::from(sent > self.last_recovery);
        self.newest = self.newest.max(Some(sent));
        self.acked_bytes += bytes;
        self.srtt = Some(duration(rtt.get()));
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        let (Some(newest), Some(largest)) = (self.newest.take(), largest_packet_num_acked) else {
            return;
        };
        let at = self.clock.back(now);
        let acked = std::mem::take(&mut self.acked);
        let fresh = std::mem::take(&mut self.fresh);
        self.totals.delivered += u64::from(acked);
        self.totals.delivered_at = at;
        let mut ack = Ack::default();
        ack.now = at;
        ack.segments = acked;
        ack.prior_in_flight = match app_limited {
            true => in_flight.div_ceil(self.mtu),
            false => u64::from(self.window.cwnd()),
        };
        ack.una = self.acked_bytes;
        ack.first = largest + 1;
        ack.next = self.next;
        ack.echo = Some(self.clock.back(newest));
        ack.rtt = Some(duration(now.saturating_duration_since(newest)));
        ack.srtt = self.srtt;
        ack.state = match self.recovery {
            None => CongestionState::Open,
            Some((_, Loss::Detected)) => CongestionState::Recovery,
            Some((_, Loss::Timeout)) => CongestionState::Loss,
        };
        ack.undisturbed = self.recovery.is_none();
        let (srtt, delivered, next) = (self.srtt, self.totals.delivered, self.next);
        let established = std::mem::replace(&mut self.established, true);
        let repaired = self.recovery.take_if(|(began, _)| newest > *began);
        let (control, window) = self.control();
        if !established {
            control.on_established(at, srtt, delivered, window);
        }
        if control.watches() {
            control.on_ack(&ack, window);
        }
        if let Some((_, loss)) = repaired {
            control.on_repaired(loss, next, window);
        }
        // Packets sent before the last reduction do not let the window grow.
        if fresh > 0 && !app_limited {
            ack.segments = fresh;
            control.grow(&ack, window);
        }
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.totals.lost += lost_bytes.div_ceil(self.mtu);
        if sent <= self.last_recovery && !is_persistent_congestion {
            return;
        }
        let loss = if is_persistent_congestion { Loss::Timeout } else { Loss::Detected };
        self.last_recovery = now;
        self.recovery = Some((now, loss));
        let (at, next, totals) = (self.clock.back(now), self.next, self.totals);
        let (control, window) = self.control();
        let reduction = control.reduce(loss, window);
        window.set_ssthresh(reduction.ssthresh);
        match loss {
            Loss::Detected => window.set_cwnd(reduction.ssthresh.max(2)),
            Loss::Timeout => {
                window.set_cwnd(2);
                control.on_timeout(at, next, totals);
            }
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu.into();
    }

    fn window(&self) -> u64 {
        u64::from(self.window.cwnd()).max(2) * self.mtu
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window();
        let threshold = self.window.ssthresh();
        metrics.ssthresh = (threshold < u32::MAX).then(|| u64::from(threshold) * self.mtu);
        metrics
    }

    /// quinn clones a controller when the path changes, which does not happen here; the clone
    /// starts with an initial state.
    fn clone_box(&self) -> Box<dyn Controller> {
        let control = self.algorithm.build(&self.config, self.rng.clone());
        Box::new(Self {
            config: self.config.clone(),
            rng: self.rng.clone(),
            control: Mutex::new(control),
            window: Window::new(&self.config),
            ..*self
        })
    }

    fn initial_window(&self) -> u64 {
        self.initial
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
