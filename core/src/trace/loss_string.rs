//! Loss patterns without times: strings of 0 (lost) and 1 (received), and the run lengths of ns-2.
//!
//! Both need a [`Pattern`] that defines the slots.

use std::borrow::Cow;
use std::io::{self, BufRead, Write};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::trace::PhyTrace;
use crate::trace::column::MOST;
use crate::trace::decimal::{append_integer, parse_integer};
use crate::trace::error::{Fault, FileError, ReadError};
use crate::trace::file::{FormatRow, Input, Reader, TraceFile};
use crate::trace::lines::Lines;
use crate::trace::text::DEFAULT_LLDU;
use crate::units::{Bytes, Duration};

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "loss",
    suffixes: &["loss"],
    doc: "0/1 strings.",
    keys: &[&["slot", "decoding", "lost"]],
    read: Some(|how, input| {
        let pattern = Pattern::of(how, input)?;
        let symbol = how.lost.unwrap_or_default();
        let read = |file: Reader<'_>| read_marked(file, pattern, symbol, input.budget);
        let mut phy = input.parsed(&how.file, read)?;
        let lost = phy.d().iter().filter(|&&d| d == 0).count();
        // Logs with the opposite convention are more common than links that lose most slots.
        if 2 * lost > phy.len() {
            let share = 100.0 * lost as f64 / phy.len() as f64;
            let (lost, other) = (symbol as u8, 1 - symbol as u8);
            phy.warn(format!(
                "{share:.3} % of the slots are lost: here {lost} means lost and {other} received; the \
                 convention of a log is often the opposite (`lost = {other}` or --lost {other} reads that)"
            ));
        }
        Ok(phy)
    }),
    write: Some(|phy, _, out| Ok(write(phy, out)?)),
    ..FormatRow::NAMED
};

pub(super) const RUNS: FormatRow = FormatRow {
    name: "runs",
    suffixes: &["runs"],
    doc: "ns-2 run lengths.",
    keys: &[&["slot", "decoding"]],
    read: Some(|how, input| {
        let pattern = Pattern::of(how, input)?;
        input.parsed(&how.file, |file| read_runs(file, pattern, input.budget))
    }),
    write: Some(|phy, _, out| Ok(write_runs(phy, out)?)),
    ..FormatRow::NAMED
};

/// The slots of a loss pattern.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Pattern {
    /// Time from one slot to the next.
    pub slot: Duration,
    /// Decoding time of a received slot; at least 1 ns is used, because 0 means erased.
    pub decode: Duration,
    /// Payload of a slot.
    pub lldu: Bytes,
}

/// The symbol of a lost slot in a 0/1 string. The other one is that of a received slot.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(try_from = "u64", into = "u64")]
pub enum LostSymbol {
    /// 0: each symbol counts what arrives.
    #[default]
    Zero = 0,
    /// 1: each symbol counts what is lost.
    One = 1,
}

impl TryFrom<u64> for LostSymbol {
    type Error = String;

    fn try_from(symbol: u64) -> Result<Self, String> {
        match symbol {
            0 => Ok(Self::Zero),
            1 => Ok(Self::One),
            _ => Err(format!("{symbol} is no symbol of a 0/1 string; give 0 or 1")),
        }
    }
}

impl From<LostSymbol> for u64 {
    fn from(symbol: LostSymbol) -> Self {
        symbol as Self
    }
}

impl JsonSchema for LostSymbol {
    fn schema_name() -> Cow<'static, str> {
        "LostSymbol".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "enum": [0, 1] })
    }
}

