//! Nodes that forward packets, and links between them.

use std::collections::VecDeque;

use crate::metrics::Outcome;
use crate::seed::Seed;
use crate::simulation::engine::{RunError, run_over};
use crate::simulation::observer::Observer;
use crate::simulation::setup::{Flow, Hop, Setup, SetupError};
use crate::simulation::socket::Ways;
use crate::units::Duration;

/// One run over a network: everything that decides its outcome, seed included. A [`Setup`] is the
/// network whose nodes stand in a row.
///
/// Nodes are numbered; they forward each packet on the way of fewest links to its destination, at
/// once. Of ways of equal length a node takes the link with the lowest number.
///
/// ```
/// use std::sync::Arc;
/// use clift::application::File;
/// use clift::seed::Seed;
/// use clift::simulation::{Demand, Edge, Flow, Hop, LegConfig, Network};
/// use clift::transport::tcp::TcpConfig;
/// use clift::units::{Duration, Instant, Size};
///
/// let edge = |from, to| Edge { from, to, hop: Hop::Leg(LegConfig::of_delay(Duration::from_millis(10))) };
/// let flow = Flow {
///     start: Instant::ZERO,
///     transport: Arc::new(TcpConfig::default()),
///     application: Arc::new(File { size: Size(1000) }),
///     source_leg: None,
/// };
/// let network = Network {
///     seed: Seed(1),
///     duration: Duration::from_secs(1),
///     stop_when_done: true,
///     links: vec![edge(0, 1), edge(1, 2), edge(2, 0)],
///     demands: vec![Demand { source: 0, destination: 2, flow }],
///     detours: Vec::new(),
/// };
/// let outcome = network.run(&mut ())?;
/// // SYN, SYN-ACK, data: 20, 10 and 20 ms.
/// assert_eq!(outcome.flows[0].completion(), Some(Duration::from_millis(50)));
/// assert_eq!(outcome.forward.len(), 3);
/// # Ok::<(), clift::simulation::RunError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Network {
    /// Seed of every random draw in the run. A link draws from the stream of its number.
    pub seed: Seed,
    /// Simulated time after which the run ends.
    pub duration: Duration,
    /// Whether the run ends early, once every flow has finished.
    pub stop_when_done: bool,
    /// The links; the outcome lists them as forward hops in this order.
    pub links: Vec<Edge>,
    /// The flows.
    pub demands: Vec<Demand>,
    /// Exceptions from the ways of fewest links.
    pub detours: Vec<Detour>,
}

/// A link from a node to another, in one direction.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The node at which it begins.
    pub from: u32,
    /// The node at which it ends.
    pub to: u32,
    /// What it is.
    pub hop: Hop,
}

/// A flow between two nodes.
#[derive(Clone, Debug)]
pub struct Demand {
    /// The node of its sender.
    pub source: u32,
    /// The node of its receiver.
    pub destination: u32,
    /// The flow.
    pub flow: Flow,
}

/// A node forwards packets of a flow over a given link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Detour {
    /// Number of the flow.
    pub flow: usize,
    /// The node to which the packets go.
    pub destination: u32,
    /// Number of the link; the node is the one at which it begins.
    pub link: usize,
}

impl Network {
    /// Runs the network to its end, watched by `observer`.
    ///
    /// # Errors
    /// If it cannot be run, a trace ends too early, or the observer stops the run.
    pub fn run<O: Observer>(&self, observer: &mut O) -> Result<Outcome, RunError> {
        let setup = Setup {
            seed: self.seed,
            duration: self.duration,
            stop_when_done: self.stop_when_done,
            forward: self.links.iter().map(|edge| edge.hop.clone()).collect(),
            backward: Vec::new(),
            flows: self.demands.iter().map(|demand| demand.flow.clone()).collect(),
            proxies: Vec::new(),
        };
        let ways = self.demands.iter().enumerate().map(|(flow, demand)| {
            let Demand { source, destination, .. } = *demand;
            Ok(Ways {
                to_receiver: self.way(flow, source, destination)?,
                to_sender: self.way(flow, destination, source)?,
            })
        });
        run_over(&setup, &ways.collect::<Result<Vec<_>, SetupError>>()?, observer)
    }

    /// The links that packets of a flow cross from one node to another.
    fn way(&self, flow: usize, from: u32, to: u32) -> Result<Vec<u32>, SetupError> {
        let distances = self.distances(to);
        let (mut way, mut node) = (Vec::new(), from);
        while node != to {
            let number = self.next(flow, node, to, &distances);
            let edge = number.and_then(|number| self.links.get(number));
            let edge = edge.filter(|_| way.len() < self.links.len());
            let edge = edge.ok_or(SetupError::NoWay { flow, from, to })?;
            way.extend(number.map(|number| number as u32));
            node = edge.to;
        }
        Ok(way)
    }

    /// The link over which a node forwards packets of a flow.
    fn next(&self, flow: usize, node: u32, to: u32, distances: &[Option<usize>]) -> Option<usize> {
        let begins = |link: usize| self.links.get(link).is_some_and(|edge| edge.from == node);
        let mut detours = self.detours.iter();
        let detour = detours.find(|it| it.flow == flow && it.destination == to && begins(it.link));
        let left = *distances.get(node as usize)?;
        detour.map(|detour| detour.link).or_else(|| {
            let nearer = |edge: &Edge| {
                edge.from == node && distances[edge.to as usize].map(|left| left + 1) == left
            };
            self.links.iter().position(|edge| left.is_some() && nearer(edge))
        })
    }

    /// Links between each node and `to`, on the way of fewest links; `None`: there is no way.
    fn distances(&self, to: u32) -> Vec<Option<usize>> {
        let ends = self.links.iter().flat_map(|edge| [edge.from, edge.to]);
        let count = ends.chain([to]).max().map_or(0, |last| last as usize + 1);
        let mut distances = vec![None; count];
        distances[to as usize] = Some(0);
        let mut reached = VecDeque::from([to]);
        while let Some(node) = reached.pop_front() {
            let next = distances[node as usize].map(|links| links + 1);
            for edge in self.links.iter().filter(|edge| edge.to == node) {
                let distance = &mut distances[edge.from as usize];
                if distance.is_none() {
                    *distance = next;
                    reached.push_back(edge.from);
                }
            }
        }
        distances
    }
}
