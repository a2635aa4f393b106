//! Observations of a satellite navigation receiver in RINEX: C/N0 over time, as a modem's log.
//!
//! Versions 3 and 4 are read. An observation whose code starts with `S` is the signal strength, in
//! dBHz in all receivers that do not say otherwise. `cn0` names a satellite and a code:
//! `"G05 S1C:dBHz"`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::BufRead;

use jiff::civil::DateTime;

use crate::budget::Budget;
use crate::trace::decimal::parse_scaled;
use crate::trace::error::{Fault, FileError, ReadError, Snippet};
use crate::trace::file::{FormatRow, Input, TraceFile};
use crate::trace::lines::{Lines, has};
use crate::trace::series::{self, ColumnName, DecibelHertz, Given};
use crate::trace::{Notes, PhyTrace};
use crate::units::counted;

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "rinex",
    suffixes: &["rnx"],
    doc: "Observations in RINEX 3 or 4: C/N0 of a satellite, as a modem's log.",
    keys: &[series::KEYS],
    read: Some(read),
    content: Some(|start| has(start, "RINEX VERSION / TYPE")),
    ..FormatRow::NAMED
};

fn read(how: &TraceFile, input: &Input<'_>) -> Result<PhyTrace, FileError> {
    let wanted = match &how.cn0 {
        Some(Given::Constant(_)) => {
            let cure = "the file has it: name a satellite and a code, e.g. \"G05 S1C:dBHz\"";
            return Err(how.wrong("cn0", cure, input));
        }
        Some(Given::Column(ColumnName::Header(name), _)) => name.clone(),
        // The message of the table names what the file has.
        Some(Given::Column(ColumnName::Number(_), _)) | None => String::new(),
    };
    let cn0: Option<Given<DecibelHertz>> = "cn0:dBHz".parse().ok();
    let how = TraceFile { time: "time:s".parse().ok(), cn0, ..how.clone() };
    series::read_made(&how, input, |reader, budget| table(reader, &wanted, budget))
}

/// Text of a line in columns `from..to`, counted from 0, without the spaces around it.
fn columns(line: &[u8], from: usize, to: usize) -> &[u8] {
    line.get(from..to.min(line.len())).unwrap_or_default().trim_ascii()
}

fn text(line: &[u8]) -> String {
    String::from_utf8_lossy(line).into_owned()
}

fn whole(line: &[u8]) -> Option<usize> {
    std::str::from_utf8(line).ok()?.parse().ok()
}

/// The codes of the observations of each system, in the order of their columns.
type Codes = BTreeMap<u8, Vec<String>>;

fn header<R: BufRead>(lines: &mut Lines<R>) -> Result<Codes, ReadError> {
    let (mut codes, mut system, mut first) = (Codes::new(), b' ', true);
    while let Some((number, line)) = lines.next()? {
        let fault = |text: String| Err(Fault::Text(text).at(number));
        let label = columns(line, 60, 80);
        if first {
            if label.starts_with(b"CRINEX") {
                return fault("compact RINEX (Hatanaka); unpack it first: crx2rnx FILE".to_owned());
            }
            let version = columns(line, 0, 9);
            if label != b"RINEX VERSION / TYPE" {
                return fault(format!("{} is not the first line of RINEX", Snippet::new(line)));
            }
            if !matches!(version.first(), Some(b'3' | b'4')) {
                return fault(format!(
                    "RINEX {}; convert the file to version 3 or 4, e.g. with convbin or gfzrnx",
                    text(version)
                ));
            }
            if line.get(20) != Some(&b'O') {
                return fault("RINEX, but not of observations (type O)".to_owned());
            }
            first = false;
        } else if label == b"SYS / # / OBS TYPES" {
            // A line without a system continues the system of the line before.
            if line.first().is_some_and(|&byte| byte != b' ') {
                system = line[0];
            }
            let names = columns(line, 7, 60).split(|&byte| byte == b' ');
            let names = names.filter(|name| !name.is_empty()).map(text);
            codes.entry(system).or_default().extend(names);
        } else if label == b"SIGNAL STRENGTH UNIT" && columns(line, 0, 20) != b"DBHZ" {
            let unit = Snippet::new(columns(line, 0, 20));
            return fault(format!("signal strengths in {unit}; only dBHz is known"));
        } else if label == b"END OF HEADER" {
            return Ok(codes);
        }
    }
    let fault = "the header does not end (END OF HEADER); copy the file again";
    Err(ReadError::of_file(fault))
}

