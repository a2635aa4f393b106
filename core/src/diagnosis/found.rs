//! Why a run has no more goodput: the result of a diagnosis.

use thiserror::Error;

use crate::diagnosis::blame::{Cause, Target};
use crate::diagnosis::budget::Budget;
use crate::diagnosis::cut::Cut;
use crate::diagnosis::hop::HopLedger;
use crate::diagnosis::watch::Watch;
use crate::metrics::Outcome;
use crate::simulation::{RunError, Setup, run};
use crate::units::{Duration, Instant};

/// Why a run has no diagnosis.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum NoDiagnosis {
    /// It has no outcome.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Nothing limits its rate.
    #[error(
        "no hop of the path has a rate, so there is no capacity to account for; give a link, or a leg with a rate"
    )]
    NoCapacity,
    /// There are more hops than are watched.
    #[error(
        "the network has {0} links in the forward direction, and at most {MOST_HOPS} can be explained; explain a smaller network"
    )]
    TooManyHops(usize),
    /// A flow has several paths.
    #[error(
        "a flow has several paths, whose windows are not told apart; give one `route` instead of `paths`"
    )]
    Paths,
}

/// Forward hops of a run that is explained: packets note in a word which of them they crossed.
const MOST_HOPS: usize = 64;

/// Why a run has no more goodput.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// The use of the capacity.
    pub budget: Budget,
    /// All reductions of a congestion window, in order of time.
    pub cuts: Vec<Cut>,
    /// When the run ended.
    pub ended: Instant,
    pub(super) hop: HopLedger,
    pub(super) senders: Vec<Sender>,
}

/// What the limiting hop did around an instant.
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
    /// For each sender that crosses the hop: flow, connection, what kept it from sending at the
    /// instant, and the cut, by its number among [`Diagnosis::cuts`].
    pub senders: Vec<(u32, u32, Cause, Option<usize>)>,
}

/// Runs a setup to its end and finds the causes. `goes_on` is asked every few thousand events whether
/// the run goes on.
///
/// # Errors
/// If the run has no outcome, no hop has a rate, there are more hops than are watched, or a flow has
/// several paths.
pub fn diagnose(
    setup: &Setup,
    goes_on: &dyn Fn() -> bool,
) -> Result<(Outcome, Diagnosis), NoDiagnosis> {
    if setup.forward.len() > MOST_HOPS {
        return Err(NoDiagnosis::TooManyHops(setup.forward.len()));
    }
    if !setup.routing.further.is_empty() {
        return Err(NoDiagnosis::Paths);
    }
    let mut watch = Watch::new(setup, goes_on);
    let outcome = run(setup, &mut watch)?;
    let diagnosis = watch.finish(&outcome).ok_or(NoDiagnosis::NoCapacity)?;
    Ok((outcome, diagnosis))
}

/// A sender of data: one connection of a flow.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub(super) flow: u32,
    pub(super) connection: u32,
    /// For each forward hop, the time that a packet needs to get there; `None`: it does not cross it.
    pub(super) delays: Vec<Option<Duration>>,
}

impl Diagnosis {
    /// What the limiting hop did from `span` before an instant until `span` after it.
    pub fn moment(&self, at: Instant, span: Duration) -> Moment {
        let points = &self.hop.points;
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
            senders: self.senders_at(at),
        }
    }

    fn senders_at(&self, at: Instant) -> Vec<(u32, u32, Cause, Option<usize>)> {
        let changes = &self.hop.changes;
        let until = changes.partition_point(|(since, ..)| *since <= at);
        let of = |number: usize| {
            let last = changes[..until].iter().rev().find(|(_, sender, _)| *sender == number);
            match last.map(|(.., target)| *target) {
                None => (Cause::Application, None),
                Some(Target::Cause(cause)) => (cause, None),
                Some(Target::Cut(cut)) => (self.cuts[cut].cause(), Some(cut)),
            }
        };
        let crossing = self.senders.iter().enumerate();
        let crossing = crossing.filter(|(_, it)| it.delays[self.budget.hop].is_some());
        crossing
            .map(|(number, it)| {
                let (cause, cut) = of(number);
                (it.flow, it.connection, cause, cut)
            })
            .collect()
    }

    /// Capacity and idle capacity of the limiting hop from the start of the run on, in bits, at the
    /// times of a regular time line.
    pub fn time_line(&self) -> impl Iterator<Item = (Instant, u64, u64)> {
        let bits = |bytes: f64| (bytes * 8.0).max(0.0).round() as u64;
        self.hop.points.iter().map(move |it| (it.at, bits(it.capacity), bits(it.idle)))
    }
}
