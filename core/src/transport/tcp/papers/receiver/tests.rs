use super::*;
use crate::transport::tcp::CongestionAlgorithm;
use crate::transport::tcp::config::DelayedAck;
use crate::units::Duration;

const MSS: u64 = 1448;

fn config() -> TcpConfig {
    TcpConfig::papers(CongestionAlgorithm::NEWRENO)
}

fn ms(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

/// Full segment `number`, sent at `sent`.
fn data(number: u64, sent: Instant) -> Segment {
    Segment { seq: number * MSS, len: 1448, wire: 1500, ts_val: sent, ..Segment::default() }
}

/// What the ACK for segment `number` says: acknowledgement and SACK blocks, in segments.
fn answer(receiver: &mut PapersReceiver, number: u64) -> (u64, Vec<(u64, u64)>) {
    receiver.handle_segment(ms(number), &data(number, ms(number)));
    let ack = receiver.poll_transmit(ms(number)).unwrap();
    assert_eq!(receiver.poll_transmit(ms(number)), None);
    let blocks = ack.sack.iter(ack.ack).map(|b| (b.start / MSS, b.end / MSS)).collect();
    (ack.ack / MSS, blocks)
}

/// RFC 2018 section 4: the block that holds the segment first, then those reported before;
/// three with timestamps.
#[test]
fn sack_blocks_newest_first() {
    let mut receiver = PapersReceiver::new(&config());
    assert_eq!(answer(&mut receiver, 0), (1, vec![]));
    assert_eq!(answer(&mut receiver, 2), (1, vec![(2, 3)]));
    assert_eq!(answer(&mut receiver, 4), (1, vec![(4, 5), (2, 3)]));
    assert_eq!(answer(&mut receiver, 6), (1, vec![(6, 7), (4, 5), (2, 3)]));
    assert_eq!(answer(&mut receiver, 8), (1, vec![(8, 9), (6, 7), (4, 5)]));
    // The oldest block was forgotten, but not what it held.
    assert_eq!(answer(&mut receiver, 3), (1, vec![(2, 5), (8, 9), (6, 7)]));
    assert_eq!(answer(&mut receiver, 2), (1, vec![(2, 5), (8, 9), (6, 7)]));
    assert_eq!(answer(&mut receiver, 1), (5, vec![(8, 9), (6, 7)]));
    assert_eq!(answer(&mut receiver, 5), (7, vec![(8, 9)]));
    assert_eq!(answer(&mut receiver, 7), (9, vec![]));
    let counters = receiver.counters();
    assert_eq!(counters.bytes_in_order, 9 * MSS);
    assert_eq!((counters.duplicate_segments, counters.out_of_order_segments), (1, 5));
    assert_eq!(counters.distinct_bytes, 9 * 1500);
    assert_eq!(counters.acks_sent, 10);
}

#[test]
fn size_of_acks() {
    let mut receiver = PapersReceiver::new(&config());
    receiver.handle_segment(ms(0), &data(3, ms(0)));
    assert_eq!(receiver.poll_transmit(ms(0)).unwrap().wire, 48);
    receiver.handle_segment(ms(0), &data(0, ms(0)));
    assert_eq!(receiver.poll_transmit(ms(0)).unwrap().wire, 48);
}

/// RFC 7323 section 4.3: while a gap is open, the timestamp of the segment before it comes back;
/// filling the gap echoes the segment that fills it.
#[test]
fn echo_of_the_segment_that_advanced_the_acknowledgement() {
    let mut receiver = PapersReceiver::new(&config());
    let mut echo = |number, sent| {
        receiver.handle_segment(ms(1000), &data(number, ms(sent)));
        receiver.poll_transmit(ms(1000)).unwrap().ts_ecr
    };
    assert_eq!(echo(0, 10), ms(10));
    assert_eq!(echo(1, 11), ms(11));
    assert_eq!(echo(3, 13), ms(11));
    assert_eq!(echo(2, 500), ms(500));
    assert_eq!(echo(4, 14), ms(14));
    assert_eq!(echo(2, 600), ms(600)); // sent again without need
}

#[test]
fn delayed_ack_for_every_second_segment() {
    let mut config = config();
    config.delayed_ack = Some(DelayedAck::After(Duration::from_millis(40)));
    let mut receiver = PapersReceiver::new(&config);
    let at = |receiver: &mut PapersReceiver, now, number| {
        receiver.handle_segment(ms(now), &data(number, ms(now)));
        receiver.poll_transmit(ms(now)).map(|ack| (ack.ack / MSS, ack.ts_ecr))
    };
    assert_eq!(at(&mut receiver, 0, 0), Some((1, ms(0))), "the first is answered at once");
    assert_eq!(at(&mut receiver, 10, 1), None);
    assert_eq!(receiver.poll_timeout(), Some(ms(50)));
    assert_eq!(at(&mut receiver, 11, 2), Some((3, ms(10))), "the earlier one is echoed");
    assert_eq!(receiver.poll_timeout(), None);
    assert_eq!(at(&mut receiver, 20, 3), None);
    receiver.handle_timeout(ms(59));
    assert_eq!(receiver.poll_transmit(ms(59)), None);
    receiver.handle_timeout(ms(60));
    assert_eq!(receiver.poll_transmit(ms(60)).map(|ack| ack.ack), Some(4 * MSS));
    // Gaps, and what fills them, are answered at once.
    assert_eq!(at(&mut receiver, 70, 5), Some((4, ms(20))));
    assert_eq!(at(&mut receiver, 71, 4), Some((6, ms(71))));
}

#[test]
fn reordering_is_told_from_retransmission() {
    let mut receiver = PapersReceiver::new(&config());
    for number in [0, 2, 3, 4, 1] {
        receiver.handle_segment(ms(0), &data(number, ms(0)));
    }
    let again = Segment { retransmission: 1, ..data(2, ms(0)) };
    receiver.handle_segment(ms(0), &again);
    let counters = receiver.counters();
    assert_eq!((counters.reordered_segments, counters.max_reordering), (1, 3));
    assert_eq!(counters.duplicate_segments, 1);
}

#[test]
fn segments_that_overlap_count_once() {
    let mut receiver = PapersReceiver::new(&config());
    receiver.handle_segment(ms(0), &data(0, ms(0)));
    let overlapping = Segment { seq: 1000, ..data(0, ms(0)) };
    receiver.handle_segment(ms(0), &overlapping);
    assert_eq!(receiver.received(), 2448);
    assert_eq!(receiver.counters().bytes_in_order, 2448);
    assert_eq!(receiver.counters().duplicate_segments, 0);
}
