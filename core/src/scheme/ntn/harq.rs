//! HARQ: transport blocks, and processes that stop and wait (TS 38.321 sections 5.3.2, 5.4.2).

use std::collections::VecDeque;

use rand_chacha::ChaCha8Rng;

use crate::link::{StreamRange, span};
use crate::scheme::ntn::config::{ControlErrors, HarqConfig, HarqMode};
use crate::scheme::ntn::grants::Report;
use crate::scheme::ntn::pdu::Pdu;
use crate::scheme::ntn::slots::{Draws, Received};
use crate::units::Probability;

/// The number of a transport block; numbers are used again.
pub(super) type BlockId = u32;

/// Sender: blocks under way and blocks to be sent again.
///
/// Which process a block is in makes no difference but for its feedback, so those that wait for it
/// are only counted.
#[derive(Clone, Debug)]
pub(super) struct Harq {
    mode: HarqMode,
    repetitions: u32,
    blocks: Vec<Block>,
    free: Vec<BlockId>,
    /// Blocks that wait for feedback or to be sent again.
    waiting: u32,
    /// Blocks that the feedback asks for again, in the order in which it came.
    again: VecDeque<BlockId>,
    /// A block with repetitions left, and how many.
    repeating: Option<(BlockId, u32)>,
    pub(super) sent: u64,
    pub(super) sent_again: u64,
    pub(super) failed: u64,
    pub(super) flushed: u64,
}

#[derive(Clone, Debug, Default)]
struct Block {
    pdus: Vec<Pdu>,
    report: Option<Report>,
    label: Label,
    /// Whether its process has feedback.
    heard: bool,
    /// Transmissions so far, repetitions included.
    attempts: u32,
    /// Those of them that the receiver used: it had their grant.
    combined: u32,
    /// What the receiver has of it.
    received: Received,
    /// Whether the receiver has the grant of the transmission under way.
    granted: bool,
    /// Transmissions that are over, a bundle of repetitions counting once.
    rounds: u32,
    /// When the receiver had decoded it.
    decoded: Option<i64>,
}

/// Entry of a block in the log.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Label {
    /// Its number, in the order of first transmission.
    pub(super) unit: u64,
    /// First and last packet in it.
    pub(super) packets: (u64, u64),
    /// Whether RLC sends its content again.
    pub(super) again: bool,
    /// Content of the first packet.
    pub(super) carries: Option<StreamRange>,
}

/// Effect of a slot on a block.
#[derive(Debug)]
pub(super) struct Sent {
    /// The block's content ends at the receiver at this time, decoded or not.
    pub(super) lands: Option<(i64, Landing)>,
    /// When the feedback leaves the receiver, and what it is.
    pub(super) feedback: Option<(i64, Feedback)>,
}

/// The content of a block that was decoded or given up.
#[derive(Clone, Debug)]
pub(super) struct Landing {
    pub(super) pdus: Vec<Pdu>,
    pub(super) report: Option<Report>,
    pub(super) decoded: bool,
}

impl Harq {
    pub(super) fn new(config: HarqConfig) -> Self {
        Self {
            mode: config.mode,
            repetitions: config.repetitions.get(),
            blocks: Vec::new(),
            free: Vec::new(),
            waiting: 0,
            again: VecDeque::new(),
            repeating: None,
            sent: 0,
            sent_again: 0,
            failed: 0,
            flushed: 0,
        }
    }

    /// Forgets all blocks (TS 38.321 section 5.12); the content of those that nothing was decoded
    /// of.
    pub(super) fn flush(&mut self) -> Vec<Pdu> {
        let blocks = self.blocks.drain(..);
        let lost: Vec<Vec<Pdu>> =
            blocks.map(|block| block.pdus).filter(|pdus| !pdus.is_empty()).collect();
        self.flushed += lost.len() as u64;
        self.free.clear();
        self.waiting = 0;
        self.again.clear();
        self.repeating = None;
        lost.into_iter().flatten().collect()
    }

    #[inline]
    pub(super) fn has_again(&self) -> bool {
        self.repeating.is_some() || !self.again.is_empty()
    }

    /// Blocks that the feedback asks for again.
    pub(super) fn again(&self) -> u64 {
        self.again.len() as u64
    }

    /// Whether a block is in the middle of its repetitions.
    pub(super) fn is_repeating(&self) -> bool {
        self.repeating.is_some()
    }

