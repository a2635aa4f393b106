//! What must hold for TCP over any network.

use clift::seed::{Seed, Stream};
use clift::transport::tcp::{CongestionAlgorithm, DelayedAck, LinuxOptions, Profile, TcpConfig};
use clift::transport::{Endpoint, Outbox, Packet, Protocol, Purpose, Segment};
use clift::units::{Bytes, Duration, Instant, Packets, Size};
use proptest::prelude::*;
use support::plain_path::{self, Fate, Path, Supply, run_with_acks};

fn congestion() -> impl Strategy<Value = CongestionAlgorithm> {
    proptest::sample::select(CongestionAlgorithm::all())
}

fn config() -> impl Strategy<Value = TcpConfig> {
    let limits = (proptest::option::of(1u64..300), proptest::option::of(3_000u64..100_000));
    let options = (any::<bool>(), 1u64..12, proptest::option::of(1u64..300), 60u32..2000);
    let any = (congestion(), limits, options, linux(), any::<bool>()).prop_map(
        |(congestion, limits, options, linux, sack)| {
            let mut config = match linux {
                None => TcpConfig::papers(congestion),
                Some(_) => TcpConfig { linux, ..TcpConfig::linux(congestion) },
            };
            config.sack = sack || linux.is_some() || congestion != CongestionAlgorithm::NEWRENO;
            config.cwnd_max = limits.0.and_then(Packets::new);
            config.receive_window = limits.1.map(Size);
            config.timestamps = options.0;
            config.initial_window = Packets::new(options.1);
            let delay = options.2.map(Duration::from_millis);
            config.delayed_ack = Some(delay.map_or(DelayedAck::Off, DelayedAck::After));
            config.packet = Bytes(options.3);
            config
        },
    );
    any.prop_filter("a connection that can be", |config| config.check().is_ok())
}

/// `None`: profile `papers`; else every option of profile `linux` alone.
fn linux() -> impl Strategy<Value = Option<LinuxOptions>> {
    let options = (any::<u16>(), 3u32..400).prop_map(|(bits, max_reordering)| {
        let on = |bit: u32| bits >> bit & 1 == 1;
        LinuxOptions {
            handshake: on(0),
            rack: on(1),
            tail_loss_probe: on(2),
            prr: on(3),
            dsack: on(4),
            undo: on(5),
            frto: on(6),
            max_reordering,
            hystart: on(7),
            quick_ack: on(8),
            slow_start_after_idle: on(9),
            pacing: on(10),
            sack_compression: on(11),
            timer_ticks: on(12),
            hystart_plus: on(13),
            window_growth: on(14),
            burst_deferral: on(15),
        }
    });
    let default = Just(LinuxOptions::default());
    proptest::option::of(prop_oneof![options, default])
}

/// What happens to packets, by a hash of seed and position: shares in per mille.
#[derive(Clone, Copy, Debug)]
struct Network {
    seed: u64,
    lost: u64,
    late: u64,
    twice: u64,
    micros: u64,
}

