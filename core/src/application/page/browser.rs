//! A browser that loads a page, and its server.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::config::Http;
use super::content::PageContent;
use crate::application::deadline;
use crate::application::line::MessageConnection;
use crate::application::session::{Connections, Ends, Session};
use crate::metrics::{Distribution, FlowMetrics, PageMetrics};
use crate::transport::{End, Streams};
use crate::units::{Duration, Instant};

/// Size of a frame header, and maximum size of a frame unless the client allows more (RFC 9113
/// sections 4.1, 4.2).
const FRAME_HEADER: u64 = 9;
const FRAME: u64 = 16_384;
/// An HTTP/2 server supplies TCP with more data once less than this is unsent. Supplying more would
/// send a large early object completely before objects that become ready later.
const UNSENT: u64 = FRAME;
/// Maximum number of concurrent requests over one connection: the minimum that RFC 9113 section
/// 5.1.2 recommends, and quinn's limit.
const STREAMS: usize = 100;

/// Parameters of a page load.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageOptions {
    pub(super) http: Http,
    /// Maximum number of connections.
    pub(super) connections: usize,
    pub(super) tls: u32,
    pub(super) think: Duration,
    pub(super) request: u64,
    pub(super) deadline: Option<Duration>,
}

/// A timed event.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The browser learns that it needs the object.
    Want(usize),
    /// The server has the object ready.
    Answer(usize),
}

/// State of an object.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// The connection of its request.
    line: usize,
    asked: Option<Instant>,
    /// Bytes of the request that the server has not received.
    request: u64,
    /// Bytes of the answer that the client has not received.
    answer: u64,
    arrived: Option<Instant>,
}

/// A connection, as the browser sees it.
#[derive(Debug)]
struct BrowserConnection {
    line: MessageConnection,
    opened: Option<Instant>,
    /// Objects requested and not yet received.
    open: usize,
    /// Objects that the server is sending in turns, with the remaining bytes of each (HTTP/2).
    sending: VecDeque<(usize, u64)>,
}

/// Both ends of the load of one page.
pub(super) struct Browser {
    content: Arc<PageContent>,
    options: PageOptions,
    start: Instant,
    /// Timed events, by time and then by order of creation.
    due: BTreeMap<(Instant, u64), Event>,
    number: u64,
    objects: Vec<Progress>,
    children: Vec<Vec<usize>>,
    /// Objects that the browser needs and has not requested.
    wanted: VecDeque<usize>,
    places: Vec<BrowserConnection>,
    missing: usize,
    last: Instant,
    delay: Distribution,
}

impl Browser {
    pub(super) fn new(content: Arc<PageContent>, options: PageOptions, start: Instant) -> Self {
        let count = content.objects().len();
        let streams = if options.http == Http::Three { Streams::Many } else { Streams::One };
        let place = |_| BrowserConnection {
            line: MessageConnection::new(streams, options.tls),
            opened: None,
            open: 0,
            sending: VecDeque::new(),
        };
        let mut browser = Self {
            options,
            start,
            due: BTreeMap::new(),
            number: 0,
            objects: vec![Progress::default(); count],
            children: vec![Vec::new(); count],
            wanted: VecDeque::new(),
            places: (0..options.connections).map(place).collect(),
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

    /// Handles the events due by `now`, and returns the time of the next one.
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

    /// Sends as many requests as possible, and opens connections for the others.
    fn ask(&mut self, now: Instant, connections: &mut dyn Connections) {
        let at_once = if self.options.http == Http::One { 1 } else { STREAMS };
        for number in 0..self.places.len() {
            while self.places[number].line.is_ready()
                && self.places[number].open < at_once
                && let Some(object) = self.wanted.pop_front()
            {
                self.ask_for(object, number, now, connections);
            }
        }
        // A browser opens one connection for each waiting object, so connections being opened
        // count.
        let opening = |place: &&BrowserConnection| place.opened.is_some() && !place.line.is_ready();
        let mut short =
            self.wanted.len().saturating_sub(self.places.iter().filter(opening).count());
        for number in 0..self.places.len() {
            let place = &mut self.places[number];
            if short > 0 && place.line.is_closed() {
                place.opened = Some(now);
                let connection = &mut connections.take(number);
                place.line.open(connection);
                short -= 1;
                // The client's first request must not wait for other data.
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
        let framed = if self.options.http == Http::One { 0 } else { FRAME_HEADER };
        let request = own.request.unwrap_or(self.options.request) + framed;
        self.objects[object] = Progress {
            line: number,
            asked: Some(now),
            request,
            answer: self.on_the_wire(own.bytes),
            arrived: None,
        };
        let place = &mut self.places[number];
        place.open += 1;
        place.line.ask(&mut connections.take(number), object as u32, request);
    }

    /// Bytes of an answer including its frames. HTTP/3 uses one frame, whose header is about as
    /// long as that of HTTP/2.
    fn on_the_wire(&self, bytes: u64) -> u64 {
        match self.options.http {
            Http::One => bytes,
            Http::Two => bytes + bytes.div_ceil(FRAME) * FRAME_HEADER,
            Http::Three => bytes + FRAME_HEADER,
        }
    }

    /// The server begins to send an object.
    fn answer(&mut self, object: usize, connections: &mut dyn Connections) {
        let bytes = self.content.objects()[object].bytes;
        let number = self.objects[object].line;
        let connection = &mut connections.take(number);
        if self.options.http == Http::Two {
            self.places[number].sending.push_back((object, bytes));
            self.fill(number, connection);
            return;
        }
        let bytes = self.on_the_wire(bytes);
        self.places[number].line.say(connection, End::Sender, object as u32, bytes, true);
    }

    /// Supplies TCP with frames of the server's objects in turns, while it is short of data.
    /// Returns whether it supplied any.
    fn fill(&mut self, number: usize, connection: &mut Ends<'_>) -> bool {
        let place = &mut self.places[number];
        let mut filled = false;
        while connection.server.unsent() < UNSENT
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
            let think = self.content.objects()[object].think.unwrap_or(self.options.think);
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
        let connection = &mut connections.take(number);
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
        holds && self.fill(number, &mut connections.take(number))
    }

    fn is_done(&self) -> bool {
        self.missing == 0
    }

    fn end(&self) -> Option<Instant> {
        Some(self.last)
    }

    fn report(&self, number: usize, metrics: &mut FlowMetrics) {
        let opened = self.places[number].opened;
        // The load covers all connections, so no connection is complete before the load is.
        metrics.start = opened.unwrap_or(self.start);
        if self.is_done() {
            metrics.completed = Some(self.last);
        }
        if number > 0 {
            return;
        }
        let within = |progress: &&Progress| {
            let took = progress.arrived.map(|at| at.saturating_since(self.start));
            took.is_some_and(|took| deadline::is_met(self.options.deadline, took))
        };
        let is_open = deadline::is_open(self.options.deadline, self.start, metrics.end);
        let (objects, arrived) = (self.objects.len(), self.objects.len() - self.missing);
        metrics.page = Some(PageMetrics {
            load: self.is_done().then(|| self.last.saturating_since(self.start)),
            connections: self.places.iter().filter(|place| place.opened.is_some()).count() as u64,
            objects: objects as u64,
            arrived: arrived as u64,
            judged: if is_open { arrived } else { objects } as u64,
            in_time: self.objects.iter().filter(within).count() as u64,
            object_delay: self.delay.summary(),
        });
    }
}
