//! What must hold for any input of the trace readers: no panic, an error on one line, and what
//! parses is the same after it was written and read again. Replayed over the corpus by
//! `core/tests/fuzz_corpus.rs`.

use std::io::Cursor;
use std::sync::Arc;

use clift::application::PageContent;
use clift::budget::{Budget, MemoryLimit};
use clift::scenario::{
    Information, InformationSpec, MakeError, PhySpec, Scenario, SetupFault, Traces,
};
use clift::trace::loss_string::{self, Pattern};
use clift::trace::probes::{self, Direction, Sampling};
use clift::trace::series::DelayIs;
use clift::trace::{
    Header, InMemory, MiTrace, PhyTrace, TimeUnit, TraceFile, columns, mahimahi, parquet, ping,
    text as own,
};
use clift::units::{BitRate, Bytes, Duration};

const LLDU: Bytes = Bytes(33);

/// The text format.
pub fn text(data: &[u8]) {
    if let Some(phy) = parsed(own::read(data, None, &Budget::unlimited())) {
        same(&phy, &rewritten_as_text(&phy), "header too");
    }
}

/// Two bare columns; the first byte picks the unit.
pub fn columns(data: &[u8]) {
    use TimeUnit::{Microseconds, Milliseconds, Nanoseconds, Seconds};
    let Some((choice, data)) = data.split_first() else { return };
    let unit = [Seconds, Milliseconds, Microseconds, Nanoseconds][usize::from(choice % 4)];
    if let Some(phy) = parsed(columns::read(data, unit, LLDU, &Budget::unlimited())) {
        let mut file = Vec::new();
        columns::write(&phy, unit, &mut file).unwrap();
        same(&phy, &columns::read(&file[..], unit, LLDU, &Budget::unlimited()).unwrap(), "columns");
    }
}

/// mahimahi: a file comes back byte for byte but for its line ends and leading zeros.
pub fn mahimahi(data: &[u8]) {
    let size = mahimahi::OPPORTUNITY;
    if let Some(phy) = parsed(mahimahi::read(data, size, &Budget::unlimited())) {
        assert!(phy.d().iter().all(|&d| d > 0));
        let mut file = Vec::new();
        mahimahi::write(&phy, size, &mut file).unwrap();
        same(&phy, &mahimahi::read(&file[..], size, &Budget::unlimited()).unwrap(), "mahimahi");
        same(&phy, &rewritten_as_text(&phy), "text");
    }
}

/// Probes; the first byte picks the kind of file and whether to make slots at a rate.
pub fn probes(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else { return };
    // A slot in 10^6 s, so that no times make more than some thousand slots.
    let (lldu, rate) = (Bytes(125_000), BitRate::from_bits_per_second(1));
    let sampling = Sampling { lldu, rate: rate.filter(|_| choice & 4 != 0) };
    let phy = match choice & 3 {
        0 => probes::read_csv(data, Direction::Up, sampling, &Budget::unlimited()),
        1 => probes::read_csv(data, Direction::Down, sampling, &Budget::unlimited()),
        _ => {
            let cut = data.iter().position(|&byte| byte == 0).unwrap_or(data.len());
            let losses = data.get(cut + 1..).unwrap_or_default();
            probes::read_pair(
                (&data[..cut], losses),
                Duration::from_millis(10),
                sampling,
                &Budget::unlimited(),
            )
        }
    };
    if let Some(phy) = parsed(phy) {
        // Of two directions, a first probe whose fate is unknown has time 0 but no slot.
        assert!(choice & 2 == 0 || phy.t()[0] == 0);
        same(&phy, &rewritten_as_text(&phy), "text");
    }
}

/// Output of ping; the first byte picks the interval and whether to make slots at a rate.
pub fn ping(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else { return };
    let (lldu, rate) = (Bytes(125_000), BitRate::from_bits_per_second(1));
    let sampling = Sampling { lldu, rate: rate.filter(|_| choice & 1 != 0) };
    let interval = (choice & 2 != 0).then_some(Duration::from_millis(10));
    if let Some(phy) = parsed(ping::read(data, interval, sampling, &Budget::unlimited())) {
        assert_eq!(phy.t()[0], 0);
        same(&phy, &rewritten_as_text(&phy), "text");
    }
}

