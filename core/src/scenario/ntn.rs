//! 3GPP links in scenario files.

use std::num::NonZeroU32;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::delays::{self, Delays};
use super::link::Link;
use super::store::MakeError;
use super::traces::Traces;
use crate::config::Fault;
use crate::config::join;
use crate::link::Propagation;
use crate::scheme::Scheme;
use crate::scheme::nr::{
    AmConfig, HarqMode, NtnConfig, NtnConfigError, NtnPhy, PRESETS, RlcConfig,
};
use crate::trace::PhyTrace;
use crate::units::Probabilities;
use crate::units::{Bytes, Duration, Limit, Probability, Timer};

/// A 3GPP NR link, which runs with its traffic: HARQ, RLC and PDCP.
///
/// What is not given is the preset's; timers suit the delays and HARQ of the link. It takes the
/// place of a scheme over a trace. A `[trace]` or `[channel]` beside it says what becomes of the
/// transport block (TB) in each slot; its LLDU is the TB.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ntn {
    /// "nr-ntn-geo", "nr-ntn-leo600", "nr-ntn-leo1200" or "nr-terrestrial".
    pub preset: String,
    /// RLC mode.
    pub rlc: RlcMode,
    /// Length of a slot.
    pub slot: Option<Duration>,
    /// Size of a TB.
    pub tb: Option<Bytes>,
    /// Block error rate; or a list, one for each transmission of a TB given that all before it
    /// failed, the last of them for further ones too.
    pub bler: Option<Probabilities>,
    /// From the start of a slot to the decoded TB, without propagation.
    pub decoding: Option<Duration>,
    /// One-way delay, in both directions.
    pub delay: Option<Duration>,
    /// In its place delays that vary: a CSV file with columns `time_s` and `delay_ms`, as
    /// `clift constellation` writes them, relative to the folder of the scenario file. Each holds
    /// until the next; timers suit the longest.
    pub delays: Option<Delays>,
    /// One-way delay of the way back, of HARQ feedback and status reports; `delay` unless set.
    pub return_delay: Option<Duration>,
    /// In its place delays that vary, as `delays`.
    pub return_delays: Option<Delays>,
    /// With `delays`: what was sent earlier never arrives later; true unless set. Otherwise blocks
    /// overtake one another where the path gets shorter.
    pub keep_order: Option<bool>,
    /// Whether there is HARQ feedback; without it only repetitions are sent again.
    pub harq_feedback: bool,
    /// HARQ processes.
    pub processes: Option<NonZeroU32>,
    /// How often HARQ sends a TB at most.
    pub max_transmissions: Option<NonZeroU32>,
    /// Consecutive slots of each transmission.
    pub repetitions: Option<NonZeroU32>,
    /// From the decoded TB to the sender acting on its feedback, without propagation.
    pub processing: Option<Duration>,
    /// Probability that the receiver misses the grant of a transmission; never, unless set.
    pub missed_grant: Option<Probability>,
    /// Probability that HARQ feedback is not found, which counts as NACK; never, unless set.
    pub missed_feedback: Option<Probability>,
    /// Probability that an ACK is read as NACK; never, unless set.
    pub ack_to_nack: Option<Probability>,
    /// Probability that a NACK is read as ACK; never, unless set.
    pub nack_to_ack: Option<Probability>,
    /// Probability that an ACK is read where a missed grant left silence; never, unless set.
    pub dtx_to_ack: Option<Probability>,
    /// RLC window, packets.
    pub window: Option<NonZeroU32>,
    /// `t-Reassembly`.
    pub t_reassembly: Option<Duration>,
    /// `t-StatusProhibit` (AM).
    pub t_status_prohibit: Option<Duration>,
    /// `t-PollRetransmit` (AM).
    pub t_poll_retransmit: Option<Duration>,
    /// `pollPDU` (AM); "infinity" or 0 for none.
    pub poll_pdu: Option<Limit>,
    /// `pollByte` (AM), bytes; "infinity" or 0 for none.
    pub poll_bytes: Option<Limit>,
    /// `maxRetxThreshold` (AM); "infinity" or 0 for none.
    pub max_retx: Option<Limit>,
    /// From a status report being due to its leaving the receiver (AM).
    pub status_delay: Option<Duration>,
    /// Probability that a status report is lost (AM).
    pub status_loss: Option<Probability>,
    /// Whether PDCP delivers in order.
    pub in_order: bool,
    /// `t-Reordering`.
    pub t_reordering: Option<Timer>,
    /// `discardTimer`; infinity unless set.
    pub discard: Option<Timer>,
    /// Header of each packet.
    pub sdu_header: Option<Bytes>,
    /// Header of each piece of a packet in a TB.
    pub pdu_header: Option<Bytes>,
}

