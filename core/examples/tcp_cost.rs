//! What TCP's state machines cost per packet, alone and together.
//!
//! `cargo run --release --example tcp_cost`
#![allow(clippy::disallowed_methods, clippy::print_stdout)] // measures and prints

use std::collections::VecDeque;

use clift::transport::tcp::{CongestionAlgorithm, Profile, TcpConfig, TcpReceiver, TcpSender};
use clift::transport::{Half, Segment};
use clift::units::{Duration, Instant, Packets};

const PACKETS: u64 = 5_000_000;
const SPACING: Duration = Duration::from_micros(10);

fn main() {
    println!("size of a segment: {} bytes", size_of::<Segment>());
    for congestion in CongestionAlgorithm::all().into_iter().filter(|it| it.is_in(Profile::Papers))
    {
        for window in [100, 10_000] {
            let nanos = best_of(|| sender_alone(congestion, window));
            println!("{congestion} sender, {window} in flight: {nanos:.1} ns per ACK");
        }
    }
    println!("receiver: {:.1} ns per segment", best_of(receiver_alone));
    for loss in [0, 1_000, 100, 10] {
        let nanos = best_of(|| together(loss));
        let share = if loss == 0 { 0.0 } else { 1.0 / loss as f64 };
        println!("both, from 10000 in flight, loss {share}: {nanos:.1} ns per packet");
    }
}

fn best_of(mut run: impl FnMut() -> f64) -> f64 {
    (0..3).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn config(congestion: CongestionAlgorithm, window: u32) -> TcpConfig {
    let mut config = TcpConfig::papers(congestion);
    config.cwnd_max = Packets::new(window.into());
    config.initial_window = config.cwnd_max;
    config
}

/// ACKs of one segment each, made up.
fn sender_alone(congestion: CongestionAlgorithm, window: u32) -> f64 {
    let mut sender = TcpSender::new(&config(congestion, window));
    sender.supply_unlimited();
    let mut now = Instant::ZERO;
    let mut sent = std::iter::from_fn(|| sender.poll_transmit(now)).count() as u64;
    let delay = SPACING * u64::from(window);
    let start = std::time::Instant::now();
    for acked in 1..=PACKETS {
        now = now + SPACING;
        let ack = Segment {
            ack: acked * 1448,
            ts_ecr: Instant::from_nanos(now.as_nanos().saturating_sub(delay.as_nanos())),
            window: u32::MAX,
            wire: 40,
            ..Segment::default()
        };
        sender.handle_segment(now, &ack);
        while let Some(segment) = sender.poll_transmit(now) {
            sent += u64::from(std::hint::black_box(segment).len > 0);
        }
        std::hint::black_box(sender.poll_timeout());
    }
    // Hybla and Compound may go beyond their limit.
    assert!(sent >= PACKETS + u64::from(window));
    start.elapsed().as_nanos() as f64 / PACKETS as f64
}

fn receiver_alone() -> f64 {
    let mut receiver = TcpReceiver::new(&config(CongestionAlgorithm::NEWRENO, 1));
    let start = std::time::Instant::now();
    for n in 0..PACKETS {
        let now = Instant::from_nanos(n * SPACING.as_nanos());
        let segment =
            Segment { seq: n * 1448, len: 1448, wire: 1500, ts_val: now, ..Segment::default() };
        receiver.handle_segment(now, &segment);
        while let Some(ack) = receiver.poll_transmit(now) {
            std::hint::black_box(ack);
        }
        std::hint::black_box(receiver.poll_timeout());
    }
    assert_eq!(receiver.received(), PACKETS * 1448);
    start.elapsed().as_nanos() as f64 / PACKETS as f64
}

/// Files of 20,000 segments, begun with 10,000 in flight, through a pipe that takes a segment
/// every [`SPACING`] and loses one in `loss` (0: none) by a hash of its position: scoreboard and
/// reassembly with that many segments in flight and that many holes. Per segment sent, with
/// the set-up of both ends.
fn together(loss: u64) -> f64 {
    const WINDOW: u32 = 10_000;
    const FILES: u64 = 100;
    let config = config(CongestionAlgorithm::CUBIC, WINDOW);
    let mut position = 0u64;
    let start = std::time::Instant::now();
    for _ in 0..FILES {
        let mut sender = TcpSender::new(&config);
        let mut receiver = TcpReceiver::new(&config);
        sender.supply(2 * u64::from(WINDOW) * 1448);
        sender.close();
        let mut pipe: VecDeque<Segment> = VecDeque::new();
        let mut now = Instant::ZERO;
        while !sender.is_complete() {
            pipe.extend(std::iter::from_fn(|| sender.poll_transmit(now)));
            let Some(segment) = pipe.pop_front() else {
                now = sender.poll_timeout().unwrap_or(now);
                sender.handle_timeout(now);
                continue;
            };
            now = now + SPACING;
            position += 1;
            let hash = position.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
            if loss > 0 && hash.is_multiple_of(loss) {
                continue;
            }
            receiver.handle_segment(now, &segment);
            while let Some(ack) = receiver.poll_transmit(now) {
                sender.handle_segment(now, &ack);
            }
        }
    }
    start.elapsed().as_nanos() as f64 / position as f64
}
