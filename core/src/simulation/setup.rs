//! What is simulated: a path of legs and links, and the flows that share it.

use std::sync::Arc;

use thiserror::Error;

use crate::application::Application;
use crate::config::Fault;
use crate::link::{Propagation, QueueLimit};
use crate::queue::Aqm;
use crate::scheme::{LinkConfig, LiveConfig};
use crate::seed::Seed;
use crate::simulation::change::{Change, ChangeKind};
use crate::simulation::graph::RouteError;
use crate::simulation::socket::Routing;
use crate::simulation::stretch::Stretch;
use crate::transport::tcp::ProxyConfig;
use crate::transport::{Protocol, Streams};
use crate::units::{BitRate, Duration, Instant, Probability};

/// One run: everything that decides its outcome, seed included.
///
/// Packets of every flow cross the flow's own source leg, the `forward` hops in order, and reach
/// the receiver; acknowledgements cross the `backward` hops in order and the source leg reversed.
/// With `routing`, packets cross the hops of their own flow instead.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Seed of every random draw in the run.
    pub seed: Seed,
    /// Simulated time after which the run ends.
    pub duration: Duration,
    /// Whether the run ends early, once every flow has finished.
    pub stop_when_done: bool,
    /// Shared hops from the sources to the destination.
    pub forward: Vec<Hop>,
    /// Shared hops from the destination to the sources.
    pub backward: Vec<Hop>,
    /// The flows.
    pub flows: Vec<Flow>,
    /// Proxies, from the sources to the destination: they split the connections of flows that they
    /// can read (TCP), and all others pass them as if there were none.
    pub proxies: Vec<Proxy>,
    /// The hops of each flow, if they differ, and the names of flows and hops.
    pub routing: Routing,
    /// Changes in the middle of the run; empty: none.
    pub changes: Vec<Change>,
}

impl Setup {
    /// Gives this run from an instant on the congestion controls, the limits of queues and the schemes
    /// of live links of another one of the same path and flows; up to then it is the same.
    ///
    /// # Errors
    /// If a flow has another transport that it cannot change to, or nothing changes.
    pub fn change_to(&mut self, other: &Self, at: Instant) -> Result<(), SetupError> {
        for (flow, (own, other)) in self.flows.iter().zip(&other.flows).enumerate() {
            // Other transports than TCP over one path have no control to compare, only all options.
            let options = [own, other].map(|flow| match flow.transport.tcp() {
                None => format!("{:?}", flow.transport),
                Some(_) => String::new(),
            });
            if options[0] != options[1] {
                return Err(SetupError::ChangeFlow(flow));
            }
        }
        // What earlier changes have made of the run until then.
        let before = self.changes.iter().filter(|change| change.at <= at);
        let flows = self.flows.iter().zip(&other.flows).enumerate();
        let controls = flows.filter_map(|(number, (own, other))| {
            let mut changed = before.clone().filter_map(|change| match &change.what {
                ChangeKind::Control { flow, config } if *flow == number => Some(config.congestion),
                _ => None,
            });
            let own = changed.next_back().or(own.transport.tcp().map(|tcp| tcp.congestion));
            let config = other.transport.tcp().filter(|other| own != Some(other.congestion))?;
            Some(ChangeKind::Control { flow: number, config: Box::new(config.clone()) })
        });
        let limit = |hop: &Hop| match hop {
            Hop::Leg(leg) => leg.queue,
            Hop::Link(link) => link.queue,
        };
        let hops = self.forward.iter().zip(&other.forward).enumerate();
        let queues = hops.filter_map(|(number, (own, other))| {
            let mut changed = before.clone().filter_map(|change| match change.what {
                ChangeKind::Queue { hop, limit } if hop == number => Some(limit),
                _ => None,
            });
            let (own, limit) = (changed.next_back().unwrap_or(limit(own)), limit(other));
            (own != limit).then_some(ChangeKind::Queue { hop: number, limit })
        });
        let changes: Vec<_> = controls.chain(queues).map(|what| Change { at, what }).collect();
        let mut is_any = !changes.is_empty();
        self.changes.extend(changes);
        let forward = self.forward.iter_mut().zip(&other.forward);
        for pair in forward.chain(self.backward.iter_mut().zip(&other.backward)) {
            if let (Hop::Link(own), Hop::Link(other)) = pair
                && let Some(live) = own.medium.get::<LiveConfig>()
                && let Some(other) = other.medium.get::<LiveConfig>()
                && *live.scheme_at(at) != other.scheme
            {
                let live = LiveConfig::clone(&live);
                own.medium = Arc::new(live.followed_by(other.scheme.clone(), at));
                is_any = true;
            }
        }
        if is_any { Ok(()) } else { Err(SetupError::NoChange) }
    }