/// Modes of RLC.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RlcMode {
    /// Acknowledged mode.
    #[default]
    Am,
    /// Unacknowledged mode.
    Um,
}

impl Default for Ntn {
    fn default() -> Self {
        Self {
            preset: PRESETS[0].0.to_owned(),
            rlc: RlcMode::Am,
            slot: None,
            tb: None,
            bler: None,
            decoding: None,
            delay: None,
            delays: None,
            return_delay: None,
            return_delays: None,
            keep_order: None,
            harq_feedback: true,
            processes: None,
            max_transmissions: None,
            repetitions: None,
            processing: None,
            missed_grant: None,
            missed_feedback: None,
            ack_to_nack: None,
            nack_to_ack: None,
            dtx_to_ack: None,
            window: None,
            t_reassembly: None,
            t_status_prohibit: None,
            t_poll_retransmit: None,
            poll_pdu: None,
            poll_bytes: None,
            max_retx: None,
            status_delay: None,
            status_loss: None,
            in_order: true,
            t_reordering: None,
            discard: None,
            sdu_header: None,
            pdu_header: None,
        }
    }
}

impl Ntn {
    /// The delay one way, where it is not the preset's.
    pub(super) fn propagation(
        &self,
        traces: &dyn Traces,
    ) -> Result<Option<Propagation>, MakeError> {
        let keep_order = self.keep_order.unwrap_or(true);
        let varying = delays::propagation(self.delays.as_ref(), keep_order, traces)?;
        Ok(varying.or(self.delay.map(Into::into)))
    }

    /// The delay of the way back, where it is not that of the way there.
    pub(super) fn way_back(&self, traces: &dyn Traces) -> Result<Option<Propagation>, MakeError> {
        let keep_order = self.keep_order.unwrap_or(true);
        let varying = delays::propagation(self.return_delays.as_ref(), keep_order, traces)?;
        Ok(varying.or(self.return_delay.map(Into::into)))
    }

    /// The link, over a PHY trace or with random errors, and over a delay if it is not the preset's.
    ///
    /// # Errors
    /// If there is no such preset.
    pub(super) fn config(
        &self,
        phy: Option<PhyTrace>,
        delay: Option<Propagation>,
        back: Option<Propagation>,
    ) -> Result<NtnConfig, Fault> {
        let mut config = NtnConfig::preset(&self.preset).ok_or_else(|| {
            let names = PRESETS.map(|(name, _)| name).join(", ");
            Fault::new("preset", format!("unknown; write one of {names}"))
        })?;
        if self.rlc == RlcMode::Um {
            config = config.unacknowledged();
        }
        if let NtnPhy::Random { slot, tb, decode, bler } = &mut config.phy {
            set(slot, self.slot);
            set(tb, self.tb);
            set(decode, self.decoding);
            set(bler, self.bler.as_ref().map(|rates| rates.0.as_slice().into()));
        }
        if let Some(phy) = phy {
            config.phy = NtnPhy::Trace(Arc::new(phy));
        }
        set(&mut config.propagation, delay.clone());
        set(&mut config.way_back, back.or(delay));
        set(&mut config.harq.repetitions, self.repetitions);
        if let HarqMode::Feedback { processes, max_transmissions, processing } =
            &mut config.harq.mode
        {
            set(processes, self.processes);
            set(max_transmissions, self.max_transmissions);
            set(processing, self.processing);
        }
        if !self.harq_feedback {
            config.harq.mode = HarqMode::NoFeedback;
        }
        let control = &mut config.control;
        set(&mut control.missed_grant, self.missed_grant);
        set(&mut control.missed_feedback, self.missed_feedback);
        set(&mut control.ack_to_nack, self.ack_to_nack);
        set(&mut control.nack_to_ack, self.nack_to_ack);
        set(&mut control.dtx_to_ack, self.dtx_to_ack);
        set(&mut config.headers.sdu, self.sdu_header);
        set(&mut config.headers.pdu, self.pdu_header);
        let mut config = config.with_fitting_timers();
        config.pdcp.in_order = self.in_order;
        config.pdcp.discard = self.discard.and_then(Timer::get);
        set(&mut config.pdcp.t_reordering, self.t_reordering.map(Timer::get));
        match &mut config.rlc {
            RlcConfig::Um(um) => {
                set(&mut um.window, self.window);
                set(&mut um.t_reassembly, self.t_reassembly);
            }
            RlcConfig::Am(am) => self.change_am(am),
        }
        Ok(config)
    }

