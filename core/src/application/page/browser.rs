//! A browser that loads a page, and the server that it asks.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::config::Http;
use super::content::PageContent;
use crate::application::line::Line;
use crate::application::session::{Connections, Session};
use crate::metrics::{Distribution, FlowMetrics, PageMetrics};
use crate::transport::{Dialogue, End, Streams};
use crate::units::{Duration, Instant};

/// Bytes of a frame's header, and of the largest frame unless the client allows more (RFC 9113
/// sections 4.1, 4.2).
const FRAME_HEADER: u64 = 9;
const FRAME: u64 = 16_384;
/// A server of HTTP/2 hands TCP more once less than this has not left: else what is ready first
/// would all go before what is ready later, however large.
const UNSENT: u64 = FRAME;
/// Objects that a client may ask for at once over one connection: as many as RFC 9113 section 5.1.2
/// recommends at least, and quinn allows.
const STREAMS: usize = 100;

/// How a page is loaded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    pub(super) http: Http,
    /// Most at once.
    pub(super) connections: usize,
    pub(super) tls: u32,
    pub(super) think: Duration,
    pub(super) request: u64,
    pub(super) deadline: Option<Duration>,
}

/// What a clock brings about.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The browser learns that it needs the object.
    Want(usize),
    /// The server has the object ready.
    Answer(usize),
}

/// What became of an object.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// The connection over which it was asked for.
    line: usize,
    asked: Option<Instant>,
    /// Bytes of the request that the server has not.
    request: u64,
    /// Bytes of the answer that the client has not.
    answer: u64,
    arrived: Option<Instant>,
}

/// A connection to the browser.
#[derive(Debug)]
struct Place {
    line: Line,
    opened: Option<Instant>,
    /// Objects asked for and not there.
    open: usize,
    /// Objects that the server sends, in turns, with what is left of each (HTTP/2).
    sending: VecDeque<(usize, u64)>,
}

/// Both ends of the load of one page.
pub(super) struct Browser {
    content: Arc<PageContent>,
    manner: Manner,
    start: Instant,
    /// What clocks bring about, in order of time, then of coming up.
    due: BTreeMap<(Instant, u64), Event>,
    number: u64,
    objects: Vec<Progress>,
    children: Vec<Vec<usize>>,
    /// Objects that the browser needs and has not asked for.
    wanted: VecDeque<usize>,
    places: Vec<Place>,
    missing: usize,
    last: Instant,
    delay: Distribution,
}

impl Browser {
    pub(super) fn new(content: Arc<PageContent>, manner: Manner, start: Instant) -> Self {
        let count = content.objects().len();
        let streams = if manner.http == Http::Three { Streams::Many } else { Streams::One };
        let place = |_| Place {
            line: Line::new(streams, manner.tls),
            opened: None,
            open: 0,
            sending: VecDeque::new(),
        };
        let mut browser = Self {
            manner,
            start,
            due: BTreeMap::new(),
            number: 0,
            objects: vec![Progress::default(); count],
            children: vec![Vec::new(); count],
            wanted: VecDeque::new(),
            places: (0..manner.connections).map(place).collect(),
            missing: count,
            last: start,
            delay: Distribution::default(),
            content,
        };
        let content = Arc::clone(&browser.content);
        for (number, object) in content.objects().iter().enumerate() {
            match object.parent {
                Some(parent) => browser.children[parent].push(number),
                None => browser.later(start + object.parse, Event::Want(number)),
            }
        }
        browser
    }

    fn later(&mut self, at: Instant, event: Event) {
        self.due.insert((at, self.number), event);
        self.number += 1;
    }

