//! The outcome of a run.

use std::sync::Arc;

use crate::metrics::{HopMetrics, LegMetrics, LinkMetrics, Outcome};
use crate::simulation::engine::Conversation;
use crate::simulation::flow::FlowState;
use crate::simulation::path::{LinkNode, Node};
use crate::simulation::socket::Socket;
use crate::units::Instant;

/// What the engine measured.
pub(super) fn outcome(
    (flows, conversations): (&[FlowState], &[Conversation]),
    sockets: &[Socket],
    nodes: &[Node],
    (forward, backward): (usize, usize),
    hop_names: Vec<Arc<str>>,
    ended: Instant,
    events: u64,
) -> Outcome {
    let of_flow = |(number, flow): (usize, &FlowState)| {
        let own = flow.session.map(|session| &conversations[session as usize]);
        flow.metrics(sockets, ended, own.map(|own| (&*own.session, number - own.first)))
    };
    let hops = |nodes: &[Node]| nodes.iter().map(|node| hop(node, ended)).collect();
    Outcome {
        ended,
        flows: flows.iter().enumerate().map(of_flow).collect(),
        forward: hops(&nodes[..forward]),
        backward: hops(&nodes[forward..forward + backward]),
        hop_names,
        events,
    }
}

fn hop(node: &Node, ended: Instant) -> HopMetrics {
    match node {
        Node::Leg(node) => HopMetrics::Leg(LegMetrics {
            counters: node.leg.counters,
            pending: node.on_the_way() as u64,
            marked: None,
            share_used: node.leg.usage(ended).map(|usage| usage.share()),
        }),
        Node::Managed(node) => HopMetrics::Leg(node.metrics(ended)),
        Node::Link(node) => HopMetrics::Link(Box::new(link(node, ended))),
    }
}

fn link(node: &LinkNode, ended: Instant) -> LinkMetrics {
    let counters = node.link.counters();
    let usage = node.link.usage(ended);
    let details = node.link.details();
    LinkMetrics {
        counters,
        pending: counters.pending(),
        capacity: usage.capacity(ended.saturating_since(Instant::ZERO)),
        share_used: usage.share(),
        share_waiting: usage.waiting.map(|slots| usage.part(slots)),
        share_beside: usage.share_beside(),
        share_padding: usage.share_padding(&counters),
        mean_coding_ratio: usage.coding_ratio(&counters),
        delay: node.delay.summary(),
        queueing_delay: node.queueing.summary(),
        details,
    }
}
