use std::io::BufRead;

use super::*;
use crate::units::{Bytes, Duration};

const MS: i64 = 1_000_000;

/// A series with this column of times.
fn timed(time: &str) -> TraceFile {
    TraceFile { time: Some(time.parse().unwrap()), ..TraceFile::new("x.csv") }
}

fn read_as(
    reader: impl BufRead,
    how: &TraceFile,
    excerpt: Option<u64>,
    budget: &Budget<'_>,
) -> Result<PhyTrace, ReadError> {
    let time = how.time.as_ref().unwrap();
    Series { how, time, excerpt, modem: None }.read(reader, None, budget)
}

fn read(reader: impl BufRead, how: &TraceFile) -> Result<PhyTrace, ReadError> {
    read_as(reader, how, None, &Budget::unlimited())
}

/// Builds a series from text: `time=1:s rate=2:kbit/s ...`; LLDUs of 125 bytes.
fn series(keys: &str) -> TraceFile {
    let mut series = TraceFile { lldu: Some(Bytes(125)), ..timed("1:s") };
    for part in keys.split(' ').filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=').unwrap();
        let value = &value.replace('_', " ");
        match key {
            "time" => series.time = Some(value.parse().unwrap()),
            "rate" => series.rate = Some(value.parse().unwrap()),
            "delay" => series.delay = Some(value.parse().unwrap()),
            "loss" => series.loss = Some(value.parse().unwrap()),
            "offset" => series.clock_offset = Some(value.parse().unwrap()),
            "missing" => series.missing = Some(value.clone()),
            "is" => series.delay_is = DelayIs::RoundTrip,
            "overtaking" => series.keep_order = Some(false),
            "seed" => series.seed = Some(value.parse().unwrap()),
            _ => panic!("{key}"),
        }
    }
    series
}

fn imported(text: &str, keys: &str) -> PhyTrace {
    read(text.as_bytes(), &series(keys)).unwrap()
}

fn fault(text: &str, keys: &str) -> String {
    read(text.as_bytes(), &series(keys)).unwrap_err().to_string()
}

#[test]
fn rates_determine_the_slots_and_delays_become_d() {
    // 1000 bits: at 4 kbit/s a slot in 250 ms.
    let phy = imported("5 4 10\n6 0 20\n7 8 30.5\n", "rate=2:kbit/s delay=3:ms");
    let ms = [0, 250, 500, 750, 2000, 2125, 2250, 2375, 2500, 2625, 2750, 2875];
    assert_eq!(phy.t()[..], ms.map(|ms| ms * MS));
    assert_eq!(phy.d()[..4], [10 * MS; 4]);
    assert_eq!(phy.d()[4..], [30 * MS + MS / 2; 8]);
    assert_eq!(phy.header().period, Some(Duration::from_millis(3000)));
    assert_eq!(phy.header().rtt, Some(Duration::ZERO));
    let notes = &phy.header().notes;
    assert!(notes.understood.contains(&"rate is column 2 in kbit/s".to_owned()), "{notes:?}");
    assert!(
        notes
            .understood
            .contains(&"1 row is an outage (no rate or no delay), 1 s in all".to_owned())
    );
}

#[test]
fn a_missing_value_is_an_outage() {
    for absent in ["", "-", "NaN", "nan", "NA", "null", "lost"] {
        let text = format!("t,r,d\n0,8,1\n1,{absent},1\n2,8,{absent}\n3,8,2\n");
        let phy = imported(&text, "rate=2:kbit/s delay=d:ms missing=lost");
        assert_eq!(phy.len(), 16, "{absent}");
        assert!(phy.t().iter().all(|t| *t < 1000 * MS || *t >= 3000 * MS));
    }
}

#[test]
fn constants_replace_columns() {
    let phy = imported("0\n1\n", "rate=8_kbit/s delay=20_ms loss=100_%");
    assert_eq!((phy.len(), phy.t()[1], &phy.d()[..2]), (16, 125 * MS, &[0, 0][..]));
    let phy = imported("0\n1\n", "rate=8_kbit/s delay=20_ms");
    assert_eq!(phy.d()[..], [20 * MS; 16]);
}

