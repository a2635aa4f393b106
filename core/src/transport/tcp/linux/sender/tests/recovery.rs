//! Loss recovery over many ACKs, by hand; segments are numbered from 0.

use super::*;
use crate::transport::tcp::shared::flight::State;

/// A D-SACK of segments `start..end`, with an acknowledgement of all below `ack`.
fn dsack(sender: &mut LinuxSender, now: u64, ack: u64, start: u64, end: u64, echo: u64) {
    sender.handle_segment(ms(now), &segment(ack, &[(start, end)], true, echo));
}

/// A handshake over 100 ms, then an application with this many segments, which may supply more.
fn with_data(segments: u64) -> LinuxSender {
    let mut sender = new(&by_segments());
    sender.supply(segments * MSS);
    sender.poll_transmit(ms(0)).unwrap();
    let answer = Segment { syn: true, ts_ecr: ms(0), window: u32::MAX, ..Segment::default() };
    sender.handle_segment(ms(100), &answer);
    assert_eq!(sent(&mut sender, 100).len() as u64, segments);
    sender
}

/// RFC 6937: segment 0 of 20 is lost; the others are SACKed one by one. Limited Transmit (RFC 3042)
/// sends two new segments. At the third SACK 0 is retransmitted with a threshold of 10. Then one
/// new segment leaves on every other SACK (ceil(10·delivered/20)), the last on the 17th: ten are in
/// flight then, and one leaves per delivery. The ACK of 22 ends recovery at a window of 10.
#[test]
fn the_window_is_halved_in_proportion_to_deliveries() {
    let mut sender = with(20, |_| {});
    let mut left = Vec::new();
    for last in 1..=19 {
        ack(&mut sender, 200 + last, 0, &[(1, last + 1)], 100);
        left.push(sent(&mut sender, 200 + last));
        if last >= 3 {
            assert_eq!(sender.recovery.state(), CongestionState::Recovery);
            assert_eq!(sender.ssthresh(), Some(10));
        }
    }
    let expected: [&[u64]; 19] = [
        &[20],
        &[21],
        &[0],
        &[],
        &[22],
        &[],
        &[23],
        &[],
        &[24],
        &[],
        &[25],
        &[],
        &[26],
        &[],
        &[27],
        &[],
        &[28],
        &[],
        &[],
    ];
    assert_eq!(left, expected);
    assert_eq!(sender.in_flight(), 10);
    ack(&mut sender, 301, 0, &[(1, 21)], 201);
    assert_eq!(sent(&mut sender, 301), [29]);
    ack(&mut sender, 302, 0, &[(1, 22)], 202);
    assert_eq!(sent(&mut sender, 302), [30]);
    ack(&mut sender, 303, 22, &[], 203);
    assert_eq!((sender.recovery.state(), sender.cwnd()), (CongestionState::Open, 10));
    assert_eq!(sent(&mut sender, 303), [31]);
    let counters = sender.counters();
    assert_eq!((counters.retransmissions, counters.cwnd_reductions), (1, 1));
    assert_eq!((counters.timeouts, counters.undo_events), (0, 0));
}

/// RFC 8985 section 6.2: 0 is retransmitted at 203 and lost again. Segment 12, new, leaves at 205
/// on the fifth SACK. Its SACK at 305, a round trip after 203, proves the second loss.
#[test]
fn a_lost_retransmission_is_retransmitted() {
    let mut sender = with(10, |_| {});
    let mut left = Vec::new();
    for last in 1..=5 {
        ack(&mut sender, 200 + last, 0, &[(1, last + 1)], 100);
        left.push(sent(&mut sender, 200 + last));
    }
    assert_eq!(left, [vec![10], vec![11], vec![0], vec![], vec![12]]);
    for last in 6..=9 {
        ack(&mut sender, 200 + last, 0, &[(1, last + 1)], 100);
        sent(&mut sender, 200 + last);
    }
    for (now, last) in [(301, 10), (302, 11)] {
        ack(&mut sender, now, 0, &[(1, last + 1)], now - 100);
        assert!(!sent(&mut sender, now).contains(&0));
    }
    ack(&mut sender, 305, 0, &[(1, 13)], 205);
    assert_eq!(sent(&mut sender, 305)[0], 0);
    // One reduction in total, and no timeout.
    assert_eq!((sender.ssthresh(), sender.counters().timeouts), (Some(5), 0));
}

