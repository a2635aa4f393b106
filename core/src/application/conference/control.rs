//! The rate of Google Congestion Control: rate controller and loss-based controller
//! (draft-ietf-rmcat-gcc-02, sections 5.5 and 6).

use std::collections::VecDeque;

use super::delay::{Detector, Signal};
use crate::units::{Duration, Instant};

/// Time over which the incoming rate is measured, from the draft's interval of 0.5 to 1 s.
const WINDOW: Duration = Duration::from_millis(500);
/// Factor of a decrease, and of an increase in a second.
const BETA: f64 = 0.85;
const ETA: f64 = 1.08;
/// The estimate grows up to this multiple of the incoming rate.
const MOST_ABOVE_INCOMING: f64 = 1.5;
/// Smoothing of the mean incoming rate at decreases.
const SMOOTHING: f64 = 0.95;
/// Limits of its variance divided by it, bit/s, as in WebRTC (aimd_rate_control.cc); the draft has
/// none, and one decrease alone would have no variance.
const VARIANCES: [f64; 2] = [400.0, 2500.0];
/// Interval of loss reports: at least one a second is due (section 3). Few packets would make one
/// loss look like congestion.
const LOSS_INTERVAL: Duration = Duration::from_secs(1);

/// What a feedback message says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Report {
    /// Send time, arrival time and size of each packet since the report before, in the order of
    /// arrival.
    pub(super) packets: Vec<(Instant, Instant, u64)>,
    /// Packets that were sent up to the highest number that arrived, and those that arrived, since
    /// the start.
    pub(super) expected: u64,
    pub(super) received: u64,
    /// When the receiver sent it.
    pub(super) at: Instant,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Hold,
    Increase,
    Decrease,
}

/// The controller at the sender.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    /// Limits of the rate, bit/s.
    limits: [f64; 2],
    detector: Detector,
    state: State,
    /// Estimates by delay and by loss, bit/s.
    by_delay: f64,
    by_loss: f64,
    /// Arrival time and size of the packets of the window.
    window: VecDeque<(Instant, u64)>,
    window_bytes: u64,
    /// Mean and relative variance of the incoming rate at decreases.
    at_decreases: Option<[f64; 2]>,
    updated: Option<Instant>,
    /// Expected and received packets at the last decision about losses, and its time.
    counted: [u64; 2],
    decided: Instant,
}

impl Controller {
    /// A controller of a flow that starts at `start` with the rate `first`, bit/s.
    pub(super) fn new(start: Instant, first: f64, limits: [f64; 2]) -> Self {
        Self {
            limits,
            detector: Detector::new(),
            state: State::Increase,
            by_delay: first,
            // Nothing is known about losses.
            by_loss: limits[1],
            window: VecDeque::new(),
            window_bytes: 0,
            at_decreases: None,
            updated: None,
            counted: [0; 2],
            decided: start,
        }
    }

    /// The sending rate, bit/s.
    pub(super) fn rate(&self) -> f64 {
        self.by_delay.min(self.by_loss)
    }

    /// A report reaches the sender at `now`.
    pub(super) fn report(&mut self, now: Instant, report: &Report) {
        self.by_loss(now, report);
        let mut signal = Signal::Normal;
        for &(sent, arrived, bytes) in &report.packets {
            self.window.push_back((arrived, bytes));
            self.window_bytes += bytes;
            match self.detector.packet(sent, arrived) {
                Some(next) if signal != Signal::Overuse => signal = next,
                _ => {}
            }
        }
        let Some(&(sent, arrived, _)) = report.packets.last() else { return };
        while let Some(&(old, bytes)) = self.window.front()
            && arrived.saturating_since(old) >= WINDOW
        {
            self.window.pop_front();
            self.window_bytes -= bytes;
        }
        let incoming = self.window_bytes as f64 * 8.0 / WINDOW.as_secs_f64();
        let hold = report.at.saturating_since(arrived);
        let round_trip = now.saturating_since(sent + hold);
        self.by_delay(now, signal, incoming, round_trip);
    }

    /// Section 5.5.
    fn by_delay(&mut self, now: Instant, signal: Signal, incoming: f64, round_trip: Duration) {
        self.state = match (signal, self.state) {
            (Signal::Overuse, _) => State::Decrease,
            (Signal::Normal, State::Decrease) | (Signal::Underuse, _) => State::Hold,
            (Signal::Normal, State::Hold | State::Increase) => State::Increase,
        };
        let since = self.updated.map_or(0.0, |last| now.saturating_since(last).as_secs_f64());
        self.updated = Some(now);
        let rate = self.by_delay;
        let next = match self.state {
            State::Hold => rate,
            State::Increase => {
                let next = match self.distance(incoming) {
                    Some(distance) if distance.abs() <= 3.0 => {
                        let response = 0.1 + round_trip.as_secs_f64();
                        let share = 0.5 * (since / response).min(1.0);
                        rate + (share * packet_bits(rate)).max(1000.0)
                    }
                    distance => {
                        if distance.is_some_and(|distance| distance > 3.0) {
                            self.at_decreases = None;
                        }
                        rate * ETA.powf(since.min(1.0))
                    }
                };
                rate.max(next.min(MOST_ABOVE_INCOMING * incoming))
            }
            State::Decrease => {
                self.note_decrease(incoming);
                rate.min(BETA * incoming)
            }
        };
        self.by_delay = next.clamp(self.limits[0], self.limits[1]);
    }

    /// Distance of the incoming rate from its mean at decreases, in standard deviations.
    fn distance(&self, incoming: f64) -> Option<f64> {
        let [mean, variance] = self.at_decreases?;
        Some((incoming - mean) / (variance * mean).sqrt())
    }

