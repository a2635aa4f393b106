use super::*;
use crate::transport::tcp::CongestionAlgorithm;
use crate::units::Packets;

const MSS: u64 = 1448;

fn ms(millis: u64) -> Instant {
    Instant::from_nanos(millis * 1_000_000)
}

/// Everything the sender wants to send now, as segment numbers.
fn sent(sender: &mut NoSackSender, now: Instant) -> Vec<u64> {
    std::iter::from_fn(|| sender.poll_transmit(now)).map(|segment| segment.seq / MSS).collect()
}

/// An ACK of everything below segment `ack`, echoing `echo`.
fn ack(ack: u64, echo: Instant) -> Segment {
    Segment { ack: ack * MSS, ts_ecr: echo, window: u32::MAX, ..Segment::default() }
}

/// A sender with segments `0..window` in flight, sent at 500 ms after a SYN at time zero.
fn with_window(window: u32) -> NoSackSender {
    let mut config = TcpConfig::papers(CongestionAlgorithm::NEWRENO);
    config.sack = false;
    config.initial_window = Packets::new(window.into());
    let mut sender = NoSackSender::new(&config);
    assert_eq!(sender.poll_transmit(ms(0)), None, "no data, no SYN");
    sender.supply(u64::MAX);
    let syn = sender.poll_transmit(ms(0)).unwrap();
    assert!(syn.syn && syn.wire == 40 && sender.poll_transmit(ms(0)).is_none());
    assert_eq!(sender.poll_timeout(), Some(ms(3000)));
    sender.handle_segment(ms(500), &ack(0, ms(0)));
    assert_eq!(sent(&mut sender, ms(500)).len(), window as usize);
    sender
}

/// The `count`-th to `until`-th duplicate ACK, and what each lets out.
fn duplicates(sender: &mut NoSackSender, of: u64, count: usize) -> Vec<Vec<u64>> {
    let mut out = Vec::new();
    for _ in 0..count {
        sender.handle_segment(ms(1000), &ack(of, ms(500)));
        out.push(sent(sender, ms(1000)));
    }
    out
}

/// RFC 6582 section 3.2 by hand. 10 in flight, 0, 4 and 6 lost: the first and second duplicate ACK
/// let out one new segment each (RFC 3042), the third sends 0 again; window 5 + 3. Six more
/// duplicates bring it to 14 with 12 out: two follow. The partial ACK of 4 sends segment 4 again and
/// takes 4 - 1 off, so that the window ends at 4 + 11.
#[test]
fn fast_recovery_with_two_losses() {
    let mut sender = with_window(10);
    let first = duplicates(&mut sender, 0, 3);
    assert_eq!(first, [vec![10], vec![11], vec![0]]);
    assert_eq!((sender.cwnd(), sender.ssthresh()), (5, Some(5)));
    assert_eq!(sender.state(), CongestionState::Recovery);
    let more = duplicates(&mut sender, 0, 6);
    assert_eq!(more, [vec![], vec![], vec![], vec![], vec![12], vec![13]]);
    let timer = sender.poll_timeout();
    sender.handle_segment(ms(1500), &ack(4, ms(1000)));
    assert_eq!(sent(&mut sender, ms(1500)), [4, 14]);
    assert_eq!(duplicates(&mut sender, 4, 1), [[15]]);
    assert!(sender.poll_timeout() > timer, "the first partial ACK restarts the timer");
    let timer = sender.poll_timeout();
    // A third loss: the second partial ACK leaves the timer.
    sender.handle_segment(ms(2000), &ack(6, ms(1500)));
    assert_eq!(sent(&mut sender, ms(2000))[0], 6);
    assert_eq!(sender.poll_timeout(), timer);
    sender.handle_segment(ms(2400), &ack(12, ms(2000)));
    assert_eq!((sender.state(), sender.cwnd()), (CongestionState::Open, 5));
    let counters = sender.counters();
    assert_eq!((counters.retransmissions, counters.fast_retransmits), (3, 3));
    assert_eq!((counters.recovery_entries_by_dupacks, counters.timeouts), (1, 0));
}

/// After a timeout everything is sent again in slow start, and three duplicate ACKs of what was
/// in flight then are no new loss (RFC 6582 section 4).
#[test]
fn a_timeout_goes_back() {
    let mut sender = with_window(8);
    let due = sender.poll_timeout().unwrap();
    assert_eq!(due, ms(500 + 1500), "three times the first sample");
    sender.handle_timeout(due);
    assert_eq!(sent(&mut sender, due), [0]);
    assert_eq!((sender.cwnd(), sender.ssthresh()), (1, Some(4)));
    assert_eq!(sender.state(), CongestionState::Loss);
    assert_eq!(sender.poll_timeout(), Some(due + Duration::from_millis(3000)), "backed off");
    sender.handle_segment(ms(2500), &ack(1, ms(2000)));
    assert_eq!(sent(&mut sender, ms(2500)), [1, 2]);
    for _ in 0..3 {
        sender.handle_segment(ms(2600), &ack(1, ms(2000)));
    }
    assert_eq!(sender.state(), CongestionState::Loss);
    assert_eq!(sender.counters().recovery_entries_by_dupacks, 0);
    sender.handle_segment(ms(3000), &ack(8, ms(2500)));
    assert_eq!(sender.state(), CongestionState::Open);
    assert_eq!(sent(&mut sender, ms(3000)), [8, 9, 10]);
}

/// A lost SYN is sent again after 3 s, and the connection then opens with one segment.
#[test]
fn a_lost_syn() {
    let mut config = TcpConfig::papers(CongestionAlgorithm::NEWRENO);
    config.sack = false;
    let mut sender = NoSackSender::new(&config);
    sender.supply(10 * MSS);
    sender.close();
    assert!(sender.poll_transmit(ms(0)).unwrap().syn);
    sender.handle_timeout(ms(3000));
    assert!(sender.poll_transmit(ms(3000)).unwrap().syn);
    assert_eq!(sender.poll_timeout(), Some(ms(9000)));
    sender.handle_segment(ms(3500), &ack(0, ms(3000)));
    assert_eq!(sent(&mut sender, ms(3500)), [0]);
    assert_eq!(sender.counters().timeouts, 1);
}

#[test]
fn a_file_ends_with_a_short_segment_and_no_timer() {
    let mut config = TcpConfig::papers(CongestionAlgorithm::NEWRENO);
    config.sack = false;
    let mut sender = NoSackSender::new(&config);
    sender.supply(MSS + 100);
    sender.close();
    assert!(sender.poll_transmit(ms(0)).unwrap().syn);
    sender.handle_segment(ms(10), &ack(0, ms(0)));
    assert_eq!(sender.poll_transmit(ms(10)).unwrap().len, 1448);
    assert_eq!(sender.poll_transmit(ms(10)).unwrap().len, 100);
    let last = Segment { ack: MSS + 100, ..ack(0, ms(10)) };
    sender.handle_segment(ms(20), &last);
    assert!(sender.is_complete() && sender.poll_timeout().is_none());
    assert_eq!(sender.poll_transmit(ms(20)), None);
}
