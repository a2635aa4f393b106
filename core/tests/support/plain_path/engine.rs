//! The events of the simulator.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use clift::seed::{Seed, Stream};
use clift::transport::tcp::{ReceiverCounters, TcpConfig};
use clift::transport::{Endpoint, Outbox, Protocol, Purpose};
use clift::units::{Duration, Instant};

use super::time::Time;
use super::{Fate, Path, Run, Supply};

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Event {
    Arrive {
        end: usize,
        packet: u32,
    },
    /// The packet would arrive, but is held back.
    Delay {
        end: usize,
        packet: u32,
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
    queue: VecDeque<u32>,
    busy: bool,
    left: u64,
    drops: u64,
}

pub(crate) struct Engine<'a, T> {
    path: Path,
    /// Sender and receiver.
    ends: [Box<dyn Endpoint>; 2],
    /// Bytes after which the application closes.
    bytes: Option<u64>,
    transmitters: [Transmitter; 2],
    /// Packets under way.
    packets: Outbox,
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
        let bytes = match supply {
            Supply::Unlimited => None,
            Supply::Bytes(bytes) => Some(bytes),
        };
        let rng = Seed(0).rng(Stream::Flow(0));
        let mut ends = config.connect(Purpose::OneWay, [None; 2], rng).unwrap();
        ends[0].write(0, bytes.unwrap_or(u64::MAX), true);
        if bytes.is_some() {
            ends[0].close();
        }
        Self {
            path,
            ends,
            bytes,
            transmitters: Default::default(),
            packets: Outbox::default(),
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
        let acknowledged = self.ends[0].acknowledged().unwrap();
        Run {
            sent: self.sent,
            last_arrival: self.last_arrival,
            queue_drops: self.transmitters[0].drops,
            sender: self.ends[0].report().sender,
            receiver: self.ends[1].report().receiver,
            acknowledged,
            complete: self.bytes == Some(acknowledged),
        }
    }

    fn received(&self) -> ReceiverCounters {
        self.ends[1].report().receiver
    }

    fn instant(&self) -> Instant {
        self.now.instant(self.ahead)
    }

    fn schedule(&mut self, at: T, event: Event) {
        self.scheduled += 1;
        let waits = !(T::FREE_FIRST && matches!(event, Event::LinkFree { .. }));
        self.events.push(Reverse((at.to_bits(), waits, self.scheduled, event)));
    }

    /// `end` may send: all it wants goes into its queue.
    fn transmit(&mut self, end: usize) {
        let now = self.instant();
        let deadline = self.ends[end].transmit(now, &mut self.packets);
        for packet in self.packets.sent().to_vec() {
            if end == 0 {
                let segment = &self.packets[packet].segment;
                let seq = if segment.syn { u64::MAX } else { segment.seq };
                self.sent.push((now.as_nanos(), seq));
            }
            self.enqueue(end, packet);
        }
        self.packets.forget_sent(0);
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
            self.ends[end].handle_timeout(deadline.max(now));
            self.transmit(end);
        }
    }

    fn enqueue(&mut self, end: usize, packet: u32) {
        let waiting = if end == 0 { self.path.waiting } else { usize::MAX };
        let transmitter = &mut self.transmitters[end];
        if !transmitter.busy {
            self.start(end, packet);
        } else if transmitter.queue.len() < waiting {
            transmitter.queue.push_back(packet);
        } else {
            transmitter.drops += 1;
            self.packets.free(packet);
        }
    }

    /// The packet's serialisation begins.
    fn start(&mut self, end: usize, packet: u32) {
        self.transmitters[end].busy = true;
        let bits = u64::from(self.packets[packet].size.0) * 8;
        let sending = T::sending(bits, self.path.bits_per_second);
        let position = self.transmitters[end].left;
        self.transmitters[end].left += 1;
        let one_way = T::span(Duration::from_millis(self.path.rtt_ms).half());
        let arrival = self.now + (sending + one_way);
        let fate = if end == 0 { (self.fate)(position) } else { (self.ack_fate)(position) };
        let there = 1 - end;
        match fate {
            Fate::Delivered => self.schedule(arrival, Event::Arrive { end: there, packet }),
            Fate::Lost => self.packets.free(packet),
            Fate::Late { micros } => {
                self.schedule(arrival, Event::Delay { end: there, packet, micros });
            }
            Fate::Twice { micros } => {
                let twin = self.packets[packet];
                *self.packets.draft() = twin;
                self.packets.send();
                let copy = self.packets.sent()[0];
                self.packets.forget_sent(0);
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

    fn arrive(&mut self, end: usize, packet: u32) {
        let now = self.instant();
        let distinct = self.received().distinct_bytes;
        self.ends[end].handle(now, &self.packets[packet], None);
        self.packets.free(packet);
        if self.received().distinct_bytes != distinct {
            self.last_arrival = now.as_nanos();
        }
        self.transmit(end);
    }
}

/// How long a packet is held back.
fn held<T: Time>(micros: u64) -> T {
    T::span(Duration::from_nanos(1000 * micros))
}
