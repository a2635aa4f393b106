//! Per-packet one-way delay and loss, as recorded by IRTT and similar tools.
//!
//! The RTT is twice the smallest delay; `d` = delay - smallest + 1 ns, or 0 for a lost probe
//! (docs/concepts/traces.md). The header keeps that RTT. Two kinds of files are supported: a CSV
//! with a header ([`read_csv`]), and a pair of files with one delay or loss flag per line
//! ([`read_pair`]).

use std::io::BufRead;

use crate::budget::Budget;
use crate::trace::column::MOST;
use crate::trace::decimal::{parse, parse_nanoseconds};
use crate::trace::error::{Fault, FileError, ReadError, Snippet};
pub use crate::trace::file::Direction;
use crate::trace::file::{FormatRow, Input, TraceFile};
use crate::trace::lines::Lines;
use crate::trace::notes::readable;
use crate::trace::slots::SlotBuilder;
use crate::trace::{Header, Notes, PhyTrace, TimeUnit};
use crate::units::{BitRate, Bytes, Duration, counted};

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "probes",
    doc: "Per-packet delay and loss with a header.",
    keys: &[&["direction", "rate"]],
    read: Some(|how, input| {
        let why = "probes have two directions, up and down";
        let direction = how.needed(how.direction, why, "direction", input)?;
        let sampling = Sampling::of(how, input)?;
        input.parsed(&how.file, |file| read_csv(file, direction, sampling, input.budget))
    }),
    ..FormatRow::NAMED
};

pub(super) const PAIR: FormatRow = FormatRow {
    name: "delay-loss",
    doc: "A file of delays and one of loss flags.",
    keys: &[&["losses", "interval", "rate"]],
    read: Some(read_files),
    ..FormatRow::NAMED
};

fn read_files(how: &TraceFile, input: &Input<'_>) -> Result<PhyTrace, FileError> {
    let why = "a file of delays needs the file of loss flags";
    let losses = how.needed(how.losses.as_ref(), why, "losses", input)?;
    let why = "a file of delays needs the time between probes";
    let interval = how.needed(how.interval, why, "interval", input)?;
    let (losses, sampling) = (input.reader(losses)?, Sampling::of(how, input)?);
    input.parsed(&how.file, |file| read_pair((file, losses), interval, sampling, input.budget))
}

/// Default payload of a slot: that of an Ethernet frame.
const PACKET: Bytes = Bytes(1500);

/// How probes become slots.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Sampling {
    /// Payload of a slot.
    pub lldu: Bytes,
    /// `None`: one slot per probe. Otherwise slots of `lldu` bytes at this rate, from the first
    /// probe to the last, each with the delay or loss of the nearest probe (of two, the earlier
    /// one).
    pub rate: Option<BitRate>,
}

impl Sampling {
    pub(super) fn of(how: &TraceFile, input: &Input<'_>) -> Result<Self, FileError> {
        let rate = how.constant_rate(input)?;
        Ok(Self { lldu: how.lldu.unwrap_or(PACKET), rate })
    }
}

/// Reads a CSV file with a header. The columns determine the kind: LENS (`timestamp` in ns,
/// `uplink` and `downlink` in ms; -1 = lost, 0 = unknown, no slot), or `send_time_s`,
/// `up_delay_ms`, `up_lost`, `down_delay_ms`, `down_lost` (the delay of a lost probe is ignored).
/// Time 0 is the first probe, even if unknown, so that both directions have the same clock.
///
/// ```
/// use clift::budget::Budget;
/// use clift::trace::probes::{self, Direction, Sampling};
/// use clift::units::{Bytes, Duration};
/// let csv = "timestamp,rtt,uplink,downlink\n1000000000,50,20.5,29.5\n1010000000,-1,-1,0\n";
/// let sampling = Sampling { lldu: Bytes(1500), rate: None };
/// let phy = probes::read_csv(csv.as_bytes(), Direction::Up, sampling, &Budget::unlimited()).unwrap();
/// assert_eq!((&phy.t()[..], &phy.d()[..]), (&[0, 10_000_000][..], &[1, 0][..]));
/// assert_eq!(phy.header().rtt, Some(Duration::from_millis(41)));
/// ```
///
/// # Errors
/// A [`ReadError`] with the first faulty line.
pub fn read_csv(
    reader: impl BufRead,
    direction: Direction,
    sampling: Sampling,
    budget: &Budget<'_>,
) -> Result<PhyTrace, ReadError> {
    let mut lines = Lines::new(reader);
    let Some((_, header)) = lines.next()? else { return Err(Fault::empty().into()) };
    let layout = ProbeLayout::of(header, direction).map_err(|fault| fault.at(1))?;
    let (mut probes, mut first) = (SlotBuilder::within(budget), i64::MAX);
    while let Some((number, line)) = lines.next()? {
        if !line.trim_ascii().is_empty() {
            let at = layout.read(line, &mut probes).map_err(|fault| fault.at(number))?;
            first = first.min(at);
        }
    }
    trace_of(probes, first, sampling, Notes::default(), budget)
}

