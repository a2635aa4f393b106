//! Mutual information over time, the channel input of adaptive HARQ.

use crate::trace::Fault;
use crate::units::{Duration, Instant};

/// Mutual information per coded bit of the channel, at regular instants from 0.
///
/// The scheme of Tauran 2017 accumulates the information of each attempt; a PHY trace has only the
/// result of one decoding.
///
/// ```
/// use clift::trace::MiTrace;
/// use clift::units::{Duration, Instant};
/// let mi = MiTrace::new(Duration::from_millis(1), vec![0.5, 0.9]).unwrap();
/// assert_eq!(mi.at(Instant::from_nanos(1_999_999)), Some(0.9));
/// assert_eq!(mi.at(Instant::from_nanos(2_000_000)), None);
/// assert!((mi.mean() - 0.7).abs() < 1e-6);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MiTrace {
    every: Duration,
    values: Vec<f32>,
}

impl MiTrace {
    /// One value every `every`, each from 0 to 1.
    ///
    /// # Errors
    /// If `values` is empty, `every` is 0, or a value is out of range.
    pub fn new(every: Duration, values: Vec<f32>) -> Result<Self, Fault> {
        if values.is_empty() || every == Duration::ZERO {
            return Err(Fault::empty());
        }
        if let Some(slot) = values.iter().position(|value| !(0.0..=1.0).contains(value)) {
            let cure = "the mutual information per coded bit must be from 0 to 1";
            return Err(Fault::Text(format!("slot {slot}: {cure}")));
        }
        Ok(Self { every, values })
    }

    /// Time from one value to the next.
    pub fn every(&self) -> Duration {
        self.every
    }

    /// The values, per coded bit.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The value of the slot that contains `instant`; `None` past the end.
    pub fn at(&self, instant: Instant) -> Option<f32> {
        let slot = instant.as_nanos() / self.every.as_nanos();
        self.values.get(usize::try_from(slot).ok()?).copied()
    }

    /// E\[MI\]: the mean over the trace.
    pub fn mean(&self) -> f64 {
        self.values.iter().map(|&value| f64::from(value)).sum::<f64>() / self.values.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_outside_0_to_1_are_refused() {
        let every = Duration::from_millis(1);
        assert_eq!(MiTrace::new(every, vec![]), Err(Fault::empty()));
        assert_eq!(MiTrace::new(Duration::ZERO, vec![0.1]), Err(Fault::empty()));
        for value in [1.5, -0.1, f32::NAN] {
            let fault = MiTrace::new(every, vec![0.2, value]);
            assert!(fault.unwrap_err().to_string().starts_with("slot 1: "));
        }
    }
}
