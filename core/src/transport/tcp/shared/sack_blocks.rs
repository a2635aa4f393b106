//! The SACK blocks of an ACK as numbers of segments.

use super::flight::Flight;
use crate::transport::SackBlock;

/// SACK blocks in one segment, as segment numbers: ascending, each `start..end`, none empty.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Blocks {
    len: usize,
    blocks: [(u64, u64); 4],
}

impl Blocks {
    /// Adds a block at its place; a fifth one is left out.
    pub(crate) fn insert(&mut self, start: u64, end: u64) {
        if self.len == self.blocks.len() {
            return;
        }
        let mut at = self.len;
        while at > 0 && self.blocks[at - 1].0 > start {
            self.blocks[at] = self.blocks[at - 1];
            at -= 1;
        }
        self.blocks[at] = (start, end);
        self.len += 1;
    }

    /// Where the block ends that `segment` lies in; `segment` itself if there is none.
    pub(crate) fn beyond(&self, segment: u64) -> u64 {
        let within = |&&(start, end): &&(u64, u64)| start <= segment && segment < end;
        self.as_slice().iter().find(within).map_or(segment, |&(_, end)| end)
    }

    /// The blocks in ascending order.
    pub(crate) fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..self.len]
    }
}

/// The blocks of the last ACK that had any, in bytes and by number: an ACK repeats most of them.
///
/// Which segment begins at or after a byte beyond the acknowledgement never changes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastBlocks {
    known: [(SackBlock, u64, u64); 4],
}

impl LastBlocks {
    /// The segments `start..end` that begin within the `index`-th block of an ACK, which lies
    /// between the acknowledgement and the next new byte; nothing for a block that is none.
    #[inline]
    pub(crate) fn segments(
        &mut self,
        flight: &Flight,
        index: usize,
        block: SackBlock,
    ) -> (u64, u64) {
        if block.start >= block.end {
            return (0, 0); // what begins beyond the next new byte is not known yet
        }
        let Some((known, start, end)) = self.known.get_mut(index) else {
            return (flight.at_or_after(block.start), flight.at_or_after(block.end));
        };
        if known.start != block.start {
            *start = flight.at_or_after(block.start);
        }
        if known.end != block.end {
            *end = flight.at_or_after(block.end);
        }
        *known = block;
        (*start, *end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Instant;

    /// A block of nonsense that begins beyond the next new byte leaves nothing behind for a block
    /// that begins there once something was sent.
    #[test]
    fn what_was_not_sent_yet_is_looked_up_again() {
        let (mut flight, mut last) = (Flight::new(10), LastBlocks::default());
        flight.push(Instant::ZERO, 10);
        let nonsense = SackBlock { start: 40, end: 10 };
        assert_eq!(last.segments(&flight, 0, nonsense), (0, 0));
        (1..8).for_each(|_| flight.push(Instant::ZERO, 10));
        assert_eq!(last.segments(&flight, 0, SackBlock { start: 40, end: 60 }), (4, 6));
        assert_eq!(last.segments(&flight, 0, SackBlock { start: 40, end: 70 }), (4, 7));
        assert_eq!(last.segments(&flight, 0, SackBlock { start: 30, end: 70 }), (3, 7));
    }
}
