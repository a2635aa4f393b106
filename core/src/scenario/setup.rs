//! From a cell and what its links are made from to what the engine runs.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::cell::Cell;
use super::config::{Leg, Link, Overlap, Reorder, ReorderKey};
use super::error::Problem;
use super::limit::QueueBound;
use super::plan::{PlannedHop, PlannedLink, PlannedMedium};
use super::stack::connection;
use super::traffic::{self, ApplicationKind, Protocol};
use super::tree::join;
use crate::link::{
    DelaySeries, FeedbackLoss, Fragmentation, LinkConfig, LiveConfig, Medium, QueueLimit,
    Resequencing, UnitLosses,
};
use crate::scheme::{LinkTrace, Scheme, Timing};
use crate::simulation::{Application, Flow, Hop, LegConfig, Loss, Setup, Transport};
use crate::trace::{MiTrace, PhyTrace};
use crate::units::{Bytes, Duration, Instant, Probability};

/// What a link is made from, as its [`super::LinkSpec`] asks.
#[derive(Clone, Debug)]
pub enum LinkInput {
    /// What a scheme made of a PHY trace.
    LinkTrace(Arc<LinkTrace>),
    /// A PHY trace.
    PhyTrace(PhyTrace),
    /// What adaptive HARQ lives on.
    Information {
        /// The channel's mutual information per coded bit over time.
        trace: Arc<MiTrace>,
        /// Its mean in closed form.
        mean: f64,
        /// Delays, if the spec names a file of them.
        delays: Option<Arc<DelaySeries>>,
    },
    /// Nothing.
    Nothing,
}

impl Cell {
    /// What the engine runs in a replication; `inputs` belong to [`Cell::links`], in its order.
    ///
    /// # Errors
    /// A key, and what is wrong with it now that the traces are known.
    ///
    /// # Panics
    /// If there are not as many inputs as links, or one is not of the kind that its spec asks for.
    pub fn setup(&self, replication: u32, inputs: &[LinkInput]) -> Result<Setup, (String, String)> {
        assert_eq!(inputs.len(), self.plan.links().count(), "one input for each link");
        let spans: Vec<_> = inputs.iter().map(LinkInput::span).collect();
        let starts = self.starts(replication, &spans)?;
        let mut links = inputs.iter().zip(starts);
        let mut forward = Vec::new();
        for planned in &self.plan.forward {
            forward.push(hop(planned, &mut links, &[])?);
        }
        let mut backward = Vec::new();
        for planned in &self.plan.backward {
            backward.push(hop(planned, &mut links, &forward)?);
        }
        let flows: Result<Vec<_>, _> = self.plan.flows.iter().map(flow).collect();
        Ok(Setup {
            seed: self.seed(replication),
            duration: self.config.duration,
            stop_when_done: self.plan.stop_when_done,
            forward,
            backward,
            flows: flows.map_err(|message| (join("", "transport"), message))?,
        })
    }
}

impl LinkInput {
    /// First and last slot and closing gap of its PHY trace, ns.
    fn span(&self) -> Option<(u64, u64, u64)> {
        let (first, last, gap) = match self {
            Self::LinkTrace(trace) => {
                let parts = trace.parts();
                (parts.span.0, parts.span.1, parts.gap)
            }
            Self::PhyTrace(phy) => {
                let (first, last) = (phy.t()[0], phy.t()[phy.len() - 1]);
                (first, last, phy.period().as_nanos() as i64 - (last - first))
            }
            Self::Information { trace, .. } => {
                let every = trace.every().as_nanos() as i64;
                (0, (trace.values().len() as i64 - 1) * every, every)
            }
            Self::Nothing => return None,
        };
        // Times of a trace are never negative.
        Some((first.unsigned_abs(), last.unsigned_abs(), gap.unsigned_abs()))
    }
}

/// A hop; `links` are what the links still to come are made from, `forward` the hops that the way
/// back may take as long as.
fn hop<'i>(
    planned: &PlannedHop,
    links: &mut impl Iterator<Item = (&'i LinkInput, Duration)>,
    forward: &[Hop],
) -> Result<Hop, (String, String)> {
    match planned {
        PlannedHop::Leg(config) => Ok(Hop::Leg(leg(config))),
        PlannedHop::Link(planned) => {
            // The counts agree, as the caller asserts.
            let (input, start) = links.next().expect("one input for each link");
            let link = link(planned, input, start);
            link.map(Hop::Link).map_err(|problem| (problem.key, problem.message))
        }
        PlannedHop::WayBack(number) => {
            let Hop::Link(there) = &forward[*number] else { unreachable!("the plan names a link") };
            let delay = there.medium.way_back();
            Ok(Hop::Leg(LegConfig { delay, ..leg(&Leg::default()) }))
        }
    }
}

fn link(
    planned: &PlannedLink,
    input: &LinkInput,
    start_offset: Duration,
) -> Result<LinkConfig, Problem> {
    let config = &planned.link;
    Ok(LinkConfig {
        medium: medium(planned, input)?,
        queue: queue(config.queue),
        start_offset,
        wrap: config.wrap,
        fragmentation: Fragmentation {
            lldu_header: config.lldu_header,
            packet_header: config.packet_header,
            extra_lldu: config.extra_lldu,
        },
        overlap_papers: config.overlap == Overlap::Papers,
        reorder: config.reorder.as_ref().map(resequencing),
    })
}

