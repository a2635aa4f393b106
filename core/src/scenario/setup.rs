//! From a cell and what its links are made from to what the engine runs.

use std::sync::Arc;

use super::cell::Cell;
use super::delays::DelayFiles;
use super::input::LinkInput;
use super::link::Overlap;
use super::ntn::Ntn;
use super::plan::{PlannedHop, PlannedLink, PlannedMedium};
use super::reorder::Reorder;
use super::stack::connection;
use super::traffic::{self, ApplicationKind, Protocol};
use crate::config::{Fault, join};
use crate::link::Fragmentation;
use crate::scheme::{FeedbackLoss, LinkConfig, LiveConfig, Medium, UnitLosses};
use crate::scheme::{Scheme, Timing};
use crate::simulation::{Application, Flow, Hop, Setup, Transport};
use crate::units::{Bytes, Duration, Instant};

impl Cell {
    /// What the engine runs in a replication; `inputs` belong to [`Cell::links`], in its order, and
    /// `files` are those of [`Cell::delay_files`].
    ///
    /// # Errors
    /// A key, and what is wrong with it now that the traces are known.
    ///
    /// # Panics
    /// If there are not as many inputs as links, one is not of the kind that its spec asks for, or a
    /// file is missing.
    pub fn setup(
        &self,
        replication: u32,
        inputs: &[LinkInput],
        files: &DelayFiles,
    ) -> Result<Setup, Fault> {
        assert_eq!(inputs.len(), self.plan.links().count(), "one input for each link");
        let spans: Vec<_> = inputs.iter().map(LinkInput::span).collect();
        let starts = self.starts(replication, &spans)?;
        let mut links = inputs.iter().zip(starts);
        let forward = hops(&self.plan.forward, &mut links, files, &[])?;
        let backward = hops(&self.plan.backward, &mut links, files, &forward)?;
        let flows: Result<Vec<_>, _> = self.plan.flows.iter().map(|own| flow(own, files)).collect();
        Ok(Setup {
            seed: self.seed(replication),
            duration: self.config.duration,
            stop_when_done: self.plan.stop_when_done,
            forward,
            backward,
            flows: flows.map_err(|message| Fault::new("transport", message))?,
        })
    }
}

/// Hops; `links` are what the links still to come are made from, `there` the hops that the way back
/// may take as long as.
fn hops<'i>(
    planned: &[PlannedHop],
    links: &mut impl Iterator<Item = (&'i LinkInput, Duration)>,
    files: &DelayFiles,
    there: &[Hop],
) -> Result<Vec<Hop>, Fault> {
    let mut hops = Vec::new();
    for planned in planned {
        match planned {
            PlannedHop::Leg(leg) => hops.push(Hop::Leg(leg.config(files))),
            PlannedHop::Link(planned) => {
                // The counts agree, as the caller asserts.
                let (input, start) = links.next().expect("one input for each link");
                let link = link(planned, input, start, files);
                hops.push(Hop::Link(link?));
            }
            PlannedHop::WayBack(first) => hops.extend(Hop::way_back(&there[..*first])),
        }
    }
    Ok(hops)
}

fn link(
    planned: &PlannedLink,
    input: &LinkInput,
    start_offset: Duration,
    files: &DelayFiles,
) -> Result<LinkConfig, Fault> {
    let config = &planned.link;
    Ok(LinkConfig {
        medium: medium(planned, input, files)?,
        queue: config.queue.limit(),
        start_offset,
        wrap: config.wrap,
        fragmentation: Fragmentation {
            lldu_header: config.lldu_header,
            packet_header: config.packet_header,
            extra_lldu: config.extra_lldu,
        },
        overlap_papers: config.overlap == Overlap::Papers,
        reorder: config.reorder.as_ref().map(Reorder::config),
    })
}

fn medium(planned: &PlannedLink, input: &LinkInput, files: &DelayFiles) -> Result<Medium, Fault> {
    Ok(match (&planned.medium, input) {
        (PlannedMedium::Trace { .. }, LinkInput::LinkTrace(trace)) => {
            Medium::Trace(Arc::clone(trace))
        }
        (PlannedMedium::Trace { .. }, _) => unreachable!("its spec asks for a link trace"),
        (PlannedMedium::Live { scheme, .. }, input) => {
            Medium::Live(Arc::new(live(*scheme, planned, input)?))
        }
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
            let traced = phy.is_some();
            let config = ntn.config(phy, ntn.propagation(files));
            let config = config.expect("the plan has checked its preset");
            config.check().map_err(|error| Ntn::problem(&planned.key, traced, error))?;
            Medium::Ntn(Arc::new(config))
        }
        (PlannedMedium::AdaptiveHarq { harq, .. }, LinkInput::Information { trace, mean }) => {
            let delay = harq.propagation(files);
            let config = harq.config(&planned.key, Arc::clone(trace), *mean, delay)?;
            Medium::AdaptiveHarq(Arc::new(config))
        }
        (PlannedMedium::AdaptiveHarq { .. }, _) => {
            unreachable!("its spec asks for mutual information")
        }
    })
}

fn live(scheme: Scheme, planned: &PlannedLink, input: &LinkInput) -> Result<LiveConfig, Fault> {
    let config = &planned.link;
    let random = || config.feedback_loss.map_or(FeedbackLoss::None, FeedbackLoss::Random);
    let (phy, feedback_loss) = match input {
        LinkInput::PhyTrace(phy) => (phy, random()),
        LinkInput::PhyTraces { back, .. } if back.period() == Duration::ZERO => {
            let name = if config.feedback_trace.is_some() { "trace" } else { "channel" };
            let key = join(&planned.key, "link");
            let cure = "is of one slot, which cannot be repeated; give two slots or more";
            return Err(Fault::of(&key, &format!("feedback_{name}"), cure));
        }
        LinkInput::PhyTraces { phy, back } => (phy, FeedbackLoss::Trace(back.clone())),
        _ => unreachable!("its spec asks for a PHY trace, or two"),
    };
    let timing = Timing { rtt: config.rtt, feedback: config.feedback };
    Ok(LiveConfig {
        flush: config.flush.unwrap_or(Duration::ZERO),
        feedback_loss,
        feedback_repeat: config.feedback_repeat,
        send_buffer: config.send_buffer,
        receive_buffer: config.receive_buffer,
        ..LiveConfig::new(phy.clone(), scheme, timing)
    })
}

fn flow(flow: &traffic::Flow, files: &DelayFiles) -> Result<Flow, String> {
    Ok(Flow {
        start: Instant::ZERO + flow.start,
        transport: transport(&flow.transport)?,
        application: application(&flow.application, &flow.transport),
        source_leg: flow.access.as_ref().map(|leg| leg.config(files)),
    })
}

fn transport(config: &traffic::Transport) -> Result<Transport, String> {
    if config.protocol == Protocol::Udp {
        return Ok(Transport::Datagram { packet: config.packet });
    }
    connection("transport", config).map(Transport::Tcp).map_err(|fault| fault.message().to_owned())
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
