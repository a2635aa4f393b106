//! The law of the recovery delay, not only its mean.

/// The delays of LLDUs that were erased at first and recovered later, with their probabilities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecoveryDelays {
    /// d' + RTT/2, rising, ms.
    pub delay_ms: Vec<f64>,
    /// How probable each is among the recovered; they sum to 1 (less the part at which an
    /// unlimited scheme is cut, below 1e-15).
    pub probability: Vec<f64>,
}

impl RecoveryDelays {
    /// From shares of anything by rising delay; those without share are left out.
    pub(crate) fn new(shares: impl Iterator<Item = (f64, f64)>) -> Self {
        let (delay_ms, mut probability): (Vec<_>, Vec<_>) =
            shares.filter(|&(_, share)| share > 0.0).unzip();
        let sum: f64 = probability.iter().sum();
        probability.iter_mut().for_each(|share| *share /= sum);
        Self { delay_ms, probability }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_become_probabilities() {
        let law = RecoveryDelays::new([(1.0, 2.0), (2.0, 0.0), (3.0, 6.0)].into_iter());
        assert_eq!((&law.delay_ms[..], &law.probability[..]), (&[1.0, 3.0][..], &[0.25, 0.75][..]));
    }

    #[test]
    fn nothing_recovered_has_no_delay() {
        assert_eq!(RecoveryDelays::new(std::iter::empty()), RecoveryDelays::default());
    }
}
