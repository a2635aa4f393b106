//! mahimahi packet-delivery traces: one integer of milliseconds a line, each an opportunity for
//! one packet; the file repeats with its last timestamp.

use std::io::{BufRead, Write};

use crate::trace::decimal::{append_integer, parse_integer};
use crate::trace::error::{Fault, ReadError, Snippet};
use crate::trace::file::WriteError;
use crate::trace::format::FormatRow;
use crate::trace::lines::Lines;
use crate::trace::phy::LATEST;
use crate::trace::{Header, PhyTrace};
use crate::units::{Bytes, Duration};

/// Bytes of an opportunity in mahimahi's documentation. Its code has 1504.
pub const OPPORTUNITY: Bytes = Bytes(1500);

const MILLISECOND: i64 = 1_000_000;

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "mahimahi",
    suffixes: &["mahimahi", "up", "down"],
    doc: "Delivery opportunities in milliseconds.",
    read: Some(|how, input| {
        input.parsed(&how.file, |file| read(file, how.lldu.unwrap_or(OPPORTUNITY)))
    }),
    write: Some(|phy, how, out| {
        // A trace that was read from a mahimahi file keeps its opportunities.
        let own = if phy.lldu() == Bytes(1504) { phy.lldu() } else { OPPORTUNITY };
        write(phy, how.opportunity.unwrap_or(own), out)
    }),
};

/// Reads a trace whose slots are the opportunities of `size` bytes. The k opportunities of one
/// millisecond are spread evenly over it; `d` is the time to the next one, across the seam for the
/// last; the header's period is the last timestamp (at least 1 ns beyond the last slot).
///
/// ```
/// use clift::trace::mahimahi;
/// let phy = mahimahi::read("1\n1\n4\n".as_bytes(), mahimahi::OPPORTUNITY).unwrap();
/// assert_eq!(phy.t()[..], [1_000_000, 1_500_000, 4_000_000]);
/// assert_eq!(phy.d()[..], [500_000, 2_500_000, 1_000_000]);
/// assert_eq!(phy.header().period.unwrap().as_nanos(), 4_000_000);
/// ```
///
/// # Errors
/// A [`ReadError`] with the first line in the way.
pub fn read(reader: impl BufRead, size: Bytes) -> Result<PhyTrace, ReadError> {
    let t = read_opportunities(reader)?;
    let (Some(&first), Some(&last)) = (t.first(), t.last()) else {
        return Err(crate::trace::TraceError::Empty.into());
    };
    let repeat = last - last % MILLISECOND;
    let mut d: Vec<i64> = t.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // The first opportunity of the repetition that comes after the last of the file: they may
    // share a millisecond.
    let next = t.iter().map(|t| t + repeat).find(|&next| next > last);
    // Such an opportunity exists unless all are within the first millisecond, which is refused.
    d.push(next.map_or(repeat, |next| next - last));
    let period = repeat.max(last - first + 1);
    let header = Header { period: Some(Duration::from_nanos(period as u64)), ..Header::default() };
    Ok(PhyTrace::with_header(t.into(), d.into(), size, header)?)
}

/// Writes the trace as opportunities of `size` bytes: one as soon as the slots that were not
/// erased have carried that many bytes. Delays are lost. [`read`] gives back a trace that came
/// from there.
///
/// # Errors
/// If the trace makes no opportunity or none after the first millisecond, or the writer fails.
pub fn write(phy: &PhyTrace, size: Bytes, mut out: impl Write) -> Result<(), WriteError> {
    let (lldu, size) = (u64::from(phy.lldu().0), u64::from(size.0).max(1));
    let (mut carried, mut last, mut line) = (0, 0, Vec::with_capacity(24));
    for (&t, &d) in phy.t().iter().zip(phy.d().iter()) {
        carried += if d > 0 { lldu } else { 0 };
        last = if carried >= size { t / MILLISECOND } else { last };
        while carried >= size {
            carried -= size;
            line.clear();
            append_integer(&mut line, last);
            line.push(b'\n');
            out.write_all(&line)?;
        }
    }
    if last == 0 { Err(WriteError::TooShort) } else { Ok(()) }
}

fn read_opportunities(reader: impl BufRead) -> Result<Vec<i64>, ReadError> {
    let mut lines = Lines::new(reader);
    let mut t: Vec<i64> = Vec::new();
    let (mut current, mut group, mut last_line) = (0, 0, 0);
    while let Some((number, line)) = lines.next()? {
        last_line = number;
        let stamp = parse_stamp(line).map_err(|fault| fault.at(number))?;
        if stamp < current {
            return Err(Fault::Decreasing(stamp as u64).at(number));
        }
        if stamp > current {
            spread(&mut t[group..]);
            (current, group) = (stamp, t.len());
        }
        if (t.len() - group) as i64 >= MILLISECOND {
            return Err(Fault::Crowded.at(number));
        }
        t.push(stamp * MILLISECOND);
    }
    spread(&mut t[group..]);
    if current == 0 && !t.is_empty() {
        return Err(Fault::NoPeriod.at(last_line));
    }
    t.shrink_to_fit();
    Ok(t)
}

/// Spreads the opportunities of one millisecond evenly over it.
fn spread(group: &mut [i64]) {
    let count = group.len() as i64;
    for (index, t) in group.iter_mut().enumerate() {
        *t += index as i64 * MILLISECOND / count;
    }
}