#[test]
fn order_is_kept_by_default() {
    let text = "0 8 500\n1 8 10\n2 8 10\n";
    let kept = imported(text, "rate=2:kbit/s delay=3:ms");
    let arrivals: Vec<i64> = kept.t().iter().zip(&kept.d()[..]).map(|(t, d)| t + d).collect();
    assert!(arrivals.is_sorted());
    // The last slot of the first second arrives at 1375 ms; slots sent before then wait for it.
    assert_eq!(kept.d()[8..12], [375, 250, 125, 10].map(|ms| ms * MS));
    assert!(kept.header().notes.assumed.iter().any(|note| note.contains("3 slots arrive later")));
    let free = imported(text, "rate=2:kbit/s delay=3:ms overtaking=");
    assert_eq!(free.d()[8..12], [10 * MS; 4]);
}

#[test]
fn losses_are_shares_per_cent_or_counts() {
    let lost = |text: &str, keys: &str| {
        let phy = read(text.as_bytes(), &series(keys)).unwrap();
        phy.d().iter().filter(|&&d| d == 0).count() as f64 / phy.len() as f64
    };
    // 100,000 slots, 20 % lost: four standard errors are .005.
    for (value, unit) in [("0.2", ""), ("20", ":%"), ("10000", ":packets")] {
        let text = format!("0 {value}\n1 {value}\n");
        let share = lost(&text, &format!("rate=50_Mbit/s loss=2{unit}"));
        assert!((share - 0.2).abs() < 0.005, "{unit}: {share}");
    }
    let of = |seed| imported("0 .5\n1 .5\n", &format!("rate=100_kbit/s loss=2 seed={seed}"));
    assert_eq!(of(1).d(), of(1).d());
    assert_ne!(of(1).d(), of(2).d());
}

#[test]
fn notes_mention_draws_only_if_losses_are_drawn() {
    let notes = |text: &str, keys: &str| imported(text, keys).header().notes.clone();
    let told = |notes: &[String], words: &str| notes.iter().any(|note| note.contains(words));
    for (text, keys) in [
        ("0 0\n1 1\n2 0\n", "loss=2"),
        ("0 0\n1 1\n2 0\n", "rate=8_kbit/s loss=2"),
        ("0 0\n1 8\n2 0\n", "rate=8_kbit/s loss=2:packets"),
        ("0 0\n1 0\n", "rate=8_kbit/s loss=100_%"),
    ] {
        let notes = notes(text, keys);
        assert!(!told(&notes.assumed, "drawn"), "{keys}: {notes:?}");
        assert!(told(&notes.understood, "nothing is drawn"), "{keys}: {notes:?}");
    }
    for (text, keys) in [("0 0\n1 .5\n", "loss=2"), ("0 0\n1 4\n", "rate=8_kbit/s loss=2:packets")]
    {
        let notes = notes(text, keys);
        assert!(told(&notes.assumed, "lost independently, drawn with seed"), "{keys}: {notes:?}");
        assert!(!told(&notes.understood, "drawn"), "{keys}: {notes:?}");
    }
}

#[test]
fn the_note_on_the_return_path_mentions_the_default_of_a_run() {
    let notes = imported("0 20\n1 20\n", "delay=2:ms").header().notes.assumed.join("; ");
    assert!(notes.contains("for the way back a run takes the median delay of the way there"));
    assert!(!notes.contains("nor does the way back"), "{notes}");
}

#[test]
fn a_wrong_unit_of_time_causes_a_warning() {
    // Packets 10 ms apart, with delays that vary by 20 ms.
    let text: String = (0..1000)
        .map(|row| format!("{:.2} {}\n", f64::from(row) / 100.0, 20 + row * 7 % 20))
        .collect();
    let warned = |keys: &str| imported(&text, keys).header().notes.warnings.join("; ");
    let waits = "most slots (";
    assert!(!warned("delay=2:ms").contains(waits));
    let wrong = warned("time=1:ms delay=2:ms");
    assert!(wrong.contains(waits), "{wrong}");
    assert!(wrong.contains("waits behind an earlier one: check the unit of the time column"));
    let wrong = warned("time=1:ms delay=2:ms overtaking=");
    assert!(wrong.contains("arrives before an earlier one: check the unit"), "{wrong}");
}

