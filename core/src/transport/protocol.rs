//! A configured transport.

use std::fmt::Debug;

use rand_chacha::ChaCha8Rng;

use crate::config::Fault;
use crate::transport::{Connection, Streams};
use crate::units::Bytes;

/// A transport protocol with its parameters: what connections are made from.
pub trait Protocol: Debug + Send + Sync {
    /// Name of the protocol, as in [`Kind::name`](crate::transport::Kind::name).
    fn name(&self) -> &'static str;

    /// Whether there can be such a connection.
    ///
    /// # Errors
    /// A [`Fault`] that says what is wrong, and what to give instead.
    fn check(&self) -> Result<(), Fault>;

    /// Size of the largest IP packet that it sends.
    fn packet(&self) -> Bytes;

    /// Application data in a full packet.
    fn payload(&self) -> Bytes;

    /// What keeps the sender from sending all that it is given.
    fn flow_control(&self) -> FlowControl;

    /// A new connection. Whatever it draws, it draws from `rng`.
    fn connect(&self, rng: ChaCha8Rng) -> Box<dyn Connection>;

    /// What streams its dialogues have; `None`: it has none.
    fn dialogues(&self) -> Option<Streams> {
        None
    }

    /// A new connection that is a [`Dialogue`](crate::transport::Dialogue), if it has such.
    fn converse(&self, _rng: ChaCha8Rng) -> Option<Box<dyn Connection>> {
        None
    }
}

/// What keeps a sender that always has data from sending without end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FlowControl {
    /// Nothing: it sends what it is given at once.
    None,
    /// Acknowledgements: it sends as much as the path delivers.
    Acknowledgements,
    /// A bound on what is in flight.
    Window,
}
