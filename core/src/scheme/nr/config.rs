//! What a 3GPP link is made of.

use std::num::NonZeroU32;
use std::sync::Arc;

use thiserror::Error;

use crate::link::Propagation;
use crate::trace::PhyTrace;
use crate::units::{Bytes, Duration, Probability};

/// A 3GPP NR link: what the transport blocks meet, HARQ, RLC and PDCP.
///
/// [`NtnConfig::preset`](crate::scheme::nr::NtnConfig::preset) gives one to start from; every value
/// can be changed.
#[derive(Clone, Debug)]
pub struct NtnConfig {
    /// Slots, and what becomes of a transport block in each.
    pub phy: NtnPhy,
    /// One-way delay from sender to receiver.
    pub propagation: Propagation,
    /// One-way delay of feedback from receiver to sender.
    pub way_back: Propagation,
    /// How transport blocks are repeated.
    pub harq: HarqConfig,
    /// How often grants and HARQ feedback go wrong.
    pub control: ControlErrors,
    /// How packets are cut into transport blocks and repaired above HARQ.
    pub rlc: RlcConfig,
    /// In which order packets leave the link.
    pub pdcp: PdcpConfig,
    /// Bytes that carry no packet.
    pub headers: NtnHeaders,
}

/// The slots of the link: each carries one transport block (TB) or nothing.
#[derive(Clone, Debug)]
pub enum NtnPhy {
    /// A PHY trace: slot times, what is erased, decoding times; the LLDU is the TB. Every
    /// transmission of a TB, the first or a later one, meets the fate of the slot it is sent in.
    Trace(Arc<PhyTrace>),
    /// A slot at every multiple of `slot`, and random errors.
    Random {
        /// Length of a slot.
        slot: Duration,
        /// Bytes of a TB.
        tb: Bytes,
        /// From the start of the slot until the TB is decoded, without propagation: the slot itself
        /// and the receiver's processing.
        decode: Duration,
        /// Probability that the i-th transmission of a TB fails given that all before it did; the
        /// last value also holds for further ones. Values that fall say what combining gains.
        bler: Arc<[Probability]>,
    },
}

/// HARQ (TS 38.321 sections 5.3.2 and 5.4.2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HarqConfig {
    /// Whether the sender waits for feedback.
    pub mode: HarqMode,
    /// Consecutive slots that a transmission takes (slot aggregation, TS 38.214 sections 5.1.2.1
    /// and 6.1.2.1); 1: none. Each counts as one for the combining gain.
    pub repetitions: NonZeroU32,
}

/// What the sender knows of a transport block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HarqMode {
    /// Stop and wait in each of several processes.
    Feedback {
        /// Processes: 16, or 32 with the extension of Release 17 (TS 38.331,
        /// `nrofHARQ-ProcessesForPDSCH-v1700`).
        processes: NonZeroU32,
        /// How often a TB is sent at most before it is given up.
        max_transmissions: NonZeroU32,
        /// From the decoding of a TB to its feedback leaving the receiver, and from there, after
        /// the way back, to the sender being able to act: both together.
        processing: Duration,
    },
    /// Feedback disabled (TS 38.331, `downlinkHARQ-FeedbackDisabled-r17`; uplink mode B): a
    /// process is free at once, and a TB is never sent again after its repetitions.
    NoFeedback,
}

/// How often control goes wrong; never, unless set.
///
/// A transmission starts with a grant (DCI on the PDCCH) and, with HARQ feedback, ends with an ACK
/// or a NACK (on the PUCCH) or, if its grant was missed, with nothing (DTX). Each grant and each
/// feedback is in error by itself; repetitions of a transmission share both. What base stations and
/// terminals must reach at their reference SNR: 1 % of grants missed (TS 38.101-4 section 5.3), 1 %
/// of DTX read as ACK and of ACKs missed, 0.1 % of NACKs read as ACK (TS 38.104 sections 8.3.1 to
/// 8.3.3).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlErrors {
    /// The receiver misses a grant: it neither uses the transmission nor sends feedback.
    pub missed_grant: Probability,
    /// The sender does not find the feedback: DTX, which it takes for a NACK.
    pub missed_feedback: Probability,
    /// An ACK that is found is read as NACK: the TB is sent again in vain.
    pub ack_to_nack: Probability,
    /// A NACK that is found is read as ACK: HARQ loses the TB.
    pub nack_to_ack: Probability,
    /// No feedback was sent and an ACK is read: HARQ loses the TB, unless it was decoded before.
    pub dtx_to_ack: Probability,
}

impl ControlErrors {
    /// Whether nothing ever goes wrong.
    pub fn are_off(&self) -> bool {
        *self == Self::default()
    }
}

/// RLC (TS 38.322).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RlcConfig {
    /// Unacknowledged mode.
    Um(UmConfig),
    /// Acknowledged mode.
    Am(AmConfig),
}