    #[inline]
    pub(super) fn has_free(&self) -> bool {
        match self.mode {
            HarqMode::NoFeedback => true,
            HarqMode::Feedback { silent, .. } => silent > 0 || self.has_free_with_feedback(),
        }
    }

    fn has_free_with_feedback(&self) -> bool {
        match self.mode {
            HarqMode::NoFeedback => false,
            HarqMode::Feedback { processes, silent, .. } => self.waiting < processes.get() - silent,
        }
    }

    /// The block that the next slot repeats: one in the middle of its repetitions, else the one
    /// that was asked for again first.
    pub(super) fn next_again(&mut self) -> Option<BlockId> {
        let block = match self.repeating {
            Some((block, _)) => block,
            None => {
                let block = self.again.pop_front()?;
                self.repeating = Some((block, self.repetitions));
                block
            }
        };
        self.sent_again += 1;
        Some(block)
    }

    /// A new block in a free process.
    pub(super) fn open(&mut self, pdus: Vec<Pdu>, report: Option<Report>, label: Label) -> BlockId {
        let label = Label { unit: self.sent, ..label };
        let heard = self.has_free_with_feedback();
        self.waiting += u32::from(heard);
        let block = Block { pdus, report, label, heard, ..Block::default() };
        let id = match self.free.pop() {
            Some(id) => {
                self.blocks[id as usize] = block;
                id
            }
            None => {
                self.blocks.push(block);
                self.blocks.len() as BlockId - 1
            }
        };
        self.sent += 1;
        self.repeating = Some((id, self.repetitions));
        id
    }

    pub(super) fn label(&self, id: BlockId) -> Label {
        self.blocks[id as usize].label
    }

    /// How often the block was sent before.
    pub(super) fn attempts(&self, id: BlockId) -> u32 {
        self.blocks[id as usize].attempts
    }

    /// Whether the next slot is the first of its repetitions, which has the grant for all of them.
    pub(super) fn begins(&self) -> bool {
        self.repeating.is_some_and(|(_, left)| left == self.repetitions)
    }

    /// Whether the receiver has that grant.
    pub(super) fn grant(&mut self, id: BlockId, granted: bool) {
        self.blocks[id as usize].granted = granted;
    }

    /// Which of the transmissions that the receiver uses the next one is, from 1; `None`: it misses
    /// it.
    pub(super) fn next_combined(&self, id: BlockId) -> Option<u32> {
        let block = &self.blocks[id as usize];
        block.granted.then(|| block.combined.saturating_add(1))
    }

    /// What the receiver has of the block.
    pub(super) fn received(&mut self, id: BlockId) -> &mut Received {
        &mut self.blocks[id as usize].received
    }

    /// The block was sent in a slot whose outcome is known at the receiver at `known`: decoded at
    /// `decoded` or not.
    pub(super) fn transmit(&mut self, id: BlockId, known: i64, decoded: Option<i64>) -> Sent {
        let block = &mut self.blocks[id as usize];
        block.attempts = block.attempts.saturating_add(1);
        block.combined = block.combined.saturating_add(u32::from(block.granted));
        let mut lands = None;
        if block.decoded.is_none()
            && let Some(at) = decoded
        {
            block.decoded = Some(at);
            let pdus = std::mem::take(&mut block.pdus);
            lands = Some((at, Landing { pdus, report: block.report, decoded: true }));
        }
        self.repeating = match self.repeating {
            Some((block, left)) if left > 1 => Some((block, left - 1)),
            _ => None,
        };
        if self.repeating.is_some() {
            return Sent { lands, feedback: None };
        }
        block.rounds += 1;
        let over = match self.mode {
            HarqMode::Feedback { max_transmissions, .. } if block.heard => {
                block.rounds >= max_transmissions.get()
            }
            _ => true,
        };
        if over && block.decoded.is_none() {
            self.failed += 1;
            let pdus = std::mem::take(&mut block.pdus);
            lands = Some((known, Landing { pdus, report: None, decoded: false }));
        }
        let processing = match self.mode {
            HarqMode::Feedback { processing, .. } if block.heard => processing,
            _ => {
                self.release(id);
                return Sent { lands, feedback: None };
            }
        };
        // A block that takes longer than nominal to decode is not acknowledged before it is.
        let heard = block.decoded.map_or(known, |at| at.max(known));
        let feedback = match (block.granted, block.decoded) {
            (false, _) => Feedback::Dtx,
            (true, Some(_)) => Feedback::Ack,
            (true, None) => Feedback::Nack,
        };
        Sent { lands, feedback: Some((heard + span(processing), feedback)) }
    }

