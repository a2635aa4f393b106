//! The two ends of a connection, whatever their profile: chosen once, when they are made.

use rand_chacha::ChaCha8Rng;

use super::config::{Profile, TcpConfig};
use super::linux::{LinuxReceiver, LinuxSender};
use super::papers::{NoSackSender, PapersReceiver, PapersSender};
use super::shared::counters::{ReceiverCounters, SenderCounters};
use crate::seed::{Seed, Stream};
use crate::transport::{Endpoint, Segment};
use crate::units::{Duration, Instant};

/// What a sender is doing about losses.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub enum CongestionState {
    /// All is well.
    #[default]
    Open,
    /// Something is SACKed or was sent again, but nothing is lost (profile `linux` only).
    Disorder,
    /// Marks have made the window fall, and it still does (profile `linux` only).
    Cwr,
    /// Fast recovery: losses that ACKs proved are being repaired.
    Recovery,
    /// The retransmission timer expired and not everything sent before is acknowledged.
    Loss,
}

/// A TCP sender: data in by [`TcpSender::supply`], ACKs in and segments out by [`Endpoint`].
#[derive(Debug)]
pub struct TcpSender(Sender);

#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // one per connection, and whoever has many boxes the whole
enum Sender {
    Papers(PapersSender),
    NoSack(NoSackSender),
    Linux(LinuxSender),
}

/// Calls the same method of whatever the end is.
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
    /// A sender without data. What its congestion control draws (BBR: the first phase of its
    /// cycle) is the same for every such sender; see [`TcpSender::with_rng`].
    pub fn new(config: &TcpConfig) -> Self {
        Self::with_rng(config, Seed(0).rng(Stream::Flow(0)))
    }

    /// A sender without data whose congestion control draws from `rng`.
    pub fn with_rng(config: &TcpConfig, rng: ChaCha8Rng) -> Self {
        Self(match config.profile() {
            Profile::Papers if !config.sack => Sender::NoSack(NoSackSender::new(config)),
            Profile::Papers => Sender::Papers(PapersSender::new(config, rng)),
            Profile::Linux => Sender::Linux(LinuxSender::new(config, rng)),
        })
    }

    /// The application hands over `bytes` more; they leave in full segments, the last one short.
    /// Nothing is taken after [`TcpSender::close`]. The first data open the connection.
    pub fn supply(&mut self, bytes: u64) {
        delegate!(Sender, &mut self.0, sender => sender.supply(bytes));
    }

    /// The application has data without end.
    pub fn supply_unlimited(&mut self) {
        self.supply(u64::MAX);
    }

    /// The application hands over nothing more. Of data without end, what was sent is the end.
    pub fn close(&mut self) {
        delegate!(Sender, &mut self.0, sender => sender.close());
    }

    /// Whether the application has closed and everything is acknowledged.
    pub fn is_complete(&self) -> bool {
        delegate!(Sender, &self.0, sender => sender.is_complete())
    }

    /// What was counted so far.
    pub fn counters(&self) -> &SenderCounters {
        delegate!(Sender, &self.0, sender => sender.counters())
    }

    /// Congestion window in segments. While rate halving (profile `papers`) leads down to it, more
    /// is in flight.
    pub fn cwnd(&self) -> u32 {
        delegate!(Sender, &self.0, sender => sender.cwnd())
    }

    /// Slow-start threshold in segments; `None` before there is one.
    pub fn ssthresh(&self) -> Option<u32> {
        delegate!(Sender, &self.0, sender => sender.ssthresh())
    }

    /// Segments believed to be on their way.
    pub fn in_flight(&self) -> u64 {
        delegate!(Sender, &self.0, sender => sender.in_flight())
    }

    /// Smoothed round-trip time; `None` before the first sample, and in profile `papers` after
    /// four timeouts in a row.
    pub fn srtt(&self) -> Option<Duration> {
        delegate!(Sender, &self.0, sender => sender.srtt())
    }

    /// The retransmission timeout in force.
    pub fn rto(&self) -> Duration {
        delegate!(Sender, &self.0, sender => sender.rto())
    }

    /// What is being done about losses.
    pub fn state(&self) -> CongestionState {
        delegate!(Sender, &self.0, sender => sender.state())
    }

    /// First byte not acknowledged.
    pub fn acknowledged(&self) -> u64 {
        delegate!(Sender, &self.0, sender => sender.acknowledged())
    }
}

/// A TCP receiver: an ACK for every segment, or for every second one if it delays them.
#[derive(Debug)]
pub struct TcpReceiver(Receiver);

#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // as above
enum Receiver {
    Papers(PapersReceiver),
    Linux(LinuxReceiver),
}

impl TcpReceiver {
    /// A receiver that expects the first byte.
    pub fn new(config: &TcpConfig) -> Self {
        Self(match config.profile() {
            Profile::Papers => Receiver::Papers(PapersReceiver::new(config)),
            Profile::Linux => Receiver::Linux(LinuxReceiver::new(config)),
        })
    }

    /// What was counted so far.
    pub fn counters(&self) -> &ReceiverCounters {
        delegate!(Receiver, &self.0, receiver => receiver.counters())
    }

    /// Next byte expected: everything below was handed to the application.
    pub fn received(&self) -> u64 {
        delegate!(Receiver, &self.0, receiver => receiver.received())
    }
}

/// Both ends pass on what happens to them.
macro_rules! pass_on {
    ($end:ty, $kind:tt) => {
        impl Endpoint for $end {
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
