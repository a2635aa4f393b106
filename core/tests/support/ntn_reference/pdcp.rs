//! The receiving PDCP entity (TS 38.323 section 5.2.2), and how packets leave the link.

use super::{End, World};

impl World<'_> {
    pub(crate) fn pdcp_receive(&mut self, order: usize) {
        let count = order as u64;
        if count < self.rx_deliv {
            self.count("sdus_late");
            self.end(order, false);
            return;
        }
        self.pdcp_got.insert(count);
        self.pdcp_next = self.pdcp_next.max(count + 1);
        if !self.case.config.pdcp.in_order {
            self.end(order, true);
        }
        self.release_from(self.rx_deliv);
        if self.reordering.is_some() && self.rx_deliv >= self.rx_reord {
            self.reordering = None;
        }
        if self.reordering.is_none() {
            self.wait_for_order();
        }
    }

    pub(crate) fn reordering_expired(&mut self) {
        for count in self.rx_deliv..self.rx_reord {
            if self.pdcp_got.contains(&count) && self.case.config.pdcp.in_order {
                self.end(count as usize, true);
            }
        }
        self.release_from(self.rx_reord);
        self.wait_for_order();
    }

    /// Delivers the run of packets from `count` on.
    pub(crate) fn release_from(&mut self, count: u64) {
        self.rx_deliv = count;
        while self.pdcp_got.contains(&self.rx_deliv) {
            if self.case.config.pdcp.in_order {
                self.end(self.rx_deliv as usize, true);
            }
            self.rx_deliv += 1;
        }
    }

    pub(crate) fn wait_for_order(&mut self) {
        if self.rx_deliv < self.pdcp_next {
            self.rx_reord = self.pdcp_next;
            self.reordering = self
                .case
                .config
                .timers()
                .reordering
                .map(|timer| self.now + timer.as_nanos() as i64);
        }
    }

    pub(crate) fn end(&mut self, order: usize, delivered: bool) {
        let packet = &mut self.packets[order];
        assert!(!packet.ended);
        packet.ended = true;
        self.out.ends.push(End {
            packet: packet.id,
            delivered,
            at: self.now,
            departed: packet.departed,
            blocks: packet.blocks,
        });
    }
}
