//! Bandwidths and gains in BBR's units.

use crate::units::Duration;

/// Segments per microsecond, times 2^24.
pub(in super::super) type Bandwidth = u64;
pub(in super::super) const BW_UNIT: Bandwidth = 1 << 24;
/// Fixed-point one of gains: 1/256.
pub(in super::super) const UNIT: u64 = 256;
/// Pacing rate in percent of the bandwidth; below 100 so that queues drain.
const PACED: u64 = 99;

pub(in super::super) fn micros(time: Duration) -> u64 {
    time.as_nanos() / 1000
}

/// Pacing rate in bytes of payload per second for a bandwidth and a gain, with the pacing margin.
/// Linux counts payload against a pacing rate too (`bbr_rate_bytes_per_sec`, which takes
/// `mss_cache`, in `tcp_bbr.c`; `tcp_update_skb_after_send` in `tcp_output.c`).
pub(in super::super) fn bytes_per_second(bandwidth: Bandwidth, mss: u32, gain: u64) -> u64 {
    let rate = (u128::from(bandwidth) * u128::from(mss) * u128::from(gain)) >> 8;
    let rate = (rate * u128::from(1_000_000 / 100 * PACED)) >> 24;
    u64::try_from(rate).unwrap_or(u64::MAX)
}
