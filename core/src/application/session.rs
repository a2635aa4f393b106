//! Applications that hold a conversation over one connection or several.

use crate::application::Traffic;
use crate::metrics::FlowMetrics;
use crate::transport::{Connection, Dialogue, End};
use crate::units::Instant;

/// A client and a server while they talk: both ends of everything, for they are one application. The
/// host runs it at its start, whenever it asked for that, and whenever a packet reached an end of one
/// of its connections; afterwards it has both ends of the connections that the session took send
/// what they have.
///
/// What an end knows has crossed the path: a session hands over data at an end only for what that end
/// heard there ([`Dialogue::heard`]), or for a clock of that end.
pub trait Session: Send {
    /// Does what is due at `now`; says when there is more, unless a packet arrives before.
    fn run(&mut self, now: Instant, connections: &mut dyn Connections) -> Option<Instant>;

    /// A packet reached `end` of the connection `number`; otherwise as [`Session::run`].
    fn arrived(
        &mut self,
        now: Instant,
        number: usize,
        end: End,
        connections: &mut dyn Connections,
    ) -> Option<Instant>;

    /// The server's end of the connection `number` has sent what it could. Hands over more if the
    /// session holds some back for that; says whether it did. It is asked again until it did not.
    fn refill(&mut self, number: usize, connections: &mut dyn Connections) -> bool {
        let _ = (number, connections);
        false
    }

    /// Whether all that it is for has happened.
    fn is_done(&self) -> bool;

    /// Writes what it measured of the connection `number`; of the session as a whole beside the
    /// first.
    fn report(&self, number: usize, metrics: &mut FlowMetrics);
}

/// The connections of a session, as many as
/// [`Application::connections`](crate::application::Application::connections) says.
pub trait Connections {
    /// That of this number, from 0.
    fn take(&mut self, number: usize) -> &mut dyn Dialogue;
}

/// The traffic of a flow whose application is a session: all of it is the session's.
pub(super) struct InSession;

impl Traffic for InSession {
    fn drive(&mut self, _: Instant, _: &mut dyn Connection) -> Option<Instant> {
        None
    }
}
