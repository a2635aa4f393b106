//! What a 3GPP link does next: its events, in order.

use super::NtnLink;
use crate::link::ntn::rlc::Rlc;

/// Kinds of events, in the order in which those of one instant are handled: what arrives at the
/// instant at which a timer expires still counts, and a slot sees everything that came before.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Task {
    /// A transport block is decoded, or nothing more of it comes.
    Landing,
    /// The receiver learns that a packet was given up.
    GivenUp,
    /// `t-Reassembly` expires.
    Reassembly,
    /// `t-StatusProhibit` expires while a report waits.
    Report,
    /// `t-Reordering` expires.
    Reordering,
    /// HARQ feedback arrives.
    Feedback,
    /// A status report arrives.
    Status,
    /// `t-PollRetransmit` expires.
    PollRetransmit,
    /// `discardTimer` of the packet that waits first expires.
    Discard,
    /// The slots are over.
    SlotsEnd,
    /// A slot that may carry something.
    Slot,
}

impl NtnLink {
    /// When something is due next, and what.
    pub(super) fn next(&self) -> Option<(i64, Task)> {
        let am = match &self.rlc {
            Rlc::Am(am) => Some(am),
            Rlc::Um { .. } => None,
        };
        let mut next = Earliest::default().or(self.landings.next_at(), Task::Landing);
        next = next.or(am.and_then(|am| am.given_up.next_at()), Task::GivenUp);
        next = next.or(self.rlc.reassembly_expires(), Task::Reassembly);
        next = next.or(am.and_then(|am| am.reports.expires()), Task::Report);
        next = next.or(self.pdcp.expires(), Task::Reordering);
        next = next.or(self.feedback.next_at(), Task::Feedback);
        next = next.or(am.and_then(|am| am.statuses.next_at()), Task::Status);
        next = next.or(am.and_then(|am| am.sender.expires()), Task::PollRetransmit);
        if let Some(time) = self.discard {
            next = next.or(self.backlog.waiting_since().map(|at| at + time), Task::Discard);
        }
        next = next.or(self.slots_end, Task::SlotsEnd);
        next.or(self.scheduled.map(|slot| slot.at), Task::Slot).get()
    }

    /// Does what is due next, up to `now`; whether there was something. A slot at `now` waits, since
    /// it may still take a packet that is enqueued at `now`.
    pub(super) fn step(&mut self, now: i64) -> bool {
        let Some((at, task)) = self.next().filter(|&(at, task)| match task {
            Task::Slot => at < now,
            _ => at <= now,
        }) else {
            return false;
        };
        match task {
            Task::Landing => self.land(at),
            Task::GivenUp => self.learn_given_up(at),
            Task::Reassembly => self.rlc.reassembly_expired(at),
            Task::Report => self.send_status(at),
            Task::Reordering => self.pdcp.expire(at, &mut self.released),
            Task::Feedback => self.hear_feedback(at),
            Task::Status => self.hear_status(at),
            Task::PollRetransmit => self.owe_poll(),
            Task::Discard => self.discard_first(at),
            Task::SlotsEnd => self.slots_end = None,
            Task::Slot => self.use_slot(),
        }
        self.carry_poll(at);
        self.release(at);
        self.report(at);
        self.backlog.retire();
        self.schedule(at);
        true
    }
}

/// The earliest of some tasks, of equals the first kind.
#[derive(Clone, Copy, Debug, Default)]
struct Earliest(Option<(i64, Task)>);

impl Earliest {
    /// Tasks must come in the order of their kinds.
    #[inline]
    fn or(self, at: Option<i64>, task: Task) -> Self {
        match (self.0, at) {
            (Some((earliest, _)), Some(at)) if at < earliest => Self(Some((at, task))),
            (None, Some(at)) => Self(Some((at, task))),
            _ => self,
        }
    }

    #[inline]
    fn get(self) -> Option<(i64, Task)> {
        self.0
    }
}
