//! The ends of a flow, and how they answer packets.

use crate::units::Instant;

/// An end of a flow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum End {
    /// Source of the data; the server of a dialogue.
    #[default]
    Sender,
    /// Destination of the data; the client of a dialogue.
    Receiver,
}

impl End {
    /// The other end.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
}

/// Result of a packet's arrival at an endpoint.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Received {
    /// Data, or a control packet that belongs to the data direction.
    Data {
        /// True if all bytes had arrived before, or were too old to be accepted.
        in_vain: bool,
        /// New value of [`Endpoint::delivered`](crate::transport::Endpoint::delivered).
        delivered: u64,
    },
    /// An acknowledgement of all bytes below this one.
    Ack(u64),
}

/// Result of [`Endpoint::answer`](crate::transport::Endpoint::answer).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Answer {
    /// Result of [`Endpoint::handle`](crate::transport::Endpoint::handle).
    pub received: Received,
    /// Result of [`Endpoint::transmit`](crate::transport::Endpoint::transmit).
    pub timeout: Option<Instant>,
    /// What keeps the endpoint from sending more.
    pub limit: Limit,
}

/// What keeps a sender from sending more. Of several, the first that Linux's `tcp_write_xmit` meets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Limit {
    /// The application has supplied no more data, and has not closed.
    #[default]
    Application,
    /// The receive window.
    ReceiveWindow,
    /// A congestion window that stands at its configured upper limit.
    MostWindow,
    /// The path: congestion window, pacing, repair of losses, handshake; after the application has
    /// closed, the wait for the last acknowledgement.
    Path,
}
