//! Applications that are a dialogue over one or several connections.

use crate::application::Traffic;
use crate::metrics::FlowMetrics;
use crate::transport::{End, Endpoint};
use crate::units::Instant;

/// A client and a server: one session implements both ends. The host calls it at its start,
/// whenever the session asked to be called, and whenever a packet reached an end of one of its
/// connections. Afterwards the host lets both ends of the connections that the session used send
/// their data.
///
/// Information must cross the path: at each end, a session reacts only to what that end received
/// ([`Endpoint::read`]) or to a clock of that end.
pub trait Session: Send {
    /// Does what is due at `now`. Returns the time of the next call, unless a packet arrives
    /// before.
    fn run(&mut self, now: Instant, connections: &mut dyn Connections) -> Option<Instant>;

    /// A packet reached `end` of the connection `number`. Otherwise as [`Session::run`].
    fn arrived(
        &mut self,
        now: Instant,
        number: usize,
        end: End,
        connections: &mut dyn Connections,
    ) -> Option<Instant>;

    /// Called when the server's end of the connection `number` has sent all it could. Supplies more
    /// data if the session held some back, and returns whether it did. It is called again until it
    /// returns false.
    fn refill(&mut self, number: usize, connections: &mut dyn Connections) -> bool {
        let _ = (number, connections);
        false
    }

    /// Whether the session is complete.
    fn is_done(&self) -> bool;

    /// When the flows of a complete session ended, if before the run.
    fn end(&self) -> Option<Instant> {
        None
    }

    /// Writes the metrics of the connection `number`; with the first connection, also those of the
    /// whole session.
    fn report(&self, number: usize, metrics: &mut FlowMetrics);
}

/// The connections of a session;
/// [`Application::connections`](crate::application::Application::connections) gives their number.
pub trait Connections {
    /// The connection with this number, from 0.
    fn take(&mut self, number: usize) -> Ends<'_>;
}

/// The two ends of a connection of a session.
pub struct Ends<'a> {
    /// The end that answers.
    pub server: &'a mut dyn Endpoint,
    /// The end that opens the connection and sends requests.
    pub client: &'a mut dyn Endpoint,
}

impl Ends<'_> {
    /// The server at [`End::Sender`], or the client at [`End::Receiver`].
    pub fn at(&mut self, end: End) -> &mut dyn Endpoint {
        match end {
            End::Sender => self.server,
            End::Receiver => self.client,
        }
    }
}

/// The traffic of a flow whose application is a session, which sends all of its data.
pub(super) struct InSession;

impl Traffic for InSession {
    fn drive(&mut self, _: Instant, _: &mut dyn Endpoint) -> Option<Instant> {
        None
    }
}
