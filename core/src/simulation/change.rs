//! Changes in the middle of a run, to compare it with the run without them.

use crate::link::QueueLimit;
use crate::seed::{Seed, Stream};
use crate::simulation::path::Node;
use crate::simulation::setup::Flow;
use crate::simulation::socket::Socket;
use crate::transport::tcp::TcpConfig;
use crate::transport::{End, EndpointChange};
use crate::units::Instant;

/// A change in the middle of a run, which is the same up to then, bit for bit.
#[derive(Clone, Debug)]
pub struct Change {
    /// When. It comes before all other events of the instant.
    pub at: Instant,
    /// What changes.
    pub what: ChangeKind,
}

/// What changes in the middle of a run.
#[derive(Clone, Debug)]
pub enum ChangeKind {
    /// The next reduction of a sender's window leaves the window as it is
    /// ([`EndpointChange::KeepWindow`]).
    KeepWindow {
        /// Number of the flow, as observers name it.
        flow: u32,
        /// Number of its connection between proxies, or of its path.
        connection: u32,
    },
    /// Another congestion control for a flow of the setup ([`EndpointChange::Control`]). Proxies keep
    /// theirs.
    Control {
        /// Number of the flow.
        flow: usize,
        /// Its TCP, of which only the congestion control counts.
        config: Box<TcpConfig>,
    },
    /// Another limit of the queue before a forward hop. Packets that wait stay.
    Queue {
        /// Number of the hop.
        hop: usize,
        /// The limit.
        limit: QueueLimit,
    },
}

impl Change {
    /// Applies it; `flows` are those of the setup. Fails with the reason.
    pub(super) fn apply(
        &self,
        flows: &[Flow],
        seed: Seed,
        sockets: &mut [Socket],
        nodes: &mut [Node],
    ) -> Result<(), String> {
        match &self.what {
            ChangeKind::KeepWindow { flow, connection } => {
                let mut senders = sockets.iter_mut().filter(|it| it.flow == *flow && is_sender(it));
                let (sender, path) = match senders.next() {
                    Some(first) if *connection == 0 || !first.endpoint.paths().is_empty() => {
                        (Some(first), *connection)
                    }
                    _ => (senders.nth((*connection).saturating_sub(1) as usize), 0),
                };
                let told = |it: &mut Socket| {
                    it.endpoint.change(self.at, &EndpointChange::KeepWindow { path })
                };
                if sender.is_some_and(told) {
                    return Ok(());
                }
                Err(format!("the transport of flow {flow} always reduces its window at a cut"))
            }
            ChangeKind::Control { flow, config } => {
                let before: usize = flows[..*flow].iter().map(Flow::members).sum();
                let own = before..before + flows[*flow].members();
                let draws = seed.rng(Stream::Flow(*flow as u32));
                let change = EndpointChange::Control(Box::new((config.as_ref().clone(), draws)));
                let own = |it: &&mut Socket| {
                    own.contains(&(it.flow as usize)) && is_sender(it) && it.proxy.is_none()
                };
                if sockets.iter_mut().filter(own).all(|it| it.endpoint.change(self.at, &change)) {
                    return Ok(());
                }
                let control = config.congestion;
                Err(format!(
                    "flow {flow} cannot change to {control} during the run: its transport has no such change, or only one of both controls has a model of the path (bbr, bbr3)"
                ))
            }
            ChangeKind::Queue { hop, limit } => match nodes[*hop].set_queue(*limit) {
                true => Ok(()),
                false => Err(format!("hop {hop} has no drop-tail queue whose limit can change")),
            },
        }
    }
}

fn is_sender(socket: &Socket) -> bool {
    socket.end == End::Sender
}