    fn change_am(&self, am: &mut AmConfig) {
        set(&mut am.window, self.window);
        set(&mut am.t_reassembly, self.t_reassembly);
        set(&mut am.t_status_prohibit, self.t_status_prohibit);
        set(&mut am.t_poll_retransmit, self.t_poll_retransmit);
        set(&mut am.poll_pdu, self.poll_pdu.map(limit));
        set(&mut am.poll_byte, self.poll_bytes.map(limit));
        set(&mut am.max_retx, self.max_retx.map(limit));
        set(&mut am.status_delay, self.status_delay);
        set(&mut am.status_loss, self.status_loss);
    }

    /// That there can be such a link, and nothing beside it contradicts it. `key` is the section it
    /// stands in, `traced` whether a trace says what becomes of the TBs.
    pub(super) fn check(
        &self,
        key: &str,
        scheme: Option<Scheme>,
        link: &Link,
        traced: bool,
    ) -> Result<(), Fault> {
        let own = join(key, "ntn");
        let varies = self.delays.as_ref().or(self.return_delays.as_ref());
        delays::check(&own, self.delay, self.delays.as_ref(), false)?;
        delays::check_order(&own, varies, self.keep_order.is_some())?;
        if self.return_delay.is_some() && self.return_delays.is_some() {
            let cure = "`return_delay` and `return_delays` say the same; give one";
            return Err(Fault::of(&own, "return_delays", cure));
        }
        let config =
            self.config(None, self.delay.map(Into::into), self.return_delay.map(Into::into));
        let config = config.map_err(|fault| fault.within(&own))?;
        config.check().map_err(|error| Self::problem(key, false, error))?;
        self.check_modes(&own)?;
        let drawn = [
            ("slot", self.slot.is_some()),
            ("tb", self.tb.is_some()),
            ("bler", self.bler.is_some()),
            ("decoding", self.decoding.is_some()),
        ];
        if let Some((name, _)) = drawn.iter().find(|(_, given)| *given && traced) {
            let cure = "the trace or channel beside it says that; leave it out";
            return Err(Fault::of(&own, name, cure));
        }
        if scheme.is_some_and(|scheme| scheme != Scheme::None) {
            let cure = "[ntn] has its own retransmissions; leave one of them out";
            return Err(Fault::of(key, "scheme", cure));
        }
        // A header of each LLDU takes room in the transport blocks.
        if let Some(name) = link.of_slots().find(|name| *name != "lldu_header") {
            let cure = "is not for [ntn], which has blocks and a delay of its own; leave it out";
            return Err(Fault::of(&join(key, "link"), name, cure));
        }
        Ok(())
    }

    /// That nothing is given for a mode that is off.
    fn check_modes(&self, own: &str) -> Result<(), Fault> {
        let of_feedback = [
            ("processes", self.processes.is_some()),
            ("max_transmissions", self.max_transmissions.is_some()),
            ("processing", self.processing.is_some()),
        ];
        let of_am = [
            ("t_status_prohibit", self.t_status_prohibit.is_some()),
            ("t_poll_retransmit", self.t_poll_retransmit.is_some()),
            ("poll_pdu", self.poll_pdu.is_some()),
            ("poll_bytes", self.poll_bytes.is_some()),
            ("max_retx", self.max_retx.is_some()),
            ("status_delay", self.status_delay.is_some()),
            ("status_loss", self.status_loss.is_some()),
        ];
        let given = |keys: &[(&'static str, bool)]| {
            keys.iter().find(|(_, given)| *given).map(|(name, _)| *name)
        };
        if let Some(name) = given(&of_feedback).filter(|_| !self.harq_feedback) {
            let cure = "is of HARQ feedback, which harq_feedback = false switches off; leave one of them out";
            return Err(Fault::of(own, name, cure));
        }
        if let Some(name) = given(&of_am).filter(|_| self.rlc == RlcMode::Um) {
            let cure = "RLC UM has none; leave it out or write rlc = \"am\"";
            return Err(Fault::of(own, name, cure));
        }
        Ok(())
    }

    /// The words of a scenario file for what the link in the section `key` says; `traced`: its
    /// blocks are the slots of a trace.
    pub(super) fn problem(key: &str, traced: bool, error: NtnConfigError) -> Fault {
        let own = join(key, "ntn");
        match error {
            NtnConfigError::NoRoom { .. } if traced => {
                let message = format!("{error} (`lldu` of the trace or channel beside it)");
                Fault::new(&own, message)
            }
            NtnConfigError::NoRoom { .. } => Fault::of(&own, "tb", error.to_string()),
            NtnConfigError::NoBler => Fault::of(&own, "bler", error.to_string()),
            _ => Fault::new(&own, error.to_string()),
        }
    }
}

/// A limit of RLC; 0 is none, too.
fn limit(limit: Limit) -> Option<NonZeroU32> {
    limit.get().and_then(NonZeroU32::new)
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