/// Loss strings and run lengths; the first byte picks.
pub fn loss(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else { return };
    let pattern =
        Pattern { slot: Duration::from_nanos(7), decode: Duration::from_nanos(3), lldu: LLDU };
    // A few characters may ask for any number of slots.
    let budget = Budget::new(MemoryLimit::Bytes(1 << 20), None);
    let mut file = Vec::new();
    if choice % 2 == 0 {
        if let Some(phy) = parsed(loss_string::read(data, pattern, &Budget::unlimited())) {
            loss_string::write(&phy, &mut file).unwrap();
            same(
                &phy,
                &loss_string::read(&file[..], pattern, &Budget::unlimited()).unwrap(),
                "string",
            );
        }
    } else if let Some(phy) = parsed(loss_string::read_runs(data, pattern, &budget)) {
        loss_string::write_runs(&phy, &mut file).unwrap();
        same(&phy, &loss_string::read_runs(&file[..], pattern, &budget).unwrap(), "runs");
    }
}

/// Series: the first line says which column is what, in words such as `delay=4:ms`, with `_` for
/// a space.
pub fn series(data: &[u8]) {
    let end = data.iter().position(|&byte| byte == b'\n').unwrap_or(data.len());
    let (Ok(words), rest) = (std::str::from_utf8(&data[..end]), &data[end..]) else { return };
    let mut how = TraceFile { time: "1:s".parse().ok(), ..TraceFile::new("log") };
    for word in words.split(' ') {
        let Some((key, value)) = word.split_once('=') else { return };
        let value = value.replace('_', " ");
        let taken = match key {
            "time" => value.parse().map(|time| how.time = Some(time)).is_ok(),
            "rate" => value.parse().map(|rate| how.rate = Some(rate)).is_ok(),
            "delay" => value.parse().map(|delay| how.delay = Some(delay)).is_ok(),
            "rtt" => value.parse().map(|delay| how.delay = Some(delay)).is_ok(),
            "loss" => value.parse().map(|loss| how.loss = Some(loss)).is_ok(),
            "offset" => value.parse().map(|shift| how.clock_offset = Some(shift)).is_ok(),
            "missing" => {
                how.missing = Some(value);
                true
            }
            _ => return,
        };
        if !taken {
            return;
        }
        if key == "rtt" {
            (how.delay_is, how.keep_order) = (DelayIs::RoundTrip, Some(false));
        }
    }
    let mut files = InMemory::default();
    files.insert("log", rest.get(1..).unwrap_or_default());
    // A rate may ask for any number of slots.
    let budget = Budget::new(MemoryLimit::Bytes(1 << 20), None);
    if let Some(phy) = parsed(how.read_within(&files, &budget)) {
        let arrivals = phy.t().iter().zip(phy.d().iter()).filter(|(_, d)| **d > 0);
        assert!(how.keep_order.is_some() || arrivals.map(|(t, d)| t + d).is_sorted());
        same(&phy, &rewritten_as_text(&phy), "text");
    }
}

/// Captures: a byte of options, two of the length of the sender's, then both.
pub fn capture(data: &[u8]) {
    let [choice, low, high, files @ ..] = data else { return };
    let at = usize::from(u16::from_le_bytes([*low, *high])).min(files.len());
    let mut both = InMemory::default();
    both.insert("sent", &files[..at]);
    both.insert("seen", &files[at..]);
    let how = TraceFile {
        receiver: Some("seen".into()),
        nat: choice & 1 != 0,
        keep_order: Some(choice & 2 != 0),
        clock_offset: "-5 ms".parse().ok().filter(|_| choice & 4 != 0),
        ..TraceFile::new("sent")
    };
    if let Some(phy) = parsed(how.read(&both)) {
        assert_eq!(phy.t()[0], 0);
        same(&phy, &rewritten_as_text(&phy), "text");
    }
}

/// Parquet.
pub fn parquet(data: &[u8]) {
    if let Some(phy) =
        parsed(parquet::read(Box::new(Cursor::new(data.to_vec())), None, &Budget::unlimited()))
    {
        let mut file = Vec::new();
        parquet::write(&phy, &mut file).unwrap();
        same(
            &phy,
            &parquet::read(Box::new(Cursor::new(file)), None, &Budget::unlimited()).unwrap(),
            "Parquet",
        );
    }
}

/// The trace, or nothing after an error that is one printable line.
fn parsed<E: std::fmt::Display>(read: Result<PhyTrace, E>) -> Option<PhyTrace> {
    match read {
        Ok(phy) => Some(phy),
        Err(error) => {
            let message = error.to_string();
            assert!(!message.is_empty() && !message.contains(char::is_control), "{message:?}");
            None
        }
    }
}

fn rewritten_as_text(phy: &PhyTrace) -> PhyTrace {
    let mut file = Vec::new();
    own::write(phy, &mut file).unwrap();
    own::read(&file[..], None, &Budget::unlimited()).unwrap()
}