    /// The hops of the forward and the return path, for a host that carries one path.
    ///
    /// # Errors
    /// If flows take different routes.
    pub fn chain(&self) -> Result<[&[Hop]; 2], SetupError> {
        match self.routing.ways[..] {
            [] => Ok([&self.forward, &self.backward]),
            _ => Err(SetupError::NoChain),
        }
    }
}

/// A proxy between two hops.
#[derive(Clone, Debug)]
pub struct Proxy {
    /// What it is like.
    pub config: ProxyConfig,
    /// How many shared hops from the sources to the destination stand before it.
    pub forward: usize,
    /// How many of those from the destination to the sources do.
    pub backward: usize,
}

/// One element of a path.
#[derive(Clone, Debug)]
pub enum Hop {
    /// A wired leg.
    Leg(LegConfig),
    /// A link.
    Link(LinkConfig),
}

impl Hop {
    /// The way back over these hops of the way there, if nothing else is known of it: the delay of
    /// each, that of the last one first, without rates, queues or losses. Fixed delays side by side
    /// make one leg; there is at least one.
    ///
    /// ```
    /// use clift::link::Propagation;
    /// use clift::simulation::{Hop, LegConfig};
    /// use clift::units::Duration;
    /// let leg = |ms| Hop::Leg(LegConfig::of_delay(Duration::from_millis(ms)));
    /// let [Hop::Leg(back)] = &Hop::way_back(&[leg(5), leg(20)])[..] else { panic!("a leg") };
    /// assert_eq!(back.delay, Propagation::Fixed(Duration::from_millis(25)));
    /// ```
    pub fn way_back(there: &[Self]) -> Vec<Self> {
        let mut delays: Vec<Propagation> = Vec::new();
        for delay in there.iter().rev().flat_map(Self::delays_back) {
            match (delays.last_mut(), delay) {
                (_, Propagation::Fixed(Duration::ZERO)) => {}
                (Some(Propagation::Fixed(sum)), Propagation::Fixed(delay)) => *sum += delay,
                (_, delay) => delays.push(delay),
            }
        }
        if delays.is_empty() {
            delays.push(Duration::ZERO.into());
        }
        delays.into_iter().map(|delay| Self::Leg(LegConfig::of_delay(delay))).collect()
    }

    /// Delays of the way back over this hop, the last hop of a stretch first.
    fn delays_back(&self) -> Vec<Propagation> {
        match self {
            Self::Leg(leg) => vec![leg.delay.clone()],
            Self::Link(link) => match link.medium.get::<Stretch>() {
                None => vec![link.medium.way_back()],
                Some(own) => own.hops.iter().rev().flat_map(Self::delays_back).collect(),
            },
        }
    }
}

impl Hop {
    /// Its propagation delay.
    pub fn delay(&self) -> Propagation {
        match self {
            Self::Leg(leg) => leg.delay.clone(),
            Self::Link(link) => link.medium.way_back(),
        }
    }
}

impl LegConfig {
    /// A leg that only delays.
    pub fn of_delay(delay: impl Into<Propagation>) -> Self {
        let queue = QueueLimit::Unlimited;
        Self { rate: None, delay: delay.into(), queue, aqm: Aqm::None, loss: Loss::None }
    }
}

/// A wired leg: drop-tail queue, serialisation at a rate, random loss after it, propagation.
///
/// This is what ns-2 calls a simplex link (`DropTail` queue, `ErrorModel` behind the transmitter).
#[derive(Clone, Debug)]
pub struct LegConfig {
    /// Serialisation rate; `None`: packets take no time.
    pub rate: Option<BitRate>,
    /// Propagation delay.
    pub delay: Propagation,
    /// Bound of the queue before the transmitter.
    pub queue: QueueLimit,
    /// What drops packets of that queue before it is full.
    pub aqm: Aqm,
    /// What is lost behind the transmitter.
    pub loss: Loss,
}

