//! The wire between the hosts: one thread, absolute instants, reads in bursts.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::fd::AsRawFd;
use std::path::Path;

use clift::link::{Admission, Link, LinkCounters, LinkEvent, Packet, PacketId, StreamRange};
use clift::simulation::{Passed, Way};
use clift::units::{Bytes, Instant};
use slab::Slab;

use crate::LiveError;
use crate::capture::{Capture, Captured};
use crate::flows::Flows;
use crate::hosts::Hosts;
use crate::lateness::Lateness;
use crate::sys::{self, Signals, Timer};

/// Packets read from a host before anything else is looked at.
const BURST: usize = 64;
/// More than a packet of a TUN device.
const MOST_BYTES: usize = 65_536;

/// What a live run was.
#[derive(Debug)]
pub struct Report {
    /// The code with which the first command ended; 128 + the signal that ended it.
    pub code: i32,
    /// Seconds that it ran.
    pub seconds: f64,
    /// How late packets were handed over.
    pub lateness: Lateness,
    /// Processor time of the emulator, seconds.
    pub processor: f64,
    /// Whether it had real-time scheduling.
    pub real_time: bool,
    /// Time zero of the links, ns of the monotonic clock: when the first packet was taken. `None`:
    /// there was none.
    pub began: Option<u64>,
    /// The way there and the way back.
    pub directions: [Direction; 2],
    /// When the trace of a link ended while packets waited, seconds.
    pub trace_ended: Option<f64>,
    /// What was captured, if that was asked for.
    pub captured: Option<Captured>,
}

/// What went over the wire in one direction.
#[derive(Clone, Copy, Debug)]
pub struct Direction {
    /// Packets offered, dropped, delivered and lost.
    pub counters: LinkCounters,
    /// Packets that the receiving host's device did not take.
    pub refused: u64,
    /// When the first packet was offered, ns after the links' time zero.
    pub first: Option<u64>,
}

/// The wire.
pub(crate) struct Wire {
    ways: [Way; 2],
    hosts: Hosts,
    signals: Signals,
    timer: Timer,
    packets: Store,
    flows: Flows,
    /// Time zero of the links, ns of the monotonic clock: the first packet, so that a flow meets the
    /// same part of a trace whenever its command gets to it.
    began: Option<u64>,
    /// The time of the last packet in each direction: time in a link never falls.
    clocks: [u64; 2],
    first: [Option<u64>; 2],
    lateness: Lateness,
    refused: [u64; 2],
    trace_ended: Option<u64>,
    buffer: Vec<u8>,
    log: Option<Log>,
    capture: Option<Capture>,
    /// Time zero of the links, ns after 1970.
    epoch: u64,
}

/// What arrived and its fate, a line each, in the form that every host writes: `arrival PACKET
/// NS BYTES TAKEN FLOW FIRST END`, `departed|delivered|lost|ended PACKET NS`. Packets are numbered in
/// each direction.
struct Log {
    files: [BufWriter<File>; 2],
    /// The number in its direction of the packet in each place of the store.
    numbers: Vec<u64>,
    next: [u64; 2],
    failed: Option<std::io::Error>,
}

impl Wire {
    pub(crate) fn new(
        ways: [Way; 2],
        hosts: Hosts,
        signals: Signals,
        log: Option<&Path>,
        capture: Option<Capture>,
    ) -> Result<Self, LiveError> {
        let mut ways = ways;
        if log.is_some() {
            ways.iter_mut().for_each(Link::notify_departures);
        }
        Ok(Self {
            log: log.map(Log::new).transpose()?,
            ways,
            hosts,
            signals,
            timer: Timer::new()?,
            packets: Store::default(),
            flows: Flows::default(),
            began: None,
            clocks: [0; 2],
            first: [None; 2],
            lateness: Lateness::default(),
            refused: [0; 2],
            trace_ended: None,
            buffer: vec![0; MOST_BYTES],
            capture,
            epoch: 0,
        })
    }

