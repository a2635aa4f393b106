//! What a 3GPP link is made of.

use std::num::NonZeroU32;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::{Fault, first_changed_key};
use crate::link::reordering::behind;
use crate::link::{BuiltLink, HORIZON, Propagation, TraceClock};
use crate::scheme::medium::span_of;
use crate::scheme::ntn::NtnLink;
use crate::scheme::ntn::combining::SoftCombining;
use crate::scheme::{Building, Medium};
use crate::tagged;
use crate::trace::PhyTrace;
use crate::units::{Bytes, Duration, Limit, Probability, Timer};

/// A 3GPP NR link to be built: the fate of transport blocks, HARQ, RLC and PDCP.
///
/// [`NtnConfig::preset`](crate::scheme::ntn::NtnConfig::preset) gives one to start from; every
/// value can be changed.
#[derive(Clone, Debug)]
pub struct NtnConfig {
    /// Slots, and what becomes of a transport block in each.
    pub phy: NtnPhy,
    /// How the receiver combines the transmissions of a TB over a trace; `None`: each meets the fate
    /// of its slot.
    pub combining: Option<SoftCombining>,
    /// One-way delay from sender to receiver.
    pub propagation: Propagation,
    /// One-way delay of feedback from receiver to sender.
    pub way_back: Propagation,
    /// `K_offset` (TS 38.213 sections 4.2 and 9.2.3, TS 38.300 section 16.14.2): the sender reacts
    /// to the receiver this much later than it would without propagation, for any momentary delay.
    /// At least the longest round trip. `None`: the momentary round trip.
    pub k_offset: Option<Duration>,
    /// How transport blocks are repeated.
    pub harq: HarqConfig,
    /// The grants of an uplink; `None`: new data may use every slot.
    pub uplink: Option<UplinkConfig>,
    /// Handovers; `None`: never.
    pub handovers: Option<Handovers>,
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

/// Knowledge of the sender about a transport block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HarqMode {
    /// Stop and wait in each of several processes.
    Feedback {
        /// Processes: 16, or 32 with the extension of Release 17 (TS 38.331,
        /// `nrofHARQ-ProcessesForPDSCH-v1700`).
        processes: NonZeroU32,
        /// How many of them have their feedback disabled: a TB takes one of the others if one is
        /// free, else one of these, which is free at once and never sends it again after its
        /// repetitions (TS 38.331, bits of `downlinkHARQ-FeedbackDisabled-r17` that are set; of
        /// `uplinkHARQ-mode-r17`, mode B, that are not).
        silent: u32,
        /// How often a TB is sent at most before it is given up.
        max_transmissions: NonZeroU32,
        /// From the decoding of a TB to its feedback leaving the receiver, and from there, after
        /// the way back, to the sender being able to act: both together.
        processing: Duration,
    },
    /// Feedback disabled in all processes.
    NoFeedback,
}

/// Handovers at equal intervals, with an interruption of service each.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Handovers {
    /// Period; the first is one period after the start.
    pub every: Duration,
    /// From each until slots can be used again; shorter.
    pub interruption: Duration,
}

/// An uplink that needs grants, each for one TB of new data in one slot.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UplinkConfig {
    /// How the terminal says that data waits.
    pub asking: Asking,
    /// Whether each TB says how much still waits.
    pub buffer_status: bool,
    /// From a request or a decoded report until the terminal acts on the grant, without
    /// propagation.
    pub processing: Duration,
    /// `retxBSR-Timer`; `None`: the least value of the standard that is not below a round trip.
    pub retx_bsr: Option<Duration>,
}

/// How a terminal without a grant says that data waits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Asking {
    /// By a scheduling request (TS 38.321 section 5.4.4).
    Request {
        /// From one occasion to the next.
        every: Duration,
        /// TBs that the answer grants.
        blocks: NonZeroU32,
    },
    /// In a configured grant (TS 38.321 section 5.8.2).
    Configured {
        /// From one to the next.
        every: Duration,
    },
}

