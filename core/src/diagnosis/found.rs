//! Why a run has no more goodput: the result of a diagnosis.

use std::sync::Arc;

use thiserror::Error;

use crate::config::Fault;
use crate::diagnosis::blame::{Cause, Target};
use crate::diagnosis::budget::Budget;
use crate::diagnosis::cut::Cut;
use crate::diagnosis::hop::{HopLedger, Point};
use crate::diagnosis::watch::Watch;
use crate::metrics::{HopMetrics, Outcome};
use crate::simulation::{RunError, Setup, run};
use crate::units::{Duration, Instant};

/// Why a run has no diagnosis.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum NoDiagnosis {
    /// It has no outcome.
    #[error(transparent)]
    Run(#[from] RunError),
    /// It has no flow, no capacity, changing routes, or more hops than are watched.
    #[error(transparent)]
    Setup(#[from] Fault),
}

/// Hops of a run that is explained: packets note in a word which of them they crossed.
const MOST_HOPS: usize = 128;

/// Why a run has no more goodput.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// The use of the capacity.
    pub budget: Budget,
    /// The same for each hop of it.
    pub shares: Vec<Budget>,
    /// All reductions of a congestion window, in order of time.
    pub cuts: Vec<Cut>,
    /// Timeouts of handshakes, which cut no window.
    pub handshake_timeouts: u64,
    /// When the run ended.
    pub ended: Instant,
    /// The ledgers of these hops.
    pub(super) hops: Vec<HopLedger>,
    pub(super) senders: Vec<Sender>,
    /// Whether a flow has several paths, by flow.
    pub(super) several: Vec<bool>,
    /// The names of the limiting hops, if hops have names.
    pub(super) names: Vec<Option<Arc<str>>>,
    /// What a chain of events calls each shared hop.
    pub(super) places: Vec<String>,
    /// Whether each shared hop is a leg with outages.
    pub(super) with_outages: Vec<bool>,
    /// The names of the flows, if they have any.
    pub(super) flows: Vec<Option<Arc<str>>>,
}

/// What a chain of events calls each shared hop, forward ones first: its name, or its kind and, if there
/// are several in its direction, the number that tables give it.
pub(super) fn places(outcome: &Outcome) -> Vec<String> {
    let place = |hop: &HopMetrics, number: usize, of: usize, name: Option<&Arc<str>>| {
        let kind = if matches!(hop, HopMetrics::Leg(_)) { "leg" } else { "link" };
        match name {
            Some(name) => name.to_string(),
            None if of == 1 => format!("the {kind}"),
            None => format!("{kind} {number}"),
        }
    };
    let along = |hops: &[HopMetrics], first: usize, of: &str| -> Vec<String> {
        let hops_of = hops.iter().enumerate().map(|(number, hop)| {
            let name = outcome.hop_names.get(first + number);
            format!("{of}{}", place(hop, number, hops.len(), name))
        });
        hops_of.collect()
    };
    let mut places = along(&outcome.forward, 0, "");
    places.extend(along(&outcome.backward, outcome.forward.len(), "the return of "));
    places
}

/// What the limiting hops did around an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// The time span.
    pub from: Instant,
    /// Its end.
    pub until: Instant,
    /// Bits of the slots that passed.
    pub capacity_bits: u64,
    /// Bits of those that carried nothing.
    pub idle_bits: u64,
    /// Bits of those that carried something and were erased, as far as the hops know.
    pub erased_bits: u64,
    /// For each sender that crosses one of the hops, or the one before its proxy if it had no data:
    /// flow, connection or path, what kept it from sending at the instant, and the cut, by its number
    /// among [`Diagnosis::cuts`].
    pub senders: Vec<(u32, u32, Cause, Option<usize>)>,
}

/// Runs a setup to its end and finds the causes. `goes_on` is asked every few thousand events whether
/// the run goes on.
///
/// # Errors
/// If the run has no outcome, no hop has a rate, routes change, or there are more hops than are watched.
pub fn diagnose(
    setup: &Setup,
    goes_on: &dyn Fn() -> bool,
) -> Result<(Outcome, Diagnosis), NoDiagnosis> {
    let hops = setup.forward.len() + setup.backward.len();
    if hops > MOST_HOPS {
        return Err(Fault::at(format!(
            "the path has {hops} hops, both directions together, and at most {MOST_HOPS} can be \
             explained; explain a smaller network"
        ))
        .into());
    }
    if setup.routing.rerouting.is_some() {
        let cure = "leave `network.reroute_every` out, or give routes";
        return Err(Fault::at(format!("the routes change within the run; {cure}")).into());
    }
    let mut watch = Watch::new(setup, goes_on);
    let outcome = run(setup, &mut watch)?;
    if outcome.flows.iter().all(|flow| flow.start >= outcome.ended) {
        let cure = "give a longer duration or an earlier start";
        return Err(Fault::at(format!("no flow begins before the run ends; {cure}")).into());
    }
    let no_capacity = "no hop of the path has a rate, so there is no capacity to account for; \
                       give a link, or a leg with a rate";
    let diagnosis = watch.finish(&outcome).ok_or_else(|| Fault::at(no_capacity))?;
    Ok((outcome, diagnosis))
}

