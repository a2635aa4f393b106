//! Laws of BBR over a plain path: what its draft promises.

use clift::transport::tcp::{CongestionAlgorithm, TcpConfig};
use support::plain_path::{Fate, Path, Run, Supply, lost, run};

const PATH: Path = Path { bits_per_second: 10_000_000, rtt_ms: 100, waiting: 1000 };
const SECONDS: u64 = 60;

fn bulk(congestion: CongestionAlgorithm, path: Path, loss: f64) -> Run {
    let config = TcpConfig::linux(congestion);
    run(&config, path, Supply::Unlimited, SECONDS, |at| {
        if lost(3, at, loss) { Fate::Lost } else { Fate::Delivered }
    })
}

fn bbr(path: Path, loss: f64) -> f64 {
    bulk(CongestionAlgorithm::BBR, path, loss).goodput_kbps(SECONDS)
}

/// With a buffer of 12 round trips it fills the link and drops nothing, where Reno overflows.
#[test]
fn fills_the_link_without_filling_the_buffer() {
    let run = bulk(CongestionAlgorithm::BBR, PATH, 0.0);
    assert_eq!((run.queue_drops, run.sender.retransmissions), (0, 0));
    // 1448 of 1500 bytes are payload; a fiftieth goes into ProbeRTT.
    let most = 10_000.0 * 1448.0 / 1500.0;
    let goodput = run.goodput_kbps(SECONDS);
    assert!((0.95 * most..most).contains(&goodput), "{goodput}");
    assert!(bulk(CongestionAlgorithm::NEWRENO, PATH, 0.0).queue_drops > 0);
}

/// Random loss of 1 % costs little more than what is lost; Reno is left with a tenth.
#[test]
fn random_loss_hardly_matters() {
    let path = Path { rtt_ms: 500, ..PATH };
    let (clean, lossy) = (bbr(path, 0.0), bbr(path, 0.01));
    assert!(lossy > 0.93 * clean, "{clean} {lossy}");
    let reno = bulk(CongestionAlgorithm::NEWRENO, path, 0.01).goodput_kbps(SECONDS);
    assert!(reno < 0.1 * lossy, "{reno}");
}

/// Section 4.3.5: some 10 s after the last time that the round-trip time was as low, no more than
/// four segments a round trip leave for 200 ms.
#[test]
fn goes_quiet_every_ten_seconds() {
    let run = bulk(CongestionAlgorithm::BBR, PATH, 0.0);
    let quiet = (0..SECONDS * 100 - 20)
        .map(|at| at * 10)
        .filter(|&at| at >= 1_000 && run.sent_within(at, at + 200) <= 12)
        .collect::<Vec<_>>();
    let mut episodes: Vec<u64> = Vec::new();
    for at in quiet {
        if episodes.last().is_none_or(|&last| at > last + 2_000) {
            episodes.push(at);
        }
    }
    assert_eq!(episodes.len(), 5, "{episodes:?}");
    for pair in episodes.windows(2) {
        assert!((10_000..11_000).contains(&(pair[1] - pair[0])), "{episodes:?}");
    }
}

/// Section 4.2.1: in every 100 ms beyond Startup no more leaves than 5/4 of the bandwidth allow
/// (payload is what is paced, at the rate of packets), and three segments.
#[test]
fn segments_leave_at_the_pace_of_the_link() {
    let run = bulk(CongestionAlgorithm::BBR, PATH, 0.0);
    let a_tenth = 10_000_000.0 / 10.0 / 8.0 / 1448.0;
    for at in (30..SECONDS * 10).map(|at| at * 100) {
        let sent = run.sent_within(at, at + 100);
        assert!((sent as f64) < 1.25 * a_tenth + 3.0, "{at} ms: {sent}");
    }
}