/// How often control goes wrong; never, unless set.
///
/// A transmission starts with a grant (DCI on the PDCCH) and, with HARQ feedback, ends with an ACK
/// or a NACK (on the PUCCH) or, if its grant was missed, with nothing (DTX). Each grant and each
/// feedback is in error independently; repetitions of a transmission share both. What base stations
/// and terminals must reach at their reference SNR: 1 % of grants missed (TS 38.101-4 section 5.3),
/// 1 % of DTX read as ACK and of ACKs missed, 0.1 % of NACKs read as ACK (TS 38.104 sections 8.3.1
/// to 8.3.3).
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct ControlErrors {
    /// Probability that the receiver misses the grant of a transmission, neither uses it nor sends
    /// feedback.
    pub missed_grant: Probability,
    /// Probability that HARQ feedback is not found, which counts as NACK.
    pub missed_feedback: Probability,
    /// Probability that an ACK that is found is read as NACK: the TB is sent again in vain.
    pub ack_to_nack: Probability,
    /// Probability that a NACK that is found is read as ACK: HARQ loses the TB.
    pub nack_to_ack: Probability,
    /// Probability that an ACK is read where a missed grant left silence: HARQ loses the TB, unless
    /// it was decoded before.
    pub dtx_to_ack: Probability,
}

impl ControlErrors {
    /// Whether nothing ever goes wrong.
    pub fn are_off(&self) -> bool {
        *self == Self::default()
    }

    /// Whether no transmission ever has its grant.
    fn are_certain(&self) -> bool {
        self.missed_grant == Probability::ONE
    }
}

/// RLC (TS 38.322).
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Serialize)]
#[serde(tag = "rlc", rename_all = "lowercase")]
pub enum RlcConfig {
    /// Acknowledged mode.
    Am(AmConfig),
    /// Unacknowledged mode.
    Um(UmConfig),
}

tagged!(RlcConfig by "rlc" usual "am" { "am" => Am(AmConfig), "um" => Um(UmConfig) });

impl Default for RlcConfig {
    fn default() -> Self {
        Self::Am(AmConfig::default())
    }
}

/// RLC unacknowledged mode (TS 38.322 section 5.2.2).
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
#[schemars(inline)]
pub struct UmConfig {
    /// RLC window, packets.
    // UM_Window_Size: 32 with 6-bit, 2048 with 12-bit sequence numbers (section 7.2).
    pub window: NonZeroU32,
    /// `t-Reassembly`.
    pub t_reassembly: Option<Duration>,
}

impl Default for UmConfig {
    fn default() -> Self {
        Self { window: nonzero(2048), t_reassembly: None }
    }
}

/// RLC acknowledged mode (TS 38.322 section 5.2.3).
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
#[schemars(inline)]
pub struct AmConfig {
    /// RLC window, packets.
    // AM_Window_Size: 2048 with 12-bit, 131072 with 18-bit sequence numbers (section 7.2).
    pub window: NonZeroU32,
    /// `t-Reassembly`.
    pub t_reassembly: Option<Duration>,
    /// `t-StatusProhibit` (AM): least time between two status reports.
    pub t_status_prohibit: Option<Duration>,
    /// `t-PollRetransmit` (AM): when a poll without answer is repeated.
    pub t_poll_retransmit: Option<Duration>,
    /// `pollPDU` (AM): a poll after this many PDUs; "infinity" or 0 for none.
    pub poll_pdu: Limit,
    /// `pollByte` (AM): a poll after this many bytes; "infinity" or 0 for none.
    pub poll_bytes: Limit,
    /// `maxRetxThreshold` (AM): how often a packet is sent again before it is given up; "infinity"
    /// or 0 for ever.
    pub max_retx: Limit,
    /// From a status report being due to its leaving the receiver (AM): scheduling of the other
    /// direction; a slot of the preset unless set.
    pub status_delay: Option<Duration>,
    /// Probability that a status report is lost (AM).
    pub status_loss: Probability,
}

impl Default for AmConfig {
    fn default() -> Self {
        Self {
            window: nonzero(131_072),
            t_reassembly: None,
            t_status_prohibit: None,
            t_poll_retransmit: None,
            poll_pdu: Limit::AtMost(32),
            poll_bytes: Limit::AtMost(25_000),
            max_retx: Limit::AtMost(32),
            status_delay: None,
            status_loss: Probability::ZERO,
        }
    }
}

