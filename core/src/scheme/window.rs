//! Bounded buffers: how far the sender may run ahead of what it has heard.

use std::collections::VecDeque;

use crate::link::schedule::ReadyQueue;

/// Limits on the units (of HARQ: blocks) whose end the sender has not heard of.
///
/// The sender keeps each until it hears that it arrived or was given up; the far end numbers them
/// and holds what is behind a gap. New data wait while either has no room.
#[derive(Clone, Debug)]
pub(super) struct BufferLimits {
    /// Most that the sender keeps.
    send: usize,
    /// Most from the first gap to the newest, as the sender knows it.
    receive: usize,
    /// Whether each is still kept, from the oldest that is.
    kept: VecDeque<bool>,
    /// Number of the oldest.
    base: u64,
    count: usize,
    /// Reports under way to the sender, by number.
    reports: ReadyQueue<u64>,
}

impl BufferLimits {
    /// `None`: unlimited. Without either limit no window is needed.
    pub(super) fn new(send: Option<u32>, receive: Option<u32>) -> Option<Self> {
        let bound = |limit: Option<u32>| limit.map_or(usize::MAX, |limit| limit as usize);
        (send.is_some() || receive.is_some()).then(|| Self {
            send: bound(send),
            receive: bound(receive),
            kept: VecDeque::new(),
            base: 0,
            count: 0,
            reports: ReadyQueue::new(),
        })
    }

    /// Whether there is room for one more.
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.count < self.send && self.kept.len() < self.receive
    }

    /// When the sender hears of one next.
    pub(super) fn next_report(&self) -> Option<i64> {
        self.reports.next_at()
    }

    /// The next number is taken; the first one of a link is the first that its scheme takes.
    pub(super) fn open(&mut self, number: u64) {
        if self.kept.is_empty() {
            self.base = number;
        }
        self.kept.push_back(true);
        self.count += 1;
    }

    /// The sender hears at the instant `at` that `number` arrived or was given up.
    pub(super) fn ends(&mut self, number: u64, at: i64) {
        self.reports.push(at, number);
    }

    /// The sender hears what has come in up to `now`.
    #[inline]
    pub(super) fn hear(&mut self, now: i64) {
        while let Some(number) = self.reports.pop(now) {
            self.kept[(number - self.base) as usize] = false;
            self.count -= 1;
            while self.kept.front() == Some(&false) {
                self.kept.pop_front();
                self.base += 1;
            }
        }
    }
}
