//! Carriers that terminals share: schedulers beside slow ones, closed forms, conservation.

use std::collections::VecDeque;
use std::sync::Arc;

use clift::link::{InstrumentedLink, LinkEvent, Packet, PacketId, QueueLimit};
use clift::metrics::{HopMetrics, Outcome};
use clift::scenario::{Scenario, Store};
use clift::scheme::LinkConfig;
use clift::scheme::carrier::{
    CarrierConfig, CarrierOptions, Demand, Fades, ProportionalFair, RoundRobin, SchedulerConfig,
};
use clift::seed::Seed;
use clift::simulation;
use clift::trace::InMemory;
use clift::units::{BitRate, Bytes, Duration, Instant, Probability};
use proptest::prelude::*;

const MS: u64 = 1_000_000;
/// Slots of 1 ms.
const SLOT: u32 = 1000;

/// Slots of a millisecond with 1000 bytes, 7 ms to the other end.
fn carrier(terminals: u32, scheduler: SchedulerConfig) -> CarrierOptions {
    CarrierOptions {
        terminals,
        rate: BitRate::from_bits_per_second(8_000_000).unwrap(),
        slot: Bytes(SLOT),
        delay: Duration::from_millis(7),
        scheduler,
        loss: Probability::ZERO,
        retransmissions: 0,
        fades: None,
    }
}

fn round_robin() -> SchedulerConfig {
    SchedulerConfig::RoundRobin(RoundRobin {})
}

/// Frames of four slots.
fn demand(demand: Demand) -> SchedulerConfig {
    SchedulerConfig::Demand(Demand { frame: Duration::from_millis(4), ..demand })
}

fn volume() -> SchedulerConfig {
    demand(Demand { free: false, ..Demand::default() })
}

fn probability(value: f64) -> Probability {
    Probability::new(value).unwrap()
}

fn built(options: &CarrierOptions, queue: QueueLimit) -> Box<dyn InstrumentedLink + Send> {
    let config = CarrierConfig { options: options.clone(), terminals: Arc::default() };
    let link = LinkConfig { queue, ..LinkConfig::new(Arc::new(config)) };
    link.build(Seed(1), 0, None).unwrap()
}

/// Arrivals: time in ns, terminal, bytes.
type Arrivals = [(u64, u32, u32)];

/// When each packet arrives at the other end, or `None` if it is lost, dropped or still there after
/// `end`.
fn deliver(link: &mut dyn InstrumentedLink, arrivals: &Arrivals, end: u64) -> Vec<Option<u64>> {
    let mut found = vec![None; arrivals.len()];
    let mut poll = |link: &mut dyn InstrumentedLink, until: u64| {
        while let Some(due) = link.poll_timeout().filter(|due| due.as_nanos() <= until) {
            while let Some(event) = link.poll(due) {
                assert!(event.at() <= due);
                if let LinkEvent::Delivered(transit) = event {
                    found[transit.packet.0 as usize] = Some(transit.at.as_nanos());
                }
            }
        }
    };
    for (number, &(now, terminal, bytes)) in (0..).zip(arrivals) {
        poll(link, now);
        let packet = Packet::new(PacketId(number), Bytes(bytes)).of_flow(terminal);
        let _ = link.enqueue(Instant::from_nanos(now), packet);
    }
    poll(link, end);
    found
}

/// A slow model: slot by slot, with all packets in lists. `frame` slots share a plan, which `plan`
/// makes of the bytes that wait at the start of the frame.
fn slow(
    terminals: usize,
    arrivals: &Arrivals,
    frame: usize,
    mut plan: impl FnMut(&[u64]) -> Vec<Option<usize>>,
) -> Vec<Option<u64>> {
    let mut found = vec![None; arrivals.len()];
    let mut queues: Vec<VecDeque<(usize, u32)>> = vec![VecDeque::new(); terminals];
    let (mut next, mut slots) = (0, Vec::new());
    for slot in 0..4000 {
        let now = slot as u64 * MS;
        while next < arrivals.len() && arrivals[next].0 <= now {
            queues[arrivals[next].1 as usize].push_back((next, arrivals[next].2));
            next += 1;
        }
        if slot % frame == 0 {
            let waiting =
                |queue: &VecDeque<(usize, u32)>| queue.iter().map(|it| u64::from(it.1)).sum();
            slots = plan(&queues.iter().map(waiting).collect::<Vec<u64>>());
        }
        let Some(terminal) = slots[slot % frame] else { continue };
        let mut room = SLOT;
        while room > 0
            && let Some((packet, left)) = queues[terminal].front_mut()
        {
            let part = room.min(*left);
            *left -= part;
            room -= part;
            if *left == 0 {
                found[*packet] = Some(now + MS + 7 * MS);
                queues[terminal].pop_front();
            }
        }
    }
    found
}