/// Several losses in a window: each is retransmitted once, lowest first, and the window falls once.
#[test]
fn every_hole_is_filled_once() {
    let mut sender = with(20, |_| {});
    let mut again = Vec::new();
    let blocks = |high: u64| -> Vec<(u64, u64)> {
        let all = [(1, 5), (6, 10), (11, 20)];
        let mut all: Vec<_> = all.iter().map(|&(a, b)| (a, b.min(high))).collect();
        all.retain(|&(a, b)| a < b);
        all.reverse();
        all
    };
    for high in 2..=20 {
        ack(&mut sender, 200 + high, 0, &blocks(high), 100);
        again.extend(sent(&mut sender, 200 + high).into_iter().filter(|&number| number < 20));
    }
    assert_eq!(again, [0, 5, 10]);
    let counters = sender.counters();
    assert_eq!((counters.retransmissions, counters.cwnd_reductions), (3, 1));
    assert_eq!(sender.ssthresh(), Some(10));
}

/// RFC 6675 instead of RACK: the third SACKed segment above proves the loss. A lost retransmission
/// waits for the timer.
#[test]
fn without_rack_three_sacked_segments_prove_a_loss() {
    let mut sender = with(10, |config| config.linux.get_or_insert_default().rack = false);
    for last in 1..=2 {
        ack(&mut sender, 200 + last, 0, &[(1, last + 1)], 100);
        assert!(!sent(&mut sender, 200 + last).contains(&0));
    }
    ack(&mut sender, 203, 0, &[(1, 4)], 100);
    assert_eq!(sent(&mut sender, 203), [0]);
    for last in 4..=11 {
        ack(&mut sender, 300 + last, 0, &[(1, last + 1)], 200);
        assert!(!sent(&mut sender, 300 + last).contains(&0));
    }
}

/// RFC 8985 section 7: the last of ten is lost. Two round trips after the ACK of the others, plus
/// 200 ms for a delayed ACK, would be 600; the timeout is earlier, at 500, so the probe leaves
/// then. When the acknowledgement advances beyond it, the sender knows that the probe repaired a
/// loss.
#[test]
fn a_probe_repairs_the_tail_and_halves_the_window() {
    let mut sender = with_data(10);
    ack(&mut sender, 200, 9, &[], 100);
    assert_eq!(sender.poll_timeout(), Some(ms(500)));
    sender.handle_timeout(ms(500));
    assert_eq!(sent(&mut sender, 500), [9]);
    ack(&mut sender, 600, 10, &[], 500);
    assert_eq!(sender.ssthresh(), None);
    sender.supply(MSS);
    assert_eq!(sent(&mut sender, 600), [10]);
    let cwnd = sender.cwnd();
    ack(&mut sender, 700, 11, &[], 600);
    assert_eq!(sender.ssthresh(), Some(cwnd / 2));
    assert_eq!((sender.counters().timeouts, sender.counters().retransmissions), (0, 1));
}

/// Section 7.4.2: the probe was unnecessary, as its D-SACK shows.
#[test]
fn an_unnecessary_probe_does_not_reduce_the_window() {
    let mut sender = with_data(10);
    ack(&mut sender, 200, 9, &[], 100);
    sender.handle_timeout(ms(500));
    assert_eq!(sent(&mut sender, 500), [9]);
    ack(&mut sender, 510, 10, &[], 100);
    dsack(&mut sender, 600, 10, 9, 10, 500);
    sender.supply(MSS);
    assert_eq!(sent(&mut sender, 600), [10]);
    ack(&mut sender, 700, 11, &[], 600);
    assert_eq!((sender.ssthresh(), sender.counters().cwnd_reductions), (None, 0));
}

/// RFC 6298 section 5.5: each timeout is twice as long as the previous one. The window is reduced
/// once. An ACK of a retransmission ends the back-off (its timestamp gives a sample).
#[test]
fn timeouts_back_off_until_an_ack() {
    let mut sender =
        with(10, |config| config.linux.get_or_insert_default().tail_loss_probe = false);
    let mut at = 100 + 300;
    for attempt in 1..=5u64 {
        assert_eq!(sender.poll_timeout(), Some(ms(at)));
        sender.handle_timeout(ms(at));
        assert_eq!(sent(&mut sender, at), [0]);
        assert_eq!((sender.cwnd(), sender.ssthresh()), (1, Some(5)));
        assert_eq!(sender.counters().timeouts, attempt);
        at += 300 << attempt;
    }
    let last = at - (300 << 5);
    ack(&mut sender, last + 100, 1, &[], last);
    assert_eq!(sender.rtt.timeout(), Duration::from_millis(300));
    assert_eq!(sender.counters().cwnd_reductions, 1);
}

