//! What a scheduler knows of the terminals.

/// Terminals as a scheduler sees them, numbered from 0.
#[derive(Clone, Debug)]
pub struct Terminals {
    /// Bytes that wait, by terminal.
    waiting: Vec<u64>,
    /// Bytes that a slot carries, by terminal.
    room: Vec<u32>,
    /// One bit for each terminal with bytes that wait.
    busy: Vec<u64>,
    /// Terminals with bytes that wait.
    count: usize,
}

impl Terminals {
    /// Terminals without data, whose slots carry `room` bytes.
    ///
    /// ```
    /// use clift::scheme::carrier::Terminals;
    /// let mut terminals = Terminals::new(100, 1500);
    /// terminals.add(70, 9000);
    /// terminals.add(99, 100);
    /// assert_eq!(terminals.next_waiting(0), Some(70));
    /// assert_eq!(terminals.next_waiting(71), Some(99));
    /// terminals.take(70, 9000);
    /// assert_eq!(terminals.next_waiting(100), Some(99));
    /// ```
    pub fn new(terminals: usize, room: u32) -> Self {
        Self {
            waiting: vec![0; terminals],
            room: vec![room; terminals],
            busy: vec![0; terminals.div_ceil(64)],
            count: 0,
        }
    }

    /// Number of terminals.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// True if no terminal has bytes that wait.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes that wait and bytes that a slot carries now, by terminal. The latter are up to date for
    /// terminals with bytes that wait.
    pub fn columns(&self) -> (&[u64], &[u32]) {
        (&self.waiting, &self.room)
    }

    /// Bytes that wait at a terminal, those to be sent again included.
    pub fn waiting(&self, terminal: usize) -> u64 {
        self.waiting[terminal]
    }

    /// Bytes that a slot carries for a terminal now.
    pub fn room(&self, terminal: usize) -> u32 {
        self.room[terminal]
    }

    /// More bytes wait at a terminal.
    pub fn add(&mut self, terminal: usize, bytes: u64) {
        let waiting = &mut self.waiting[terminal];
        if *waiting == 0 && bytes > 0 {
            self.busy[terminal / 64] |= 1 << (terminal % 64);
            self.count += 1;
        }
        *waiting += bytes;
    }

    /// Bytes of a terminal have been sent.
    pub fn take(&mut self, terminal: usize, bytes: u64) {
        let waiting = &mut self.waiting[terminal];
        *waiting -= bytes;
        if *waiting == 0 && bytes > 0 {
            self.busy[terminal / 64] &= !(1 << (terminal % 64));
            self.count -= 1;
        }
    }

    /// Sets how many bytes wait at a terminal.
    pub(crate) fn set_waiting(&mut self, terminal: usize, bytes: u64) {
        self.take(terminal, self.waiting[terminal]);
        self.add(terminal, bytes);
    }

    pub(super) fn set_room(&mut self, terminal: usize, bytes: u32) {
        self.room[terminal] = bytes;
    }

    /// The first terminal from number `from` on with bytes that wait; after the last terminal the
    /// first one follows.
    pub fn next_waiting(&self, from: usize) -> Option<usize> {
        if self.count == 0 {
            return None;
        }
        let from = if from < self.len() { from } else { 0 };
        let (word, bit) = (from / 64, from % 64);
        let first = self.busy[word] & (u64::MAX << bit);
        if first != 0 {
            return Some(word * 64 + first.trailing_zeros() as usize);
        }
        let words = self.busy.len();
        (1..=words).find_map(|step| {
            let word = (word + step) % words;
            let found = self.busy[word];
            (found != 0).then(|| word * 64 + found.trailing_zeros() as usize)
        })
    }

    /// The terminals with bytes that wait, in order.
    pub fn all_waiting(&self) -> impl Iterator<Item = usize> {
        self.busy.iter().enumerate().flat_map(|(word, &bits)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(word * 64 + bit)
            })
        })
    }
}
