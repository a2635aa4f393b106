//! The event loop.

mod ahead;
mod check;
mod conversation;
mod events;
mod movement;

use std::ops::ControlFlow;
use std::sync::Arc;

use thiserror::Error;

use crate::link::InstrumentedLink;
use crate::metrics::Outcome;
use crate::seed::Stream;
use crate::simulation::agenda::{Agenda, SourceId};
use crate::simulation::flow::FlowState;
use crate::simulation::observer::{Observer, Wants};
use crate::simulation::path::Node;
use crate::simulation::report::outcome;
use crate::simulation::route::Stop;
use crate::simulation::setup::{Flow, Hop, Setup, SetupError};
use crate::simulation::socket::{Socket, Ways, wire};
use crate::transport::train::{Alarm, Rank};
use crate::transport::{End, Outbox, Purpose, Streams};
use crate::units::{Duration, Instant};
use ahead::Ahead;
pub(super) use conversation::Conversation;

/// Why a run has no outcome.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum RunError {
    /// The setup cannot be run.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A packet waited when the trace or channel of a link ended, before the end of the run.
    #[error("the trace or channel of a link ends at {:.3} s of the run while a packet waits; shorten the duration, start earlier, give a longer trace or channel, or let it wrap", at.as_secs_f64())]
    TraceEnded {
        /// When.
        at: Instant,
    },
    /// A change in the middle of the run cannot be made.
    #[error("{0}")]
    Change(String),
    /// Time does not pass: an application and its peer answer each other over a way without a delay.
    #[error("{} million events at {:.3} s of the run: nothing there takes time; give a leg a delay or a rate, or the application a pause", MOST_AT_ONCE >> 20, at.as_secs_f64())]
    NoTimePasses {
        /// When.
        at: Instant,
    },
    /// The observer stopped the run.
    #[error("the run was interrupted at {:.3} s of simulated time", at.as_secs_f64())]
    Interrupted {
        /// When.
        at: Instant,
    },
}

/// Runs a setup to its end, watched by `observer` (`&mut ()`: nobody).
///
/// # Errors
/// If the setup cannot be run, the trace ends too early, or the observer stops the run.
pub fn run(setup: &Setup, observer: &mut dyn Observer) -> Result<Outcome, RunError> {
    check::check(setup)?;
    Engine::new(setup, observer)?.run()
}

/// Events between two looks at the observer.
const CHECKPOINT: u64 = 4096;
/// Events of one instant, beyond those of a hundred thousand flows that begin together.
const MOST_AT_ONCE: u64 = 1 << 24;
/// Source legs draw from streams far from those of the shared hops.
const SOURCE_LEG_STREAMS: u32 = 1 << 16;
/// A wire that loses nothing draws nothing either.
const SPLIT_STREAMS: u32 = u32::MAX;
/// Further connections of a session draw from streams far from those of the flows.
const MEMBER_STREAMS: u32 = 1 << 31;

struct Engine<'a> {
    observer: &'a mut dyn Observer,
    wants: Wants,
    end: Instant,
    stop_when_done: bool,
    /// Nodes: shared forward hops, shared backward hops, source legs.
    nodes: Vec<Node>,
    forward: usize,
    backward: usize,
    sockets: Vec<Socket>,
    ways: WayTable,
    flows: Vec<FlowState>,
    conversations: Vec<Conversation>,
    /// Flows and sessions that are not done.
    unfinished: usize,
    packets: Outbox,
    /// The stop at which each packet is that is not on a plain leg, by its number.
    places: Vec<u32>,
    agenda: Agenda,
    /// Ranks given, if they count.
    ranks: u64,
    now: Instant,
    /// Events worked off.
    events: u64,
    ahead: Option<Ahead>,
    sample_interval: Option<Duration>,
    hop_names: Vec<Arc<str>>,
    setup: &'a Setup,
}

/// The ways that packets take.
#[derive(Debug, Default)]
struct WayTable {
    /// The stops of all ways.
    stops: Vec<Stop>,
    /// Number of the first stop of each way.
    starts: Vec<u32>,
}

impl WayTable {
    /// Adds a way over `nodes` to a socket. Its flow is set once the flow has a number.
    fn add(&mut self, nodes: &[u32], socket: u32) {
        let node = |&number| Stop { number, flow: 0, is_end: false };
        let end = Stop { number: socket, flow: 0, is_end: true };
        self.starts.push(self.stops.len() as u32);
        self.stops.extend(nodes.iter().map(node).chain([end]));
    }

