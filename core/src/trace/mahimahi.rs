//! mahimahi packet-delivery traces: one integer of milliseconds per line, each an opportunity to
//! send a fixed number of bytes. The file repeats with the period of its last timestamp.
//!
//! The semantics follow mahimahi's code (`link_queue.cc`), not its manual: an opportunity has 1504
//! bytes, and each packet takes 4 bytes more than its IP length; the next packet may use the
//! remainder of an opportunity; a packet that arrives within a millisecond cannot use opportunities
//! of that millisecond.

use std::io::{BufRead, Write};

use crate::budget::Budget;
use crate::trace::column::{LATEST, MOST};
use crate::trace::decimal::{append_integer, parse_below, parse_integer};
use crate::trace::error::{Fault, ReadError, WriteError};
use crate::trace::file::FormatRow;
use crate::trace::lines::Lines;
use crate::trace::{Header, Loading, Packing, PhyTrace};
use crate::units::{Bytes, Duration};

/// Bytes per opportunity in mahimahi's code. Its documentation says 1500.
pub const OPPORTUNITY: Bytes = Bytes(1504);
/// Bytes that mahimahi adds to each IP packet: the header of a TUN device.
const TUN_HEADER: Bytes = Bytes(4);

const MILLISECOND: i64 = 1_000_000;
const TICK: Duration = Duration::from_millis(1);

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "mahimahi",
    suffixes: &["mahimahi", "up", "down"],
    doc: "Delivery opportunities in milliseconds.",
    read: Some(|how, input| {
        let size = how.lldu.unwrap_or(OPPORTUNITY);
        input.parsed(&how.file, |file| read(file, size, input.budget))
    }),
    write: Some(|phy, how, out| {
        // A trace that was read from a mahimahi file keeps its opportunity size.
        let read = phy.header().loading.tick == TICK;
        let own = if read { phy.lldu() } else { OPPORTUNITY };
        write(phy, how.opportunity.unwrap_or(own), out)
    }),
    content: Some(is_likely),
    ..FormatRow::NAMED
};

/// Reads a trace whose slots are opportunities of `size` bytes. `d` is 1 ns, opportunities of the
/// same millisecond are 1 ns apart, and the header holds the packing and the period (the last
/// timestamp). Only for opportunities of mahimahi's own size does each packet take 4 more bytes.
///
/// Opportunities at 0 ms are placed after those of the last millisecond, because both fall at the
/// same instant when the file repeats.
///
/// ```
/// use clift::budget::Budget;
/// use clift::trace::mahimahi;
/// let phy = mahimahi::read("1\n1\n4\n".as_bytes(), mahimahi::OPPORTUNITY, &Budget::unlimited()).unwrap();
/// assert_eq!(phy.t()[..], [1_000_000, 1_000_001, 4_000_000]);
/// assert_eq!(phy.d()[..], [1, 1, 1]);
/// assert_eq!(phy.header().period.unwrap().as_nanos(), 4_000_000);
/// ```
///
/// # Errors
/// A [`ReadError`] with the first faulty line.
pub fn read(reader: impl BufRead, size: Bytes, budget: &Budget<'_>) -> Result<PhyTrace, ReadError> {
    let t = read_opportunities(reader, budget)?;
    let Some(&last) = t.last() else { return Err(crate::trace::Fault::empty().into()) };
    // mahimahi repeats a file with its last timestamp (`link_queue.cc`); opportunities of one
    // millisecond are 1 ns apart here.
    let period = last - last % MILLISECOND;
    let loading = Loading {
        packing: Some(Packing::Bytes),
        // mahimahi counts the 4 bytes that a TUN device puts before each IP packet.
        packet_header: if size == OPPORTUNITY { TUN_HEADER } else { Bytes(0) },
        tick: TICK,
        ..Loading::default()
    };
    let period = Some(Duration::from_nanos(period as u64));
    let header = Header { period, loading, ..Header::default() };
    let mut d = budget.room(t.len() as u64, format_args!("{} opportunities", t.len()))?;
    // A file has no delays; 0 would mean erased.
    d.resize(t.len(), 1);
    Ok(PhyTrace::with_header(t.into(), d.into(), size, header)?)
}

/// Writes the trace as opportunities of `size` bytes: one whenever the received slots have carried
/// that many bytes. Delays are not written. A trace read by [`read`] is written unchanged.
///
/// # Errors
/// If the trace has no opportunity after the first millisecond or more of them than [`read`]
/// accepts, before anything is written, or if the writer fails.
pub fn write(phy: &PhyTrace, size: Bytes, mut out: impl Write) -> Result<(), WriteError> {
    let (mut now, mut in_millisecond, mut all) = (0, 0, 0);
    for (stamp, count) in opportunities(phy, size) {
        in_millisecond = if stamp == now { in_millisecond + count } else { count };
        (now, all) = (stamp, all + count);
        if in_millisecond > MILLISECOND as u64 || all > MOST {
            return Err(WriteError::TooMany(in_millisecond, stamp));
        }
    }
    if now == 0 {
        return Err(WriteError::TooShort);
    }
    let mut line = Vec::with_capacity(24);
    for (stamp, count) in opportunities(phy, size) {
        line.clear();
        append_integer(&mut line, stamp);
        line.push(b'\n');
        (0..count).try_for_each(|_| out.write_all(&line))?;
    }
    Ok(())
}

