use super::*;
use crate::transport::tcp::config::CongestionAlgorithm;
use crate::units::Duration;

const MSS: u64 = 1448;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn data(number: u64, sent_ms: u64) -> Segment {
    let (seq, ts_val) = (number * MSS, at(sent_ms));
    Segment { seq, len: MSS as u32, wire: 1500, ts_val, ..Segment::default() }
}

/// Acknowledged segment, SACK blocks, and whether it is a D-SACK.
type Sent = (u64, Vec<(u64, u64)>, bool);

/// The ACK sent at once, if any.
fn ack(receiver: &mut LinuxReceiver, now: Instant) -> Option<Sent> {
    let ack = receiver.poll_transmit(now)?;
    let blocks = ack.sack.iter(ack.ack).map(|b| (b.start / MSS, b.end / MSS)).collect();
    Some((ack.ack / MSS, blocks, ack.dsack))
}

fn receiver(quick_ack: bool) -> LinuxReceiver {
    let mut config = TcpConfig::linux(CongestionAlgorithm::NEWRENO);
    config.linux.get_or_insert_default().quick_ack = quick_ack;
    LinuxReceiver::new(&config)
}

/// The application reads 22 segments in the first round trip, and ten were expected: 216,620 bytes of
/// room, of which the segment that arrives takes its part. A kernel 7.2.13 announces 841 x 256 bytes.
#[test]
fn the_first_round_trip_is_compared_with_ten_segments() {
    let mut receiver = receiver(true);
    receiver.handle_segment(at(0), &Segment { syn: true, ..Segment::default() });
    let mut window = 0;
    for number in 0..150 {
        let now = at(100 + 90 * u64::from(number > 0) + 10 * u64::from(number > 20));
        let echo = now.saturating_since(at(100)).as_nanos() / 1_000_000;
        receiver.handle_segment(now, &Segment { ts_ecr: at(echo), ..data(number, 0) });
        while let Some(ack) = receiver.poll_transmit(now) {
            window = ack.window;
        }
    }
    assert_eq!(window, (216_620u32 - 1448).next_multiple_of(1 << 10));
}

/// The first segment sets a timer of 40 ms, which the ACK of the second does not stop.
#[test]
fn a_delayed_acks_timer_sends_the_sacks_that_wait() {
    let mut receiver = receiver(false);
    for (now, number) in [(0, 0), (0, 1), (39, 3), (39, 4), (39, 5)] {
        receiver.handle_segment(at(now), &data(number, 0));
        assert_eq!(ack(&mut receiver, at(now)).is_some(), number > 0);
    }
    receiver.handle_segment(at(39), &data(6, 0));
    assert!(ack(&mut receiver, at(39)).is_none());
    assert_eq!(receiver.poll_timeout(), Some(at(40)), "before a millisecond is over");
    receiver.handle_timeout(at(40));
    assert_eq!(ack(&mut receiver, at(40)), Some((2, vec![(3, 7)], false)));
}

/// 21 segments fill a gap before another one. They wait for the application, so that their ACK does
/// not move the window, and it counts as the first of three that leave at once.
#[test]
fn an_ack_that_does_not_move_the_window_counts_as_a_repeated_one() {
    let mut receiver = receiver(false);
    let mut at_once = |now, numbers: std::ops::Range<u64>| -> Vec<bool> {
        let one = |number| {
            receiver.handle_segment(at(now), &data(number, 0));
            ack(&mut receiver, at(now)).is_some()
        };
        numbers.map(one).collect()
    };
    assert_eq!(at_once(0, 0..2), [false, true]);
    assert_eq!(at_once(1, 3..8), [true, true, true, false, false]);
    at_once(1, 8..23);
    at_once(1, 24..25);
    assert_eq!(at_once(20, 2..3), [true]);
    assert_eq!(at_once(20, 25..29), [true, true, false, false]);
}

/// RFC 2883 section 4.1.1: an acknowledged segment arrives again.
#[test]
fn a_duplicate_below_the_acknowledgement_is_reported() {
    let mut receiver = receiver(true);
    for number in 0..3 {
        receiver.handle_segment(at(number), &data(number, 0));
        assert_eq!(ack(&mut receiver, at(number)), Some((number + 1, vec![], false)));
    }
    receiver.handle_segment(at(10), &data(1, 5));
    assert_eq!(ack(&mut receiver, at(10)), Some((3, vec![(1, 2)], true)));
    // Reported once.
    receiver.handle_segment(at(11), &data(3, 6));
    assert_eq!(ack(&mut receiver, at(11)), Some((4, vec![], false)));
}

