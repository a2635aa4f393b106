//! What a piece of work may take: memory, and time until somebody stops it.
//!
//! A few bytes of a scenario or a file can ask for any amount of memory. Whoever makes something of
//! their size asks a [`Budget`] first, so that what does not fit is refused before it is allocated,
//! with what it would need. The same object says whether to go on, which long work asks now and then.

mod free;

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use thiserror::Error;

use crate::config::Fault;
use crate::units::Size;

pub use free::free_memory;

/// Memory that a piece of work may take, and whether it is to go on.
///
/// ```
/// use clift::budget::{Budget, Most};
/// let budget = Budget::of(Most::Bytes(1000));
/// assert_eq!(budget.room::<u64>(100, "100 slots")?.capacity(), 100);
/// let refused = budget.room::<u64>(100, "100 slots").unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "100 slots need 1600 B of memory in all, and 1 kB may be taken; take less, or allow it: \
///      memory = \"1600 B\""
/// );
/// # Ok::<(), clift::budget::Refusal>(())
/// ```
pub struct Budget<'a> {
    most: Most,
    /// What `most` comes to, looked up when something large is asked for.
    bytes: OnceLock<Option<u64>>,
    taken: AtomicU64,
    go_on: Option<&'a (dyn Fn() -> bool + Sync)>,
    tell: Option<&'a (dyn Fn(&str) + Sync)>,
    stopped: AtomicBool,
    short: AtomicBool,
}

/// How much memory may be taken.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Most {
    /// Four fifths of what the machine, and the group of processes that this one belongs to, have
    /// free ([`free_memory`]); any amount where that cannot be known.
    #[default]
    Free,
    /// So many bytes.
    Bytes(u64),
    /// Any amount.
    Unlimited,
}

/// Why work cannot go on.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum Refusal {
    /// It would need more memory than may be taken.
    #[error(
        "{what} need{} {} of memory in all, and {} may be taken; take less, or allow it: \
         memory = \"{}\"",
        if what.ends_with('s') { "" } else { "s" }, Up(*.need), Down(*.most), Up(*.need)
    )]
    Memory {
        /// What needs it.
        what: String,
        /// Bytes that it needs, with what was taken before.
        need: u64,
        /// Bytes that may be taken.
        most: u64,
    },
    /// Somebody stopped it.
    #[error("interrupted")]
    Stopped,
    /// A part from outside the core could not do it.
    #[error("{0}")]
    Failed(String),
}

/// What is smaller is not worth a look at how much is free.
const SMALL: u64 = 1 << 26;
/// What is larger takes seconds to make, and is told before.
const LARGE: u64 = 1 << 28;

impl Budget<'static> {
    /// Any amount of memory, and no end.
    pub const fn unlimited() -> Self {
        Self::new(Most::Unlimited, None)
    }

    /// So much memory, and no end.
    pub const fn of(most: Most) -> Self {
        Self::new(most, None)
    }
}

impl<'a> Budget<'a> {
    /// So much memory, as long as `go_on` says so.
    pub const fn new(most: Most, go_on: Option<&'a (dyn Fn() -> bool + Sync)>) -> Self {
        Self {
            most,
            bytes: OnceLock::new(),
            taken: AtomicU64::new(0),
            go_on,
            tell: None,
            stopped: AtomicBool::new(false),
            short: AtomicBool::new(false),
        }
    }

    /// The same, which hands a line to `tell` before very much is made.
    pub fn telling(self, tell: &'a (dyn Fn(&str) + Sync)) -> Self {
        Self { tell: Some(tell), ..self }
    }

    /// Tells, if anybody listens, that `what` is about to be made and takes so many bytes, if these
    /// are very many.
    pub fn announce(&self, bytes: u64, what: impl fmt::Display) {
        if let (LARGE.., Some(tell)) = (bytes, self.tell) {
            tell(&format!("making {what}, which take {} of memory", Up(bytes)));
        }
    }

