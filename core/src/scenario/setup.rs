//! From a cell to what the engine runs: the traces that its links need are asked for on the way.

use std::sync::Arc;

use super::cell::Cell;
use super::link::Overlap;
use super::ntn::Ntn;
use super::plan::{PlannedHop, PlannedLink, PlannedMedium};
use super::reorder::Reorder;
use super::traces::{InformationSpec, SetupFault, Traces};
use super::traffic::{self, ApplicationKind};
use crate::application::{Application, Bulk, ConstantRate, File};
use crate::config::Fault;
use crate::link::Fragmentation;
use crate::scheme::AdaptiveHarqConfig;
use crate::scheme::nr::{NtnConfig, NtnPhy};
use crate::scheme::{FeedbackLoss, LinkConfig, LiveConfig, Medium, Scheme, Timing, UnitLosses};
use crate::simulation::{Flow, Hop, Setup};
use crate::trace::PhyTrace;
use crate::units::{Bytes, Duration, Instant};

impl Cell {
    /// What the engine runs in a replication.
    ///
    /// # Errors
    /// A trace that cannot be made, or a key that does not go with the traces.
    pub fn setup(&self, replication: u32, traces: &dyn Traces) -> Result<Setup, SetupFault> {
        let maker = Maker { cell: self, replication, traces };
        let media: Vec<Medium> = self
            .plan
            .links()
            .enumerate()
            .map(|(index, link)| maker.medium(index, link))
            .collect::<Result<_, _>>()?;
        let spans: Vec<_> = media.iter().map(span).collect();
        let starts = self.starts(replication, &spans)?;
        let mut links = media.into_iter().zip(starts);
        let forward = maker.hops(&self.plan.forward, &mut links, &[])?;
        let backward = maker.hops(&self.plan.backward, &mut links, &forward)?;
        let flows: Result<Vec<_>, _> = self.plan.flows.iter().map(|own| maker.flow(own)).collect();
        Ok(Setup {
            seed: self.seed(replication),
            duration: self.config.duration,
            stop_when_done: self.plan.stop_when_done,
            forward,
            backward,
            flows: flows?,
        })
    }
}

/// Makes one replication of a cell.
struct Maker<'a> {
    cell: &'a Cell,
    replication: u32,
    traces: &'a dyn Traces,
}

