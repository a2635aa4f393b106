//! Resource limits of a computation: memory, and interruption.
//!
//! A few bytes of a scenario or a file can request any amount of memory. Code that allocates by
//! such a size asks a [`Budget`] first, so that a request that does not fit is refused before it is
//! allocated, with the amount it needs. Long computations also ask the budget regularly whether to
//! continue.

mod free;

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use thiserror::Error;

use crate::config::Fault;
use crate::units::Size;

pub use free::free_memory;

/// The memory limit of a computation, and whether it should continue.
///
/// ```
/// use clift::budget::{Budget, MemoryLimit};
/// let budget = Budget::of(MemoryLimit::Bytes(1000));
/// assert_eq!(budget.room::<u64>(100, "100 slots")?.capacity(), 100);
/// let refused = budget.room::<u64>(100, "100 slots").unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "100 slots need 1600 B of memory in total, but the limit is 1 kB; use less, or raise it: \
///      memory = \"1600 B\""
/// );
/// # Ok::<(), clift::budget::Refusal>(())
/// ```
pub struct Budget<'a> {
    most: MemoryLimit,
    /// What `most` comes to, looked up when something large is asked for.
    bytes: OnceLock<Option<u64>>,
    taken: AtomicU64,
    go_on: Option<&'a (dyn Fn() -> bool + Sync)>,
    tell: Option<&'a (dyn Fn(&str) + Sync)>,
    stopped: AtomicBool,
    short: AtomicBool,
    /// The request for memory that is refused, counted from the next one; 0: none.
    #[cfg(test)]
    refused: AtomicU64,
}

/// The limit on memory.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum MemoryLimit {
    /// Four fifths of the free memory of the machine and of the control groups of the process
    /// ([`free_memory`]); unlimited where that is unknown.
    #[default]
    Free,
    /// This many bytes.
    Bytes(u64),
    /// No limit.
    Unlimited,
}

/// The reason why a computation stops.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum Refusal {
    /// It needs more memory than the limit.
    #[error(
        "{what} need{} {} of memory in total, but the limit is {}; use less, or raise it: \
         memory = \"{}\"",
        if what.ends_with('s') { "" } else { "s" }, RoundedUp(*.need), RoundedDown(*.most), RoundedUp(*.need)
    )]
    Memory {
        /// What needs the memory.
        what: String,
        /// Bytes needed, including those taken before.
        need: u64,
        /// The limit in bytes.
        most: u64,
    },
    /// The user interrupted it.
    #[error("interrupted")]
    Stopped,
    /// A component outside the core failed.
    #[error("{0}")]
    Failed(String),
}

/// Smaller requests are granted without reading how much memory is free.
const SMALL: u64 = 1 << 26;
/// Larger allocations take seconds and are announced.
const LARGE: u64 = 1 << 28;

impl Budget<'static> {
    /// No memory limit and no interruption.
    pub const fn unlimited() -> Self {
        Self::new(MemoryLimit::Unlimited, None)
    }

    /// A memory limit without interruption.
    pub const fn of(most: MemoryLimit) -> Self {
        Self::new(most, None)
    }
}

impl<'a> Budget<'a> {
    /// A memory limit; the computation is interrupted when `go_on` returns false.
    pub const fn new(most: MemoryLimit, go_on: Option<&'a (dyn Fn() -> bool + Sync)>) -> Self {
        Self {
            most,
            bytes: OnceLock::new(),
            taken: AtomicU64::new(0),
            go_on,
            tell: None,
            stopped: AtomicBool::new(false),
            short: AtomicBool::new(false),
            #[cfg(test)]
            refused: AtomicU64::new(0),
        }
    }

    /// The same budget, which passes a line to `tell` before a very large allocation.
    pub fn telling(self, tell: &'a (dyn Fn(&str) + Sync)) -> Self {
        Self { tell: Some(tell), ..self }
    }