impl Network {
    fn fate(&self, direction: u64, position: u64) -> Fate {
        let hash = (self.seed ^ direction << 60 ^ position).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = (hash ^ hash >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let (draw, micros) = (hash >> 32 & 1023, hash >> 45);
        let micros = micros % (self.micros + 1);
        match draw {
            n if n < self.lost => Fate::Lost,
            n if n < self.lost + self.late => Fate::Late { micros },
            n if n < self.lost + self.late + self.twice => Fate::Twice { micros },
            _ => Fate::Delivered,
        }
    }
}

fn network() -> impl Strategy<Value = Network> {
    (any::<u64>(), 0u64..300, 0u64..300, 0u64..100, 0u64..2_000_000)
        .prop_map(|(seed, lost, late, twice, micros)| Network { seed, lost, late, twice, micros })
}

/// Sender and receiver.
fn ends(config: &TcpConfig) -> [Box<dyn Endpoint>; 2] {
    config.connect(Purpose::OneWay, [None; 2], Seed(0).rng(Stream::Flow(0))).unwrap()
}

fn handle(end: &mut dyn Endpoint, now: Instant, segment: Segment) {
    end.handle(now, &Packet { segment, ..Packet::default() }, None);
}

proptest! {
    /// Every byte arrives once and in order, and both ends agree on what happened.
    #[test]
    fn a_file_arrives_whole(
        config in config(),
        network in network(),
        bytes in 0u64..200_000,
        rate in 50_000u64..20_000_000,
        rtt_ms in 2u64..800,
        waiting in 1usize..200,
    ) {
        let path = Path { bits_per_second: rate, rtt_ms, waiting };
        let run = run_with_acks(
            &config, path, Supply::Bytes(bytes), 10_000_000,
            &mut |at| network.fate(0, at), &mut |at| network.fate(1, at),
        );
        prop_assert!(run.complete, "{:?}", run);
        prop_assert_eq!(run.acknowledged, bytes);
        prop_assert_eq!(run.sender.bytes_acked, bytes);
        prop_assert_eq!(run.receiver.bytes_in_order, bytes);
        let segments = run.sender.segments_sent - run.sender.retransmissions;
        let full = bytes.div_ceil(u64::from(config.mss().0));
        match config.profile() {
            Profile::Papers => prop_assert_eq!(segments, full),
            // Parts of segments leave at the edge of the window.
            Profile::Linux => prop_assert!(segments >= full),
        }
        let in_vain = run.receiver.duplicate_segments + run.receiver.stale_segments;
        prop_assert_eq!(run.receiver.segments_received - in_vain, segments);
        let counted: u64 = run.sender.acknowledged_by_transmissions.iter().sum();
        prop_assert_eq!(counted, segments);
        prop_assert!(run.sender.fast_retransmits <= run.sender.retransmissions);
        let cuts = run.sender.timeouts + run.sender.recovery_entries_by_dupacks;
        if config.profile() == Profile::Papers {
            prop_assert_eq!(run.sender.cwnd_reductions, cuts);
        }
        prop_assert!(run.sender.undo_events <= run.sender.cwnd_reductions);
        // The same again: a run is a function of its inputs.
        let again = run_with_acks(
            &config, path, Supply::Bytes(bytes), 10_000_000,
            &mut |at| network.fate(0, at), &mut |at| network.fate(1, at),
        );
        prop_assert_eq!(again.sent, run.sent);
    }

    /// With any input, sense or nonsense, the window stays within its limits, no timer lies in
    /// the past, and no more is sent than window and application allow.
    #[test]
    fn a_sender_survives_any_acks(
        config in config(),
        acks in proptest::collection::vec((0u64..3_000, 0u64..300_000, 0u64..40, 0u8..8), 1..300),
    ) {
        let [mut sender, _] = ends(&config);
        sender.write(0, 200_000, true);
        sender.transmit(Instant::ZERO, &mut Outbox::default());
        let answer = Segment { syn: true, window: u32::MAX, ..Segment::default() };
        if config.profile() == Profile::Linux && config.options().handshake {
            handle(&mut *sender, Instant::ZERO, answer);
            sender.transmit(Instant::ZERO, &mut Outbox::default());
        }
        let limit = match config.congestion.name() {
            "hybla" => 65_535,
            "compound" => u32::MAX,
            _ => config.window_limit(),
        };
        let mut now = Instant::ZERO;
        for (millis, byte, block, kind) in acks {
            let mss = u64::from(config.mss().0);
            now = now + Duration::from_millis(millis);
            sender.handle_timeout(now);
            let mut ack = Segment {
                ack: sender.acknowledged().unwrap() + if kind < 4 { 0 } else { byte / 30 / mss * mss },
                ts_ecr: Instant::from_nanos(now.as_nanos() / 2),
                window: if kind == 7 { byte as u32 } else { u32::MAX },
                ..Segment::default()
            };
            let first = ack.ack + block * mss;
            let end = if kind == 1 { byte } else { first + mss };
            ack.sack.push(ack.ack, clift::transport::SackBlock { start: first, end });
            handle(&mut *sender, now, ack);
            let window = sender.window().unwrap();
            prop_assert!((1.0..=limit.into()).contains(&window.cwnd), "{window:?}");
            prop_assert!(window.ssthresh >= 1.0);
            let timeout = sender.transmit(now, &mut Outbox::default());
            prop_assert!(timeout.is_none_or(|at| at > now));
        }
    }

    /// A receiver hands over what has come without a gap, for any arrivals.
    #[test]
    fn a_receiver_survives_any_segments(
        config in config(),
        segments in proptest::collection::vec((0u64..5_000, 1u32..600), 1..200),
    ) {
        let [_, mut receiver] = ends(&config);
        let mut acks = Outbox::default();
        let mut have = vec![false; 6_000];
        for (millis, (seq, len)) in segments.into_iter().enumerate() {
            let now = Instant::from_nanos(millis as u64 * 1_000_000);
            receiver.handle_timeout(now);
            handle(&mut *receiver, now, Segment { seq, len, ..Segment::default() });
            // An ACK that waited may leave before the segment is taken in.
            let earlier = have.clone();
            have[seq as usize..(seq + u64::from(len)) as usize].fill(true);
            let in_order = have.iter().take_while(|&&have| have).count() as u64;
            prop_assert_eq!(receiver.delivered(), in_order);
            receiver.transmit(now, &mut acks);
            for ack in acks.sent().iter().map(|&number| acks[number].segment) {
                prop_assert_eq!(ack.ack, in_order);
                // A duplicate may lie anywhere.
                for block in ack.sack.iter(ack.ack).skip(usize::from(ack.dsack)) {
                    prop_assert!(block.start > in_order);
                    let range = block.start as usize..block.end as usize;
                    prop_assert!(have[range].iter().all(|&have| have), "{:?}", block);
                    let (end, last) = (block.end as usize, block.start as usize - 1);
                    prop_assert!([&have, &earlier].iter().any(|it| !it[end] && !it[last]));
                }
            }
            acks.forget_sent(0);
        }
    }
}

/// Thousands of segments in flight, a tenth lost, for long: it ends, and quickly.
#[test]
fn large_windows_with_many_holes() {
    large_windows(TcpConfig::papers(CongestionAlgorithm::CUBIC));
    large_windows(TcpConfig::linux(CongestionAlgorithm::CUBIC));
}

fn large_windows(mut config: TcpConfig) {
    config.initial_window = Packets::new(10_000);
    if config.profile() == Profile::Linux {
        // The receive window admits the initial window.
        config.linux.get_or_insert_default().window_growth = false;
    }
    let path = Path { bits_per_second: 1_000_000_000, rtt_ms: 100, waiting: 20_000 };
    let run = plain_path::run(&config, path, Supply::Bytes(60_000 * 1448), 1000, |at| {
        if plain_path::lost(1, at, 0.1) { Fate::Lost } else { Fate::Delivered }
    });
    assert!(run.complete);
    assert_eq!(run.receiver.bytes_in_order, 60_000 * 1448);
}

/// Everything on, both profiles, every congestion control: 15 MB over a path that loses 2 %, holds
/// 4 % back by up to 100 ms and duplicates 1 %, both ways, arrive once and in order.
#[test]
fn a_long_run_over_a_hostile_path() {
    let network = Network { seed: 11, lost: 20, late: 40, twice: 10, micros: 100_000 };
    let path = Path { bits_per_second: 20_000_000, rtt_ms: 60, waiting: 60 };
    let bytes = 15_000_000;
    for profile in [Profile::Papers, Profile::Linux] {
        for congestion in CongestionAlgorithm::in_profile(profile) {
            let mut config = match profile {
                Profile::Linux => TcpConfig::linux(congestion),
                _ => TcpConfig::papers(congestion),
            };
            config.delayed_ack = Some(DelayedAck::After(Duration::from_millis(40)));
            if profile == Profile::Linux {
                config.linux.get_or_insert_default().pacing = true;
            }
            let run = run_with_acks(
                &config,
                path,
                Supply::Bytes(bytes),
                100_000,
                &mut |at| network.fate(0, at),
                &mut |at| network.fate(1, at),
            );
            assert!(run.complete, "{congestion}");
            assert_eq!(run.receiver.bytes_in_order, bytes, "{congestion}");
            let segments = bytes.div_ceil(config.mss().0.into());
            let in_vain = run.receiver.duplicate_segments + run.receiver.stale_segments;
            assert_eq!(run.receiver.segments_received - in_vain, segments, "{congestion}");
            assert_eq!(run.sender.segments_sent, segments + run.sender.retransmissions);
            assert!(run.sender.retransmissions > segments / 100, "{congestion}");
        }
    }
}