/// Grants slots one in turn, beginning at `turn`.
fn in_turn(wanted: &mut [u64], turn: &mut usize, slots: &mut Vec<usize>, most: usize) {
    let mut passed = 0;
    // A terminal gets its next slot after all others that want one.
    while slots.len() < most && passed < wanted.len() {
        let terminal = *turn % wanted.len();
        *turn = terminal + 1;
        passed += 1;
        if wanted[terminal] > 0 {
            wanted[terminal] -= 1;
            slots.push(terminal);
            passed = 0;
        }
    }
}

fn arrivals() -> impl Strategy<Value = Vec<(u64, u32, u32)>> {
    // In quarters of a slot, so that packets meet the starts of slots.
    let one = (0u64..2000, 0u32..5, prop_oneof![1u32..100, 900u32..1100, 3000u32..4000]);
    prop::collection::vec(one, 1..60).prop_map(|mut all| {
        all.sort_by_key(|one| one.0);
        all.into_iter()
            .map(|(quarter, terminal, bytes)| (quarter * MS / 4, terminal, bytes))
            .collect()
    })
}

proptest! {
    #[test]
    fn round_robin_is_that_of_a_slow_loop(arrivals in arrivals()) {
        let mut link = built(&carrier(5, round_robin()), QueueLimit::Unlimited);
        let mut turn = 0;
        let plan = |waiting: &[u64]| {
            let found = (0..5).map(|step| (turn + step) % 5).find(|&terminal| waiting[terminal] > 0);
            turn = found.map_or(turn, |terminal| terminal + 1);
            vec![found]
        };
        prop_assert_eq!(deliver(&mut *link, &arrivals, 4000 * MS), slow(5, &arrivals, 1, plan));
    }

    /// Frames of 4 ms, a round trip of 14 ms: a request is served four frames later.
    #[test]
    fn requests_of_volume_are_those_of_a_slow_loop(arrivals in arrivals()) {
        let mut link = built(&carrier(5, volume()), QueueLimit::Unlimited);
        let (mut covered, mut volumes) = ([0u64; 5], [0u64; 5]);
        let (mut requests, mut turn) = (VecDeque::from(vec![[0; 5]; 4]), 0);
        let plan = |waiting: &[u64]| {
            let open: [u64; 5] = std::array::from_fn(|it| waiting[it].saturating_sub(covered[it]));
            requests.push_back(open);
            let served = requests.pop_front().unwrap();
            for it in 0..5 {
                covered[it] += open[it];
                volumes[it] += served[it];
            }
            let mut wanted = volumes.map(|bytes| bytes.div_ceil(u64::from(SLOT)));
            let mut slots = Vec::new();
            in_turn(&mut wanted, &mut turn, &mut slots, 4);
            for &it in &slots {
                let bytes = volumes[it].min(u64::from(SLOT));
                volumes[it] -= bytes;
                covered[it] -= bytes;
            }
            (0..4).map(|slot| slots.get(slot).copied()).collect()
        };
        // The turn goes on after the last terminal that got a slot.
        let found = deliver(&mut *link, &arrivals, 4000 * MS);
        let slow = slow(5, &arrivals, 4, plan);
        prop_assert_eq!(found.iter().flatten().count(), arrivals.len());
        prop_assert_eq!(found, slow);
    }

    #[test]
    fn no_packet_and_no_byte_is_lost_to_the_count(
        arrivals in arrivals(),
        kind in 0usize..4,
        loss in 0.0..0.5,
        retransmissions in 0u32..3,
        fades in any::<bool>(),
        queue in 1u32..9,
    ) {
        let scheduler = [
            round_robin(),
            SchedulerConfig::ProportionalFair(ProportionalFair::default()),
            volume(),
            demand(Demand {
                constant: BitRate::from_bits_per_second(100_000),
                rate: BitRate::from_bits_per_second(2_000_000),
                ..Demand::default()
            }),
        ][kind].clone();
        let fades = fades.then(|| Fades {
            share: probability(0.3),
            mean: Duration::from_millis(40),
            bytes: Some(probability(0.5)),
            loss: Some(probability(0.6)),
        });
        let options =
            CarrierOptions { loss: probability(loss), retransmissions, fades, ..carrier(5, scheduler) };
        options.check().unwrap();
        let run = |end: u64| {
            let mut link = built(&options, QueueLimit::Packets(queue));
            let found = deliver(&mut *link, &arrivals, end);
            (found, link.counters())
        };
        let (found, counters) = run(100_000 * MS);
        prop_assert_eq!(counters.offered as usize, arrivals.len());
        prop_assert_eq!(counters.delivered as usize, found.iter().flatten().count());
        prop_assert_eq!(counters.pending(), 0);
        prop_assert_eq!(run(100_000 * MS), (found.clone(), counters));
        // Polls between arrivals change nothing.
        let mut link = built(&options, QueueLimit::Packets(queue));
        let mut again = vec![None; arrivals.len()];
        let mut next = arrivals.iter().zip(0..).peekable();
        for now in (0..4_000_000).map(|step| step * MS / 8) {
            while let Some(event) = link.poll(Instant::from_nanos(now)) {
                if let LinkEvent::Delivered(transit) = event {
                    again[transit.packet.0 as usize] = Some(transit.at.as_nanos());
                }
            }
            while let Some((&(_, terminal, bytes), number)) = next.next_if(|(one, _)| one.0 <= now) {
                let packet = Packet::new(PacketId(number), Bytes(bytes)).of_flow(terminal);
                let _ = link.enqueue(Instant::from_nanos(now), packet);
            }
            if next.peek().is_none() && link.poll_timeout().is_none() {
                break;
            }
        }
        prop_assert_eq!(again, found);
    }
}

