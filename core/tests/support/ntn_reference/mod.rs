//! The 3GPP link a second time, nanosecond by nanosecond and byte by byte, from the wording of
//! TS 38.321, 38.322 and 38.323 alone. Slow and obvious.

mod events;
mod handover;
mod harq;
mod pdcp;
mod rlc_receiver;
mod rlc_sender;
mod uplink;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use clift::link::{Propagation, QueueLimit};
use clift::scheme::ntn::NtnConfig;
use clift::seed::{Seed, Stream};
use clift::units::Instant;
use rand::Rng;

use uplink::{Grant, Report};

#[derive(Debug)]
pub struct Case {
    pub config: NtnConfig,
    pub queue: QueueLimit,
    pub wrap: bool,
    pub arrivals: Vec<(i64, u32)>,
    pub seed: Seed,
    /// The last nanosecond; its slot is not used any more.
    pub end: i64,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct End {
    pub packet: usize,
    pub delivered: bool,
    pub at: i64,
    pub departed: i64,
    pub blocks: u32,
}

#[derive(Debug, Default)]
pub struct Outcome {
    pub ends: Vec<End>,
    pub dropped: Vec<usize>,
    pub counts: BTreeMap<&'static str, u64>,
    pub trace_ended: bool,
}

#[derive(Clone, Debug)]
struct Pdu {
    order: usize,
    sn: Option<u64>,
    bytes: Vec<usize>,
    poll: bool,
}

#[derive(Clone, Debug)]
struct Block {
    pdus: Vec<Pdu>,
    report: Option<Report>,
    /// In a process without feedback.
    silent: bool,
    /// Transmissions that the receiver had a grant for, counted for random errors only.
    heard: usize,
    rounds: u32,
    decoded: Option<i64>,
    /// Waits for its turn to be sent again since the n-th negative feedback.
    again: Option<u64>,
    left: u32,
    granted: bool,
    last_slot: u64,
}

/// What a TB carried, what it reported, and whether it was decoded.
type Landed = (Vec<Pdu>, Option<Report>, bool);

struct Packet {
    id: usize,
    size: u32,
    bytes: usize,
    entered: i64,
    departed: i64,
    sent: usize,
    sn: Option<u64>,
    ended: bool,
    complete: bool,
    closed: bool,
    blocks: u32,
    riding: usize,
}

#[derive(Default)]
struct SentSdu {
    order: usize,
    done: bool,
    pending: BTreeSet<usize>,
    since: Option<u64>,
    retx: Option<u32>,
}

struct Status {
    ack: u64,
    nacks: BTreeMap<u64, Vec<usize>>,
}

struct World<'a> {
    case: &'a Case,
    now: i64,
    packets: Vec<Packet>,
    waiting: VecDeque<usize>,
    /// Sent before a handover, to be sent once more.
    forwarded: VecDeque<usize>,
    processes: Vec<Option<Block>>,
    repeating: Option<usize>,
    negative: u64,
    last_arrival: i64,
    // under way: time, number of entry
    landings: BTreeMap<(i64, u64), Landed>,
    feedback: BTreeMap<(i64, u64), usize>,
    statuses: BTreeMap<(i64, u64), Status>,
    given_up: BTreeMap<(i64, u64), u64>,
    entries: u64,
    // RLC sender
    tx_next: u64,
    sent: BTreeMap<u64, SentSdu>,
    considered: u64,
    pdu_without_poll: u32,
    byte_without_poll: u64,
    poll_next: bool,
    poll_sn: u64,
    poll_timer: Option<i64>,
    // RLC receiver
    got: BTreeMap<u64, BTreeSet<usize>>,
    done: BTreeSet<u64>,
    order_of: BTreeMap<u64, usize>,
    rx_next: u64,
    rx_highest: u64,
    rx_highest_status: u64,
    trigger: u64,
    reassembly: Option<i64>,
    polled: Vec<u64>,
    report: bool,
    prohibited: Option<i64>,
    held: bool,
    // PDCP
    rx_deliv: u64,
    pdcp_next: u64,
    rx_reord: u64,
    pdcp_got: BTreeSet<u64>,
    reordering: Option<i64>,
    losses: rand_chacha::ChaCha8Rng,
    uniforms: Vec<f64>,
    /// Grant, detection and reading of feedback in each slot.
    control_uniforms: Vec<[f64; 3]>,
    // uplink
    grants: Vec<Grant>,
    asks: bool,
    retx_bsr: Option<i64>,
    configured: Option<i64>,
    out: Outcome,
}

pub fn run(case: &Case) -> Outcome {
    let mut channel = case.seed.rng(Stream::Link(0));
    let uniform = |rng: &mut rand_chacha::ChaCha8Rng| (rng.next_u64() >> 11) as f64 / 2f64.powi(53);
    let uniforms = (0..=case.end).map(|_| uniform(&mut channel)).collect();
    let mut control = case.seed.rng(Stream::Control(0));
    let control_uniforms =
        (0..=case.end).map(|_| std::array::from_fn(|_| uniform(&mut control))).collect();
    let mut world = World {
        case,
        now: 0,
        packets: vec![],
        waiting: VecDeque::new(),
        forwarded: VecDeque::new(),
        processes: vec![],
        repeating: None,
        negative: 0,
        last_arrival: 0,
        landings: BTreeMap::new(),
        feedback: BTreeMap::new(),
        statuses: BTreeMap::new(),
        given_up: BTreeMap::new(),
        entries: 0,
        tx_next: 0,
        sent: BTreeMap::new(),
        considered: 0,
        pdu_without_poll: 0,
        byte_without_poll: 0,
        poll_next: false,
        poll_sn: 0,
        poll_timer: None,
        got: BTreeMap::new(),
        done: BTreeSet::new(),
        order_of: BTreeMap::new(),
        rx_next: 0,
        rx_highest: 0,
        rx_highest_status: 0,
        trigger: 0,
        reassembly: None,
        polled: vec![],
        report: false,
        prohibited: None,
        held: false,
        rx_deliv: 0,
        pdcp_next: 0,
        rx_reord: 0,
        pdcp_got: BTreeSet::new(),
        reordering: None,
        losses: case.seed.rng(Stream::Feedback(0)),
        uniforms,
        control_uniforms,
        grants: vec![],
        asks: false,
        retx_bsr: None,
        configured: None,
        out: Outcome::default(),
    };
    for now in 0..=case.end {
        world.now = now;
        world.tick();
    }
    world.out
}

fn delay(propagation: &Propagation, at: i64) -> i64 {
    propagation.at(Instant::from_nanos(at as u64)).as_nanos() as i64
}
