//! Checksums of trace files: the key `checksum` has the CRC-32 of the other keys and of each column.
//!
//! They cover values, not the bytes of the file, so that text and Parquet share them and neither
//! compression nor footers matter.

use std::fmt;

use crc32fast::Hasher;

use crate::trace::error::Fault;

/// Running checksums of the keys and columns of a file.
#[derive(Default)]
pub(crate) struct Checksums {
    keys: Hasher,
    columns: Vec<Hasher>,
}

impl Checksums {
    /// Name of the key that holds the checksums.
    pub(crate) const KEY: &'static str = "checksum";

    /// Adds a key and its value as they stand in the file, in file order.
    pub(crate) fn key(&mut self, key: &str, value: &str) {
        for part in [key, "\n", value, "\n"] {
            self.keys.update(part.as_bytes());
        }
    }

    /// Adds the names of the columns, after the keys.
    pub(crate) fn header<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        names.into_iter().for_each(|name| self.key(name, ""));
    }

    /// Adds values to the column with this index.
    pub(crate) fn column<const N: usize>(
        &mut self,
        index: usize,
        values: impl Iterator<Item = [u8; N]>,
    ) {
        if self.columns.len() <= index {
            self.columns.resize_with(index + 1, Hasher::new);
        }
        let mut block = Vec::with_capacity(1 << 13);
        for value in values {
            block.extend_from_slice(&value);
            if block.len() + N > block.capacity() {
                self.columns[index].update(&block);
                block.clear();
            }
        }
        self.columns[index].update(&block);
    }

    /// Adds integers to the column with this index.
    pub(crate) fn integers(&mut self, index: usize, values: &[i64]) {
        self.column(index, values.iter().map(|value| value.to_le_bytes()));
    }

    /// Compares the keys and the columns seen so far, `names` of them, with the value of the key.
    ///
    /// # Errors
    /// The first part that differs.
    pub(crate) fn check(&self, value: &str, names: &[(usize, &'static str)]) -> Result<(), Fault> {
        let given: Vec<_> = value.split(' ').map(|word| u32::from_str_radix(word, 16)).collect();
        let fits = |at: usize, sum: &Hasher| given.get(at) == Some(&Ok(sum.clone().finalize()));
        let unfit = |part: &str| {
            Fault::Text(format!(
                "damaged: {part} does not fit its `checksum`; copy the file again, or remove that \
                 key if the file was changed on purpose"
            ))
        };
        if !fits(0, &self.keys) {
            return Err(unfit("a key"));
        }
        let other = names.iter().find(|&&(index, _)| {
            self.columns.get(index).is_none_or(|column| !fits(index + 1, column))
        });
        other.map_or(Ok(()), |&(_, name)| Err(unfit(name)))
    }
}

impl fmt::Display for Checksums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.keys.clone().finalize())?;
        self.columns.iter().try_for_each(|sum| write!(f, " {:08x}", sum.clone().finalize()))
    }
}