    /// Carries packets until the first command is done; what was captured is handed out with the time
    /// of its beginning.
    pub(crate) fn run(
        mut self,
        real_time: bool,
    ) -> Result<(Report, Option<(Capture, u64)>), LiveError> {
        let began = sys::monotonic();
        let processor = sys::processor_time();
        self.hosts.start()?;
        let mut signalled = false;
        let code = loop {
            self.hand_over();
            let more = self.take(0, BURST, None)? | self.take(1, BURST, None)?;
            self.hand_over();
            if more {
                continue;
            }
            self.timer.set(self.next().map(|(at, _)| at + self.began.unwrap_or(began)));
            let [one, two] = self.hosts.tuns.each_ref().map(|tun| tun.as_raw_fd());
            let fds = [one, two, self.timer.fd(), self.hosts.fd(), self.signals.fd()];
            let [_, _, _, ended, signal] = sys::wait(fds)?;
            if signal && let Some((number, ours_alone)) = self.signals.next() {
                // The first is for the commands, which may end in their own way; the second is for us.
                if std::mem::replace(&mut signalled, true) {
                    break 128 + number;
                }
                if ours_alone {
                    self.hosts.signal(number)?;
                }
            }
            if ended {
                break self.hosts.code()?;
            }
        };
        let processor = sys::processor_time() - processor;
        if let Some(log) = self.log.take() {
            log.end()?;
        }
        let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
        let direction = |number: usize| Direction {
            counters: self.ways[number].counters(),
            refused: self.refused[number],
            first: self.first[number],
        };
        let capture = self.capture.take().map(|capture| (capture, self.epoch));
        let report = Report {
            code,
            seconds: seconds(sys::monotonic() - began),
            processor: seconds(processor),
            real_time,
            began: self.began,
            directions: [direction(0), direction(1)],
            trace_ended: self.trace_ended.map(seconds),
            lateness: self.lateness,
            captured: None,
        };
        Ok((report, capture))
    }

    fn now(&self) -> u64 {
        let now = sys::monotonic();
        now - self.began.unwrap_or(now)
    }

    /// When a link is to be polled next, and which.
    fn next(&self) -> Option<(u64, usize)> {
        let due = |way: usize| Some((self.ways[way].poll_timeout()?.as_nanos(), way));
        due(0).into_iter().chain(due(1)).min()
    }

    /// Hands over what is due, in order of time. A host answers while a packet is handed to it: what it
    /// sends then counts as sent when that packet was due, so that our lateness does not add up.
    fn hand_over(&mut self) {
        while let Some((at, way)) = self.next().filter(|(at, _)| *at <= self.now()) {
            let mut delivered = false;
            while let Some(passed) = self.ways[way].poll_passed(Instant::from_nanos(at)) {
                let Passed { event, hop, units } = passed;
                if let Some(log) = &mut self.log {
                    log.event(way, &event);
                }
                match event {
                    LinkEvent::Delivered(transit) => {
                        let due = transit.at.as_nanos();
                        let bytes = self.packets.take(transit.packet);
                        let written = sys::write(&self.hosts.tuns[1 - way], &bytes);
                        self.refused[way] += u64::from(!matches!(written, Ok(Some(_))));
                        self.packets.give_back(bytes);
                        let now = self.now();
                        self.lateness.note(now.saturating_sub(due));
                        if let Some(capture) = &mut self.capture {
                            capture.known(&transit, hop, units, Some(now.max(due)));
                        }
                        delivered = true;
                    }
                    LinkEvent::Lost(transit) => {
                        if let Some(capture) = &mut self.capture {
                            capture.known(&transit, hop, units, None);
                        }
                        let bytes = self.packets.take(transit.packet);
                        self.packets.give_back(bytes);
                    }
                    LinkEvent::TraceEnded { at, .. } => {
                        self.trace_ended.get_or_insert(at.as_nanos());
                    }
                    _ => {}
                }
            }
            if delivered {
                let _ = self.take(1 - way, BURST, Some(at));
            }
        }
    }

    /// Takes up to `most` packets that a host has sent onto its way, at `at` or now; whether there may
    /// be more.
    fn take(&mut self, host: usize, most: usize, at: Option<u64>) -> Result<bool, LiveError> {
        for _ in 0..most {
            let read = sys::read(&self.hosts.tuns[host], &mut self.buffer);
            let read =
                read.map_err(|source| LiveError::Kernel { what: "a host".into(), source })?;
            let Some(length) = read else { return Ok(false) };
            if self.began.is_none() {
                (self.began, self.epoch) = (Some(sys::monotonic()), sys::since_1970());
            }
            let now = at.unwrap_or_else(|| self.now()).max(self.clocks[host]);
            self.clocks[host] = now;
            self.first[host].get_or_insert(now);
            let bytes = &self.buffer[..length];
            let carries =
                self.ways[host].reads_streams().then(|| self.flows.range(bytes)).flatten();
            self.enqueue(host, now, length, carries);
        }
        Ok(true)
    }