#[test]
fn an_implausible_signal_level_causes_a_warning() {
    use crate::trace::InMemory;
    let notes = |log: &str, file: TraceFile| {
        let mut files = InMemory::default();
        files.insert("log.csv", log);
        let rate = Some("5 MBd".parse().unwrap());
        let file = TraceFile { time: Some("1:s".parse().unwrap()), symbol_rate: rate, ..file };
        file.read(&files).unwrap().header().notes.clone()
    };
    let esn0 = || TraceFile { esn0: Some("2:dB".parse().unwrap()), ..TraceFile::new("log.csv") };
    let cn0 = || TraceFile { cn0: Some("2:dBHz".parse().unwrap()), ..TraceFile::new("log.csv") };
    let log = "0,67\n1,70\n2,-\n3,60.5\n";
    // A symbol rate of 5 MBd is 67 dBHz.
    let said = notes(log, cn0());
    assert!(
        said.understood
            .iter()
            .any(|note| note == "Es/N0 is from -6.5 to 3.0 dB, the median 0.0 dB"),
        "{said:?}"
    );
    assert!(said.warnings.is_empty(), "{said:?}");
    let said = notes(log, esn0()).warnings.join("; ");
    assert!(
        said.contains("the median Es/N0 is 67.0 dB, and 256APSK 3/4 asks for 19.57 dB"),
        "{said}"
    );
    assert!(said.contains("C/N0 in dBHz is cn0"), "{said}");
    let said = notes("0,120\n1,120\n", cn0()).warnings.join("; ");
    assert!(said.contains("check the symbol rate"), "{said}");
}

#[test]
fn without_a_rate_every_row_is_a_slot() {
    let phy =
        imported("t,delay,lost\n10,20,0\n11,99,1\n12,-,0\n13,30,0\n", "delay=delay:ms loss=lost");
    assert_eq!(phy.t()[..], [0, 1000, 3000].map(|ms| ms * MS));
    assert_eq!(phy.d()[..], [20 * MS, 0, 30 * MS]);
    assert!(fault("0 1\n0 1\n", "delay=2:ms").starts_with("line 2: time `0` does not come after"));
}

#[test]
fn round_trips_are_halved_and_clock_offsets_added() {
    let phy = imported("0 41\n1 42\n", "delay=2:ms is=rtt");
    assert_eq!(phy.d()[..], [20_500_000, 21 * MS]);
    let phy = imported("0 -3\n1 2\n", "delay=2:ms offset=5_ms");
    assert_eq!(phy.d()[..], [2 * MS, 7 * MS]);
    assert!(
        fault("0 3\n1 -2\n", "delay=2:ms")
            .starts_with("line 2: delay `-2` is negative: the clocks"),
    );
}

#[test]
fn dates_quotes_semicolons_and_remarks_are_parsed() {
    let text = "\u{feff}# a log\r\n\"when\";\"down (kbit/s)\"\r\n2024-01-01T00:00:00Z;\"8\"\r\n\
                # more\r\n2024-01-01T00:00:01.5Z;4\r\n\r\n2024-01-01T00:00:02Z;0\r\n";
    let phy = imported(text, "time=when:date rate=2:kbit/s");
    assert_eq!(phy.len(), 12 + 2);
    let named = TraceFile {
        rate: Some("down (kbit/s):kbit/s".parse().unwrap()),
        ..series("time=when:date")
    };
    assert_eq!(read(text.as_bytes(), &named).unwrap().t(), phy.t());
    assert!(
        phy.header()
            .notes
            .understood
            .contains(&"rate is column 2 `down (kbit/s)` in kbit/s".to_owned())
    );
}

#[test]
fn decimal_commas_are_read_where_commas_do_not_separate_columns() {
    let keys = "rate=2:Mbit/s delay=3:ms loss=4:%";
    let commas = imported("t;r;d;l\n0,0;0,12;274,9;1,50\n0,5;0,12;2,5e2;0,00\n", keys);
    let points = imported("t;r;d;l\n0.0;0.12;274.9;1.50\n0.5;0.12;2.5e2;0.00\n", keys);
    assert_eq!((commas.t(), commas.d()), (points.t(), points.d()));
    let told = |phy: &PhyTrace| phy.header().notes.assumed.join(";").contains("decimal commas");
    assert!(told(&commas) && !told(&points));
    // Without a header every number of the first row may have one: more commas than separators.
    for mark in [';', '\t'] {
        let text = "0,0;0,12;274,9;1,50\n0,5;0,12;250;0\n".replace(';', &mark.to_string());
        assert_eq!(imported(&text, keys).d(), commas.d());
    }
    // Other columns and patterns of dates may have points and commas.
    let text = "t;r;d;l;x\n0,0;0,12;274,9;1,50;1.5\n0,5;0,12;250;0;1.234,5\n";
    assert_eq!(imported(text, keys).d(), commas.d());
    let text = "2024-01-01 00.00;0,12\n2024-01-01 00.01;0,12\n";
    assert_eq!(imported(text, "time=1:%Y-%m-%d_%H.%M rate=2:kbit/s").len(), 15);
    let modem = TraceFile {
        time: Some("1:s".parse().unwrap()),
        esn0: Some("2:dB".parse().unwrap()),
        symbol_rate: Some("50 kBd".parse().unwrap()),
        ..TraceFile::new("m.csv")
    };
    let read = |text: &str| {
        let mut files = crate::trace::InMemory::default();
        files.insert("m.csv", text);
        modem.read(&files).unwrap()
    };
    let (commas, points) = (read("0;7,5\n1,5;-6,5\n"), read("0;7.5\n1.5;-6.5\n"));
    assert_eq!((commas.t(), commas.d()), (points.t(), points.d()));
}

