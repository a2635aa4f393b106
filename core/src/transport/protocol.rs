//! A configured transport.

use std::fmt::Debug;
use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use crate::config::Fault;
use crate::transport::tcp::{ProxyConfig, TcpConfig};
use crate::transport::{Endpoint, Log};
use crate::units::Bytes;

/// A transport protocol with its parameters. It creates the endpoints of connections.
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

    /// Creates the two endpoints of a connection, [`End::Sender`]'s first; `None` if the protocol
    /// does not serve the purpose. All random draws come from `rng`. `proxies` are the proxies at
    /// which these ends stand, if they do: only if the protocol can be split ([`Protocol::splits`]).
    ///
    /// [`End::Sender`]: crate::transport::End::Sender
    fn connect(
        &self,
        purpose: Purpose,
        proxies: [Option<&ProxyConfig>; 2],
        rng: ChaCha8Rng,
    ) -> Option<[Box<dyn Endpoint>; 2]>;

    /// Number of paths of a connection.
    fn paths(&self) -> usize {
        1
    }

    /// Largest message that fits an unreliable datagram beside the streams; `None` if the protocol
    /// has no such datagrams.
    fn datagram(&self) -> Option<Bytes> {
        None
    }

    /// Number of streams of this protocol's dialogues; `None` if it has no dialogues.
    fn dialogues(&self) -> Option<Streams> {
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

    /// Its parameters, if it is TCP.
    fn tcp(&self) -> Option<&TcpConfig> {
        None
    }

    /// True if proxies can end connections of this protocol; false if they forward them unchanged.
    fn splits(&self) -> bool {
        false
    }
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Purpose {
    /// Data go from [`End::Sender`](crate::transport::End), which opens the connection, to
    /// [`End::Receiver`](crate::transport::End).
    OneWay,
    /// As [`Purpose::OneWay`]; each write is a message, sent in one unreliable datagram if the
    /// protocol has them ([`Protocol::datagram`]).
    Messages,
    /// Both ends send data. The client, at [`End::Receiver`](crate::transport::End), opens the
    /// connection.
    Dialogue,
}

/// Number of streams of a dialogue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Streams {
    /// One per direction: a loss delays all later bytes (TCP).
    One,
    /// Many: a loss on one stream does not delay the others (QUIC).
    Many,
    /// As many as there are datagrams: each write is one, which may get lost or arrive late (UDP).
    Datagrams,
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
