//! A deliberately simple simulator to test transports with: one flow over one link.
//!
//! It shares nothing with the library's engine. The link has a rate, a delay and a drop-tail
//! queue in both directions and loses packets, behind the link, by their position in the flow.
//! Time is in seconds inside, as `f64` and computed in the order in which ns-2 does, so that even
//! the rounding is the same where an event falls on a millisecond or on another event.
#![allow(dead_code)] // each test binary uses its part

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use clift::transport::tcp::{ReceiverCounters, SenderCounters, TcpConfig, TcpReceiver, TcpSender};
use clift::transport::{Endpoint, Segment};
use clift::units::{Duration, Instant};

/// How far an instant may be off by being a real number.
const ROUNDING: Duration = Duration::from_nanos(1);

/// One link, the same both ways.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    pub(crate) bits_per_second: u64,
    pub(crate) rtt_ms: u64,
    /// Packets that may wait, without the one being sent.
    pub(crate) waiting: usize,
}

/// What becomes of the n-th data packet that leaves the link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fate {
    Delivered,
    Lost,
    /// Delivered this much later, so that others overtake it.
    Late {
        micros: u64,
    },
    /// Delivered twice, the second time this much later.
    Twice {
        micros: u64,
    },
}

/// What happened in a run.
#[derive(Debug)]
pub(crate) struct Run {
    /// When which byte was sent: time in nanoseconds, first byte; `u64::MAX` for a SYN.
    pub(crate) sent: Vec<(u64, u64)>,
    /// When the last segment that was new arrived, in nanoseconds.
    pub(crate) last_arrival: u64,
    pub(crate) queue_drops: u64,
    pub(crate) sender: SenderCounters,
    pub(crate) receiver: ReceiverCounters,
    pub(crate) acknowledged: u64,
    pub(crate) complete: bool,
}

impl Run {
    /// Payload acknowledged per second, in kbit/s.
    pub(crate) fn goodput_kbps(&self, seconds: u64) -> f64 {
        self.acknowledged as f64 * 8.0 / 1e3 / seconds as f64
    }
}

/// What a flow has to send.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Supply {
    Unlimited,
    Bytes(u64),
}

/// Runs one flow for `seconds`; `fate` is asked for every data packet that leaves the link, in
/// order, and for ACKs by `ack_fate`.
pub(crate) fn run_with_acks(
    config: &TcpConfig,
    path: Path,
    supply: Supply,
    seconds: u64,
    fate: impl FnMut(u64) -> Fate,
    ack_fate: impl FnMut(u64) -> Fate,
) -> Run {
    Engine::new(config, path, supply, fate, ack_fate).run(seconds)
}

