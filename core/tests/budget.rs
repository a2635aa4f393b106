//! What would take more memory than may be taken is refused beforehand, by every reader and maker.

use std::sync::atomic::{AtomicU32, Ordering};

use clift::budget::{Budget, MemoryLimit, Refusal};
use clift::channel::ChannelConfig;
use clift::config::{Value, read};
use clift::link::DelayTable;
use clift::scenario::{Scenario, Store};
use clift::scheme::{Scheme, Timing};
use clift::seed::Seed;
use clift::trace::{Direction, Format, InMemory, PhyTrace, TimeUnit, TraceFile, parquet};
use clift::units::{Bytes, Duration};

/// The number of slots that are read and made here; each takes two columns of 8 bytes.
const SLOTS: usize = 20_000;

fn trace() -> PhyTrace {
    let t: Vec<i64> = (1..=SLOTS as i64).map(|slot| slot * 1_000_000).collect();
    let d = (0..SLOTS).map(|slot| i64::from(slot % 7 > 0)).collect::<Vec<_>>();
    PhyTrace::new(t.into(), d.into(), Bytes(1500)).unwrap()
}

/// Files of every format, with what is to be said of them.
fn files() -> (InMemory, Vec<TraceFile>) {
    let (mut files, phy) = (InMemory::default(), trace());
    let mut found = Vec::new();
    let mut add = |name: &str, content: Vec<u8>, file: &dyn Fn(TraceFile) -> TraceFile| {
        files.insert(name, content);
        found.push(file(TraceFile::new(name)));
    };
    let ms = Some(Duration::from_millis(1));
    let rows = |row: &dyn Fn(usize) -> String| -> Vec<u8> {
        (0..SLOTS).map(row).collect::<String>().into_bytes()
    };
    let mut text = Vec::new();
    clift::trace::text::write(&phy, &mut text).unwrap();
    add("x.csv", text, &|file| file);
    let columns = rows(&|slot| format!("{slot} 1\n"));
    let unit = Some(TimeUnit::Milliseconds);
    add("x.txt", columns, &|file| TraceFile { unit, ..file });
    let mut packed = Vec::new();
    parquet::enable();
    parquet::write(&phy, &mut packed).unwrap();
    add("x.parquet", packed, &|file| file);
    add("x.up", rows(&|slot| format!("{}\n", slot + 1)), &|file| file);
    let pattern = |file: TraceFile| TraceFile { slot: ms, decoding: ms, ..file };
    add("x.loss", rows(&|slot| (slot % 2).to_string()), &pattern);
    add("x.runs", format!("{} 5\n", SLOTS - 5).into_bytes(), &pattern);
    let probes = |file| {
        let format = Some("probes".parse::<Format>().unwrap());
        TraceFile { format, direction: Some(Direction::Up), ..file }
    };
    let head = "send_time_s,up_delay_ms,up_lost\n".to_owned();
    let body = rows(&|slot| format!("{slot},10,0\n"));
    add("x.probes", [head.into_bytes(), body].concat(), &probes);
    // Ten rows of a series make as many slots as they say; the eleventh holds as long as the tenth.
    let series = |file| TraceFile {
        time: Some("1:s".parse().unwrap()),
        rate: Some("2:bit/s".parse().unwrap()),
        lldu: Some(Bytes(1)),
        ..file
    };
    let body = (0..11).map(|row| format!("{row} {}\n", SLOTS / 10 * 8)).collect::<String>();
    add("x.series", body.into_bytes(), &series);
    (files, found)
}

fn read_with(file: &TraceFile, files: &InMemory, bytes: u64) -> Result<PhyTrace, String> {
    let budget = Budget::of(MemoryLimit::Bytes(bytes));
    let read = file.read_within(files, &budget).map_err(|error| error.to_string());
    assert_eq!(read.is_err(), budget.is_short());
    read
}

