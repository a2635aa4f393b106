//! The decoder beside a real one, which carries payloads and eliminates in a dense matrix.

use proptest::prelude::*;
use rand::Rng;

use super::encoder::{Coefficients, Encoder, Repair};
use super::system::System;
use super::*;

/// Product in GF(256) by shifts, bit by bit.
fn product(mut a: u8, b: u8) -> u8 {
    let mut sum = 0;
    for bit in 0..8 {
        if b >> bit & 1 == 1 {
            sum ^= a;
        }
        let carry = a >> 7 == 1;
        a <<= 1;
        if carry {
            a ^= 0x1D;
        }
    }
    sum
}

/// A decoder of payloads of one byte: source packets and repair packets as rows of a matrix.
#[derive(Default)]
struct RealDecoder {
    rows: Vec<(Vec<u8>, u8)>,
}

impl RealDecoder {
    fn add(&mut self, row: Vec<u8>, payload: u8) {
        self.rows.push((row, payload));
    }

    /// Gauss-Jordan elimination over `count` packets. Returns the rank, and each packet that is
    /// determined with its payload.
    fn solve(&self, count: usize) -> (usize, Vec<(u64, u8)>) {
        let mut rows = self.rows.clone();
        let mut rank = 0;
        for column in 0..count {
            let Some(found) = (rank..rows.len()).find(|&row| rows[row].0[column] != 0) else {
                continue;
            };
            rows.swap(rank, found);
            let leading = rows[rank].0[column];
            let scale = (1..=255).find(|&by| product(leading, by) == 1).unwrap();
            let scaled = |value: &u8| product(*value, scale);
            rows[rank] = (rows[rank].0.iter().map(scaled).collect(), scaled(&rows[rank].1));
            for row in (0..rows.len()).filter(|&row| row != rank) {
                let by = rows[row].0[column];
                for place in 0..count {
                    let term = product(rows[rank].0[place], by);
                    rows[row].0[place] ^= term;
                }
                let term = product(rows[rank].1, by);
                rows[row].1 ^= term;
            }
            rank += 1;
        }
        let weight = |row: &[u8]| row.iter().filter(|&&value| value != 0).count();
        let solved =
            rows[..rank].iter().filter(|(row, _)| weight(row) == 1).map(|(row, payload)| {
                (row.iter().position(|&value| value != 0).unwrap() as u64, *payload)
            });
        (rank, solved.collect())
    }
}

/// What a receiver gets: a source packet, or a repair packet over `first..=last`.
#[derive(Clone, Debug)]
enum Received {
    Source(u64),
    Repair(u64, u64, Vec<u8>),
}

const PACKETS: u64 = 9;

fn received() -> impl Strategy<Value = Received> {
    // Few values, so that many equations depend on one another.
    let coefficient = prop_oneof![Just(0u8), Just(1), Just(2), any::<u8>()];
    let repair = (0..PACKETS, 0..PACKETS, prop::collection::vec(coefficient, PACKETS as usize));
    prop_oneof![
        (0..PACKETS).prop_map(Received::Source),
        repair.prop_map(|(a, b, row)| Received::Repair(a.min(b), a.max(b), row)),
    ]
}

proptest! {
    /// After each arrival the same packets are known, and a real decoder has their true payload.
    #[test]
    fn packets_are_known_when_a_real_decoder_knows_them(
        arrivals in prop::collection::vec(received(), 1..16),
        payloads in prop::collection::vec(any::<u8>(), PACKETS as usize),
    ) {
        let (mut system, mut real) = (System::default(), RealDecoder::default());
        let mut known = [false; PACKETS as usize];
        let mut solved = Vec::new();
        for arrival in arrivals {
            match arrival {
                Received::Source(packet) => {
                    let mut row = vec![0; PACKETS as usize];
                    row[packet as usize] = 1;
                    real.add(row, payloads[packet as usize]);
                    if !std::mem::replace(&mut known[packet as usize], true) {
                        system.know(packet, &mut solved);
                    }
                }
                Received::Repair(first, last, mut row) => {
                    let covered = |packet: u64| (first..=last).contains(&packet);
                    (0..PACKETS).filter(|&p| !covered(p)).for_each(|p| row[p as usize] = 0);
                    let terms = row.iter().zip(&payloads).map(|(&by, &value)| product(by, value));
                    real.add(row.clone(), terms.fold(0, |sum, term| sum ^ term));
                    let missing = (0..PACKETS).filter(|&p| !known[p as usize]);
                    let missing = missing.map(|p| (p, row[p as usize])).collect::<Vec<_>>();
                    system.add(missing, &mut solved);
                }
            }
            for packet in solved.drain(..) {
                prop_assert!(!std::mem::replace(&mut known[packet as usize], true));
            }
            let (rank, decoded) = real.solve(PACKETS as usize);
            let mine: Vec<_> = (0..PACKETS).filter(|&p| known[p as usize]).collect();
            prop_assert_eq!(&mine, &decoded.iter().map(|one| one.0).collect::<Vec<_>>());
            prop_assert!(decoded.iter().all(|&(p, payload)| payloads[p as usize] == payload));
            prop_assert_eq!(system.rank_from(0) as usize + mine.len(), rank);
        }
    }

    /// Without a packet that stays unknown, the rank is that of the combinations that do not hold it.
    #[test]
    fn forgetting_keeps_the_equations_without_the_packet(
        rows in prop::collection::vec(
            prop::collection::vec(prop_oneof![Just(0u8), Just(1), any::<u8>()], PACKETS as usize),
            1..8,
        ),
        forgotten in 0..PACKETS,
    ) {
        let (mut system, mut real, mut solved) =
            (System::default(), RealDecoder::default(), Vec::new());
        for row in &rows {
            real.add(row.clone(), 0);
            system.add((0..PACKETS).map(|p| (p, row[p as usize])), &mut solved);
        }
        // A row that states the forgotten packet alone makes it known, so that the others lose it.
        let (rank, _) = real.solve(PACKETS as usize);
        let column: usize = rows.iter().any(|row| row[forgotten as usize] != 0).into();
        prop_assume!(!solved.contains(&forgotten));
        let before = solved.len();
        system.forget(forgotten);
        prop_assert_eq!(system.rank_from(0) as usize + before, rank - column);
    }
}

