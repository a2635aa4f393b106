//! Whether there can be a 3GPP link.

use thiserror::Error;

use crate::link::Propagation;
use crate::link::ntn::config::{HarqMode, NtnConfig, NtnPhy, RlcConfig};
use crate::units::{Duration, Probability};

/// A 3GPP link that cannot be.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum NtnConfigError {
    /// A time that must be above zero.
    #[error("{name} of 0 ns; give a time above 0")]
    Zero {
        /// Which one.
        name: &'static str,
    },
    /// No error probability.
    #[error("no block error probability; give at least that of the first transmission")]
    NoBler,
    /// No room for data.
    #[error(
        "a transport block of {tb} bytes has no room beside headers of {headers}; give larger blocks"
    )]
    NoRoom {
        /// Bytes of a TB.
        tb: u32,
        /// Header bytes in it.
        headers: u64,
    },
    /// A time beyond what is simulated.
    #[error("{name} is over 2^61 ns (73 years); check the unit")]
    TooLong {
        /// Which one.
        name: &'static str,
    },
    /// Retransmissions without end.
    #[error(
        "RLC AM without a limit of retransmissions over a link that lets nothing through ({what}); give max_retx"
    )]
    Endless {
        /// What lets nothing through.
        what: &'static str,
    },
}

impl NtnConfig {
    /// Whether there can be such a link.
    ///
    /// # Errors
    /// The first fault found.
    pub fn check(&self) -> Result<(), NtnConfigError> {
        if matches!(&self.phy, NtnPhy::Random { bler, .. } if bler.is_empty()) {
            return Err(NtnConfigError::NoBler);
        }
        for (name, time, positive) in self.times() {
            if positive && time == Duration::ZERO {
                return Err(NtnConfigError::Zero { name });
            }
            if time.as_nanos() > crate::link::HORIZON as u64 {
                return Err(NtnConfigError::TooLong { name });
            }
        }
        let tb = self.tb().0;
        let headers = u64::from(self.headers.pdu.0);
        if u64::from(tb) <= headers {
            return Err(NtnConfigError::NoRoom { tb, headers });
        }
        let RlcConfig::Am(am) = self.rlc else { return Ok(()) };
        if am.max_retx.is_some() {
            return Ok(());
        }
        if am.status_loss == Probability::ONE {
            return Err(NtnConfigError::Endless { what: "every status report is lost" });
        }
        if self.control.missed_grant == Probability::ONE {
            return Err(NtnConfigError::Endless { what: "every grant is missed" });
        }
        let erased = match &self.phy {
            NtnPhy::Random { bler, .. } => {
                bler.iter().take(self.transmissions()).all(|&p| p == Probability::ONE)
            }
            NtnPhy::Trace(trace) => trace.d().iter().all(|&d| d == 0),
        };
        match erased {
            true => Err(NtnConfigError::Endless { what: "every block is in error" }),
            false => Ok(()),
        }
    }

    /// How often a block that is never decoded is sent at most, repetitions included.
    fn transmissions(&self) -> usize {
        let repetitions = self.harq.repetitions.get() as usize;
        let control = &self.control;
        let heard =
            control.nack_to_ack == Probability::ONE && control.missed_feedback == Probability::ZERO;
        match self.harq.mode {
            HarqMode::Feedback { max_transmissions, .. } if !heard => {
                repetitions.saturating_mul(max_transmissions.get() as usize)
            }
            _ => repetitions,
        }
    }

    /// Every time, and whether it must be above zero.
    fn times(&self) -> Vec<(&'static str, Duration, bool)> {
        let mut times = Vec::new();
        if let NtnPhy::Random { slot, decode, .. } = &self.phy {
            times.extend([("the slot", *slot, true), ("the decoding time", *decode, true)]);
        }
        for propagation in [&self.propagation, &self.way_back] {
            if let Propagation::Fixed(delay) = propagation {
                times.push(("the propagation delay", *delay, false));
            }
        }
        if let HarqMode::Feedback { processing, .. } = self.harq.mode {
            times.push(("the processing time", processing, false));
        }
        match self.rlc {
            RlcConfig::Um(um) => times.push(("t-Reassembly", um.t_reassembly, false)),
            RlcConfig::Am(am) => times.extend([
                ("t-Reassembly", am.t_reassembly, false),
                ("t-StatusProhibit", am.t_status_prohibit, false),
                ("t-PollRetransmit", am.t_poll_retransmit, true),
                ("the status delay", am.status_delay, false),
            ]),
        }
        times.extend(self.pdcp.t_reordering.map(|time| ("t-Reordering", time, false)));
        times.extend(self.pdcp.discard.map(|time| ("discardTimer", time, true)));
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::ntn::{ControlErrors, HarqConfig};

    #[test]
    fn rates_that_no_transmission_meets_are_no_way_out() {
        let p = |p| Probability::new(p).unwrap();
        let with = |most: u32, control| {
            let mut config = NtnConfig::preset("nr-ntn-geo").unwrap();
            if let NtnPhy::Random { bler, .. } = &mut config.phy {
                *bler = [p(1.0), p(1.0), p(0.1)].into();
            }
            if let RlcConfig::Am(am) = &mut config.rlc {
                am.max_retx = None;
            }
            if let HarqMode::Feedback { max_transmissions, .. } = &mut config.harq.mode {
                *max_transmissions = most.try_into().unwrap();
            }
            NtnConfig { control, ..config }
        };
        let none = ControlErrors::default();
        let endless = Err(NtnConfigError::Endless { what: "every block is in error" });
        assert_eq!(with(3, none).check(), Ok(()));
        assert_eq!(with(2, none).check(), endless);
        // No feedback, no second transmission; with repetitions there is.
        let silent = with(3, none).without_feedback();
        assert_eq!(silent.check(), endless);
        let harq = HarqConfig { repetitions: 3.try_into().unwrap(), ..silent.harq };
        assert_eq!(NtnConfig { harq, ..silent }.check(), Ok(()));
        // Neither if every NACK is read as ACK, unless some feedback is missed.
        let misread = ControlErrors { nack_to_ack: p(1.0), ..none };
        assert_eq!(with(3, misread).check(), endless);
        let missed = ControlErrors { missed_feedback: p(0.1), ..misread };
        assert_eq!(with(3, missed).check(), Ok(()));
        let deaf = ControlErrors { missed_grant: p(1.0), ..none };
        let endless = Err(NtnConfigError::Endless { what: "every grant is missed" });
        assert_eq!(with(3, deaf).check(), endless);
    }
}
