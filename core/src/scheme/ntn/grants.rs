//! Grants of an uplink: scheduling requests, buffer status reports, configured grants (TS 38.321
//! sections 5.4.4, 5.4.5, 5.8.2).

use crate::link::schedule::ReadyQueue;
use crate::link::span;
use crate::scheme::ntn::config::{Asking, UplinkConfig};
use crate::units::Duration;

/// State that the terminal and its scheduler share.
///
/// A grant is for one TB in one slot. The scheduler counts what it granted; a terminal never asks
/// while a grant is under way.
#[derive(Clone, Debug)]
pub(super) struct Grants {
    asking: Asking,
    every: i64,
    reports: bool,
    processing: i64,
    retx: i64,
    /// Bytes of data that a grant is counted for.
    room: u64,
    /// Grants so far, those that are still under way to the terminal included.
    issued: u64,
    /// Grants whose slot has come, with a TB or without.
    used: u64,
    /// Grants that the next slots are for.
    due: u64,
    /// Grants under way: how many.
    coming: ReadyQueue<u64>,
    /// When the terminal asks next.
    asks: Option<i64>,
    /// The last report announced data: the time at which it is repeated without a grant.
    reported: Option<i64>,
    /// When a configured grant was used last.
    last: Option<i64>,
    requests: u64,
    unused: u64,
}

/// A buffer status report, in a TB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    /// Bytes that wait.
    left: u64,
    /// Grants used by then.
    used: u64,
    /// When the sender has what is granted upon it.
    pub(super) answered: i64,
}

impl Grants {
    pub(super) fn new(config: UplinkConfig, retx: Duration, room: u32) -> Self {
        let every = match config.asking {
            Asking::Request { every, .. } | Asking::Configured { every } => every,
        };
        Self {
            asking: config.asking,
            every: span(every),
            reports: config.buffer_status,
            processing: span(config.processing),
            retx: span(retx),
            room: u64::from(room),
            issued: 0,
            used: 0,
            due: 0,
            coming: ReadyQueue::new(),
            asks: None,
            reported: None,
            last: None,
            requests: 0,
            unused: 0,
        }
    }

    /// Nothing is granted or asked for any more (TS 38.321 section 5.12).
    pub(super) fn forget(&mut self) {
        self.used = self.issued;
        self.due = 0;
        self.coming = ReadyQueue::new();
        self.asks = None;
        self.reported = None;
    }

    /// Whether the next slot is granted.
    #[inline]
    pub(super) fn has_due(&self) -> bool {
        self.due > 0
    }

    pub(super) fn processing(&self) -> i64 {
        self.processing
    }

    /// When grants under way are due.
    #[inline]
    pub(super) fn comes(&self) -> Option<i64> {
        self.coming.next_at()
    }

    /// Grants under way are due.
    pub(super) fn come(&mut self, now: i64) {
        self.due += self.coming.pop(now).unwrap_or(0);
    }

    /// When the terminal asks, or `retxBSR-Timer` expires.
    #[inline]
    pub(super) fn asks(&self) -> Option<i64> {
        self.asks.or(self.reported)
    }

    /// Decides whether the terminal asks, now that data waits or not: data that comes when none
    /// waits triggers a report, and without a grant to carry it a request (sections 5.4.4, 5.4.5).
    pub(super) fn consider(&mut self, wanted: bool, now: i64) {
        let under_way = match self.asking {
            Asking::Request { .. } => self.issued > self.used,
            Asking::Configured { .. } => self.due > 0,
        };
        if self.asks.is_some() || under_way {
            return;
        }
        if !wanted {
            self.reported = None;
        } else if self.reported.is_none() {
            let from = self.last.map_or(now, |last| now.max(last + 1)).max(0);
            self.asks = Some((from as u64).div_ceil(self.every as u64) as i64 * self.every);
        }
    }

    /// The request occasion or the timer has come. True if a request is sent, whose answer is for
    /// [`Grants::granted`].
    pub(super) fn ask(&mut self, now: i64) -> bool {
        if self.asks.take().is_none() {
            // The timer: waiting data triggers another report.
            self.reported = None;
            return false;
        }
        match self.asking {
            Asking::Request { .. } => {
                self.requests += 1;
                true
            }
            Asking::Configured { .. } => {
                self.last = Some(now);
                self.issued += 1;
                self.due += 1;
                false
            }
        }
    }

    /// The scheduler answers a request; its grants are due at `at`.
    pub(super) fn granted(&mut self, at: i64) {
        let Asking::Request { blocks, .. } = self.asking else { return };
        self.issued += u64::from(blocks.get());
        self.coming.push(at, u64::from(blocks.get()));
    }

    /// The slot of a grant passes without data.
    pub(super) fn waste(&mut self) {
        self.due -= 1;
        self.used += 1;
        self.unused += 1;
    }

    /// A new TB takes a grant and leaves `left` bytes; returns its report, answered at `answered`
    /// if the TB is decoded.
    pub(super) fn take(&mut self, left: u64, now: i64) -> Option<Report> {
        self.due -= 1;
        self.used += 1;
        self.reported = None;
        if !self.reports {
            return None;
        }
        if left > 0 && matches!(self.asking, Asking::Request { .. }) {
            self.reported = Some(now + self.retx);
        }
        Some(Report { left, used: self.used, answered: 0 })
    }

    /// The scheduler has a report and grants what is in it and not granted yet.
    pub(super) fn hear(&mut self, report: Report) {
        let wanted = report.left.div_ceil(self.room);
        let more = wanted.saturating_sub(self.issued - report.used);
        if more > 0 {
            self.issued += more;
            self.coming.push(report.answered, more);
        }
    }

    /// Names and counts.
    pub(super) fn details(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let details = [
            ("scheduling_requests", self.requests),
            ("grants", self.issued),
            ("grants_unused", self.unused),
        ];
        details.into_iter()
    }
}
