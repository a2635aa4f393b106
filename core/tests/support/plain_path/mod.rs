//! A deliberately simple simulator to test transports with: one flow over one link.
//!
//! It shares nothing with the library's engine. The link has a rate, a delay and a drop-tail
//! queue in both directions and loses packets, behind the link, by their position in the flow.
//! Its time is the caller's choice ([`time::Time`]): whole nanoseconds, to compare it with the engine, or
//! `f64` seconds, computed in the order in which ns-2 does, so that even the rounding is the same
//! where an event falls on a millisecond or on another event.

mod engine;
mod time;

use clift::transport::tcp::{ReceiverCounters, SenderCounters, TcpConfig};

use engine::Engine;

/// One link, the same both ways.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub bits_per_second: u64,
    pub rtt_ms: u64,
    /// Packets that may wait, without the one being sent.
    pub waiting: usize,
}

/// What becomes of the n-th data packet that leaves the link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    Delivered,
    Lost,
    /// Delivered this much later, so that others overtake it.
    Late {
        micros: u64,
    },
    /// Delivered twice, the second time this much later.
    Twice {
        micros: u64,
    },
}

/// What happened in a run.
#[derive(Debug)]
pub struct Run {
    /// When which byte was sent: time in nanoseconds, first byte; `u64::MAX` for a SYN.
    pub sent: Vec<(u64, u64)>,
    /// When the last segment that was new arrived, in nanoseconds.
    pub last_arrival: u64,
    pub queue_drops: u64,
    pub sender: SenderCounters,
    pub receiver: ReceiverCounters,
    pub acknowledged: u64,
    pub complete: bool,
}

impl Run {
    /// Segments sent in a span of time.
    pub fn sent_within(&self, from_ms: u64, to_ms: u64) -> usize {
        let before = |ms| self.sent.partition_point(|&(at, _)| at < ms * 1_000_000);
        before(to_ms) - before(from_ms)
    }

    /// Payload acknowledged per second, in kbit/s.
    pub fn goodput_kbps(&self, seconds: u64) -> f64 {
        self.acknowledged as f64 * 8.0 / 1e3 / seconds as f64
    }
}

/// What a flow has to send.
#[derive(Clone, Copy, Debug)]
pub enum Supply {
    Unlimited,
    Bytes(u64),
}

/// Runs one flow for `seconds` on ns-2's time; `fate` is asked for every data packet that leaves
/// the link, in order, and for ACKs by `ack_fate`.
///
/// The functions here take `dyn`, so that the engine is compiled in this crate, with optimisation.
pub fn run_with_acks(
    config: &TcpConfig,
    path: Path,
    supply: Supply,
    seconds: u64,
    fate: &mut dyn FnMut(u64) -> Fate,
    ack_fate: &mut dyn FnMut(u64) -> Fate,
) -> Run {
    Engine::<f64>::new(config, path, supply, fate, ack_fate).run(seconds)
}

/// Runs one flow for `seconds` on ns-2's time, with every ACK delivered.
pub fn run(
    config: &TcpConfig,
    path: Path,
    supply: Supply,
    seconds: u64,
    mut fate: impl FnMut(u64) -> Fate,
) -> Run {
    run_with_acks(config, path, supply, seconds, &mut fate, &mut |_| Fate::Delivered)
}

/// Runs one flow for `seconds` in whole nanoseconds, with every ACK delivered.
pub fn run_in_nanoseconds(
    config: &TcpConfig,
    path: Path,
    supply: Supply,
    seconds: u64,
    fate: &mut dyn FnMut(u64) -> Fate,
) -> Run {
    Engine::<u64>::new(config, path, supply, fate, &mut |_| Fate::Delivered).run(seconds)
}

/// The drops of `bench/ns2/compare.py`: packet `position` is lost in run `seed` with probability
/// `p`, by the SplitMix64 hash of both.
pub fn lost(seed: u64, position: u64, p: f64) -> bool {
    let mut z = (seed << 40 ^ position).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 <= p && p > 0.0
}