/// RFC 2883 section 4.1.3 (second example): a segment held beyond a gap arrives again. The block
/// that holds it follows the report.
#[test]
fn a_duplicate_beyond_a_gap_is_reported() {
    let mut receiver = receiver(true);
    receiver.handle_segment(at(0), &data(0, 0));
    ack(&mut receiver, at(0));
    for number in [2, 3, 4] {
        receiver.handle_segment(at(1), &data(number, 0));
        assert_eq!(ack(&mut receiver, at(1)), Some((1, vec![(2, number + 1)], false)));
    }
    receiver.handle_segment(at(2), &data(3, 1));
    assert_eq!(ack(&mut receiver, at(2)), Some((1, vec![(3, 4), (2, 5)], true)));
}

/// Three blocks fit beside timestamps; the report of a duplicate leaves room for two.
#[test]
fn the_number_of_blocks_is_limited() {
    let mut receiver = receiver(true);
    for number in [2, 4, 6, 8, 10] {
        receiver.handle_segment(at(1), &data(number, 0));
        ack(&mut receiver, at(1));
    }
    receiver.handle_segment(at(2), &data(4, 1));
    assert_eq!(ack(&mut receiver, at(2)), Some((0, vec![(4, 5), (4, 5), (10, 11)], true)));
    receiver.handle_segment(at(3), &data(12, 1));
    let sent = receiver.poll_transmit(at(3)).unwrap();
    assert_eq!((sent.sack.len(), sent.wire), (3, 40 + 12 + 4 + 24));
}

/// Four blocks are remembered, three reported: once the newest is filled, the fourth is reported
/// again (`TCP_NUM_SACKS`).
#[test]
fn a_block_that_found_no_room_is_reported_later() {
    let mut receiver = receiver(true);
    for number in [7, 5, 3, 1] {
        receiver.handle_segment(at(1), &data(number, 0));
        ack(&mut receiver, at(1));
    }
    receiver.handle_segment(at(2), &data(0, 0));
    assert_eq!(ack(&mut receiver, at(2)), Some((2, vec![(3, 4), (5, 6), (7, 8)], false)));
}

/// Blocks 4, 6, 8: SACKs are compressed from the fourth on. The ACK that waits leaves before a
/// third block is added or changed, and the segment that does so has no separate ACK; with up to
/// two blocks it waits on (`tcp_sack_new_ofo_skb`).
#[test]
fn waiting_sacks_leave_before_a_third_block_changes() {
    let mut receiver = receiver(false);
    for number in [2, 3, 4] {
        receiver.handle_segment(at(1), &data(number, 0));
        assert!(ack(&mut receiver, at(1)).is_some());
    }
    for number in [6, 7] {
        receiver.handle_segment(at(1), &data(number, 0));
        assert_eq!(ack(&mut receiver, at(1)), None);
    }
    receiver.handle_segment(at(1), &data(9, 0));
    assert_eq!(ack(&mut receiver, at(1)), Some((0, vec![(6, 8), (2, 5)], false)));
    assert_eq!(receiver.poll_timeout(), None);
    receiver.handle_segment(at(1), &data(10, 0));
    assert_eq!(ack(&mut receiver, at(1)), None, "its SACK waits again");
    receiver.handle_segment(at(1), &data(3, 1));
    assert_eq!(ack(&mut receiver, at(1)), Some((0, vec![(3, 4), (9, 11), (6, 8)], true)));
}

/// A duplicate beyond a gap neither hurries the next ACKs nor leaves at once, and what it reports
/// is forgotten with the next segment (`tcp_data_queue`).
#[test]
fn a_duplicate_beyond_a_gap_waits_with_other_sacks() {
    let mut receiver = receiver(false);
    for number in [2, 3, 4] {
        receiver.handle_segment(at(1), &data(number, 0));
        assert!(ack(&mut receiver, at(1)).is_some());
    }
    receiver.handle_segment(at(1), &data(3, 1));
    assert_eq!(ack(&mut receiver, at(1)), None);
    let due = receiver.poll_timeout().unwrap();
    receiver.handle_timeout(due);
    assert_eq!(ack(&mut receiver, due), Some((0, vec![(3, 4), (2, 5)], true)));
    receiver.handle_segment(at(3), &data(3, 1));
    receiver.handle_segment(at(3), &data(5, 1));
    let due = receiver.poll_timeout().unwrap();
    receiver.handle_timeout(due);
    assert_eq!(ack(&mut receiver, due), Some((0, vec![(2, 6)], false)));
}

