//! How a connection starts: HyStart++ (RFC 9406) and Careful Resume (RFC 9959), by what they
//! promise.

use clift::metrics::FlowMetrics;
use clift::scenario::{Scenario, Store};
use clift::simulation;
use clift::trace::Folder;
use clift::transport::tcp::{CongestionAlgorithm, LinuxOptions, SavedPath, TcpConfig};
use clift::units::{Duration, Packets};
use support::plain_path::{Fate, Path, Run, Supply, run};

/// picoquic's `satellite_test_one` (picoquictest/satellite_test.c): 300 ms one way, 250 Mbit/s for
/// the data and 3 Mbit/s for what answers them, a queue of 600 ms, 100 MB.
fn satellite(transport: &str, answers: &str) -> FlowMetrics {
    let text = format!(
        "duration = \"120 s\"\n[transport]\n{transport}\nlinux.window_growth = false\n\
         [application]\ntype = \"file\"\nsize = \"100 MB\"\n\
         [[path]]\nleg = {{ rate = \"250 Mbit/s\", delay = \"300 ms\", queue = \"12500 packets\" }}\n\
         [[return.path]]\nleg = {{ rate = \"{answers}\", delay = \"300 ms\" }}\n"
    );
    let scenario = Scenario::parse("satellite.toml", &text, &[], &clift::Registry::new()).unwrap();
    let setup = scenario.cells()[0].setup(0, &Store::new(Folder::new(""))).unwrap();
    simulation::run(&setup, &mut ()).unwrap().flows.remove(0)
}

fn seconds(flow: &FlowMetrics) -> f64 {
    flow.completion().expect("the file arrived").as_secs_f64()
}

const SAVED: &str = "careful_resume = { cwnd = \"12500 packets\", rtt = \"600 ms\" }";

/// Half of what the path bears at once saves the round trips in which slow start comes there. 100
/// MB take 3.3 s at 250 Mbit/s; picoquic's own bounds are 6.5 s, and 5.0 s with a seeded window
/// (for all of the product, where RFC 9959 allows half).
#[test]
fn a_resumed_connection_saves_the_round_trips_of_slow_start() {
    for congestion in ["newreno", "cubic"] {
        let plain = format!("congestion = \"{congestion}\"");
        let resumed = format!("{plain}\n{SAVED}");
        let [plain, resumed] = [plain, resumed].map(|it| satellite(&it, "250 Mbit/s"));
        eprintln!("{congestion}: {:.2} s, resumed {:.2} s", seconds(&plain), seconds(&resumed));
        // From 10 to 6250 segments slow start doubles more than nine times, 0.6 s each. What it
        // does beyond is its own affair: Reno's overshoots.
        assert!(seconds(&resumed) < seconds(&plain) - 1.2);
    }
}

/// What the page says of picoquic's scenario; here only that the file arrives.
#[test]
fn picoquics_satellite_with_its_thin_way_back() {
    for congestion in ["cubic", "bbr", "bbr3"] {
        for answers in ["3 Mbit/s", "250 Mbit/s"] {
            let flow = satellite(&format!("congestion = \"{congestion}\""), answers);
            let (time, again) = (seconds(&flow), flow.sender.retransmissions);
            eprintln!("{congestion}, answers at {answers}: {time:.2} s, {again} sent again");
            assert!(time > 3.3);
        }
    }
    let flow = satellite(&format!("congestion = \"cubic\"\n{SAVED}"), "3 Mbit/s");
    eprintln!("cubic resumed, answers at 3 Mbit/s: {:.2} s", seconds(&flow));
}

const PATH: Path = Path { bits_per_second: 20_000_000, rtt_ms: 300, waiting: 500 };

fn start(path: Path, seconds: u64, change: impl FnOnce(&mut TcpConfig)) -> Run {
    let mut config = TcpConfig::linux(CongestionAlgorithm::CUBIC);
    // A receive window that grows with the data would bound the jump.
    config.linux.get_or_insert_default().window_growth = false;
    change(&mut config);
    run(&config, path, Supply::Unlimited, seconds, |_| Fate::Delivered)
}

fn saved(packets: u64, rtt_ms: u64) -> Option<SavedPath> {
    let cwnd = Packets::new(packets)?;
    Some(SavedPath { cwnd, rtt: Duration::from_millis(rtt_ms) })
}

/// A tenth of the round-trip time: the path is another one, and nothing differs.
#[test]
fn another_path_is_left_alone() {
    let plain = start(PATH, 20, |_| {});
    let other = start(PATH, 20, |config| config.careful_resume = saved(500, 3_001));
    assert_eq!(plain.sent, other.sent);
    let resumed = start(PATH, 20, |config| config.careful_resume = saved(500, 300));
    assert_ne!(plain.sent, resumed.sent);
}

/// Ten times as much as the path bears over a queue of a tenth of its product: the retreat leaves
/// no more than the path, and the connection lives.
#[test]
fn a_jump_that_was_too_far_is_taken_back() {
    let shallow = Path { waiting: 50, ..PATH };
    let run = start(shallow, 30, |config| config.careful_resume = saved(10_000, 300));
    let plain = start(shallow, 30, |_| {});
    eprintln!(
        "too far: {} drops, {:.0} kbit/s, without {} drops, {:.0} kbit/s",
        run.queue_drops,
        run.goodput_kbps(30),
        plain.queue_drops,
        plain.goodput_kbps(30)
    );
    assert!(run.queue_drops > 1_000, "{}", run.queue_drops);
    // Repairing 4506 segments from a small window takes most of the 30 s.
    assert!((1_000.0..plain.goodput_kbps(30)).contains(&run.goodput_kbps(30)));
}

/// Slow start into a queue of one product: without any end it overflows it; HyStart++ leaves in
/// time, drops less, and fills the path nevertheless.
#[test]
fn hystart_plus_leaves_slow_start_before_the_queue_is_full() {
    let runs = [(false, false), (true, false), (true, true)].map(|(hystart, hystart_plus)| {
        start(PATH, 30, |config| {
            config.linux = Some(LinuxOptions { hystart, hystart_plus, ..LinuxOptions::default() });
        })
    });
    for (run, what) in runs.iter().zip(["none", "HyStart", "HyStart++"]) {
        eprintln!("{what}: {} drops, {:.0} kbit/s", run.queue_drops, run.goodput_kbps(30));
    }
    let [none, _, plus] = &runs;
    assert!(none.queue_drops > 100, "{}", none.queue_drops);
    assert!(plus.queue_drops < none.queue_drops / 4, "{}", plus.queue_drops);
    assert!(plus.goodput_kbps(30) > 0.8 * none.goodput_kbps(30));
}