#[test]
fn lines_may_end_in_carriage_returns_alone() {
    let keys = "rate=2:kbit/s delay=3:ms";
    let text = "\u{feff}t;r;d\n\n# remark\n0;12;20\n1;12;25\n2;x;25\n";
    let (whole, macs) = (text.replace("2;x;25\n", ""), text.replace('\n', "\r"));
    let phy = imported(&whole.replace('\n', "\r"), keys);
    assert_eq!((phy.t(), phy.d()), (imported(&whole, keys).t(), imported(&whole, keys).d()));
    assert!(fault(&macs, keys).starts_with("line 6: rate `x` is not a number"));
    // Programs that end lines otherwise may have written the last ones.
    for last in ["\n", "3;12;25\n", "\n3;12;25\r\n"] {
        let rest = last.replace(['\n', '\r'], "");
        let mixed = imported(&(whole.replace('\n', "\r") + last), keys);
        assert_eq!(mixed.t(), imported(&(whole.clone() + &rest), keys).t(), "{last:?}");
    }
    // A `\r` at the end of what is buffered may belong to `\r\n`.
    let windows = whole.replace('\n', "\r\n");
    let end = windows.find('\r').unwrap() + 1;
    let parts = std::io::BufReader::with_capacity(end, windows.as_bytes());
    assert_eq!(read(parts, &series(keys)).unwrap().t(), phy.t());
}

#[test]
fn an_outage_needs_no_loss() {
    let keys = "rate=2:kbit/s delay=3:ms loss=4";
    let phy = imported("0,12,20,0\n1,,,\n2,12,,\n3,0,20,-\n4,12,20,0\n", keys);
    // 12 slots in the first row and in the last one.
    assert_eq!((phy.len(), phy.t()[12]), (24, 4000 * MS));
    let told = fault("0,12,20,0\n1,12,20,\n", keys);
    assert!(told.starts_with("line 2: the loss is missing (``)"), "{told}");
}

#[test]
fn a_date_without_a_time_zone_among_others_is_named() {
    let dates = "2024-10-27T00:00:00+02:00,8\n2024-10-27T00:00:10,8\n2024-10-27T00:00:20+02:00,8\n";
    for keys in ["time=1:date rate=2:bit/s", "time=1:date delay=2:ms"] {
        let told = fault(dates, keys);
        let expected = "line 3: time `2024-10-27T00:00:20+02:00` does not come after that of the row \
                        before it: line 2 has no time zone";
        assert!(told.starts_with(expected), "{told}");
    }
    // At the end of daylight saving time all dates have a zone.
    let dates = "2024-10-27T02:59:50+02:00,8\n2024-10-27T02:00:00+01:00,8\n";
    let phy = imported(dates, "time=1:date rate=2:kbit/s");
    assert_eq!(phy.header().notes.warnings, Vec::<String>::new());
    assert!(!phy.header().notes.assumed.join(";").contains("UTC"));
}

#[test]
fn warnings_report_gaps_coarse_clocks_and_repeated_times() {
    let rows: String =
        (0..20).map(|row| format!("{} 8 {}\n", row + 30 * (row / 10), 3 + row % 2)).collect();
    let phy = imported(&format!("{rows}49 9 3\n"), "rate=2:kbit/s delay=3:ms");
    let warnings = phy.warnings().join("\n");
    for expected in [
        "1 row has the time of the row after it and is ignored",
        "1 gap of 5 times the usual 1 s or more between rows, the longest 31 s behind line 10",
        "a coarse clock: all delays are multiples of 1 ms",
        "no slot is erased",
    ] {
        assert!(warnings.contains(expected), "{expected}: {warnings}");
    }
}