/// A packet that comes alone waits for the next frame, for the round trip of its request in whole
/// frames, and for its slot.
#[test]
fn a_request_takes_the_rest_of_a_frame_and_a_round_trip() {
    let rate = BitRate::from_bits_per_second(8_000_000);
    let rates = Demand { rate, volume: false, free: false, spread: 1, ..Demand::default() };
    for scheduler in [volume(), demand(rates)] {
        let mut link = built(&carrier(3, scheduler), QueueLimit::Unlimited);
        let arrivals: Vec<_> =
            (0..50).map(|n| (n * 101 * MS + n * MS / 10, n as u32 % 3, 700)).collect();
        let found = deliver(&mut *link, &arrivals, 10_000 * MS);
        for (&(at, ..), found) in arrivals.iter().zip(found) {
            let frame = at.div_ceil(4 * MS);
            // 14 ms are four frames.
            assert_eq!(found, Some((frame + 4) * 4 * MS + MS + 7 * MS));
        }
    }
    // Free capacity serves it at once if its turn comes before.
    let mut link = built(&carrier(1, demand(Demand::default())), QueueLimit::Unlimited);
    assert_eq!(deliver(&mut *link, &[(4 * MS, 0, 700)], 100 * MS), [Some(12 * MS)]);
}

/// A requested rate counts slots at their full size. In a fade a slot carries a quarter, so that a
/// packet of 700 bytes needs three; the terminal requests the rest in the frame after each of them.
/// So the first slot comes after the round trip of the request, four frames, and each further one
/// five frames later. With fades that last far longer, the mean delay weighs both states by their
/// shares.
#[test]
fn a_fade_costs_a_requested_rate_a_round_trip_for_each_further_slot() {
    let rate = BitRate::from_bits_per_second(8_000_000);
    let rates = Demand { rate, volume: false, free: false, spread: 1, ..Demand::default() };
    let (frame, share) = (4 * MS, 0.3);
    let fades = Fades {
        share: probability(share),
        mean: Duration::from_secs(10),
        bytes: Some(probability(0.25)),
        loss: None,
    };
    let options = CarrierOptions { fades: Some(fades), ..carrier(1, demand(rates)) };
    let mut link = built(&options, QueueLimit::Unlimited);
    let arrivals: Vec<_> = (0..100_000).map(|n| (n * 401 * MS, 0, 700)).collect();
    let found = deliver(&mut *link, &arrivals, 40_200_000 * MS);
    let after = |slots: u64| (4 + 5 * (slots - 1)) * frame + MS + 7 * MS;
    let mut counts = [0.0; 3];
    for (&(at, ..), found) in arrivals.iter().zip(found) {
        let delay = found.unwrap() - at.div_ceil(frame) * frame;
        let slots = (1..=3).find(|&slots| after(slots) == delay);
        counts[slots.expect("whole rounds") as usize - 1] += 1e-5;
    }
    // Four standard errors of the share of the time in 1,200 cycles. Few packets meet the end or the
    // start of a fade between their slots.
    assert!((counts[0] - (1.0 - share)).abs() < 0.035, "{counts:?}");
    assert!((counts[2] - share).abs() < 0.035, "{counts:?}");
    assert!(counts[1] < 0.005, "{counts:?}");
}

