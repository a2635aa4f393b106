//! An uplink that needs grants, every grant kept for good (TS 38.321 sections 5.4.4, 5.4.5, 5.8.2).

use clift::scheme::ntn::{Asking, UplinkConfig};

use super::{World, delay};

/// A TB of new data may use a slot from `from` on.
pub(crate) struct Grant {
    pub(crate) from: i64,
    pub(crate) used: bool,
}

/// What a TB says: bytes that wait behind it, grants used by then, and when the answer is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report {
    left: usize,
    used: usize,
    answered: i64,
}

impl World<'_> {
    pub(crate) fn uplink(&self) -> Option<UplinkConfig> {
        self.case.config.uplink
    }

    /// The number of the first grant that a slot may use now.
    fn usable(&self) -> Option<usize> {
        self.grants.iter().position(|grant| !grant.used && grant.from <= self.now)
    }

    pub(crate) fn may_send_new(&self) -> bool {
        match self.uplink() {
            Some(_) => self.usable().is_some(),
            None => self.rlc_wants(),
        }
    }

    /// When what is known to the scheduler at `known` has brought a grant, if it was sent now and
    /// began to arrive at `signal`.
    fn granted_at(&self, signal: i64, known: i64) -> i64 {
        let leaves = known + self.uplink().unwrap().processing.as_nanos() as i64;
        match self.case.config.k_offset {
            Some(offset) => self.now + (leaves - signal) + offset.as_nanos() as i64,
            None => leaves + delay(&self.case.config.way_back, leaves),
        }
    }

    /// Whether data waits that nobody knows of.
    pub(crate) fn terminal(&mut self) {
        let Some(uplink) = self.uplink() else { return };
        let granted = match uplink.asking {
            Asking::Request { .. } => self.grants.iter().any(|grant| !grant.used),
            Asking::Configured { .. } => self.usable().is_some(),
        };
        if self.asks || granted {
            return;
        }
        if !self.rlc_wants() {
            self.retx_bsr = None;
        } else if self.retx_bsr.is_none() {
            self.asks = true;
        }
    }

    /// An occasion to ask, or the timer after a report; whether there was one.
    pub(crate) fn ask(&mut self) -> bool {
        let Some(uplink) = self.uplink() else { return false };
        if !self.asks {
            let expired = self.retx_bsr.is_some_and(|at| at <= self.now);
            if expired {
                self.retx_bsr = None;
            }
            return expired;
        }
        if self.interrupted() {
            return false;
        }
        match uplink.asking {
            Asking::Request { every, blocks } => {
                if self.now % every.as_nanos() as i64 != 0 {
                    return false;
                }
                let signal = self.now + delay(&self.case.config.propagation, self.now);
                let from = self.granted_at(signal, signal);
                for _ in 0..blocks.get() {
                    self.grant(from);
                }
                self.count("scheduling_requests");
            }
            Asking::Configured { every } => {
                if self.now % every.as_nanos() as i64 != 0 || self.configured == Some(self.now) {
                    return false;
                }
                self.configured = Some(self.now);
                self.grant(self.now);
            }
        }
        self.asks = false;
        true
    }

    fn grant(&mut self, from: i64) {
        self.grants.push(Grant { from, used: false });
        self.count("grants");
    }

    /// A slot is granted and there is nothing to send.
    pub(crate) fn waste(&mut self) {
        if let Some(grant) = self.usable() {
            self.grants[grant].used = true;
            self.count("grants_unused");
        }
    }

    /// A new TB uses a grant; its report of the remaining buffer.
    pub(crate) fn take_grant(&mut self) -> Option<Report> {
        let uplink = self.uplink()?;
        let grant = self.usable().unwrap();
        self.grants[grant].used = true;
        let again: usize = self.sent.values().map(|sdu| sdu.pending.len()).sum();
        let cut =
            self.cut().map_or(0, |order| self.packets[order].bytes - self.packets[order].sent);
        let waiting: usize = self
            .waiting
            .iter()
            .chain(&self.forwarded)
            .map(|&order| self.packets[order].bytes)
            .sum();
        let left = again + cut + waiting;
        self.retx_bsr = None;
        if !uplink.buffer_status {
            return None;
        }
        if left > 0 && matches!(uplink.asking, Asking::Request { .. }) {
            let timer = uplink.retx_bsr.unwrap().as_nanos() as i64;
            self.retx_bsr = Some(self.now + timer);
        }
        let used = self.grants.iter().filter(|grant| grant.used).count();
        Some(Report { left, used, answered: 0 })
    }

    /// The report of a TB that was sent now is there at `known`.
    pub(crate) fn answered(&self, report: Report, signal: i64, known: i64) -> Report {
        Report { answered: self.granted_at(signal, known), ..report }
    }

    /// The scheduler reads a report.
    pub(crate) fn hear_report(&mut self, report: Report) {
        let room = (self.case.config.tb().0 - self.case.config.headers.pdu.0) as usize;
        let mut granted = self.grants.len() - report.used;
        while granted * room < report.left {
            self.grant(report.answered);
            granted += 1;
        }
    }
}