/// Runs one flow for `seconds` with every ACK delivered.
pub(crate) fn run(
    config: &TcpConfig,
    path: Path,
    supply: Supply,
    seconds: u64,
    fate: impl FnMut(u64) -> Fate,
) -> Run {
    run_with_acks(config, path, supply, seconds, fate, |_| Fate::Delivered)
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Event {
    Arrive {
        end: usize,
        packet: usize,
    },
    /// The packet would arrive, but is held back.
    Delay {
        end: usize,
        packet: usize,
        micros: u64,
    },
    LinkFree {
        end: usize,
    },
    Timeout {
        end: usize,
    },
}

/// The queue and transmitter that one end sends into.
#[derive(Default)]
struct Transmitter {
    queue: VecDeque<usize>,
    busy: bool,
    left: u64,
    drops: u64,
}

struct Engine<F, A> {
    path: Path,
    sender: TcpSender,
    receiver: TcpReceiver,
    transmitters: [Transmitter; 2],
    /// Packets under way, and free places among them.
    packets: Vec<Segment>,
    free: Vec<usize>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    scheduled: u64,
    armed: [Option<Instant>; 2],
    now: f64,
    /// Nanoseconds by which the agents' clocks are ahead: those of ns-2's own agents begin to tick
    /// at a random time (`bench/ns2/tcp.tcl`).
    ahead: f64,
    fate: F,
    ack_fate: A,
    sent: Vec<(u64, u64)>,
    last_arrival: u64,
}

impl<F: FnMut(u64) -> Fate, A: FnMut(u64) -> Fate> Engine<F, A> {
    fn new(config: &TcpConfig, path: Path, supply: Supply, fate: F, ack_fate: A) -> Self {
        let mut sender = TcpSender::new(config);
        match supply {
            Supply::Unlimited => sender.supply_unlimited(),
            Supply::Bytes(bytes) => {
                sender.supply(bytes);
                sender.close();
            }
        }
        Self {
            path,
            sender,
            receiver: TcpReceiver::new(config),
            transmitters: Default::default(),
            packets: Vec::new(),
            free: Vec::new(),
            events: BinaryHeap::new(),
            scheduled: 0,
            armed: [None; 2],
            now: 0.0,
            ahead: if config.sack { 0.0 } else { 0.34 },
            fate,
            ack_fate,
            sent: Vec::new(),
            last_arrival: 0,
        }
    }

    fn run(mut self, seconds: u64) -> Run {
        let end = seconds as f64;
        self.transmit(0);
        while let Some(Reverse((at, _, event))) = self.events.pop() {
            let at = f64::from_bits(at);
            if at >= end {
                break;
            }
            self.now = at;
            match event {
                Event::Arrive { end, packet } => self.arrive(end, packet),
                Event::Delay { end, packet, micros } => {
                    let at = at + micros as f64 / 1e6;
                    self.schedule(at, Event::Arrive { end, packet });
                }
                Event::LinkFree { end } => self.link_free(end),
                Event::Timeout { end } => self.timeout(end),
            }
        }
        Run {
            sent: self.sent,
            last_arrival: self.last_arrival,
            queue_drops: self.transmitters[0].drops,
            sender: *self.sender.counters(),
            receiver: *self.receiver.counters(),
            acknowledged: self.sender.acknowledged(),
            complete: self.sender.is_complete(),
        }
    }

    fn instant(&self) -> Instant {
        Instant::from_nanos((self.now * 1e9 + self.ahead) as u64)
    }

    fn endpoint(&mut self, end: usize) -> &mut dyn Endpoint {
        if end == 0 { &mut self.sender } else { &mut self.receiver }
    }

    fn schedule(&mut self, at: f64, event: Event) {
        self.scheduled += 1;
        // The bits of positive numbers are in the order of the numbers.
        self.events.push(Reverse((at.to_bits(), self.scheduled, event)));
    }

    /// `end` may send: all it wants goes into its queue.
    fn transmit(&mut self, end: usize) {
        let now = self.instant();
        while let Some(segment) = self.endpoint(end).poll_transmit(now) {
            if end == 0 {
                let seq = if segment.syn { u64::MAX } else { segment.seq };
                self.sent.push((now.as_nanos(), seq));
            }
            let packet = self.free.pop().unwrap_or(self.packets.len());
            if packet == self.packets.len() {
                self.packets.push(segment);
            } else {
                self.packets[packet] = segment;
            }
            self.enqueue(end, packet);
        }
        let deadline = self.endpoint(end).poll_timeout();
        if deadline != self.armed[end] {
            self.armed[end] = deadline;
            if let Some(at) = deadline {
                // As ns-2: from now on, without the rounding of the instant.
                let at = self.now + at.saturating_since(now).as_secs_f64();
                self.schedule(at, Event::Timeout { end });
            }
        }
    }

    fn timeout(&mut self, end: usize) {
        // The event may be one nanosecond early by rounding, or for a deadline that has moved.
        let now = self.instant();
        let due = self.armed[end].filter(|&deadline| deadline.saturating_since(now) <= ROUNDING);
        if let Some(deadline) = due {
            self.armed[end] = None;
            self.endpoint(end).handle_timeout(deadline.max(now));
            self.transmit(end);
        }
    }

    fn enqueue(&mut self, end: usize, packet: usize) {
        let waiting = if end == 0 { self.path.waiting } else { usize::MAX };
        let transmitter = &mut self.transmitters[end];
        if !transmitter.busy {
            self.start(end, packet);
        } else if transmitter.queue.len() < waiting {
            transmitter.queue.push_back(packet);
        } else {
            transmitter.drops += 1;
            self.free.push(packet);
        }
    }

    /// The packet's serialisation begins.
    fn start(&mut self, end: usize, packet: usize) {
        self.transmitters[end].busy = true;
        let bits = f64::from(self.packets[packet].wire) * 8.0;
        let sending = bits / self.path.bits_per_second as f64;
        let position = self.transmitters[end].left;
        self.transmitters[end].left += 1;
        let arrival = self.now + (sending + self.path.rtt_ms as f64 / 2000.0);
        let fate = if end == 0 { (self.fate)(position) } else { (self.ack_fate)(position) };
        let there = 1 - end;
        match fate {
            Fate::Delivered => self.schedule(arrival, Event::Arrive { end: there, packet }),
            Fate::Lost => self.free.push(packet),
            Fate::Late { micros } => {
                self.schedule(arrival, Event::Delay { end: there, packet, micros });
            }
            Fate::Twice { micros } => {
                let copy = self.packets.len();
                self.packets.push(self.packets[packet]);
                self.schedule(arrival, Event::Arrive { end: there, packet });
                let later = arrival + micros as f64 / 1e6;
                self.schedule(later, Event::Arrive { end: there, packet: copy });
            }
        }
        self.schedule(self.now + sending, Event::LinkFree { end });
    }

    fn link_free(&mut self, end: usize) {
        match self.transmitters[end].queue.pop_front() {
            Some(packet) => self.start(end, packet),
            None => self.transmitters[end].busy = false,
        }
    }

    fn arrive(&mut self, end: usize, packet: usize) {
        let now = self.instant();
        let segment = self.packets[packet];
        self.free.push(packet);
        let distinct = self.receiver.counters().distinct_bytes;
        self.endpoint(end).handle_segment(now, &segment);
        if self.receiver.counters().distinct_bytes != distinct {
            self.last_arrival = now.as_nanos();
        }
        self.transmit(end);
    }
}

/// The drops of `bench/ns2/compare.py`: packet `position` is lost in run `seed` with probability
/// `p`, by the SplitMix64 hash of both.
pub(crate) fn lost(seed: u64, position: u64, p: f64) -> bool {
    let mut z = (seed << 40 ^ position).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64 <= p && p > 0.0
}
