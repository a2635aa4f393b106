//! Profile `papers` against ns-2.35: the same packets are lost or late in both simulators, so
//! the runs can be compared one by one.
//!
//! The tables in `data/` are what Debian's ns-2 2.35+dfsg-5 does, made by `bench/ns2/compare.py`.
//! NewReno, Hybla, Westwood+ and Compound must do exactly the same, and CUBIC with the kernel's cube
//! root. With an exact one for the time of its plateau,
//! it may differ by a few packets now and then.

use std::collections::BTreeSet;

use clift::transport::tcp::{
    CongestionAlgorithm, CubeRoot, DelayedAck, PapersOptions, Profile, TcpConfig,
};
use clift::units::{Duration, Packets};
use support::plain_path::{Fate, Path, Run, Supply, lost, run};

/// One line of a table, by column name.
struct Row<'a> {
    names: Vec<&'a str>,
    fields: Vec<&'a str>,
}

impl<'a> Row<'a> {
    fn all(table: &'a str) -> impl Iterator<Item = Self> {
        let mut lines = table.lines();
        let names: Vec<&str> = lines.next().unwrap().split(',').collect();
        lines.map(move |line| Row { names: names.clone(), fields: line.split(',').collect() })
    }

    fn text(&self, name: &str) -> &'a str {
        self.fields[self.names.iter().position(|&known| known == name).unwrap()]
    }

    fn number(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap()
    }

    fn real(&self, name: &str) -> f64 {
        self.text(name).parse().unwrap()
    }

    fn congestion(&self) -> CongestionAlgorithm {
        let named = self.names.contains(&"variant");
        if named { self.text("variant").parse().unwrap() } else { CongestionAlgorithm::NEWRENO }
    }

    /// Runs the line's flow, with what becomes of each packet.
    fn run(&self, fate: impl FnMut(u64) -> Fate) -> Run {
        self.run_with(CubeRoot::Exact, fate)
    }

    fn run_with(&self, cube_root: CubeRoot, fate: impl FnMut(u64) -> Fate) -> Run {
        let mut config = TcpConfig::papers(self.congestion());
        config.papers = Some(PapersOptions { cube_root });
        config.cwnd_max = Packets::new(self.number("window"));
        if self.names.contains(&"delack_ms") && self.number("delack_ms") > 0 {
            config.delayed_ack =
                Some(DelayedAck::After(Duration::from_millis(self.number("delack_ms"))));
        }
        if self.names.contains(&"timestamps") {
            config.sack = false;
            config.timestamps = self.number("timestamps") > 0;
        }
        let path = Path {
            bits_per_second: self.number("rate"),
            rtt_ms: self.number("rtt_ms"),
            // ns-2 drops a packet that would make its queue as long as the limit.
            waiting: self.number("buffer") as usize - 1,
        };
        run(&config, path, Supply::Unlimited, self.number("duration_s"), fate)
    }

    /// Highest ACK, packets sent, retransmissions, timeouts and cuts of the window in ns-2.
    fn expected(&self) -> [u64; 5] {
        ["ack", "sent", "retransmissions", "timeouts", "cuts"].map(|name| self.number(name))
    }

    /// Whether each run of the tests replays the row: one seed, and no million packets in all.
    fn is_quick(&self) -> bool {
        self.number("seed") == 1 && self.number("ack") < 30_000
    }

    /// Whether every packet must be ns-2's.
    fn exact(&self) -> bool {
        self.congestion() != CongestionAlgorithm::CUBIC
    }

    /// Checks that `run` did what ns-2 did: exactly, but CUBIC's goodput within `permille`
    /// and three packets, its losses within a tenth and three.
    fn check(&self, run: &Run, permille: u64) {
        let (ours, theirs) = (counts(run), self.expected());
        if self.exact() {
            assert_eq!(ours, theirs, "{:?}", self.fields);
            return;
        }
        for (at, (ours, theirs)) in ours.into_iter().zip(theirs).enumerate() {
            let room = if at < 2 { theirs * permille / 1000 } else { theirs / 10 };
            let difference = ours.abs_diff(theirs);
            assert!(difference <= 3 + room, "{:?}: {:?}", self.fields, counts(run));
        }
    }
}

fn counts(run: &Run) -> [u64; 5] {
    let sender = &run.sender;
    [
        (run.acknowledged / 1448).wrapping_sub(1),
        sender.segments_sent,
        sender.retransmissions,
        sender.timeouts,
        sender.cwnd_reductions,
    ]
}