fn resequencing(config: &Reorder) -> Resequencing {
    let Reorder { flush_when_full, flush_on_loss, .. } = *config;
    match (config.key, config.packets.and_then(NonZeroU32::new)) {
        (ReorderKey::Tcp, packets) => {
            Resequencing::TcpSequence { packets, flush_when_full, flush_on_loss }
        }
        (ReorderKey::Link, None) => Resequencing::InOrder,
        (ReorderKey::Link, Some(packets)) => {
            Resequencing::Bounded { packets, flush_when_full, flush_on_loss }
        }
    }
}

fn medium(planned: &PlannedLink, input: &LinkInput) -> Result<Medium, Problem> {
    Ok(match (&planned.medium, input) {
        (PlannedMedium::Trace { .. }, LinkInput::LinkTrace(trace)) => {
            Medium::Trace(Arc::clone(trace))
        }
        (PlannedMedium::Live { scheme, .. }, LinkInput::PhyTrace(phy)) => {
            Medium::Live(Arc::new(live(*scheme, &planned.link, phy.clone())))
        }
        (PlannedMedium::Trace { .. }, _) => unreachable!("its spec asks for a link trace"),
        (PlannedMedium::Hybrid { hybrid, .. }, input) => {
            let losses = match input {
                LinkInput::PhyTrace(phy) => Some(UnitLosses::Trace(Arc::new(phy.clone()))),
                _ => None,
            };
            Medium::Hybrid(Box::new(hybrid.config(losses)))
        }
        (PlannedMedium::Ntn { ntn, .. }, input) => {
            let phy = match input {
                LinkInput::PhyTrace(phy) => Some(phy.clone()),
                _ => None,
            };
            let config = ntn.config(phy).expect("the plan has checked its preset");
            Medium::Ntn(Arc::new(config))
        }
        (
            PlannedMedium::AdaptiveHarq { harq, .. },
            LinkInput::Information { trace, mean, delays },
        ) => {
            let config = harq.config(&planned.key, Arc::clone(trace), *mean, delays.clone())?;
            Medium::AdaptiveHarq(Arc::new(config))
        }
        (PlannedMedium::AdaptiveHarq { .. }, _) => {
            unreachable!("its spec asks for mutual information")
        }
        (PlannedMedium::Live { .. }, _) => unreachable!("its spec asks for a PHY trace"),
    })
}

fn live(scheme: Scheme, config: &Link, phy: PhyTrace) -> LiveConfig {
    let timing = Timing { rtt: config.rtt, feedback: config.feedback };
    LiveConfig {
        flush: config.flush.unwrap_or(Duration::ZERO),
        feedback_loss: config.feedback_loss.map_or(FeedbackLoss::None, FeedbackLoss::Random),
        feedback_repeat: config.feedback_repeat,
        send_buffer: config.send_buffer,
        receive_buffer: config.receive_buffer,
        ..LiveConfig::new(phy, scheme, timing)
    }
}

fn leg(config: &Leg) -> LegConfig {
    let loss =
        if config.loss == Probability::ZERO { Loss::None } else { Loss::Random(config.loss) };
    LegConfig { rate: config.rate, delay: config.delay.into(), queue: queue(config.queue), loss }
}

fn queue(bound: QueueBound) -> QueueLimit {
    match bound {
        QueueBound::Unlimited => QueueLimit::Unlimited,
        QueueBound::Bytes(bytes) => QueueLimit::Bytes(bytes),
        // More packets than 2^32 - 1 do not fit into memory: no limit that anybody meets.
        QueueBound::Packets(packets) => {
            QueueLimit::Packets(u32::try_from(packets).unwrap_or(u32::MAX))
        }
    }
}

fn flow(flow: &traffic::Flow) -> Result<Flow, String> {
    Ok(Flow {
        start: Instant::ZERO + flow.start,
        transport: transport(&flow.transport)?,
        application: application(&flow.application, &flow.transport),
        source_leg: flow.access.as_ref().map(leg),
    })
}

fn transport(config: &traffic::Transport) -> Result<Transport, String> {
    if config.protocol == Protocol::Udp {
        return Ok(Transport::Datagram { packet: config.packet });
    }
    connection("transport", config).map(Transport::Tcp).map_err(|problem| problem.message)
}

fn application(app: &traffic::Application, transport: &traffic::Transport) -> Application {
    // The plan has checked that what each kind needs is there.
    match app.kind {
        ApplicationKind::File => Application::File { bytes: app.size.map_or(1, |size| size.0) },
        ApplicationKind::ConstantRate => match app.rate {
            None => Application::Bulk,
            Some(rate) => Application::ConstantRate {
                rate,
                message: app.message.unwrap_or(Bytes(transport.payload())),
                deadline: app.deadline,
            },
        },
        ApplicationKind::Bulk => Application::Bulk,
    }
}
