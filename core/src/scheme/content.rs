//! When a code word over slots of different size becomes decodable.

/// Bytes of a code word that have arrived, with their times.
///
/// Its symbols are smaller than any slot, so that it is decoded once as many bytes arrived of all
/// its slots as its data slots carry; with slots of one size that is when any k units did.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    /// (`t + d`, bytes) of the units that arrived.
    arrived: Vec<(i64, u64)>,
    /// Bytes of its data.
    data: u64,
    sum: u64,
}

impl Content {
    /// Adds a slot of (`t`, `d`), whether it arrived or not; of data if `data`.
    pub(super) fn add(&mut self, (t, d): (i64, i64), bytes: u32, data: bool) {
        let bytes = u64::from(bytes);
        self.data += if data { bytes } else { 0 };
        if d > 0 {
            self.arrived.push((t + d, bytes));
            self.sum += bytes;
        }
    }

    /// Bytes that it still lacks.
    pub(super) fn missing(&self) -> u64 {
        self.data.saturating_sub(self.sum)
    }

    /// When it is decoded; `None` if too little arrived.
    pub(super) fn complete(&mut self) -> Option<i64> {
        self.arrived.sort_unstable();
        let mut sum = 0;
        let all = self.arrived.iter().find(|&&(_, bytes)| {
            sum += bytes;
            sum >= self.data
        });
        all.map(|&(at, _)| at)
    }
}