/// A sender of data: one connection of a flow, or one of its paths.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub(super) flow: u32,
    pub(super) connection: u32,
    /// For each shared hop, the time that a packet needs to get there; `None`: it does not cross it.
    pub(super) delays: Vec<Option<Duration>>,
    /// The same also for the hops that its data cross behind proxies.
    pub(super) reach: Vec<Option<Duration>>,
    /// Whether a proxy gives it its data, which the connection numbered one less brought.
    pub(super) is_fed: bool,
}

impl Diagnosis {
    /// What the limiting hops did from `span` before an instant until `span` after it.
    pub fn moment(&self, at: Instant, span: Duration) -> Moment {
        let points: Vec<Point> = self.points().collect();
        let from = Instant::ZERO + (at.saturating_since(Instant::ZERO + span));
        let first = points.partition_point(|point| point.at <= from).saturating_sub(1);
        let last = points.partition_point(|point| point.at < at + span).min(points.len() - 1);
        let (first, last) = (points[first], points[last.max(first)]);
        let bits = |a: f64, b: f64| ((b - a) * 8.0).max(0.0).round() as u64;
        Moment {
            from: first.at,
            until: last.at,
            capacity_bits: bits(first.capacity, last.capacity),
            idle_bits: bits(first.idle, last.idle),
            erased_bits: bits(first.erased, last.erased),
            senders: self.senders_at(at),
        }
    }

    /// The limiting hop that a sender crosses, by its place among those of the budget.
    fn hop_of(&self, sender: &Sender) -> Option<usize> {
        self.budget.hops.iter().position(|&hop| sender.delays[hop].is_some())
    }

    /// The name of the limiting hop that a connection or path of a flow crosses.
    pub(super) fn name_of(&self, flow: u32, connection: u32) -> Option<Arc<str>> {
        let is_it = |it: &&Sender| (it.flow, it.connection) == (flow, connection);
        self.names[self.hop_of(self.senders.iter().find(is_it)?)?].clone()
    }

    fn senders_at(&self, at: Instant) -> Vec<(u32, u32, Cause, Option<usize>)> {
        let of = |number: usize, hop: usize| {
            let changes = &self.hops[hop].changes;
            let until = changes.partition_point(|(since, ..)| *since <= at);
            let last = changes[..until].iter().rev().find(|(_, sender, _)| *sender == number);
            match last.map(|(.., target)| *target) {
                _ if self.hops[hop].waits_at(at) => (Cause::Link, None),
                None | Some(Target::Cause(Cause::Application)) => (Cause::Application, None),
                Some(_) if self.hops[hop].is_out(at) => (Cause::Outage, None),
                Some(Target::Cause(cause)) => (cause, None),
                Some(Target::Cut(cut)) => (self.cuts[cut].cause(), Some(cut)),
            }
        };
        (0..self.senders.len())
            .filter_map(|mut number| {
                let hop = self.hop_of(&self.senders[number])?;
                let (mut cause, mut cut) = of(number, hop);
                while cause == Cause::Application && self.senders[number].is_fed {
                    number -= 1;
                    (cause, cut) = of(number, hop);
                }
                let Sender { flow, connection, .. } = self.senders[number];
                Some((flow, connection, cause, cut))
            })
            .collect()
    }

    /// Capacity and idle capacity of the limiting hops together, at the times of the first one's
    /// points.
    fn points(&self) -> impl Iterator<Item = Point> {
        let (first, others) = self.hops.split_at(1.min(self.hops.len()));
        first.iter().flat_map(|hop| &hop.points).map(move |&point| {
            others.iter().fold(point, |sum, hop| {
                let own = hop.at(point.at);
                Point {
                    at: sum.at,
                    capacity: sum.capacity + own.capacity,
                    idle: sum.idle + own.idle,
                    waiting: sum.waiting + own.waiting,
                    erased: sum.erased + own.erased,
                }
            })
        })
    }

    /// Capacity and idle capacity of the limiting hops from the start of the run on, in bits, at the
    /// times of a regular time line.
    pub fn time_line(&self) -> impl Iterator<Item = (Instant, u64, u64)> {
        let bits = |bytes: f64| (bytes * 8.0).max(0.0).round() as u64;
        self.points().map(move |it| (it.at, bits(it.capacity), bits(it.idle)))
    }
}
