//! The two ends of a connection of any profile.

use rand_chacha::ChaCha8Rng;

use super::config::{Profile, TcpConfig};
use super::linux::{LinuxReceiver, LinuxSender};
use super::papers::{NoSackSender, PapersReceiver, PapersSender};
use super::shared::counters::{ReceiverCounters, SenderCounters};
use crate::seed::{Seed, Stream};
use crate::transport::{Half, Segment};
use crate::units::{Duration, Instant};

/// Congestion state of a sender.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum CongestionState {
    /// No loss and no reordering seen.
    #[default]
    Open,
    /// Segments are SACKed or were retransmitted, but none is lost (profile `linux` only).
    Disorder,
    /// ECN marks are reducing the window (profile `linux` only).
    Cwr,
    /// Fast recovery: the sender repairs losses that ACKs revealed.
    Recovery,
    /// The retransmission timer expired and some segments sent before are not acknowledged yet.
    Loss,
}

/// A TCP sender. [`TcpSender::supply`] takes data; [`Half`] takes ACKs and returns segments.
#[derive(Debug)]
pub struct TcpSender(Sender);

#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // one per connection; an owner of many boxes the whole
enum Sender {
    Papers(PapersSender),
    NoSack(NoSackSender),
    Linux(LinuxSender),
}

/// Calls the same method of each variant.
macro_rules! delegate {
    (Sender, $end:expr, $inner:ident => $call:expr) => {
        match $end {
            Sender::Papers($inner) => $call,
            Sender::NoSack($inner) => $call,
            Sender::Linux($inner) => $call,
        }
    };
    (Receiver, $end:expr, $inner:ident => $call:expr) => {
        match $end {
            Receiver::Papers($inner) => $call,
            Receiver::Linux($inner) => $call,
        }
    };
}

impl TcpSender {
    /// Creates a sender without data. Random draws of its congestion control (BBR draws the first
    /// phase of its cycle) are the same for every such sender; see [`TcpSender::with_rng`].
    pub fn new(config: &TcpConfig) -> Self {
        Self::with_rng(config, Seed(0).rng(Stream::Flow(0)))
    }

    /// Creates a sender without data whose congestion control draws from `rng`.
    pub fn with_rng(config: &TcpConfig, rng: ChaCha8Rng) -> Self {
        Self(match config.profile() {
            Profile::Papers if !config.sack => Sender::NoSack(NoSackSender::new(config)),
            Profile::Papers => Sender::Papers(PapersSender::new(config, rng)),
            Profile::Linux => Sender::Linux(LinuxSender::new(config, rng)),
        })
    }

    /// The application supplies `bytes` more. They leave in full segments, the last one possibly
    /// short. Ignored after [`TcpSender::close`]. The first data open the connection.
    pub fn supply(&mut self, bytes: u64) {
        delegate!(Sender, &mut self.0, sender => sender.supply(bytes));
    }

    /// The application supplies data without end.
    pub fn supply_unlimited(&mut self) {
        self.supply(u64::MAX);
    }

    /// The application supplies no more data. An endless supply ends with the data already sent.
    pub fn close(&mut self) {
        delegate!(Sender, &mut self.0, sender => sender.close());
    }

    /// True once the application has closed and everything is acknowledged.
    pub fn is_complete(&self) -> bool {
        delegate!(Sender, &self.0, sender => sender.is_complete())
    }

    /// Counters so far.
    pub fn counters(&self) -> &SenderCounters {
        delegate!(Sender, &self.0, sender => sender.counters())
    }

    /// Congestion window in segments. While rate halving (profile `papers`) reduces the window,
    /// more segments than this are in flight.
    pub fn cwnd(&self) -> u32 {
        delegate!(Sender, &self.0, sender => sender.cwnd())
    }

    /// Slow-start threshold in segments; `None` before the first reduction.
    pub fn ssthresh(&self) -> Option<u32> {
        delegate!(Sender, &self.0, sender => sender.ssthresh())
    }

    /// Segments estimated to be in flight.
    pub fn in_flight(&self) -> u64 {
        delegate!(Sender, &self.0, sender => sender.in_flight())
    }

    /// Smoothed round-trip time. `None` before the first sample, and in profile `papers` after four
    /// consecutive timeouts.
    pub fn srtt(&self) -> Option<Duration> {
        delegate!(Sender, &self.0, sender => sender.srtt())
    }

    /// Current retransmission timeout.
    pub fn rto(&self) -> Duration {
        delegate!(Sender, &self.0, sender => sender.rto())
    }

    /// Congestion state.
    pub fn state(&self) -> CongestionState {
        delegate!(Sender, &self.0, sender => sender.state())
    }

    /// First unacknowledged byte.
    pub fn acknowledged(&self) -> u64 {
        delegate!(Sender, &self.0, sender => sender.acknowledged())
    }
}

/// A TCP receiver. It acknowledges every segment, or every second one with delayed ACKs.
#[derive(Debug)]
pub struct TcpReceiver(Receiver);

#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // as above
enum Receiver {
    Papers(PapersReceiver),
    Linux(LinuxReceiver),
}

impl TcpReceiver {
    /// Creates a receiver that expects the first byte.
    pub fn new(config: &TcpConfig) -> Self {
        Self(match config.profile() {
            Profile::Papers => Receiver::Papers(PapersReceiver::new(config)),
            Profile::Linux => Receiver::Linux(LinuxReceiver::new(config)),
        })
    }

    /// Counters so far.
    pub fn counters(&self) -> &ReceiverCounters {
        delegate!(Receiver, &self.0, receiver => receiver.counters())
    }

    /// Next byte expected; all bytes below were delivered to the application.
    pub fn received(&self) -> u64 {
        delegate!(Receiver, &self.0, receiver => receiver.received())
    }
}

/// Implements [`Half`] by delegation.
macro_rules! pass_on {
    ($end:ty, $kind:tt) => {
        impl Half for $end {
            #[inline]
            fn handle_segment(&mut self, now: Instant, segment: &Segment) {
                delegate!($kind, &mut self.0, end => end.handle_segment(now, segment));
            }

            #[inline]
            fn handle_timeout(&mut self, now: Instant) {
                delegate!($kind, &mut self.0, end => end.handle_timeout(now));
            }

            #[inline]
            fn transmit_into(&mut self, now: Instant, segment: &mut Segment) -> bool {
                delegate!($kind, &mut self.0, end => end.transmit_into(now, segment))
            }

            #[inline]
            fn poll_timeout(&self) -> Option<Instant> {
                delegate!($kind, &self.0, end => end.poll_timeout())
            }
        }
    };
}

pass_on!(TcpSender, Sender);
pass_on!(TcpReceiver, Receiver);
