//! A shared, read-only column of nanoseconds.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// Times stay below this limit, so that sums of a few of them cannot overflow int64.
pub(crate) const LATEST: i64 = 1 << 61;

/// Largest number of slots that a link trace can index.
pub(crate) const MOST: u64 = u32::MAX as u64;

/// A read-only column of int64 nanoseconds that several owners share without copying.
///
/// The memory may belong to another owner, such as a numpy array: any type that converts to a slice
/// can back a column.
///
/// ```
/// use clift::trace::Column;
/// let column = Column::from(vec![0, 10, 20]);
/// assert_eq!(column.clone()[1], 10);
/// ```
#[derive(Clone)]
pub struct Column(Memory);

/// Links read columns for every slot, so that a vector is read without a call through a pointer.
#[derive(Clone)]
enum Memory {
    Vector(Arc<Vec<i64>>),
    Other(Arc<dyn AsRef<[i64]> + Send + Sync>),
}

impl Column {
    /// A column over memory that `owner` keeps alive.
    pub fn shared(owner: impl AsRef<[i64]> + Send + Sync + 'static) -> Self {
        Self(Memory::Other(Arc::new(owner)))
    }
}

impl Default for Column {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl From<Vec<i64>> for Column {
    fn from(values: Vec<i64>) -> Self {
        Self(Memory::Vector(Arc::new(values)))
    }
}

impl Deref for Column {
    type Target = [i64];

    #[inline]
    fn deref(&self) -> &[i64] {
        match &self.0 {
            Memory::Vector(values) => values,
            Memory::Other(owner) => (**owner).as_ref(),
        }
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Column({} values)", self.len())
    }
}

impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}
