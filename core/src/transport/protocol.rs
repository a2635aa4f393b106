//! A configured transport.

use std::fmt::Debug;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use crate::config::Fault;
use crate::transport::tcp::ProxyConfig;
use crate::transport::{Connection, Log, Streams};
use crate::units::Bytes;

/// A transport protocol with its parameters. It creates connections.
pub trait Protocol: Debug + Send + Sync {
    /// Name of the protocol, as in [`Kind::name`](crate::transport::Kind::name).
    fn name(&self) -> &'static str;

    /// Validates the parameters.
    ///
    /// # Errors
    /// A [`Fault`] with the field, the cause and a valid value.
    fn check(&self) -> Result<(), Fault>;

    /// Size of the largest IP packet that the protocol sends.
    fn packet(&self) -> Bytes;

    /// Bytes of application data in a full packet.
    fn payload(&self) -> Bytes;

    /// The mechanism that limits the sender.
    fn flow_control(&self) -> FlowControl;

    /// Creates a connection. All its random draws come from `rng`.
    fn connect(&self, rng: ChaCha8Rng) -> Box<dyn Connection>;

    /// Largest message that fits an unreliable datagram beside the streams; `None` if the protocol
    /// has no such datagrams.
    fn datagram(&self) -> Option<Bytes> {
        None
    }

    /// Creates a connection that sends each message in one unreliable datagram
    /// ([`Protocol::datagram`]), if the protocol supports them. Lost messages are not
    /// retransmitted.
    fn connect_datagrams(&self, _rng: ChaCha8Rng) -> Option<Box<dyn Connection>> {
        None
    }

    /// Number of streams of this protocol's dialogues; `None` if it has no dialogues.
    fn dialogues(&self) -> Option<Streams> {
        None
    }

    /// Creates a connection that is a [`Dialogue`](crate::transport::Dialogue), if the protocol has
    /// them.
    fn converse(&self, _rng: ChaCha8Rng) -> Option<Box<dyn Connection>> {
        None
    }

    /// The same transport; the sender of its next connection writes a log into `log`. `None` if the
    /// transport keeps no log.
    fn logging(&self, _log: Log) -> Option<Arc<dyn Protocol>> {
        None
    }

    /// Checks that a proxy like this can split such a connection; `converses` is true for a
    /// dialogue.
    ///
    /// # Errors
    /// The key of the proxy that is wrong, and a valid value.
    fn check_proxy(&self, _proxy: &ProxyConfig, _converses: bool) -> Result<(), Fault> {
        Ok(())
    }

    /// Creates a connection that `proxies` on the path split. Returns `None` if the proxies cannot
    /// read this protocol and forward it unchanged. Each section of the path has a connection of
    /// its own, which draws from its element of `rngs`. The flow reports the congestion window of
    /// section `main`.
    ///
    /// Packets of such a connection hold the number of their section in [`Packet::body`]; the upper
    /// half of the body belongs to the section's connection.
    ///
    /// [`Packet::body`]: crate::transport::Packet::body
    fn split(
        &self,
        _proxies: &[ProxyConfig],
        _main: usize,
        _rngs: Vec<ChaCha8Rng>,
    ) -> Option<Box<dyn Connection>> {
        None
    }

    /// Creates a split connection that is a dialogue ([`Protocol::converse`]).
    fn converse_through(
        &self,
        _proxies: &[ProxyConfig],
        _main: usize,
        _rngs: Vec<ChaCha8Rng>,
    ) -> Option<Box<dyn Connection>> {
        None
    }
}

/// The mechanism that limits a sender that always has data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FlowControl {
    /// None: all supplied data are sent at once.
    None,
    /// Acknowledgements: the sender sends as fast as the path delivers.
    Acknowledgements,
    /// A limit on the data in flight.
    Window,
}