/// Reads a string of `0` (lost) and `1` (received), the format of the emulators Link'Em and
/// FlowEmu. White space and commas between symbols are skipped, and so is the rest of a line after
/// `#`; anything else is an error.
///
/// ```
/// use clift::budget::Budget;
/// use clift::trace::loss_string::{self, Pattern};
/// use clift::units::{Bytes, Duration};
/// let ms = Duration::from_millis;
/// let pattern = Pattern { slot: ms(1), decode: ms(36), lldu: Bytes(33) };
/// let phy = loss_string::read("1 0\n1".as_bytes(), pattern, &Budget::unlimited()).unwrap();
/// assert_eq!(phy.t()[..], [0, 1_000_000, 2_000_000]);
/// assert_eq!(phy.d()[..], [36_000_000, 0, 36_000_000]);
/// ```
///
/// # Errors
/// A [`ReadError`] with the first faulty line.
pub fn read(
    reader: impl BufRead,
    pattern: Pattern,
    budget: &Budget<'_>,
) -> Result<PhyTrace, ReadError> {
    read_marked(reader, pattern, LostSymbol::Zero, budget)
}

fn read_marked(
    mut reader: impl BufRead,
    pattern: Pattern,
    lost: LostSymbol,
    budget: &Budget<'_>,
) -> Result<PhyTrace, ReadError> {
    let (mut d, mut line, mut remark) = (Vec::new(), 1, false);
    let (zero, one, known) = match lost {
        LostSymbol::Zero => (0, pattern.received(), "is neither 0 (lost) nor 1 (received)"),
        LostSymbol::One => (pattern.received(), 0, "is neither 0 (received) nor 1 (lost)"),
    };
    // The rest of a byte-order mark that may still follow; empty after any other byte.
    let mut mark: &[u8] = b"\xef\xbb\xbf";
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        if d.capacity() - d.len() < chunk.len() {
            let more = chunk.len().max(d.len());
            let what = format!("more than {} slots", d.len());
            budget.reserve(&mut d, more as u64, what)?;
        }
        for (at, &byte) in chunk.iter().enumerate() {
            if let Some((&next, rest)) = mark.split_first() {
                mark = if byte == next { rest } else { b"" };
                if byte == next {
                    continue;
                }
            }
            match byte {
                b'\n' => (line, remark) = (line + 1, false),
                _ if remark => {}
                b'0' => d.push(zero),
                b'1' => d.push(one),
                b'#' => remark = true,
                b',' | b' ' | b'\t' | b'\r' => {}
                _ => {
                    let end = chunk.len().min(at + 4);
                    let text = String::from_utf8_lossy(&chunk[at..end]);
                    let symbol: String = text.chars().take(1).collect();
                    return Err(Fault::of(symbol.as_bytes(), known).at(line));
                }
            }
        }
        let read = chunk.len();
        reader.consume(read);
    }
    pattern.trace(d, budget)
}

