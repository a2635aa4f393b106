//! What happens at one instant, in order.

use clift::link::QueueLimit;

use super::{Packet, World};

impl World<'_> {
    pub(crate) fn tick(&mut self) {
        let used = self.slots_used();
        self.hand_over_if_due();
        self.events();
        let mut slot = self.slot_now().filter(|_| !self.interrupted());
        for (id, &(at, size)) in self.case.arrivals.iter().enumerate() {
            if at != self.now {
                continue;
            }
            if !self.room(size) && self.wanted() && slot.is_some() {
                self.use_slot(slot.take().unwrap());
                self.events();
            }
            if !self.room(size) {
                self.out.dropped.push(id);
                continue;
            }
            let bytes = (size + self.case.config.headers.sdu.0) as usize;
            self.waiting.push_back(self.packets.len());
            self.packets.push(Packet {
                id,
                size,
                bytes,
                entered: self.now,
                departed: 0,
                sent: 0,
                sn: None,
                ended: false,
                complete: false,
                closed: false,
                blocks: 0,
                riding: 0,
            });
            self.events();
        }
        if self.now < self.case.end
            && let Some(slot) = slot
        {
            self.use_slot(slot);
            self.events();
        }
        let waits = self.has_again() || self.rlc_wants();
        let passed = self.now < self.case.end && self.slot_now().is_some();
        if passed && self.slots_used() == used && (waits || !self.waiting.is_empty()) {
            self.count("stalled_slots");
        }
        if waits && self.no_more_slots() && self.packets.iter().any(|p| !p.ended) {
            self.out.trace_ended = true;
        }
    }

    pub(crate) fn events(&mut self) {
        self.terminal();
        while self.event() {
            self.after_event();
            self.terminal();
        }
    }

    /// One event of the first kind that has one now.
    pub(crate) fn event(&mut self) -> bool {
        let now = self.now;
        let due = |at: Option<i64>| at.is_some_and(|at| at <= now);
        if due(self.landings.keys().next().map(|k| k.0)) {
            let (_, (pdus, report, decoded)) = self.landings.pop_first().unwrap();
            if let Some(report) = report.filter(|_| decoded) {
                self.hear_report(report);
            }
            self.land(&pdus, decoded);
        } else if due(self.given_up.keys().next().map(|k| k.0)) {
            let (_, sn) = self.given_up.pop_first().unwrap();
            if sn >= self.rx_next && !self.done.contains(&sn) {
                self.done.insert(sn);
                self.am_placed(sn, true);
                self.answer();
                let order = self.order_of[&sn];
                self.end(order, false);
            }
        } else if due(self.reassembly) {
            self.reassembly = None;
            self.count("reassembly_timeouts");
            self.reassembly_expired();
        } else if self.held && due(self.prohibited) {
            self.send_status();
        } else if due(self.reordering) {
            self.reordering = None;
            self.count("reordering_timeouts");
            self.reordering_expired();
        } else if due(self.feedback.keys().next().map(|k| k.0)) {
            let (_, process) = self.feedback.pop_first().unwrap();
            self.heard(process);
        } else if due(self.statuses.keys().next().map(|k| k.0)) {
            let (_, status) = self.statuses.pop_first().unwrap();
            self.status(&status);
        } else if due(self.poll_timer) {
            self.poll_timer = None;
            self.poll_next = true;
        } else if self.discard_due() {
            let order = self.waiting.pop_front().unwrap();
            self.packets[order].departed = now;
            self.packets[order].closed = true;
            self.count("sdus_discarded");
            self.end(order, false);
        } else {
            return self.ask();
        }
        true
    }

    /// A poll that is owed finds a packet. A status report that is due goes at once or waits for t-StatusProhibit.
    pub(crate) fn after_event(&mut self) {
        while self.poll_next
            && !self.has_retransmissions()
            && (self.buffers_empty() || self.stalled())
        {
            let last = self.sent.iter().rev().find(|(_, sdu)| !sdu.done).map(|(sn, _)| *sn);
            let Some(sn) = last else { break };
            let all = (0..self.packets[self.sent[&sn].order].bytes).collect();
            self.consider(sn, all);
        }
        if self.report {
            if self.prohibited.is_some_and(|until| self.now <= until) {
                self.held = true;
            } else {
                self.send_status();
            }
        }
    }

    pub(crate) fn count(&mut self, name: &'static str) {
        *self.out.counts.entry(name).or_default() += 1;
    }

    pub(crate) fn room(&self, size: u32) -> bool {
        match self.case.queue {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => self.waiting.len() < limit as usize,
            QueueLimit::Bytes(limit) => {
                let waiting: u64 =
                    self.waiting.iter().map(|&order| u64::from(self.packets[order].size)).sum();
                waiting + u64::from(size) <= limit
            }
        }
    }

    pub(crate) fn discard_due(&self) -> bool {
        let Some(timer) = self.case.config.pdcp.discard.get() else { return false };
        let first = self.waiting.front();
        first.is_some_and(|&o| self.packets[o].entered + timer.as_nanos() as i64 <= self.now)
    }
}
