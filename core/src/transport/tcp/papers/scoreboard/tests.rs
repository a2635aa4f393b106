use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::units::Instant;

const MSS: u32 = 1000;

fn flight(segments: u64) -> Flight {
    let mut flight = Flight::new(MSS);
    (0..segments).for_each(|_| flight.push(Instant::ZERO, MSS));
    flight
}

fn blocks(of: &[(u64, u64)]) -> Blocks {
    let mut blocks = Blocks::default();
    of.iter().for_each(|&(start, end)| blocks.insert(start, end));
    blocks
}

fn states(flight: &Flight) -> String {
    (flight.first()..flight.next())
        .map(|segment| match flight.state(segment) {
            State::InFlight => '.',
            State::Sacked => 's',
            State::Lost => 'L',
            State::Retransmitted => 'R',
        })
        .collect()
}

/// Segment 0 is late: three that overtake it are tolerated, the fourth is not.
#[test]
fn lost_when_four_overtook() {
    let (mut flight, mut board) = (flight(10), FackScoreboard::new());
    for overtaking in 1..=3 {
        let findings = board.update(&mut flight, &blocks(&[(1, 1 + overtaking)]));
        assert_eq!(findings, Findings { newly_sacked: true, ..Findings::default() });
    }
    assert_eq!(board.next_retransmission(&flight), None);
    let findings = board.update(&mut flight, &blocks(&[(1, 5)]));
    assert!(findings.newly_lost);
    assert_eq!(states(&flight), "Lssss.....");
    assert_eq!(board.next_retransmission(&flight), Some(0));
    assert_eq!(flight.outstanding(), 5);
}

/// What counts is distance, not the number of SACKs: one SACK of segment 9 condemns 0 to 5.
#[test]
fn distance_counts_not_the_number_of_sacks() {
    let (mut flight, mut board) = (flight(12), FackScoreboard::new());
    board.update(&mut flight, &blocks(&[(9, 10)]));
    assert_eq!(states(&flight), "LLLLLL...s..");
}

/// Segment 0 is sent again when 10 comes next: it is lost again once 10 is SACKed, for that was
/// first sent after it.
#[test]
fn retransmission_lost_again_by_newer_data() {
    let (mut flight, mut board) = (flight(10), FackScoreboard::new());
    board.update(&mut flight, &blocks(&[(1, 10)]));
    board.on_retransmitted(&mut flight, 0);
    flight.push(Instant::ZERO, MSS);
    assert!(!board.update(&mut flight, &blocks(&[(1, 10)])).newly_lost);
    let findings = board.update(&mut flight, &blocks(&[(1, 11)]));
    assert!(findings.newly_lost);
    assert_eq!(board.next_retransmission(&flight), Some(0));
}

/// Six retransmissions: when the sixth is SACKed, the first (more than four earlier) is lost
/// again, the second is not.
#[test]
fn retransmission_lost_again_by_later_retransmissions() {
    let (mut flight, mut board) = (flight(20), FackScoreboard::new());
    board.update(&mut flight, &blocks(&[(6, 20)]));
    for segment in 0..6 {
        assert_eq!(board.next_retransmission(&flight), Some(segment));
        board.on_retransmitted(&mut flight, segment);
    }
    assert_eq!(board.next_retransmission(&flight), None);
    board.update(&mut flight, &blocks(&[(5, 20)]));
    // A walk upwards passes segment 0 before it learns of segment 5: the next ACK tells.
    assert_eq!(states(&flight)[..6], *"RRRRRs");
    board.update(&mut flight, &blocks(&[(5, 20)]));
    assert_eq!(states(&flight)[..6], *"LRRRRs");
}

#[test]
fn timeout_condemns_everything_not_sacked() {
    let (mut flight, mut board) = (flight(8), FackScoreboard::new());
    board.update(&mut flight, &blocks(&[(2, 4)]));
    board.on_timeout(&mut flight);
    assert_eq!(states(&flight), "LLssLLLL");
    assert_eq!(flight.outstanding(), 0);
    assert_eq!(board.next_retransmission(&flight), Some(0));
    board.clear(&mut flight);
    assert_eq!(states(&flight), "........");
    assert_eq!(board.next_retransmission(&flight), None);
}

/// The same rules by a walk over every packet on every ACK.
#[derive(Default)]
struct Walk {
    cells: BTreeMap<u64, Cell>,
    forward: u64,
    next_id: i64,
    acknowledged: i64,
    cursor: Option<u64>,
}

#[derive(Clone, Copy)]
struct Cell {
    state: State,
    id: i64,
    next: u64,
}

impl Walk {
    fn new() -> Self {
        Self { acknowledged: -1, ..Self::default() }
    }

    fn extend(&mut self, first: u64, end: u64) {
        for segment in first..end {
            let fresh = Cell { state: State::InFlight, id: 0, next: 0 };
            self.cells.entry(segment).or_insert(fresh);
        }
    }

