//! netem-trace JSON, the input format of Rattan; write only.
//!
//! A netem-trace model is a list of values with durations. A trace gives three models: bandwidth,
//! one-way delay and loss. Rattan applies each in a separate cell.

use std::io::{self, Write};

use crate::trace::PhyTrace;
use crate::trace::error::WriteError;
use crate::trace::file::FormatRow;
pub use crate::trace::file::Model;

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "netem",
    suffixes: &["json"],
    doc: "One model of netem-trace JSON; written only.",
    write: Some(|phy, how, out| {
        let why = "a netem-trace file holds one model: bandwidth, delay or loss";
        let model = how.model.ok_or(WriteError::Missing { why, field: "model" })?;
        Ok(write(phy, model, out)?)
    }),
    ..FormatRow::NAMED
};

/// Writes one model of the trace, repeated indefinitely (`"count": 0`). Consecutive slots with
/// equal values are merged. The last slot lasts until the period of the header ends, else as long
/// as the slot before it (1 ms if it is the only slot).
///
/// ```
/// use clift::trace::netem::{self, Model};
/// use clift::trace::PhyTrace;
/// use clift::units::Bytes;
/// let phy = PhyTrace::new(vec![0, 10, 20].into(), vec![5, 0, 0].into(), Bytes(33)).unwrap();
/// let mut out = Vec::new();
/// netem::write(&phy, Model::Loss, &mut out).unwrap();
/// assert_eq!(
///     String::from_utf8(out).unwrap(),
///     r#"{"RepeatedLossPatternConfig":{"pattern":[
/// {"StaticLossConfig":{"loss":[0],"duration":"10ns"}},
/// {"StaticLossConfig":{"loss":[1],"duration":"20ns"}}
/// ],"count":0}}
/// "#
/// );
/// ```
///
/// # Errors
/// If the writer fails.
pub fn write(phy: &PhyTrace, model: Model, mut out: impl Write) -> io::Result<()> {
    write!(out, "{{\"Repeated{}PatternConfig\":{{\"pattern\":[", model.name())?;
    let mut separator = "\n";
    let mut pending: Option<(u64, u64)> = None;
    let mut delay = phy.nominal_decoding().as_nanos();
    let half = phy.header().rtt.map_or(0, |rtt| rtt.half().as_nanos());
    for (slot, &d) in phy.d().iter().enumerate() {
        let lasts = duration_of(phy, slot);
        if d > 0 {
            delay = d.unsigned_abs();
        }
        let value = match model {
            Model::Bandwidth => bits_per_second(phy.sizes().at(slot), lasts),
            Model::Delay => delay + half,
            Model::Loss => u64::from(d == 0),
        };
        pending = match pending {
            Some((before, time)) if before == value => Some((value, time + lasts)),
            Some((before, time)) => {
                model.write_step(before, time, separator, &mut out)?;
                separator = ",\n";
                Some((value, lasts))
            }
            None => Some((value, lasts)),
        };
    }
    if let Some((value, time)) = pending {
        model.write_step(value, time, separator, &mut out)?;
    }
    writeln!(out, "\n],\"count\":0}}}}")
}

/// Duration of a slot, ns.
fn duration_of(phy: &PhyTrace, slot: usize) -> u64 {
    let t = phy.t();
    let end = t.len() - 1;
    let gap = if slot < end {
        t[slot + 1] - t[slot]
    } else if let Some(period) = phy.header().period {
        return period.as_nanos() - (t[end] - t[0]).unsigned_abs();
    } else if end > 0 {
        t[end] - t[end - 1]
    } else {
        1_000_000
    };
    gap.unsigned_abs()
}

fn bits_per_second(lldu: u32, lasts: u64) -> u64 {
    let bits = u128::from(lldu) * 8 * 1_000_000_000;
    let lasts = u128::from(lasts);
    // 2^32 bytes in a nanosecond are 2^65 bit/s, far above any real link.
    u64::try_from((bits + lasts / 2) / lasts).unwrap_or(u64::MAX)
}

impl Model {
    const fn name(self) -> &'static str {
        match self {
            Self::Bandwidth => "Bw",
            Self::Delay => "Delay",
            Self::Loss => "Loss",
        }
    }

    fn write_step(
        self,
        value: u64,
        time: u64,
        separator: &str,
        out: &mut impl Write,
    ) -> io::Result<()> {
        write!(out, "{separator}{{\"Static{}Config\":{{", self.name())?;
        match self {
            Self::Bandwidth => {
                let (gbps, bps) = (value / 1_000_000_000, value % 1_000_000_000);
                write!(out, "\"bw\":{{\"gbps\":{gbps},\"bps\":{bps}}}")?;
            }
            Self::Delay => write!(out, "\"delay\":\"{value}ns\"")?,
            Self::Loss => write!(out, "\"loss\":[{value}]")?,
        }
        write!(out, ",\"duration\":\"{time}ns\"}}}}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Header;
    use crate::units::{Bytes, Duration};

    fn steps(phy: &PhyTrace, model: Model) -> Vec<String> {
        let mut out = Vec::new();
        write(phy, model, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<_> =
            text.lines().map(|line| line.trim_end_matches(',').to_owned()).collect();
        assert_eq!(lines[lines.len() - 1], "],\"count\":0}}");
        lines[1..lines.len() - 1].to_vec()
    }

    #[test]
    fn each_model_joins_equal_slots_and_covers_the_period() {
        let header = Header {
            rtt: Some(Duration::from_nanos(100)),
            period: Some(Duration::from_nanos(5000)),
            ..Header::default()
        };
        let (t, d) = (vec![0, 1000, 2000, 4000], vec![7, 0, 7, 9]);
        let phy = PhyTrace::with_header(t.into(), d.into(), Bytes(1500), header).unwrap();
        assert_eq!(
            steps(&phy, Model::Delay),
            [
                r#"{"StaticDelayConfig":{"delay":"57ns","duration":"4000ns"}}"#,
                r#"{"StaticDelayConfig":{"delay":"59ns","duration":"1000ns"}}"#,
            ]
        );
        assert_eq!(
            steps(&phy, Model::Bandwidth),
            [
                r#"{"StaticBwConfig":{"bw":{"gbps":12,"bps":0},"duration":"2000ns"}}"#,
                r#"{"StaticBwConfig":{"bw":{"gbps":6,"bps":0},"duration":"2000ns"}}"#,
                r#"{"StaticBwConfig":{"bw":{"gbps":12,"bps":0},"duration":"1000ns"}}"#,
            ]
        );
        assert_eq!(
            steps(&phy, Model::Loss),
            [
                r#"{"StaticLossConfig":{"loss":[0],"duration":"1000ns"}}"#,
                r#"{"StaticLossConfig":{"loss":[1],"duration":"1000ns"}}"#,
                r#"{"StaticLossConfig":{"loss":[0],"duration":"3000ns"}}"#,
            ]
        );
    }
}
