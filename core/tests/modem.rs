//! Logs of modems: constant, variable and adaptive coding, against frames one by one.

use clift::scheme::{Scheme, Timing};
use clift::trace::series::{Decibels, SymbolRate};
use clift::trace::{InMemory, Modcods, Packing, PhyTrace, TraceFile};
use clift::units::Duration;
use proptest::prelude::*;

const TABLE: &str = "name,efficiency,threshold_db,symbols\nLow,1,0,1000\nHigh,2,10,1000\n";

fn file() -> TraceFile {
    TraceFile {
        time: Some("1:s".parse().unwrap()),
        esn0: Some("2:dB".parse().unwrap()),
        symbol_rate: Some("1 kBd".parse().unwrap()),
        modcod_table: Some("table.csv".to_owned()),
        ..TraceFile::new("log.csv")
    }
}

fn read(log: &str, file: &TraceFile) -> Result<PhyTrace, String> {
    let mut files = InMemory::default();
    files.insert("log.csv", log);
    files.insert("table.csv", TABLE);
    file.read(&files).map_err(|error| error.to_string())
}

fn bytes(phy: &PhyTrace) -> Vec<u32> {
    (0..phy.len()).map(|slot| phy.sizes().at(slot)).collect()
}

#[test]
fn adaptive_coding_follows_what_it_knew() {
    // Frames of a second; at 2 s the channel falls, which the sender learns a second later.
    let log = "0,12\n2,5\n4,12\n";
    let adaptive = TraceFile {
        margin: Some(Decibels(1.0)),
        acm_delay: Some(Duration::from_secs(1)),
        ..file()
    };
    let phy = read(log, &adaptive).unwrap();
    let seconds: Vec<i64> = (0..6).map(|second| second * 1_000_000_000).collect();
    assert_eq!(phy.t()[..], seconds[..]);
    assert_eq!(bytes(&phy), [250, 250, 250, 125, 125, 250]);
    assert_eq!(
        phy.d().iter().map(|d| d / 1_000_000).collect::<Vec<_>>(),
        [1000, 1000, 0, 1000, 1000, 1000]
    );
    let notes = phy.header().notes.understood.join("; ");
    assert!(notes.contains("adaptive coding: the most efficient MODCOD"), "{notes}");
    assert!(notes.contains("frames: High 4 (1 lost), Low 2"), "{notes}");
    assert_eq!(phy.header().loading.packing, Some(Packing::Bytes));
    // A margin of 3 dB leaves Low alone; none at all, the same as before.
    let wide = TraceFile { margin: Some(Decibels(3.0)), ..file() };
    assert!(bytes(&read(log, &wide).unwrap()).iter().all(|&bytes| bytes == 125));
}

#[test]
fn constant_and_variable_coding_and_c_over_n() {
    let log = "0,12,High\n2,5,Low\n4,12,2\n6,-,-\n8,5,high\n";
    let constant = TraceFile { modcod: Some("High".to_owned()), ..file() };
    let phy = read(log, &constant).unwrap();
    assert_eq!((phy.lldu().0, phy.sizes().column()), (250, None));
    // Two frames in each row, of two seconds; nothing is received without Es/N0, or with 5 dB.
    let lost = |phy: &PhyTrace| phy.d().iter().map(|&d| u8::from(d == 0)).collect::<Vec<_>>();
    assert_eq!(lost(&phy), [0, 0, 1, 1, 0, 0, 1, 1, 1, 1]);
    let variable = TraceFile { modcod: Some("3".to_owned()), ..file() };
    let phy = read(log, &variable).unwrap();
    // Nothing is sent where the log has no MODCOD.
    assert_eq!(
        (bytes(&phy), lost(&phy)),
        (vec![250, 250, 125, 125, 250, 250, 250, 250], vec![0, 0, 0, 0, 0, 0, 1, 1])
    );
    // 30 dBHz over 1000 Bd are 0 dB.
    let carrier = TraceFile { esn0: None, cn0: Some("2:dBHz".parse().unwrap()), ..constant };
    let phy = read("0,40\n2,39.9\n", &carrier).unwrap();
    assert_eq!(lost(&phy), [0, 0, 1, 1]);
    // Frame errors are the log's own.
    let errors = TraceFile { loss: Some("4".parse().unwrap()), esn0: None, ..variable };
    let phy = read("0,0,Low,0\n2,0,Low,1\n4,0,Low,0\n", &errors).unwrap();
    assert_eq!(lost(&phy), [0, 0, 1, 1, 0, 0]);
}

#[test]
fn order_is_kept_among_received_frames() {
    let file = TraceFile {
        modcod: Some("High".to_owned()),
        delay: Some("3:s".parse().unwrap()),
        ..file()
    };
    // Frames of a second. The one sent at 4 s would overtake the one sent at 1 s; those between are lost.
    let phy = read("0,12,3.5\n2,5,0.1\n4,12,0.1\n", &file).unwrap();
    let ms: Vec<i64> = phy.d().iter().map(|d| d / 1_000_000).collect();
    assert_eq!(ms, [4500, 4500, 0, 0, 1500, 1100]);
}

