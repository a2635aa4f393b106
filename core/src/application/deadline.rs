//! Deadlines of messages, answers, objects, frames and packets; `None`: they have none.

use crate::units::{Duration, Instant};

/// True if what took this long arrived in time.
pub(super) fn is_met(deadline: Option<Duration>, took: Duration) -> bool {
    deadline.is_none_or(|deadline| took <= deadline)
}

/// True if what was due at `due` may still arrive in time at `now`.
pub(super) fn is_open(deadline: Option<Duration>, due: Instant, now: Instant) -> bool {
    deadline.is_some_and(|deadline| now.saturating_since(due) < deadline)
}