    fn update(&mut self, first: u64, blocks: &[(u64, u64)]) -> Findings {
        let mut findings = Findings::default();
        let mut thorough = false;
        while let Some((&segment, &cell)) = self.cells.first_key_value() {
            if segment >= first {
                break;
            }
            if cell.state == State::Retransmitted && cell.id > self.acknowledged {
                self.acknowledged = cell.id;
                thorough = true;
            }
            self.cells.pop_first();
        }
        if self.cells.is_empty() {
            *self = Self::new();
            thorough = false;
        }
        self.cursor = self.cursor.map(|at| at.max(first));
        if !thorough && blocks.is_empty() {
            return findings;
        }
        let highest = blocks.iter().map(|block| block.1).max().unwrap_or(0);
        if highest > self.forward {
            self.forward = highest;
            thorough = true;
        }
        self.extend(first, self.forward);
        self.cursor = None;
        let mut block = 0;
        for (&segment, cell) in &mut self.cells {
            if block == blocks.len() && !thorough {
                break;
            }
            if cell.state == State::Sacked {
                continue;
            }
            while block < blocks.len() && blocks[block].1 <= segment {
                block += 1;
            }
            if block < blocks.len() && blocks[block].0 <= segment {
                if cell.state == State::Retransmitted {
                    self.acknowledged = cell.id;
                    findings.retransmission_sacked = true;
                    thorough = true;
                }
                cell.state = State::Sacked;
                findings.newly_sacked = true;
                continue;
            }
            let lost = match cell.state {
                State::Retransmitted => cell.next < self.forward || cell.id + 4 < self.acknowledged,
                _ => segment + 5 <= self.forward,
            };
            if lost && cell.state != State::Lost {
                cell.state = State::Lost;
                findings.newly_lost = true;
            }
            if cell.state == State::Lost && self.cursor.is_none() {
                self.cursor = Some(segment);
            }
        }
        findings
    }

    fn next_retransmission(&mut self) -> Option<u64> {
        let from = self.cursor?;
        let mut lost = self.cells.range(from..).filter(|(_, cell)| cell.state == State::Lost);
        self.cursor = lost.next().map(|(&segment, _)| segment);
        self.cursor
    }

    fn on_retransmitted(&mut self, segment: u64, next: u64) {
        let cell = Cell { state: State::Retransmitted, id: self.next_id, next };
        self.cells.insert(segment, cell);
        self.next_id += 1;
    }

    fn on_timeout(&mut self, first: u64, next: u64) {
        self.extend(first, next);
        for cell in self.cells.values_mut().filter(|cell| cell.state != State::Sacked) {
            cell.state = State::Lost;
        }
        self.next_id = 0;
        self.acknowledged = -1;
        self.cursor =
            self.cells.iter().find(|(_, cell)| cell.state == State::Lost).map(|(&s, _)| s);
    }

    fn state(&self, segment: u64) -> State {
        self.cells.get(&segment).map_or(State::InFlight, |cell| cell.state)
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Send(u64),
    /// Acknowledge this number of segments; SACK blocks by offset and length above.
    Ack(u64, Vec<(u64, u64)>),
    Retransmit(usize),
    Timeout,
    Clear,
}

fn operation() -> impl Strategy<Value = Operation> {
    let blocks = proptest::collection::vec((1u64..60, 1u64..9), 0..4);
    prop_oneof![
        3 => (1u64..12).prop_map(Operation::Send),
        8 => (prop_oneof![4 => Just(0u64), 1 => 1u64..6, 1 => 1u64..60], blocks)
            .prop_map(|(ack, blocks)| Operation::Ack(ack, blocks)),
        6 => (1usize..6).prop_map(Operation::Retransmit),
        1 => Just(Operation::Timeout),
        1 => Just(Operation::Clear),
    ]
}

/// Ascending blocks that do not overlap, within `first + 1..next`.
fn place(offsets: &[(u64, u64)], first: u64, next: u64) -> Vec<(u64, u64)> {
    let mut placed: Vec<(u64, u64)> = Vec::new();
    let mut offsets = offsets.to_vec();
    offsets.sort_unstable();
    for (offset, len) in offsets {
        let start = (first + offset).max(placed.last().map_or(0, |block| block.1 + 1));
        let end = (start + len).min(next);
        if start < end {
            placed.push((start, end));
        }
    }
    placed
}

proptest! {
    #[test]
    fn agrees_with_a_walk_over_the_window(
        operations in proptest::collection::vec(operation(), 1..120),
    ) {
        let (mut flight, mut board, mut walk) = (flight(20), FackScoreboard::new(), Walk::new());
        for operation in operations {
            match operation {
                Operation::Send(segments) => (0..segments).for_each(|_| flight.push(Instant::ZERO, MSS)),
                Operation::Ack(segments, offsets) => {
                    let ack = flight.una() + segments * u64::from(MSS);
                    let ack = ack.min(flight.nxt());
                    while let Some(segment) = flight.pop_acknowledged(ack) {
                        board.on_acknowledged(&segment);
                    }
                    let placed = place(&offsets, flight.first(), flight.next());
                    if placed.is_empty() && board.is_empty() {
                        continue;
                    }
                    let findings = board.update(&mut flight, &blocks(&placed));
                    prop_assert_eq!(findings, walk.update(flight.first(), &placed));
                }
                Operation::Retransmit(segments) => {
                    for _ in 0..segments {
                        let segment = board.next_retransmission(&flight);
                        prop_assert_eq!(segment, walk.next_retransmission());
                        let Some(segment) = segment else { break };
                        board.on_retransmitted(&mut flight, segment);
                        walk.on_retransmitted(segment, flight.next());
                    }
                }
                Operation::Timeout => {
                    board.on_timeout(&mut flight);
                    walk.on_timeout(flight.first(), flight.next());
                }
                Operation::Clear => {
                    board.clear(&mut flight);
                    walk = Walk::new();
                }
            }
            let mut outstanding = 0;
            for segment in flight.first()..flight.next() {
                prop_assert_eq!(flight.state(segment), walk.state(segment), "segment {}", segment);
                outstanding += u64::from(matches!(
                    flight.state(segment), State::InFlight | State::Retransmitted));
            }
            prop_assert_eq!(flight.outstanding(), outstanding);
        }
    }
}