/// True if a file with this first line is one of probes.
pub(super) fn is_header(line: &[u8]) -> bool {
    ProbeLayout::of(line, Direction::Up).is_ok()
}

/// Reads a file of delays (integer nanoseconds, one per line) and one of loss flags (1 = lost), of
/// probes sent every `interval`.
///
/// # Errors
/// A [`ReadError`] with the first faulty line, or if the files differ in length.
pub fn read_pair(
    (delays, losses): (impl BufRead, impl BufRead),
    interval: Duration,
    sampling: Sampling,
    budget: &Budget<'_>,
) -> Result<PhyTrace, ReadError> {
    let (mut delays, mut losses) = (Lines::new(delays), Lines::new(losses));
    let mut probes = SlotBuilder::within(budget);
    loop {
        let (at, delay) = match (delays.next()?, losses.next()?) {
            (None, None) => break,
            (Some((number, delay)), Some((_, loss))) => {
                let parsed = pair(delay.trim_ascii(), loss.trim_ascii());
                let at = (number - 1).saturating_mul(interval.as_nanos());
                (at, parsed.map_err(|fault| fault.at(number))?)
            }
            (Some((number, _)), None) => {
                return Err(unequal(number + rest(&mut delays)?, number - 1));
            }
            (None, Some((number, _))) => {
                return Err(unequal(number - 1, number + rest(&mut losses)?));
            }
        };
        let at = i64::try_from(at).unwrap_or(i64::MAX);
        probes.push(at, delay, at.to_string().as_bytes())?;
    }
    trace_of(probes, 0, sampling, Notes::default(), budget)
}

fn rest(lines: &mut Lines<impl BufRead>) -> Result<u64, ReadError> {
    let mut count = 0;
    while lines.next()?.is_some() {
        count += 1;
    }
    Ok(count)
}

fn unequal(delays: u64, losses: u64) -> ReadError {
    let delays = counted(delays, "delay", "delays");
    let losses = counted(losses, "loss flag", "loss flags");
    ReadError::of_file(format!("{delays} but {losses}; give one of each per packet"))
}

/// The delay of a probe, or [`LOST`].
fn pair(delay: &[u8], loss: &[u8]) -> Result<i64, Fault> {
    if is_lost(loss)? { Ok(LOST) } else { parse_nanoseconds(delay) }
}

fn is_lost(flag: &[u8]) -> Result<bool, Fault> {
    match flag {
        b"0" => Ok(false),
        b"1" => Ok(true),
        _ => Err(Fault::of(flag, "is neither 0 (received) nor 1 (lost)")),
    }
}

/// Column layout of a CSV file.
struct ProbeLayout {
    columns: usize,
    time: (usize, TimeUnit),
    delay: usize,
    /// The column of the loss flag; `None` if the delay encodes losses (LENS).
    lost: Option<usize>,
}

impl ProbeLayout {
    fn of(header: &[u8], direction: Direction) -> Result<Self, Fault> {
        let names: Vec<&[u8]> =
            header.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect();
        let find = |name: &str| {
            let found = names.iter().position(|&column| column == name.as_bytes());
            found.ok_or_else(|| {
                Fault::Text(format!("no column `{name}` in the header {}", Snippet::new(header)))
            })
        };
        let (lens, flagged) = match direction {
            Direction::Up => ("uplink", ["up_delay_ms", "up_lost"]),
            Direction::Down => ("downlink", ["down_delay_ms", "down_lost"]),
        };
        if let Ok(time) = find("timestamp") {
            let time = (time, TimeUnit::Nanoseconds);
            Ok(Self { columns: names.len(), time, delay: find(lens)?, lost: None })
        } else if let Ok(time) = find("send_time_s") {
            let [delay, lost] = flagged;
            let time = (time, TimeUnit::Seconds);
            let (delay, lost) = (find(delay)?, Some(find(lost)?));
            Ok(Self { columns: names.len(), time, delay, lost })
        } else {
            let known = "is not the header of a probe file; known are \
                         `timestamp,rtt,uplink,downlink` and \
                         `send_time_s,up_delay_ms,up_lost,down_delay_ms,down_lost` in any \
                         order; other logs are read by `clift trace import`";
            Err(Fault::of(header, known))
        }
    }

