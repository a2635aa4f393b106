use super::*;
use crate::seed::{Seed, Stream};
use crate::transport::tcp::CongestionAlgorithm;
use crate::transport::{SackBlock, SackList};
use crate::units::{Packets, Size};

const MSS: u64 = 1448;

fn config() -> TcpConfig {
    TcpConfig::papers(CongestionAlgorithm::NEWRENO)
}

fn ms(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

/// Everything the sender wants to send now, as segment numbers.
fn sent(sender: &mut PapersSender, now: Instant) -> Vec<u64> {
    std::iter::from_fn(|| sender.poll_transmit(now)).map(|segment| segment.seq / MSS).collect()
}

/// An ACK of everything below segment `ack`, with SACK blocks of segments, echoing `echo`.
fn ack(ack: u64, blocks: &[(u64, u64)], echo: Instant) -> Segment {
    let mut sack = SackList::default();
    for &(start, end) in blocks {
        sack.push(ack * MSS, SackBlock { start: start * MSS, end: end * MSS });
    }
    Segment { ack: ack * MSS, sack, ts_ecr: echo, window: u32::MAX, ..Segment::default() }
}

fn new(config: &TcpConfig) -> PapersSender {
    PapersSender::new(config, Seed(1).rng(Stream::Flow(0)))
}

/// A sender with segments `0..window` in flight, sent at time zero.
fn with_window(window: u32) -> PapersSender {
    let mut config = config();
    config.initial_window = Packets::new(window.into());
    let mut sender = new(&config);
    sender.supply(u64::MAX);
    assert_eq!(sent(&mut sender, ms(0)).len(), window as usize);
    sender
}

#[test]
fn slow_start_sends_two_for_every_ack() {
    let mut sender = with_window(2);
    assert_eq!(sender.poll_timeout(), Some(ms(3000)));
    let mut windows = Vec::new();
    for acked in 1..=6u64 {
        sender.handle_segment(ms(500), &ack(acked, &[], ms(0)));
        windows.push(sender.cwnd());
        assert_eq!(sent(&mut sender, ms(500)), [2 * acked, 2 * acked + 1]);
    }
    assert_eq!(windows, [3, 4, 5, 6, 7, 8]);
    assert_eq!(sender.in_flight(), 8);
}

#[test]
fn an_ack_of_several_segments_counts_once() {
    let mut sender = with_window(10);
    sender.handle_segment(ms(500), &ack(4, &[], ms(0)));
    assert_eq!(sender.cwnd(), 11);
    assert_eq!(sent(&mut sender, ms(500)), [10, 11, 12, 13, 14]);
}

/// 20 in flight, segment 0 late. Each SACK lets one new segment out, no more; the fourth one
/// condemns segment 0: window 20 -> threshold 10, floor 5; the retransmission goes first.
#[test]
fn three_overtaking_segments_are_tolerated() {
    let mut sender = with_window(20);
    for overtaking in 1..=3 {
        sender.handle_segment(ms(500), &ack(0, &[(1, 1 + overtaking)], ms(0)));
        assert_eq!(sent(&mut sender, ms(500)), [19 + overtaking]);
        assert_eq!(sender.state, CongestionState::Open);
    }
    sender.handle_segment(ms(500), &ack(0, &[(1, 5)], ms(0)));
    assert_eq!(sender.state, CongestionState::Recovery);
    assert_eq!((sender.cwnd(), sender.ssthresh()), (5, Some(10)));
    assert_eq!(sent(&mut sender, ms(500)), [0]);
    assert_eq!(sender.counters().recovery_entries_by_dupacks, 1);
    assert_eq!(sender.counters().fast_retransmits, 1);
    assert_eq!(sender.counters().duplicate_acks, 4);
}

/// After the entry above 19 are outstanding (23 sent, 4 SACKed). Rate halving: 19, then every
/// second SACK lets a segment out. The ACK beyond the recovery point (23) ends it: the rest
/// in flight and three more, but no more than the threshold.
#[test]
fn rate_halving_and_exit() {
    let mut sender = with_window(20);
    for overtaking in 1..=4 {
        sender.handle_segment(ms(500), &ack(0, &[(1, 1 + overtaking)], ms(0)));
        sent(&mut sender, ms(500));
    }
    assert_eq!(sender.in_flight(), 19);
    let mut out = Vec::new();
    for end in 6..=20 {
        sender.handle_segment(ms(510), &ack(0, &[(1, end)], ms(0)));
        out.push(sent(&mut sender, ms(510)).len());
    }
    assert_eq!(out, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
    assert_eq!(sender.in_flight(), 11);
    sender.handle_segment(ms(1000), &ack(23, &[], ms(500)));
    assert_eq!(sender.state, CongestionState::Open);
    // Segments 23 to 29 are in flight: 7 + 3 meets the threshold of 10.
    assert_eq!(sender.in_flight(), 7);
    assert_eq!(sender.cwnd(), 10);
}

#[test]
fn exit_with_little_in_flight_bursts_three() {
    let mut config = config();
    config.initial_window = Packets::new(20);
    let mut sender = new(&config);
    sender.supply(20 * MSS);
    sent(&mut sender, ms(0));
    sender.handle_segment(ms(500), &ack(0, &[(1, 20)], ms(0)));
    assert_eq!(sent(&mut sender, ms(500)), [0]);
    sender.supply(u64::MAX);
    sender.handle_segment(ms(1000), &ack(20, &[], ms(500)));
    assert_eq!((sender.cwnd(), sender.ssthresh()), (3, Some(10)));
}

/// No ACK: after 3 s one segment, after 6 s more the same again; the window is one segment, and
/// the threshold half of the window, at least two.
#[test]
fn timeout_backs_off() {
    let mut sender = with_window(10);
    sender.handle_timeout(ms(2999));
    assert_eq!(sender.counters().timeouts, 0);
    sender.handle_timeout(ms(3000));
    assert_eq!(sent(&mut sender, ms(3000)), [0]);
    assert_eq!((sender.cwnd(), sender.ssthresh()), (1, Some(5)));
    assert_eq!(sender.state, CongestionState::Loss);
    assert_eq!(sender.poll_timeout(), Some(ms(9000)));
    sender.handle_timeout(ms(9000));
    assert_eq!(sent(&mut sender, ms(9000)), [0]);
    assert_eq!(sender.ssthresh(), Some(2));
    assert_eq!(sender.poll_timeout(), Some(ms(21_000)));
    assert_eq!(sender.counters().timeouts, 2);
    assert_eq!(sender.counters().fast_retransmits, 0);
    // Slow start from one; the rest is sent again.
    sender.handle_segment(ms(9500), &ack(1, &[], ms(9000)));
    assert_eq!(sent(&mut sender, ms(9500)), [1, 2]);
    assert_eq!(sender.poll_timeout(), Some(ms(9500 + 1500)));
}

/// SRTT 500, variance settling from 250 ms by quarters of ticks: every ACK restarts the timer.
#[test]
fn every_ack_restarts_the_timer() {
    let mut sender = with_window(10);
    sender.handle_segment(ms(500), &ack(1, &[], ms(0)));
    assert_eq!(sender.poll_timeout(), Some(ms(500 + 1500)));
    assert_eq!(sender.srtt(), Some(Duration::from_millis(500)));
    // 4·var: 1000 -> 1000 - 250 (delta 0).
    sender.handle_segment(ms(501), &ack(1, &[(2, 3)], ms(1)));
    assert_eq!(sender.poll_timeout(), Some(ms(501 + 500 + 750)));
}

#[test]
fn last_segment_is_short_and_completion_ends_the_timer() {
    let mut sender = new(&config());
    sender.supply(MSS + 100);
    sender.close();
    sender.supply(1_000_000);
    let segments: Vec<_> = std::iter::from_fn(|| sender.poll_transmit(ms(0))).collect();
    assert_eq!(
        segments.iter().map(|s| (s.len, s.wire)).collect::<Vec<_>>(),
        [(1448, 1500), (100, 152)]
    );
    let mut last = ack(0, &[], ms(0));
    last.ack = MSS + 100;
    assert!(!sender.is_complete());
    sender.handle_segment(ms(500), &last);
    assert!(sender.is_complete());
    assert_eq!(sender.poll_timeout(), None);
    assert_eq!(sender.counters().acknowledged_by_transmissions[0], 2);
}

#[test]
fn idle_for_a_timeout_restarts_with_the_initial_window() {
    let mut sender = new(&config());
    sender.supply(20 * MSS);
    let mut acked = 0;
    while acked < 20 {
        acked += sent(&mut sender, ms(0)).len() as u64;
        (1..=acked).for_each(|n| sender.handle_segment(ms(500), &ack(n, &[], ms(0))));
    }
    assert!(sender.cwnd() > 3);
    let idle = sender.poll_timeout().unwrap();
    sender.handle_timeout(idle);
    assert_eq!(sender.cwnd(), 2);
    assert_eq!(sender.poll_timeout(), None);
    assert_eq!(sender.counters().timeouts, 0);
    sender.supply(5 * MSS);
    assert_eq!(sent(&mut sender, idle).len(), 2);
}

#[test]
fn receive_window_limits() {
    let mut config = config();
    config.initial_window = Packets::new(10);
    config.receive_window = Some(Size(4 * 1448));
    let mut sender = new(&config);
    sender.supply(u64::MAX);
    assert_eq!(sent(&mut sender, ms(0)), [0, 1, 2, 3]);
    let mut one = ack(1, &[], ms(0));
    one.window = 4 * 1448 + 1447;
    sender.handle_segment(ms(500), &one);
    assert_eq!(sent(&mut sender, ms(500)), [4]);
}

#[test]
fn acks_outside_the_window_are_ignored() {
    let mut sender = with_window(10);
    sender.handle_segment(ms(500), &ack(5, &[], ms(0)));
    let deadline = sender.poll_timeout();
    sender.handle_segment(ms(600), &ack(4, &[], ms(0)));
    sender.handle_segment(ms(600), &ack(1000, &[], ms(0)));
    sender.handle_segment(ms(600), &ack(5, &[(900, 1000)], ms(100)));
    assert_eq!(sender.acknowledged(), 5 * MSS);
    assert_ne!(sender.poll_timeout(), deadline, "the last one counts as a duplicate");
    assert_eq!(sender.counters().duplicate_acks, 1);
}

/// Without timestamps one segment per round trip is timed, and none that was sent again (Karn).
#[test]
fn without_timestamps_retransmissions_are_not_timed() {
    let mut config = config();
    config.timestamps = false;
    config.initial_window = Packets::new(10);
    let mut sender = new(&config);
    sender.supply(10 * 1460);
    while sender.poll_transmit(ms(0)).is_some() {}
    let mss = 1460;
    let mut one = Segment { ack: mss, window: u32::MAX, ..Segment::default() };
    sender.handle_segment(ms(400), &one);
    assert_eq!(sender.srtt(), Some(Duration::from_millis(400)));
    one.ack = 2 * mss;
    sender.handle_segment(ms(900), &one);
    assert_eq!(sender.srtt(), Some(Duration::from_millis(400)));
    sender.handle_timeout(sender.poll_timeout().unwrap());
    while sender.poll_transmit(ms(5000)).is_some() {}
    one.ack = 10 * mss;
    sender.handle_segment(ms(9000), &one);
    assert_eq!(sender.srtt(), Some(Duration::from_millis(400)));
}

#[test]
fn close_cuts_unlimited_data() {
    let mut sender = with_window(4);
    sender.close();
    sender.handle_segment(ms(500), &ack(4, &[], ms(0)));
    assert!(sent(&mut sender, ms(500)).is_empty());
    assert!(sender.is_complete());
}