#[test]
fn an_ack_leaves_on_every_second_segment_or_after_40_ms() {
    let mut receiver = receiver(false);
    receiver.handle_segment(at(0), &data(0, 0));
    assert_eq!(ack(&mut receiver, at(0)), None);
    receiver.handle_segment(at(1), &data(1, 0));
    assert_eq!(ack(&mut receiver, at(1)), Some((2, vec![], false)));
    receiver.handle_segment(at(2), &data(2, 0));
    assert_eq!(receiver.poll_timeout(), Some(at(42)));
    receiver.handle_timeout(at(41));
    assert_eq!(ack(&mut receiver, at(41)), None);
    receiver.handle_timeout(at(42));
    assert_eq!(ack(&mut receiver, at(42)), Some((3, vec![], false)));
    // A segment that opens or fills a gap is acknowledged at once.
    receiver.handle_segment(at(43), &data(4, 0));
    assert_eq!(ack(&mut receiver, at(43)), Some((3, vec![(4, 5)], false)));
    receiver.handle_segment(at(44), &data(3, 0));
    assert_eq!(ack(&mut receiver, at(44)), Some((5, vec![], false)));
}

/// Six of them grow the window of a new connection, and do not decrement the counter.
#[test]
fn a_new_connection_sends_sixteen_quick_acks_and_six_for_window_growth() {
    let mut receiver = receiver(true);
    let quick = (0..40)
        .take_while(|&number| {
            receiver.handle_segment(at(number), &data(number, 0));
            ack(&mut receiver, at(number)).is_some()
        })
        .count();
    assert_eq!(quick, 16 + 6);
}

/// The second segment of a pair triggers an ACK if nothing before it is missing.
#[test]
fn push_is_acknowledged_at_once() {
    let mut receiver = receiver(false);
    receiver.handle_segment(at(0), &Segment { push: true, ..data(0, 0) });
    assert_eq!(ack(&mut receiver, at(0)), Some((1, vec![], false)));
    receiver.handle_segment(at(1), &data(1, 0));
    assert_eq!(ack(&mut receiver, at(1)), None);
}

/// Beyond a gap three ACKs leave at once, then one per millisecond.
#[test]
fn sacks_beyond_the_third_wait_for_a_millisecond() {
    let mut receiver = receiver(false);
    for number in 1..4 {
        receiver.handle_segment(at(1), &data(number, 0));
        assert_eq!(ack(&mut receiver, at(1)), Some((0, vec![(1, number + 1)], false)));
    }
    for number in 4..7 {
        receiver.handle_segment(at(2), &data(number, 0));
        assert_eq!(ack(&mut receiver, at(2)), None);
    }
    let due = receiver.poll_timeout().unwrap();
    assert_eq!(due, at(3) + Duration::from_micros(10));
    receiver.handle_timeout(due);
    assert_eq!(ack(&mut receiver, due), Some((0, vec![(1, 7)], false)));
    assert_eq!(receiver.poll_timeout(), None);
}

#[test]
fn the_echo_is_that_of_the_expected_segment() {
    let mut receiver = receiver(true);
    receiver.handle_segment(at(100), &Segment { syn: true, ts_val: at(50), ..Segment::default() });
    let answer = receiver.poll_transmit(at(100)).unwrap();
    assert!(answer.syn);
    assert_eq!((answer.ts_ecr, answer.wire), (at(50), 60));
    receiver.handle_segment(at(200), &data(0, 150));
    assert_eq!(receiver.poll_transmit(at(200)).unwrap().ts_ecr, at(150));
    receiver.handle_segment(at(210), &data(2, 160)); // beyond a gap: not echoed
    assert_eq!(receiver.poll_transmit(at(210)).unwrap().ts_ecr, at(150));
    receiver.handle_segment(at(220), &data(1, 155));
    assert_eq!(receiver.poll_transmit(at(220)).unwrap().ts_ecr, at(155));
}

