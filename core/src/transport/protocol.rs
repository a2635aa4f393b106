//! A configured transport, and which kinds there are.

use std::fmt::Debug;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use crate::config::Fault;
use crate::transport::Connection;
use crate::transport::datagram::DatagramConfig;
use crate::transport::tcp::TcpConfig;
use crate::units::Bytes;

/// A transport protocol with its parameters: what connections are made from.
pub trait Protocol: Debug + Send + Sync {
    /// Name of the protocol, as in [`Kind::name`].
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

/// A kind of transport: a row of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Name by which configurations ask for it.
    pub name: &'static str,
    /// The protocol with its usual parameters.
    pub usual: fn() -> Arc<dyn Protocol>,
}

/// The transports of this crate.
///
/// ```
/// let names: Vec<_> = clift::transport::KINDS.iter().map(|kind| kind.name).collect();
/// assert_eq!(names, ["tcp", "udp"]);
/// ```
pub const KINDS: &[Kind] = &[
    Kind { name: "tcp", usual: || Arc::new(TcpConfig::default()) },
    Kind { name: "udp", usual: || Arc::new(DatagramConfig { packet: Bytes(1500) }) },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_makes_the_protocol_of_its_name() {
        for kind in KINDS {
            let protocol = (kind.usual)();
            assert_eq!(protocol.name(), kind.name);
            assert_eq!(protocol.check(), Ok(()));
            assert!(protocol.payload() < protocol.packet());
        }
    }
}
