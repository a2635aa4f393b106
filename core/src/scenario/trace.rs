//! `[trace]`: a PHY trace from a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Fault;
use crate::units::{BitRate, Bytes, Duration};

/// A PHY trace from a file.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// The file, relative to the folder of the scenario file.
    pub file: String,
    /// Its format, where the suffix does not tell.
    #[serde(default)]
    pub format: Option<TraceFormat>,
    /// Unit of the times in a bare two-column file.
    #[serde(default)]
    pub unit: Option<TimeUnit>,
    /// Payload of an LLDU, where the file does not say.
    #[serde(default)]
    pub lldu: Option<Bytes>,
    /// Which direction of a two-way measurement ("probes"): "up" or "down".
    #[serde(default)]
    pub direction: Option<Direction>,
    /// The file of loss flags that belongs to "delay-loss", relative to the same folder.
    #[serde(default)]
    pub losses: Option<String>,
    /// Time between the packets of "delay-loss".
    #[serde(default)]
    pub interval: Option<Duration>,
    /// Rate of the slots made from "probes" or "delay-loss"; without it, a slot a packet.
    #[serde(default)]
    pub rate: Option<BitRate>,
    /// Time between the slots of "loss" and "runs".
    #[serde(default)]
    pub slot: Option<Duration>,
    /// Decoding time of the slots of "loss" and "runs" that were received.
    #[serde(default)]
    pub decoding: Option<Duration>,
    /// Keep one slot in so many: a link shared fairly by so many users.
    #[serde(default = "one")]
    pub share: u32,
    /// Trace time that becomes time 0, before anything else.
    #[serde(default)]
    pub offset: Duration,
}

/// A format of trace files.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceFormat {
    /// CLIFT's own.
    Text,
    /// Two bare columns of times.
    Columns,
    /// CLIFT's own, as Parquet.
    Parquet,
    /// Delivery opportunities in milliseconds.
    Mahimahi,
    /// Per-packet delay and loss with a header.
    Probes,
    /// A file of delays and one of loss flags.
    DelayLoss,
    /// 0/1 strings.
    Loss,
    /// ns-2 run lengths.
    Runs,
}

/// Unit of bare numbers in a trace file.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum TimeUnit {
    S,
    Ms,
    Us,
    Ns,
}

/// One direction of a two-way measurement.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Direction {
    Up,
    Down,
}

impl Trace {
    /// That it can be read and leaves something; `key` is the section that it stands in.
    pub(super) fn check(&self, key: &str) -> Result<(), Fault> {
        if self.file.is_empty() {
            return Err(Fault::of(key, "file", "is empty; name a trace file"));
        }
        if self.share == 0 {
            return Err(Fault::of(key, "share", "keeps no slot at all; give 1 or more"));
        }
        if self.lldu.is_some_and(|lldu| lldu.0 == 0) {
            let cure = "an LLDU of 0 bytes carries nothing; give 1 B or more";
            return Err(Fault::of(key, "lldu", cure));
        }
        Ok(())
    }
}

fn one() -> u32 {
    1
}