/// RFC 3522: a delay of all segments, not a loss. The ACKs arrive after the timeout and echo times
/// before it: window and threshold are restored, and nothing else is retransmitted.
#[test]
fn a_timeout_caused_by_a_delay_is_undone() {
    let mut sender =
        with(10, |config| config.linux.get_or_insert_default().tail_loss_probe = false);
    sender.handle_timeout(ms(400));
    assert_eq!(sent(&mut sender, 400), [0]);
    ack(&mut sender, 450, 1, &[], 100);
    assert_eq!((sender.recovery.state(), sender.ssthresh()), (CongestionState::Open, None));
    assert!(sender.cwnd() >= 10);
    assert!(sent(&mut sender, 450).iter().all(|&number| number >= 10));
    assert_eq!((sender.counters().undo_events, sender.counters().retransmissions), (1, 1));
}

/// 0, 1 and 2 of ten are lost, and so is the first retransmission of 0. The retransmission of 1,
/// sent after it, is SACKed. The ACK echoes an older segment, as every ACK above a hole does (RFC
/// 7323 section 4.3). One round trip after its transmission the retransmission of 0 is lost, and 0
/// leaves again at once (`tcp_rack_advance` of Linux uses the round-trip time and not the echo).
#[test]
fn a_lost_retransmission_is_detected_by_a_sack_of_a_later_one() {
    let mut sender = with(10, |_| {});
    let mut left = Vec::new();
    for last in 3..10 {
        ack(&mut sender, 197 + last, 0, &[(3, last + 1)], 100);
        left.push(sent(&mut sender, 197 + last));
    }
    assert_eq!(left, [vec![10], vec![11], vec![0], vec![], vec![], vec![1], vec![2]]);
    ack(&mut sender, 301, 0, &[(3, 12)], 100);
    assert!(!sent(&mut sender, 301).contains(&0));
    ack(&mut sender, 305, 0, &[(1, 2), (3, 12)], 100);
    assert_eq!(sent(&mut sender, 305)[0], 0);
    assert_eq!(sender.counters().timeouts, 0);
}

/// The ACK of a retransmission is timed by the timestamp clock: 200.9 to 310.1 ms are 110.
#[test]
fn a_retransmission_is_timed_in_milliseconds() {
    let at = |micros: u64| Instant::from_nanos(micros * 1000);
    let mut sender = with(10, |_| {});
    sender.handle_segment(at(200_900), &segment(0, &[(1, 4)], false, 100));
    while sender.poll_transmit(at(200_900)).is_some() {}
    let sacked = sender.srtt().unwrap();
    sender
        .handle_segment(at(310_100), &Segment { ts_ecr: at(200_900), ..segment(4, &[], false, 0) });
    let sample = Duration::from_millis(110).as_nanos();
    let expected = (sacked.as_nanos() * 7 + sample) / 8;
    assert!(sender.srtt().unwrap().as_nanos().abs_diff(expected) <= 1);
}

/// 0, 1 and 2 of ten seem lost after three SACKs, and 0 is sent again. Then the original of 0 arrives:
/// the reduction is undone. RACK took 1 and 2 off its list (`tcp_rack_detect_loss`), so that it does
/// not declare them lost once more, although a round trip and a quarter have passed. The timeout
/// does: both are sent again.
#[test]
fn what_rack_declared_lost_waits_for_the_timeout_after_an_undo() {
    let mut sender = with(10, |_| {});
    for last in 3..6 {
        ack(&mut sender, 197 + last, 0, &[(3, last + 1)], 100);
    }
    assert!(sent(&mut sender, 202).contains(&0));
    ack(&mut sender, 240, 1, &[(3, 6)], 100);
    assert_eq!(
        (sender.recovery.state(), sender.counters().undo_events),
        (CongestionState::Disorder, 1)
    );
    ack(&mut sender, 250, 1, &[(3, 10)], 100);
    assert!(sent(&mut sender, 250).iter().all(|&number| number >= 10));
    assert_eq!(sender.counters().retransmissions, 1);
    let due = sender.poll_timeout().unwrap();
    sender.handle_timeout(due);
    let now = due.as_nanos() / 1_000_000;
    assert_eq!((sender.counters().timeouts, sent(&mut sender, now)[0]), (1, 1));
    assert_eq!(sender.board.flight().state(2), State::Lost);
}