    /// The sender reads the feedback on a block. A block that it wrongly takes for received is
    /// lost.
    pub(super) fn feedback(&mut self, id: BlockId, read: Feedback) -> Option<Landing> {
        let block = &mut self.blocks[id as usize];
        let HarqMode::Feedback { max_transmissions, .. } = self.mode else { return None };
        let over = block.rounds >= max_transmissions.get();
        if read != Feedback::Ack && !over {
            self.again.push_back(id);
            return None;
        }
        let lost = (block.decoded.is_none() && !over).then(|| {
            self.failed += 1;
            Landing { pdus: std::mem::take(&mut block.pdus), report: None, decoded: false }
        });
        self.release(id);
        lost
    }

    fn release(&mut self, id: BlockId) {
        self.waiting -= u32::from(self.blocks[id as usize].heard);
        self.free.push(id);
    }
}

/// HARQ feedback; DTX: none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Feedback {
    Ack,
    Nack,
    Dtx,
}

/// The control channels of a link.
#[derive(Clone, Debug)]
pub(super) struct Control {
    errors: ControlErrors,
    draws: Draws,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    missed_grants: u64,
    missed_feedback: u64,
    acks_as_nack: u64,
    nacks_as_ack: u64,
    dtx_as_ack: u64,
}

/// Random draws of a slot.
#[derive(Clone, Copy)]
enum Draw {
    Grant,
    Detection,
    Reading,
}

impl Control {
    pub(super) fn new(errors: ControlErrors, rng: ChaCha8Rng) -> Self {
        Self { errors, draws: Draws::new(rng), counts: Counts::default() }
    }

    /// Whether the receiver has the grant of the transmission that begins in a slot.
    pub(super) fn granted(&mut self, slot: u64) -> bool {
        let missed = self.happens(self.errors.missed_grant, slot, Draw::Grant);
        self.counts.missed_grants += u64::from(missed);
        !missed
    }

    /// Feedback that the sender will read on the transmission that ends in a slot.
    pub(super) fn reading(&mut self, slot: u64, sent: Feedback) -> Feedback {
        let ControlErrors { missed_feedback, ack_to_nack, nack_to_ack, dtx_to_ack, .. } =
            self.errors;
        if sent != Feedback::Dtx && self.happens(missed_feedback, slot, Draw::Detection) {
            return Feedback::Dtx;
        }
        let (wrong, p) = match sent {
            Feedback::Ack => (Feedback::Nack, ack_to_nack),
            Feedback::Nack => (Feedback::Ack, nack_to_ack),
            Feedback::Dtx => (Feedback::Ack, dtx_to_ack),
        };
        if self.happens(p, slot, Draw::Reading) { wrong } else { sent }
    }

    /// The sender read a feedback.
    pub(super) fn count(&mut self, sent: Feedback, read: Feedback) {
        match (sent, read) {
            (Feedback::Ack, Feedback::Nack) => self.counts.acks_as_nack += 1,
            (Feedback::Nack, Feedback::Ack) => self.counts.nacks_as_ack += 1,
            (Feedback::Dtx, Feedback::Ack) => self.counts.dtx_as_ack += 1,
            (Feedback::Ack | Feedback::Nack, Feedback::Dtx) => self.counts.missed_feedback += 1,
            _ => {}
        }
    }

    /// Names and counts of what went wrong, if anything can.
    pub(super) fn details(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = self.counts;
        let details = [
            ("missed_grants", counts.missed_grants),
            ("missed_feedback", counts.missed_feedback),
            ("acks_read_as_nack", counts.acks_as_nack),
            ("nacks_read_as_ack", counts.nacks_as_ack),
            ("dtx_read_as_ack", counts.dtx_as_ack),
        ];
        let shown = if self.errors.are_off() { 0 } else { details.len() };
        details.into_iter().take(shown)
    }

    fn happens(&mut self, p: Probability, slot: u64, draw: Draw) -> bool {
        p > Probability::ZERO && self.draws.uniform(3 * slot + draw as u64) < p.get()
    }
}
