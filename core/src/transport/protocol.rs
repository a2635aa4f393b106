//! A configured transport.

use std::fmt::Debug;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use crate::config::Fault;
use crate::transport::tcp::ProxyConfig;
use crate::transport::{Connection, Log, Streams};
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

    /// The largest message that goes in a datagram of its own, beside the streams that it has; `None`:
    /// it has no such datagrams.
    fn datagram(&self) -> Option<Bytes> {
        None
    }

    /// A new connection that sends each message in a datagram of its own ([`Protocol::datagram`]), if it
    /// has such. What is lost is not sent again.
    fn connect_datagrams(&self, _rng: ChaCha8Rng) -> Option<Box<dyn Connection>> {
        None
    }

    /// What streams its dialogues have; `None`: it has none.
    fn dialogues(&self) -> Option<Streams> {
        None
    }

    /// A new connection that is a [`Dialogue`](crate::transport::Dialogue), if it has such.
    fn converse(&self, _rng: ChaCha8Rng) -> Option<Box<dyn Connection>> {
        None
    }

    /// The same transport, the sender of whose next connection writes its own log into `log`; `None`
    /// if it keeps none.
    fn logging(&self, _log: Log) -> Option<Arc<dyn Protocol>> {
        None
    }

    /// Whether a proxy like this can stand in the way of such a connection, on which both ends have
    /// data if it `converses`.
    ///
    /// # Errors
    /// The key of the proxy that is wrong, and what to give instead.
    fn check_proxy(&self, _proxy: &ProxyConfig, _converses: bool) -> Result<(), Fault> {
        Ok(())
    }

    /// A new connection that `proxies` on the way split, or `None` if they let it pass as it is, which
    /// is what they do with whatever they cannot read. The connections of the proxies draw from
    /// `rngs`, one for each stretch of the way; the stretch `main` is the one whose congestion window
    /// the flow shows.
    ///
    /// The packets of such a connection name their stretch in [`Packet::body`], whose upper half is
    /// the connection's own.
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

    /// The same for a connection on which both ends have data ([`Protocol::converse`]).
    fn converse_through(
        &self,
        _proxies: &[ProxyConfig],
        _main: usize,
        _rngs: Vec<ChaCha8Rng>,
    ) -> Option<Box<dyn Connection>> {
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
