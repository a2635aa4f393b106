//! Block codes.

use std::fmt;

use crate::config::Fault;

/// An (n, k) block code over LLDUs: `data` of them carry data, the rest repair.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct BlockCode {
    data: u32,
    total: u32,
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
    pub fn new(data: u32, total: u32) -> Result<Self, Fault> {
        let cure = "write data/total, e.g. 10/12";
        Err(Fault::at(match (data, total) {
            (0, _) => format!("a block of {total} LLDUs without data; {cure}"),
            _ if data > total => {
                format!("{data}/{total} sends fewer LLDUs than it carries; {cure}")
            }
            (_, 65_536..) => format!("a block of {total} LLDUs is too long; the most is 65535"),
            _ => return Ok(Self { data, total }),
        }))
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