    /// Counts `bytes` as taken by `what`, which a message names ("1000 slots").
    ///
    /// # Errors
    /// If that is more than may be taken; nothing is counted then.
    pub fn take(&self, bytes: u64, what: impl fmt::Display) -> Result<(), Refusal> {
        let need = self.taken.load(Ordering::Relaxed).saturating_add(bytes);
        let least = if self.most == Most::Free { SMALL } else { 0 };
        if let Some(most) = (need > least).then(|| self.bytes()).flatten()
            && need > most
        {
            self.short.store(true, Ordering::Relaxed);
            return Err(Refusal::Memory { what: what.to_string(), need, most });
        }
        self.taken.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Gives back `bytes` that were counted and are free again.
    pub fn give_back(&self, bytes: u64) {
        let less = |taken: u64| Some(taken.saturating_sub(bytes));
        let _ = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// An empty column with room for `count` values, which a message names `what`.
    ///
    /// # Errors
    /// If there is no such room.
    pub fn room<T>(&self, count: u64, what: impl fmt::Display) -> Result<Vec<T>, Refusal> {
        let mut column = Vec::new();
        self.reserve(&mut column, count, what)?;
        Ok(column)
    }

    /// Two empty columns with room for so many slots.
    ///
    /// # Errors
    /// If there is no room for both.
    pub fn columns(&self, slots: u64) -> Result<(Vec<i64>, Vec<i64>), Refusal> {
        let what = format!("{slots} slots");
        self.take(slots.saturating_mul(16), &what)?;
        self.give_back(slots.saturating_mul(16));
        Ok((self.room(slots, &what)?, self.room(slots, &what)?))
    }

    /// Room for `more` values in a column, and no more than that.
    ///
    /// # Errors
    /// If there is no such room.
    pub fn reserve<T>(
        &self,
        column: &mut Vec<T>,
        more: u64,
        what: impl fmt::Display,
    ) -> Result<(), Refusal> {
        let bytes = more.saturating_mul(size_of::<T>() as u64);
        self.take(bytes, &what)?;
        let reserved = usize::try_from(more).ok().map(|more| column.try_reserve_exact(more));
        match reserved {
            Some(Ok(())) => Ok(()),
            // The system has less than was allowed.
            _ => {
                self.short.store(true, Ordering::Relaxed);
                self.give_back(bytes);
                let most = free_memory().unwrap_or(self.taken.load(Ordering::Relaxed)).min(bytes);
                Err(Refusal::Memory { what: what.to_string(), need: bytes, most })
            }
        }
    }

    /// Room for one more value at least in a column that grows value by value: twice what it had.
    ///
    /// # Errors
    /// If there is no such room, or somebody stopped the work.
    #[inline]
    pub fn grow<T>(&self, column: &mut Vec<T>, what: &str) -> Result<(), Refusal> {
        if column.len() < column.capacity() {
            return Ok(());
        }
        self.grow_full(column, what)
    }

    #[cold]
    fn grow_full<T>(&self, column: &mut Vec<T>, what: &str) -> Result<(), Refusal> {
        self.ask()?;
        let more = column.len().max(1024);
        let all = format!("more than {} {what}", column.len());
        self.reserve(column, more as u64, all)
    }

    /// Whether to go on.
    ///
    /// # Errors
    /// If somebody stopped the work.
    pub fn ask(&self) -> Result<(), Refusal> {
        if self.go_on.is_none_or(|go_on| go_on()) {
            return Ok(());
        }
        self.stopped.store(true, Ordering::Relaxed);
        Err(Refusal::Stopped)
    }

    /// Whether the work was told to stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Whether memory was refused.
    pub fn is_short(&self) -> bool {
        self.short.load(Ordering::Relaxed)
    }

    fn bytes(&self) -> Option<u64> {
        *self.bytes.get_or_init(|| match self.most {
            Most::Bytes(bytes) => Some(bytes),
            Most::Unlimited => None,
            Most::Free => free_memory().map(|free| free / 5 * 4),
        })
    }
}

impl fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Budget({:?}, {} B taken)", self.most, self.taken.load(Ordering::Relaxed))
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::at(refusal.to_string())
    }
}

impl From<Refusal> for std::io::Error {
    fn from(refusal: Refusal) -> Self {
        Self::other(refusal)
    }
}

/// A size to two digits, rounded up: what is allowed in such words suffices.
struct Up(u64);

/// A size to two digits, rounded down: what needs more than is there never reads as much.
struct Down(u64);