fn parse_stamp(line: &[u8]) -> Result<i64, Fault> {
    let text = line.trim_ascii();
    if text.is_empty() {
        return Err(Fault::Blank);
    }
    match parse_integer(text) {
        // Half of the range, so that t + d stays within it.
        Some(stamp) if stamp < (LATEST / 2 / MILLISECOND) as u64 => Ok(stamp as i64),
        Some(_) => Err(Fault::TooLate(Snippet::new(text))),
        None => Err(not_a_stamp(text)),
    }
}

fn not_a_stamp(text: &[u8]) -> Fault {
    let snippet = Snippet::new(text);
    match text.strip_prefix(b"-") {
        Some(rest) if parse_integer(rest).is_some() => Fault::Negative(snippet),
        None if text.iter().all(u8::is_ascii_digit) => Fault::TooLate(snippet),
        _ => Fault::NotMilliseconds(snippet),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> PhyTrace {
        read(text.as_bytes(), OPPORTUNITY).unwrap()
    }

    fn written(phy: &PhyTrace, size: u32) -> String {
        let mut out = Vec::new();
        write(phy, Bytes(size), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_constant_rate_is_one_line() {
        let phy = parsed("1\n");
        assert_eq!((&phy.t()[..], &phy.d()[..]), (&[1_000_000][..], &[1_000_000][..]));
        assert_eq!(phy.header().period, Some(Duration::from_millis(1)));
    }

    #[test]
    fn three_in_a_millisecond_are_a_third_apart() {
        let phy = parsed("2\n2\n2\n5");
        assert_eq!(phy.t()[..], [2_000_000, 2_333_333, 2_666_666, 5_000_000]);
        assert_eq!(phy.d()[..], [333_333, 333_333, 2_333_334, 2_000_000]);
    }

    #[test]
    fn a_seam_whose_ends_share_a_millisecond_keeps_slots_apart() {
        let phy = parsed("0\n0\n10\n");
        // 10 ms is also 0 ms of the repetition; the next opportunity after it is at 10.5 ms.
        assert_eq!(phy.d()[..], [500_000, 9_500_000, 500_000]);
        assert_eq!(phy.header().period, Some(Duration::from_nanos(10_000_001)));
    }

    #[test]
    fn erased_slots_carry_nothing_and_small_ones_add_up() {
        let t: Vec<i64> = (0..100).map(|i| i * MILLISECOND).collect();
        let d = (0..100).map(|i| i64::from(i % 2)).collect::<Vec<_>>();
        let phy = PhyTrace::new(t.into(), d.into(), Bytes(150)).unwrap();
        // Every odd slot carries 150 bytes: 1500 are full with slot 19, 39, ...
        assert_eq!(written(&phy, 1500), "19\n39\n59\n79\n99\n");
        assert_eq!(written(&phy, 75).lines().take(3).collect::<Vec<_>>(), ["1", "1", "3"]);
    }

    #[test]
    fn faults_have_a_line_and_a_cure() {
        let cases = [
            ("", "the trace is empty"),
            ("1\n\n2\n", "line 2: an empty line; remove it"),
            ("5\n4\n", "line 2: 4 ms comes before the line before it; sort the file"),
            ("0\n0\n", "line 2: the last timestamp is 0 ms, and the file repeats with it"),
            ("1.5\n", "line 1: `1.5` is not a time; write one integer of milliseconds a line"),
            ("NaN\n", "line 1: `NaN` is not a time"),
            ("-3\n", "line 1: `-3` is negative"),
            ("9000000000000\n", "line 1: `9000000000000` is over 2^61 ns"),
            ("99999999999999999999\n", "line 1: `99999999999999999999` is over 2^61 ns"),
        ];
        for (text, expected) in cases {
            let message = read(text.as_bytes(), OPPORTUNITY).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{text:?}: {message}");
        }
        let crowded = "1\n".repeat(1_000_001);
        let fault = read(crowded.as_bytes(), OPPORTUNITY).unwrap_err();
        assert!(fault.to_string().starts_with("line 1000001: more than 1000000 opportunities"));
        let short = PhyTrace::new(vec![5].into(), vec![1].into(), OPPORTUNITY).unwrap();
        assert!(matches!(write(&short, OPPORTUNITY, Vec::new()), Err(WriteError::TooShort)));
    }

    proptest! {
        #[test]
        fn a_file_survives_and_its_slots_fill_the_period(
            gaps in proptest::collection::vec(prop_oneof![Just(0u32), 0u32..50], 1..200),
        ) {
            let stamps = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) });
            let text: String = stamps.map(|stamp| format!("{stamp}\n")).collect();
            prop_assume!(gaps.iter().any(|&gap| gap > 0));
            let phy = parsed(&text);
            prop_assert_eq!(written(&phy, 1500), text);
            // d leads from each slot to the next: only the last one's goes over the seam.
            for slot in 1..phy.len() {
                prop_assert_eq!(phy.t()[slot - 1] + phy.d()[slot - 1], phy.t()[slot]);
            }
            let (first, last) = (phy.t()[0], phy.t()[phy.len() - 1]);
            let period = phy.header().period.unwrap().as_nanos() as i64;
            let nominal = i64::from(gaps.iter().sum::<u32>()) * MILLISECOND;
            prop_assert!(period > last - first);
            prop_assert!((nominal..nominal + MILLISECOND).contains(&period));
            prop_assert!(phy.d()[phy.len() - 1] > 0);
        }
    }
}