    /// Announces that `what` is about to be allocated, if `bytes` is very large and a listener is
    /// set.
    pub fn announce(&self, bytes: u64, what: impl fmt::Display) {
        if let (LARGE.., Some(tell)) = (bytes, self.tell) {
            tell(&format!("creating {what}, which take {} of memory", RoundedUp(bytes)));
        }
    }

    /// Counts `bytes` as taken by `what`, which a message names ("1000 slots").
    ///
    /// # Errors
    /// If the total exceeds the limit; then nothing is counted.
    pub fn take(&self, bytes: u64, what: impl fmt::Display) -> Result<(), Refusal> {
        let need = self.taken.load(Ordering::Relaxed).saturating_add(bytes);
        #[cfg(test)]
        if self.is_refused() {
            self.short.store(true, Ordering::Relaxed);
            return Err(Refusal::Memory { what: what.to_string(), need, most: 0 });
        }
        let least = if self.most == MemoryLimit::Free { SMALL } else { 0 };
        if let Some(most) = (need > least).then(|| self.bytes()).flatten()
            && need > most
        {
            self.short.store(true, Ordering::Relaxed);
            return Err(Refusal::Memory { what: what.to_string(), need, most });
        }
        self.taken.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// An unlimited budget that refuses one request for memory, the `request`-th.
    #[cfg(test)]
    pub(crate) fn refusing(request: u64) -> Self {
        let budget = Self::new(MemoryLimit::Unlimited, None);
        budget.refused.store(request, Ordering::Relaxed);
        budget
    }

    #[cfg(test)]
    fn is_refused(&self) -> bool {
        let less = |left: u64| left.checked_sub(1);
        self.refused.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) == Ok(1)
    }

    /// Returns `bytes` that were counted before and are free again.
    pub fn give_back(&self, bytes: u64) {
        let less = |taken: u64| Some(taken.saturating_sub(bytes));
        let _ = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// An empty column with capacity for `count` values; `what` names it in messages.
    ///
    /// # Errors
    /// If the memory is not available.
    pub fn room<T>(&self, count: u64, what: impl fmt::Display) -> Result<Vec<T>, Refusal> {
        let mut column = Vec::new();
        self.reserve(&mut column, count, what)?;
        Ok(column)
    }

    /// Two empty columns with capacity for `slots` slots.
    ///
    /// # Errors
    /// If the memory for both is not available.
    pub fn columns(&self, slots: u64) -> Result<(Vec<i64>, Vec<i64>), Refusal> {
        let what = format!("{slots} slots");
        self.take(slots.saturating_mul(16), &what)?;
        self.give_back(slots.saturating_mul(16));
        Ok((self.room(slots, &what)?, self.room(slots, &what)?))
    }

    /// Reserves capacity for exactly `more` further values in a column.
    ///
    /// # Errors
    /// If the memory is not available.
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
            // The system has less memory than the limit allows.
            _ => {
                self.short.store(true, Ordering::Relaxed);
                self.give_back(bytes);
                let most = free_memory().unwrap_or(self.taken.load(Ordering::Relaxed)).min(bytes);
                Err(Refusal::Memory { what: what.to_string(), need: bytes, most })
            }
        }
    }

    /// Ensures capacity for at least one more value in a growing column, by doubling it.
    ///
    /// # Errors
    /// If the memory is not available or the user interrupted the computation.
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

    /// Checks whether to continue.
    ///
    /// # Errors
    /// If the user interrupted the computation.
    pub fn ask(&self) -> Result<(), Refusal> {
        if self.go_on.is_none_or(|go_on| go_on()) {
            return Ok(());
        }
        self.stopped.store(true, Ordering::Relaxed);
        Err(Refusal::Stopped)
    }

    /// True if the computation was interrupted.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// True if a request for memory was refused.
    pub fn is_short(&self) -> bool {
        self.short.load(Ordering::Relaxed)
    }

    fn bytes(&self) -> Option<u64> {
        *self.bytes.get_or_init(|| match self.most {
            MemoryLimit::Bytes(bytes) => Some(bytes),
            MemoryLimit::Unlimited => None,
            MemoryLimit::Free => free_memory().map(|free| free / 5 * 4),
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

/// A size rounded up to two digits, so that the limit suggested in a message is sufficient.
struct RoundedUp(u64);

/// A size rounded down to two digits, so that a limit below the need never looks sufficient.
struct RoundedDown(u64);

impl fmt::Display for RoundedUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = step_of(self.0);
        Size(self.0.div_ceil(step).saturating_mul(step)).fmt(f)
    }
}

impl fmt::Display for RoundedDown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = step_of(self.0);
        Size(self.0 / step * step).fmt(f)
    }
}