/// The milliseconds in which received slots complete opportunities of `size` bytes, with the number
/// that each slot completes.
fn opportunities(phy: &PhyTrace, size: Bytes) -> impl Iterator<Item = (i64, u64)> {
    let size = u64::from(size.0).max(1);
    let slots = phy.t().iter().zip(phy.d().iter()).enumerate();
    slots
        .scan(0, move |carried, (slot, (&t, &d))| {
            // Erased slots carry no data, so they make no opportunity.
            *carried += if d > 0 { u64::from(phy.sizes().at(slot)) } else { 0 };
            let whole = *carried / size;
            *carried %= size;
            Some((t / MILLISECOND, whole))
        })
        .filter(|&(_, whole)| whole > 0)
}

/// Lines that tell a file of mahimahi from another one of whole numbers.
const TELLING: usize = 8;

/// True if a file that starts so is of mahimahi, also without its suffix: whole numbers, one per line,
/// none less than the one before it.
fn is_likely(start: &[u8]) -> bool {
    // The last line may be cut off.
    let Some(end) = start.iter().rposition(|&byte| byte == b'\n') else { return false };
    let (mut lines, mut before, mut first) = (0, 0, None);
    for line in start[..end].split(|&byte| byte == b'\n') {
        match parse_integer(line.trim_ascii()) {
            Some(stamp) if stamp >= before => (lines, before) = (lines + 1, stamp),
            _ => return false,
        }
        first.get_or_insert(before);
    }
    lines >= TELLING && first.is_some_and(|first| first < before)
}

fn read_opportunities(reader: impl BufRead, budget: &Budget<'_>) -> Result<Vec<i64>, ReadError> {
    let mut lines = Lines::new(reader);
    let mut t: Vec<i64> = Vec::new();
    let (mut current, mut group, mut last_line) = (0, 0, 0);
    let mut at_zero = 0;
    while let Some((number, line)) = lines.next()? {
        last_line = number;
        let stamp = parse_stamp(line).map_err(|fault| fault.at(number))?;
        if stamp < current {
            let comes = format!("comes before the {current} ms of the line before it");
            // A smaller stamp in the last line only is a number that was cut off, as by a full
            // disk.
            let fault = match lines.next()? {
                Some(_) => format!("{stamp} ms {comes}; sort the file"),
                None => format!(
                    "the last line, {stamp} ms, {comes}: it looks cut off; remove it, or copy the \
                     file again"
                ),
            };
            return Err(Fault::Text(fault).at(number));
        }
        if stamp > current {
            at_zero = if current == 0 { t.len() } else { at_zero };
            (current, group) = (stamp, t.len());
        }
        // The opportunities of the last millisecond and of 0 ms share a millisecond when the file
        // repeats.
        let place = t.len() - group;
        if (place + at_zero) as i64 >= MILLISECOND {
            let cure = "more than 1000000 opportunities in one millisecond; check the unit";
            return Err(Fault::new(cure).at(number));
        }
        budget.grow(&mut t, "opportunities")?;
        t.push(stamp * MILLISECOND + place as i64);
    }
    if current == 0 && !t.is_empty() {
        let cure = "the last timestamp is 0 ms, and the file repeats with it; it must be above 0";
        return Err(Fault::new(cure).at(last_line));
    }
    let at_last = (t.len() - group) as i64;
    // Those at 0 ms follow those of the last millisecond of the cycle before.
    t[..at_zero].iter_mut().for_each(|t| *t += at_last);
    t.shrink_to_fit();
    Ok(t)
}

