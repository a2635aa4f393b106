//! Queue management in text form: `codel(target 5 ms, interval 100 ms)`.

use std::fmt;
use std::str::FromStr;

use super::{Aqm, QueueKind, codel, dualpi2, fq_codel, pie};
use crate::config::{Registry, called, one_of};
use crate::units::{Bytes, Duration, Size, quantity};

/// The accepted texts as prose; registered queues are last.
fn known() -> String {
    one_of(Registry::current().all().map(|kind: &QueueKind| kind.text), "\"")
}

/// Parses the text written by `Display`; omitted options have the values of the RFC.
///
/// ```
/// use clift::queue::Aqm;
/// assert_eq!("PIE( target 20 ms )".parse::<Aqm>()?.to_string(), "pie(target 20 ms)");
/// let error = "red".parse::<Aqm>().unwrap_err();
/// assert!(error.starts_with("`red`: unknown queue; write \"none\", \"codel("), "{error}");
/// # Ok::<(), String>(())
/// ```
impl FromStr for Aqm {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let aqm = called::<QueueKind>(text);
        let aqm = aqm.and_then(|(kind, arguments)| (kind.read)(arguments));
        aqm.map_err(|reason| format!("`{text}`: {reason}; write {}", known()))
    }
}

pub(super) fn any_time(text: &str) -> Result<Duration, String> {
    let time = text.to_lowercase().parse();
    time.map_err(|_| format!("`{text}` is not a time with its unit"))
}

pub(super) fn time(text: &str) -> Result<Duration, String> {
    match any_time(text)? {
        Duration::ZERO => Err(format!("`{text}` must be above 0")),
        time => Ok(time),
    }
}

pub(super) fn size(text: &str) -> Result<Bytes, String> {
    let Size(bytes) = text
        .to_uppercase()
        .replace('K', "k")
        .parse()
        .map_err(|_| format!("`{text}` is not a size with its unit"))?;
    match u32::try_from(bytes) {
        Ok(bytes) if bytes > 0 => Ok(Bytes(bytes)),
        _ => Err(format!("`{text}` is not a valid packet size")),
    }
}

impl fmt::Display for Aqm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, options) = match self {
            Self::None => return f.write_str("none"),
            Self::Own(own) => return own.fmt(f),
            Self::CoDel(it) => (codel::KIND.name, it.changed()),
            Self::FqCoDel(it) => (fq_codel::KIND.name, it.changed()),
            Self::Pie(it) => (pie::KIND.name, it.changed()),
            Self::DualPi2(it) => (dualpi2::KIND.name, it.changed()),
        };
        match options.is_empty() {
            true => f.write_str(name),
            false => write!(f, "{name}({})", options.join(", ")),
        }
    }
}

/// The texts of the options whose value is not the standard one, which comes last.
pub(super) fn changed<T: fmt::Display + PartialEq, const N: usize>(
    options: [(&str, T, T); N],
) -> Vec<String> {
    let changed = options.into_iter().filter(|(_, value, standard)| value != standard);
    changed.map(|(name, value, _)| format!("{name} {value}")).collect()
}

/// A regular expression for the texts of the queues there are; case is ignored.
fn pattern() -> String {
    let either = |letter: char| match letter.is_ascii_alphabetic() {
        true => format!("[{}{letter}]", letter.to_ascii_uppercase()),
        false => letter.to_string(),
    };
    let name = |kind: &QueueKind| kind.name.chars().map(either).collect();
    let names: Vec<String> = Registry::current().all().map(name).collect();
    format!(r"^\s*({})\s*(\([^()]*\))?\s*$", names.join("|"))
}

quantity!(
    Aqm,
    "Aqm",
    pattern(),
    format!("active queue management, which drops packets before the queue is full: {}", known())
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_has_names_in_any_case() {
        let pattern = pattern();
        assert!(pattern.starts_with(r"^\s*([Nn][Oo][Nn][Ee]|[Cc][Oo][Dd][Ee][Ll]|"), "{pattern}");
        assert!(pattern.contains("|[Dd][Uu][Aa][Ll][Pp][Ii]2"), "{pattern}");
    }
}