#[test]
fn every_reader_keeps_within_its_budget() {
    let (files, all) = files();
    for file in all {
        let name = file.file.display();
        let read = read_with(&file, &files, 1 << 30).unwrap();
        assert!(read.len().abs_diff(SLOTS) <= SLOTS / 10, "{name}: {}", read.len());
        let least = 16 * read.len() as u64;
        let refused = read_with(&file, &files, least - 1).unwrap_err();
        assert!(refused.contains(" of memory in total, but "), "{name}: {refused}");
        assert!(refused.ends_with('"') && !refused.contains('\n'), "{name}: {refused}");
        // Columns that grow are doubled, and in order there is a third.
        assert!(read_with(&file, &files, 5 * least).is_ok(), "{name}");
    }
}

#[test]
fn a_few_bytes_do_not_ask_for_gigabytes() {
    let mut files = InMemory::default();
    files.insert("x.runs", "1000000000 5");
    let ms = Some(Duration::from_millis(1));
    let file = TraceFile { slot: ms, decoding: ms, ..TraceFile::new("x.runs") };
    let refused = read_with(&file, &files, 1_000_000_000).unwrap_err();
    assert_eq!(
        refused,
        "x.runs: line 1: 1000000005 slots need 17 GB of memory in total, but the limit is 1 GB; \
         use less, or raise it: memory = \"17 GB\""
    );
    files.insert("d.csv", "time_s,delay_ms\n".to_owned() + &"1,1\n".repeat(9));
    let budget = Budget::of(MemoryLimit::Bytes(50));
    let refused = DelayTable::read_within("d.csv".as_ref(), &files, &budget).unwrap_err();
    assert!(refused.to_string().starts_with("d.csv: line 1: 1 or more rows need "), "{refused}");
}

#[test]
fn channels_schemes_and_scenarios_keep_within_their_budget() {
    let text = |pairs: &[(&'static str, &str)]| {
        Value::table(pairs.iter().map(|&(key, value)| (key, Value::text(value))))
    };
    let models = [
        text(&[("model", "bernoulli"), ("erasures", "2 %"), ("slot", "1 ms")]),
        text(&[("model", "lms")]),
    ];
    for model in models {
        let channel: ChannelConfig = read(&model).unwrap();
        let make = |bytes| {
            let budget = Budget::of(MemoryLimit::Bytes(bytes));
            channel.trace_within(1000, Seed(1), 0, &budget).map_err(|fault| fault.to_string())
        };
        let refused = make(15_999).unwrap_err();
        assert!(refused.starts_with("1000 slots need 16 kB of memory in total"), "{refused}");
        assert_eq!(make(20_000).unwrap().len(), 1000);
    }
    let timing = Timing { rtt: Duration::ZERO, feedback: None };
    let apply = |bytes| {
        let budget = Budget::of(MemoryLimit::Bytes(bytes));
        Scheme::None.apply_within(&trace(), timing, &budget)
    };
    assert!(matches!(apply(16 * SLOTS as u64 - 1), Err(Refusal::Memory { .. })));
    assert!(apply(20 * SLOTS as u64).is_ok());

    let scenario = "duration = \"50 days\"\nlink.live = true\n[channel]\nmodel = \"bernoulli\"\n\
                    erasures = 0\nrate = \"1 Gbit/s\"\n"
        .replace("50 days", "1000 s");
    let scenario = Scenario::parse("x.toml", &scenario, &[], &clift::Registry::new()).unwrap();
    let store = Store::new(InMemory::default());
    let budget = Budget::of(MemoryLimit::Bytes(1 << 20));
    let refused = scenario.cells()[0].setup(0, &store.within(&budget)).unwrap_err().to_string();
    assert!(refused.contains("88333333 slots need 1500 MB of memory in total"), "{refused}");
}

#[test]
fn who_says_no_is_heard_everywhere() {
    let asked = AtomicU32::new(0);
    let never = || {
        asked.fetch_add(1, Ordering::Relaxed);
        false
    };
    let budget = Budget::new(MemoryLimit::Unlimited, Some(&never));
    let (files, all) = files();
    for file in all {
        let stopped = file.read_within(&files, &budget).unwrap_err().to_string();
        assert!(stopped.ends_with("interrupted; nothing was changed"), "{stopped}");
    }
    let channel: ChannelConfig = read(&Value::table([("model", Value::text("lms"))])).unwrap();
    let stopped = channel.trace_within(1000, Seed(1), 0, &budget).unwrap_err().to_string();
    assert_eq!(stopped, "interrupted");
    assert!(asked.into_inner() > 8);
}