#[test]
fn a_rate_far_above_the_others_is_warned_of() {
    let warned = |most: u32| {
        let rate = |row: u32| if row == 150 { most } else { 8 + row % 5 };
        let rows: String = (0..200).map(|row| format!("{row} {}\n", rate(row))).collect();
        imported(&rows, "rate=2:kbit/s").warnings().join("\n")
    };
    let expected = "1 row has 20 times the rate that 99 % of the rows do not exceed, or more, up to \
                    2.4 Mbit/s: if a counter jumped there, remove the rate";
    assert!(warned(2400).contains(expected), "{}", warned(2400));
    assert!(!warned(230).contains("a counter"), "{}", warned(230));
}

#[test]
fn rows_that_were_written_in_batches_cause_a_warning() {
    let batches = |apart: f64| {
        let time = |row: usize| 20.0 * (row / 9) as f64 + apart * row as f64;
        let rows: String = (0..36).map(|row| format!("{} 8\n", time(row))).collect();
        imported(&rows, "rate=2:kbit/s").warnings().join("\n")
    };
    let expected = "rows come in batches, 1 ms apart within one and 1.715285714 s on average";
    assert!(batches(0.001).contains(expected), "{}", batches(0.001));
    assert!(!batches(2.0).contains("batches"));
}

#[test]
fn faults_have_a_line_and_a_cure() {
    let rate = "rate=2:kbit/s";
    let cases = [
        ("", rate, "the trace is empty"),
        ("t,r\n", rate, "the trace is empty"),
        ("0,8\n", rate, "line 1: the duration of a single row is unknown"),
        ("0,8\n1,0\n", "rate=3:kbit/s", "line 1: 2 columns instead of 3"),
        ("0,8\n1\n", rate, "line 2: 1 column instead of 2"),
        ("0,8\n2,8\n1,8\n", rate, "line 3: time `1` comes before that of the row before it"),
        ("0,8\nx,8\n", rate, "line 2: `x` is not a time; write a decimal number in seconds"),
        ("0,8\n,8\n", rate, "line 2: `` is not a time"),
        ("x,8\n1,8\n", rate, "line 1: `x` is not a time"),
        ("0,8\n1,fast\n", rate, "line 2: rate `fast` is not a number; write e.g. 1.5"),
        (
            "t;r\n0,5;1.234,5\n",
            rate,
            "line 2: `1.234,5` has a comma and a point; write numbers without",
        ),
        (
            "0;8,5;x\n1;8;x\n2;8.5;x\n",
            rate,
            "line 3: numbers have decimal commas (from line 1) and decimal points (from line 3)",
        ),
        ("t;r\n0;1,234,567\n", rate, "line 2: rate `1,234,567` is not a number"),
        ("0,8\n1,-8\n", rate, "line 2: rate `-8` is negative; if it marks an outage"),
        ("0,8\n1,1e10\n", rate, "line 2: rate `1e10` is over 1 Tbit/s"),
        ("0,0\n1,0\n", rate, "the series has no slots"),
        ("0,8\n1e9,8\n", rate, "line 2: more than 4294967295 slots; split the file"),
        ("0,8\n1,inf\n", rate, "line 2: rate `inf` is not a number"),
        (
            "t,r\n0,8\n1,8\n",
            "rate=rate:kbit/s",
            "line 1: no column `rate`; the header has `t`, `r`",
        ),
        ("t,r,r\n0,8,8\n", "rate=r:kbit/s", "line 1: column `r` occurs twice; give its number"),
        (
            "0,8,1.5\n1,8,0\n",
            "rate=2:kbit/s loss=3",
            "line 1: loss `1.5` must be a share from 0 to 1",
        ),
        (
            "0,8,101\n1,8,0\n",
            "rate=2:kbit/s loss=3:%",
            "line 1: loss `101` must be from 0 to 100 %",
        ),
        ("0,8,-\n1,8,0\n", "rate=2:kbit/s loss=3", "line 1: the loss is missing (`-`)"),
        (
            "0,8,1.5\n",
            "rate=2:kbit/s loss=3:packets",
            "line 1: loss `1.5` is not a number of packets",
        ),
        (
            "0,8,9\n1,8,0\n2,8,0\n",
            "rate=2:kbit/s loss=3:packets",
            "line 2: 9 packets lost in an interval of 8 slots; check the column, or give a smaller \
             LLDU (the row of line 1)",
        ),
        ("0,5\n1,1e30\n", "delay=2:ms", "line 2: `1e30` is over 2^61 ns (73 years)"),
        ("a,b\n\"0,8\n", rate, "a quoted field does not end"),
    ];
    for (text, keys, expected) in cases {
        let message = fault(text, keys);
        assert!(message.starts_with(expected), "{text:?}: {message}");
    }
}

