//! The events of the simulator.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use clift::transport::tcp::{TcpConfig, TcpReceiver, TcpSender};
use clift::transport::{Half, Segment};
use clift::units::{Duration, Instant};

use super::time::Time;
use super::{Fate, Path, Run, Supply};

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

pub(crate) struct Engine<'a, T> {
    path: Path,
    sender: TcpSender,
    receiver: TcpReceiver,
    transmitters: [Transmitter; 2],
    /// Packets under way, and free places among them.
    packets: Vec<Segment>,
    free: Vec<usize>,
    /// By time, whether it may wait for others of that time, and order.
    events: BinaryHeap<Reverse<(u64, bool, u64, Event)>>,
    scheduled: u64,
    armed: [Option<Instant>; 2],
    now: T,
    /// Nanoseconds by which the agents' clocks are ahead.
    ahead: f64,
    fate: &'a mut dyn FnMut(u64) -> Fate,
    ack_fate: &'a mut dyn FnMut(u64) -> Fate,
    sent: Vec<(u64, u64)>,
    last_arrival: u64,
}

impl<'a, T: Time> Engine<'a, T> {
    pub(crate) fn new(
        config: &TcpConfig,
        path: Path,
        supply: Supply,
        fate: &'a mut dyn FnMut(u64) -> Fate,
        ack_fate: &'a mut dyn FnMut(u64) -> Fate,
    ) -> Self {
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
            now: T::span(Duration::ZERO),
            ahead: if config.sack { 0.0 } else { 0.34 },
            fate,
            ack_fate,
            sent: Vec::new(),
            last_arrival: 0,
        }
    }

    pub(crate) fn run(mut self, seconds: u64) -> Run {
        let end = T::span(Duration::from_millis(1000 * seconds)).to_bits();
        self.transmit(0);
        while let Some(Reverse((at, _, _, event))) = self.events.pop() {
            if at >= end {
                break;
            }
            self.now = T::from_bits(at);
            match event {
                Event::Arrive { end, packet } => self.arrive(end, packet),
                Event::Delay { end, packet, micros } => {
                    self.schedule(self.now + held(micros), Event::Arrive { end, packet });
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
        self.now.instant(self.ahead)
    }

    fn endpoint(&mut self, end: usize) -> &mut dyn Half {
        if end == 0 { &mut self.sender } else { &mut self.receiver }
    }

    fn schedule(&mut self, at: T, event: Event) {
        self.scheduled += 1;
        let waits = !(T::FREE_FIRST && matches!(event, Event::LinkFree { .. }));
        self.events.push(Reverse((at.to_bits(), waits, self.scheduled, event)));
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
                let at = self.now + T::span(at.saturating_since(now));
                self.schedule(at, Event::Timeout { end });
            }
        }
    }

    fn timeout(&mut self, end: usize) {
        // The event may be early by rounding, or for a deadline that has moved.
        let now = self.instant();
        let due = self.armed[end].filter(|&deadline| deadline.saturating_since(now) <= T::ROUNDING);
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
        let bits = u64::from(self.packets[packet].wire) * 8;
        let sending = T::sending(bits, self.path.bits_per_second);
        let position = self.transmitters[end].left;
        self.transmitters[end].left += 1;
        let one_way = T::span(Duration::from_millis(self.path.rtt_ms).half());
        let arrival = self.now + (sending + one_way);
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
                self.schedule(arrival + held(micros), Event::Arrive { end: there, packet: copy });
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

/// How long a packet is held back.
fn held<T: Time>(micros: u64) -> T {
    T::span(Duration::from_nanos(1000 * micros))
}