/// The value of the second significant digit of `bytes` in its unit.
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
    fn taken_memory_adds_up() {
        let budget = Budget::of(MemoryLimit::Bytes(100));
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
    fn a_limit_just_below_the_need_is_rounded_down() {
        let refused = Budget::of(MemoryLimit::Bytes(19_600_000_000)).take(19_900_000_000, "1 run");
        assert_eq!(
            refused.unwrap_err().to_string(),
            "1 run needs 20 GB of memory in total, but the limit is 19 GB; use less, or raise it: \
             memory = \"20 GB\""
        );
    }

    #[test]
    fn a_column_doubles_until_the_limit() {
        let budget = Budget::of(MemoryLimit::Bytes(100_000));
        let mut column = Vec::new();
        let refused = loop {
            match budget.grow(&mut column, "slots") {
                Ok(()) => column.push(0u64),
                Err(refused) => break refused,
            }
        };
        assert_eq!(column.len(), 8192);
        assert!(
            refused.to_string().starts_with("more than 8192 slots need 140 kB of memory in total")
        );
    }

    #[test]
    fn large_allocations_are_announced() {
        let told = std::sync::Mutex::new(Vec::new());
        let tell = |line: &str| told.lock().unwrap().push(line.to_owned());
        let budget = Budget::unlimited().telling(&tell);
        budget.announce(LARGE - 1, "16777215 slots");
        budget.announce(16 * 144_000_000, "144000000 slots");
        assert_eq!(
            *told.lock().unwrap(),
            ["creating 144000000 slots, which take 2400 MB of memory"]
        );
    }

    #[test]
    fn an_impossible_allocation_is_refused_without_a_panic() {
        let refused = Budget::unlimited().room::<u64>(1 << 59, "slots").unwrap_err();
        assert!(matches!(refused, Refusal::Memory { .. }));
        let refused = Budget::unlimited().room::<u64>(u64::MAX, "slots").unwrap_err();
        assert!(matches!(refused, Refusal::Memory { .. }));
    }

    #[test]
    fn the_default_limit_is_a_share_of_free_memory() {
        let budget = Budget::of(MemoryLimit::default());
        assert!(budget.take(SMALL, "little").is_ok());
        if free_memory().is_some() {
            assert!(budget.take(1 << 60, "much").is_err());
        }
    }

    #[test]
    fn an_interruption_is_remembered() {
        let go_on = AtomicBool::new(true);
        let asked = || go_on.load(Ordering::Relaxed);
        let budget = Budget::new(MemoryLimit::Unlimited, Some(&asked));
        assert!(budget.ask().is_ok() && !budget.is_stopped());
        go_on.store(false, Ordering::Relaxed);
        assert_eq!(budget.ask(), Err(Refusal::Stopped));
        assert!(budget.is_stopped());
    }

    #[test]
    fn sizes_are_rounded_up() {
        let shown = |bytes| RoundedUp(bytes).to_string();
        assert_eq!(shown(1600), "1600 B");
        assert_eq!(shown(16_000_000_080), "17 GB");
        assert_eq!(shown(123_456), "130 kB");
        assert_eq!([shown(0), shown(u64::MAX)].len(), 2);
    }
}
