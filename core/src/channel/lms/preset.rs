//! The channels of Kuhn 2014 and Tauran 2017, and an aircraft over the sea.

use std::num::NonZeroU32;

use super::channel::{LandMobile, Motion, Reference};
use super::code::{Code, CodeName};
use super::information::Modulation;
use super::loo::Loo;
use super::named::named;
use super::receiver::{Interleaver, Receiver};
use super::shadowing::Shadowing;
use super::tables::Propagation;
use super::trees::IsolatedTrees;
use crate::units::{Bytes, Decibels, Duration, Metres};

named! {
    /// A channel of a paper. Constants marked *calibrated* were fitted to printed tables; the
    /// fit, and which results remain predictions, is described in `docs/concepts/lms.md`.
    #[derive(Default)]
    pub enum Preset {
        /// Kuhn 2014, Internet: 0.263 Mbit/s with 33-byte code words, one tenth of the full
        /// capacity.
        #[default]
        Internet = "internet",
        /// Kuhn 2014, distribution, mobile to gateway: 2.34 Mbit/s with 33-byte code words.
        DistributionUp = "distribution",
        /// Kuhn 2014, distribution, gateway to mobile: 2.25 Mbit/s with 1523-byte code words.
        DistributionDown = "distribution-down",
        /// Tauran 2017: intermediate tree shadowing, for its mutual information every millisecond.
        Its = "its",
        /// An aircraft over the sea with the satellite at 10 degrees of elevation, L band: a steady
        /// line of sight and scattered power 8 dB below it.
        Aeronautical = "aeronautical",
    }
}

impl Preset {
    /// Es/N0 in dB: the value of the paper, or the middle of its range.
    pub fn esn0_db(self) -> f64 {
        match self {
            Self::DistributionUp | Self::DistributionDown => 14.0,
            Self::Internet | Self::Aeronautical => 6.0,
            Self::Its => 10.0,
        }
    }

    /// Speed in km/h and carrier in GHz.
    pub fn speed_and_carrier(self) -> (f64, f64) {
        match self {
            // Not of the aircraft: see `aeronautical`.
            Self::Aeronautical => (35.0, 1.545),
            _ => (60.0, 2.2),
        }
    }

    /// The channel.
    pub fn channel(self) -> LandMobile {
        let (speed_kmh, carrier_ghz) = self.speed_and_carrier();
        let (propagation, reference) = match self {
            Self::Internet => (internet(), Reference::UnitMeanPower),
            Self::DistributionUp | Self::DistributionDown => {
                let trees = Propagation::trees(DISTRIBUTION_TREES).expect("each within its range");
                (trees, Reference::LineOfSight)
            }
            Self::Its => {
                let its = Propagation::perez_fontan("intermediate-tree-shadowed", 40.0, 2.2);
                (its.expect("a row of the table"), Reference::UnitMeanPower)
            }
            Self::Aeronautical => (aeronautical(), Reference::LineOfSight),
        };
        let (modulation, code, depth_ms, slot_ns, lldu) = match self {
            Self::Internet => (Modulation::Qpsk, CodeName::Turbo264Third, 36, 1_003_802, 33),
            Self::DistributionUp => {
                (Modulation::Qam16, CodeName::Turbo264TwoThirds, 36, 112_821, 33)
            }
            // 1523 bytes at 2.25 Mbit/s.
            Self::DistributionDown => {
                (Modulation::Qam16, CodeName::Turbo12184TwoThirds, 36, 5_415_111, 1523)
            }
            Self::Its => (Modulation::Qpsk, CodeName::Turbo264Third, 1, 1_000_000, 33),
            Self::Aeronautical => (Modulation::Qpsk, CodeName::Turbo264Third, 36, 1_000_000, 33),
        };
        let (branches, offset_db) = match self {
            Self::Internet => (NonZeroU32::new(INTERNET_BRANCHES), INTERNET_OFFSET_DB),
            _ => (None, 0.0),
        };
        LandMobile {
            propagation,
            motion: Motion::new(speed_kmh, carrier_ghz).expect("both above zero"),
            reference,
            receiver: Receiver {
                modulation,
                code: Code::named(code),
                interleaver: Interleaver { depth: Duration::from_millis(depth_ms), branches },
                offset_db,
            },
            slot: Duration::from_nanos(slot_ns),
            lldu: Bytes(lldu),
        }
    }
}

/// Scattered power relative to the line of sight, in dB: flights with Inmarsat satellites at about
/// 10 degrees of elevation lost as many bits as a carrier-to-multipath ratio of 8 dB gives
/// (Electronic Navigation Research Institute Papers 104, 2003).
const AERONAUTICAL_MULTIPATH_DB: f64 = -8.0;

/// A line of sight without shadowing. The sea scatters from around its specular point, where
/// Doppler shifts differ little from that of the line of sight: the speed of the preset gives 50 Hz
/// at most, at any speed of the aircraft. This number is ours; the source gives none.
fn aeronautical() -> Propagation {
    let loo = Loo { direct_db: 0.0, psi_db: 0.0, multipath_db: AERONAUTICAL_MULTIPATH_DB };
    Propagation { shadowing: Shadowing::Steady(loo), correlation_m: 1.0 }
}

/// Calibrated to the New Reno rows of table 3 of Kuhn 2014: standard deviation of the direct path,
/// multipath power, effective diversity order of the interleaver, offset of Es/N0.
const INTERNET_PSI_DB: f64 = 0.6;
const INTERNET_MULTIPATH_DB: f64 = -11.0;
const INTERNET_BRANCHES: u32 = 2;
const INTERNET_OFFSET_DB: f64 = -2.9;

/// Lightly shadowed line of sight.
fn internet() -> Propagation {
    let loo = Loo { direct_db: 0.0, psi_db: INTERNET_PSI_DB, multipath_db: INTERNET_MULTIPATH_DB };
    Propagation { shadowing: Shadowing::Steady(loo), correlation_m: 1.7 }
}

/// Calibrated to table 1 of Kuhn 2014: spacing, length and depth of the fades.
const DISTRIBUTION_TREES: IsolatedTrees = IsolatedTrees {
    gap: Metres(65.0),
    crossing: Metres(5.0),
    depth: Decibels(5.28),
    spread: Decibels(0.0),
    multipath: Decibels(-25.0),
};