/// The rate that a terminal requests follows its traffic; what it sends waits a round trip.
#[test]
fn a_requested_rate_carries_the_traffic_up_to_its_maximum() {
    let arrivals: Vec<_> = (0..1000).map(|n| (n * 2 * MS, 0, 1000)).collect();
    let served = |rate: u64| {
        let rate = BitRate::from_bits_per_second(rate);
        let rates = Demand { rate, volume: false, free: false, ..Demand::default() };
        let mut link = built(&carrier(3, demand(rates)), QueueLimit::Unlimited);
        let found = deliver(&mut *link, &arrivals, 2000 * MS);
        found.iter().flatten().count()
    };
    // 500 packets a second for two seconds, less those of the last frames; 250 a second.
    assert!((965..=992).contains(&served(8_000_000)), "{}", served(8_000_000));
    assert!((485..=500).contains(&served(2_000_000)), "{}", served(2_000_000));
}

/// Slots of 1 kB in frames of 4 ms, with maxima that are no whole number of slots of a frame.
#[test]
fn a_requested_rate_is_at_most_its_maximum_in_the_mean() {
    let arrivals: Vec<_> = (0..20_000).map(|n| (n * MS, 0, 1000)).collect();
    for rate in [10_000, 300_000, 2_100_000, 5_500_000] {
        let most = BitRate::from_bits_per_second(rate);
        let rates = Demand { rate: most, volume: false, free: false, ..Demand::default() };
        let mut link = built(&carrier(3, demand(rates)), QueueLimit::Unlimited);
        let found = deliver(&mut *link, &arrivals, 20_000 * MS);
        let served = found.iter().flatten().count() as f64;
        // In 20 s; the first frame may begin a slot, and the last ones are under way.
        let due = rate as f64 * 20.0 / 8e3;
        assert!(
            (0.99 * due - 3.0..=due + 1.0).contains(&served),
            "{rate} bit/s: {served} of {due}"
        );
    }
}

fn saturated(terminals: u32, seconds: u64) -> Vec<(u64, u32, u32)> {
    // More than the carrier takes; terminals have packets of different sizes.
    let of =
        |n: u64| (0..terminals).map(move |terminal| (n * 2 * MS, terminal, 400 * (terminal + 2)));
    (0..seconds * 500).flat_map(of).collect()
}

fn bytes_of(found: &[Option<u64>], arrivals: &Arrivals, terminals: u32) -> Vec<f64> {
    let mut bytes = vec![0.0; terminals as usize];
    for (found, &(_, terminal, size)) in found.iter().zip(arrivals) {
        bytes[terminal as usize] += if found.is_some() { f64::from(size) } else { 0.0 };
    }
    bytes
}

