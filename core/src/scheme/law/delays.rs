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

    /// Mean delay, ms; `None` if nothing is ever recovered.
    pub fn mean_ms(&self) -> Option<f64> {
        let weighted = self.delay_ms.iter().zip(&self.probability).map(|(d, p)| d * p);
        (!self.delay_ms.is_empty()).then(|| weighted.sum())
    }

    /// The least delay that the share `q` of the recovered does not exceed, ms; `None` if nothing
    /// is ever recovered.
    ///
    /// ```
    /// use clift::scheme::Scheme;
    /// use clift::scheme::law::{Chain, Setting};
    /// let chain = Chain::bernoulli(0.1).unwrap();
    /// let setting = Setting::default();
    /// let arq: Scheme = "ARQ".parse().unwrap();
    /// let law = arq.recovery_delays(&chain, &setting).unwrap();
    /// assert_eq!(law.quantile_ms(0.5), Some(law.delay_ms[0])); // 0.9 take one retransmission
    /// assert_eq!(law.quantile_ms(0.98), Some(law.delay_ms[1])); // 0.09 take two
    /// ```
    pub fn quantile_ms(&self, q: f64) -> Option<f64> {
        let mut sum = 0.0;
        let within = self.probability.iter().take_while(|&&p| {
            sum += p;
            sum < q
        });
        let place = within.count().min(self.delay_ms.len().saturating_sub(1));
        self.delay_ms.get(place).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_the_least_that_suffice() {
        let law = RecoveryDelays::new([(1.0, 2.0), (2.0, 0.0), (3.0, 6.0)].into_iter());
        assert_eq!((&law.delay_ms[..], &law.probability[..]), (&[1.0, 3.0][..], &[0.25, 0.75][..]));
        assert_eq!(law.mean_ms(), Some(2.5));
        assert_eq!((law.quantile_ms(0.25), law.quantile_ms(0.26)), (Some(1.0), Some(3.0)));
        assert_eq!(law.quantile_ms(1.0), Some(3.0));
    }

    #[test]
    fn nothing_recovered_has_no_delay() {
        let law = RecoveryDelays::new(std::iter::empty());
        assert_eq!((law.mean_ms(), law.quantile_ms(0.5)), (None, None));
    }
}