    /// What clocks have brought about by `now`.
    fn work_off(&mut self, now: Instant, connections: &mut dyn Connections) -> Option<Instant> {
        while let Some(entry) = self.due.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                Event::Want(object) => self.wanted.push_back(object),
                Event::Answer(object) => self.answer(object, connections),
            }
        }
        self.ask(now, connections);
        self.due.keys().next().map(|&(at, _)| at)
    }

    /// The browser asks for what it can, and opens connections for what is left.
    fn ask(&mut self, now: Instant, connections: &mut dyn Connections) {
        let at_once = if self.manner.http == Http::One { 1 } else { STREAMS };
        for number in 0..self.places.len() {
            while self.places[number].line.is_ready()
                && self.places[number].open < at_once
                && let Some(object) = self.wanted.pop_front()
            {
                self.ask_for(object, number, now, connections);
            }
        }
        // Connections that open are for what waits: one for each, as a browser does.
        let opening = |place: &&Place| place.opened.is_some() && !place.line.is_ready();
        let mut short =
            self.wanted.len().saturating_sub(self.places.iter().filter(opening).count());
        for number in 0..self.places.len() {
            let place = &mut self.places[number];
            if short > 0 && place.line.is_closed() {
                place.opened = Some(now);
                let connection = connections.take(number);
                place.line.open(connection);
                short -= 1;
                // Nothing may stand between the client and its first request.
                if place.line.is_ready() {
                    return self.ask(now, connections);
                }
            }
        }
    }

    fn ask_for(
        &mut self,
        object: usize,
        number: usize,
        now: Instant,
        connections: &mut dyn Connections,
    ) {
        let own = &self.content.objects()[object];
        let framed = if self.manner.http == Http::One { 0 } else { FRAME_HEADER };
        let request = own.request.unwrap_or(self.manner.request) + framed;
        self.objects[object] = Progress {
            line: number,
            asked: Some(now),
            request,
            answer: self.on_the_wire(own.bytes),
            arrived: None,
        };
        let place = &mut self.places[number];
        place.open += 1;
        place.line.ask(connections.take(number), object as u32, request);
    }

    /// Bytes of an answer with its frames: HTTP/3's has one, whose header is about as long as that of
    /// HTTP/2.
    fn on_the_wire(&self, bytes: u64) -> u64 {
        match self.manner.http {
            Http::One => bytes,
            Http::Two => bytes + bytes.div_ceil(FRAME) * FRAME_HEADER,
            Http::Three => bytes + FRAME_HEADER,
        }
    }

    /// The server begins to send an object.
    fn answer(&mut self, object: usize, connections: &mut dyn Connections) {
        let bytes = self.content.objects()[object].bytes;
        let number = self.objects[object].line;
        let connection = connections.take(number);
        if self.manner.http == Http::Two {
            self.places[number].sending.push_back((object, bytes));
            self.fill(number, connection);
            return;
        }
        let bytes = self.on_the_wire(bytes);
        self.places[number].line.say(connection, End::Sender, object as u32, bytes, true);
    }

    /// The server hands TCP frames of its objects, in turns, while that is short of data; whether there
    /// were any.
    fn fill(&mut self, number: usize, connection: &mut dyn Dialogue) -> bool {
        let place = &mut self.places[number];
        let mut filled = false;
        while connection.unsent(End::Sender) < UNSENT
            && let Some((object, left)) = place.sending.pop_front()
        {
            let frame = left.min(FRAME);
            let last = frame == left;
            let message = object as u32;
            place.line.say(connection, End::Sender, message, frame + FRAME_HEADER, last);
            filled = true;
            if !last {
                place.sending.push_back((object, left - frame));
            }
        }
        filled
    }

    /// Bytes of a request reached the server.
    fn requested(&mut self, object: usize, bytes: u64, now: Instant) {
        let progress = &mut self.objects[object];
        progress.request = progress.request.saturating_sub(bytes);
        if progress.request == 0 {
            let think = self.content.objects()[object].think.unwrap_or(self.manner.think);
            self.later(now + think, Event::Answer(object));
        }
    }

    /// Bytes of an object reached the client.
    fn received(&mut self, object: usize, bytes: u64, now: Instant) {
        let progress = &mut self.objects[object];
        progress.answer = progress.answer.saturating_sub(bytes);
        if progress.answer > 0 || progress.arrived.is_some() {
            return;
        }
        progress.arrived = Some(now);
        self.delay.record(now.saturating_since(progress.asked.unwrap_or(now)));
        self.places[progress.line].open -= 1;
        self.missing -= 1;
        self.last = now;
        let content = Arc::clone(&self.content);
        for child in std::mem::take(&mut self.children[object]) {
            self.later(now + content.objects()[child].parse, Event::Want(child));
        }
    }
}

impl Session for Browser {
    fn run(&mut self, now: Instant, connections: &mut dyn Connections) -> Option<Instant> {
        self.work_off(now, connections)
    }

    fn arrived(
        &mut self,
        now: Instant,
        number: usize,
        end: End,
        connections: &mut dyn Connections,
    ) -> Option<Instant> {
        let connection = connections.take(number);
        let mut heard = Vec::new();
        self.places[number].line.hear(connection, end, |object, bytes| heard.push((object, bytes)));
        for (object, bytes) in heard {
            match end {
                End::Sender => self.requested(object as usize, bytes, now),
                End::Receiver => self.received(object as usize, bytes, now),
            }
        }
        self.work_off(now, connections)
    }

    fn refill(&mut self, number: usize, connections: &mut dyn Connections) -> bool {
        let holds = !self.places[number].sending.is_empty();
        holds && self.fill(number, connections.take(number))
    }

    fn is_done(&self) -> bool {
        self.missing == 0
    }

    fn report(&self, number: usize, metrics: &mut FlowMetrics) {
        let opened = self.places[number].opened;
        // The load is one of all connections: none is done before it.
        metrics.start = opened.unwrap_or(self.start);
        if self.is_done() {
            metrics.completed = Some(self.last);
            metrics.end = self.last;
        }
        if number > 0 {
            return;
        }
        let within = |progress: &&Progress| {
            let took = progress.arrived.map(|at| at.saturating_since(self.start));
            took.is_some_and(|took| self.manner.deadline.is_none_or(|deadline| took <= deadline))
        };
        metrics.page = Some(PageMetrics {
            load: self.is_done().then(|| self.last.saturating_since(self.start)),
            connections: self.places.iter().filter(|place| place.opened.is_some()).count() as u64,
            objects: self.objects.len() as u64,
            arrived: (self.objects.len() - self.missing) as u64,
            in_time: self.objects.iter().filter(within).count() as u64,
            object_delay: self.delay.summary(),
        });
    }
}
