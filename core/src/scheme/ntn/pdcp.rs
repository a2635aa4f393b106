//! The receiving PDCP entity (TS 38.323 section 5.2.2).

use std::collections::VecDeque;

use crate::link::span;
use crate::scheme::ntn::config::NtnConfig;

/// Releases packets in the order of their COUNT, or as they come.
#[derive(Clone, Debug, Default)]
pub(super) struct Pdcp {
    in_order: bool,
    t_reordering: Option<i64>,
    /// `RX_DELIV`, the first COUNT of `received`.
    deliver: u64,
    /// `RX_NEXT`.
    next: u64,
    /// `RX_REORD`.
    reorder: u64,
    received: VecDeque<bool>,
    expires: Option<i64>,
    pub(super) timeouts: u64,
}

impl Pdcp {
    pub(super) fn new(config: &NtnConfig) -> Self {
        Self {
            in_order: config.pdcp.in_order,
            t_reordering: config.timers().reordering.map(span),
            ..Self::default()
        }
    }

    /// When `t-Reordering` expires.
    #[inline]
    pub(super) fn expires(&self) -> Option<i64> {
        self.expires
    }

    /// RLC delivered a packet (section 5.2.2.1). Released packets go to `out`; `false`: it came
    /// after its time and is discarded.
    pub(super) fn receive(&mut self, count: u64, now: i64, out: &mut Vec<u64>) -> bool {
        // TS 38.323 section 5.2.2.1: below RX_DELIV, the packet was delivered or given up.
        if count < self.deliver {
            return false;
        }
        let index = (count - self.deliver) as usize;
        if self.received.len() <= index {
            self.received.resize(index + 1, false);
        }
        self.received[index] = true;
        self.next = self.next.max(count + 1);
        if !self.in_order {
            out.push(count);
        }
        self.release_run(out);
        // The gap for which the timer ran is closed; another may be open, for which it starts
        // again.
        if self.expires.is_some() && self.deliver >= self.reorder {
            self.expires = None;
        }
        if self.expires.is_none() {
            self.wait(now);
        }
        true
    }

    /// `t-Reordering` expired (section 5.2.2.2).
    pub(super) fn expire(&mut self, now: i64, out: &mut Vec<u64>) {
        self.expires = None;
        self.timeouts += 1;
        while self.deliver < self.reorder {
            self.release_first(out);
        }
        self.release_run(out);
        self.wait(now);
    }

    /// Re-established without acknowledgements below (section 5.1.2): nothing that is missing comes
    /// any more.
    pub(super) fn reestablish(&mut self, out: &mut Vec<u64>) {
        self.expires = None;
        while self.deliver < self.next {
            self.release_first(out);
        }
    }

    fn release_run(&mut self, out: &mut Vec<u64>) {
        while self.received.front() == Some(&true) {
            self.release_first(out);
        }
    }

    fn release_first(&mut self, out: &mut Vec<u64>) {
        if self.received.pop_front() == Some(true) && self.in_order {
            out.push(self.deliver);
        }
        self.deliver += 1;
    }

    fn wait(&mut self, now: i64) {
        if self.deliver < self.next {
            // RX_REORD: packets behind the present ones get their own time (TS 38.323 section
            // 5.2.2).
            self.reorder = self.next;
            self.expires = self.t_reordering.map(|time| now + time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn re_establishment_releases_what_was_received_behind_a_gap() {
        let mut pdcp = Pdcp {
            in_order: true,
            t_reordering: None,
            deliver: 0,
            next: 0,
            reorder: 0,
            received: VecDeque::new(),
            expires: None,
            timeouts: 0,
        };
        let mut out = Vec::new();
        assert!(pdcp.receive(1, 0, &mut out));
        assert_eq!(out, [0; 0]);
        pdcp.reestablish(&mut out);
        assert_eq!(out, [1]);
        assert!(!pdcp.receive(0, 0, &mut out), "it came after its time");
    }
}