/// Goodput over independent loss, window limited to BDP + buffer: 24 cells each, one of ten seeds.
#[test]
fn random_losses() {
    for row in Row::all(include_str!("data/ns2_matrix.csv")) {
        let (seed, loss) = (row.number("seed"), row.real("loss"));
        if row.is_quick() {
            row.check(
                &row.run(|at| if lost(seed, at, loss) { Fate::Lost } else { Fate::Delivered }),
                10,
            );
        }
    }
}

/// The same cells with all seeds, and their means beside ns-2's.
#[test]
#[ignore = "long"]
fn matrix_of_losses() {
    let (mut cells, mut table) = (Vec::<Cell>::new(), String::new());
    for row in Row::all(include_str!("data/ns2_matrix.csv")) {
        let (seed, loss) = (row.number("seed"), row.real("loss"));
        let run = row.run(|at| if lost(seed, at, loss) { Fate::Lost } else { Fate::Delivered });
        row.check(&run, 10);
        let names = ["variant", "rate", "rtt_ms", "loss"];
        let label = names.map(|name| row.text(name)).join(",");
        if cells.last().is_none_or(|cell| cell.label != label) {
            cells.push(Cell { label, ours: Vec::new(), theirs: Vec::new(), identical: 0 });
        }
        let cell = cells.last_mut().unwrap();
        cell.identical += usize::from(counts(&run) == row.expected());
        let seconds = row.number("duration_s");
        cell.ours.push(run.goodput_kbps(seconds));
        cell.theirs.push((row.number("ack") + 1) as f64 * 1448.0 * 8e-3 / seconds as f64);
    }
    for cell in &cells {
        let (ours, our_error) = mean_and_error(&cell.ours);
        let (theirs, their_error) = mean_and_error(&cell.theirs);
        assert!((ours / theirs - 1.0).abs() < 0.005, "{}: {ours} against {theirs}", cell.label);
        let (label, runs, same) = (&cell.label, cell.ours.len(), cell.identical);
        let means = format!("{ours:.2},{our_error:.2},{theirs:.2},{their_error:.2}");
        table += &format!("{label},{means},{runs},{same}\n");
    }
    let head =
        "variant,rate,rtt_ms,loss,clift_kbps,clift_error,ns2_kbps,ns2_error,runs,identical\n";
    let table = head.to_owned() + &table;
    if std::env::var_os("CLIFT_UPDATE").is_some() {
        std::fs::write("data/tcp_matrix.csv", &table).unwrap();
    }
    let snapshot = std::fs::read_to_string("data/tcp_matrix.csv").unwrap();
    assert_eq!(table, snapshot, "the table changed; CLIFT_UPDATE=1 takes the new one");
}

struct Cell {
    label: String,
    ours: Vec<f64>,
    theirs: Vec<f64>,
    /// Runs that did the same in both.
    identical: usize,
}

/// Mean and its standard error, 0 for a single value.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0) / n).sqrt())
}

/// Losses at chosen places: the same packets in the same order at the same times.
#[test]
fn scripted_losses() {
    for row in Row::all(include_str!("data/ns2_scripts.csv")) {
        let drops = positions(row.text("drops"));
        let run = row.run(|at| if drops.contains(&at) { Fate::Lost } else { Fate::Delivered });
        row.check(&run, 1);
        let mean = run.sent.iter().map(|&(at, _)| at as f64 * 1e-9).sum::<f64>();
        let mean = mean / run.sent.len() as f64;
        let late = (mean - row.real("mean_time_s")).abs();
        let order = digest(run.sent.iter().map(|&(_, byte)| byte / 1448));
        if row.exact() {
            assert_eq!(order, row.text("order"), "{:?}", row.fields);
            assert!(late < 2e-6, "{:?}: {mean}", row.fields);
        } else {
            assert!(late < 10e-3, "{:?}: {mean}", row.fields);
        }
    }
}