fn parse_stamp(line: &[u8]) -> Result<i64, Fault> {
    let text = line.trim_ascii();
    if text.is_empty() {
        return Err(Fault::blank());
    }
    // Half of the range, so that t + d stays within it.
    let cure = "is not a time; write one integer of milliseconds a line";
    parse_below(text, LATEST / 2 / MILLISECOND, cure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(reader: impl BufRead, size: Bytes) -> Result<PhyTrace, ReadError> {
        super::read(reader, size, &Budget::unlimited())
    }

    fn parsed(text: &str) -> PhyTrace {
        read(text.as_bytes(), OPPORTUNITY).unwrap()
    }

    fn written(phy: &PhyTrace, size: u32) -> String {
        let mut out = Vec::new();
        write(phy, Bytes(size), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_line_is_a_constant_rate() {
        let phy = parsed("1\n");
        assert_eq!((&phy.t()[..], &phy.d()[..]), (&[1_000_000][..], &[1][..]));
        assert_eq!(phy.header().period, Some(Duration::from_millis(1)));
    }

    #[test]
    fn opportunities_of_a_millisecond_are_a_nanosecond_apart() {
        let phy = parsed("2\n2\n2\n5");
        assert_eq!(phy.t()[..], [2_000_000, 2_000_001, 2_000_002, 5_000_000]);
        assert_eq!((phy.d()[..].to_vec(), phy.lldu()), (vec![1; 4], Bytes(1504)));
    }

    #[test]
    fn slots_stay_apart_where_the_repetition_starts() {
        // 10 ms is also 0 ms of the repetition, so four opportunities share it.
        let phy = parsed("0\n0\n10\n10\n");
        assert_eq!(phy.t()[..], [2, 3, 10_000_000, 10_000_001]);
        assert_eq!(phy.header().period, Some(Duration::from_millis(10)));
    }

    #[test]
    fn only_the_default_opportunity_size_adds_the_tun_header() {
        let own = |bytes| read("1\n".as_bytes(), Bytes(bytes)).unwrap().header().loading;
        assert_eq!((own(1504).packet_header, own(1500).packet_header), (Bytes(4), Bytes(0)));
        assert_eq!((own(1504).tick, own(1500).packing), (TICK, Some(Packing::Bytes)));
    }

    #[test]
    fn erased_slots_carry_nothing_and_small_ones_add_up() {
        let t: Vec<i64> = (0..100).map(|i| i * MILLISECOND).collect();
        let d = (0..100).map(|i| i64::from(i % 2)).collect::<Vec<_>>();
        let phy = PhyTrace::new(t.into(), d.into(), Bytes(150)).unwrap();
        // Every odd slot carries 150 bytes: 1500 are complete at slot 19, 39, ...
        assert_eq!(written(&phy, 1500), "19\n39\n59\n79\n99\n");
        assert_eq!(written(&phy, 75).lines().take(3).collect::<Vec<_>>(), ["1", "1", "3"]);
    }

    #[test]
    fn faults_have_a_line_and_a_cure() {
        let cases = [
            ("", "the trace is empty"),
            ("1\n\n2\n", "line 2: an empty line; remove it"),
            (
                "5\n4\n9\n",
                "line 2: 4 ms comes before the 5 ms of the line before it; sort the file",
            ),
            (
                "5\n12\n1",
                "line 3: the last line, 1 ms, comes before the 12 ms of the line before it: it looks cut \
                 off; remove it, or copy the file again",
            ),
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
        for crowded in ["1\n".repeat(1_000_001), "0\n".to_owned() + &"1\n".repeat(1_000_000)] {
            let fault = read(crowded.as_bytes(), OPPORTUNITY).unwrap_err();
            assert!(fault.to_string().starts_with("line 1000001: more than 1000000 opportunities"));
        }
        let short = PhyTrace::new(vec![5].into(), vec![1].into(), OPPORTUNITY).unwrap();
        assert!(matches!(write(&short, OPPORTUNITY, Vec::new()), Err(WriteError::TooShort)));
    }

    #[test]
    fn more_opportunities_than_can_be_read_are_refused_before_the_first() {
        let t: Vec<i64> = (0..20).map(|slot| slot * 500_000).collect();
        let huge = PhyTrace::new(t.into(), vec![1; 20].into(), Bytes(u32::MAX)).unwrap();
        let mut out = Vec::new();
        let error = write(&huge, OPPORTUNITY, &mut out).unwrap_err();
        assert!(error.to_string().starts_with("2855696 opportunities in millisecond 0"), "{error}");
        assert!(out.is_empty());
    }

    proptest! {
        #[test]
        fn files_read_back_unchanged_and_slots_fit_the_period(
            gaps in proptest::collection::vec(prop_oneof![Just(0u32), 0u32..50], 1..200),
        ) {
            let stamps = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) });
            let text: String = stamps.map(|stamp| format!("{stamp}\n")).collect();
            prop_assume!(gaps.iter().any(|&gap| gap > 0));
            let phy = parsed(&text);
            prop_assert_eq!(written(&phy, 1504), text);
            let (first, last) = (phy.t()[0], phy.t()[phy.len() - 1]);
            let period = phy.header().period.unwrap().as_nanos() as i64;
            prop_assert!(period > last - first);
            prop_assert_eq!(period, i64::from(gaps.iter().sum::<u32>()) * MILLISECOND);
            prop_assert!(phy.t().iter().all(|t| t % MILLISECOND < phy.len() as i64));
        }
    }
}
