//! How many coded bits an attempt sends.

use std::sync::Arc;

use super::config::AdaptiveHarqError;
use crate::trace::MiTrace;
use crate::units::Probability;

/// How many coded bits each attempt at a packet sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizing {
    /// The same at every packet, in coded bits per information bit.
    Fixed {
        /// Of the first attempt.
        first: f64,
        /// Of each retransmission.
        increment: f64,
    },
    /// As many as bring what the packet misses if the channel has the attempt's level of mutual
    /// information per coded bit: one level for each attempt. The receiver tells what is missing in
    /// its NACK; before the first attempt all of a nominal packet is.
    Missing {
        /// Above 0 and up to 1.
        levels: Arc<[f64]>,
    },
}

impl Sizing {
    /// More coded bits per information bit than any code has.
    pub const MOST_RATIO: f64 = 1e3;

    /// [`Sizing::Missing`] with which each attempt decodes with a target probability: the level is
    /// the one that the channel reaches that often.
    ///
    /// ```
    /// use clift::link::Sizing;
    /// use clift::trace::MiTrace;
    /// use clift::units::{Duration, Probability};
    /// let channel = MiTrace::new(Duration::from_millis(1), vec![0.25, 0.5, 0.75, 1.0]).unwrap();
    /// let half = Probability::new(0.5).unwrap();
    /// let sizing = Sizing::for_targets(&channel, &[half, Probability::ONE]).unwrap();
    /// assert_eq!(sizing, Sizing::Missing { levels: [0.75, 0.25].into() });
    /// ```
    ///
    /// # Errors
    /// If the channel never is good enough.
    pub fn for_targets(
        information: &MiTrace,
        targets: &[Probability],
    ) -> Result<Self, AdaptiveHarqError> {
        let mut values = information.values().to_vec();
        values.sort_unstable_by(f32::total_cmp);
        let level = |target: &Probability| {
            let below = ((1.0 - target.get()) * values.len() as f64) as usize;
            let level = f64::from(values[below.min(values.len() - 1)]);
            if level * Self::MOST_RATIO < 1.0 {
                Err(AdaptiveHarqError::Hopeless)
            } else {
                Ok(level)
            }
        };
        Ok(Self::Missing { levels: targets.iter().map(level).collect::<Result<_, _>>()? })
    }

    pub(super) fn check(&self, attempts: usize) -> Result<(), AdaptiveHarqError> {
        match self {
            Self::Fixed { first, increment } => {
                let fits = |ratio: f64| ratio > 0.0 && ratio <= Self::MOST_RATIO;
                let wrong = |name| Err(AdaptiveHarqError::Ratio { name });
                match (fits(*first), fits(*increment)) {
                    (false, _) => wrong("first"),
                    (_, false) => wrong("increment"),
                    (true, true) => Ok(()),
                }
            }
            Self::Missing { levels } if levels.len() != attempts => {
                Err(AdaptiveHarqError::Targets { given: levels.len(), attempts })
            }
            Self::Missing { levels } => {
                let fits =
                    levels.iter().all(|&level| level * Self::MOST_RATIO >= 1.0 && level <= 1.0);
                if fits { Ok(()) } else { Err(AdaptiveHarqError::Hopeless) }
            }
        }
    }

    /// Coded bits of an attempt at a packet of `bits` that misses `missing` bits of mutual
    /// information; at least 1.
    #[inline]
    pub(super) fn coded_bits(&self, attempt: usize, bits: f64, missing: f64) -> u64 {
        let wanted = match self {
            Self::Fixed { first, .. } if attempt == 0 => bits * first,
            Self::Fixed { increment, .. } => bits * increment,
            Self::Missing { levels } => missing / levels[attempt],
        };
        (libm::round(wanted) as u64).max(1)
    }
}
