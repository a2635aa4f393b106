//! Two bare columns, transmission and decoding time, in a unit that the caller gives.
//!
//! White space or commas separate the columns; empty lines and lines that start with `#` are
//! skipped.

use std::io::{self, BufRead, Write};

use crate::budget::Budget;
use crate::trace::decimal::{append, parse};
use crate::trace::error::{Fault, ReadError, WriteError};
use crate::trace::file::FormatRow;
use crate::trace::lines::Lines;
use crate::trace::slots::SlotBuilder;
use crate::trace::text::DEFAULT_LLDU;
use crate::trace::{Header, PhyTrace, TimeUnit};
use crate::units::Bytes;

const UNIT: (&str, &str) = ("two bare columns need a unit: s, ms, us or ns", "unit");

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "columns",
    doc: "Two bare columns of times.",
    keys: &[&["unit"]],
    read: Some(|how, input| {
        let unit = how.needed(how.unit, UNIT.0, UNIT.1, input)?;
        let lldu = how.lldu.unwrap_or(DEFAULT_LLDU);
        input.parsed(&how.file, |file| read(file, unit, lldu, input.budget))
    }),
    write: Some(|phy, how, out| {
        let unit = how.unit.ok_or(WriteError::Missing { why: UNIT.0, field: UNIT.1 })?;
        Ok(write(phy, unit, out)?)
    }),
    ..FormatRow::NAMED
};

/// Reads two columns of decimal numbers in `unit`, exactly to the nanosecond (half a nanosecond is
/// rounded up; a decoding time above zero becomes at least 1 ns, because 0 means erased).
///
/// ```
/// use clift::budget::Budget;
/// use clift::trace::{TimeUnit, columns};
/// use clift::units::Bytes;
/// let budget = Budget::unlimited();
/// let phy = columns::read("0 0.036\n0.5,0\n".as_bytes(), TimeUnit::Seconds, Bytes(33), &budget).unwrap();
/// assert_eq!((&phy.t()[..], &phy.d()[..]), (&[0, 500_000_000][..], &[36_000_000, 0][..]));
/// ```
///
/// # Errors
/// A [`ReadError`] with the first faulty line.
pub fn read(
    reader: impl BufRead,
    unit: TimeUnit,
    lldu: Bytes,
    budget: &Budget<'_>,
) -> Result<PhyTrace, ReadError> {
    let mut lines = Lines::new(reader);
    let mut slots = SlotBuilder::within(budget);
    while let Some((number, line)) = lines.next()? {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            continue;
        }
        read_slot(line, unit, &mut slots).map_err(|fault| fault.at(number))?;
    }
    slots.finish(lldu, Header::default())
}

/// Writes two columns in `unit`, separated by a space; [`read`] restores the times. The header of
/// the trace is not written.
///
/// # Errors
/// If the writer fails.
pub fn write(phy: &PhyTrace, unit: TimeUnit, mut out: impl Write) -> io::Result<()> {
    let mut line = Vec::with_capacity(48);
    for (&t, &d) in phy.t().iter().zip(phy.d().iter()) {
        line.clear();
        append(&mut line, t, unit);
        line.push(b' ');
        append(&mut line, d, unit);
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

fn read_slot(line: &[u8], unit: TimeUnit, slots: &mut SlotBuilder<'_>) -> Result<(), Fault> {
    let mut fields = fields(line);
    let (Some(t), Some(d), None) = (fields.next(), fields.next(), fields.next()) else {
        return Err(Fault::columns(self::fields(line).count(), 2));
    };
    let (nanos, _) = parse(t, unit)?;
    let (decoding, arrived) = parse(d, unit)?;
    slots.push(nanos, decoding.max(i64::from(arrived)), t)
}

/// Splits at runs of white space with at most one comma; `1,,2` has an empty field.
fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&byte| byte == b',').flat_map(|part| {
        let part = part.trim_ascii();
        let words = part.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        // A part without words is a field with a missing value.
        words.chain(part.is_empty().then_some(part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(reader: impl BufRead, unit: TimeUnit, lldu: Bytes) -> Result<PhyTrace, ReadError> {
        super::read(reader, unit, lldu, &Budget::unlimited())
    }

    fn message(text: &str) -> String {
        read(text.as_bytes(), TimeUnit::Seconds, Bytes(33)).unwrap_err().to_string()
    }

    #[test]
    fn spaces_tabs_and_commas_separate_columns() {
        let text = "# a remark\n\n 0   .001\r\n1e-3,0\n2e-3\t1e-12\n3e-3 , 0.0\n";
        let phy = read(text.as_bytes(), TimeUnit::Seconds, Bytes(33)).unwrap();
        assert_eq!(phy.t()[..], [0, 1_000_000, 2_000_000, 3_000_000]);
        assert_eq!(phy.d()[..], [1_000_000, 0, 1, 0]);
    }

    #[test]
    fn faults_have_a_line_and_a_cure() {
        let cases = [
            ("", "the trace is empty"),
            ("0 1\n1 NaN", "line 2: `NaN` is not a time; write a decimal number in seconds"),
            ("0 -1", "line 1: `-1` is negative; times start at 0"),
            ("0 1\n0 1", "line 2: time `0` does not come after the one before it"),
            ("1e-10 1\n2e-10 1", "line 2: time `2e-10` does not come after the one before it"),
            ("0 1e10", "line 1: `1e10` is over 2^61 ns (73 years); check the unit"),
            ("0", "line 1: 1 column instead of 2"),
            ("0 1 2", "line 1: 3 columns instead of 2"),
            ("0,,1", "line 1: 3 columns instead of 2"),
            ("0,", "line 1: `` is not a time"),
            ("t d\n0 1", "line 1: `t` is not a time; write a decimal number in seconds"),
        ];
        for (text, expected) in cases {
            assert!(message(text).starts_with(expected), "{text:?}: {}", message(text));
        }
    }

    proptest! {
        #[test]
        fn written_columns_read_back_unchanged(
            slots in proptest::collection::vec((1i64..1 << 50, 0i64..1 << 60), 1..50),
        ) {
            use TimeUnit::*;
            let t = slots.iter().scan(-1, |t, gap| { *t += gap.0; Some(*t) }).collect::<Vec<_>>();
            let d = slots.iter().map(|gap| gap.1).collect::<Vec<_>>();
            let phy = PhyTrace::new(t.into(), d.into(), Bytes(33)).unwrap();
            for unit in [Seconds, Milliseconds, Microseconds, Nanoseconds] {
                let mut file = Vec::new();
                write(&phy, unit, &mut file).unwrap();
                let back = read(&file[..], unit, Bytes(33)).unwrap();
                prop_assert_eq!(back.t(), phy.t());
                prop_assert_eq!(back.d(), phy.d());
            }
        }
    }
}
