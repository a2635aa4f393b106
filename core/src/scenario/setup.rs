//! From a cell and its link traces to what the engine runs.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::cell::Cell;
use super::config::{Leg, Link, Overlap};
use super::limit::{DelayedAck, Packets, QueueBound};
use super::plan::PlannedHop;
use super::traffic::{self, ApplicationKind, Congestion, Protocol};
use super::tree::join;
use crate::link::{Fragmentation, QueueLimit, Resequencing};
use crate::scheme::LinkTrace;
use crate::simulation::{Application, Flow, Hop, LegConfig, LinkConfig, Loss, Setup, Transport};
use crate::transport::tcp::{CongestionAlgorithm, TcpConfig};
use crate::units::{Bytes, Duration, Instant, Probability};

impl Cell {
    /// What the engine runs in a replication; `traces` belong to [`Cell::links`], in its order.
    ///
    /// # Errors
    /// A key, and what is wrong with it now that the traces are known.
    ///
    /// # Panics
    /// If there are not as many traces as links.
    pub fn setup(
        &self,
        replication: u32,
        traces: &[Arc<LinkTrace>],
    ) -> Result<Setup, (String, String)> {
        assert_eq!(traces.len(), self.plan.links().count(), "one trace for each link");
        let spans: Vec<_> = traces.iter().map(|trace| span(trace)).collect();
        let starts = self.starts(replication, &spans)?;
        let mut links = traces.iter().zip(starts);
        let mut hop = |hop: &PlannedHop| match hop {
            PlannedHop::Leg(config) => Hop::Leg(leg(config)),
            PlannedHop::Link(planned) => {
                // The counts agree, as asserted above.
                let (trace, start) = links.next().expect("one trace for each link");
                Hop::Link(link(&planned.link, Arc::clone(trace), start))
            }
        };
        let forward = self.plan.forward.iter().map(&mut hop).collect();
        let backward = self.plan.backward.iter().map(&mut hop).collect();
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

/// First and last slot and closing gap of the PHY trace under a link trace, ns.
fn span(trace: &LinkTrace) -> (u64, u64, u64) {
    let parts = trace.parts();
    // Times of a trace are never negative.
    (parts.span.0.unsigned_abs(), parts.span.1.unsigned_abs(), parts.gap.unsigned_abs())
}

fn link(config: &Link, trace: Arc<LinkTrace>, start_offset: Duration) -> LinkConfig {
    let reorder =
        config.reorder.as_ref().map(|reorder| match reorder.packets.and_then(NonZeroU32::new) {
            None => Resequencing::InOrder,
            Some(packets) => Resequencing::Bounded {
                packets,
                flush_when_full: reorder.flush_when_full,
                flush_on_loss: reorder.flush_on_loss,
            },
        });
    LinkConfig {
        trace,
        queue: queue(config.queue),
        start_offset,
        wrap: config.wrap,
        fragmentation: Fragmentation {
            lldu_header: config.lldu_header,
            packet_header: config.packet_header,
            extra_lldu: config.extra_lldu,
        },
        overlap_papers: config.overlap == Overlap::Papers,
        reorder,
    }
}

fn leg(config: &Leg) -> LegConfig {
    let loss =
        if config.loss == Probability::ZERO { Loss::None } else { Loss::Random(config.loss) };
    LegConfig { rate: config.rate, delay: config.delay, queue: queue(config.queue), loss }
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
    let congestion = match config.congestion {
        Congestion::Newreno => CongestionAlgorithm::NewReno,
        Congestion::Cubic => CongestionAlgorithm::Cubic,
        Congestion::Hybla => CongestionAlgorithm::Hybla,
        Congestion::Westwood => CongestionAlgorithm::Westwood,
        Congestion::Compound => CongestionAlgorithm::Compound,
        Congestion::Bbr => CongestionAlgorithm::Bbr,
    };
    let packets = |Packets(count): Packets| u32::try_from(count.get()).unwrap_or(u32::MAX);
    let mut tcp = match config.profile {
        traffic::Profile::Papers => TcpConfig::papers(congestion),
        traffic::Profile::Linux => TcpConfig::linux(congestion),
    };
    tcp.packet = config.packet;
    tcp.timestamps = config.timestamps;
    if let Some(window) = config.initial_window {
        tcp.initial_window = packets(window);
    }
    tcp.cwnd_max = config.cwnd_max.map(packets);
    tcp.receive_window =
        config.receive_window.map(|size| Bytes(u32::try_from(size.0).unwrap_or(u32::MAX)));
    match config.delayed_ack {
        None => {}
        Some(DelayedAck::Off) => tcp.delayed_ack = None,
        Some(DelayedAck::After(time)) => tcp.delayed_ack = Some(time),
    }
    tcp.check().map_err(|error| error.to_string())?;
    Ok(Transport::Tcp(tcp))
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