/// The time of an epoch (`> 2019 06 05 01 52 20.2019999  0  6`), in ns of an arbitrary origin.
fn time(line: &[u8]) -> Option<i64> {
    let part = |from, to| whole(columns(line, from, to)).and_then(|part| i16::try_from(part).ok());
    let day = |from, to| part(from, to).and_then(|part| i8::try_from(part).ok());
    let (year, month, date) = (part(2, 6)?, day(7, 9)?, day(10, 12)?);
    let (hour, minute) = (day(13, 15)?, day(16, 18)?);
    let (false, Some(seconds)) = parse_scaled(columns(line, 18, 29), 9)? else { return None };
    let seconds = i64::try_from(seconds).ok().filter(|&seconds| seconds <= 60_999_999_999)?;
    let minute = DateTime::new(year, month, date, hour, minute, 0, 0).ok()?;
    let minute = jiff::tz::Offset::UTC.to_timestamp(minute).ok()?.as_nanosecond();
    i64::try_from(minute).ok()?.checked_add(seconds)
}

/// The C/N0 of `wanted`, e.g. `G05 S1C`, in each epoch, as a table of time and C/N0.
fn table(
    reader: impl BufRead,
    wanted: &str,
    budget: &Budget<'_>,
) -> Result<(String, Notes), ReadError> {
    let mut lines = Lines::new(reader);
    let codes = header(&mut lines)?;
    let mut words = wanted.split_whitespace();
    let (satellite, code) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let mut table = "time,cn0\n".to_owned();
    // Satellites and codes with a signal strength, and the epochs that have one.
    let mut known = BTreeMap::<String, u64>::new();
    let (mut origin, mut epochs) = (None, 0u64);
    while let Some((number, line)) = lines.next()? {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let fault = |text: String| Fault::Text(text).at(number);
        let count = whole(columns(line, 32, 35));
        let (Some(b'>'), Some(count)) = (line.first(), count) else {
            return Err(fault(format!("{} is not the start of an epoch (>)", Snippet::new(line))));
        };
        // Flags 0 and 1 are observations; the others announce lines of remarks.
        let observed = matches!(line.get(31), Some(b'0' | b'1'));
        let at = if observed {
            let at = time(line);
            at.ok_or_else(|| fault(format!("{} has no valid time", Snippet::new(line))))?
        } else {
            0
        };
        let mut found = String::new();
        for seen in 0..count {
            let Some((number, line)) = lines.next()? else {
                let fault = format!(
                    "the epoch has {seen} of its {count} lines; the file is cut off: copy it again"
                );
                return Err(Fault::Text(fault).at(number));
            };
            let name = columns(line, 0, 3);
            let system = name.first().and_then(|system| codes.get(system));
            if !observed {
                continue;
            }
            let Some(system) = system.filter(|_| name.len() == 3) else {
                let fault = format!("{} is not a satellite of the header", Snippet::new(name));
                return Err(Fault::Text(fault).at(number));
            };
            for (index, own) in system.iter().enumerate().filter(|(_, own)| own.starts_with('S')) {
                let value = columns(line, 3 + 16 * index, 17 + 16 * index);
                // Blank or 0: not observed.
                let size = parse_scaled(value, 3);
                if value.is_empty() || matches!(size, Some((_, Some(0)))) {
                    continue;
                }
                if size.is_none() {
                    let fault = format!("C/N0 {} is not a number", Snippet::new(value));
                    return Err(Fault::Text(fault).at(number));
                }
                let name = text(name);
                if name == satellite && own == code {
                    found = text(value);
                }
                *known.entry(format!("{name} {own}")).or_default() += 1;
            }
        }
        if observed {
            epochs += 1;
            let t = i128::from(at) - i128::from(*origin.get_or_insert(at));
            let (sign, t) = (if t < 0 { "-" } else { "" }, t.unsigned_abs());
            let length = table.len();
            let (seconds, rest) = (t / 1_000_000_000, t % 1_000_000_000);
            let _ = writeln!(table, "{sign}{seconds}.{rest:09},{found}");
            budget.take(2 * (table.len() - length) as u64, "a table of epochs")?;
        }
    }
    if !known.contains_key(wanted) {
        let mut best: Vec<_> = known.into_iter().collect();
        best.sort_by_key(|(name, epochs)| (std::cmp::Reverse(*epochs), name.clone()));
        let list = best.iter().take(12).map(|(name, epochs)| format!("`{name}` ({epochs})"));
        let list = list.collect::<Vec<_>>().join(", ");
        let fault = match (list.as_str(), wanted) {
            ("", _) => "no signal strengths: no observation code starts with S".to_owned(),
            (list, "") => format!(
                "cn0 must name a satellite and a code, e.g. \"{}:dBHz\"; the file has (with the \
                 number of epochs) {list}",
                best[0].0
            ),
            (list, _) => format!(
                "no signal strength {}; the file has (with the number of epochs) {list}",
                Snippet::new(wanted.as_bytes())
            ),
        };
        return Err(ReadError::of_file(fault));
    }
    let mut notes = Notes::default();
    let with = known[wanted];
    notes.understood.push(format!(
        "RINEX, C/N0 of {satellite}, code {code}, in {with} of {}",
        counted(epochs, "epoch", "epochs")
    ));
    if with < epochs {
        notes.warnings.push(format!(
            "{} without a C/N0: frames are lost there",
            counted(epochs - with, "epoch is", "epochs are")
        ));
    }
    Ok((table, notes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::InMemory;

    fn line(content: &str, label: &str) -> String {
        format!("{content:<60}{label}\n")
    }

    /// Three epochs of two satellites; G02 is not seen in the second, which follows a remark.
    fn example() -> String {
        let record = |name: &str, cn0: &str| {
            format!("{name}  21643026.311 6      -2084.859        {cn0:>6}     \n")
        };
        let mut file = line("     3.04           OBSERVATION DATA    M", "RINEX VERSION / TYPE");
        file += &line("G    3 C1C D1C", "SYS / # / OBS TYPES");
        file += &line("       S1C", "SYS / # / OBS TYPES");
        file += &line("", "END OF HEADER");
        file += "> 2024 06 05 23 59 59.0000000  0  2\n";
        file += &(record("G01", "45.250") + &record("G02", "39.000"));
        file += "> 2024 06 06 00 00  0.0000000  4  1\n";
        file += &line("a remark", "COMMENT");
        file += "> 2024 06 06 00 00  0.0000000  0  1\n";
        file += &record("G01", "20.000");
        file += "> 2024 06 06 00 00  1.0000000  0  2\n";
        file + &record("G02", "41.000") + &record("G01", "45.000")
    }

    fn made(file: &str, wanted: &str) -> Result<String, String> {
        let made = table(file.as_bytes(), wanted, &Budget::unlimited());
        made.map(|(table, _)| table).map_err(|error| error.to_string())
    }

    #[test]
    fn a_satellites_signal_is_a_series() {
        let first = "time,cn0\n0.000000000,45.250\n1.000000000,20.000\n2.000000000,45.000\n";
        assert_eq!(made(&example(), "G01 S1C").unwrap(), first);
        let second = "time,cn0\n0.000000000,39.000\n1.000000000,\n2.000000000,41.000\n";
        assert_eq!(made(&example(), "G02 S1C").unwrap(), second);
    }

    #[test]
    fn the_series_is_a_modems_log() {
        let mut files = InMemory::default();
        files.insert("x.rnx", example());
        let file = TraceFile {
            cn0: "G01 S1C:dBHz".parse().ok(),
            symbol_rate: "5 kBd".parse().ok(),
            frame_symbols: Some(500),
            modcod: Some("QPSK 1/4".to_owned()),
            ..TraceFile::new("x.rnx")
        };
        let phy = file.read(&files).unwrap();
        let lost = |from: i64| {
            let slots = phy.t().iter().zip(phy.d().iter());
            let slots = slots.filter(|(t, _)| (from..from + 1_000_000_000).contains(*t));
            slots.map(|(_, &d)| d == 0).collect::<Vec<_>>()
        };
        // 5 kBd are 37 dB: Es/N0 is 8 dB at first, -17 dB in the second second.
        assert!(!lost(0).is_empty() && lost(0).iter().all(|lost| !lost));
        assert!(lost(1_000_000_000).iter().any(|&lost| lost));
        let plain = TraceFile::new("x.rnx").read(&files).unwrap_err().to_string();
        assert!(plain.starts_with("x.rnx: "), "{plain}");
    }

    #[test]
    fn faults_say_what_the_file_has() {
        let fault = |from: &str, to: &str, wanted: &str| {
            made(&example().replace(from, to), wanted).unwrap_err()
        };
        assert_eq!(
            fault("", "", "G05 S1C"),
            "no signal strength `G05 S1C`; the file has (with the number of epochs) \
             `G01 S1C` (3), `G02 S1C` (2)"
        );
        assert!(fault("", "", "").starts_with("cn0 must name a satellite and a code, e.g. \"G01 "));
        assert!(fault("S1C", "L1C", "").starts_with("no signal strengths"));
        assert!(fault("3.04", "2.11", "").starts_with("line 1: RINEX 2.11; convert the file"));
        assert!(fault("RINEX V", "CRINEX V", "").starts_with("line 1: compact RINEX"));
        assert!(fault("2024 06 05", "2024 13 05", "").starts_with("line 5: "));
        assert!(fault("G02", "X02", "").starts_with("line 7: `X02` is not a satellite"));
        assert!(fault("45.250", "45.x50", "").starts_with("line 6: C/N0 `45.x50` is not"));
        let endless = fault("END OF HEADER", "", "");
        assert_eq!(endless, "the header does not end (END OF HEADER); copy the file again");
        let whole = example();
        let cut = whole.len() - 60;
        assert!(made(&whole[..cut], "G01 S1C").unwrap_err().contains("1 of its 2 lines"));
    }

    #[test]
    fn cut_and_flipped_files_never_panic() {
        let whole = example();
        for end in 0..whole.len() {
            let _ = made(&whole[..end], "G01 S1C");
        }
        for at in 0..whole.len() {
            for byte in [b'9', b'-', b'>', b' ', 0xff] {
                let mut hurt = whole.as_bytes().to_vec();
                hurt[at] = byte;
                let _ = table(&hurt[..], "G01 S1C", &Budget::unlimited());
            }
        }
    }
}