fn same(before: &PhyTrace, after: &PhyTrace, what: &str) {
    assert_eq!(before.t(), after.t(), "{what}");
    assert_eq!(before.d(), after.d(), "{what}");
    assert_eq!(before.sizes(), after.sizes(), "{what}");
    // A file without a checksum is read with a note; rewritten, it has one.
    let header = Header { unchecked: after.header().unchecked, ..before.header().clone() };
    assert_eq!(&header, after.header(), "{what}");
}

/// Logs of modems: a first byte picks the coding, then comes a table of MODCODs up to a zero byte (none:
/// DVB-S2X's), then the log.
pub fn modem(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else { return };
    let cut = data.iter().position(|&byte| byte == 0);
    let (table, log) = cut.map_or((&[][..], data), |cut| (&data[..cut], &data[cut + 1..]));
    let name = if choice & 16 == 0 { "table.csv" } else { "table.toml" };
    let mut files = InMemory::default();
    files.insert("log.csv", log);
    files.insert(name, table);
    let file = TraceFile {
        time: Some("1:s".parse().unwrap()),
        esn0: (choice & 4 == 0).then(|| "2:dB".parse().unwrap()),
        loss: (choice & 8 != 0).then(|| "4".parse().unwrap()),
        // A frame in 10^6 s, so that no times make more than some thousand frames.
        symbol_rate: Some("1 Bd".parse().unwrap()),
        frame_symbols: Some(1_000_000),
        modcod: [None, Some("3"), Some("QPSK 3/4"), Some("1")][usize::from(choice % 4)]
            .map(String::from),
        modcod_table: cut.map(|_| name.to_owned()),
        ..TraceFile::new("log.csv")
    };
    match file.read(&files) {
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        Ok(phy) => same(&phy, &rewritten_as_text(&phy), "text"),
    }
}

/// Files of measuring tools; the first byte picks the tool.
pub fn tools(data: &[u8]) {
    let Some((choice, data)) = data.split_first() else { return };
    let format = ["irtt", "iperf3", "starlink", "rinex"][usize::from(choice % 4)];
    let mut files = InMemory::default();
    files.insert("log", data);
    let file = TraceFile {
        format: Some(format.parse().unwrap()),
        direction: Some(if choice & 4 == 0 { Direction::Up } else { Direction::Down }),
        lldu: (format != "rinex").then_some(Bytes(125_000)),
        ..TraceFile::new("log")
    };
    let file = match format {
        "rinex" => TraceFile {
            cn0: Some("G01 S1C:dBHz".parse().unwrap()),
            symbol_rate: Some("1 Bd".parse().unwrap()),
            frame_symbols: Some(1_000_000),
            ..file
        },
        _ => file,
    };
    // A rate may ask for any number of slots.
    let budget = Budget::new(MemoryLimit::Bytes(1 << 20), None);
    match file.read_within(&files, &budget) {
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        Ok(phy) => same(&phy, &rewritten_as_text(&phy), "text"),
    }
}

/// Files of web pages: a fault on one line with a line of the file, or objects behind their parents.
pub fn page(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match PageContent::parse(text) {
        Err(fault) => {
            assert!(!fault.to_string().contains('\n'), "{fault}");
            assert!(fault.line.is_none_or(|line| line <= text.lines().count()), "{fault}");
        }
        Ok(page) => {
            let mut objects = page.objects().iter().enumerate();
            assert!(objects.all(|(place, own)| own.parent.is_none_or(|parent| parent < place)));
        }
    }
}

/// The same small traces for every request.
struct Given;

impl Traces for Given {
    fn phy(&self, _: &PhySpec) -> Result<PhyTrace, MakeError> {
        let long = vec![0, 700_000_000_000];
        PhyTrace::new(long.into(), vec![1, 1].into(), LLDU).map_err(|_| MakeError::Nothing)
    }

    fn information(&self, _: &InformationSpec) -> Result<Information, MakeError> {
        let trace = MiTrace::new(Duration::from_secs(100), vec![0.5; 8]);
        let trace = Arc::new(trace.map_err(|_| MakeError::Nothing)?);
        Ok(Information { trace, mean: 0.5 })
    }
}

/// Scenario files: no text panics, every error is one line, what is accepted can be planned.
pub fn scenario(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // A first line "#key=value" is a change from outside.
    let change = text.strip_prefix('#').and_then(|rest| rest.lines().next()?.split_once('='));
    let changes: Vec<_> =
        change.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    match Scenario::parse("x.toml", text, &changes, &clift::Registry::new()) {
        Err(error) => assert!(!error.to_string().contains('\n')),
        Ok(scenario) => {
            for cell in scenario.cells().iter().take(20) {
                match cell.setup(1, &Given) {
                    Ok(_) | Err(SetupFault::Trace(_)) => {}
                    Err(SetupFault::Key(fault)) => assert!(!fault.message().contains('\n')),
                }
            }
        }
    }
}