/// A timeout declares ten segments lost, and proves spurious. They kept their places on RACK's list
/// (`tcp_timeout_mark_lost` takes none off): SACKs of later ones make RACK declare 1 to 4 lost.
#[test]
fn what_a_timeout_declared_lost_may_be_lost_again_after_an_undo() {
    let mut sender =
        with(10, |config| config.linux.get_or_insert_default().tail_loss_probe = false);
    sender.handle_timeout(ms(400));
    assert_eq!(sent(&mut sender, 400), [0]);
    ack(&mut sender, 450, 1, &[], 100);
    assert_eq!(
        (sender.recovery.state(), sender.counters().undo_events),
        (CongestionState::Open, 1)
    );
    sent(&mut sender, 450);
    for last in 5..8 {
        ack(&mut sender, 450 + last, 1, &[(5, last + 1)], 100);
    }
    assert_eq!(sent(&mut sender, 457)[0], 1);
    assert_eq!(sender.recovery.state(), CongestionState::Recovery);
}

/// After a timeout new segments leave first, to test whether it was spurious (F-RTO). They are not
/// acknowledged: the next timeout lowers the threshold again, and then lost segments leave.
#[test]
fn a_second_timeout_after_an_ack_is_a_new_one() {
    let mut sender = with(10, |config| {
        config.linux.get_or_insert_default().tail_loss_probe = false;
    });
    sender.handle_timeout(ms(400));
    assert_eq!(sent(&mut sender, 400), [0]);
    ack(&mut sender, 500, 1, &[], 400);
    assert_eq!(sent(&mut sender, 500), [10, 11]);
    assert_eq!(sender.ssthresh(), Some(5));
    let due = sender.poll_timeout().unwrap();
    let now = due.as_nanos() / 1_000_000 + 1;
    sender.handle_timeout(ms(now));
    assert_eq!((sent(&mut sender, now), sender.ssthresh()), (vec![1], Some(2)));
    ack(&mut sender, now + 100, 2, &[], now);
    assert_eq!(sent(&mut sender, now + 100), [2, 3]);
}

/// The same with pacing: one new segment leaves, and when the next one may leave, a lost segment
/// goes first.
#[test]
fn retransmissions_precede_segments_blocked_by_pacing() {
    let mut sender = with(10, |config| {
        let options = config.linux.get_or_insert_default();
        (options.tail_loss_probe, options.pacing) = (false, true);
    });
    sender.handle_timeout(ms(400));
    assert_eq!(sent(&mut sender, 400), [0]);
    ack(&mut sender, 500, 1, &[], 400);
    assert_eq!(sent(&mut sender, 500), [10]);
    assert_eq!(sent_by_pace(&mut sender, 600), Some(1));
}

/// Lost segments that are apart leave one by one, each when pacing allows it; those that left in one
/// burst are retransmitted together (`tcp_xmit_retransmit_queue`).
#[test]
fn pacing_separates_retransmissions_that_are_apart() {
    let paced = || with(10, |config| config.linux.get_or_insert_default().pacing = true);
    let mut sender = paced();
    ack(&mut sender, 200, 0, &[(1, 2), (3, 4), (5, 10)], 100);
    assert_eq!(sent(&mut sender, 200), [0]);
    assert_eq!(sent_by_pace(&mut sender, 300), Some(2));
    let mut sender = paced();
    ack(&mut sender, 200, 0, &[(2, 10)], 100);
    assert_eq!(sent(&mut sender, 200), [0, 1]);
}

/// The segment that leaves when pacing allows, before `until`.
fn sent_by_pace(sender: &mut LinuxSender, until: u64) -> Option<u64> {
    let at = sender.poll_timeout().filter(|&at| at < ms(until))?;
    sender.handle_timeout(at);
    sender.poll_transmit(at).map(|segment| segment.seq / MSS)
}

/// A connection without SACK, whose receive window is open from the start: an ACK that opens it is
/// not a duplicate.
fn without_sack(window: u32) -> LinuxSender {
    with(window, |config| {
        config.sack = false;
        config.linux.get_or_insert_default().window_growth = false;
    })
}

