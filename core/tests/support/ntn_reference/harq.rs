//! Slots, and processes that stop and wait (TS 38.321 sections 5.3.2, 5.4.2).

use clift::link::Propagation;
use clift::scheme::ntn::{HarqMode, NtnPhy};

use super::{Block, World, delay};

impl World<'_> {
    /// Number of the slot at this very instant, its error, and its decoding time.
    pub(crate) fn slot_now(&self) -> Option<(u64, Option<i64>)> {
        match &self.case.config.phy {
            NtnPhy::Random { slot, .. } => {
                let every = slot.as_nanos() as i64;
                (self.now % every == 0).then_some(((self.now / every) as u64, None))
            }
            NtnPhy::Trace(trace) => {
                let t = trace.t();
                let period = t[t.len() - 1] - t[0] + trace.median_gap().as_nanos() as i64;
                let cycles = if self.case.wrap { self.now / period + 1 } else { 1 };
                (0..cycles).find_map(|cycle| {
                    let place = (0..t.len()).find(|&i| t[i] + cycle * period == self.now)?;
                    let number = cycle as u64 * t.len() as u64 + place as u64;
                    Some((number, Some(trace.d()[place])))
                })
            }
        }
    }

    pub(crate) fn no_more_slots(&self) -> bool {
        match &self.case.config.phy {
            NtnPhy::Random { .. } => false,
            NtnPhy::Trace(trace) => !self.case.wrap && self.now > trace.t()[trace.len() - 1],
        }
    }

    pub(crate) fn nominal(&self) -> i64 {
        match &self.case.config.phy {
            NtnPhy::Random { decode, .. } => decode.as_nanos() as i64,
            NtnPhy::Trace(trace) => trace.nominal_decoding().as_nanos() as i64,
        }
    }

    pub(crate) fn has_again(&self) -> bool {
        self.repeating.is_some()
            || self.processes.iter().flatten().any(|block| block.again.is_some())
    }

    pub(crate) fn process_free(&self) -> bool {
        match self.case.config.harq.mode {
            HarqMode::NoFeedback => true,
            HarqMode::Feedback { silent, .. } => silent > 0 || self.hearing_process_free(),
        }
    }

    fn hearing_process_free(&self) -> bool {
        let HarqMode::Feedback { processes, silent, .. } = self.case.config.harq.mode else {
            return false;
        };
        let busy = self.processes.iter().flatten().filter(|block| !block.silent).count();
        (busy as u32) < processes.get() - silent
    }

    pub(crate) fn wanted(&self) -> bool {
        self.has_again() || self.may_send_new()
    }

    /// Slots used so far.
    pub(crate) fn slots_used(&self) -> u64 {
        ["tbs_sent", "tbs_sent_again"].iter().filter_map(|name| self.out.counts.get(name)).sum()
    }

    pub(crate) fn use_slot(&mut self, (number, d): (u64, Option<i64>)) {
        let repetitions = self.case.config.harq.repetitions.get();
        let process = if let Some(process) = self.repeating {
            self.count("tbs_sent_again");
            process
        } else if let Some(process) = self.first_again() {
            self.count("tbs_sent_again");
            let block = self.processes[process].as_mut().unwrap();
            block.again = None;
            block.left = repetitions;
            process
        } else if !self.may_send_new() {
            return;
        } else if !self.rlc_wants() {
            self.waste();
            return;
        } else if !self.process_free() {
            return;
        } else {
            self.count("tbs_sent");
            let pdus = self.fill();
            let block = Block {
                pdus,
                report: self.take_grant(),
                silent: !self.hearing_process_free(),
                heard: 0,
                rounds: 0,
                decoded: None,
                again: None,
                left: repetitions,
                granted: true,
                last_slot: 0,
            };
            let free = self.processes.iter().position(Option::is_none);
            let process = free.unwrap_or_else(|| {
                self.processes.push(None);
                self.processes.len() - 1
            });
            self.processes[process] = Some(block);
            process
        };
        self.send(process, number, d);
    }

    pub(crate) fn first_again(&self) -> Option<usize> {
        let again = |process: &usize| self.processes[*process].as_ref()?.again;
        (0..self.processes.len()).filter(|p| again(p).is_some()).min_by_key(again)
    }

    pub(crate) fn send(&mut self, process: usize, number: u64, d: Option<i64>) {
        let mut block = self.processes[process].take().unwrap();
        if block.left == self.case.config.harq.repetitions.get() {
            let [grant, ..] = self.control_uniforms[number as usize];
            block.granted = grant >= self.case.config.control.missed_grant.get();
            if !block.granted {
                self.count("missed_grants");
            }
        }
        block.left -= 1;
        block.last_slot = number;
        let mut signal = self.now + delay(&self.case.config.propagation, self.now);
        if let Propagation::Varying { keep_order: true, .. } = self.case.config.propagation {
            signal = signal.max(self.last_arrival);
            self.last_arrival = signal;
        }
        let d = match &self.case.config.phy {
            _ if !block.granted => 0,
            NtnPhy::Trace(_) => d.unwrap(),
            NtnPhy::Random { bler, decode, .. } => {
                block.heard += 1;
                let p = bler[(block.heard - 1).min(bler.len() - 1)].get();
                if self.uniforms[number as usize] < p { 0 } else { decode.as_nanos() as i64 }
            }
        };
        let known = signal + self.nominal();
        if d > 0 && block.decoded.is_none() {
            block.decoded = Some(signal + d);
            self.entries += 1;
            let report = block.report.map(|report| self.answered(report, signal, signal + d));
            self.landings.insert((signal + d, self.entries), (block.pdus.clone(), report, true));
        }
        self.repeating = (block.left > 0).then_some(process);
        if block.left > 0 {
            self.processes[process] = Some(block);
            return;
        }
        block.rounds += 1;
        let (most, wait) = match self.case.config.harq.mode {
            HarqMode::Feedback { max_transmissions, processing, .. } if !block.silent => {
                (max_transmissions.get(), Some(processing.as_nanos() as i64))
            }
            _ => (1, None),
        };
        if block.decoded.is_none() && block.rounds >= most {
            self.count("tbs_failed");
            self.entries += 1;
            self.landings.insert((known, self.entries), (block.pdus.clone(), None, false));
        }
        if let Some(wait) = wait {
            let leaves = known.max(block.decoded.unwrap_or(known)) + wait;
            self.entries += 1;
            let arrives = match self.case.config.k_offset {
                // As if nothing were under way for longer than the offset.
                Some(offset) => self.now + (leaves - signal) + offset.as_nanos() as i64,
                None => leaves + delay(&self.case.config.way_back, leaves),
            };
            self.feedback.insert((arrives, self.entries), process);
            self.processes[process] = Some(block);
        }
    }

    pub(crate) fn heard(&mut self, process: usize) {
        let HarqMode::Feedback { max_transmissions, .. } = self.case.config.harq.mode else {
            return;
        };
        let believes_ack = self.reads_ack(process);
        let block = self.processes[process].as_mut().unwrap();
        if !believes_ack && block.rounds < max_transmissions.get() {
            self.negative += 1;
            block.again = Some(self.negative);
            return;
        }
        let block = self.processes[process].take().unwrap();
        // After the last transmission it has failed before.
        if block.decoded.is_none() && block.rounds < max_transmissions.get() {
            self.count("tbs_failed");
            self.entries += 1;
            self.landings.insert((self.now, self.entries), (block.pdus, None, false));
        }
    }

    /// Whether what came back, or the silence, is taken for an ACK.
    fn reads_ack(&mut self, process: usize) -> bool {
        let block = self.processes[process].as_ref().unwrap();
        let (granted, decoded) = (block.granted, block.decoded.is_some());
        let [_, detection, reading] = self.control_uniforms[block.last_slot as usize];
        let errors = self.case.config.control;
        if !granted {
            if reading < errors.dtx_to_ack.get() {
                self.count("dtx_read_as_ack");
                return true;
            }
            return false;
        }
        if detection < errors.missed_feedback.get() {
            self.count("missed_feedback");
            return false;
        }
        if decoded && reading < errors.ack_to_nack.get() {
            self.count("acks_read_as_nack");
            return false;
        }
        if !decoded && reading < errors.nack_to_ack.get() {
            self.count("nacks_read_as_ack");
            return true;
        }
        decoded
    }
}
