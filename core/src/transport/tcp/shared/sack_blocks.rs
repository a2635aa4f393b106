//! The SACK blocks of an ACK as numbers of segments.

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
