//! Nanoseconds per segment that arrived with 10,000 segments in flight and every tenth a hole, beside
//! fewer: flat.
//!
//! `cargo bench -p clift --bench scoreboard`
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

use std::time::Instant as Clock;

use clift::seed::{Seed, Stream};
use clift::transport::tcp::{CongestionAlgorithm, Profile, TcpConfig};
use clift::transport::{Outbox, Protocol, Purpose};
use clift::units::{Duration, Instant, Packets};

const SPACING: Duration = Duration::from_micros(10);

fn main() {
    let cases = [
        (Profile::Papers, CongestionAlgorithm::CUBIC),
        (Profile::Linux, CongestionAlgorithm::CUBIC),
        (Profile::Linux, CongestionAlgorithm::BBR),
    ];
    for (profile, congestion) in cases {
        for in_flight in [100, 1_000, 10_000] {
            let best = (0..3).map(|_| per_segment(profile, congestion, in_flight));
            let best = best.fold(f64::INFINITY, f64::min);
            let name = format!("{profile:?} {congestion}, {in_flight} in flight, 10 % holes");
            println!("{name:48} {best:6.1} ns per segment");
        }
    }
}

/// Windows of `in_flight` segments of which every tenth is lost, in nanoseconds of the sender for each that
/// arrives: the ACKs that a receiver sends of them, with up to three blocks, and what the sender sends
/// again on these. A kernel's receiver compresses them, so that one tells of many segments. Only the
/// scoreboard's part: nothing new is there to be sent.
fn per_segment(profile: Profile, congestion: CongestionAlgorithm, in_flight: u32) -> f64 {
    let mut config = match profile {
        Profile::Linux => TcpConfig::linux(congestion),
        _ => TcpConfig::papers(congestion),
    };
    config.initial_window = Packets::new(in_flight.into());
    if profile == Profile::Linux {
        config.linux.get_or_insert_default().handshake = false;
    }
    let windows = 1_000_000 / u64::from(in_flight);
    let (mut segments, mut nanos) = (0u32, 0);
    for _ in 0..windows {
        let rng = Seed(0).rng(Stream::Flow(0));
        let ends = config.connect(Purpose::OneWay, [None; 2], rng);
        let [mut sender, mut receiver] = ends.expect("data one way");
        sender.write(0, u64::from(in_flight) * 1448, true);
        sender.close();
        let (mut data, mut acks) = (Outbox::default(), Outbox::default());
        sender.transmit(Instant::ZERO, &mut data);
        let mut now = Instant::ZERO + Duration::from_millis(500);
        let mut arrived = Vec::new();
        for (_, &number) in data.sent().iter().enumerate().filter(|(n, _)| n % 10 != 0) {
            now = now + SPACING;
            segments += 1;
            receiver.handle(now, &data[number], None);
            receiver.transmit(now, &mut acks);
            arrived.extend(acks.sent().iter().map(|&ack| (now, ack)));
            acks.forget_sent(0);
        }
        let start = Clock::now();
        for &(now, ack) in &arrived {
            sender.handle(now, &acks[ack], None);
            std::hint::black_box(sender.transmit(now, &mut data));
        }
        nanos += start.elapsed().as_nanos();
    }
    nanos as f64 / f64::from(segments)
}