    /// The nodes of the way that begins with this stop.
    fn nodes(&self, first: u32) -> impl Iterator<Item = &Stop> {
        self.stops[first as usize..].iter().take_while(|stop| !stop.is_end)
    }
}

/// What an event source is. Sources are numbered: the nodes, the sockets, the flows' applications, the
/// sampler, the changes, the choice of routes.
enum Role {
    Node(usize),
    Timer(u32),
    Application(u32),
    Sampler,
    Change(usize),
    Rerouting,
}

impl<'a> Engine<'a> {
    fn new(setup: &'a Setup, observer: &'a mut dyn Observer) -> Result<Self, SetupError> {
        let shared = setup.forward.iter().chain(&setup.backward);
        let forward = setup.forward.len();
        let backward = setup.backward.len();
        let mut nodes: Vec<Node> = Hop::numbered(shared, 0)
            .enumerate()
            .map(|(place, (hop, number))| {
                let (seed, number) = match setup.routing.hop_names.get(place) {
                    Some(name) => (setup.seed.of_link(name, u32::from(place >= forward)), 0),
                    None => (setup.seed, number),
                };
                Node::shared(hop, seed, number, setup.duration)
            })
            .collect::<Result<_, _>>()?;
        let (mut sockets, mut table) = (Vec::new(), WayTable::default());
        let mut flows = Vec::with_capacity(setup.flows.len());
        let (mut conversations, mut starts) = (Vec::new(), Vec::new());
        let chain = chain(setup);
        for (flow, number) in setup.flows.iter().zip(0u32..) {
            let own = setup.routing.ways.get(number as usize).unwrap_or(&chain);
            let Ways { mut to_receiver, mut to_sender } = own.clone();
            if let Some(leg) = &flow.source_leg {
                let stream = SOURCE_LEG_STREAMS + 2 * number;
                to_receiver.insert(0, nodes.len() as u32);
                nodes.push(Node::leg(leg, setup.seed, stream));
                to_sender.push(nodes.len() as u32);
                nodes.push(Node::leg(leg, setup.seed, stream + 1));
            }
            let ways = Ways { to_receiver, to_sender };
            let first = flows.len();
            starts.push((first as u32, flow.start));
            let streams = flow.transport.dialogues().unwrap_or(Streams::One);
            let session = flow.application.session(flow.start, streams);
            let own = session.is_some().then_some(conversations.len() as u32);
            let purpose = match &session {
                Some(_) => Purpose::Dialogue,
                None if flow.application.sends_messages() => Purpose::Messages,
                None => Purpose::OneWay,
            };
            let count = if session.is_some() { flow.connections() } else { 1 };
            for place in 0..count {
                let stream = if place == 0 { number } else { MEMBER_STREAMS + flows.len() as u32 };
                let further = setup.routing.further.get(&(number as usize));
                let further = further.map_or(&[][..], Vec::as_slice);
                let mut way = |splits| match splits {
                    false => vec![ways.clone()],
                    true => ways.split(setup, flow, || {
                        nodes.push(Node::leg(&wire(), setup.seed, SPLIT_STREAMS));
                        nodes.len() as u32 - 1
                    }),
                };
                let (begins, first_stop) = (sockets.len(), table.stops.len());
                let splits = flow.transport.splits() && !setup.proxies.is_empty();
                let ways = (way(splits), further);
                connect(setup, flow, purpose, stream, ways, (&mut sockets, &mut table))?;
                let draws = setup.seed.rng(Stream::OwnApplication(number));
                let own_sockets = (&sockets[begins..], begins);
                let name = setup.routing.flow_names.get(number as usize);
                let name = name.map(|name| match place {
                    0 => Arc::clone(name),
                    _ => format!("{name}/{place}").into(),
                });
                flows.push(FlowState::new(flow, setup, own_sockets, draws, own, name));
                let flow = flows.len() as u32 - 1;
                sockets[begins..].iter_mut().for_each(|socket| socket.flow = flow);
                table.stops[first_stop..].iter_mut().for_each(|stop| stop.flow = flow);
            }
            if let Some(session) = session {
                conversations.push(Conversation::new(session, first, count));
            }
        }
        let sources = nodes.len() + sockets.len() + flows.len() + 1;
        let sample_interval = observer.sample_interval();
        let mut engine = Self {
            wants: observer.wants(),
            observer,
            end: Instant::ZERO + setup.duration,
            // Where flows arrive at random, none may come: such a run lasts as long as the others.
            stop_when_done: setup.stop_when_done && !setup.flows.is_empty(),
            nodes,
            forward,
            backward,
            unfinished: setup.flows.len(),
            sockets,
            ways: table,
            flows,
            conversations,
            packets: Outbox::default(),
            places: Vec::new(),
            agenda: Agenda::new(sources + setup.changes.len() + 1),
            ranks: 0,
            now: Instant::ZERO,
            events: 0,
            ahead: None,
            sample_interval,
            hop_names: setup.routing.hop_names.clone(),
            setup,
        };
        let wants = engine.wants;
        for socket in &mut engine.sockets {
            let session = engine.flows[socket.flow as usize].session;
            let watched = wants.events || wants.packets || wants.senders;
            socket.is_plain = !(socket.splits || session.is_some() || watched);
        }
        if let Some(rerouting) = &setup.routing.rerouting {
            engine.schedule(engine.rerouting(), Instant::ZERO + rerouting.every);
        }
        // First, so that a change precedes the other events of its instant.
        for (change, source) in setup.changes.iter().zip(sources as u32..) {
            engine.agenda.set(SourceId(source), change.at, 0);
        }
        for (first, start) in starts {
            engine.schedule(engine.application(first), start);
        }
        if engine.wants.units || engine.wants.packets {
            links(&mut engine.nodes).for_each(|(_, link)| link.log_units());
        }
        if sample_interval.is_some() {
            engine.schedule(SourceId(sources as u32 - 1), Instant::ZERO);
        }
        engine.ahead = Ahead::new(&engine);
        Ok(engine)
    }

