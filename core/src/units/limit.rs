//! Limits and timers that may be infinite.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use super::Duration;

/// A limit on a count: a whole number, or `"unlimited"` (also `"infinity"`).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Limit {
    /// At most this many.
    AtMost(u32),
    /// No limit.
    Unlimited,
}

impl Limit {
    /// The limit; `None` if unlimited.
    pub const fn get(self) -> Option<u32> {
        match self {
            Self::AtMost(most) => Some(most),
            Self::Unlimited => None,
        }
    }

    /// Whether one more is allowed after `done`.
    #[inline]
    pub const fn allows(self, done: u32) -> bool {
        match self {
            Self::AtMost(most) => done < most,
            Self::Unlimited => true,
        }
    }
}

impl From<Option<u32>> for Limit {
    fn from(most: Option<u32>) -> Self {
        most.map_or(Self::Unlimited, Self::AtMost)
    }
}

const NAMES: [&str; 2] = ["unlimited", "infinity"];

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl Visitor<'_> for Read {
            type Value = Limit;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, 0 or more, or \"unlimited\"")
            }

            fn visit_u64<E: de::Error>(self, most: u64) -> Result<Limit, E> {
                let most = u32::try_from(most)
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(most), &self))?;
                Ok(Limit::AtMost(most))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Limit, E> {
                if NAMES.contains(&text.trim()) {
                    return Ok(Limit::Unlimited);
                }
                Err(E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::AtMost(most) => serializer.serialize_u32(*most),
            Self::Unlimited => serializer.serialize_str(NAMES[0]),
        }
    }
}

super::schema!(Limit, "Limit", {
    "description": "a whole number, or \"unlimited\"",
    "anyOf": [{ "type": "integer", "minimum": 0, "maximum": u32::MAX }, { "enum": NAMES }]
});

/// A timer that expires after a time, or `"infinity"` if it never expires.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Timer {
    /// Expires after this time.
    After(Duration),
    /// Never expires.
    Infinite,
}

impl Timer {
    /// The time; `None` if the timer never expires.
    pub const fn get(self) -> Option<Duration> {
        match self {
            Self::After(time) => Some(time),
            Self::Infinite => None,
        }
    }
}

impl std::str::FromStr for Timer {
    type Err = super::QuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim() == "infinity" { Ok(Self::Infinite) } else { text.parse().map(Self::After) }
    }
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::After(time) => time.fmt(f),
            Self::Infinite => f.write_str("infinity"),
        }
    }
}

super::quantity!(
    Timer,
    "Timer",
    concat!(r"^\s*(infinity|", super::number!(), r"\s*(ns|us|µs|ms|s|min|h))\s*$"),
    "a time with its unit, e.g. \"500 ms\", or \"infinity\""
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Node, Value, read};

    #[test]
    fn a_limit_is_a_number_or_unlimited() {
        assert_eq!(read(&Node::Integer(3).into()), Ok(Limit::AtMost(3)));
        assert_eq!(read(&Value::text("unlimited")), Ok(Limit::Unlimited));
        assert_eq!(read(&Value::text("infinity")), Ok(Limit::Unlimited));
        for wrong in [Value::text("many"), Node::Integer(-1).into(), Node::Integer(1 << 40).into()]
        {
            assert!(read::<Limit>(&wrong).unwrap_err().to_string().contains("whole number"));
        }
    }

    #[test]
    fn a_timer_is_a_time_or_never() {
        assert_eq!(read(&Value::text("5 ms")), Ok(Timer::After(Duration::from_millis(5))));
        assert_eq!(read(&Value::text("infinity")), Ok(Timer::Infinite));
        assert!(read::<Timer>(&Value::text("5")).unwrap_err().to_string().contains("no unit"));
    }
}