/// Writes one `0` (lost) or `1` (received) per slot, 80 per line. Slot times are not written.
///
/// # Errors
/// If the writer fails.
pub fn write(phy: &PhyTrace, mut out: impl Write) -> io::Result<()> {
    let mut line = Vec::with_capacity(81);
    for slots in phy.d().chunks(80) {
        line.clear();
        line.extend(slots.iter().map(|&d| if d > 0 { b'1' } else { b'0' }));
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

/// Reads run lengths in the format of ns-2's `ErrorModel/Trace`: each line is the number of packets
/// received and the number lost after them.
///
/// ```
/// use clift::budget::Budget;
/// use clift::trace::loss_string::{self, Pattern};
/// use clift::units::{Bytes, Duration};
/// let ms = Duration::from_millis;
/// let pattern = Pattern { slot: ms(1), decode: ms(36), lldu: Bytes(33) };
/// let phy = loss_string::read_runs("2 1\n1 0\n".as_bytes(), pattern, &Budget::unlimited()).unwrap();
/// assert_eq!(phy.d()[..], [36_000_000, 36_000_000, 0, 36_000_000]);
/// ```
///
/// # Errors
/// A [`ReadError`] with the first faulty line.
pub fn read_runs(
    reader: impl BufRead,
    pattern: Pattern,
    budget: &Budget<'_>,
) -> Result<PhyTrace, ReadError> {
    let mut lines = Lines::new(reader);
    let mut d = Vec::new();
    while let Some((number, line)) = lines.next()? {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        let (good, lost) = parse_run(line).map_err(|fault| fault.at(number))?;
        let total = good.saturating_add(lost).saturating_add(d.len() as u64);
        if total > MOST {
            return Err(Fault::TooMany(MOST).at(number));
        }
        let room = (d.capacity() - d.len()) as u64;
        if good + lost > room {
            // The column of times needs the same again; the capacity at least doubles.
            let more = (good + lost - room).max(d.len() as u64);
            let (all, what) = (8 * (more + total), format!("{total} slots"));
            let reserved = budget.take(all, &what).and_then(|()| {
                budget.give_back(all);
                budget.reserve(&mut d, more, &what)
            });
            reserved.map_err(|refused| Fault::from(refused).at(number))?;
        }
        d.extend(std::iter::repeat_n(pattern.received(), good as usize));
        d.extend(std::iter::repeat_n(0, lost as usize));
    }
    pattern.trace(d, budget)
}

/// Writes the losses as run lengths. Slot times are not written.
///
/// # Errors
/// If the writer fails.
pub fn write_runs(phy: &PhyTrace, mut out: impl Write) -> io::Result<()> {
    let mut line = Vec::with_capacity(48);
    let mut rest = &phy.d()[..];
    while !rest.is_empty() {
        let good = rest.iter().take_while(|&&d| d > 0).count();
        let lost = rest[good..].iter().take_while(|&&d| d == 0).count();
        line.clear();
        append_integer(&mut line, good as i64);
        line.push(b' ');
        append_integer(&mut line, lost as i64);
        line.push(b'\n');
        out.write_all(&line)?;
        rest = &rest[good + lost..];
    }
    Ok(())
}

impl Pattern {
    fn of(how: &TraceFile, input: &Input<'_>) -> Result<Self, FileError> {
        let why = "a loss pattern has no times";
        if how.slot.is_none() && how.decoding.is_none() {
            // Both at once, so that nobody asks twice.
            return how.needed(None, why, "slot and decoding", input);
        }
        Ok(Self {
            slot: how.needed(how.slot, why, "slot", input)?,
            decode: how.needed(how.decoding, why, "decoding", input)?,
            lldu: how.lldu.unwrap_or(DEFAULT_LLDU),
        })
    }

    fn received(self) -> i64 {
        i64::try_from(self.decode.as_nanos().max(1)).unwrap_or(i64::MAX)
    }

    fn trace(self, d: Vec<i64>, budget: &Budget<'_>) -> Result<PhyTrace, ReadError> {
        let slot = i64::try_from(self.slot.as_nanos()).unwrap_or(i64::MAX);
        // The validation of the trace detects a time out of range.
        let mut t = budget.room(d.len() as u64, format_args!("{} slots", d.len()))?;
        t.extend((0..d.len() as i64).map(|index| index.saturating_mul(slot)));
        if d.is_empty() {
            return Err(Fault::empty().into());
        }
        Ok(PhyTrace::new(t.into(), d.into(), self.lldu)?)
    }
}

fn parse_run(line: &[u8]) -> Result<(u64, u64), Fault> {
    let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let run = match (fields.next(), fields.next(), fields.next()) {
        (Some(good), Some(lost), None) => parse_integer(good).zip(parse_integer(lost)),
        _ => None,
    };
    let cure =
        "is not a run length; write two integers a line: packets received, then packets lost";
    run.ok_or_else(|| Fault::of(line, cure))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(reader: impl BufRead, pattern: Pattern) -> Result<PhyTrace, ReadError> {
        super::read(reader, pattern, &Budget::unlimited())
    }

    fn read_runs(reader: impl BufRead, pattern: Pattern) -> Result<PhyTrace, ReadError> {
        super::read_runs(reader, pattern, &Budget::unlimited())
    }

    const PATTERN: Pattern =
        Pattern { slot: Duration::from_nanos(7), decode: Duration::from_nanos(3), lldu: Bytes(33) };

    #[test]
    fn separators_and_remarks_are_skipped() {
        let phy = read("# 00 not these\n1,1 0\t1\r\n0".as_bytes(), PATTERN).unwrap();
        assert_eq!(phy.d()[..], [3, 3, 0, 3, 0]);
        assert_eq!(phy.t()[..], [0, 7, 14, 21, 28]);
    }

    #[test]
    fn the_symbol_of_a_lost_slot_can_be_chosen() {
        use crate::trace::{InMemory, TraceFile};
        let mut files = InMemory::default();
        files.insert("x.loss", "0 0 1 0\n");
        let file = TraceFile {
            slot: Some(Duration::from_nanos(7)),
            decoding: Some(Duration::from_nanos(3)),
            ..TraceFile::new("x.loss")
        };
        let usual = file.read(&files).unwrap();
        assert_eq!(usual.d()[..], [0, 0, 3, 0]);
        let warning = &usual.header().notes.warnings[0];
        assert_eq!(
            warning,
            "75.000 % of the slots are lost: here 0 means lost and 1 received; the convention of a log \
             is often the opposite (`lost = 1` or --lost 1 reads that)"
        );
        let other = TraceFile { lost: Some(LostSymbol::One), ..file.clone() };
        let turned = other.read(&files).unwrap();
        assert_eq!(turned.d()[..], [3, 3, 0, 3]);
        assert!(turned.header().notes.warnings.is_empty());
        files.insert("x.loss", "02\n");
        assert_eq!(
            other.read(&files).unwrap_err().to_string(),
            "x.loss: line 1: `2` is neither 0 (received) nor 1 (lost)"
        );
    }

    #[test]
    fn a_byte_order_mark_is_skipped_wherever_a_chunk_ends() {
        let text = "\u{feff}10\n1";
        for size in 1..=text.len() {
            let reader = std::io::BufReader::with_capacity(size, text.as_bytes());
            assert_eq!(read(reader, PATTERN).unwrap().d()[..], [3, 0, 3]);
        }
        let message = read("1\u{feff}0".as_bytes(), PATTERN).unwrap_err().to_string();
        assert!(message.starts_with("line 1: `"), "{message}");
    }

    #[test]
    fn faults_have_a_line_and_a_cure() {
        let strings = [
            ("", "the trace is empty"),
            ("# 1\n", "the trace is empty"),
            ("10\n12", "line 2: `2` is neither 0 (lost) nor 1 (received)"),
            ("10\né", "line 2: `é` is neither 0 (lost) nor 1 (received)"),
        ];
        for (text, expected) in strings {
            let message = read(text.as_bytes(), PATTERN).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{text:?}: {message}");
        }
        let runs = [
            ("", "the trace is empty"),
            ("0 0\n", "the trace is empty"),
            ("1 2 3\n", "line 1: `1 2 3` is not a run length; write two integers a line"),
            ("1 2\n-1 2\n", "line 2: `-1 2` is not a run length"),
            ("1\n", "line 1: `1` is not a run length"),
            ("NaN 1\n", "line 1: `NaN 1` is not a run length"),
            ("1 0\n4294967295 1\n", "line 2: more than 4294967295 slots; split the file"),
            ("18446744073709551615 1\n", "line 1: more than 4294967295 slots"),
        ];
        for (text, expected) in runs {
            let message = read_runs(text.as_bytes(), PATTERN).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{text:?}: {message}");
        }
        let far = Pattern { slot: Duration::from_nanos(1 << 61), ..PATTERN };
        let message = read("11".as_bytes(), far).unwrap_err().to_string();
        assert_eq!(message, "slot 1: t + d is over 2^61 ns (73 years); check the unit");
    }

    proptest! {
        #[test]
        fn strings_and_runs_are_read_back(fates in proptest::collection::vec(any::<bool>(), 1..300)) {
            let d: Vec<i64> = fates.iter().map(|&received| 3 * i64::from(received)).collect();
            let phy = PATTERN.trace(d, &Budget::unlimited()).unwrap();
            let (mut string, mut runs) = (Vec::new(), Vec::new());
            write(&phy, &mut string).unwrap();
            write_runs(&phy, &mut runs).unwrap();
            let read_back = read(&string[..], PATTERN).unwrap();
            prop_assert_eq!(&read_back.d()[..], &phy.d()[..]);
            let read_back = read_runs(&runs[..], PATTERN).unwrap();
            prop_assert_eq!(&read_back.d()[..], &phy.d()[..]);
        }
    }
}