/// PAWS (RFC 7323 section 5): segment 2 was sent before the retransmission of 1 and arrives after
/// it. The receiver discards it and sends a duplicate ACK. It tolerates a millisecond, and without
/// timestamps it accepts the segment.
#[test]
fn segments_older_than_the_last_in_order_one_are_discarded() {
    let overtaken = |timestamps, sent_ms| {
        let mut config = TcpConfig::linux(CongestionAlgorithm::NEWRENO);
        config.timestamps = timestamps;
        let mut receiver = LinuxReceiver::new(&config);
        for (number, sent) in [(0, 0), (3, 1), (1, 50)] {
            receiver.handle_segment(at(100), &data(number, sent));
            ack(&mut receiver, at(100));
        }
        receiver.handle_segment(at(101), &data(2, sent_ms));
        let stale = receiver.counters().stale_segments;
        (ack(&mut receiver, at(101)).unwrap(), stale)
    };
    let refused = ((2, vec![(3, 4)], false), 1);
    let taken = ((4, vec![], false), 0);
    assert_eq!(overtaken(true, 48), refused);
    assert_eq!(overtaken(true, 49), taken);
    assert_eq!(overtaken(false, 48), taken);
    // A duplicate from before is answered by a D-SACK.
    let mut receiver = receiver(true);
    for (number, sent) in [(0, 0), (1, 50)] {
        receiver.handle_segment(at(100), &data(number, sent));
        ack(&mut receiver, at(100));
    }
    receiver.handle_segment(at(101), &data(0, 0));
    assert_eq!(ack(&mut receiver, at(101)), Some((2, vec![(0, 1)], true)));
    let counters = receiver.counters();
    assert_eq!((counters.duplicate_segments, counters.stale_segments), (1, 0));
}

/// Segment 0 fills a gap below 1 to 9: its ACK leaves before the application has read the ten,
/// which use part of the first 81,920 bytes. At the next ACK they have been read.
#[test]
fn data_that_fill_a_gap_are_unread_when_their_ack_leaves() {
    let mut config = TcpConfig::linux(CongestionAlgorithm::NEWRENO);
    config.linux.get_or_insert_default().window_growth = true;
    let mut receiver = LinuxReceiver::new(&config);
    let mut window = |number, ms| {
        receiver.handle_segment(at(ms), &data(number, 0));
        receiver.poll_transmit(at(ms)).map(|ack| (ack.ack / MSS, u64::from(ack.window)))
    };
    for number in 1..=9 {
        window(number, 1);
    }
    let filled = (10, 66 << 10); // 81,920 less ten segments, in steps of 1,024
    assert_eq!(window(0, 2), Some(filled));
    assert!(window(10, 3).unwrap().1 > filled.1);
}

/// 40 segments wait behind a gap and leave little room to the ACK of the segment that fills it. Then
/// the application reads them: a second ACK tells the window. With ten there is none.
#[test]
fn an_ack_tells_that_a_read_has_doubled_the_window() {
    let windows = |waiting: u64| {
        let mut receiver = receiver(true);
        for number in 1..=waiting {
            receiver.handle_segment(at(1), &data(number, 0));
            receiver.poll_transmit(at(1));
        }
        receiver.handle_segment(at(2), &data(0, 0));
        let acks = std::iter::from_fn(|| receiver.poll_transmit(at(2)));
        acks.inspect(|ack| assert_eq!(ack.ack, (waiting + 1) * MSS)).map(|ack| ack.window).collect()
    };
    let (few, many): (Vec<_>, Vec<_>) = (windows(10), windows(40));
    assert_eq!((few.len(), many.len()), (1, 2));
    assert!(many[1] >= 2 * many[0], "{many:?}");
}

/// Without SACK every ACK beyond a gap is a duplicate, so its window is that of the ACK before the gap.
#[test]
fn the_window_grows_beyond_a_gap_only_with_sack() {
    let windows = |sack| {
        let mut config = TcpConfig::linux(CongestionAlgorithm::NEWRENO);
        config.sack = sack;
        let mut receiver = LinuxReceiver::new(&config);
        let window = |number| {
            receiver.handle_segment(at(1), &data(number, 0));
            receiver.poll_transmit(at(1)).unwrap().window
        };
        [0, 2, 3, 4].map(window)
    };
    let (with, without) = (windows(true), windows(false));
    assert!(with.is_sorted() && with[0] < with[3], "{with:?}");
    assert_eq!(without, [without[0]; 4]);
}

#[test]
fn the_window_of_a_syn_ack_has_no_scale() {
    let mut receiver = receiver(true);
    receiver.handle_segment(at(0), &Segment { syn: true, ..Segment::default() });
    assert_eq!(receiver.poll_transmit(at(0)).unwrap().window, 65_160);
    receiver.handle_segment(at(1), &data(0, 0));
    assert_eq!(receiver.poll_transmit(at(1)).unwrap().window, 66 << 10);
}

/// Segment 0 is late: the immediate ACKs for the segments beyond it start the ACK delay timer, so
/// that the sixteen quick ACKs of a new connection never happen.
#[test]
fn a_late_first_segment_prevents_the_quick_acks() {
    let acks_after = |first: [u64; 6]| {
        let mut receiver = receiver(true);
        let mut acked = |number| {
            receiver.handle_segment(at(1), &data(number, 0));
            ack(&mut receiver, at(1)).is_some()
        };
        first.into_iter().for_each(|number| assert!(acked(number)));
        (6..16).filter(|&number| acked(number)).count()
    };
    assert_eq!(acks_after([0, 1, 2, 3, 4, 5]), 10);
    assert!(acks_after([1, 2, 3, 4, 5, 0]) < 10);
}

