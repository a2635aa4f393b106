//! Applications, which hand data to a transport and judge what arrives.
//!
//! An [`Application`] is a configured one; it makes the [`Traffic`] of a flow. [`ApplicationConfig`]
//! is one that a configuration names.
//!
//! ```
//! use clift::application::{Application, ApplicationConfig};
//! use clift::config::{self, Value};
//! let page = [("type", Value::text("file")), ("size", Value::text("9 kB"))];
//! let page: ApplicationConfig = config::read(&Value::table(page)).unwrap();
//! assert_eq!(page.application().size(), Some(9000));
//! let bulk = config::read(&Value::table([])).unwrap();
//! assert_eq!(ApplicationConfig::default(), bulk);
//! ```

mod config;
mod messages;
mod own;
mod transfer;

pub use config::ApplicationConfig;
pub use messages::ConstantRate;
pub use own::{
    ApplicationKind, ApplicationNameTaken, MakeApplication, OwnApplication, Parameter,
    register_application,
};
pub use transfer::{Bulk, File};

use std::fmt::Debug;

use rand_chacha::ChaCha8Rng;

use crate::config::Fault;
use crate::metrics::FlowMetrics;
use crate::transport::Connection;
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

    /// The application of a flow that starts at `start`, over a transport whose packets carry
    /// `payload` at most.
    fn start(&self, start: Instant, payload: Bytes) -> Box<dyn Traffic>;

    /// The same, for one from outside the core that draws: from `rng`.
    fn start_own(&self, start: Instant, payload: Bytes, _rng: ChaCha8Rng) -> Box<dyn Traffic> {
        self.start(start, payload)
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
    /// Bytes of the flow that came in one datagram.
    Datagram {
        /// The first of them.
        start: u64,
        /// How many.
        len: u32,
    },
}
