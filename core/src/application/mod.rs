//! Applications, which hand data to a transport and judge what arrives.
//!
//! An [`Application`] is a configured one; it makes the [`Traffic`] of a flow. [`ApplicationConfig`]
//! is one that a configuration names.
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

mod config;
mod line;
mod messages;
mod own;
mod page;
mod requests;
mod session;
mod transfer;
mod voice;

pub use config::ApplicationConfig;
pub use messages::ConstantRate;
pub use own::{
    ApplicationKind, ApplicationNameTaken, MakeApplication, OwnApplication, Parameter,
    register_application,
};
pub use page::{Http, Page, PageContent, PageFault, PageLoad, PageObject, PageReader, Shape};
pub use requests::Requests;
pub use session::{Connections, Session};
pub use transfer::{Bulk, File};
pub use voice::{Codec, CodecData, DEFAULT_RATING, EModel, Voice};

use std::fmt::Debug;

use rand_chacha::ChaCha8Rng;

use crate::config::Fault;
use crate::metrics::FlowMetrics;
use crate::transport::{Connection, Protocol, Streams};
use crate::units::{Bytes, Instant};

/// An application with its parameters.
pub trait Application: Debug + Send + Sync {
    /// Whether there can be such an application.
    ///
    /// # Errors
    /// A [`Fault`] that says what is wrong, and what to give instead.
    fn check(&self) -> Result<(), Fault> {
        Ok(())
    }

    /// Whether it has data as long as the transport takes them.
    fn never_ends(&self) -> bool {
        false
    }

    /// Bytes with which everything has arrived; `None`: it ends with the run.
    fn size(&self) -> Option<u64> {
        None
    }

    /// Whether it ever comes to an end by itself.
    fn ends(&self) -> bool {
        self.size().is_some()
    }

    /// Whether it goes over this transport.
    ///
    /// # Errors
    /// A [`Fault`] that says why not, and what to give instead.
    fn check_over(&self, _transport: &dyn Protocol) -> Result<(), Fault> {
        Ok(())
    }

    /// The application of a flow that starts at `start`, over a transport whose packets carry
    /// `payload` at most.
    fn start(&self, start: Instant, payload: Bytes) -> Box<dyn Traffic>;

    /// The same, for one from outside the core that draws: from `rng`.
    fn start_own(&self, start: Instant, payload: Bytes, _rng: ChaCha8Rng) -> Box<dyn Traffic> {
        self.start(start, payload)
    }

    /// Whether it sends messages, each of which is of use by itself: they go in datagrams where a
    /// transport has them beside its streams ([`Protocol::datagram`]).
    fn sends_messages(&self) -> bool {
        false
    }

    /// Whether it is a conversation ([`Application::session`]).
    fn is_session(&self) -> bool {
        false
    }

    /// Connections that it may have at once.
    fn connections(&self) -> usize {
        1
    }

    /// It as a conversation that starts at `start` over connections with such streams, if it is one:
    /// then nothing but this counts.
    fn session(&self, _start: Instant, _streams: Streams) -> Option<Box<dyn Session>> {
        None
    }
}

/// An application while its flow runs.
pub trait Traffic: Send {
    /// Hands `connection` what is due at `now`, first at the start of the flow; says when there is
    /// more, if ever.
    fn drive(&mut self, now: Instant, connection: &mut dyn Connection) -> Option<Instant>;

    /// Something arrived at the receiving application.
    fn arrived(&mut self, _now: Instant, _what: Arrival) {}

    /// Writes what it measured.
    fn report(&self, _metrics: &mut FlowMetrics) {}
}

/// What the receiving application gets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arrival {
    /// A stream has so many bytes in order.
    Stream(u64),
    /// Bytes of the flow that came in one packet: a part of a message, or one message or several.
    Datagram {
        /// The first of them.
        start: u64,
        /// How many.
        len: u32,
    },
}
