//! The congestion control algorithms by name, and which profile has them.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::Profile;

/// A congestion control algorithm; parsed from its usual names.
///
/// ```
/// use clift::transport::tcp::CongestionAlgorithm;
/// assert_eq!("reno".parse(), Ok(CongestionAlgorithm::NewReno));
/// assert_eq!("cubic".parse(), Ok(CongestionAlgorithm::Cubic));
/// assert!("vegas".parse::<CongestionAlgorithm>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CongestionAlgorithm {
    /// Additive increase, multiplicative decrease (RFC 5681); ns-2 and Linux call it `reno`.
    NewReno,
    /// CUBIC: version 2.1 in profile `papers`.
    Cubic,
    /// Hybla (Caini and Firrincieli 2004): long round trips gain as fast as one of 25 ms. Its
    /// window may grow to 65,535 segments, whatever [`super::TcpConfig::cwnd_max`] says.
    Hybla,
    /// Westwood+ (Mascolo et al. 2004): a loss puts the window where the measured bandwidth does.
    Westwood,
    /// Compound (Tan et al. 2006): a second window that grows while queues are short, beyond
    /// [`super::TcpConfig::cwnd_max`] too.
    Compound,
    /// BBR version 1, as Linux has it (draft-cardwell-iccrg-bbr-congestion-control-00): a model of
    /// bandwidth and round-trip time sets pace and window. In profile `linux` only.
    Bbr,
}

impl CongestionAlgorithm {
    /// Every algorithm there is.
    pub const ALL: [Self; 6] =
        [Self::NewReno, Self::Cubic, Self::Hybla, Self::Westwood, Self::Compound, Self::Bbr];

    /// Those that a profile has.
    pub fn in_profile(profile: Profile) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |algorithm| algorithm.is_in(profile))
    }

    /// Whether a profile has it: `linux` has all, `papers` all but BBR.
    ///
    /// ```
    /// use clift::transport::tcp::{CongestionAlgorithm, Profile};
    /// assert!(CongestionAlgorithm::Bbr.is_in(Profile::Linux));
    /// assert!(!CongestionAlgorithm::Bbr.is_in(Profile::Papers));
    /// ```
    pub fn is_in(self, profile: Profile) -> bool {
        match self {
            Self::NewReno | Self::Cubic | Self::Hybla | Self::Westwood | Self::Compound => true,
            Self::Bbr => profile == Profile::Linux,
        }
    }
}

impl fmt::Display for CongestionAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NewReno => "newreno",
            Self::Cubic => "cubic",
            Self::Hybla => "hybla",
            Self::Westwood => "westwood",
            Self::Compound => "compound",
            Self::Bbr => "bbr",
        })
    }
}

impl FromStr for CongestionAlgorithm {
    type Err = UnknownCongestionAlgorithm;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "newreno" | "reno" => Ok(Self::NewReno),
            "cubic" => Ok(Self::Cubic),
            "hybla" => Ok(Self::Hybla),
            "westwood" => Ok(Self::Westwood),
            "compound" => Ok(Self::Compound),
            "bbr" => Ok(Self::Bbr),
            _ => Err(UnknownCongestionAlgorithm(name.to_owned())),
        }
    }
}

/// A name that is no congestion control algorithm.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error(
    "`{0}` is not a congestion control algorithm; give `newreno`, `cubic`, `hybla`, `westwood`, \
     `compound` or `bbr`"
)]
pub struct UnknownCongestionAlgorithm(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for algorithm in CongestionAlgorithm::ALL {
            assert_eq!(algorithm.to_string().parse(), Ok(algorithm));
        }
        let error = "bic".parse::<CongestionAlgorithm>().unwrap_err();
        assert!(error.to_string().contains("`bic`"));
    }
}