    fn run(mut self) -> Result<Outcome, RunError> {
        // The instant at the last checkpoints, and the events before the first of them.
        let (mut checkpoint, mut since) = (CHECKPOINT, (Instant::ZERO, 0));
        while let Some((at, source)) = self.agenda.next() {
            if at > self.end {
                break;
            }
            if self.wants.senders {
                self.read_hops(at);
            }
            let now = at;
            self.now = now;
            let runs_ahead = self.ahead.as_mut().is_some_and(|ahead| ahead.begin(source, now));
            match self.role(source) {
                Role::Node(node) if runs_ahead => self.run_ahead(node, now)?,
                Role::Node(node) => self.node_event(node, now)?,
                Role::Timer(socket) => {
                    if !self.timer(socket, now) {
                        continue;
                    }
                }
                Role::Application(flow) => self.application_event(flow, now),
                Role::Sampler => self.sample(now),
                Role::Change(number) => {
                    self.agenda.clear(source);
                    let Setup { flows, seed, changes, .. } = self.setup;
                    let made =
                        changes[number].apply(flows, *seed, &mut self.sockets, &mut self.nodes);
                    made.map_err(RunError::Change)?;
                }
                Role::Rerouting => self.reroute(now),
            }
            self.events += 1;
            if self.events >= checkpoint {
                checkpoint += CHECKPOINT;
                self.hand_out_units();
                let bytes = self.flows.iter().map(|flow| flow.delivered(&self.sockets)).sum();
                if let ControlFlow::Break(()) = self.observer.checkpoint(now, bytes) {
                    return Err(RunError::Interrupted { at: now });
                }
                if since.0 < now {
                    since = (now, self.events);
                }
                if self.events - since.1 > MOST_AT_ONCE {
                    return Err(RunError::NoTimePasses { at: now });
                }
            }
            if self.unfinished == 0 && self.stop_when_done {
                self.end = now;
                break;
            }
        }
        let ended = if self.stop_when_done && self.unfinished == 0 { self.now } else { self.end };
        if self.wants.senders {
            self.read_hops(ended);
        }
        self.catch_up(ended);
        self.hand_out_units();
        if self.wants.senders {
            for hop in 0..self.forward + self.backward {
                let usage = self.nodes[hop].usage(ended);
                self.observer.ended(ended, hop, usage.as_ref());
            }
        }
        Ok(outcome(
            (&self.flows, &self.conversations),
            &self.sockets,
            &self.nodes,
            (self.forward, self.backward),
            self.hop_names,
            ended,
            self.events,
        ))
    }

    fn role(&self, source: SourceId) -> Role {
        let number = source.0 as usize;
        let (nodes, sockets) = (self.nodes.len(), self.sockets.len());
        if number < nodes {
            Role::Node(number)
        } else if number < nodes + sockets {
            Role::Timer((number - nodes) as u32)
        } else if number < nodes + sockets + self.flows.len() {
            Role::Application((number - nodes - sockets) as u32)
        } else {
            match number - nodes - sockets - self.flows.len() {
                0 => Role::Sampler,
                change if change <= self.setup.changes.len() => Role::Change(change - 1),
                _ => Role::Rerouting,
            }
        }
    }

