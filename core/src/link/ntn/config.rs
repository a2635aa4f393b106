//! What a 3GPP link is made of.

use std::num::NonZeroU32;
use std::sync::Arc;

use crate::link::Propagation;
use crate::link::ntn::control::ControlErrors;
use crate::trace::PhyTrace;
use crate::units::{Bytes, Duration, Probability};

/// A 3GPP NR link: what the transport blocks meet, HARQ, RLC and PDCP.
///
/// [`NtnConfig::preset`](crate::link::ntn::NtnConfig::preset) gives one to start from; every value
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