/// A new buffer of 81,920 bytes, 64,088 of them announced, grows by 2,896 for a segment beyond a gap
/// and holds those before it: it grows five times. After these ACKs three more leave at once.
#[test]
fn eight_sacks_of_a_new_connection_leave_at_once() {
    let mut receiver = receiver(true);
    let at_once = (1..20).take_while(|&number| {
        receiver.handle_segment(at(1), &data(number, 0));
        ack(&mut receiver, at(1)).is_some()
    });
    assert_eq!(at_once.count(), 5 + 3);
}

/// 30 segments beyond a gap use more than half of 81,920 bytes: a duplicate does not make ACKs quick.
#[test]
fn no_ack_is_quick_while_little_room_is_left() {
    let sack_follows = |held: u64| {
        let mut receiver = receiver(true);
        let mut acked = |number| {
            receiver.handle_segment(at(1), &data(number, 0));
            ack(&mut receiver, at(1)).is_some()
        };
        acked(0);
        (2..2 + held).for_each(|number| _ = acked(number));
        assert!(acked(0), "a duplicate is reported at once");
        acked(2 + held)
    };
    assert!(sack_follows(25));
    assert!(!sack_follows(30));
}

/// Arrivals in Linux 7.2.13 (us, segment, sent and echo in ms, PSH): segment 34 is the first whose ACK
/// waits. Segment 10, beyond a gap, does not end the round trip by which the buffer grows.
#[test]
fn acks_leave_at_once_as_in_a_kernel() {
    let mut config = TcpConfig::linux(CongestionAlgorithm::NEWRENO);
    config.linux.get_or_insert_default().timer_ticks = true;
    let mut receiver = LinuxReceiver::new(&config);
    let us = |us: u64| Instant::ZERO + Duration::from_micros(us);
    receiver
        .handle_segment(us(286_052), &Segment { syn: true, ts_val: at(0), ..Segment::default() });
    receiver.poll_transmit(us(286_052)).unwrap();
    receiver.handle_segment(
        us(822_104),
        &Segment { ts_val: at(536), ts_ecr: at(286), ..Segment::default() },
    );
    let rows: &[(u64, u64, u64, u64, bool)] = &[
        (823530, 0, 536, 286, false),
        (825008, 1, 536, 286, true),
        (826487, 2, 536, 286, false),
        (829391, 4, 536, 286, false),
        (830817, 5, 536, 286, true),
        (832295, 6, 536, 286, false),
        (833774, 7, 536, 286, true),
        (835199, 8, 536, 286, false),
        (836677, 9, 536, 286, true),
        (1360955, 10, 1073, 823, false),
        (1362433, 11, 1073, 823, true),
        (1363595, 3, 536, 286, true),
        (1364334, 12, 1075, 825, false),
        (1365813, 13, 1075, 825, true),
        (1367291, 14, 1076, 826, false),
        (1368716, 15, 1076, 826, true),
        (1370195, 16, 1079, 829, false),
        (1371620, 17, 1080, 830, false),
        (1373099, 3, 1082, 832, true),
        (1374577, 18, 1083, 833, false),
        (1376003, 19, 1085, 835, false),
        (1898380, 20, 1610, 1360, false),
        (1899911, 21, 1612, 1362, false),
        (1901390, 22, 1613, 1363, false),
        (1902815, 23, 1613, 1363, true),
        (1904293, 24, 1613, 1363, false),
        (1905719, 25, 1613, 1363, true),
        (1907197, 26, 1614, 1364, false),
        (1908676, 27, 1614, 1364, true),
        (1910102, 28, 1615, 1365, false),
        (1911580, 29, 1615, 1365, true),
        (1913006, 30, 1617, 1367, false),
        (1914484, 31, 1617, 1367, true),
        (1915962, 32, 1618, 1368, false),
        (1917388, 33, 1618, 1368, true),
        (1918866, 34, 1620, 1370, false),
        (1920292, 35, 1620, 1370, true),
    ];
    let waits = rows.iter().filter(|&&(now, number, sent, echo, push)| {
        receiver.handle_segment(us(now), &Segment { ts_ecr: at(echo), push, ..data(number, sent) });
        ack(&mut receiver, us(now)).is_none()
    });
    assert_eq!(waits.map(|row| row.1).collect::<Vec<_>>(), [34]);
}
