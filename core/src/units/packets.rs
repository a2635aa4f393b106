//! Packet counts.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use super::text::Decimal;
use crate::units::{counted, number_with, quantity};

/// A number of packets, at least one: `"64 packets"`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Packets(pub NonZeroU64);

impl Packets {
    /// `count` packets; `None` if `count` is 0.
    pub fn new(count: u64) -> Option<Self> {
        NonZeroU64::new(count).map(Self)
    }

    /// The count as 32 bits, `u32::MAX` if it is larger.
    pub(crate) fn saturated(self) -> u32 {
        u32::try_from(self.0.get()).unwrap_or(u32::MAX)
    }
}

impl FromStr for Packets {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let count = packets(text).transpose()?.and_then(NonZeroU64::new);
        count
            .map(Self)
            .ok_or_else(|| format!("`{text}` must be at least 1 packet; write e.g. \"64 packets\""))
    }
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&counted(self.0.get(), "packet", "packets"))
    }
}

quantity!(Packets, "Packets", number_with!("packets?"), "a number of packets, e.g. \"64 packets\"");

/// Parses `"N packets"`: an error if N is not a whole number, `None` if the text does not end in
/// "packets" or "packet".
pub(crate) fn packets(text: &str) -> Option<Result<u64, String>> {
    let trimmed = text.trim();
    let number = trimmed.strip_suffix("packets").or_else(|| trimmed.strip_suffix("packet"))?;
    let count = Decimal::parse(number.trim()).and_then(|number| number.times(1).ok());
    Some(count.ok_or_else(|| {
        format!("`{text}` is not a whole number of packets; write e.g. \"1000 packets\"")
    }))
}