/// Processor sharing: with packets of any size, terminals get equal shares.
#[test]
fn busy_terminals_have_equal_shares() {
    let arrivals = saturated(4, 10);
    let fair = SchedulerConfig::ProportionalFair(ProportionalFair::default());
    for scheduler in [round_robin(), fair, volume()] {
        let mut link = built(&carrier(4, scheduler), QueueLimit::Unlimited);
        let found = deliver(&mut *link, &arrivals, 10_000 * MS);
        for bytes in bytes_of(&found, &arrivals, 4) {
            assert!((bytes / 2.5e6 - 1.0).abs() < 0.02, "{bytes}");
        }
    }
}

/// In a fade a slot carries a quarter. Round robin serves a terminal in a fade like others;
/// proportional fair waits for better times, so that all get more.
#[test]
fn proportional_fair_serves_terminals_outside_their_fades() {
    let arrivals = saturated(4, 40);
    let served = |scheduler| {
        let fades = Some(Fades {
            share: probability(0.5),
            mean: Duration::from_millis(100),
            bytes: Some(probability(0.25)),
            loss: None,
        });
        let mut link =
            built(&CarrierOptions { fades, ..carrier(4, scheduler) }, QueueLimit::Unlimited);
        let found = deliver(&mut *link, &arrivals, 40_000 * MS);
        bytes_of(&found, &arrivals, 4)
    };
    let turn = served(round_robin());
    let memory = Duration::from_secs(1);
    let fair = served(SchedulerConfig::ProportionalFair(ProportionalFair { memory }));
    let mean = |all: &[f64]| all.iter().sum::<f64>() / 4.0;
    // Of 10 MB each, five eighths on average; 800 states last 0.1 s each.
    assert!((mean(&turn) / 6.25e6 - 1.0).abs() < 0.08, "{turn:?}");
    assert!(mean(&fair) > 1.3 * mean(&turn), "{fair:?}");
    assert!(fair.iter().all(|own| (own / mean(&fair) - 1.0).abs() < 0.15), "{fair:?}");
}

/// A lost slot costs a round trip and is repaired; a packet of one slot is lost if its slot is.
#[test]
fn losses_have_their_rate_and_are_repaired() {
    let arrivals: Vec<_> = (0..20_000).map(|n| (n * 2 * MS, n as u32 % 3, 1000)).collect();
    let run = |retransmissions| {
        let options =
            CarrierOptions { loss: probability(0.1), retransmissions, ..carrier(3, round_robin()) };
        let mut link = built(&options, QueueLimit::Unlimited);
        let found = deliver(&mut *link, &arrivals, 50_000 * MS);
        let lost = found.iter().filter(|found| found.is_none()).count() as f64 / 20_000.0;
        let late = found
            .iter()
            .zip(&arrivals)
            .filter(|(found, one)| found.is_some_and(|at| at - one.0 > 8 * MS));
        (lost, late.count() as f64 / 20_000.0)
    };
    // Four standard errors.
    let near = |share: f64, p: f64| (share - p).abs() < 4.0 * (p / 20_000.0).sqrt();
    let (lost, late) = run(0);
    assert!(near(lost, 0.1) && late == 0.0, "{lost} {late}");
    let (lost, late) = run(1);
    // Half of the slots are free, so that a repair delays few others.
    assert!(near(lost, 0.01) && (0.08..0.1).contains(&late), "{lost} {late}");
}

fn run(text: &str) -> Outcome {
    let scenario = Scenario::parse("x.toml", text, &[], &clift::Registry::new()).unwrap();
    let setup = scenario.cells()[0].setup(0, &Store::new(InMemory::default())).unwrap();
    simulation::run(&setup, &mut ()).unwrap()
}

/// Frames of 20 slots for 100 terminals: what a frame has no slot for is granted in the next ones.
#[test]
fn every_terminal_gets_its_constant_rate_even_if_a_frame_has_fewer_slots_than_terminals() {
    let outcome = run(
        "duration = \"40 s\"\nflows = 100\n[carrier]\nterminals = 100\nrate = \"6 Mbit/s\"\n\
         slot = \"1500 B\"\ndelay = \"250 ms\"\n[carrier.scheduler]\ntype = \"demand\"\nframe = \"40 ms\"\n\
         free = false\nvolume = false\nconstant = \"30 kbit/s\"\n[transport]\nprotocol = \"udp\"\n\
         [application]\ntype = \"constant rate\"\nrate = \"100 kbit/s\"\nmessage = \"1472 B\"\n",
    );
    // A packet of 1472 bytes in each slot of 1500: 100 slots in 40 s, less those before 250 ms.
    for flow in &outcome.flows {
        let bytes = flow.bytes_in_order / 1472;
        assert!((97..=100).contains(&bytes), "{bytes} packets");
    }
}