#[test]
fn a_row_has_no_more_fields_than_the_header() {
    let keys = "rate=2:kbit/s loss=3:%";
    let commas = "Zeit [s],Rate [Mbit/s],Verlust [%]\n0,9,99,0,35\n1,9,95,0,28\n";
    assert_eq!(
        fault(commas, keys),
        "line 2: 5 fields, more than the 3 of the header; if commas are decimal, columns must be \
         separated by semicolons or tabs; if text has commas, it must be quoted"
    );
    let tabs = "t\trate\n0\t9\t1\n1\t9\t1\n";
    let expected = "line 2: 3 fields, more than the 2 of the header; give every column a name";
    assert!(fault(tabs, keys).starts_with(expected));
    let spaces = tabs.replace('\t', " ");
    assert_eq!(imported(&spaces, keys).t(), imported(&spaces.replace("t rate\n", ""), keys).t());
    // A later row with a value after empty fields, and rows that end in separators.
    let late = "t,r,l\n0,9,1,,\n1,9,1,,5\n";
    assert!(fault(late, keys).starts_with("line 3: 5 fields, more than the 3"));
    let ending = "t,r,l\n0,9,1,,\n1,9,1,,\n";
    assert_eq!(imported(ending, keys).t(), imported(&ending.replace(",,", ""), keys).t());
}

#[test]
fn flags_read_as_per_cent_and_zero_delays_cause_warnings() {
    let warnings = |text: &str, keys: &str| imported(text, keys).header().notes.warnings.join("; ");
    let flags = "0 1 0\n1 0 5\n2 1 5\n3 0 5\n";
    let told = warnings(flags, "rate=8_kbit/s loss=2:% delay=3:ms");
    assert!(told.contains("every loss is 0 or 1 %, 2 rows have 1: if these are flags"), "{told}");
    assert!(told.contains("1 row has a delay of 0: 1 ns is taken"), "{told}");
    let told = warnings("0 1\n1 0.5\n2 1\n3 0\n", "rate=8_kbit/s loss=2:%");
    assert!(!told.contains("flags"), "{told}");
    assert!(!warnings(flags, "rate=8_kbit/s loss=2").contains("flags"));
}

#[test]
fn rows_shorter_than_a_slot_keep_the_rate_and_warn_about_delays_and_losses() {
    // 1000 bits at 4 kbit/s take 250 ms, and rows 100 ms: slots start in every second or third row.
    let row = |i: u32| format!("{}.{} {} {} {}\n", i / 10, i % 10, 4 + i % 2, 5 + i, i % 3 / 2);
    let text: String = (0..600).map(row).collect();
    let phy = imported(&text, "rate=2:kbit/s");
    // 60 s at 4.5 kbit/s on average.
    assert_eq!(phy.len(), 270);
    let begun: std::collections::BTreeSet<_> = phy.t().iter().map(|t| t / (100 * MS)).collect();
    let idle = 600 - begun.len();
    let told = |keys: &str| imported(&text, keys).header().notes.warnings.join("; ");
    let expected = format!("{idle} rows end before the slot under way does: rates count there");
    assert_eq!(told("rate=2:kbit/s"), format!("{expected} (a smaller LLDU has more slots)"));
    for keys in ["rate=2:kbit/s delay=3:ms", "rate=2:kbit/s loss=4"] {
        let told = told(keys);
        assert!(told.contains(&format!("{expected}, delays and losses do not")), "{told}");
    }
    // A number of lost packets cannot be applied to such a row.
    let counts = fault(&text, "rate=2:kbit/s loss=4:packets");
    assert!(
        counts.contains("1 packet lost in an interval of 0 slots; check the column"),
        "{counts}"
    );
    assert!(!imported("0 8\n1 8\n", "rate=2:kbit/s").warnings().join(";").contains("under way"));
}

