//! The event loop.

mod check;
mod conversation;
mod events;
mod movement;

use std::ops::ControlFlow;

use rand_chacha::ChaCha8Rng;
use thiserror::Error;

use crate::link::InstrumentedLink;
use crate::metrics::Outcome;
use crate::seed::Stream;
use crate::simulation::agenda::{Agenda, SourceId};
use crate::simulation::flow::{FlowState, Way};
use crate::simulation::observer::Observer;
use crate::simulation::path::Node;
use crate::simulation::report::outcome;
use crate::simulation::route::Route;
use crate::simulation::setup::{Setup, SetupError};
use crate::simulation::stretches::{main_stretch, wire};
use crate::transport::tcp::ProxyConfig;
use crate::transport::{Connection, End, Outbox, Streams};
use crate::units::{Duration, Instant};
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
pub fn run<O: Observer>(setup: &Setup, observer: &mut O) -> Result<Outcome, RunError> {
    check::check(setup)?;
    Engine::new(setup, observer)?.run()
}

/// Events between two looks at the observer.
const CHECKPOINT: u64 = 4096;
/// Source legs draw from streams far from those of the shared hops.
const SOURCE_LEG_STREAMS: u32 = 1 << 16;
/// A wire that loses nothing draws nothing either.
const SPLIT_STREAMS: u32 = u32::MAX;
/// Further connections of a session draw from streams far from those of the flows.
const MEMBER_STREAMS: u32 = 1 << 31;

struct Engine<'a, O> {
    observer: &'a mut O,
    end: Instant,
    stop_when_done: bool,
    /// Nodes: shared forward hops, shared backward hops, source legs.
    nodes: Vec<Node>,
    forward: usize,
    backward: usize,
    flows: Vec<FlowState>,
    conversations: Vec<Conversation>,
    /// Flows and sessions that are not done.
    unfinished: usize,
    packets: Outbox,
    /// Where each packet is, by its number.
    routes: Vec<Route>,
    agenda: Agenda,
    sequence: u64,
    sample_interval: Option<Duration>,
}

/// What an event source is. Sources are numbered: the nodes, then three for each flow, then the
/// sampler.
enum Role {
    Node(usize),
    Timer(u32, End),
    Application(u32),
    Sampler,
}

impl<'a, O: Observer> Engine<'a, O> {
    fn new(setup: &Setup, observer: &'a mut O) -> Result<Self, SetupError> {
        let shared = setup.forward.iter().chain(&setup.backward);
        let mut nodes: Vec<Node> = shared
            .zip(0..)
            .map(|(hop, number)| Node::shared(hop, setup.seed, number, setup.duration))
            .collect::<Result<_, _>>()?;
        let forward = setup.forward.len();
        let backward = setup.backward.len();
        let mut flows = Vec::with_capacity(setup.flows.len());
        let (mut conversations, mut starts) = (Vec::new(), Vec::new());
        for (flow, number) in setup.flows.iter().zip(0u32..) {
            let mut to_receiver: Vec<u32> = (0..forward as u32).collect();
            let mut to_sender: Vec<u32> = (forward as u32..(forward + backward) as u32).collect();
            if let Some(leg) = &flow.source_leg {
                let stream = SOURCE_LEG_STREAMS + 2 * number;
                to_receiver.insert(0, nodes.len() as u32);
                nodes.push(Node::leg(leg, setup.seed, stream));
                to_sender.push(nodes.len() as u32);
                nodes.push(Node::leg(leg, setup.seed, stream + 1));
            }
            let first = flows.len();
            starts.push((first as u32, flow.start));
            let draws = || setup.seed.rng(Stream::OwnApplication(number));
            let whole = Way::whole(to_receiver, to_sender);
            let mut way = |splits| match splits {
                true => whole.split(setup, flow, || {
                    nodes.push(Node::leg(&wire(), setup.seed, SPLIT_STREAMS));
                    nodes.len() as u32 - 1
                }),
                false => whole.clone(),
            };
            let streams = flow.transport.dialogues().unwrap_or(Streams::One);
            if let Some(session) = flow.application.session(flow.start, streams) {
                let own = Some(conversations.len() as u32);
                for place in 0..flow.connections() {
                    let stream =
                        if place == 0 { number } else { MEMBER_STREAMS + flows.len() as u32 };
                    let split = through(setup, stream, |proxies, main, rngs| {
                        flow.transport.converse_through(proxies, main, rngs)
                    });
                    let way = way(split.is_some());
                    let whole = || flow.transport.converse(setup.seed.rng(Stream::Flow(stream)));
                    let connection = split.or_else(whole).ok_or(SetupError::NoDialogue)?;
                    flows.push(FlowState::new(flow, connection, draws(), own, way));
                }
                conversations.push(Conversation::new(session, first, flow.connections()));
                continue;
            }
            let split = through(setup, number, |proxies, main, rngs| {
                flow.transport.split(proxies, main, rngs)
            });
            let way = way(split.is_some());
            let rng = || setup.seed.rng(Stream::Flow(number));
            let messages = flow.application.sends_messages();
            let datagrams = messages.then(|| flow.transport.connect_datagrams(rng())).flatten();
            let connection = split.or(datagrams).unwrap_or_else(|| flow.transport.connect(rng()));
            flows.push(FlowState::new(flow, connection, draws(), None, way));
        }
        let sources = nodes.len() + 3 * flows.len() + 1;
        let sample_interval = observer.sample_interval();
        let mut engine = Self {
            observer,
            end: Instant::ZERO + setup.duration,
            stop_when_done: setup.stop_when_done,
            nodes,
            forward,
            backward,
            unfinished: setup.flows.len(),
            flows,
            conversations,
            packets: Outbox::default(),
            routes: Vec::new(),
            agenda: Agenda::new(sources),
            sequence: 0,
            sample_interval,
        };
        for (first, start) in starts {
            engine.schedule(engine.application(first), start);
        }
        if O::UNITS || O::PACKETS {
            links(&mut engine.nodes).for_each(|(_, link)| link.log_units());
        }
        if sample_interval.is_some() {
            engine.schedule(SourceId(sources as u32 - 1), Instant::ZERO);
        }
        Ok(engine)
    }