/// A carrier is a link of a scenario like others: three terminals with a flow each share it, there
/// and back.
#[test]
fn flows_of_terminals_share_a_carrier() {
    let outcome = run(
        "duration = \"60 s\"\nflows = 3\n[carrier]\nterminals = 3\nrate = \"6 Mbit/s\"\ndelay = \"40 ms\"\n\
         [return.carrier]\nterminals = 3\nrate = \"1 Mbit/s\"\nslot = \"100 B\"\ndelay = \"40 ms\"\nscheduler = { type = \"demand\", free = false }\n",
    );
    assert!(outcome.fairness() > 0.99, "{}", outcome.fairness());
    assert!((5.0e6..6.0e6).contains(&outcome.goodput()), "{}", outcome.goodput());
    let HopMetrics::Link(link) = &outcome.forward[0] else { panic!("a link") };
    assert!(link.share_used > 0.95);
    // A request waits a round trip of 80 ms, and an ACK half of it.
    let HopMetrics::Link(back) = &outcome.backward[0] else { panic!("a link") };
    assert!(back.delay.unwrap().max >= Duration::from_millis(120));
}

/// The wait before a transmitter with Poisson arrivals of one size is that of M/D/1: the load divided by
/// twice one minus the load, in times of service (Pollaczek and Khinchine).
#[test]
fn poisson_datagrams_wait_as_in_a_queue_with_one_server() {
    for (gap, load) in [("2 ms", 0.5), ("1250 us", 0.8)] {
        let outcome = run(&format!(
            "duration = \"60 s\"\n[network.links.ab]\nfrom = \"a\"\nto = \"b\"\nduplex = true\nleg.rate = \"8 Mbit/s\"\n\
             [[flow]]\nfrom = \"a\"\nto = \"b\"\narrivals = {{ type = \"poisson\", gap = \"{gap}\" }}\n\
             transport = {{ protocol = \"udp\", packet = \"1000 B\" }}\napplication = {{ type = \"file\", size = \"972 B\" }}\n"
        ));
        let delays = outcome.flows.iter().filter_map(|flow| flow.segment_delay);
        let (count, sum) =
            delays.fold((0.0, 0.0), |(count, sum), one| (count + 1.0, sum + one.mean_ns));
        let wait = sum / count / 1e6 - 1.0;
        let expected = load / (2.0 * (1.0 - load));
        assert!((wait / expected - 1.0).abs() < 0.1, "{load}: {wait} ms, not {expected}");
    }
}

#[test]
fn a_carrier_that_cannot_be_is_refused_with_its_key() {
    let told = |keys: &str| {
        Scenario::parse(
            "x.toml",
            &format!("[carrier]\nrate = \"8 Mbit/s\"\n{keys}"),
            &[],
            &clift::Registry::new(),
        )
        .unwrap_err()
        .to_string()
    };
    for (keys, expected) in [
        ("terminals = 0", "carrier.terminals: 0 terminals; give 1 to 100000"),
        ("slot = \"0 B\"", "carrier.slot: 0 bytes; give 1 to 65535"),
        ("loss = 1", "carrier.loss: all slots are lost; give less than 1"),
        (
            "fades = { share = 0.1, mean = \"0 s\" }",
            "carrier.fades.mean: is zero; give a time above zero",
        ),
        (
            "scheduler = { type = \"demand\", frame = \"1 ms\" }",
            "carrier.scheduler.frame: 1 ms has no whole slot of 1.5 ms; give a longer frame",
        ),
        (
            "scheduler = { type = \"demand\", constant = \"9 Mbit/s\" }",
            "carrier.scheduler.constant: the carrier is slower",
        ),
        (
            "scheduler = { type = \"fair\" }",
            "carrier.scheduler.type: unknown value `fair`, one of round robin, proportional fair, demand",
        ),
    ] {
        assert!(told(keys).contains(expected), "{}", told(keys));
    }
}
