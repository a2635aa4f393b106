//! What a 3GPP link does next.

/// Kinds of events, in the order in which those of one instant are handled: what arrives at the
/// instant at which a timer expires still counts, and a slot sees everything that came before.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Task {
    /// A transport block is decoded, or known to be lost.
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

/// The earliest of some tasks, of equals the first kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Earliest(Option<(i64, Task)>);

impl Earliest {
    /// Tasks must come in the order of their kinds.
    #[inline]
    pub(super) fn or(self, at: Option<i64>, task: Task) -> Self {
        match (self.0, at) {
            (Some((earliest, _)), Some(at)) if at < earliest => Self(Some((at, task))),
            (None, Some(at)) => Self(Some((at, task))),
            _ => self,
        }
    }

    #[inline]
    pub(super) fn get(self) -> Option<(i64, Task)> {
        self.0
    }
}
