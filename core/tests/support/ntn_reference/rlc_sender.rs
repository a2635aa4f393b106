//! The sending RLC entity (TS 38.322 sections 5.2.2.1, 5.2.3.1, 5.3).

use clift::scheme::ntn::RlcConfig;
use clift::units::Limit;

use super::{Pdu, SentSdu, Status, World, delay};

impl World<'_> {
    pub(crate) fn am(&self) -> Option<clift::scheme::ntn::AmConfig> {
        match self.case.config.rlc {
            RlcConfig::Am(am) => Some(am),
            RlcConfig::Um(_) => None,
        }
    }

    /// The packet that is partly sent.
    pub(crate) fn cut(&self) -> Option<usize> {
        self.packets.iter().position(|p| p.sent > 0 && p.sent < p.bytes && !p.closed)
    }

    fn has_packet(&self) -> bool {
        !self.forwarded.is_empty() || !self.waiting.is_empty()
    }

    pub(crate) fn window_full(&self) -> bool {
        let Some(am) = self.am() else { return false };
        let tx_next_ack =
            self.sent.iter().find(|(_, sdu)| !sdu.done).map_or(self.tx_next, |(sn, _)| *sn);
        self.tx_next >= tx_next_ack + u64::from(am.window.get())
    }

    pub(crate) fn has_retransmissions(&self) -> bool {
        self.sent.values().any(|sdu| !sdu.pending.is_empty())
    }

    pub(crate) fn rlc_wants(&self) -> bool {
        self.has_retransmissions()
            || self.cut().is_some()
            || (self.has_packet() && !self.window_full())
    }

    pub(crate) fn buffers_empty(&self) -> bool {
        !self.has_retransmissions() && self.cut().is_none() && !self.has_packet()
    }

    pub(crate) fn stalled(&self) -> bool {
        self.cut().is_none() && self.window_full()
    }

    pub(crate) fn fill(&mut self) -> Vec<Pdu> {
        let header = self.case.config.headers.pdu.0 as usize;
        let mut room = self.case.config.tb().0 as usize;
        let mut pdus = vec![];
        while room > header {
            let Some(mut pdu) = self.next_pdu(room - header) else { break };
            room -= header + pdu.bytes.len();
            self.packets[pdu.order].riding += 1;
            if let Some(am) = self.am() {
                let most = |limit: Limit| limit.get().filter(|&n| n > 0);
                pdu.poll = self.poll_next
                    || most(am.poll_pdu).is_some_and(|n| self.pdu_without_poll >= n)
                    || most(am.poll_bytes).is_some_and(|n| self.byte_without_poll >= u64::from(n))
                    || self.buffers_empty()
                    || self.stalled();
                if pdu.poll {
                    self.count("polls");
                    self.poll_next = false;
                    self.pdu_without_poll = 0;
                    self.byte_without_poll = 0;
                    self.poll_sn = self.tx_next - 1;
                    self.poll_timer = Some(
                        self.now + self.case.config.timers().poll_retransmit.as_nanos() as i64,
                    );
                }
            }
            pdus.push(pdu);
        }
        pdus
    }

    pub(crate) fn next_pdu(&mut self, room: usize) -> Option<Pdu> {
        let first = self.sent.iter_mut().filter(|(_, sdu)| !sdu.pending.is_empty());
        if let Some((&sn, sdu)) = first.min_by_key(|(_, sdu)| sdu.since) {
            let start = *sdu.pending.first().unwrap();
            let bytes: Vec<usize> =
                (start..).take_while(|b| sdu.pending.contains(b)).take(room).collect();
            sdu.pending.retain(|b| !bytes.contains(b));
            if sdu.pending.is_empty() {
                sdu.since = None;
            }
            let order = sdu.order;
            self.count("rlc_pdus_sent_again");
            return Some(Pdu { order, sn: Some(sn), bytes, poll: false });
        }
        let order = match self.cut() {
            Some(order) => order,
            None if !self.has_packet() || self.window_full() => return None,
            None if !self.forwarded.is_empty() => self.forwarded.pop_front().unwrap(),
            None => {
                let order = self.waiting.pop_front().unwrap();
                self.packets[order].departed = self.now;
                order
            }
        };
        let am = self.am().is_some();
        let packet = &mut self.packets[order];
        let bytes: Vec<usize> = (packet.sent..packet.bytes).take(room).collect();
        let whole = bytes.len() == packet.bytes;
        if packet.sent == 0 && (am || !whole) {
            packet.sn = Some(self.tx_next);
            self.order_of.insert(self.tx_next, order);
            if am {
                self.sent.insert(self.tx_next, SentSdu { order, ..SentSdu::default() });
            }
            self.tx_next += 1;
        }
        packet.sent += bytes.len();
        packet.blocks += 1;
        self.pdu_without_poll += 1;
        self.byte_without_poll += bytes.len() as u64;
        Some(Pdu { order, sn: packet.sn, bytes, poll: false })
    }

    pub(crate) fn status(&mut self, status: &Status) {
        if self.poll_timer.is_some() && self.poll_sn < status.ack {
            self.poll_timer = None;
        }
        let known: Vec<u64> = self.sent.keys().copied().filter(|&sn| sn < status.ack).collect();
        for sn in known {
            match status.nacks.get(&sn) {
                None => self.finish(sn),
                Some(missing) => self.consider(sn, missing.clone()),
            }
        }
    }

    pub(crate) fn finish(&mut self, sn: u64) {
        let sdu = self.sent.get_mut(&sn).unwrap();
        sdu.done = true;
        sdu.pending.clear();
        sdu.since = None;
        self.packets[sdu.order].closed = true;
    }

    pub(crate) fn consider(&mut self, sn: u64, missing: Vec<usize>) {
        let sdu = self.sent.get_mut(&sn).unwrap();
        if sdu.done {
            return;
        }
        let sent = self.packets[sdu.order].sent;
        let missing: Vec<usize> = missing.into_iter().filter(|&b| b < sent).collect();
        if missing.is_empty() {
            return;
        }
        if missing.iter().any(|b| !sdu.pending.contains(b)) {
            sdu.retx = Some(sdu.retx.map_or(0, |count| count + 1));
        }
        if sdu.since.is_none() {
            self.considered += 1;
            sdu.since = Some(self.considered);
        }
        sdu.pending.extend(missing);
        let most = self.am().unwrap().max_retx.get().filter(|&most| most > 0);
        if let (Some(count), Some(most)) = (self.sent[&sn].retx, most)
            && count >= most
        {
            self.finish(sn);
            self.count("sdus_given_up");
            self.entries += 1;
            let told = self.now + delay(&self.case.config.propagation, self.now);
            self.given_up.insert((told, self.entries), sn);
        }
    }
}
