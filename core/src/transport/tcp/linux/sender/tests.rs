//! By hand, packet by packet: which segments leave on which ACK.

use super::*;
use crate::seed::{Seed, Stream};
use crate::transport::tcp::config::CongestionAlgorithm;
use crate::transport::{SackBlock, SackList};
use crate::units::Packets;

mod recovery;

const MSS: u64 = 1448;

fn ms(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

fn new(config: &TcpConfig) -> LinuxSender {
    LinuxSender::new(config, Seed(1).rng(Stream::Flow(0)))
}

/// All segments that the sender sends now, by number.
fn sent(sender: &mut LinuxSender, now: u64) -> Vec<u64> {
    let segments = std::iter::from_fn(|| sender.poll_transmit(ms(now)));
    segments.filter(|segment| segment.len > 0).map(|segment| segment.seq / MSS).collect()
}

fn segment(ack: u64, blocks: &[(u64, u64)], dsack: bool, echo: u64) -> Segment {
    let mut sack = SackList::default();
    for &(start, end) in blocks {
        sack.push(ack * MSS, SackBlock { start: start * MSS, end: end * MSS });
    }
    let (ack, ts_ecr) = (ack * MSS, ms(echo));
    Segment { ack, sack, dsack, ts_ecr, window: u32::MAX, ..Segment::default() }
}

/// An ACK of all segments below `ack`, with SACK blocks of segments, echoing `echo`.
fn ack(sender: &mut LinuxSender, now: u64, ack: u64, blocks: &[(u64, u64)], echo: u64) {
    sender.handle_segment(ms(now), &segment(ack, blocks, false, echo));
}

/// New Reno, whose segments leave as soon as the window allows one.
fn by_segments() -> TcpConfig {
    let mut config = TcpConfig::linux(CongestionAlgorithm::NEWRENO);
    config.linux.get_or_insert_default().burst_deferral = false;
    config
}

/// A handshake over 100 ms, then `window` segments in flight, sent at 100 ms.
fn with(window: u32, change: impl FnOnce(&mut TcpConfig)) -> LinuxSender {
    let mut config = by_segments();
    config.initial_window = Packets::new(window.into());
    change(&mut config);
    let mut sender = new(&config);
    sender.supply(u64::MAX);
    let syn = sender.poll_transmit(ms(0)).unwrap();
    assert!(syn.syn && syn.wire == if config.timestamps { 60 } else { 52 });
    assert!(sender.poll_transmit(ms(0)).is_none());
    let answer = Segment { syn: true, ts_ecr: ms(0), window: u32::MAX, ..Segment::default() };
    sender.handle_segment(ms(100), &answer);
    assert_eq!(sender.srtt(), Some(Duration::from_millis(100)));
    assert_eq!(sent(&mut sender, 100).len(), window as usize);
    sender
}

/// Over 440 ms Hybla begins with 17 segments. The first pace is that of ten, twice a round trip: a pair
/// of segments each 44 ms.
#[test]
fn the_first_pace_is_that_of_the_initial_window() {
    let mut config = TcpConfig::linux(CongestionAlgorithm::HYBLA);
    config.linux.get_or_insert_default().pacing = true;
    let mut sender = new(&config);
    sender.supply(u64::MAX);
    assert!(sender.poll_transmit(ms(0)).unwrap().syn);
    let answer = Segment { syn: true, ts_ecr: ms(0), window: u32::MAX, ..Segment::default() };
    sender.handle_segment(ms(440), &answer);
    assert_eq!(sender.cwnd(), 17);
    assert_eq!(sent(&mut sender, 440).len(), 10);
    // The rate is rounded down to bytes per second.
    assert_eq!(sender.poll_timeout().unwrap().as_nanos() / 1_000_000, 484);
}

#[test]
fn a_lost_syn_is_retransmitted_after_a_second() {
    let mut sender = new(&TcpConfig::linux(CongestionAlgorithm::NEWRENO));
    sender.supply(MSS);
    assert!(sender.poll_transmit(ms(0)).unwrap().syn);
    assert_eq!(sender.poll_timeout(), Some(ms(1000)));
    sender.handle_timeout(ms(1000));
    assert!(sender.poll_transmit(ms(1000)).unwrap().syn);
    assert_eq!(sender.poll_timeout(), Some(ms(3000)));
}

/// A second SYN does not cost the initial window, a third does (`tcp_init_transfer`), unless the answer
/// echoes the first one. The round trip is that of the echo.
#[test]
fn the_third_syn_costs_the_initial_window() {
    let after = |syns: &[u64], echo: u64| {
        let mut sender = new(&TcpConfig::linux(CongestionAlgorithm::NEWRENO));
        sender.supply(u64::MAX);
        for &at in syns {
            sender.handle_timeout(ms(at));
            assert!(sender.poll_transmit(ms(at)).unwrap().syn);
        }
        let (now, ts_ecr) = (syns[syns.len() - 1] + 100, ms(echo));
        let answer = Segment { syn: true, ts_ecr, window: u32::MAX, ..Segment::default() };
        sender.handle_segment(ms(now), &answer);
        assert_eq!(sender.srtt(), Some(Duration::from_millis(now - echo)));
        sender.cwnd()
    };
    assert_eq!(after(&[0, 1000], 1000), 10);
    assert_eq!(after(&[0, 1000, 3000], 3000), 1);
    assert_eq!(after(&[0, 1000, 3000], 0), 10);
}

/// The last packet of the handshake leaves before the data and carries none.
#[test]
fn the_syn_ack_is_acknowledged_by_a_packet_without_data() {
    let mut sender = new(&TcpConfig::linux(CongestionAlgorithm::NEWRENO));
    sender.supply(MSS);
    sender.poll_transmit(ms(0)).unwrap();
    let answer = Segment { syn: true, ts_ecr: ms(0), window: u32::MAX, ..Segment::default() };
    sender.handle_segment(ms(100), &answer);
    let left: Vec<_> = std::iter::from_fn(|| sender.poll_transmit(ms(100))).collect();
    let sizes: Vec<_> = left.iter().map(|segment| (segment.syn, segment.wire)).collect();
    assert_eq!(sizes, [(false, 52), (false, 1500)]);
    assert_eq!(
        (sender.counters().segments_sent, sender.counters().bytes_sent),
        (1, 60 + 52 + 1500)
    );
}

/// Two by two: the second of each pair carries PSH, single segments do not, the last data do.
#[test]
fn the_last_segment_of_a_group_carries_push() {
    let pushed = |sender: &mut LinuxSender, now| {
        let left = std::iter::from_fn(|| sender.poll_transmit(ms(now)));
        left.map(|segment| segment.push).collect::<Vec<_>>()
    };
    let mut sender = with(4, |_| {});
    ack(&mut sender, 200, 2, &[], 100);
    assert_eq!(pushed(&mut sender, 200), [false, true, false, true]);
    // Half of a window of three is one.
    let mut sender = with(2, |_| {});
    ack(&mut sender, 200, 1, &[], 100);
    assert_eq!(pushed(&mut sender, 200), [false, false]);
    let mut sender = new(&TcpConfig::linux(CongestionAlgorithm::NEWRENO));
    sender.supply(3 * MSS);
    sender.poll_transmit(ms(0)).unwrap();
    let answer = Segment { syn: true, ts_ecr: ms(0), window: u32::MAX, ..Segment::default() };
    sender.handle_segment(ms(100), &answer);
    assert_eq!(pushed(&mut sender, 100), [false, false, true, true]); // an ACK, and three with data
}

/// Sizes of the segments that an ACK releases if data below `edge` may leave.
fn lengths(sender: &mut LinuxSender, now: u64, ack: u64, edge: u64) -> Vec<u32> {
    let (syn, ts_ecr, window) = (now == 100, ms(now - 100), (edge - ack) as u32);
    sender.handle_segment(ms(now), &Segment { syn, ack, ts_ecr, window, ..Segment::default() });
    let segments = std::iter::from_fn(|| sender.poll_transmit(ms(now)));
    segments.map(|segment| segment.len).filter(|&len| len > 0).collect()
}

/// A sender that has sent 46 segments and 560 bytes, up to the edge of the window.
fn at_the_edge(change: impl FnOnce(&mut TcpConfig)) -> LinuxSender {
    let mut config = by_segments();
    config.initial_window = Packets::new(50); // more than the first window of 45 segments
    change(&mut config);
    let mut sender = new(&config);
    sender.supply(u64::MAX);
    sender.poll_transmit(ms(0)).unwrap();
    assert_eq!(lengths(&mut sender, 100, 0, 45 * MSS).len(), 45);
    assert_eq!(lengths(&mut sender, 200, MSS, 46 * MSS + 560), [1448, 560]);
    sender
}

/// The window lets 560 bytes leave behind a full segment, as in Linux 7.2.13, but no
/// part of a segment while another is unacknowledged, and none alone.
#[test]
fn a_part_of_a_segment_leaves_at_the_edge_of_the_window() {
    let mut sender = at_the_edge(|_| {});
    let mut lengths = |now, ack, edge| lengths(&mut sender, now, ack, edge);
    assert_eq!(lengths(300, 2 * MSS, 47 * MSS + 660), [1448]);
    assert_eq!(lengths(400, 47 * MSS + 560, 48 * MSS + 760), [1448, 200]);
    assert!(lengths(500, 48 * MSS + 760, 49 * MSS).is_empty());
}

/// A packet holds the rest of a buffer and the next one, 22 segments after the first 67. Its short last
/// segment leaves, but not at the edge of the window while another part is unacknowledged.
#[test]
fn a_group_ends_with_the_next_buffer() {
    let mut sender =
        at_the_edge(|config| config.linux.get_or_insert_default().burst_deferral = true);
    let (start, packet) = (46 * MSS + 560, 42 * MSS + 888);
    let edge = |edge: u64| Segment { window: edge as u32, ..Segment::default() };
    let size = |sender: &mut LinuxSender, most| {
        let group = sender.group_of(most, most * MSS);
        sender.size(group)
    };
    sender.supply.on_ack(&edge(start + 43 * MSS));
    assert_eq!(size(&mut sender, 42), 42 * MSS, "less than the packet holds");
    assert_eq!(size(&mut sender, 44), 42 * MSS);
    sender.supply.on_ack(&edge(start + 44 * MSS));
    assert_eq!(size(&mut sender, 44), packet, "the window allows more");
    assert_eq!(size(&mut sender, 45), 42 * MSS);
    sender.handle_segment(ms(300), &Segment { ack: start, ts_ecr: ms(200), ..edge(0) });
    assert_eq!(size(&mut sender, 45), packet, "nothing is unacknowledged");
    sender.burst = Burst { at: ms(300), left: 2, end: start + MSS + 888 };
    let mut next = || sender.poll_transmit(ms(300)).map(|segment| (segment.seq, segment.len));
    assert_eq!(next(), Some((start, 1448)));
    assert_eq!(next(), Some((start + MSS, 888)));
    assert_eq!(next(), Some((start + MSS + 888, 1448)));
}

/// With room for one segment a burst waits for the next ACK, however late: no timer sends it.
#[test]
fn a_deferred_burst_waits_for_an_ack() {
    let mut sender = with(10, |config| config.linux.get_or_insert_default().burst_deferral = true);
    ack(&mut sender, 200, 1, &[], 100);
    assert_eq!(sent(&mut sender, 200), [10, 11]);
    ack(&mut sender, 200, 1, &[(2, 3)], 100);
    assert!(sent(&mut sender, 200).is_empty());
    sender.handle_timeout(ms(210));
    assert!(sent(&mut sender, 210).is_empty());
    ack(&mut sender, 210, 1, &[(2, 4)], 100);
    assert_eq!(sent(&mut sender, 210), [12, 13]);
}

/// A tail loss probe and a retransmission leave while a burst waits, so that nothing waits forever.
#[test]
fn a_deferred_burst_holds_no_repair_back() {
    let mut sender = with(10, |config| {
        config.linux.get_or_insert_default().burst_deferral = true;
        config.cwnd_max = Packets::new(10);
    });
    ack(&mut sender, 200, 1, &[], 100);
    assert_eq!(sent(&mut sender, 200), [10]);
    ack(&mut sender, 200, 2, &[], 100);
    assert!(sent(&mut sender, 200).is_empty());
    let mut on_timer = || {
        let at = sender.poll_timeout().unwrap();
        sender.handle_timeout(at);
        sent(&mut sender, at.as_nanos() / 1_000_000)
    };
    assert_eq!(on_timer(), [11], "the probe");
    assert_eq!(on_timer(), [2], "after the timeout");
}

/// Slow start by segments acknowledged: an ACK of two releases four.
#[test]
fn slow_start_counts_segments() {
    let mut sender = with(10, |_| {});
    ack(&mut sender, 200, 2, &[], 100);
    assert_eq!(sender.cwnd(), 12);
    assert_eq!(sent(&mut sender, 200), [10, 11, 12, 13]);
}

/// Segment 0 of ten is lost. Two SACKs release a new segment each (Limited Transmit). At the third,
/// without reordering seen before, RACK's window is zero: 0 is lost and leaves at once. Window 10,
/// threshold 5. The ACK of everything sent before ends recovery at the threshold, and the nine
/// segments it delivers (0 and 4 to 11) grow the window by one.
#[test]
fn the_third_sack_proves_the_loss() {
    let mut sender = with(10, |_| {});
    ack(&mut sender, 200, 0, &[(1, 2)], 100);
    assert_eq!(sent(&mut sender, 200), [10]);
    ack(&mut sender, 201, 0, &[(1, 3)], 100);
    assert_eq!(sent(&mut sender, 201), [11]);
    assert_eq!(sender.recovery.state(), CongestionState::Disorder);
    ack(&mut sender, 202, 0, &[(1, 4)], 100);
    assert_eq!(sender.recovery.state(), CongestionState::Recovery);
    assert_eq!(sender.ssthresh(), Some(5));
    assert_eq!(sent(&mut sender, 202), [0]);
    ack(&mut sender, 302, 12, &[], 202);
    assert_eq!((sender.recovery.state(), sender.cwnd()), (CongestionState::Open, 6));
    assert_eq!(sender.counters().undo_events, 0);
}

/// After reordering, a segment has a quarter of the minimum round-trip time longer: sent at 200,
/// overtaken at 300 by round trips of 100, it is lost at 325. The timer fires 2 ms later.
#[test]
fn after_reordering_rack_waits_a_quarter_of_a_round_trip() {
    let mut sender = with(10, |_| {});
    ack(&mut sender, 200, 0, &[(1, 2)], 100);
    ack(&mut sender, 200, 2, &[], 100); // 0 was late
    let new = sent(&mut sender, 200);
    assert_eq!(new[0], 10);
    ack(&mut sender, 200, 10, &[], 100);
    sent(&mut sender, 200);
    ack(&mut sender, 300, 10, &[(11, 14)], 200);
    assert_eq!(sender.recovery.state(), CongestionState::Disorder);
    assert_eq!(sender.poll_timeout(), Some(ms(327)));
    sent(&mut sender, 300);
    sender.handle_timeout(ms(327));
    assert_eq!(sender.recovery.state(), CongestionState::Recovery);
    assert_eq!(sent(&mut sender, 327)[0], 10);
}

/// The retransmission was unnecessary: the ACK of the late segment echoes a time before it. Window
/// and threshold are restored (Eifel).
#[test]
fn an_echo_of_the_first_transmission_undoes_the_reduction() {
    let mut sender = with(10, |_| {});
    ack(&mut sender, 200, 0, &[(1, 4)], 100);
    assert_eq!(sent(&mut sender, 200)[0], 0);
    ack(&mut sender, 210, 4, &[], 100);
    assert_eq!(sender.recovery.state(), CongestionState::Open);
    assert_eq!((sender.cwnd() >= 10, sender.ssthresh()), (true, None));
    assert_eq!(sender.counters().undo_events, 1);
}

/// The same without timestamps: the D-SACK of the retransmission proves it later, also if nothing is
/// in flight any more.
#[test]
fn a_dsack_undoes_the_reduction() {
    for (undo, in_flight) in [(true, true), (true, false), (false, true)] {
        let mut sender = with(10, |config| {
            config.timestamps = false;
            config.linux.get_or_insert_default().undo = undo;
        });
        let block = |start: u64, end: u64| (start * 1460, end * 1460);
        let answer = |ack: u64, (start, end): (u64, u64), dsack| {
            let mut sack = SackList::default();
            sack.push(ack * 1460, SackBlock { start, end });
            Segment { ack: ack * 1460, sack, dsack, window: u32::MAX, ..Segment::default() }
        };
        sender.handle_segment(ms(200), &answer(0, block(1, 4), false));
        while sender.poll_transmit(ms(200)).is_some() {}
        let all = sender.board.flight().next();
        let plain = Segment { ack: all * 1460, window: u32::MAX, ..Segment::default() };
        sender.handle_segment(ms(210), &plain);
        assert_eq!(sender.ssthresh(), Some(5));
        while in_flight && sender.poll_transmit(ms(210)).is_some() {}
        assert_eq!(sender.board.flight().is_empty(), !in_flight);
        sender.handle_segment(ms(300), &answer(all, block(0, 1), true));
        assert_eq!(sender.ssthresh(), if undo { None } else { Some(5) });
        assert_eq!(sender.counters().undo_events, u64::from(undo));
    }
}

/// No ACK arrives: after two round trips a new segment leaves as a probe regardless of the window;
/// then comes the timeout. The handshake's 100 ms make it 300 ms.
#[test]
fn a_probe_precedes_the_timeout() {
    let mut sender = with(10, |_| {});
    assert_eq!(sender.poll_timeout(), Some(ms(100 + 202)));
    sender.handle_timeout(ms(302));
    assert_eq!(sent(&mut sender, 302), [10]);
    assert_eq!(sender.poll_timeout(), Some(ms(302 + 300)));
    sender.handle_timeout(ms(602));
    assert_eq!(sent(&mut sender, 602), [0]);
    assert_eq!((sender.cwnd(), sender.ssthresh()), (1, Some(5)));
    assert_eq!((sender.recovery.state(), sender.counters().timeouts), (CongestionState::Loss, 1));
    assert_eq!(sender.poll_timeout(), Some(ms(602 + 600)));
}

/// F-RTO (RFC 5682): the timeout was spurious. The first ACK releases new segments instead of those
/// after 0. The next one acknowledges segments sent once, and the reduction is undone.
#[test]
fn a_spurious_timeout_is_undone() {
    let mut sender = with(10, |config| {
        config.timestamps = false;
        config.linux.get_or_insert_default().tail_loss_probe = false;
    });
    let plain = |ack: u64| Segment { ack: ack * 1460, window: u32::MAX, ..Segment::default() };
    sender.handle_timeout(ms(400));
    let first = sender.poll_transmit(ms(400)).unwrap();
    assert_eq!((first.seq, first.retransmission), (0, 1));
    sender.handle_segment(ms(500), &plain(1));
    let new: Vec<u64> = std::iter::from_fn(|| sender.poll_transmit(ms(500)))
        .map(|segment| segment.seq / 1460)
        .collect();
    assert_eq!(new, [10, 11]);
    sender.handle_segment(ms(501), &plain(2));
    assert_eq!((sender.recovery.state(), sender.ssthresh()), (CongestionState::Open, None));
    assert_eq!(sender.counters().undo_events, 1);
    assert!(sender.cwnd() >= 10);
}

/// Without F-RTO, everything is retransmitted.
#[test]
fn a_timeout_without_frto_retransmits_everything() {
    let mut sender = with(10, |config| {
        config.linux.get_or_insert_default().frto = false;
        config.linux.get_or_insert_default().tail_loss_probe = false;
    });
    sender.handle_timeout(ms(400));
    assert_eq!(sent(&mut sender, 400), [0]);
    ack(&mut sender, 500, 1, &[], 400);
    assert_eq!(sent(&mut sender, 500), [1, 2]);
}
