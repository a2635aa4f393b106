//! HARQ-II, live: blocks closed by the flush timer, and repair rounds on demand.

use crate::link::earliest;
use crate::link::line::Line;
use crate::link::live::{LiveScheme, NOW};
use crate::link::schedule::ReadyQueue;
use crate::link::slots::Slot;
use crate::scheme::feedback::Feedback;
use crate::scheme::window::BufferLimits;
use crate::scheme::word::Word;
use crate::scheme::{BlockCode, Harq2};
use crate::units::Limit;

#[derive(Clone, Debug)]
pub(crate) struct LiveHarq2 {
    code: BlockCode,
    extra: u32,
    max_rounds: Limit,
    flush: i64,
    feedback: Feedback,
    window: Option<BufferLimits>,
    /// The block that new data go into.
    block: Block,
    /// When its first unit was sent.
    begun: i64,
    /// Repair units sent of it; `None`: data may still come.
    repair: Option<usize>,
    /// Rounds that were asked for.
    rounds: ReadyQueue<Block>,
    /// The round that is being sent.
    round: Option<Round>,
    /// Memory of former blocks.
    spare: Vec<Word>,
    /// Earliest instant at which a block would be decoded that is still being sent.
    undecided: Option<i64>,
}

/// A round that is being sent.
#[derive(Clone, Debug)]
struct Round {
    block: Block,
    /// Bytes still to be sent, and further units after them.
    bytes: u64,
    extra: u32,
}

#[derive(Clone, Debug, Default)]
struct Block {
    number: u64,
    word: Word,
    /// Rounds asked for.
    rounds: u32,
}

impl LiveHarq2 {
    pub(crate) fn new(
        Harq2 { code, extra, max_rounds }: Harq2,
        flush: i64,
        feedback: Feedback,
        window: Option<BufferLimits>,
    ) -> Self {
        Self {
            code,
            extra,
            max_rounds,
            flush,
            feedback,
            window,
            block: Block::default(),
            begun: 0,
            repair: None,
            rounds: ReadyQueue::new(),
            round: None,
            spare: Vec::new(),
            undecided: None,
        }
    }

    fn is_open(&self) -> bool {
        self.block.word.data > 0
    }

    fn may_send_new(&self) -> bool {
        self.is_open() || self.window.as_ref().is_none_or(BufferLimits::has_room)
    }

    fn repair_units(&self) -> usize {
        self.code.total() - self.code.data()
    }

    /// Sends the next unit of the round under way; `false`: there is none.
    #[inline]
    fn send_round(&mut self, slot: Slot, line: &mut Line) -> bool {
        let Some(Round { block, bytes, extra }) = &mut self.round else { return false };
        line.send_repair(slot, block.number, block.rounds, block.word.packets);
        block.word.add_repair(slot);
        match *bytes {
            0 => *extra -= 1,
            left => *bytes = left.saturating_sub(u64::from(slot.bytes)),
        }
        if *bytes > 0 || *extra > 0 {
            self.undecided = earliest(self.undecided, block.word.decoded_at());
        } else if let Some(round) = self.round.take() {
            self.complete_round(round.block, slot.t, line);
        }
        true
    }

    /// After the last unit of a round, in the slot at `t`.
    fn complete_round(&mut self, mut block: Block, t: i64, line: &mut Line) {
        if self.needs_round(&block) {
            self.ask_for_round(block, t, line);
            return;
        }
        block.word.finish(t, line);
        self.note_end(block.number, t);
        self.spare.push(block.word);
    }

    #[inline]
    fn send_data(&mut self, slot: Slot, line: &mut Line) {
        if !self.is_open() {
            self.begun = slot.t;
            if let Some(window) = &mut self.window {
                window.open(self.block.number);
            }
        }
        let unit = line.send_new(slot);
        self.block.word.add_data(slot, unit, line);
        if self.block.word.data == self.code.data() {
            self.repair = Some(0);
            self.complete_if_all_sent(slot.t, line);
        }
    }