/// With the kernel's cube root CUBIC does exactly what ns-2's does: the matrix, the scripts with their
/// packets in order, and late packets.
#[test]
fn cubic_by_the_table() {
    let cubic = |row: &Row<'_>| row.congestion() == CongestionAlgorithm::CUBIC;
    for row in Row::all(include_str!("data/ns2_matrix.csv")).filter(cubic) {
        let (seed, loss) = (row.number("seed"), row.real("loss"));
        if !row.is_quick() {
            continue;
        }
        let fate = |at| if lost(seed, at, loss) { Fate::Lost } else { Fate::Delivered };
        let run = row.run_with(CubeRoot::Table, fate);
        assert_eq!(counts(&run), row.expected(), "{:?}", row.fields);
    }
    for row in Row::all(include_str!("data/ns2_scripts.csv")).filter(cubic) {
        let drops = positions(row.text("drops"));
        let fate = |at| if drops.contains(&at) { Fate::Lost } else { Fate::Delivered };
        let run = row.run_with(CubeRoot::Table, fate);
        assert_eq!(counts(&run), row.expected(), "{:?}", row.fields);
        let order = digest(run.sent.iter().map(|&(_, byte)| byte / 1448));
        assert_eq!(order, row.text("order"), "{:?}", row.fields);
    }
    for row in Row::all(include_str!("data/ns2_reordering.csv")).filter(cubic) {
        let (seed, share) = (row.number("seed"), row.real("share"));
        let late = Fate::Late { micros: row.number("late_us") };
        let fate = |at| if lost(seed, at, share) { late } else { Fate::Delivered };
        let run = row.run_with(CubeRoot::Table, fate);
        assert_eq!(counts(&run), row.expected(), "{:?}", row.fields);
    }
}

/// Without SACK: losses at chosen places and at random, and late packets, with and without
/// timestamps and delayed ACKs. The same packets in the same order at the same times.
#[test]
fn without_sack() {
    rows_without_sack(3);
}

#[test]
#[ignore = "long"]
fn every_row_without_sack() {
    rows_without_sack(1);
}

fn rows_without_sack(step: usize) {
    for row in Row::all(include_str!("data/ns2_unsacked.csv")).step_by(step) {
        let (seed, share) = (row.number("seed"), row.real("loss"));
        let chosen = positions(row.text("drops"));
        let run = row.run(|at| match row.text("name") {
            "late" if lost(seed, at, share) => Fate::Late { micros: row.number("late_us") },
            "random" if lost(seed, at, share) => Fate::Lost,
            _ if chosen.contains(&at) => Fate::Lost,
            _ => Fate::Delivered,
        });
        // ns-2 counts the SYN as packet 0.
        let mss = if row.number("timestamps") > 0 { 1448 } else { 1460 };
        let number = |byte: u64| if byte == u64::MAX { 0 } else { byte / mss + 1 };
        let syns = run.sent.iter().filter(|&&(_, byte)| byte == u64::MAX).count() as u64;
        let ours = [
            run.acknowledged / mss,
            run.sender.segments_sent + syns,
            run.sender.retransmissions + syns - 1,
            run.sender.timeouts,
            run.sender.cwnd_reductions,
        ];
        assert_eq!(ours, row.expected(), "{:?}", row.fields);
        let sent = run.sent.iter().map(|&(_, byte)| number(byte));
        assert_eq!(digest(sent), row.text("order"), "{:?}", row.fields);
        let mean = run.sent.iter().map(|&(at, _)| at as f64 * 1e-9).sum::<f64>();
        let mean = mean / run.sent.len() as f64;
        assert!((mean - row.real("mean_time_s")).abs() < 2e-6, "{:?}: {mean}", row.fields);
    }
}

/// The numbers, each as one unit, by FNV-1a.
fn digest(numbers: impl Iterator<Item = u64>) -> String {
    let hash = numbers.fold(0xCBF2_9CE4_8422_2325u64, |hash, number| {
        (hash ^ number).wrapping_mul(0x100_0000_01B3)
    });
    format!("{hash:016x}")
}

/// The numbers that ranges like `3 10-12 20-30/5` name.
fn positions(ranges: &str) -> BTreeSet<u64> {
    let mut numbers = BTreeSet::new();
    for part in ranges.split_whitespace() {
        let (span, step) = part.split_once('/').unwrap_or((part, "1"));
        let (first, last) = span.split_once('-').unwrap_or((span, span));
        let (first, last): (u64, u64) = (first.parse().unwrap(), last.parse().unwrap());
        numbers.extend((first..=last).step_by(step.parse().unwrap()));
    }
    numbers
}