    fn note_decrease(&mut self, incoming: f64) {
        let [mean, variance] = self.at_decreases.unwrap_or([incoming, VARIANCES[0]]);
        let mean = SMOOTHING * mean + (1.0 - SMOOTHING) * incoming;
        let square = (incoming - mean).powi(2) / mean.max(1.0);
        let variance = SMOOTHING * variance + (1.0 - SMOOTHING) * square;
        self.at_decreases = Some([mean, variance.clamp(VARIANCES[0], VARIANCES[1])]);
    }

    /// Section 6.
    fn by_loss(&mut self, now: Instant, report: &Report) {
        let expected = report.expected.saturating_sub(self.counted[0]);
        if expected == 0 || now.saturating_since(self.decided) < LOSS_INTERVAL {
            return;
        }
        let received = report.received.saturating_sub(self.counted[1]);
        let loss = expected.saturating_sub(received) as f64 / expected as f64;
        (self.counted, self.decided) = ([report.expected, report.received], now);
        let next = match loss {
            0.0..0.02 => 1.05 * self.by_loss,
            0.02..=0.1 => self.by_loss,
            // The rate that was sent is the one that was too high.
            _ => self.rate() * (1.0 - 0.5 * loss),
        };
        self.by_loss = next.clamp(self.limits[0], self.limits[1]);
    }
}

/// Expected size of a packet: 30 frames a second in packets of up to 1200 bytes (section 5.5).
fn packet_bits(rate: f64) -> f64 {
    let frame = rate / 30.0;
    frame / (frame / 9600.0).ceil().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(millis)
    }

    fn controller() -> Controller {
        Controller::new(Instant::ZERO, 1e6, [1e5, 1e7])
    }

    fn losses(controller: &mut Controller, lost: &[u64]) -> Vec<f64> {
        let (mut expected, mut received) = (0, 0);
        let mut second = |(number, lost): (usize, &u64)| {
            (expected, received) = (expected + 100, received + 100 - lost);
            let report = Report { expected, received, ..Report::default() };
            controller.report(at(1000 * (number as u64 + 1)), &report);
            controller.rate()
        };
        lost.iter().enumerate().map(&mut second).collect()
    }

    #[test]
    fn losses_act_by_the_law_of_the_draft() {
        let mut own = controller();
        // Up to 10 %: unchanged. 12 %: by 6 % of the rate that was sent.
        assert_eq!(losses(&mut own, &[0, 2, 10]), [1e6, 1e6, 1e6]);
        let rates = losses(&mut controller(), &[12, 12, 5, 1, 50]);
        let expected =
            [0.94, 0.94 * 0.94, 0.94 * 0.94, 0.94 * 0.94 * 1.05, 0.94 * 0.94 * 1.05 * 0.75];
        for (rate, expected) in rates.iter().zip(expected) {
            assert!((rate - 1e6 * expected).abs() < 1e-3, "{rates:?}");
        }
    }

    #[test]
    fn losses_are_counted_over_a_second_whatever_reports_are_lost() {
        let mut own = controller();
        let mut report = |millis, expected, received| {
            own.report(at(millis), &Report { expected, received, ..Report::default() });
            own.rate()
        };
        assert_eq!(report(999, 10, 0), 1e6);
        assert_eq!(report(1000, 100, 80), 0.9e6);
        assert_eq!(report(1100, 110, 80), 0.9e6);
        // Ten of those that had seemed lost arrived late.
        assert_eq!(report(2000, 200, 190), 0.945e6);
    }

    #[test]
    fn states_and_rates_follow_the_table_of_the_draft() {
        let rtt = Duration::from_millis(100);
        let mut own = controller();
        let mut step = |millis, signal, incoming| {
            own.by_delay(at(millis), signal, incoming, rtt);
            (own.state, own.by_delay)
        };
        assert_eq!(step(0, Signal::Normal, 1e6), (State::Increase, 1e6));
        // Multiplicative: 8 % in a second, at most a second's.
        assert_eq!(step(1000, Signal::Normal, 1e6), (State::Increase, 1.08e6));
        assert_eq!(step(4000, Signal::Normal, 1e6), (State::Increase, 1.08 * 1.08e6));
        assert_eq!(step(4100, Signal::Overuse, 1e6), (State::Decrease, 0.85e6));
        // A higher incoming rate, of the past, does not raise the rate.
        assert_eq!(step(4200, Signal::Overuse, 1.1e6), (State::Decrease, 0.85e6));
        assert_eq!(step(4300, Signal::Normal, 0.9e6), (State::Hold, 0.85e6));
        assert_eq!(step(4400, Signal::Underuse, 0.9e6), (State::Hold, 0.85e6));
        // Close to convergence: half a packet in a response time of 200 ms, here a quarter.
        let (state, rate) = step(4500, Signal::Normal, 1e6);
        let packet = 0.85e6 / 30.0 / 3.0;
        assert_eq!((state, rate), (State::Increase, 0.85e6 + packet / 4.0));
        // Three standard deviations above the mean: the capacity has changed.
        let (_, next) = step(4600, Signal::Normal, 1.5e6);
        assert!((next / rate - 1.08_f64.powf(0.1)).abs() < 1e-12);
        assert_eq!(step(4700, Signal::Underuse, 1.5e6).0, State::Hold);
        assert_eq!(own.at_decreases, None);
    }

    #[test]
    fn the_estimate_does_not_leave_the_incoming_rate_behind() {
        let mut own = controller();
        own.by_delay(at(0), Signal::Normal, 1e6, Duration::ZERO);
        own.by_delay(at(1000), Signal::Normal, 7e5, Duration::ZERO);
        assert_eq!(own.by_delay, 1.05e6);
        own.by_delay(at(2000), Signal::Normal, 1e5, Duration::ZERO);
        assert_eq!(own.by_delay, 1.05e6);
    }
}