/// A limit of RLC; 0 is none, too.
pub(super) fn most(limit: Limit) -> Option<NonZeroU32> {
    limit.get().and_then(NonZeroU32::new)
}

/// `n` is written here and not 0.
pub(super) fn nonzero(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).unwrap_or(NonZeroU32::MIN)
}

/// PDCP (TS 38.323 section 5.2.2).
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct PdcpConfig {
    /// Whether PDCP delivers in order.
    // Unless `outOfOrderDelivery` is configured.
    pub in_order: bool,
    /// `t-Reordering`: how long a missing packet is waited for.
    pub t_reordering: Option<Timer>,
    /// `discardTimer`: a packet none of which was sent this long after it came is dropped.
    pub discard: Timer,
}

impl Default for PdcpConfig {
    fn default() -> Self {
        Self { in_order: true, t_reordering: None, discard: Timer::Infinite }
    }
}

/// Bytes of headers.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct NtnHeaders {
    /// Header of each packet: PDCP and SDAP.
    #[serde(rename = "sdu_header")]
    pub sdu: Bytes,
    /// Header of each piece of a packet in a TB: MAC subheader and RLC header. A piece has at least
    /// one byte of data.
    #[serde(rename = "pdu_header")]
    pub pdu: Bytes,
}

impl Default for NtnHeaders {
    /// PDCP with 18 bits (TS 38.323 section 6.2.2.3); MAC subheader and RLC header of 3 bytes each
    /// (TS 38.321 section 6.1.2, TS 38.322 section 6.2.2.4).
    fn default() -> Self {
        Self { sdu: Bytes(3), pdu: Bytes(6) }
    }
}

/// Field, name and value of a time, and whether it must be above zero.
type CheckedTime = (&'static str, &'static str, Duration, bool);

impl NtnConfig {
    /// The same over delays on the clock of a trace ([`Medium::on_clock`]).
    pub(super) fn at_clock(&self, clock: TraceClock) -> Self {
        let propagation = self.propagation.on_clock(clock);
        let way_back = self.way_back.on_clock(clock);
        Self { propagation, way_back, ..self.clone() }
    }

    /// Bytes of a transport block.
    pub fn tb(&self) -> Bytes {
        match &self.phy {
            NtnPhy::Trace(trace) => trace.lldu(),
            NtnPhy::Random { tb, .. } => *tb,
        }
    }

    /// Whether there can be such a link.
    ///
    /// # Errors
    /// The first fault found: its key in scenario files, and what to do.
    pub fn check(&self) -> Result<(), Fault> {
        if matches!(&self.phy, NtnPhy::Random { bler, .. } if bler.is_empty()) {
            let cure = "no block error probability; give at least that of the first transmission";
            return Err(Fault::new("bler", cure));
        }
        if let NtnPhy::Trace(trace) = &self.phy
            && trace.sizes().column().is_some()
        {
            let (least, most) = (trace.sizes().least().0, trace.sizes().most().0);
            return Err(Fault::at(format!(
                "slots from {least} to {most} bytes: transport blocks have one size; write a trace with one size for all (`clift trace convert FILE OUTPUT --lldu BYTES`), which changes its rate"
            )));
        }
        if let Some(SoftCombining { information, .. }) = &self.combining
            && !matches!(&self.phy, NtnPhy::Trace(trace) if trace.len() == information.values().len())
        {
            let cure = "needs a trace, and its mutual information in every slot";
            return Err(Fault::new("combining", cure));
        }
        Self::check_times(self.times())?;
        Self::check_times(self.timer_times())?;
        if self.uplink.is_some()
            && let Some(name) = first_changed_key(&self.control)
        {
            let cure =
                "is of grants and feedback of a downlink; leave it out, or leave `grants` out";
            return Err(Fault::new(&name, cure));
        }
        if let Some(Handovers { every, interruption }) = self.handovers
            && interruption >= every
        {
            let cure = format!("lasts until the next handover, {every} later; give a shorter one");
            return Err(Fault::new("interruption", cure));
        }
        let round_trip = self.propagation.longest() + self.way_back.longest();
        if self.k_offset.is_some_and(|offset| offset < round_trip) {
            let cure = format!(
                "is below the longest round trip, {round_trip}, so that an answer would be due before it can be there; give that or more, or 0 for none"
            );
            return Err(Fault::new("k_offset", cure));
        }
        if let HarqMode::Feedback { processes, silent, .. } = self.harq.mode
            && silent >= processes.get()
        {
            let cure = format!(
                "leaves none of {processes} processes with feedback; give fewer, or harq_feedback = false"
            );
            return Err(Fault::new("silent_processes", cure));
        }
        let (tb, headers) = (self.tb().0, self.headers.pdu.0);
        if tb <= headers {
            let cure = format!(
                "a transport block of {tb} bytes has no room beside headers of {headers}; give larger blocks"
            );
            return Err(match &self.phy {
                NtnPhy::Random { .. } => Fault::new("tb", cure),
                NtnPhy::Trace(_) => Fault::at(cure + " (`lldu` of the trace or channel beside it)"),
            });
        }
        match self.endless() {
            Some(what) => Err(Fault::at(format!(
                "RLC AM without a limit of retransmissions over a link that lets nothing through ({what}); give max_retx"
            ))),
            None => Ok(()),
        }
    }

