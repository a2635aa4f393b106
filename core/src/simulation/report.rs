//! The outcome of a run.

use crate::metrics::{FlowMetrics, HopMetrics, LegMetrics, LinkMetrics, fairness};
use crate::simulation::flow::FlowState;
use crate::simulation::path::{LinkNode, Node};
use crate::units::Instant;

/// Everything that a run measured.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// When the run ended.
    pub ended: Instant,
    /// One for each flow.
    pub flows: Vec<FlowMetrics>,
    /// One for each shared hop from the sources to the destination.
    pub forward: Vec<HopMetrics>,
    /// One for each shared hop from the destination to the sources.
    pub backward: Vec<HopMetrics>,
    /// Events that the engine handled.
    pub events: u64,
}

impl Outcome {
    /// Goodput of all flows together, bit/s: in-order bytes over the length of the run.
    pub fn goodput(&self) -> f64 {
        let bytes: u64 = self.flows.iter().map(|flow| flow.bytes_in_order).sum();
        if self.ended == Instant::ZERO {
            0.0
        } else {
            bytes as f64 * 8.0 / self.ended.as_secs_f64()
        }
    }

    /// Jain's index over the flows' goodputs.
    pub fn fairness(&self) -> f64 {
        fairness(&self.flows.iter().map(FlowMetrics::goodput).collect::<Vec<_>>())
    }

    pub(super) fn new(
        flows: &[FlowState],
        nodes: &[Node],
        forward: usize,
        backward: usize,
        ended: Instant,
        events: u64,
    ) -> Self {
        let hops = |nodes: &[Node]| nodes.iter().map(|node| hop(node, ended)).collect();
        Self {
            ended,
            flows: flows.iter().map(|flow| flow.metrics(ended)).collect(),
            forward: hops(&nodes[..forward]),
            backward: hops(&nodes[forward..forward + backward]),
            events,
        }
    }
}

fn hop(node: &Node, ended: Instant) -> HopMetrics {
    match node {
        Node::Leg(node) => HopMetrics::Leg(LegMetrics {
            counters: node.leg.counters,
            pending: node.on_the_way() as u64,
        }),
        Node::Link(node) => HopMetrics::Link(Box::new(link(node, ended))),
    }
}

fn link(node: &LinkNode, ended: Instant) -> LinkMetrics {
    let counters = node.link.counters();
    let usage = node.link.usage(ended);
    LinkMetrics {
        counters,
        pending: counters.pending(),
        share_used: usage.share(),
        mean_coding_ratio: usage.coding_ratio(&counters),
        delay: node.delay.summary(),
        queueing_delay: node.queueing.summary(),
        details: node.link.details(),
    }
}
