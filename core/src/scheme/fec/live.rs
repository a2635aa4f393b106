//! FEC, live: a code word that the traffic does not fill is closed by the flush timer.

use crate::link::earliest;
use crate::link::line::Line;
use crate::link::live::{LiveScheme, NOW};
use crate::link::slots::Slot;
use crate::scheme::BlockCode;
use crate::scheme::word::Word;

/// `depth` code words that take slots in turn: first their data, then their repair.
#[derive(Clone, Debug)]
pub(crate) struct Fec {
    code: BlockCode,
    depth: usize,
    flush: i64,
    /// As many as hold data (and the memory of former ones behind them).
    words: Vec<Word>,
    /// Data units sent of this super-block.
    data: usize,
    /// When its first unit was sent.
    begun: i64,
    /// Repair units sent; `None`: data may still come.
    repair: Option<usize>,
    /// Number of its first code word.
    first_block: u64,
    /// Earliest instant at which a word would be decoded whose repair is still being sent.
    undecided: Option<i64>,
}

impl Fec {
    pub(crate) fn new(code: BlockCode, depth: u32, flush: i64) -> Self {
        Self {
            code,
            depth: depth as usize,
            flush,
            words: Vec::new(),
            data: 0,
            begun: 0,
            repair: None,
            first_block: 0,
            undecided: None,
        }
    }

    /// Code words that hold data.
    fn used_words(&self) -> usize {
        self.data.min(self.depth)
    }

    #[inline]
    fn send_data(&mut self, slot: Slot, line: &mut Line) {
        if self.data == 0 {
            self.begun = slot.t;
        }
        let number = self.data % self.depth;
        if number == self.words.len() {
            self.words.push(Word::default());
        }
        let unit = line.send_new(slot);
        let word = &mut self.words[number];
        word.add_data(slot, unit, line);
        self.data += 1;
        let full = self.data == self.depth.saturating_mul(self.code.data());
        if self.code.total() > self.code.data() {
            self.repair = full.then_some(0);
            return;
        }
        if word.data == self.code.data() {
            word.finish(slot.t, line);
        }
        if full {
            self.start_anew();
        }
    }

    #[inline]
    fn send_repair(&mut self, sent: usize, slot: Slot, line: &mut Line) {
        let words = self.used_words();
        let number = sent % words;
        let word = &mut self.words[number];
        line.send_repair(slot, self.first_block + number as u64, 0, word.packets);
        word.add_repair(slot);
        let last_row = sent / words + 1 == self.code.total() - self.code.data();
        if last_row {
            word.finish(slot.t, line);
        } else {
            self.undecided = earliest(self.undecided, word.decoded_at());
        }
        self.repair = Some(sent + 1);
        if last_row && number + 1 == words {
            self.start_anew();
        }
    }

    /// Closes a super-block that has no repair, at the instant `now`.
    fn close(&mut self, now: i64, line: &mut Line) {
        let words = self.used_words();
        self.words[..words].iter_mut().for_each(|word| word.finish(now, line));
        self.start_anew();
    }

    /// After the last unit of the super-block.
    fn start_anew(&mut self) {
        let words = self.used_words();
        self.first_block += words as u64;
        (self.data, self.repair, self.undecided) = (0, None, None);
    }
}

impl LiveScheme for Fec {
    #[inline]
    fn wants(&self, data_wait: bool) -> Option<i64> {
        if data_wait || self.repair.is_some() {
            return Some(NOW);
        }
        (self.data > 0).then(|| self.begun.saturating_add(self.flush))
    }

    #[inline]
    fn carry(&mut self, slot: Slot, line: &mut Line) -> bool {
        if self.repair.is_none() && line.data_wait() {
            self.send_data(slot, line);
            return true;
        }
        if self.repair.is_none() {
            // Nothing waits, and the timer has run out.
            line.counts.blocks_flushed += self.used_words() as u64;
            if self.code.total() == self.code.data() {
                self.close(slot.t, line);
                return false;
            }
        }
        self.send_repair(self.repair.unwrap_or(0), slot, line);
        true
    }

    fn undecided(&self) -> Option<i64> {
        self.undecided
    }

    fn settle(&mut self, until: i64, line: &mut Line) {
        let mut undecided = None;
        let words = self.used_words();
        for word in &mut self.words[..words] {
            match word.decoded_at() {
                Some(at) if at <= until => word.rebuild(at, line),
                at => undecided = earliest(undecided, at),
            }
        }
        self.undecided = undecided;
    }
}