/// Packet loss on a leg.
#[derive(Clone, Debug, Default)]
pub enum Loss {
    /// None.
    #[default]
    None,
    /// Each packet independently, from the leg's own random stream.
    Random(Probability),
    /// Exactly these packets, counted from 0 in order of transmission; ascending.
    Packets(Arc<[u64]>),
    /// Of the packets that carry data exactly these are lost, and exactly these are held back for
    /// so long beyond the delay that others may overtake them. They are counted from 0 as they
    /// leave the transmitter, ascending; SYNs and pure acknowledgements are not counted.
    Data {
        /// Packets lost.
        lost: Arc<[u64]>,
        /// Packets held back.
        held: Arc<[(u64, Duration)]>,
    },
    /// Everything that leaves the transmitter in these times, from the first to before the second
    /// of each; ascending, without overlap.
    Outages(Arc<[(Instant, Instant)]>),
}

/// One transport connection over the path, or several if the application is a session.
#[derive(Clone, Debug)]
pub struct Flow {
    /// When it starts.
    pub start: Instant,
    /// Its transport.
    pub transport: Arc<dyn Protocol>,
    /// What drives it.
    pub application: Arc<dyn Application>,
    /// The flow's own leg between its source and the first shared hop, in both directions.
    pub source_leg: Option<LegConfig>,
}

impl Flow {
    /// Connections of it that a run has: flows of the outcome, and to an observer.
    pub fn connections(&self) -> usize {
        self.application.connections().clamp(1, Self::MOST_CONNECTIONS)
    }

    /// Flows of the outcome that it has: one for each connection of a session.
    pub(crate) fn members(&self) -> usize {
        let streams = self.transport.dialogues().unwrap_or(Streams::One);
        match self.application.session(self.start, streams) {
            Some(_) => self.connections(),
            None => 1,
        }
    }

    /// Most connections of one flow.
    pub const MOST_CONNECTIONS: usize = 64;
}

/// A setup that cannot be run.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum SetupError {
    /// A link or transport that cannot be.
    #[error(transparent)]
    Part(#[from] Fault),
    /// A session over a transport without dialogues.
    #[error(
        "the application needs data in both directions, which its transport does not carry; give TCP of profile `linux`, or QUIC"
    )]
    NoDialogue,
    /// Packets of a flow cannot get from one node to another.
    #[error("flow {flow}: {error}; add links, or change its route")]
    Route {
        /// The offending flow, from 0.
        flow: usize,
        /// What is wrong with its route.
        error: RouteError,
    },
    /// A transport with more or fewer paths than the flow has routes.
    #[error(
        "flow {flow}: its transport has {transport} paths, but it has {routes} routes; give one for each path"
    )]
    Paths {
        /// The offending flow, from 0.
        flow: usize,
        /// Paths of its transport.
        transport: usize,
        /// Its routes.
        routes: usize,
    },
    /// A network where one path is needed.
    #[error("a [network] has no single path; give the path of one flow in [[path]]")]
    NoChain,
    /// A duration of zero.
    #[error("the duration is zero; give a time above zero")]
    NoTime,
    /// Bulk data without flow control over a path that never pushes back.
    #[error("flow {flow}: datagrams need an application of a constant rate or a file")]
    BulkDatagrams {
        /// The offending flow, from 0.
        flow: usize,
    },
    /// A proxy that stands nowhere, or in another order on the way back, or among routes.
    #[error(
        "proxy {proxy}: the way has no such place; proxies stand in order from the sources to the destination, and in the reverse order on the way back, and flows have no separate routes"
    )]
    ProxyPlace {
        /// The offending proxy, from 0.
        proxy: usize,
    },
    /// A proxy that cannot be.
    #[error("proxy {proxy}: {fault}")]
    Proxy {
        /// The offending proxy, from 0.
        proxy: usize,
        /// What is wrong with it.
        fault: Fault,
    },
    /// A change that the run has no place for.
    #[error("a change concerns flow or hop {0}, which the setup does not have")]
    ChangePlace(usize),
    /// A flow whose transport cannot change in the middle of a run.
    #[error(
        "flow {0} cannot change its transport in the middle of a run: only the congestion control of \
        TCP over one path can"
    )]
    ChangeFlow(usize),
    /// A change to what the run has already, or that no flow or hop uses.
    #[error("nothing changes: the run has this value already, or no flow and no hop uses it")]
    NoChange,
    /// Nothing on the path has a rate, so that bulk data would never stop.
    #[error("nothing on the path limits the rate; give a link, a leg with a rate, or a window")]
    Unlimited,
}