#[test]
fn a_series_too_large_for_memory_is_refused_before_it_is_generated() {
    let (series, text) = (series("rate=20_Mbit/s"), "0\n21600\n43200\n64800\n86400\n");
    let budget = Budget::of(crate::budget::MemoryLimit::Bytes(100_000_000));
    let refused = read_as(text.as_bytes(), &series, None, &budget).unwrap_err().to_string();
    // 20,000 slots a second, five times six hours.
    assert!(
        refused.starts_with("2160000000 slots need 35 GB of memory in total, but"),
        "{refused}"
    );
}

#[test]
fn a_received_rate_counts_its_losses_once() {
    let csv = "time,rate,loss\n0,12,0.9\n1,120,0\n2,0,1\n3,120,0\n";
    let series = |rate_is| TraceFile {
        rate: Some("rate:kbit/s".parse().unwrap()),
        loss: Some("loss".parse().unwrap()),
        rate_is,
        ..timed("time:s")
    };
    let slots = |rate_is| read(csv.as_bytes(), &series(rate_is)).unwrap();
    let received = slots(Some(RateIs::Received));
    assert_eq!((received.len(), slots(Some(RateIs::Sent)).len()), (30, 21));
    let warned = |phy: &PhyTrace| phy.header().notes.warnings.join(";").contains("give rate_is");
    assert!(warned(&slots(None)) && !warned(&received));
    let fast = TraceFile {
        rate: Some("2:Gbit/s".parse().unwrap()),
        loss: Some("3".parse().unwrap()),
        time: timed("1:s").time,
        ..series(Some(RateIs::Received))
    };
    let over = read("0,2,0\n1,900,0.9999999\n2,1,0\n".as_bytes(), &fast);
    assert!(
        over.unwrap_err().to_string().starts_with("line 2: the rate with what was lost is over")
    );
}

#[test]
fn a_row_holds_no_longer_than_it_may() {
    let series =
        |max_hold| TraceFile { rate: Some("2:kbit/s".parse().unwrap()), max_hold, ..timed("1:s") };
    let slots = |max_hold| read("0,12\n1,12\n2,12\n9,12\n".as_bytes(), &series(max_hold)).unwrap();
    assert_eq!(slots(None).len(), 10);
    let phy = slots(Some(Duration::from_secs(3)));
    assert_eq!(phy.t().iter().map(|t| t / 1_000_000_000).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 9]);
    let notes = &phy.header().notes.understood.join(";");
    assert!(notes.contains("1 row is an outage (no rate or no delay), 4 s in all"), "{notes}");
}

#[test]
fn rows_whose_delay_was_not_measured_are_warned_of() {
    let warnings = |csv: &str| {
        let series = TraceFile {
            rate: Some("2:kbit/s".parse().unwrap()),
            delay: Some("3:ms".parse().unwrap()),
            ..timed("1:s")
        };
        read(csv.as_bytes(), &series).unwrap().header().notes.warnings.join(";")
    };
    let told = warnings("0,12,20\n1,12,-\n2,12,-\n3,12,-\n");
    assert!(told.contains("3 of 4 rows have a rate but no delay"), "{told}");
    // An outage has neither.
    assert!(!warnings("0,12,20\n1,0,-\n2,0,-\n3,0,-\n").contains("no delay"));
}

#[test]
fn values_are_summed_up_and_doubtful_ones_warned_of() {
    let csv = "when,throughput_mbps,delay_ms\n\
               2024-05-28T10:00:00Z,12,20\n2024-05-28T10:00:01,18,30.5\n2024-05-28T10:00:02Z,14.5,25\n";
    let series = TraceFile {
        rate: Some("throughput_mbps:kbit/s".parse().unwrap()),
        delay: Some("delay_ms:us".parse().unwrap()),
        ..timed("when:date")
    };
    let phy = read(csv.as_bytes(), &series).unwrap();
    let understood = phy.header().notes.understood.join(";");
    for expected in [
        "rates from 12 kbit/s to 18 kbit/s, the median 14.5 kbit/s",
        "one-way delays from 20 us to 30.5 us, the median 25 us",
    ] {
        assert!(understood.contains(expected), "{understood}");
    }
    let warnings = phy.header().notes.warnings.join(";");
    for expected in [
        "the rate's column `throughput_mbps` sounds like Mbit/s, but is read in kbit/s",
        "the delay's column `delay_ms` sounds like ms, but is read in us",
        "only some dates have a time zone: those without one, the first in line 3, are taken as UTC",
    ] {
        assert!(warnings.contains(expected), "{expected}: {warnings}");
    }
}