    fn run(mut self) -> Result<Outcome, RunError> {
        let mut events = 0u64;
        let mut now = Instant::ZERO;
        while let Some((at, source)) = self.agenda.next() {
            if at > self.end {
                break;
            }
            now = at;
            match self.role(source) {
                Role::Node(node) => self.node_event(node, now)?,
                Role::Timer(flow, end) => self.timer(flow, end, now),
                Role::Application(flow) => self.application_event(flow, now),
                Role::Sampler => self.sample(now),
            }
            events += 1;
            if events.is_multiple_of(CHECKPOINT) {
                self.hand_out_units();
                let bytes = self.flows.iter().map(|flow| flow.connection.delivered()).sum();
                if let ControlFlow::Break(()) = self.observer.checkpoint(now, bytes) {
                    return Err(RunError::Interrupted { at: now });
                }
            }
            if self.unfinished == 0 && self.stop_when_done {
                self.end = now;
                break;
            }
        }
        let ended = if self.stop_when_done && self.unfinished == 0 { now } else { self.end };
        self.catch_up(ended);
        self.hand_out_units();
        Ok(outcome(
            (&self.flows, &self.conversations),
            &self.nodes,
            self.forward,
            self.backward,
            ended,
            events,
        ))
    }

    fn role(&self, source: SourceId) -> Role {
        let number = source.0 as usize;
        if number < self.nodes.len() {
            return Role::Node(number);
        }
        let number = (number - self.nodes.len()) as u32;
        let flow = number / 3;
        if flow as usize == self.flows.len() {
            return Role::Sampler;
        }
        match number % 3 {
            0 => Role::Timer(flow, End::Sender),
            1 => Role::Timer(flow, End::Receiver),
            _ => Role::Application(flow),
        }
    }

    fn timer_source(&self, flow: u32, end: End) -> SourceId {
        SourceId(self.nodes.len() as u32 + 3 * flow + u32::from(end == End::Receiver))
    }

    fn application(&self, flow: u32) -> SourceId {
        SourceId(self.nodes.len() as u32 + 3 * flow + 2)
    }

    #[inline]
    fn schedule(&mut self, source: SourceId, at: Instant) {
        self.agenda.set(source, at, self.sequence);
        self.sequence += 1;
    }
}

/// The connection that the proxies split, which `make` makes; `None` if there are none, or they let it
/// pass. The source draws from `stream` as it does without them, and a proxy from a stream of its own.
fn through(
    setup: &Setup,
    stream: u32,
    make: impl FnOnce(&[ProxyConfig], usize, Vec<ChaCha8Rng>) -> Option<Box<dyn Connection>>,
) -> Option<Box<dyn Connection>> {
    if setup.proxies.is_empty() {
        return None;
    }
    let proxies: Vec<_> = setup.proxies.iter().map(|proxy| proxy.config.clone()).collect();
    let source = std::iter::once(Stream::Flow(stream));
    let own = (1u32..).zip(&proxies).map(|(proxy, _)| Stream::Proxy(stream, proxy));
    let rngs = source.chain(own).map(|stream| setup.seed.rng(stream)).collect();
    make(&proxies, main_stretch(setup), rngs)
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