impl Maker<'_> {
    /// Hops; `links` are the media and starts of the links still to come, `there` the hops that the
    /// way back may take as long as.
    fn hops(
        &self,
        planned: &[PlannedHop],
        links: &mut impl Iterator<Item = (Medium, Duration)>,
        there: &[Hop],
    ) -> Result<Vec<Hop>, SetupFault> {
        let mut hops = Vec::new();
        // Delays behind a link are on the clock of its trace.
        let mut clock: Option<Clock> = None;
        for planned in planned {
            match planned {
                PlannedHop::Leg(leg) => {
                    let mut leg = leg.config(self.traces)?;
                    if let Some((start, cycle)) = clock.take() {
                        leg.delay = leg.delay.on_clock(start, cycle);
                    }
                    hops.push(Hop::Leg(leg));
                }
                PlannedHop::WayBack(first) => hops.extend(Hop::way_back(&there[..*first])),
                PlannedHop::Link(planned) => {
                    let Some((medium, start)) = links.next() else { continue };
                    let span = span(&medium);
                    let cycle = |(first, end): (u64, u64)| {
                        (Instant::from_nanos(first), Duration::from_nanos(end - first))
                    };
                    let cycle = span.filter(|_| planned.link.wrap).map(cycle);
                    clock = planned.link.delays.is_some().then_some((start, cycle));
                    let medium = match span {
                        Some(_) => on_clock(medium, start, cycle),
                        None => medium,
                    };
                    hops.push(Hop::Link(link(planned, medium, start)));
                }
            }
        }
        Ok(hops)
    }

    /// What carries the packets of the link number `index`.
    fn medium(&self, index: usize, planned: &PlannedLink) -> Result<Medium, SetupFault> {
        let link = &planned.link;
        let timing = |measured: Option<Duration>| -> Result<Timing, Fault> {
            let rtt = link.rtt(measured);
            link.check_feedback(&crate::config::join(&planned.key, "link"), rtt)?;
            Ok(Timing { rtt, feedback: link.feedback })
        };
        let phy = |phy| self.traces.phy(&self.cell.phy(index, phy, self.replication));
        Ok(match &planned.medium {
            PlannedMedium::Trace { phy, scheme } => {
                let spec = self.cell.phy(index, phy, self.replication);
                // Only a file can say how long the way is.
                let asked = (link.rtt.is_none() && spec.trace.is_some())
                    .then(|| self.traces.phy(&spec))
                    .transpose()?;
                let timing = timing(asked.and_then(|phy| phy.header().rtt))?;
                Medium::Trace(self.traces.link_trace(&spec, scheme, timing)?)
            }
            PlannedMedium::Held(name) => Medium::Trace(self.traces.held_link(name)?),
            PlannedMedium::Live { phy: slots, scheme, feedback } => {
                let back = feedback.as_deref().map(|back| {
                    self.traces.phy(&self.cell.feedback(index, back, self.replication))
                });
                let slots = phy(slots)?;
                let timing = timing(slots.header().rtt)?;
                let live = live(scheme.clone(), planned, (slots, timing), back.transpose()?)?;
                Medium::Live(Arc::new(live))
            }
            PlannedMedium::Hybrid { hybrid, losses } => {
                let losses = losses.as_ref().map(phy).transpose()?;
                let losses = losses.map(|phy| UnitLosses::Trace(Arc::new(phy)));
                Medium::Hybrid(Box::new(hybrid.config(losses)))
            }
            PlannedMedium::Ntn { ntn, phy: blocks } => {
                let blocks = blocks.as_ref().map(phy).transpose()?;
                let traced = blocks.is_some();
                let (there, back) = (ntn.propagation(self.traces)?, ntn.way_back(self.traces)?);
                let config = ntn.config(blocks, there, back);
                let own = || crate::config::join(&planned.key, "ntn");
                let config = config.map_err(|fault| fault.within(&own()))?;
                config.check().map_err(|error| Ntn::problem(&planned.key, traced, error))?;
                Medium::Ntn(Arc::new(config))
            }
            PlannedMedium::AdaptiveHarq { harq, length } => {
                let redraw = harq.redraw.unwrap_or(link.start != super::Start::Random);
                let seed = self.cell.channel_seed(index, harq.seed, redraw, self.replication);
                let information = match &harq.information {
                    Some(name) => self.traces.held_information(name)?,
                    None => {
                        let own = crate::config::join(&planned.key, "adaptive_harq");
                        let (channel, esn0_db) = harq.channel(&own)?;
                        let spec = InformationSpec { channel, esn0_db, length: *length, seed };
                        self.traces.information(&spec)?
                    }
                };
                let delay = harq.propagation(self.traces)?;
                Medium::AdaptiveHarq(Arc::new(harq.config(&planned.key, &information, delay)?))
            }
        })
    }

    fn flow(&self, flow: &traffic::Flow) -> Result<Flow, SetupFault> {
        let leg = flow.access.as_ref().map(|leg| leg.config(self.traces));
        Ok(Flow {
            start: Instant::ZERO + flow.start,
            transport: flow.transport.protocol(),
            application: application(&flow.application, flow.transport.protocol().payload()),
            source_leg: leg.transpose()?,
        })
    }
}

/// The trace time at time 0, and from when on the trace repeats with which period.
type Clock = (Duration, Option<(Instant, Duration)>);