    /// Reads a probe and adds it unless its delay is unknown. Returns its time.
    fn read(&self, line: &[u8], probes: &mut SlotBuilder<'_>) -> Result<i64, Fault> {
        let (mut time, mut delay, mut lost, mut found) = (&b""[..], &b""[..], &b"0"[..], 0);
        for (index, field) in line.split(|&byte| byte == b',').enumerate() {
            found += 1;
            let field = field.trim_ascii();
            if index == self.time.0 {
                time = field;
            } else if index == self.delay {
                delay = field;
            } else if Some(index) == self.lost {
                lost = field;
            }
        }
        if found != self.columns {
            return Err(Fault::columns(found, self.columns));
        }
        let at = parse(time, self.time.1)?.0;
        let delay = match self.lost {
            Some(_) if is_lost(lost)? => LOST,
            Some(_) => parse(delay, TimeUnit::Milliseconds)?.0,
            None => match parse_lens(delay)? {
                Some(delay) => delay,
                None => return Ok(at),
            },
        };
        probes.push(at, delay, time)?;
        Ok(at)
    }
}

/// LENS writes -1 for a lost probe and 0 for an unknown delay.
fn parse_lens(delay: &[u8]) -> Result<Option<i64>, Fault> {
    match parse(delay, TimeUnit::Milliseconds) {
        Ok((_, false)) => Ok(None),
        Ok((nanos, true)) => Ok(Some(nanos)),
        Err(fault) => match delay.strip_prefix(b"-").map(|of| parse(of, TimeUnit::Milliseconds)) {
            Some(Ok((1_000_000, _))) => Ok(Some(LOST)),
            _ => Err(fault),
        },
    }
}

/// The delay of a lost probe.
pub(super) const LOST: i64 = -1;

/// Builds the trace from probes whose `d` is still their delay or [`LOST`]. Time 0 is `first`, at
/// or before all of them. `notes` holds further notes of the import.
pub(super) fn trace_of(
    probes: SlotBuilder<'_>,
    first: i64,
    sampling: Sampling,
    mut notes: Notes,
    budget: &Budget<'_>,
) -> Result<PhyTrace, ReadError> {
    let (mut t, mut d) = probes.into_columns();
    if t.is_empty() {
        return Err(Fault::empty().into());
    }
    let probes = t.len();
    let unanswered = d.iter().filter(|&&delay| delay == LOST).count();
    t.iter_mut().for_each(|t| *t -= first);
    let smallest = d.iter().copied().filter(|&delay| delay != LOST).min();
    let base = smallest.unwrap_or(0);
    d.iter_mut().for_each(|d| *d = if *d == LOST { 0 } else { *d - base + 1 });
    if let Some(rate) = sampling.rate {
        (t, d) = resample(&t, &d, sampling.lldu, rate, budget)?;
    }
    let rtt = smallest.map(|delay| Duration::from_nanos(2 * delay.unsigned_abs()));
    let lost = d.iter().filter(|&&d| d == 0).count();
    let (probes, lost) = (counted(probes, "probe", "probes"), counted(lost, "slot", "slots"));
    let slots =
        if sampling.rate.is_some() { format!(", {lost} with their fate") } else { String::new() };
    notes.understood.push(format!("{probes}, {unanswered} of them lost{slots}"));
    match smallest {
        Some(delay) => notes.assumed.push(format!(
            "the smallest delay, {}, is that of the link (RTT {}, both ways alike); the excess \
             is in d",
            readable(delay),
            readable(2 * delay)
        )),
        None => notes.assumed.push("no probe was received: no round-trip time".to_owned()),
    }
    notes.assumed.push(match sampling.rate {
        None => "one slot per probe".to_owned(),
        Some(rate) => format!("slots at {rate}, each with delay and fate of the nearest probe"),
    });
    notes.assumed.push(format!("LLDUs of {}", counted(sampling.lldu.0, "byte", "bytes")));
    let header = Header { rtt, notes: notes.clean(), ..Header::default() };
    Ok(PhyTrace::with_header(t.into(), d.into(), sampling.lldu, header)?)
}

/// Slots of `lldu` bytes at `rate` up to the last probe, each with the `d` of the nearest probe.
pub(super) fn resample(
    t: &[i64],
    d: &[i64],
    lldu: Bytes,
    rate: BitRate,
    budget: &Budget<'_>,
) -> Result<(Vec<i64>, Vec<i64>), ReadError> {
    if lldu.0 == 0 {
        return Err(Fault::zero_lldu().into());
    }
    // Slot i starts at i * bits / rate, rounded, so that a long trace does not drift.
    let bits = u128::from(lldu.0) * 8 * 1_000_000_000;
    let rate = u128::from(rate.bits_per_second());
    let last = t[t.len() - 1].unsigned_abs();
    let count = u128::from(last) * rate / bits + 1;
    if count > u128::from(MOST) || rate > bits {
        return Err(ReadError::File(Fault::TooMany(MOST)));
    }
    let (mut slots, mut fates) = budget.columns(count as u64)?;
    let mut probe = 0;
    for index in 0..count {
        let slot = ((index * bits + rate / 2) / rate) as i64;
        while probe + 1 < t.len() && t[probe + 1] - slot < slot - t[probe] {
            probe += 1;
        }
        slots.push(slot);
        fates.push(d[probe]);
    }
    Ok((slots, fates))
}

#[cfg(test)]
mod tests;
