//! Faults: a wrong value and the path of its field.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use super::suggest::nearest;

/// A wrong value: the path of its field, what is wrong with it and what to write instead.
///
/// ```
/// use clift::config::Fault;
/// let fault = Fault::new("rtt", "is zero; give a time above zero").within("link");
/// assert_eq!(fault.path(), "link.rtt");
/// assert_eq!(fault.to_string(), "link.rtt: is zero; give a time above zero");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// Field names, the innermost first.
    path: Vec<String>,
    message: String,
}

impl Fault {
    /// A fault of the field `field`, which may be a dotted path.
    pub fn new(field: &str, message: impl Into<String>) -> Self {
        Self::at(message).within(field)
    }

    /// A fault of the field `name` of the section `section`.
    pub(crate) fn of(section: &str, name: &str, message: impl Into<String>) -> Self {
        Self::new(name, message).within(section)
    }

    /// A fault of the configuration as a whole.
    pub fn at(message: impl Into<String>) -> Self {
        Self { path: Vec::new(), message: message.into() }
    }

    /// Refuses the first of these fields that is given.
    pub(crate) fn refuse<'a>(
        fields: impl IntoIterator<Item = (&'a str, bool)>,
        message: impl Into<String>,
    ) -> Result<(), Self> {
        match fields.into_iter().find(|(_, given)| *given) {
            Some((field, _)) => Err(Self::new(field, message)),
            None => Ok(()),
        }
    }

    /// The same fault, with `field` added in front of its path.
    #[must_use]
    pub fn within(mut self, field: &str) -> Self {
        self.path.extend(field.rsplit('.').filter(|part| !part.is_empty()).map(str::to_owned));
        self
    }

    /// The dotted path of the field; empty for the configuration as a whole.
    pub fn path(&self) -> String {
        self.path.iter().rev().map(String::as_str).collect::<Vec<_>>().join(".")
    }

    /// What is wrong and what to do.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path())?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::at(message.to_string())
    }

    #[cold]
    #[inline(never)]
    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::at(format!("{} is not valid here; give {}", shown(found), wanted(found, expected)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    #[cold]
    #[inline(never)]
    fn unknown_variant(variant: &str, known: &'static [&'static str]) -> Self {
        Self::at(unknown_value(variant, known, |_| None))
    }

    #[cold]
    #[inline(never)]
    fn unknown_field(field: &str, known: &'static [&'static str]) -> Self {
        Self::unknown_key(field, known)
    }

    #[cold]
    #[inline(never)]
    fn missing_field(field: &'static str) -> Self {
        Self::at(format!("missing key `{field}`"))
    }

    #[cold]
    #[inline(never)]
    fn duplicate_field(field: &'static str) -> Self {
        Self::new(field, "is given twice; remove one")
    }
}

impl Fault {
    pub(super) fn unknown_key(field: &str, known: &[&str]) -> Self {
        let hint = hint(field, known);
        let message = if known.is_empty() {
            "unknown key; this section has no keys".to_owned()
        } else {
            format!("unknown key, one of {}{hint}", known.join(", "))
        };
        Self::at(message).within_key(field)
    }

    /// Adds a key in front of the path; unlike in [`Fault::within`], dots in the key do not
    /// separate.
    #[cold]
    #[inline(never)]
    pub(super) fn within_key(mut self, key: &str) -> Self {
        self.path.push(key.to_owned());
        self
    }
}

/// Says that none of the `known` values is `name`.
///
/// `only` says where alone a name is possible.
pub(crate) fn unknown_value(
    name: &str,
    known: &[&str],
    only: impl Fn(&str) -> Option<&'static str>,
) -> String {
    let (everywhere, limited): (Vec<&str>, Vec<&str>) =
        known.iter().partition(|name| only(name).is_none());
    let mut text = format!("unknown value `{name}`, one of {}", everywhere.join(", "));
    for group in limited.chunk_by(|one, other| only(one) == only(other)) {
        let place = only(group[0]).unwrap_or_default();
        text += &format!("; only {place} {}", group.join(", "));
    }
    text + &hint(name, known)
}

fn hint(given: &str, known: &[&str]) -> String {
    nearest(given, known.iter().copied())
        .map(|near| format!(" (did you mean {near}?)"))
        .unwrap_or_default()
}

/// The value found, in the words of configuration files.
fn shown(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Map | Unexpected::StructVariant => "a section".to_owned(),
        Unexpected::Seq | Unexpected::TupleVariant => "a list".to_owned(),
        other => other.to_string(),
    }
}

/// The value expected, in the words of configuration files instead of Rust's.
fn wanted(found: Unexpected<'_>, expected: &dyn Expected) -> String {
    let expected = expected.to_string();
    let most = match expected.as_str() {
        "u32" | "a nonzero u32" => Some(u64::from(u32::MAX)),
        "u64" | "usize" => Some(u64::MAX),
        _ => None,
    };
    let too_large = |most: u64| match found {
        Unexpected::Unsigned(given) => given > most,
        other => matches!(other, Unexpected::Other(_)),
    };
    if let Some(most) = most.filter(|&most| too_large(most)) {
        return format!("a whole number up to {most}");
    }
    match expected.as_str() {
        "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "a nonzero u32" => "a whole number, 1 or more",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "text in quotes",
        "a sequence" => "a list, or sections in double brackets",
        "a map" => "a section with keys",
        other if other.starts_with("struct ") || other.starts_with("parts ") => {
            "a section with keys"
        }
        other if other.contains("variant") || other.contains("enum") => "text in quotes",
        other => other,
    }
    .to_owned()
}