/// The segments that leave on each of `count` duplicate ACKs, a millisecond apart.
fn on_duplicates(sender: &mut LinuxSender, now: u64, number: u64, count: u64) -> Vec<Vec<u64>> {
    let one = |at| {
        ack(sender, at, number, &[], 100);
        sent(sender, at)
    };
    (now..now + count).map(one).collect()
}

/// `tcp_sack = 0`: each duplicate ACK stands for a segment that arrived, so that a new one leaves
/// (`tcp_add_reno_sack`). At the third, 0 is lost and leaves again. 0 and 4 of ten were lost: the
/// partial ACK of 4 makes 4 leave (RFC 6582). The ACK of all that was sent before ends recovery only
/// when something newer is acknowledged (`tcp_is_non_sack_preventing_reopen`).
#[test]
fn without_sack_duplicate_acks_are_counted() {
    let mut sender = without_sack(10);
    let left = on_duplicates(&mut sender, 200, 0, 8);
    let expected: [&[u64]; 8] = [&[10], &[11], &[0], &[], &[12], &[], &[13], &[]];
    assert_eq!(left, expected);
    assert_eq!((sender.recovery.state(), sender.ssthresh()), (CongestionState::Recovery, Some(5)));
    ack(&mut sender, 310, 4, &[], 202);
    assert_eq!(sent(&mut sender, 310)[0], 4);
    ack(&mut sender, 420, 12, &[], 310);
    assert_eq!(sender.recovery.state(), CongestionState::Recovery);
    ack(&mut sender, 421, 13, &[], 204);
    assert_eq!((sender.recovery.state(), sender.cwnd()), (CongestionState::Open, 5));
    let counters = sender.counters();
    assert_eq!((counters.retransmissions, counters.cwnd_reductions), (2, 1));
    assert_eq!((counters.timeouts, counters.undo_events), (0, 0));
}

/// Two segments in flight cause one duplicate ACK, unless they are out of order. After two the
/// degree is what is in flight (`tcp_check_reno_reordering`), here less than three: the next
/// duplicate ACK proves a loss.
#[test]
fn without_sack_too_many_duplicate_acks_set_the_degree() {
    let mut config = TcpConfig::linux(CongestionAlgorithm::NEWRENO);
    config.sack = false;
    config.linux.get_or_insert_default().window_growth = false;
    let mut sender = new(&config);
    sender.supply(2 * MSS);
    sender.poll_transmit(ms(0)).unwrap();
    let answer = Segment { syn: true, ts_ecr: ms(0), window: u32::MAX, ..Segment::default() };
    sender.handle_segment(ms(100), &answer);
    assert_eq!(sent(&mut sender, 100), [0, 1]);
    assert_eq!(on_duplicates(&mut sender, 200, 0, 2).concat(), [0; 0]);
    assert_eq!(sender.board.flight().sacked_count(), 1);
    sender.supply(3 * MSS);
    assert_eq!(sent(&mut sender, 202), [2, 3, 4]);
    assert_eq!(on_duplicates(&mut sender, 203, 0, 1), [[0]]);
}

/// Without SACK a late original undoes the reduction by its timestamp, as with SACK.
#[test]
fn without_sack_a_late_segment_undoes_the_reduction() {
    let mut sender = without_sack(10);
    on_duplicates(&mut sender, 200, 0, 3);
    assert_eq!(sender.recovery.state(), CongestionState::Recovery);
    ack(&mut sender, 240, 4, &[], 100);
    assert_eq!(sender.counters().undo_events, 1);
    assert!(sender.cwnd() >= 10);
    assert_eq!(sender.counters().retransmissions, 1);
}

/// No probe of the tail without SACK (`tcp_schedule_loss_probe`): the timeout repairs it, and all
/// in flight counts as lost.
#[test]
fn without_sack_the_timeout_repairs_the_tail() {
    let mut sender = without_sack(10);
    assert_eq!(sender.poll_timeout(), Some(ms(400)));
    on_duplicates(&mut sender, 200, 0, 2);
    sender.handle_timeout(ms(400));
    assert_eq!(sent(&mut sender, 400), [0]);
    assert_eq!(sender.board.flight().sacked_count(), 0);
    assert_eq!(sender.board.flight().lost_count(), 11);
    ack(&mut sender, 500, 1, &[], 400);
    sent(&mut sender, 500);
    ack(&mut sender, 501, 1, &[], 400);
    assert_eq!(sent(&mut sender, 501)[0], 1);
}