/// Packets held back at random: what the papers' link-layer retransmissions do to TCP.
#[test]
fn reordering_at_random() {
    for row in Row::all(include_str!("data/ns2_reordering.csv")) {
        let (seed, share) = (row.number("seed"), row.real("share"));
        let late = Fate::Late { micros: row.number("late_us") };
        let run = row.run(|at| if lost(seed, at, share) { late } else { Fate::Delivered });
        row.check(&run, 80);
        assert!(run.sender.retransmissions > 30, "nothing is lost, yet segments are sent again");
        // All of them needlessly; some were still on their way at the end.
        let needless = run.receiver.duplicate_segments;
        assert!(needless <= run.sender.retransmissions);
        let sent_again = run.sender.retransmissions;
        assert!(needless + 5 + sent_again / 20 >= sent_again, "{needless} of {sent_again}");
    }
}

/// One late packet: overtaken by three it is not sent again, by four it is. (In ns-2 the same
/// with `late=` of `tcp.tcl`.)
#[test]
fn three_overtaking_packets_are_tolerated() {
    for congestion in CongestionAlgorithm::in_profile(Profile::Papers) {
        for (overtaking, retransmissions, acked) in [(3u64, 0, 1364), (4, 1, 1231)] {
            let mut config = TcpConfig::papers(congestion);
            config.cwnd_max = Packets::new(150);
            let path = Path { bits_per_second: 2_300_000, rtt_ms: 500, waiting: 9_999 };
            let micros = (2 * overtaking + 1) * 1500 * 8 * 10 / 2 / 23;
            let late = |at| if at == 500 { Fate::Late { micros } } else { Fate::Delivered };
            let run = run(&config, path, Supply::Unlimited, 10, late);
            assert_eq!(run.sender.retransmissions, retransmissions);
            assert_eq!(run.receiver.duplicate_segments, retransmissions);
            assert_eq!(run.receiver.max_reordering, overtaking as u32);
            if congestion == CongestionAlgorithm::NEWRENO {
                assert_eq!(run.acknowledged / 1448 - 1, acked);
            }
        }
    }
}

/// Hybla's 2^rho is a shift whose distance counts modulo 32: with a round trip of 800 ms slow
/// start stands still. (In ns-2 `ca=hybla rtt=795 buffer=300 window=440 duration=60`: ACK, sent.)
#[test]
fn hybla_stands_still_at_800_ms() {
    for (rtt_ms, acked, sent) in [(770, 10757, 15727), (795, 2337, 2370), (820, 10766, 15043)] {
        let mut config = TcpConfig::papers(CongestionAlgorithm::HYBLA);
        config.cwnd_max = Packets::new(440);
        let path = Path { bits_per_second: 2_300_000, rtt_ms, waiting: 299 };
        let run = run(&config, path, Supply::Unlimited, 60, |_| Fate::Delivered);
        assert_eq!((counts(&run)[0], counts(&run)[1]), (acked, sent), "{rtt_ms} ms");
    }
}

/// Kuhn 2014, table 3, no loss: 100,000 bytes at 263 kbit/s. A packet takes 46 slots of
/// 1,003,802 ns, decoding 36 ms, and arrives 250 ms after the start of its last slot. Hybla takes
/// 3.96 s and all others 4.57 s, within 20 ms.
#[test]
fn short_flow() {
    for congestion in CongestionAlgorithm::in_profile(Profile::Papers) {
        let config = TcpConfig::papers(congestion);
        // 46 slots for 1500 bytes; the last slot's start to its end is not waited for.
        let path = Path { bits_per_second: 259_881, rtt_ms: 2 * 250 + 35, waiting: 1000 };
        let run = run(&config, path, Supply::Bytes(100_000), 20, |_| Fate::Delivered);
        assert!(run.complete);
        assert_eq!(run.sender.segments_sent, 70);
        let seconds = run.last_arrival as f64 * 1e-9;
        let expected = if congestion == CongestionAlgorithm::HYBLA { 3.96 } else { 4.57 };
        assert!((seconds - expected).abs() < 0.02, "{congestion}: {seconds}");
    }
}

/// The same in ns-2 with full packets over a plain link of 263 kbit/s: the last of 70 packets
/// leaves at 3.054297 s.
#[test]
fn short_flow_of_full_packets() {
    let config = TcpConfig::papers(CongestionAlgorithm::NEWRENO);
    let path = Path { bits_per_second: 263_000, rtt_ms: 500, waiting: 999 };
    let run = run(&config, path, Supply::Bytes(70 * 1448), 20, |_| Fate::Delivered);
    assert_eq!(run.sent.len(), 70);
    assert_eq!(run.sent[69], (run.sent[69].0, 69 * 1448));
    assert!(run.sent[69].0.abs_diff(3_054_297_000) < 1000, "{:?}", run.sent[69]);
}