/// First and end time of the trace under a link, ns.
fn span(medium: &Medium) -> Option<(u64, u64)> {
    let of = |phy: &PhyTrace| (phy.t()[0], phy.t()[0] + phy.period().as_nanos() as i64);
    let (first, end) = match medium {
        Medium::Trace(trace) => {
            let parts = trace.parts();
            (parts.span.0, parts.span.1 + parts.gap)
        }
        Medium::Live(live) => of(&live.phy),
        Medium::Hybrid(hybrid) => match &hybrid.losses {
            UnitLosses::Trace(phy) => of(phy),
            UnitLosses::Bernoulli(_) => return None,
        },
        Medium::Ntn(config) => match &config.phy {
            NtnPhy::Trace(phy) => of(phy),
            NtnPhy::Random { .. } => return None,
        },
        Medium::AdaptiveHarq(config) => {
            let information = &config.information;
            (0, information.values().len() as i64 * information.every().as_nanos() as i64)
        }
    };
    // Times of a trace are never negative.
    Some((first.unsigned_abs(), end.unsigned_abs()))
}

/// A medium whose own delays vary with the clock of its trace.
fn on_clock(medium: Medium, start: Duration, cycle: Option<(Instant, Duration)>) -> Medium {
    match medium {
        Medium::AdaptiveHarq(config) => {
            let delay = config.delay.on_clock(start, cycle);
            Medium::AdaptiveHarq(Arc::new(AdaptiveHarqConfig { delay, ..(*config).clone() }))
        }
        Medium::Ntn(config) => {
            let propagation = config.propagation.on_clock(start, cycle);
            let way_back = config.way_back.on_clock(start, cycle);
            Medium::Ntn(Arc::new(NtnConfig { propagation, way_back, ..(*config).clone() }))
        }
        other => other,
    }
}

fn link(planned: &PlannedLink, medium: Medium, start_offset: Duration) -> LinkConfig {
    let config = &planned.link;
    LinkConfig {
        medium,
        queue: config.queue.limit(),
        start_offset,
        wrap: config.wrap,
        fragmentation: Fragmentation {
            lldu_header: config.lldu_header,
            packet_header: config.packet_header,
            extra_lldu: config.extra_lldu,
            packing: config.packing,
        },
        overlap_papers: config.overlap == Overlap::Papers,
        reorder: config.reorder.as_ref().map(Reorder::config),
    }
}

fn live(
    scheme: Scheme,
    planned: &PlannedLink,
    (phy, timing): (PhyTrace, Timing),
    back: Option<PhyTrace>,
) -> Result<LiveConfig, Fault> {
    let config = &planned.link;
    let feedback_loss = match back {
        Some(back) if back.period() == Duration::ZERO => {
            let name = if config.feedback_trace.is_some() { "trace" } else { "channel" };
            let cure = "is of one slot, which has no period to repeat; give two slots or more";
            return Err(Fault::of(&planned.key, &format!("link.feedback_{name}"), cure));
        }
        Some(back) => FeedbackLoss::Trace(back),
        None => config.feedback_loss.map_or(FeedbackLoss::None, FeedbackLoss::Random),
    };
    Ok(LiveConfig {
        flush: config.flush.unwrap_or(Duration::ZERO),
        feedback_loss,
        feedback_repeat: config.feedback_repeat,
        send_buffer: config.send_buffer,
        receive_buffer: config.receive_buffer,
        ..LiveConfig::new(phy, scheme, timing)
    })
}

fn application(app: &traffic::Application, payload: Bytes) -> Arc<dyn Application> {
    // The plan has checked that what each kind needs is there.
    match app.kind {
        ApplicationKind::File => Arc::new(File { bytes: app.size.map_or(1, |size| size.0) }),
        ApplicationKind::ConstantRate => match app.rate {
            None => Arc::new(Bulk),
            Some(rate) => Arc::new(ConstantRate {
                rate,
                message: app.message.unwrap_or(payload),
                deadline: app.deadline,
            }),
        },
        ApplicationKind::Bulk => Arc::new(Bulk),
    }
}
