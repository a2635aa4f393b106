//! Applications: they send data over a transport and measure what arrives.
//!
//! An [`Application`] holds the parameters; it makes the [`Traffic`] of a flow. An
//! [`ApplicationConfig`] is an application as a configuration describes it.
//!
//! ```
//! use clift::application::{Application, ApplicationConfig};
//! use clift::config::{self, Value};
//! let file = [("type", Value::text("file")), ("size", Value::text("9 kB"))];
//! let file: ApplicationConfig = config::read(&Value::table(file)).unwrap();
//! let file = file.application(|page| Err(format!("no page {page}"))).unwrap();
//! assert_eq!(file.size(), Some(9000));
//! let bulk = config::read(&Value::table([])).unwrap();
//! assert_eq!(ApplicationConfig::default(), bulk);
//! ```

mod conference;
mod config;
mod deadline;
mod dialogue;
mod line;
mod messages;
mod own;
mod page;
mod requests;
mod session;
mod transfer;
mod until;
mod video;
mod voice;

pub use conference::Conference;
pub use config::ApplicationConfig;
pub use messages::ConstantRate;
pub use own::{ApplicationKind, MakeApplication, OwnApplication};
pub use page::{Http, Page, PageContent, PageFault, PageLoad, PageObject, PageReader, Shape};
pub use requests::Requests;
pub use session::{Connections, Ends, Session};
pub use transfer::{Bulk, File};
pub use until::Until;
pub use video::{Adaptation, Video};
pub use voice::{Codec, CodecData, DEFAULT_RATING, EModel, Voice};

use std::fmt::Debug;

use rand_chacha::ChaCha8Rng;

use crate::config::Fault;
use crate::metrics::FlowMetrics;
use crate::transport::{Endpoint, Protocol, Streams};
use crate::units::{Bytes, Instant};
use session::InSession;

/// An application with its parameters.
pub trait Application: Debug + Send + Sync {
    /// Checks the parameters.
    ///
    /// # Errors
    /// A [`Fault`] with the cause and a correction.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }

    /// Whether the application always has more data to send.
    fn never_ends(&self) -> bool {
        false
    }

    /// Number of bytes after which the flow is complete; `None` if it ends with the run. The application
    /// closes the endpoint behind them.
    fn size(&self) -> Option<u64> {
        None
    }

    /// True if the application ends before the run does.
    fn ends(&self) -> bool {
        self.size().is_some()
    }

    /// Checks that the transport supports the application.
    ///
    /// # Errors
    /// A [`Fault`] with the cause and a correction.
    fn check_over(&self, _transport: &dyn Protocol) -> Result<(), Fault> {
        Ok(())
    }

    /// The traffic of a flow that starts at `start`, over a transport whose packets carry at most
    /// `payload`; none of a session, which sends all of its data.
    fn start(&self, _start: Instant, _payload: Bytes) -> Box<dyn Traffic> {
        Box::new(InSession)
    }

    /// As [`Application::start`], for an application from outside the core that draws from `rng`.
    fn start_own(&self, start: Instant, payload: Bytes, _rng: ChaCha8Rng) -> Box<dyn Traffic> {
        self.start(start, payload)
    }

    /// Whether the application sends messages that are independent of one another. They are sent in
    /// datagrams if the transport has both datagrams and streams ([`Protocol::datagram`]).
    fn sends_messages(&self) -> bool {
        false
    }

    /// Whether the application is a session ([`Application::session`]).
    fn is_session(&self) -> bool {
        false
    }

    /// Maximum number of simultaneous connections.
    fn connections(&self) -> usize {
        1
    }

    /// The application as a session that starts at `start` over connections with these streams;
    /// `None` if it is not a session. A session replaces the traffic.
    fn session(&self, _start: Instant, _streams: Streams) -> Option<Box<dyn Session>> {
        None
    }
}

/// The traffic of a running flow.
pub trait Traffic: Send {
    /// Writes the data due at `now` into the sender's endpoint; first called at the start of the
    /// flow. Returns the time of the next call, if any.
    fn drive(&mut self, now: Instant, sender: &mut dyn Endpoint) -> Option<Instant>;

    /// When the flow ends, if before the run and not by its last byte.
    fn end(&self) -> Option<Instant> {
        None
    }

    /// Called when data arrive at the receiving application.
    fn arrived(&mut self, _now: Instant, _what: Arrival) {}

    /// Writes the measured metrics.
    fn report(&self, _metrics: &mut FlowMetrics) {}
}

/// Data that the receiving application gets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arrival {
    /// Number of in-order bytes of a stream.
    Stream(u64),
    /// Bytes of the flow that one packet carried: a part of a message, or one or several messages.
    Datagram {
        /// Position of the first byte.
        start: u64,
        /// Number of bytes.
        len: u32,
    },
}