impl fmt::Display for Up {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = step_of(self.0);
        Size(self.0.div_ceil(step).saturating_mul(step)).fmt(f)
    }
}

impl fmt::Display for Down {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = step_of(self.0);
        Size(self.0 / step * step).fmt(f)
    }
}

/// What two digits of a size in its unit count.
fn step_of(bytes: u64) -> u64 {
    let unit = [1_000_000_000, 1_000_000, 1000].into_iter().find(|&unit| bytes >= 10 * unit);
    unit.map_or(1, |unit| {
        let mut step = unit;
        while bytes / step >= 100 {
            step *= 10;
        }
        step
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_adds_up() {
        let budget = Budget::of(Most::Bytes(100));
        budget.take(60, "a").unwrap();
        let refused = budget.take(41, "41 slots").unwrap_err();
        assert_eq!(refused, Refusal::Memory { what: "41 slots".into(), need: 101, most: 100 });
        assert!(budget.is_short() && !budget.is_stopped());
        budget.take(40, "b").unwrap();
        budget.give_back(40);
        budget.take(40, "c").unwrap();
        assert!(Budget::unlimited().take(u64::MAX, "all").is_ok());
    }

    #[test]
    fn what_is_short_by_little_does_not_read_as_enough() {
        let refused = Budget::of(Most::Bytes(19_600_000_000)).take(19_900_000_000, "1 run");
        assert_eq!(
            refused.unwrap_err().to_string(),
            "1 run needs 20 GB of memory in all, and 19 GB may be taken; take less, or allow it: \
             memory = \"20 GB\""
        );
    }

    #[test]
    fn a_column_grows_by_doubling_until_it_may_not() {
        let budget = Budget::of(Most::Bytes(100_000));
        let mut column = Vec::new();
        let refused = loop {
            match budget.grow(&mut column, "slots") {
                Ok(()) => column.push(0u64),
                Err(refused) => break refused,
            }
        };
        assert_eq!(column.len(), 8192);
        assert!(
            refused.to_string().starts_with("more than 8192 slots need 140 kB of memory in all")
        );
    }

    #[test]
    fn very_much_is_told_before_it_is_made() {
        let told = std::sync::Mutex::new(Vec::new());
        let tell = |line: &str| told.lock().unwrap().push(line.to_owned());
        let budget = Budget::unlimited().telling(&tell);
        budget.announce(LARGE - 1, "16777215 slots");
        budget.announce(16 * 144_000_000, "144000000 slots");
        assert_eq!(*told.lock().unwrap(), ["making 144000000 slots, which take 2400 MB of memory"]);
    }

    #[test]
    fn what_no_system_has_is_refused_and_not_fatal() {
        let refused = Budget::unlimited().room::<u64>(1 << 59, "slots").unwrap_err();
        assert!(matches!(refused, Refusal::Memory { .. }));
        let refused = Budget::unlimited().room::<u64>(u64::MAX, "slots").unwrap_err();
        assert!(matches!(refused, Refusal::Memory { .. }));
    }

    #[test]
    fn a_share_of_what_is_free_is_the_default() {
        let budget = Budget::of(Most::default());
        assert!(budget.take(SMALL, "little").is_ok());
        if free_memory().is_some() {
            assert!(budget.take(1 << 60, "much").is_err());
        }
    }

    #[test]
    fn a_no_is_remembered() {
        let go_on = AtomicBool::new(true);
        let asked = || go_on.load(Ordering::Relaxed);
        let budget = Budget::new(Most::Unlimited, Some(&asked));
        assert!(budget.ask().is_ok() && !budget.is_stopped());
        go_on.store(false, Ordering::Relaxed);
        assert_eq!(budget.ask(), Err(Refusal::Stopped));
        assert!(budget.is_stopped());
    }

    #[test]
    fn sizes_are_rounded_up() {
        let shown = |bytes| Up(bytes).to_string();
        assert_eq!(shown(1600), "1600 B");
        assert_eq!(shown(16_000_000_080), "17 GB");
        assert_eq!(shown(123_456), "130 kB");
        assert_eq!([shown(0), shown(u64::MAX)].len(), 2);
    }
}
