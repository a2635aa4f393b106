//! Block codes.

use std::fmt;

use thiserror::Error;

/// An (n, k) block code over LLDUs: `data` of them carry data, the rest repair.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct BlockCode {
    data: u32,
    total: u32,
}

/// Invalid parameters of a scheme.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum SchemeError {
    /// No data in a block.
    #[error("a block of {total} LLDUs without data; write data/total, e.g. 10/12")]
    NoData {
        /// Block length asked for.
        total: u32,
    },
    /// `data > total`.
    #[error("{data}/{total} sends fewer LLDUs than it carries; write data/total, e.g. 10/12")]
    Block {
        /// Data LLDUs asked for.
        data: u32,
        /// Block length asked for.
        total: u32,
    },
    /// A block too long.
    #[error("a block of {total} LLDUs is too long; the most is 65535")]
    Long {
        /// Block length asked for.
        total: u32,
    },
    /// A text that does not name a scheme.
    #[error("{text}: {reason}; write {known}")]
    Text {
        /// The text.
        text: String,
        /// What is wrong with it.
        reason: String,
        /// The texts of the schemes there are: "a, b or c".
        known: String,
    },
}

impl BlockCode {
    /// A code with `data` of `total` LLDUs carrying data.
    ///
    /// ```
    /// use clift::scheme::BlockCode;
    /// assert!(BlockCode::new(10, 12).is_ok());
    /// assert!(BlockCode::new(12, 10).is_err());
    /// ```
    ///
    /// # Errors
    /// Unless `1 <= data <= total <= 65535`.
    pub const fn new(data: u32, total: u32) -> Result<Self, SchemeError> {
        if data == 0 {
            return Err(SchemeError::NoData { total });
        }
        if data > total {
            return Err(SchemeError::Block { data, total });
        }
        if total > u16::MAX as u32 {
            return Err(SchemeError::Long { total });
        }
        Ok(Self { data, total })
    }

    /// LLDUs of a block that carry data (k, the papers' N_D).
    pub const fn data(self) -> usize {
        self.data as usize
    }

    /// LLDUs of a block (n, the papers' N_D + N_R).
    pub const fn total(self) -> usize {
        self.total as usize
    }
}

impl fmt::Display for BlockCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.data, self.total)
    }
}
