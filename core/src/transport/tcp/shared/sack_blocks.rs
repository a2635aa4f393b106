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
    /// beyond the acknowledgement.
    #[inline]
    pub(crate) fn segments(
        &mut self,
        flight: &Flight,
        index: usize,
        block: SackBlock,
    ) -> (u64, u64) {
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
