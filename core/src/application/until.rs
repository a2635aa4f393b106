//! An application that stops at a given time.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use super::{Application, Arrival, Traffic};
use crate::config::Fault;
use crate::metrics::FlowMetrics;
use crate::transport::{Endpoint, Protocol};
use crate::units::{Bytes, Instant};

/// An application without a session that stops at `end`: it hands over no more data, and unlimited
/// data that have not been sent by then are not sent.
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
    fn check(&self) -> Result<(), Fault> {
        self.application.check()
    }

    fn never_ends(&self) -> bool {
        self.application.never_ends()
    }

    fn size(&self) -> Option<u64> {
        self.application.size()
    }

    fn ends(&self) -> bool {
        self.application.ends()
    }

    fn check_over(&self, transport: &dyn Protocol) -> Result<(), Fault> {
        self.application.check_over(transport)
    }

    fn start(&self, start: Instant, payload: Bytes) -> Box<dyn Traffic> {
        Box::new(Stopping { traffic: self.application.start(start, payload), end: self.end })
    }

    fn start_own(&self, start: Instant, payload: Bytes, rng: ChaCha8Rng) -> Box<dyn Traffic> {
        let traffic = self.application.start_own(start, payload, rng);
        Box::new(Stopping { traffic, end: self.end })
    }

    fn sends_messages(&self) -> bool {
        self.application.sends_messages()
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
        let next = self.traffic.drive(now, sender);
        Some(next.map_or(self.end, |next| next.min(self.end)))
    }

    fn arrived(&mut self, now: Instant, what: Arrival) {
        self.traffic.arrived(now, what);
    }

    /// The rates of a flow that has not completed refer to the time in which it sent.
    fn end(&self) -> Option<Instant> {
        Some(self.end)
    }

    fn report(&self, metrics: &mut FlowMetrics) {
        self.traffic.report(metrics);
    }
}
