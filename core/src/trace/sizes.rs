//! Sizes of LLDUs in bytes: one for all, or one per LLDU.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::trace::{Column, Fault};
use crate::units::Bytes;

/// Payloads of LLDUs: the same for all, or one per LLDU, as with adaptive coding.
///
/// ```
/// use clift::trace::Sizes;
/// let sizes = Sizes::each(vec![100, 200, 50].into()).unwrap();
/// assert_eq!((sizes.most().0, sizes.at(1), sizes.sum(1..3)), (200, 200, 250));
/// // Equal sizes are stored as one number.
/// assert!(Sizes::each(vec![33, 33].into()).unwrap().column().is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    most: Bytes,
    each: Option<VariableSizes>,
}

#[derive(Clone, Debug)]
struct VariableSizes {
    column: Column,
    /// Cumulative bytes before each LLDU, and the total; computed on first use.
    before: Arc<OnceLock<Vec<u64>>>,
}

impl From<Bytes> for Sizes {
    fn from(size: Bytes) -> Self {
        Self { most: size, each: None }
    }
}

impl PartialEq for Sizes {
    fn eq(&self, other: &Self) -> bool {
        (self.most, self.column()) == (other.most, other.column())
    }
}

impl Sizes {
    /// Sizes in bytes, one per LLDU.
    ///
    /// # Errors
    /// If the column is empty, or a size is not from 1 to 2^32 - 1.
    pub fn each(column: Column) -> Result<Self, Fault> {
        let valid = |&size: &i64| (1..=i64::from(u32::MAX)).contains(&size);
        if let Some(slot) = column.iter().position(|size| !valid(size)) {
            let bytes = column[slot];
            let cure = "give 1 to 4294967295";
            return Err(Fault::Text(format!("slot {slot}: an LLDU of {bytes} bytes; {cure}")));
        }
        let (Some(&least), Some(&most)) = (column.iter().min(), column.iter().max()) else {
            return Err(Fault::empty());
        };
        let each = (least < most).then(|| VariableSizes { column, before: Arc::default() });
        Ok(Self { most: Bytes(most as u32), each })
    }

    /// The largest size.
    pub fn most(&self) -> Bytes {
        self.most
    }

    /// The smallest size.
    pub fn least(&self) -> Bytes {
        let least = self.column().and_then(|column| column.iter().min());
        least.map_or(self.most, |&least| Bytes(least as u32))
    }

    /// The sizes per LLDU, if they differ.
    pub fn column(&self) -> Option<&Column> {
        self.each.as_ref().map(|each| &each.column)
    }

    /// The size of the LLDU `index`; panics if it does not exist.
    #[inline]
    pub fn at(&self, index: usize) -> u32 {
        self.column().map_or(self.most.0, |column| column[index] as u32)
    }

    /// Total bytes of a range of LLDUs; panics if it is out of range.
    pub fn sum(&self, range: Range<usize>) -> u64 {
        self.before(range.end) - self.before(range.start)
    }

    /// Bytes of the first `count` LLDUs.
    #[inline]
    pub(crate) fn before(&self, count: usize) -> u64 {
        let Some(each) = &self.each else { return count as u64 * u64::from(self.most.0) };
        each.before.get_or_init(|| {
            let mut sum = 0;
            let sums = each.column.iter().map(|&size| {
                sum += size.unsigned_abs();
                sum
            });
            std::iter::once(0).chain(sums).collect()
        })[count]
    }

    /// Bytes of the first `count` LLDUs of a trace of `lldus` that repeats.
    pub(crate) fn repeated(&self, count: u64, lldus: usize) -> u64 {
        let cycles = count.checked_div(lldus as u64).unwrap_or(0);
        cycles * self.before(lldus) + self.before((count - cycles * lldus as u64) as usize)
    }

    /// Sizes of the LLDUs that `thin` keeps.
    pub(super) fn thinned(&self, thin: impl FnOnce(&[i64]) -> Column) -> Self {
        let thinned = self.column().map(|column| Self::each(thin(column)));
        thinned.and_then(Result::ok).unwrap_or_else(|| self.most.into())
    }

    /// Checks that each of `slots` has one size.
    pub(super) fn check(&self, slots: usize) -> Result<(), Fault> {
        match self.column().map_or(slots, |column| column.len()) {
            _ if self.most.0 == 0 => Err(Fault::zero_lldu()),
            bytes if bytes != slots => {
                let cure = "give one size for each t, or one for all";
                Err(Fault::length(slots, "bytes", bytes, cure))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_validated_and_summed() {
        let fault = |sizes: Vec<i64>| Sizes::each(sizes.into()).unwrap_err().to_string();
        assert_eq!(fault(vec![]), Fault::empty().to_string());
        assert!(fault(vec![5, 0]).starts_with("slot 1: an LLDU of 0 bytes;"));
        assert!(fault(vec![1 << 32]).starts_with("slot 0: an LLDU of 4294967296 bytes;"));
        let sizes = Sizes::each(vec![1, 2].into()).unwrap();
        let fault = sizes.check(3).unwrap_err().to_string();
        assert!(fault.starts_with("t has 3 values and bytes has 2;"));
        assert_eq!((sizes.least().0, sizes.most().0, sizes.sum(0..2)), (1, 2, 3));
        let same = Sizes::from(Bytes(7));
        assert_eq!((same.least().0, same.at(9), same.sum(2..5)), (7, 7, 21));
    }
}
