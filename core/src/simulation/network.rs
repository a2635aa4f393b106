//! Nodes that forward packets, and links between them.

use crate::metrics::Outcome;
use crate::seed::Seed;
use crate::simulation::engine::{RunError, run};
use crate::simulation::graph::{Graph, RouteError};
use crate::simulation::observer::Observer;
use crate::simulation::setup::{Flow, Hop, Setup, SetupError};
use crate::simulation::socket::{Routing, Ways};
use crate::units::Duration;

/// One run over a network: everything that decides its outcome, seed included. A [`Setup`] without
/// routes is the network whose nodes stand in a row.
///
/// Nodes are numbered; they forward each packet on the route of fewest links to its destination, at
/// once. Of routes of equal length a node takes the link with the lowest number.
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
///     demands: vec![Demand { source: 0, destination: 2, flow, route: None, return_route: None }],
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
    /// Numbers of the links that its packets take to the receiver; `None`: the fewest.
    pub route: Option<Vec<u32>>,
    /// Numbers of the links that packets take back to the sender; `None`: the fewest.
    pub return_route: Option<Vec<u32>>,
}

impl Network {
    /// Runs the network to its end, watched by `observer`.
    ///
    /// # Errors
    /// If it cannot be run, a trace ends too early, or the observer stops the run.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Outcome, RunError> {
        run(&self.setup()?, observer)
    }

    /// The setup of the network, with the route of each flow.
    ///
    /// # Errors
    /// If packets of a flow do not reach its receiver, or those back its sender.
    pub fn setup(&self) -> Result<Setup, SetupError> {
        let links = self.links.iter().map(|edge| (edge.from, edge.to, Duration::ZERO));
        let graph = Graph::by_fewest_links(links);
        let mut routes = graph.routes();
        let mut way = |flow: usize, given: &Option<Vec<u32>>, from, to| {
            let found = match given {
                Some(way) => graph.check(way, from, to).map(|()| way.clone()),
                None => routes.way(from, to),
            };
            found.map_err(|error: RouteError| SetupError::Route { flow, error })
        };
        let ways = self.demands.iter().enumerate().map(|(flow, demand)| {
            let Demand { source, destination, .. } = *demand;
            Ok(Ways {
                to_receiver: way(flow, &demand.route, source, destination)?,
                to_sender: way(flow, &demand.return_route, destination, source)?,
            })
        });
        let ways = ways.collect::<Result<_, SetupError>>()?;
        Ok(Setup {
            seed: self.seed,
            duration: self.duration,
            stop_when_done: self.stop_when_done,
            forward: self.links.iter().map(|edge| edge.hop.clone()).collect(),
            backward: Vec::new(),
            flows: self.demands.iter().map(|demand| demand.flow.clone()).collect(),
            proxies: Vec::new(),
            changes: Vec::new(),
            routing: Routing { ways, ..Routing::default() },
        })
    }
}