#[test]
fn names_that_sound_like_another_unit_are_warned_of() {
    let csv = "t_ms,rtt_s,loss_percent\n0,0.04,0\n1000,0.05,1\n2000,0.04,0\n";
    let warned = |time: &str, delay: &str, loss: &str, delay_is| {
        let series = TraceFile {
            delay: Some(delay.parse().unwrap()),
            loss: Some(loss.parse().unwrap()),
            delay_is,
            ..timed(time)
        };
        read(csv.as_bytes(), &series).unwrap().header().notes.warnings.join(";")
    };
    let warnings = warned("t_ms:s", "rtt_s:ms", "loss_percent", DelayIs::OneWay);
    for expected in [
        "the time's column `t_ms` sounds like ms, but is read in s",
        "the delay's column `rtt_s` sounds like s, but is read in ms",
        "the delay's column `rtt_s` sounds like round-trip times, but is read as one-way delays",
        "the loss's column `loss_percent` sounds like %, but is read in shares",
    ] {
        assert!(warnings.contains(expected), "{expected}: {warnings}");
    }
    let well = warned("t_ms:ms", "rtt_s:s", "loss_percent:%", DelayIs::RoundTrip);
    assert!(!well.contains("sounds like"), "{well}");
}

#[test]
fn an_excerpt_leaves_out_pauses_and_spreads_its_parts() {
    let excerpt = |text: &str, most| {
        let series = series("rate=2:kbit/s");
        read_as(text.as_bytes(), &series, Some(most), &Budget::unlimited()).unwrap()
    };
    let seconds = |phy: &PhyTrace| phy.t().iter().map(|t| t / (1000 * MS)).collect::<Vec<_>>();
    let rows = |times: &mut dyn Iterator<Item = u32>, rate: u32| {
        times.map(|t| format!("{t},{rate}\n")).collect::<String>()
    };
    let text = rows(&mut (0..3).chain(10_000..10_003), 1);
    let phy = excerpt(&text, 99);
    assert_eq!(seconds(&phy), [0, 1, 2, 3, 4, 5]);
    assert_eq!(phy.header().period, Some(Duration::from_secs(6)));
    let warnings = phy.header().notes.warnings.join(";");
    assert!(warnings.contains("behind line 3: 1 pause, 9998 s in all, is left out"), "{warnings}");
    assert!(!warnings.contains("batches"), "{warnings}");
    // With a longest time, the row before the pause says what holds.
    let max_hold = Some(Duration::from_secs(1));
    let held = TraceFile { max_hold, ..series("rate=2:kbit/s") };
    let held = read_as(text.as_bytes(), &held, Some(99), &Budget::unlimited()).unwrap();
    assert_eq!(seconds(&held)[3], 10_000);
    // 10 Gbit/s for a day: more slots than can be indexed. The rate says the hour.
    let day =
        (0..24).map(|hour| format!("{},{}\n", hour * 3600, 10_000_000 - hour)).collect::<String>();
    let phy = excerpt(&day, 600);
    assert_eq!(phy.len(), 600);
    assert!(phy.t().is_sorted_by(|a, b| a < b));
    let assumed = phy.header().notes.assumed.join(";");
    assert!(
        assumed.contains("6 parts, spread evenly over the log, stand for its 863"),
        "{assumed}"
    );
}

#[test]
fn times_of_day_go_on_at_midnight_and_odd_times_are_refused_with_their_cause() {
    let times = |text: &str, keys: &str| {
        read(text.as_bytes(), &series(keys)).map_err(|error| error.to_string())
    };
    let phy = times("23:59:59,1\n00:00:00,1\n00:00:01,1\n", "time=1:%H:%M:%S rate=2:kbit/s");
    assert_eq!(phy.unwrap().t()[..], [0, 1000 * MS, 2000 * MS]);
    let back = "2024-10-27T02:59:59,1\n2024-10-27T02:00:00,1\n";
    let fault = times(back, "time=1:date rate=2:kbit/s").unwrap_err();
    assert!(fault.ends_with("sort the file by time, or write the time zone if clocks went back"));
    let twice = "0,1\n0,2\n1,1\n1,2\n";
    let fault = times(twice, "rate=2:kbit/s").unwrap_err();
    assert!(
        fault.contains("2 of 4 rows have the time of the row after them, so this is more than")
    );
    let fault = times("0,1,-1\n1,1,5\n", "rate=2:kbit/s delay=3:ms is=rtt").unwrap_err();
    assert!(
        fault.ends_with("is negative: give the marker of missing values as `missing`"),
        "{fault}"
    );
}
