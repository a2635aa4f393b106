//! The delay-based estimate of Google Congestion Control: groups of packets, arrival-time filter,
//! over-use detector (draft-ietf-rmcat-gcc-02, sections 5.1 to 5.4).

use std::collections::VecDeque;

use crate::units::{Duration, Instant};

/// Time limit between packets of a group (table 1 of the draft, as the constants below).
pub(super) const BURST: Duration = Duration::from_millis(5);
const STATE_NOISE: f64 = 1e-3;
const FIRST_ERROR: f64 = 0.1;
/// Coefficient of the noise's variance, from the draft's interval of 0.001 to 0.1.
const CHI: f64 = 0.01;
/// Groups among which the shortest interval is taken, which sets the rate of the variance.
const INTERVALS: usize = 60;
const FIRST_THRESHOLD: f64 = 12.5;
const THRESHOLDS: [f64; 2] = [6.0, 600.0];
const RISE: f64 = 0.01;
const FALL: f64 = 0.00018;
/// The threshold does not follow an estimate that is further above it, ms.
const SPIKE: f64 = 15.0;
const OVERUSE_TIME: Duration = Duration::from_millis(10);
/// Groups by whose number the estimate is multiplied at most.
const MOST_GROUPS: u32 = 60;

/// What the detector says about the path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Signal {
    /// A queue grows.
    Overuse,
    Normal,
    /// A queue empties.
    Underuse,
}

/// A group of packets that were sent together or arrived together.
#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Instant,
    /// Send and arrival time of the last packet.
    sent: Instant,
    arrived: Instant,
}

impl Group {
    /// Delay variation from `self` to a later packet or group, ms.
    fn variation(&self, sent: Instant, arrived: Instant) -> f64 {
        millis(self.arrived, arrived) - millis(self.sent, sent)
    }
}

/// Time from one instant to a later one, ms.
fn millis(from: Instant, to: Instant) -> f64 {
    to.saturating_since(from).as_secs_f64() * 1e3
}

/// Filter and detector.
#[derive(Clone, Debug, Default)]
pub(super) struct Detector {
    /// The last complete group, and the one whose packets still arrive.
    last: Option<Group>,
    current: Option<Group>,
    /// Estimate of the delay variation between groups, ms, and its error.
    estimate: f64,
    error: f64,
    /// Variance of the noise, ms².
    variance: f64,
    /// Intervals between the last groups at the sender, ms.
    intervals: VecDeque<f64>,
    groups: u32,
    threshold: f64,
    /// Since when the estimate has been above the threshold.
    above_since: Option<Instant>,
}

impl Detector {
    pub(super) fn new() -> Self {
        Self { error: FIRST_ERROR, variance: 1.0, threshold: FIRST_THRESHOLD, ..Self::default() }
    }

    /// A packet was sent and arrived at these times. Returns a signal if it completes a group.
    /// Packets that were sent before one that arrived earlier are ignored.
    pub(super) fn packet(&mut self, sent: Instant, arrived: Instant) -> Option<Signal> {
        let next = Group { first_sent: sent, sent, arrived };
        let Some(group) = &mut self.current else {
            self.current = Some(next);
            return None;
        };
        if sent < group.sent {
            return None;
        }
        let is_burst = millis(group.arrived, arrived) < BURST.as_secs_f64() * 1e3
            && group.variation(sent, arrived) < 0.0;
        if sent.saturating_since(group.first_sent) < BURST || is_burst {
            (group.sent, group.arrived) = (sent, arrived);
            return None;
        }
        let whole = std::mem::replace(group, next);
        let last = self.last.replace(whole)?;
        Some(self.group(last, whole))
    }

    fn group(&mut self, last: Group, group: Group) -> Signal {
        let interval = millis(last.sent, group.sent);
        let before = self.estimate;
        self.filter(last.variation(group.sent, group.arrived), interval);
        self.groups = (self.groups + 1).min(MOST_GROUPS);
        // The draft compares the estimate itself with thresholds of 6 ms and more, which groups of
        // 5 ms pass only above twice the capacity. WebRTC, which the paper measured, multiplies it
        // by the number of groups (overuse_detector.cc).
        let offset = self.estimate * f64::from(self.groups);
        let signal = if offset > self.threshold {
            let since = *self.above_since.get_or_insert(last.arrived);
            let lasted = group.arrived.saturating_since(since);
            if lasted >= OVERUSE_TIME && self.estimate >= before {
                Signal::Overuse
            } else {
                Signal::Normal
            }
        } else {
            self.above_since = None;
            if offset < -self.threshold { Signal::Underuse } else { Signal::Normal }
        };
        let excess = offset.abs() - self.threshold;
        if excess <= SPIKE {
            let gain = if excess < 0.0 { FALL } else { RISE };
            let threshold = self.threshold + millis(last.arrived, group.arrived) * gain * excess;
            self.threshold = threshold.clamp(THRESHOLDS[0], THRESHOLDS[1]);
        }
        signal
    }