    /// A channel that lets nothing through, on which RLC would send for ever.
    fn endless(&self) -> Option<&'static str> {
        let RlcConfig::Am(am) = self.rlc else { return None };
        if most(am.max_retx).is_some() {
            return None;
        }
        if am.status_loss == Probability::ONE {
            return Some("every status report is lost");
        }
        if self.control.are_certain() {
            return Some("every grant is missed");
        }
        let erased = match &self.phy {
            NtnPhy::Random { bler, .. } => {
                bler.iter().take(self.transmissions()).all(|&p| p == Probability::ONE)
            }
            NtnPhy::Trace(trace) => match &self.combining {
                None => trace.d().iter().all(|&d| d == 0),
                Some(soft) => soft.is_dead(self.transmissions()),
            },
        };
        erased.then_some("every block is in error")
    }

    /// How often a block that is never decoded is sent at most, repetitions included.
    fn transmissions(&self) -> usize {
        let repetitions = self.harq.repetitions.get() as usize;
        let control = &self.control;
        let heard =
            control.nack_to_ack == Probability::ONE && control.missed_feedback == Probability::ZERO;
        match self.harq.mode {
            // A block in a process without feedback may not be sent a second time.
            HarqMode::Feedback { max_transmissions, silent: 0, .. } if !heard => {
                repetitions.saturating_mul(max_transmissions.get() as usize)
            }
            _ => repetitions,
        }
    }

    /// Checks times, so that the sum of a few of them is in reach.
    fn check_times(times: Vec<CheckedTime>) -> Result<(), Fault> {
        for (field, name, time, positive) in times {
            if positive && time == Duration::ZERO {
                let cure = format!("{name} of 0 ns; give a time above 0");
                return Err(Fault::new(field, cure));
            }
            if time.as_nanos() > HORIZON as u64 / 4 {
                let cure = format!("{name} is over 2^59 ns (18 years); check the unit");
                return Err(Fault::new(field, cure));
            }
        }
        Ok(())
    }

    /// All times but the timers.
    fn times(&self) -> Vec<CheckedTime> {
        let mut times = Vec::new();
        if let NtnPhy::Random { slot, decode, .. } = &self.phy {
            times.extend([
                ("slot", "the slot", *slot, true),
                ("decoding", "the decoding time", *decode, true),
            ]);
        }
        let ways = [
            (&self.propagation, ["delay", "delays"]),
            (&self.way_back, ["return_delay", "return_delays"]),
        ];
        for (propagation, [fixed, varying]) in ways {
            let field = if matches!(propagation, Propagation::Fixed(_)) { fixed } else { varying };
            times.push((field, "the propagation delay", propagation.longest(), false));
        }
        if let Some(offset) = self.k_offset {
            times.push(("k_offset", "K_offset", offset, false));
        }
        if let HarqMode::Feedback { processing, .. } = self.harq.mode {
            times.push(("processing", "the processing time", processing, false));
        }
        if let Some(uplink) = self.uplink {
            times.push(match uplink.asking {
                Asking::Request { every, .. } => {
                    ("sr_period", "the time between requests", every, true)
                }
                Asking::Configured { every } => {
                    ("cg_period", "the time between configured grants", every, true)
                }
            });
            times.push(("processing", "the processing time", uplink.processing, false));
        }
        if let Some(Handovers { every, interruption }) = self.handovers {
            times.extend([
                ("handover_every", "the time between handovers", every, true),
                ("interruption", "the interruption", interruption, false),
            ]);
        }
        times
    }

    /// The timers, given or derived from times in reach.
    fn timer_times(&self) -> Vec<CheckedTime> {
        let timers = self.timers();
        let mut times = vec![("t_reassembly", "t-Reassembly", timers.reassembly, false)];
        let retx_bsr = self.uplink.map(|uplink| self.retx_bsr(uplink));
        times.extend(retx_bsr.map(|time| ("retx_bsr", "retxBSR-Timer", time, true)));
        if let RlcConfig::Am(am) = self.rlc {
            let status_delay = am.status_delay.unwrap_or_default();
            times.extend([
                ("t_status_prohibit", "t-StatusProhibit", timers.status_prohibit, false),
                ("t_poll_retransmit", "t-PollRetransmit", timers.poll_retransmit, true),
                ("status_delay", "the status delay", status_delay, false),
            ]);
        }
        let reordering =
            timers.reordering.map(|time| ("t_reordering", "t-Reordering", time, false));
        times.extend(reordering);
        times.extend(self.pdcp.discard.get().map(|time| ("discard", "discardTimer", time, true)));
        times
    }
}

