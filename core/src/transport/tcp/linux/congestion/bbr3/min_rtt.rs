//! The minimum round-trip time (draft-ietf-ccwg-bbr-04 section 5.5.7).

use crate::units::{Duration, Instant};

/// Lifetime of the minimum round-trip time.
const WINDOW: Duration = Duration::from_secs(10);
/// ProbeRTT starts after this time without a sample as low.
const PROBE_AFTER: Duration = Duration::from_secs(5);

/// The minima over ten and five seconds, with their times.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MinRtt {
    least: Option<Duration>,
    at: Instant,
    recent: Option<Duration>,
    pub(super) recent_at: Instant,
    /// Earliest end of ProbeRTT, set once little is in flight, and whether a round trip has passed
    /// since.
    pub(super) until: Option<Instant>,
    pub(super) round_over: bool,
}

impl MinRtt {
    pub(super) fn begin(&mut self, now: Instant, rtt: Option<Duration>) {
        *self = Self { least: rtt, at: now, recent: rtt, recent_at: now, ..Self::default() };
    }

    /// The minimum round-trip time; `None` before the first sample.
    pub(super) fn get(&self) -> Option<Duration> {
        self.least
    }

    /// Adds a sample. Returns true if ProbeRTT is due.
    pub(super) fn sample(&mut self, now: Instant, rtt: Option<Duration>, delayed: bool) -> bool {
        let due = now > self.recent_at + PROBE_AFTER;
        if let Some(rtt) = rtt
            && (self.recent.is_none_or(|least| rtt < least) || (due && !delayed))
        {
            (self.recent, self.recent_at) = (Some(rtt), now);
        }
        let lower = match (self.recent, self.least) {
            (Some(recent), Some(least)) => recent <= least,
            (recent, _) => recent.is_some(),
        };
        if lower || now > self.at + WINDOW {
            (self.least, self.at) = (self.recent, self.recent_at);
        }
        due
    }
}