    fn enqueue(&mut self, way: usize, now: u64, length: usize, carries: Option<StreamRange>) {
        let id = self.packets.put(&self.buffer[..length]);
        let packet = Packet { carries, ..Packet::new(id, Bytes(length as u32)) };
        let admission = self.ways[way].enqueue(Instant::from_nanos(now), packet);
        if let Some(log) = &mut self.log {
            log.arrival(way, now, packet, admission);
        }
        if let Some(capture) = &mut self.capture {
            capture.sent(way, now, id, &self.buffer[..length], admission);
        }
        if let Admission::Dropped(_) = admission {
            let bytes = self.packets.take(id);
            self.packets.give_back(bytes);
        }
    }
}

impl Log {
    /// Files of this name for the way there, and with `.back` behind it for the way back.
    fn new(path: &Path) -> Result<Self, LiveError> {
        let create = |path: &Path| {
            let created = File::create(path).map(BufWriter::new);
            created.map_err(|source| LiveError::Kernel { what: path.display().to_string(), source })
        };
        let mut back = path.as_os_str().to_owned();
        back.push(".back");
        let files = [create(path)?, create(back.as_ref())?];
        Ok(Self { files, numbers: Vec::new(), next: [0; 2], failed: None })
    }

    fn arrival(&mut self, way: usize, now: u64, packet: Packet, admission: Admission) {
        let place = packet.id.0 as usize;
        if place >= self.numbers.len() {
            self.numbers.resize(place + 1, 0);
        }
        let number = self.next[way];
        self.numbers[place] = number;
        self.next[way] += 1;
        let taken = i32::from(admission != Admission::Queued);
        let range = packet.carries.unwrap_or(StreamRange { flow: 0, start: 0, end: 0 });
        let StreamRange { flow, start, end } = range;
        let bytes = packet.size.0;
        let line = format!("arrival {number} {now} {bytes} {taken} {flow} {start} {end}");
        self.line(way, &line);
    }

    fn event(&mut self, way: usize, event: &LinkEvent) {
        let (kind, packet) = match event {
            LinkEvent::Delivered(transit) => ("delivered", transit.packet),
            LinkEvent::Lost(transit) => ("lost", transit.packet),
            LinkEvent::Departed { packet, .. } => ("departed", *packet),
            LinkEvent::TraceEnded { packet, .. } => ("ended", *packet),
            _ => return,
        };
        let number = self.numbers[packet.0 as usize];
        let line = format!("{kind} {number} {}", event.at().as_nanos());
        self.line(way, &line);
    }

    /// A disk that is full ends the log, not the run; the end reports it.
    fn line(&mut self, way: usize, line: &str) {
        if self.failed.is_none() {
            self.failed = writeln!(self.files[way], "{line}").err();
        }
    }

    fn end(mut self) -> Result<(), LiveError> {
        for file in &mut self.files {
            self.failed = self.failed.or(file.flush().err());
        }
        match self.failed {
            Some(source) => Err(LiveError::Kernel { what: "the log".to_owned(), source }),
            None => Ok(()),
        }
    }
}

/// The bytes of the packets on the wire, by number; memory is used again.
#[derive(Default)]
struct Store {
    packets: Slab<Vec<u8>>,
    spare: Vec<Vec<u8>>,
}

impl Store {
    fn put(&mut self, bytes: &[u8]) -> PacketId {
        let mut place = self.spare.pop().unwrap_or_default();
        place.clear();
        place.extend_from_slice(bytes);
        PacketId(self.packets.insert(place) as u64)
    }

    fn take(&mut self, id: PacketId) -> Vec<u8> {
        self.packets.remove(id.0 as usize)
    }

    fn give_back(&mut self, bytes: Vec<u8>) {
        self.spare.push(bytes);
    }
}
