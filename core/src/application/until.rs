//! An application that stops at a given time.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use super::{Application, Arrival, Connections, Session, Traffic};
use crate::config::{Fault, delegate};
use crate::metrics::FlowMetrics;
use crate::transport::{End, Endpoint, Protocol, Streams};
use crate::units::{Bytes, Instant};

/// An application that stops at `end`: it hands over no more data, and unlimited data that have not
/// been sent by then are not sent (over QUIC, but for the last 16 KiB). A session takes part no more:
/// it sends nothing, and what arrives later counts for nothing.
///
/// ```
/// use std::sync::Arc;
/// use clift::application::{Application, Bulk, Until};
/// use clift::units::Instant;
/// let minute = Until { application: Arc::new(Bulk), end: Instant::from_nanos(60_000_000_000) };
/// assert!(minute.never_ends() && !minute.is_session());
/// ```
#[derive(Clone, Debug)]
pub struct Until {
    /// The application.
    pub application: Arc<dyn Application>,
    /// When it stops.
    pub end: Instant,
}

impl Application for Until {
    fn start(&self, start: Instant, payload: Bytes) -> Box<dyn Traffic> {
        Box::new(Stopping { traffic: self.application.start(start, payload), end: self.end })
    }

    fn start_own(&self, start: Instant, payload: Bytes, rng: ChaCha8Rng) -> Box<dyn Traffic> {
        let traffic = self.application.start_own(start, payload, rng);
        Box::new(Stopping { traffic, end: self.end })
    }

    fn session(&self, start: Instant, streams: Streams) -> Option<Box<dyn Session>> {
        let session = self.application.session(start, streams)?;
        Some(Box::new(Leaving { session, end: self.end, has_left: false }))
    }

    delegate! { self.application =>
        fn check(&self) -> Result<(), Fault>;
        fn never_ends(&self) -> bool;
        fn size(&self) -> Option<u64>;
        fn ends(&self) -> bool;
        fn check_over(&self, transport: &dyn Protocol) -> Result<(), Fault>;
        fn sends_messages(&self) -> bool;
        fn is_session(&self) -> bool;
        fn connections(&self) -> usize;
    }
}

struct Stopping {
    traffic: Box<dyn Traffic>,
    end: Instant,
}

impl Traffic for Stopping {
    fn drive(&mut self, now: Instant, sender: &mut dyn Endpoint) -> Option<Instant> {
        if now >= self.end {
            sender.close();
            return None;
        }
        sender.will_close();
        let next = self.traffic.drive(now, sender);
        Some(next.map_or(self.end, |next| next.min(self.end)))
    }

    fn arrived(&mut self, now: Instant, what: Arrival) {
        self.traffic.arrived(now, what);
    }

    /// The rates of a flow that has not completed refer to the time until then, or until its last data
    /// arrive.
    fn end(&self) -> Option<Instant> {
        Some(self.end)
    }

    fn report(&self, metrics: &mut FlowMetrics) {
        self.traffic.report(metrics);
    }
}

/// A session until it stops.
struct Leaving {
    session: Box<dyn Session>,
    end: Instant,
    has_left: bool,
}

impl Leaving {
    /// Lets the session act at `now`, unless it has stopped.
    fn act(
        &mut self,
        now: Instant,
        act: impl FnOnce(&mut dyn Session) -> Option<Instant>,
    ) -> Option<Instant> {
        self.has_left |= now >= self.end && !self.session.is_done();
        if self.has_left {
            return None;
        }
        let next = act(&mut *self.session);
        match self.session.is_done() {
            true => next,
            false => Some(next.map_or(self.end, |next| next.min(self.end))),
        }
    }
}

impl Session for Leaving {
    fn run(&mut self, now: Instant, connections: &mut dyn Connections) -> Option<Instant> {
        self.act(now, |session| session.run(now, connections))
    }

    fn arrived(
        &mut self,
        now: Instant,
        number: usize,
        end: End,
        connections: &mut dyn Connections,
    ) -> Option<Instant> {
        self.act(now, |session| session.arrived(now, number, end, connections))
    }

    fn refill(&mut self, number: usize, connections: &mut dyn Connections) -> bool {
        !self.has_left && self.session.refill(number, connections)
    }

    fn is_done(&self) -> bool {
        self.has_left || self.session.is_done()
    }

    fn end(&self) -> Option<Instant> {
        match self.has_left {
            true => Some(self.end),
            false => self.session.end(),
        }
    }

    /// What is still on its way arrives later, and is not waited for.
    fn report(&self, number: usize, metrics: &mut FlowMetrics) {
        let end = metrics.end;
        metrics.end = if self.has_left { end.min(self.end) } else { end };
        self.session.report(number, metrics);
        metrics.end = end;
    }
}
