//! Comments on captured packets.

use std::fmt::{self, Display, Formatter, Write};

use super::timeline::{Fate, Seen};
use crate::simulation::Discarded;

/// The comment of a packet.
impl Display for Seen {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.fate {
            Fate::Open => out.write_str("on its way at the end")?,
            Fate::Delivered(delay) => write!(out, "delivered after {} ms", Millis(delay))?,
            Fate::Discarded(delay, why) => {
                let why = match why {
                    Discarded::Duplicate => "duplicate data",
                    Discarded::Stale => "too old",
                };
                write!(
                    out,
                    "arrived after {} ms, discarded by the receiver: {why}",
                    Millis(delay)
                )?;
            }
            Fate::Lost(after, hop) => write!(out, "lost after {} ms on hop {hop}", Millis(after))?,
            Fate::QueueFull(hop) => write!(out, "queue full at hop {hop}")?,
            Fate::TooLarge(hop) => write!(out, "too large for hop {hop}")?,
        }
        if let Some(queued) = self.queued {
            write!(out, "; queued {} ms", Millis(queued))?;
        }
        if self.units.data > 0 {
            write!(out, "; units {}", self.units.data)?;
        }
        if let Some(again) = self.units.again {
            write!(out, "; units sent again {again}")?;
        }
        if let Some(repair) = self.units.repair {
            write!(out, "; repair units {repair}")?;
        }
        if self.retransmission > 0 {
            write!(out, "; retransmission {}", self.retransmission)?;
        }
        if let Some(bytes) = self.counts {
            write!(out, "; counts as {bytes} B")?;
        }
        if let Some(late) = self.late {
            write!(out, "; handed over {} ms late", Millis(late))?;
        }
        out.write_str(&self.led_to)
    }
}

/// Nanoseconds as milliseconds, exactly.
struct Millis(u64);

impl Display for Millis {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        write!(text, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)?;
        out.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::Units;

    #[test]
    fn a_comment_lists_the_values_that_are_known() {
        let mut comment = Seen { fate: Fate::QueueFull(1), ..Seen::default() };
        assert_eq!(comment.to_string(), "queue full at hop 1");
        comment.fate = Fate::Discarded(1_000_000, Discarded::Stale);
        assert_eq!(comment.to_string(), "arrived after 1 ms, discarded by the receiver: too old");
        comment.fate = Fate::Delivered(250_000_100);
        comment.queued = Some(3_000_000);
        comment.units = Units { data: 46, again: Some(2), repair: Some(0) };
        comment.retransmission = 1;
        assert_eq!(
            comment.to_string(),
            "delivered after 250.0001 ms; queued 3 ms; units 46; units sent again 2; \
             repair units 0; retransmission 1"
        );
    }
}