#[test]
fn what_has_no_meaning_is_refused_in_one_line() {
    let log = "0,12,High\n1,5,Low\n";
    let fault = |change: &dyn Fn(&mut TraceFile)| {
        let mut file = file();
        change(&mut file);
        read(log, &file).unwrap_err()
    };
    type Case<'a> = (&'a dyn Fn(&mut TraceFile), &'a str);
    let cases: [Case<'_>; 10] = [
        (
            &|f| f.symbol_rate = None,
            "frames of a modem last as long as their symbols; give symbol_rate",
        ),
        (
            &|f| f.rate = Some("5 Mbit/s".parse().unwrap()),
            "rate: follows from symbol rate and MODCOD",
        ),
        (&|f| f.cn0 = Some("3:dBHz".parse().unwrap()), "cn0: conflicts with esn0; keep one"),
        (&|f| f.modcod_table = Some("dvb-s3".to_owned()), "modcod_table: is neither a preset"),
        (&|f| f.modcod_table = Some("none.csv".to_owned()), "none.csv: cannot be opened"),
        (
            &|f| (f.modcod, f.margin) = (Some("High".to_owned()), Some(Decibels(1.0))),
            "margin: applies to adaptive coding only",
        ),
        (&|f| f.loss = Some("3".parse().unwrap()), "loss: frame errors are those of the MODCODs"),
        (
            &|f| (f.modcod, f.esn0) = (Some("3".to_owned()), None),
            "nothing says which frames were lost; give esn0",
        ),
        (
            &|f| f.esn0 = Some("3:dB".parse().unwrap()),
            "log.csv: line 1: Es/N0 `High` is not a number of decibels",
        ),
        (
            &|f| f.modcod = Some("2".to_owned()),
            "log.csv: line 1: `12` is not a MODCOD of the table table.csv",
        ),
    ];
    for (change, expected) in cases {
        let message = fault(change);
        assert!(message.contains(expected), "{message}");
        assert!(!message.contains('\n'));
    }
}

proptest! {
    /// Frame by frame: where it starts, which MODCOD it has, whether it was received; and then
    /// bytes a second, with and without ARQ.
    #[test]
    fn frames_are_those_of_a_slow_reference(
        rows in prop::collection::vec((1i64..40, prop::option::of(-40i32..200)), 2..25),
        rate in 20_000u64..5_000_000,
        margin in 0i32..40,
        delay in 0u64..30,
    ) {
        let (mut log, mut at, mut starts) = (String::new(), 0i64, Vec::new());
        for (gap, tenths) in &rows {
            starts.push((at, tenths.map(|tenths| f64::from(tenths) / 10.0)));
            let level = tenths.map_or("-".to_owned(), |tenths| format!("{}", f64::from(tenths) / 10.0));
            log += &format!("{}.{},{level}\n", at / 10, at % 10);
            at += gap;
        }
        let file = TraceFile {
            modcod_table: Some("dvb-s2".to_owned()),
            symbol_rate: Some(format!("{rate} Bd").parse::<SymbolRate>().unwrap()),
            margin: Some(Decibels(f64::from(margin) / 10.0)),
            acm_delay: Some(Duration::from_millis(100 * delay)),
            ..file()
        };
        let phy = read(&log, &file).unwrap();
        let table = Modcods::preset("dvb-s2").unwrap();
        // The last row lasts as long as rows usually do: the lower median.
        let mut gaps: Vec<i64> = starts.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        gaps.sort_unstable();
        let end = starts[starts.len() - 1].0 + gaps[(gaps.len() - 1) / 2];
        let tenth = 100_000_000i128;
        let row = |t: i128| starts.iter().rev().find(|row| i128::from(row.0) * tenth <= t).copied();
        let (mut symbols, mut slot, mut received) = (0i128, 0, 0u64);
        loop {
            let t = symbols * 1_000_000_000 / i128::from(rate);
            if t >= i128::from(end) * tenth {
                break;
            }
            let known = row(t - i128::from(delay) * tenth).unwrap_or(starts[0]).1;
            // QPSK 1/4 has the lowest threshold.
            let (mut best, mut found) = (&table.all()[0], false);
            for one in table.all() {
                let bears = |esn0: f64| one.threshold_db <= esn0 - f64::from(margin) / 10.0;
                if known.is_some_and(bears) && (!found || one.efficiency > best.efficiency) {
                    (best, found) = (one, true);
                }
            }
            let arrives = row(t).unwrap().1.is_some_and(|esn0| esn0 >= best.threshold_db);
            prop_assert_eq!(i128::from(phy.t()[slot]), t);
            prop_assert_eq!(Some(phy.sizes().at(slot)), best.bytes(None));
            prop_assert_eq!(phy.d()[slot] > 0, arrives);
            received += if arrives { u64::from(best.bytes(None).unwrap()) } else { 0 };
            symbols += i128::from(best.symbols.unwrap());
            slot += 1;
        }
        prop_assert_eq!(slot, phy.len());
        let link = Scheme::None.apply(&phy, Timing { rtt: Duration::ZERO, feedback: None });
        let stats = link.stats();
        prop_assert!((stats.efficiency - received as f64 / phy.bytes() as f64).abs() < 1e-12);
        if let Some(rate) = phy.received_rate() {
            let bits = 8.0 * received as f64;
            prop_assert!((rate - bits / (end as f64 / 10.0)).abs() <= 1e-9 * bits);
        }
    }

    #[test]
    fn no_log_makes_a_panic(log in "([0-9]{1,3}[,; ][-0-9.QPSK/ ]{0,9}[,; ][A-Z0-9/ -]{0,9}\n){0,6}") {
        for modcod in [None, Some("3".to_owned()), Some("Low".to_owned())] {
            let file = TraceFile { modcod, ..file() };
            if let Err(error) = read(&log, &file) {
                prop_assert!(!error.contains('\n'), "{}", error);
            }
        }
    }
}
