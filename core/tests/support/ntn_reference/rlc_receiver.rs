//! The receiving RLC entity (TS 38.322 sections 5.2.2.2, 5.2.3.2, 5.3.4).

use std::collections::BTreeMap;

use clift::scheme::ntn::RlcConfig;
use rand::Rng;

use super::{Pdu, Status, World, delay};

impl World<'_> {
    pub(crate) fn land(&mut self, pdus: &[Pdu], decoded: bool) {
        for pdu in pdus {
            let completes = decoded && self.receive(pdu);
            self.packets[pdu.order].riding -= 1;
            let packet = &mut self.packets[pdu.order];
            if completes {
                packet.complete = true;
                self.pdcp_receive(pdu.order);
            } else if self.am().is_none() {
                let packet = &self.packets[pdu.order];
                let over = packet.sent == packet.bytes && packet.riding == 0;
                if over && !packet.complete && !packet.ended {
                    self.count("sdus_incomplete");
                    self.end(pdu.order, false);
                }
            }
        }
    }

    pub(crate) fn receive(&mut self, pdu: &Pdu) -> bool {
        match self.case.config.rlc {
            RlcConfig::Um(um) => self.um_receive(pdu, u64::from(um.window.get())),
            RlcConfig::Am(am) => self.am_receive(pdu, u64::from(am.window.get())),
        }
    }

    pub(crate) fn place(&mut self, pdu: &Pdu, sn: u64) -> bool {
        let got = self.got.entry(sn).or_default();
        got.extend(&pdu.bytes);
        got.len() == self.packets[pdu.order].bytes
    }

    pub(crate) fn hole(&self, sn: u64) -> bool {
        let Some(got) = self.got.get(&sn) else { return false };
        !self.done.contains(&sn) && got.last().is_some_and(|&last| got.len() <= last)
    }

    pub(crate) fn first_missing(&self, from: u64) -> u64 {
        (from..).find(|sn| !self.done.contains(sn)).unwrap()
    }

    pub(crate) fn um_receive(&mut self, pdu: &Pdu, window: u64) -> bool {
        let Some(sn) = pdu.sn else { return true };
        if sn < self.rx_next || self.done.contains(&sn) {
            return false;
        }
        let complete = self.place(pdu, sn);
        if complete {
            self.done.insert(sn);
            if sn == self.rx_next {
                self.rx_next = self.first_missing(sn);
            }
        } else if sn >= self.rx_highest {
            self.rx_highest = sn + 1;
            if self.rx_next + window < self.rx_highest {
                self.rx_next = self.first_missing(self.rx_highest - window);
            }
        }
        if self.reassembly.is_some()
            && (self.trigger <= self.rx_next
                || (self.trigger + window < self.rx_highest)
                || (self.rx_highest == self.rx_next + 1 && !self.hole(self.rx_next)))
        {
            self.reassembly = None;
        }
        self.maybe_start_reassembly(self.rx_next);
        complete
    }

    pub(crate) fn maybe_start_reassembly(&mut self, from: u64) {
        let gap = self.rx_highest > from + 1 || (self.rx_highest == from + 1 && self.hole(from));
        if self.reassembly.is_none() && gap {
            let timer = self.case.config.timers().reassembly.as_nanos() as i64;
            self.reassembly = Some(self.now + timer);
            self.trigger = self.rx_highest;
        }
    }

    pub(crate) fn reassembly_expired(&mut self) {
        if self.am().is_none() {
            self.rx_next = self.first_missing(self.trigger);
            self.maybe_start_reassembly(self.rx_next);
            return;
        }
        self.rx_highest_status = self.first_missing(self.trigger);
        self.maybe_start_reassembly(self.rx_highest_status);
        self.report = true;
        self.answer();
    }

    pub(crate) fn am_receive(&mut self, pdu: &Pdu, window: u64) -> bool {
        let sn = pdu.sn.unwrap();
        let known = self.got.get(&sn).is_some_and(|got| pdu.bytes.iter().all(|b| got.contains(b)));
        if sn < self.rx_next || sn >= self.rx_next + window || known || self.done.contains(&sn) {
            self.report |= pdu.poll;
            return false;
        }
        let complete = self.place(pdu, sn);
        if complete {
            self.done.insert(sn);
        }
        self.am_placed(sn, complete);
        if pdu.poll {
            self.polled.push(sn);
        }
        self.answer();
        complete
    }

    pub(crate) fn am_placed(&mut self, sn: u64, complete: bool) {
        let window = u64::from(self.am().unwrap().window.get());
        self.rx_highest = self.rx_highest.max(sn + 1);
        if complete && sn == self.rx_highest_status {
            self.rx_highest_status = self.first_missing(sn);
        }
        if complete && sn == self.rx_next {
            self.rx_next = self.first_missing(sn);
        }
        let (next, trigger) = (self.rx_next, self.trigger);
        if self.reassembly.is_some()
            && (trigger == next
                || (trigger == next + 1 && !self.hole(next))
                || trigger < next
                || trigger > next + window)
        {
            self.reassembly = None;
        }
        self.maybe_start_reassembly(next);
    }

    pub(crate) fn answer(&mut self) {
        let window = u64::from(self.am().unwrap().window.get());
        let ready = |&sn: &u64| sn < self.rx_highest_status || sn >= self.rx_next + window;
        if self.polled.iter().any(ready) {
            self.report = true;
        }
        let waiting = self.polled.iter().copied().filter(|sn| !ready(sn)).collect();
        self.polled = waiting;
    }

    pub(crate) fn send_status(&mut self) {
        let am = self.am().unwrap();
        self.report = false;
        self.held = false;
        self.prohibited =
            Some(self.now + self.case.config.timers().status_prohibit.as_nanos() as i64);
        self.count("status_reports");
        if am.status_loss.get() > 0.0 {
            let uniform = (self.losses.next_u64() >> 11) as f64 / 2f64.powi(53);
            if uniform < am.status_loss.get() {
                self.count("status_reports_lost");
                return;
            }
        }
        let mut nacks = BTreeMap::new();
        for sn in (self.rx_next..self.rx_highest_status).filter(|sn| !self.done.contains(sn)) {
            // The receiver does not know how long a packet is: bytes without end.
            let got = self.got.get(&sn).cloned().unwrap_or_default();
            nacks.insert(sn, (0..1000).filter(|b| !got.contains(b)).collect());
        }
        let leaves = self.now + am.status_delay.unwrap().as_nanos() as i64;
        self.entries += 1;
        let arrives = leaves + delay(&self.case.config.way_back, leaves);
        let status = Status { ack: self.rx_highest_status, nacks };
        self.statuses.insert((arrives, self.entries), status);
    }
}