    #[inline]
    fn timer_source(&self, socket: u32) -> SourceId {
        SourceId(self.nodes.len() as u32 + socket)
    }

    fn application(&self, flow: u32) -> SourceId {
        SourceId((self.nodes.len() + self.sockets.len()) as u32 + flow)
    }

    fn rerouting(&self) -> SourceId {
        let before = self.nodes.len() + self.sockets.len() + self.flows.len() + 1;
        SourceId((before + self.setup.changes.len()) as u32)
    }

    #[inline]
    fn schedule(&mut self, source: SourceId, at: Instant) {
        let rank = self.rank(Rank::Other);
        self.agenda.set(source, at, rank);
    }

    /// The rank of an event that is set now: in the order in which events are set, but for what a lone flow
    /// sets at one instant.
    #[inline]
    fn rank(&mut self, rank: Rank) -> u64 {
        if self.ahead.is_some() {
            return rank.at(self.now);
        }
        self.ranks += 1;
        self.ranks
    }
}

/// Makes the sockets of a flow, two for each of `ways`: with proxies, a connection ends at each of them
/// and the next begins. The source draws from `stream`, as it does without proxies, and each proxy from
/// its own stream. `further` are the ways of a flow's further paths.
fn connect(
    setup: &Setup,
    flow: &Flow,
    purpose: Purpose,
    stream: u32,
    (ways, further): (Vec<Ways>, &[Ways]),
    (sockets, table): (&mut Vec<Socket>, &mut WayTable),
) -> Result<(), SetupError> {
    let last = ways.len() - 1;
    for (place, ways) in ways.into_iter().enumerate() {
        let proxy = |number: usize| setup.proxies.get(number).map(|proxy| &proxy.config);
        let (before, behind) = (place.checked_sub(1), (place < last).then_some(place));
        let draws = match before {
            None => Stream::Flow(stream),
            Some(before) => Stream::Proxy(stream, before as u32 + 1),
        };
        let proxies = [before.and_then(proxy), behind.and_then(proxy)];
        let ends = flow.transport.connect(purpose, proxies, setup.seed.rng(draws));
        let mut ends = ends.ok_or(SetupError::NoDialogue)?;
        setup.routing.foretell(&mut ends, std::iter::once(&ways).chain(further));
        let ([sender, receiver], Ways { to_receiver, to_sender }) = (ends, ways);
        let first = sockets.len() as u32;
        let splits = last > 0;
        let mut add = |way: &[u32], others: &mut dyn Iterator<Item = &Vec<u32>>, to: u32| {
            let number = table.starts.len() as u32;
            table.add(way, to);
            others.for_each(|other| table.add(other, to));
            (number, table.starts[number as usize])
        };
        let mut others = further.iter().map(|ways| &ways.to_sender);
        let (to_sender, from_receiver) = add(&to_sender, &mut others, first);
        let mut others = further.iter().map(|ways| &ways.to_receiver);
        let (to_receiver, from_sender) = add(&to_receiver, &mut others, first + 1);
        let socket = |endpoint, end, way, first, proxy: Option<usize>| Socket {
            endpoint,
            flow: 0,
            end,
            way,
            first,
            splits,
            is_plain: false,
            alarm: Alarm::new(end),
            proxy: proxy.map(|proxy| proxy as u32),
        };
        sockets.push(socket(sender, End::Sender, to_receiver, from_sender, before));
        sockets.push(socket(receiver, End::Receiver, to_sender, from_receiver, behind));
    }
    Ok(())
}

/// The hops of a flow that crosses all of them.
fn chain(setup: &Setup) -> Ways {
    let (forward, backward) = (setup.forward.len() as u32, setup.backward.len() as u32);
    Ways { to_receiver: (0..forward).collect(), to_sender: (forward..forward + backward).collect() }
}

/// The links among the nodes, by number.
fn links(
    nodes: &mut [Node],
) -> impl Iterator<Item = (usize, &mut (dyn InstrumentedLink + Send + 'static))> {
    nodes.iter_mut().enumerate().filter_map(|(number, node)| match node {
        Node::Link(node) => Some((number, &mut *node.link)),
        Node::Leg(_) | Node::Managed(_) => None,
    })
}
