//! Metadata of trace files: keys and values, the same in every format that supports them.

use std::collections::BTreeSet;

use crate::trace::checksum::Checksums;
use crate::trace::decimal::parse_integer;
use crate::trace::error::{Fault, Snippet};
use crate::trace::notes::{joined, split};
use crate::trace::{Header, Loading, Packing, PhyTrace};
use crate::units::{Bytes, Duration};

/// The keys of a file while it is read.
#[derive(Default)]
pub(crate) struct Keys {
    /// Payload of a slot.
    pub(crate) lldu: Option<Bytes>,
    /// All other metadata.
    pub(crate) header: Header,
    /// Checksums of the other keys, to which the reader adds the columns.
    pub(crate) sums: Checksums,
    checksum: Option<String>,
    seen: BTreeSet<String>,
}

impl Keys {
    /// Sets a key; false if the key is unknown.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<bool, Fault> {
        let snippet = || Snippet::new(value.as_bytes());
        let number = |least: u64, most: u64| {
            let number = parse_integer(value.as_bytes()).filter(|n| (least..=most).contains(n));
            number.ok_or_else(|| Fault::value(key, value.as_bytes(), least))
        };
        let time = |least| number(least, u64::MAX).map(Duration::from_nanos);
        let bytes = |least| number(least, u32::MAX.into()).map(|bytes| Bytes(bytes as u32));
        let text = || Some(value.to_owned()).filter(|text| !text.is_empty());
        let Header { notes, loading, .. } = &mut self.header;
        match key {
            "clift-trace" if value == "1" => {}
            "clift-trace" => {
                let cure = "is not known; this version of clift reads version 1";
                return Err(Fault::Text(format!("format version {} {cure}", snippet())));
            }
            "lldu_bytes" => self.lldu = Some(bytes(1)?),
            "decode_ns" => self.header.decode = Some(time(1)?),
            "period_ns" => self.header.period = Some(time(1)?),
            "rtt_ns" => self.header.rtt = Some(time(0)?),
            "packing" => {
                let unknown = || format!("unknown packing {}; write packet or bytes", snippet());
                let packing = Packing::of(value).ok_or_else(|| Fault::Text(unknown()))?;
                loading.packing = Some(packing);
            }
            "packet_header_bytes" => loading.packet_header = bytes(0)?,
            "tick_ns" => loading.tick = time(1)?,
            "tick_phase_ns" => loading.phase = time(0)?,
            "description" => self.header.description = text(),
            "source" => self.header.source = text(),
            "understood" => notes.understood = split(value),
            "assumed" => notes.assumed = split(value),
            "warnings" => notes.warnings = split(value),
            Checksums::KEY => self.checksum = Some(value.to_owned()),
            _ => return Ok(false),
        }
        if !self.seen.insert(key.to_owned()) {
            let key = Snippet::new(key.as_bytes());
            return Err(Fault::Text(format!("the key {key} occurs twice; keep one")));
        }
        if key != Checksums::KEY {
            self.sums.key(key, value);
        }
        Ok(true)
    }

    /// True if the file has the key `checksum`.
    #[cfg(feature = "parquet")]
    pub(crate) fn has_checksum(&self) -> bool {
        self.checksum.is_some()
    }

    /// Compares keys and columns with the checksums of the file, if it has any. `names` has the
    /// index and name of each column that was read. A file of CLIFT without checksums, as earlier
    /// versions wrote it, is marked.
    pub(crate) fn check(&mut self, names: &[(usize, &'static str)]) -> Result<(), Fault> {
        self.header.unchecked = self.checksum.is_none() && self.seen.contains("clift-trace");
        self.checksum.as_ref().map_or(Ok(()), |value| self.sums.check(value, names))
    }
}

/// The keys of `phy` and their values, in file order.
pub(crate) fn keys(phy: &PhyTrace) -> Vec<(&'static str, String)> {
    let header = phy.header();
    let mut keys = vec![("clift-trace", "1".to_owned())];
    if phy.sizes().column().is_none() {
        keys.push(("lldu_bytes", phy.lldu().0.to_string()));
    }
    let times =
        [("decode_ns", header.decode), ("period_ns", header.period), ("rtt_ns", header.rtt)];
    keys.extend(
        times.into_iter().filter_map(|(key, time)| Some((key, time?.as_nanos().to_string()))),
    );
    keys.extend(loading(header.loading));
    let texts = [("description", &header.description), ("source", &header.source)];
    keys.extend(texts.into_iter().filter_map(|(key, text)| Some((key, text.clone()?))));
    let notes = &header.notes;
    let lines = [
        ("understood", &notes.understood),
        ("assumed", &notes.assumed),
        ("warnings", &notes.warnings),
    ];
    keys.extend(lines.into_iter().filter_map(|(key, notes)| Some((key, joined(notes)?))));
    keys
}

/// The keys for loading packets onto slots.
pub(crate) fn loading(loading: Loading) -> impl Iterator<Item = (&'static str, String)> {
    let packing = loading.packing.map(|packing| ("packing", packing.name().to_owned()));
    let numbers = [
        ("packet_header_bytes", u64::from(loading.packet_header.0)),
        ("tick_ns", loading.tick.as_nanos()),
        ("tick_phase_ns", loading.phase.as_nanos()),
    ];
    let given = numbers.into_iter().filter(|&(_, number)| number > 0);
    packing.into_iter().chain(given.map(|(key, number)| (key, number.to_string())))
}
