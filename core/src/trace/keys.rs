//! Metadata of trace files: keys and values, the same in every format that supports them.

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
    seen: Vec<&'static str>,
}

impl Keys {
    /// Sets a key; false if the key is unknown.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<bool, Fault> {
        let header = &mut self.header;
        let known = match key {
            "clift-trace" if value == "1" => "clift-trace",
            "clift-trace" => return Err(Fault::Version(Snippet::new(value.as_bytes()))),
            "lldu_bytes" => {
                let fault = || Fault::Value("lldu_bytes", Snippet::new(value.as_bytes()), 1);
                let bytes = number("lldu_bytes", value, 1)?;
                self.lldu = Some(Bytes(u32::try_from(bytes).map_err(|_| fault())?));
                "lldu_bytes"
            }
            "decode_ns" => {
                header.decode = Some(Duration::from_nanos(number("decode_ns", value, 1)?));
                "decode_ns"
            }
            "period_ns" => {
                header.period = Some(Duration::from_nanos(number("period_ns", value, 1)?));
                "period_ns"
            }
            "rtt_ns" => {
                header.rtt = Some(Duration::from_nanos(number("rtt_ns", value, 0)?));
                "rtt_ns"
            }
            "packing" => {
                let packing = Packing::of(value);
                let fault = || Fault::Packing(Snippet::new(value.as_bytes()));
                header.loading.packing = Some(packing.ok_or_else(fault)?);
                "packing"
            }
            "packet_header_bytes" => {
                let fault =
                    || Fault::Value("packet_header_bytes", Snippet::new(value.as_bytes()), 0);
                let bytes = number("packet_header_bytes", value, 0)?;
                header.loading.packet_header = Bytes(u32::try_from(bytes).map_err(|_| fault())?);
                "packet_header_bytes"
            }
            "tick_ns" => {
                header.loading.tick = Duration::from_nanos(number("tick_ns", value, 1)?);
                "tick_ns"
            }
            "tick_phase_ns" => {
                header.loading.phase = Duration::from_nanos(number("tick_phase_ns", value, 0)?);
                "tick_phase_ns"
            }
            "description" => {
                header.description = text(value);
                "description"
            }
            "source" => {
                header.source = text(value);
                "source"
            }
            "understood" => {
                header.notes.understood = split(value);
                "understood"
            }
            "assumed" => {
                header.notes.assumed = split(value);
                "assumed"
            }
            "warnings" => {
                header.notes.warnings = split(value);
                "warnings"
            }
            Checksums::KEY => {
                self.checksum = Some(value.to_owned());
                Checksums::KEY
            }
            _ => return Ok(false),
        };
        if self.seen.contains(&known) {
            return Err(Fault::RepeatedKey(Snippet::new(known.as_bytes())));
        }
        self.seen.push(known);
        if known != Checksums::KEY {
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
        self.header.unchecked = self.checksum.is_none() && self.seen.contains(&"clift-trace");
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

fn number(key: &'static str, value: &str, least: u64) -> Result<u64, Fault> {
    let number = parse_integer(value.as_bytes()).filter(|&number| number >= least);
    number.ok_or_else(|| Fault::Value(key, Snippet::new(value.as_bytes()), least))
}

fn text(value: &str) -> Option<String> {
    (!value.is_empty()).then(|| value.to_owned())
}

/// `text` without line ends and other control characters; `None` if the result is empty.
pub(crate) fn one_line(text: &str) -> Option<String> {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.trim();
    (!line.is_empty()).then(|| line.to_owned())
}
