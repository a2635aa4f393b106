//! The receiving end: what arrives, what is reported of it, and what leaves the link.

use super::{NtnLink, instant};
use crate::link::ntn::harq::Landing;
use crate::link::ntn::rlc::Rlc;
use crate::link::{LinkEvent, Transit};

impl NtnLink {
    /// A block is decoded, or nothing more of it comes.
    pub(super) fn land(&mut self, now: i64) {
        let Some((_, Landing { mut pdus, decoded })) = self.landings.pop() else { return };
        for pdu in &pdus {
            let complete = decoded && self.rlc.receive(pdu, now);
            let sdu = self.backlog.get_mut(pdu.order);
            sdu.riding -= 1;
            if complete {
                sdu.complete = true;
                if !self.pdcp.receive(pdu.order, now, &mut self.released) {
                    self.counts.late += 1;
                    self.lose(pdu.order, now);
                }
                self.release(now);
                continue;
            }
            // In UM nobody repairs it: lost with the last of its blocks.
            let gone = !sdu.open && sdu.riding == 0 && !sdu.complete && !sdu.ended;
            if gone && matches!(self.rlc, Rlc::Um { .. }) {
                self.counts.incomplete += 1;
                self.lose(pdu.order, now);
            }
        }
        pdus.clear();
        self.spare.push(pdus);
    }

    /// The sender gave up a packet.
    pub(super) fn learn_given_up(&mut self, now: i64) {
        let Rlc::Am(am) = &mut self.rlc else { return };
        let Some((_, (sn, order))) = am.given_up.pop() else { return };
        if am.receiver.given_up(sn, now) {
            self.lose(order, now);
        }
    }

    /// Sends a status report if one is due and may go.
    pub(super) fn report(&mut self, now: i64) {
        let Rlc::Am(am) = &mut self.rlc else { return };
        if am.receiver.report && am.reports.may_go(now) {
            self.send_status(now);
        }
    }

    /// A status report goes, and may get lost.
    pub(super) fn send_status(&mut self, now: i64) {
        let Rlc::Am(am) = &mut self.rlc else { return };
        let status = am.receiver.status();
        if let Some(leaves) = am.reports.go(now) {
            am.statuses.push(self.path.feedback(leaves), status);
        }
    }

    pub(super) fn lose(&mut self, order: u64, now: i64) {
        let transit = self.transit(order, now);
        self.out.push_back(LinkEvent::Lost(transit));
    }

    /// What PDCP released leaves the link.
    pub(super) fn release(&mut self, now: i64) {
        let mut released = std::mem::take(&mut self.released);
        for order in released.drain(..) {
            let transit = self.transit(order, now);
            self.out.push_back(LinkEvent::Delivered(transit));
        }
        self.released = released;
    }

    fn transit(&mut self, order: u64, now: i64) -> Transit {
        let sdu = self.backlog.get_mut(order);
        sdu.ended = true;
        Transit {
            packet: sdu.packet,
            size: sdu.size,
            lldus: sdu.blocks,
            order,
            entered: sdu.entered,
            departed: instant(sdu.departed),
            at: instant(now),
        }
    }
}