impl Medium for NtnConfig {
    fn build(self: Arc<Self>, with: Building<'_>) -> Result<BuiltLink, Fault> {
        let Building { link, usage, seed, number } = with;
        link.check_own(true)?;
        Ok(behind(NtnLink::new(&self, usage, seed, number)?, link.reorder))
    }

    fn on_clock(&self, clock: TraceClock) -> Option<Arc<dyn Medium>> {
        Some(Arc::new(self.at_clock(clock)))
    }

    fn way_back(&self) -> Propagation {
        self.way_back.clone()
    }

    fn span(&self) -> Option<(u64, u64)> {
        match &self.phy {
            NtnPhy::Trace(phy) => Some(span_of(phy)),
            NtnPhy::Random { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::ntn::{ControlErrors, HarqConfig};

    #[test]
    fn rates_that_no_transmission_meets_are_no_way_out() {
        let p = |p| Probability::new(p).unwrap();
        let with = |most: u32, control| {
            let mut config = NtnConfig::preset("nr-ntn-geo").unwrap();
            if let NtnPhy::Random { bler, .. } = &mut config.phy {
                *bler = [p(1.0), p(1.0), p(0.1)].into();
            }
            if let RlcConfig::Am(am) = &mut config.rlc {
                am.max_retx = Limit::Unlimited;
            }
            if let HarqMode::Feedback { max_transmissions, .. } = &mut config.harq.mode {
                *max_transmissions = most.try_into().unwrap();
            }
            NtnConfig { control, ..config }
        };
        let none = ControlErrors::default();
        let endless = Some("every block is in error");
        assert_eq!(with(3, none).endless(), None);
        assert_eq!(with(2, none).endless(), endless);
        // No feedback, no second transmission; with repetitions there is.
        let mut silent = with(3, none);
        silent.harq.mode = HarqMode::NoFeedback;
        assert_eq!(silent.endless(), endless);
        let harq = HarqConfig { repetitions: 3.try_into().unwrap(), ..silent.harq };
        assert_eq!(NtnConfig { harq, ..silent }.endless(), None);
        // Neither if every NACK is read as ACK, unless some feedback is missed.
        let misread = ControlErrors { nack_to_ack: p(1.0), ..none };
        assert_eq!(with(3, misread).endless(), endless);
        let missed = ControlErrors { missed_feedback: p(0.1), ..misread };
        assert_eq!(with(3, missed).endless(), None);
        let deaf = ControlErrors { missed_grant: p(1.0), ..none };
        let endless = Some("every grant is missed");
        assert_eq!(with(3, deaf).endless(), endless);
    }
}
