//! What a run needs of traces: the keys under which they are made once.

use serde::Serialize;

use super::channel::Slots;
use super::erasures::Erasures;
use super::trace::{Direction, TimeUnit, Trace, TraceFormat};
use crate::units::{BitRate, Duration};

/// Which PHY trace a run needs; equal specs mean equal traces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PhySpec {
    /// From this file.
    pub trace: Option<FileSpec>,
    /// With these erasures.
    pub erasures: Option<Erasures>,
    /// In these slots, where neither a file nor the model has them.
    pub slots: Option<Slots>,
    /// Seed of the erasures.
    pub seed: u64,
}

/// A trace file and how it is read, in base units.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileSpec {
    /// The file, relative to the scenario's folder.
    pub file: String,
    /// Its format, where given.
    pub format: Option<TraceFormat>,
    /// Unit of bare times.
    pub unit: Option<TimeUnit>,
    /// Payload of an LLDU.
    pub lldu_bytes: Option<u32>,
    /// Which way of a two-way measurement.
    pub direction: Option<Direction>,
    /// The file of loss flags.
    pub losses: Option<String>,
    /// Time between packets, ns.
    pub interval_ns: Option<u64>,
    /// Rate of the slots made from packets, bit/s.
    pub rate_bps: Option<u64>,
    /// Time between slots, ns.
    pub slot_ns: Option<u64>,
    /// Decoding time, ns.
    pub decode_ns: Option<u64>,
    /// One slot in so many is kept.
    pub share: u32,
    /// Trace time that becomes time 0, ns.
    pub offset_ns: u64,
}

impl From<&Trace> for FileSpec {
    fn from(trace: &Trace) -> Self {
        let nanos = |time: Option<Duration>| time.map(Duration::as_nanos);
        Self {
            file: trace.file.clone(),
            format: trace.format,
            unit: trace.unit,
            lldu_bytes: trace.lldu.map(|lldu| lldu.0),
            direction: trace.direction,
            losses: trace.losses.clone(),
            interval_ns: nanos(trace.interval),
            rate_bps: trace.rate.map(BitRate::bits_per_second),
            slot_ns: nanos(trace.slot),
            decode_ns: nanos(trace.decoding),
            share: trace.share,
            offset_ns: trace.offset.as_nanos(),
        }
    }
}