/// RLC unacknowledged mode (TS 38.322 section 5.2.2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UmConfig {
    /// `UM_Window_Size`: 32 with 6-bit, 2048 with 12-bit sequence numbers (section 7.2).
    pub window: NonZeroU32,
    /// `t-Reassembly`.
    pub t_reassembly: Duration,
}

/// RLC acknowledged mode (TS 38.322 section 5.2.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AmConfig {
    /// `AM_Window_Size`: 2048 with 12-bit, 131072 with 18-bit sequence numbers (section 7.2).
    pub window: NonZeroU32,
    /// `t-Reassembly`.
    pub t_reassembly: Duration,
    /// `t-StatusProhibit`: least time between two status reports.
    pub t_status_prohibit: Duration,
    /// `t-PollRetransmit`: when a poll without answer is repeated.
    pub t_poll_retransmit: Duration,
    /// `pollPDU`: a poll after so many PDUs; `None`: infinity.
    pub poll_pdu: Option<NonZeroU32>,
    /// `pollByte`: a poll after so many bytes; `None`: infinity.
    pub poll_byte: Option<NonZeroU32>,
    /// `maxRetxThreshold`: how often a packet is sent again before it is given up; `None`: for
    /// ever.
    pub max_retx: Option<NonZeroU32>,
    /// From a status report being due to its leaving the receiver: scheduling of the other
    /// direction.
    pub status_delay: Duration,
    /// Probability that a status report is lost on the way back.
    pub status_loss: Probability,
}

/// PDCP (TS 38.323 section 5.2.2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PdcpConfig {
    /// Whether packets leave in the order in which they came; `false`:
    /// `outOfOrderDelivery` is configured.
    pub in_order: bool,
    /// `t-Reordering`: how long a missing packet is waited for; `None`: infinity.
    pub t_reordering: Option<Duration>,
    /// `discardTimer`: a packet none of which was sent this long after it came is dropped; `None`:
    /// infinity.
    pub discard: Option<Duration>,
}

/// Bytes of headers.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct NtnHeaders {
    /// Sent with every packet: PDCP and SDAP.
    pub sdu: Bytes,
    /// Sent with every RLC PDU: MAC subheader and RLC header. A PDU has at least one byte besides.
    pub pdu: Bytes,
}

impl NtnConfig {
    /// Bytes of a transport block.
    pub fn tb(&self) -> Bytes {
        match &self.phy {
            NtnPhy::Trace(trace) => trace.lldu(),
            NtnPhy::Random { tb, .. } => *tb,
        }
    }
}

/// A 3GPP link that cannot be.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum NtnConfigError {
    /// A time that must be above zero.
    #[error("{name} of 0 ns; give a time above 0")]
    Zero {
        /// Name of the time.
        name: &'static str,
        /// Field that holds the time.
        field: &'static str,
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
        /// Name of the time.
        name: &'static str,
        /// Field that holds the time.
        field: &'static str,
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
        for (field, name, time, positive) in self.times() {
            if positive && time == Duration::ZERO {
                return Err(NtnConfigError::Zero { name, field });
            }
            if time.as_nanos() > crate::link::HORIZON as u64 {
                return Err(NtnConfigError::TooLong { name, field });
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

    /// Field, name and value of every time, and whether it must be above zero.
    fn times(&self) -> Vec<(&'static str, &'static str, Duration, bool)> {
        let mut times = Vec::new();
        if let NtnPhy::Random { slot, decode, .. } = &self.phy {
            times.extend([
                ("slot", "the slot", *slot, true),
                ("decoding", "the decoding time", *decode, true),
            ]);
        }
        for propagation in [&self.propagation, &self.way_back] {
            if let Propagation::Fixed(delay) = propagation {
                times.push(("delay", "the propagation delay", *delay, false));
            }
        }
        if let HarqMode::Feedback { processing, .. } = self.harq.mode {
            times.push(("processing", "the processing time", processing, false));
        }
        match self.rlc {
            RlcConfig::Um(um) => {
                times.push(("t_reassembly", "t-Reassembly", um.t_reassembly, false))
            }
            RlcConfig::Am(am) => times.extend([
                ("t_reassembly", "t-Reassembly", am.t_reassembly, false),
                ("t_status_prohibit", "t-StatusProhibit", am.t_status_prohibit, false),
                ("t_poll_retransmit", "t-PollRetransmit", am.t_poll_retransmit, true),
                ("status_delay", "the status delay", am.status_delay, false),
            ]),
        }
        times.extend(
            self.pdcp.t_reordering.map(|time| ("t_reordering", "t-Reordering", time, false)),
        );
        times.extend(self.pdcp.discard.map(|time| ("discard", "discardTimer", time, true)));
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::nr::{ControlErrors, HarqConfig};

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