/// P(n rows and `more` have rank n) = (1 - q^-(more + 1)) ... (1 - q^-(more + n)) for uniform
/// coefficients. Of packets that a repair packet does not cover, nothing is asked.
#[test]
fn random_repair_packets_decode_with_the_probability_of_random_matrices() {
    random_repair_packets_decode_in(8_000, 25_000);
}

#[test]
#[ignore = "long"]
fn many_random_repair_packets_decode_with_that_probability() {
    random_repair_packets_decode_in(60_000, 400_000);
}

/// Blocks with as many repair packets as lost ones are tried `just_enough` times, those
/// with one more `with_another` times.
fn random_repair_packets_decode_in(just_enough: u32, with_another: u32) {
    let random = |seed| KeyedRandom::of(Seed(seed).rng(Stream::Coding(0)));
    for (missing, more) in [(1u64, 0u64), (3, 0), (8, 0), (2, 1)] {
        let tries = if more == 0 { just_enough } else { with_another };
        let mut encoder = Encoder::new(&Coding { window: 20, ..Coding::default() });
        for _ in 0..20 {
            encoder.take(Instant::ZERO, Bytes(1));
        }
        let coefficients = Coefficients::Random(random(missing));
        let mut failures = 0u32;
        for _ in 0..tries {
            let (mut system, mut solved) = (System::default(), Vec::new());
            for _ in 0..missing + more {
                let (repair, _) = encoder.repair(0, 0).unwrap();
                let unknown = (0..missing).map(|p| 2 * p).filter(|packet| !solved.contains(packet));
                let terms: Vec<_> = unknown.map(|p| (p, coefficients.of(&repair, p))).collect();
                system.add(terms, &mut solved);
            }
            failures += u32::from((solved.len() as u64) < missing);
        }
        let full: f64 = (1..=missing).map(|i| 1.0 - 256f64.powi(-((more + i) as i32))).product();
        let (expected, found) = (1.0 - full, f64::from(failures) / f64::from(tries));
        let error = (expected * full / f64::from(tries)).sqrt();
        assert!((found - expected).abs() <= 4.0 * error, "{missing}+{more}: {found} {expected}");
    }
}

/// Any `k` packets of a block decode it.
#[test]
fn the_block_code_is_ideal() {
    let mut rng = Seed(3).rng(Stream::Channel(0));
    for (k, repairs) in [(1u64, 255u64), (4, 3), (30, 20), (128, 128), (255, 1)] {
        let coding = Coding { code: Code::Block, window: k as u32, ..Coding::default() };
        let mut encoder = Encoder::new(&coding);
        for _ in 0..k {
            encoder.take(Instant::ZERO, Bytes(1));
        }
        let made: Vec<Repair> = (0..repairs).map(|j| encoder.repair(j, j).unwrap().0).collect();
        for _ in 0..20 {
            let mut all: Vec<u64> = (0..k + repairs).collect();
            (1..all.len())
                .rev()
                .for_each(|i| all.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize));
            let arrived = &all[..k as usize];
            let missing: Vec<u64> = (0..k).filter(|packet| !arrived.contains(packet)).collect();
            let (mut system, mut solved) = (System::default(), Vec::new());
            for repair in arrived.iter().filter_map(|&one| made.get(one.checked_sub(k)? as usize)) {
                let terms = missing.iter().map(|&p| (p, Coefficients::Cauchy.of(repair, p)));
                assert!(system.add(terms.collect::<Vec<_>>(), &mut solved));
            }
            solved.sort_unstable();
            assert_eq!(solved, missing);
        }
    }
}

/// A code rate of 0.8 is one repair packet after each fourth packet; 10 of 12 two after each tenth.
#[test]
fn repair_packets_follow_at_the_code_rate() {
    let pattern = |code, window, rate: f64, packets| {
        let rate = crate::units::Probability::new(rate).unwrap();
        let mut encoder = Encoder::new(&Coding { code, window, rate, ..Coding::default() });
        let mut counts = Vec::new();
        for _ in 0..packets {
            encoder.take(Instant::ZERO, Bytes(1));
            let due = encoder.due();
            (0..due).for_each(|index| assert!(encoder.repair(index, 0).is_some()));
            if due > 0 {
                encoder.close();
            }
            counts.push(due);
        }
        counts
    };
    assert_eq!(pattern(Code::Rlc, 8, 0.8, 9), [0, 0, 0, 1, 0, 0, 0, 1, 0]);
    assert_eq!(pattern(Code::Rlc, 8, 10.0 / 12.0, 10), [0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
    assert_eq!(pattern(Code::Rlc, 8, 1.0 / 3.0, 3), [2, 2, 2]);
    assert_eq!(pattern(Code::Block, 5, 5.0 / 7.0, 11), [0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0]);
    assert_eq!(pattern(Code::Rlc, 8, 1.0, 3), [0, 0, 0]);
}