    /// The scalar Kalman filter of section 5.3.
    fn filter(&mut self, variation: f64, interval: f64) {
        if self.intervals.len() == INTERVALS {
            self.intervals.pop_front();
        }
        self.intervals.push_back(interval);
        let shortest = self.intervals.iter().copied().fold(f64::INFINITY, f64::min);
        let residual = variation - self.estimate;
        let outlier = 3.0 * self.variance.sqrt();
        let noise = residual.clamp(-outlier, outlier);
        let alpha = (1.0 - CHI).powf(30.0 * shortest / 1000.0);
        self.variance = (alpha * self.variance + (1.0 - alpha) * noise * noise).max(1.0);
        let error = self.error + STATE_NOISE;
        let gain = error / (self.variance + error);
        self.estimate += gain * residual;
        self.error = (1.0 - gain) * error;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    /// Signals of packets sent every 10 ms, each delayed by this many microseconds more than the one
    /// before.
    fn signals(detector: &mut Detector, growth: &[i64]) -> Vec<Signal> {
        let mut delay = 1_000_000;
        let packet = |(number, growth): (usize, &i64)| {
            delay += growth;
            let sent = 10_000 * number as u64;
            detector.packet(at(sent), at(sent + delay as u64))
        };
        growth.iter().enumerate().filter_map(packet).collect()
    }

    #[test]
    fn the_first_steps_of_the_filter_match_a_calculation_by_hand() {
        let mut detector = Detector::new();
        detector.filter(2.0, 10.0);
        // A residual of 2 ms, groups 10 ms apart.
        let alpha = 0.99_f64.powf(0.3);
        let variance = alpha + (1.0 - alpha) * 4.0;
        let gain = 0.101 / (variance + 0.101);
        assert!((detector.variance - variance).abs() < 1e-12);
        assert!((detector.estimate - 2.0 * gain).abs() < 1e-12);
        assert!((detector.error - (1.0 - gain) * 0.101).abs() < 1e-12);
        // An outlier counts as three standard deviations in the variance, and in full in the
        // estimate.
        let before = detector.clone();
        detector.filter(500.0, 10.0);
        let variance = before.variance * (alpha + (1.0 - alpha) * 9.0);
        assert!((detector.variance - variance).abs() < 1e-12);
        assert!(detector.estimate > 30.0);
    }

    #[test]
    fn a_constant_delay_is_normal_and_a_growing_one_overuse() {
        let mut detector = Detector::new();
        assert!(signals(&mut detector, &[0; 500]).iter().all(|it| *it == Signal::Normal));
        assert_eq!(detector.estimate, 0.0);
        // 5 % over the capacity: 0.5 ms per group.
        let mut detector = Detector::new();
        let found = signals(&mut detector, &[500; 100]);
        assert_eq!(found[0], Signal::Normal);
        assert!(found.contains(&Signal::Overuse));
        let mut detector = Detector::new();
        let found = signals(&mut detector, &[-500; 100]);
        assert!(found.contains(&Signal::Underuse) && !found.contains(&Signal::Overuse));
    }

    #[test]
    fn packets_sent_or_arriving_in_a_burst_are_one_group() {
        let mut detector = Detector::new();
        let mut packet = |sent, arrived| detector.packet(at(sent), at(arrived)).is_some();
        assert!(!packet(0, 50_000) && !packet(4_999, 60_000)); // sent together
        assert!(!packet(10_000, 70_000)); // a new group
        assert!(!packet(40_000, 71_000)); // arrives together with it, less delayed
        assert!(!packet(9_000, 72_000)); // out of order
        assert!(packet(80_000, 130_000));
        let last = detector.last.map(|group| (group.sent, group.arrived));
        assert_eq!(last, Some((at(40_000), at(71_000))));
    }

    #[test]
    fn the_threshold_follows_the_estimate_except_in_spikes() {
        let group = |secs: u64| Group {
            first_sent: at(secs * 10_000),
            sent: at(secs * 10_000),
            arrived: at(secs * 10_000),
        };
        // No variation: down by the slow gain, from 12.5 ms, in 10 ms.
        let mut detector = Detector::new();
        detector.group(group(0), group(1));
        assert!((detector.threshold - (12.5 - 12.5 * 10.0 * FALL)).abs() < 1e-9);
        // 20 ms, between the threshold and 15 ms more: up by the fast gain.
        let mut detector = Detector::new();
        detector.groups = 59;
        detector.estimate = 20.0 / 60.0;
        detector.error = 0.0;
        detector.variance = 1e9; // the estimate stays
        detector.group(group(0), group(1));
        assert!((detector.threshold - (12.5 + 7.5 * 10.0 * RISE)).abs() < 1e-3);
        // 40 ms is a spike.
        detector.estimate = 40.0 / 60.0;
        let before = detector.threshold;
        detector.group(group(1), group(2));
        assert_eq!(detector.threshold, before);
    }
}