    #[inline]
    fn send_repair(&mut self, sent: usize, slot: Slot, line: &mut Line) {
        line.send_repair(slot, self.block.number, 0, self.block.word.packets);
        self.block.word.add_repair(slot);
        self.repair = Some(sent + 1);
        if !self.complete_if_all_sent(slot.t, line) {
            self.undecided = earliest(self.undecided, self.block.word.decoded_at());
        }
    }

    /// Goes on to the next block once the last unit of this one was sent, in the slot at `t`.
    #[inline]
    fn complete_if_all_sent(&mut self, t: i64, line: &mut Line) -> bool {
        if self.repair != Some(self.repair_units()) {
            return false;
        }
        self.repair = None;
        let number = self.block.number;
        if self.needs_round(&self.block) {
            let word = self.spare.pop().unwrap_or_default();
            let next = Block { number: number + 1, word, rounds: 0 };
            let block = std::mem::replace(&mut self.block, next);
            self.ask_for_round(block, t, line);
        } else {
            self.block.word.finish(t, line);
            self.note_end(number, t);
            self.block.number = number + 1;
        }
        true
    }

    #[inline]
    fn needs_round(&self, block: &Block) -> bool {
        block.word.missing() > 0 && self.max_rounds.allows(block.rounds)
    }

    /// The far end asks for what the block lacks after the slot at `t`.
    fn ask_for_round(&mut self, mut block: Block, t: i64, line: &mut Line) {
        line.counts.blocks_repaired += u64::from(block.rounds == 0);
        block.rounds += 1;
        self.rounds.push(self.feedback.report(t), block);
    }

    /// The block came to its end with the slot at `t`.
    #[inline]
    fn note_end(&mut self, number: u64, t: i64) {
        if let Some(window) = &mut self.window {
            window.ends(number, self.feedback.report(t));
        }
    }
}

impl LiveScheme for LiveHarq2 {
    #[inline]
    fn wants(&self, data_wait: bool) -> Option<i64> {
        if self.round.is_some() || self.repair.is_some() || (data_wait && self.may_send_new()) {
            return Some(NOW);
        }
        let round = self.rounds.next_at();
        if self.is_open() {
            return earliest(round, Some(self.begun.saturating_add(self.flush)));
        }
        match &self.window {
            Some(window) if data_wait => earliest(round, window.next_report()),
            _ => round,
        }
    }

    #[inline]
    fn carry(&mut self, slot: Slot, line: &mut Line) -> bool {
        if let Some(window) = &mut self.window {
            window.hear(slot.t);
        }
        if self.round.is_none() && self.rounds.next_at().is_some_and(|at| at <= slot.t) {
            self.round = self.rounds.pop(slot.t).map(|block| {
                let bytes = block.word.missing();
                Round { block, bytes, extra: self.extra }
            });
        }
        if self.send_round(slot, line) {
            return true;
        }
        if self.repair.is_none() && line.data_wait() && self.may_send_new() {
            self.send_data(slot, line);
            return true;
        }
        if self.repair.is_none()
            && self.is_open()
            && self.begun.saturating_add(self.flush) <= slot.t
        {
            line.counts.blocks_flushed += 1;
            self.repair = Some(0);
            if self.complete_if_all_sent(slot.t, line) {
                return false;
            }
        }
        let Some(sent) = self.repair else { return false };
        self.send_repair(sent, slot, line);
        true
    }

    fn undecided(&self) -> Option<i64> {
        self.undecided
    }

    fn settle(&mut self, until: i64, line: &mut Line) {
        let mut undecided = None;
        let round = self.round.as_mut().map(|round| &mut round.block.word);
        for word in std::iter::once(&mut self.block.word).chain(round) {
            // More data may follow, so the number of units needed is not known yet.
            match word.decoded_at() {
                Some(at) if at <= until => word.rebuild(at, line),
                at => undecided = earliest(undecided, at),
            }
        }
        self.undecided = undecided;
    }

    fn feedback_lost(&self) -> u64 {
        self.feedback.lost
    }
}
