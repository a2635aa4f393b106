//! A handover: MAC reset, RLC and PDCP re-established, packets forwarded (TS 38.321 section 5.12,
//! TS 38.322 section 5.1.2, TS 38.323 section 5.1.2).

use clift::scheme::ntn::HarqMode;

use super::World;

impl World<'_> {
    /// Whether no slot can be used since a handover.
    pub(crate) fn interrupted(&self) -> bool {
        let Some(handovers) = self.case.config.handovers else { return false };
        let every = handovers.every.as_nanos() as i64;
        self.now >= every && self.now % every < handovers.interruption.as_nanos() as i64
    }

    pub(crate) fn hand_over_if_due(&mut self) {
        let Some(handovers) = self.case.config.handovers else { return };
        let every = handovers.every.as_nanos() as i64;
        if self.now > 0 && self.now % every == 0 {
            self.reset_mac();
            if self.am().is_some() {
                self.forward();
            } else {
                self.drop_what_is_cut();
            }
            self.got.clear();
            self.done.clear();
            self.rx_next = self.tx_next;
            self.rx_highest = self.tx_next;
            self.rx_highest_status = self.tx_next;
            self.trigger = self.tx_next;
            self.reassembly = None;
            self.after_event();
        }
    }

    fn reset_mac(&mut self) {
        let most = match self.case.config.harq.mode {
            HarqMode::Feedback { max_transmissions, .. } => max_transmissions.get(),
            HarqMode::NoFeedback => 1,
        };
        for block in std::mem::take(&mut self.processes).into_iter().flatten() {
            if block.decoded.is_none() && block.rounds < most {
                self.count("tbs_flushed");
            }
        }
        for (_, (_, _, decoded)) in std::mem::take(&mut self.landings) {
            if decoded {
                self.count("tbs_flushed");
            }
        }
        self.packets.iter_mut().for_each(|packet| packet.riding = 0);
        self.repeating = None;
        self.feedback.clear();
        self.grants.iter_mut().for_each(|grant| grant.used = true);
        self.asks = false;
        self.retx_bsr = None;
    }

    fn drop_what_is_cut(&mut self) {
        for order in 0..self.packets.len() {
            let packet = &mut self.packets[order];
            if packet.sent > 0 && !packet.complete && !packet.ended {
                packet.closed = true;
                self.count("sdus_incomplete");
                self.end(order, false);
            }
        }
        self.reordering = None;
        for count in self.rx_deliv..self.pdcp_next {
            if self.pdcp_got.contains(&count) && self.case.config.pdcp.in_order {
                self.end(count as usize, true);
            }
        }
        self.rx_deliv = self.pdcp_next;
    }

    fn forward(&mut self) {
        for (_, sn) in std::mem::take(&mut self.given_up) {
            let order = self.order_of[&sn];
            if !self.packets[order].complete && !self.packets[order].ended {
                self.end(order, false);
            }
        }
        let mut forwarded = vec![];
        for (_, sdu) in std::mem::take(&mut self.sent) {
            let packet = &mut self.packets[sdu.order];
            if sdu.done {
                continue;
            }
            if packet.complete {
                packet.closed = true;
            } else {
                packet.sent = 0;
                forwarded.push(sdu.order);
            }
        }
        forwarded.extend(std::mem::take(&mut self.forwarded));
        self.forwarded = forwarded.into();
        self.statuses.clear();
        self.polled.clear();
        self.report = false;
        self.prohibited = None;
        self.held = false;
        self.poll_next = false;
        self.poll_timer = None;
        self.pdu_without_poll = 0;
        self.byte_without_poll = 0;
    }
}
