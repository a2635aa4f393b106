//! What a hybrid link counts, as of an instant: frames are decided before they are sent.

use std::collections::VecDeque;

/// Frames sent, and those of note up to `now`.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameCounts {
    /// All that were decided, those that start after `now` included.
    pub(super) sent: u64,
    /// Those sent for the first time.
    pub(super) new: u64,
    pub(super) again: u64,
    pub(super) failed: u64,
    pub(super) given_up: u64,
    pub(super) now: i64,
    /// Frames of note that start after `now`, in order.
    ahead: VecDeque<(i64, Note)>,
}

/// What is of note about a frame.
#[derive(Clone, Copy, Debug)]
pub(super) enum Note {
    /// It was sent before.
    Again,
    /// It is not decoded.
    Failed,
    /// It is not decoded and will not be sent again.
    GivenUp,
}

impl FrameCounts {
    /// Notes something about the frame that starts at `start`.
    pub(super) fn note(&mut self, start: i64, note: Note) {
        if start > self.now {
            self.ahead.push_back((start, note));
        } else {
            self.count(note);
        }
    }

    /// Time goes on to `now`.
    #[inline]
    pub(super) fn advance(&mut self, now: i64) {
        self.now = self.now.max(now);
        while let Some(&(start, note)) = self.ahead.front()
            && start <= now
        {
            self.ahead.pop_front();
            self.count(note);
        }
    }

    fn count(&mut self, note: Note) {
        match note {
            Note::Again => self.again += 1,
            Note::Failed => self.failed += 1,
            Note::GivenUp => self.given_up += 1,
        }
    }
}
