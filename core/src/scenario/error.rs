//! Errors of a scenario: what is wrong, where, and how to correct it.

use std::fmt;

use thiserror::Error;

/// One line with the file, the line, the key and how to correct it.
///
/// ```
/// use clift::scenario::Scenario;
/// let error = Scenario::parse("geo.toml", "[link]\nrat = \"1 s\"\n", &[], &clift::Registry::new()).unwrap_err();
/// assert!(error.to_string().starts_with("geo.toml line 2: link.rat: unknown key"));
/// ```
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{}", self.one_line())]
pub struct ScenarioError {
    /// The file, as the user named it; empty if the scenario does not come from a file.
    pub file: String,
    /// Where in the file the error is.
    pub place: Origin,
    /// The dotted key; empty if the error concerns no single key.
    pub key: String,
    /// What is wrong and what to write instead.
    pub message: String,
}

/// Where in the sources of a scenario a value or an error is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Origin {
    /// The file as a whole.
    File,
    /// A line of the file, counted from 1.
    Line(usize),
    /// A change of one key from outside (`--set key=value`).
    Set(String),
    /// A preset that the scenario names, which supplies the key.
    Preset(String),
}

/// Origin of a value, in words.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("given"),
            Self::Line(line) => write!(f, "line {line}"),
            Self::Set(_) => f.write_str("--set"),
            Self::Preset(name) => write!(f, "preset {name}"),
        }
    }
}

impl ScenarioError {
    fn one_line(&self) -> String {
        // A scenario from a text may have no file.
        let of_file = |separator: &str, place: String| match self.file.as_str() {
            "" => place,
            file => format!("{file}{separator}{place}"),
        };
        let place = match &self.place {
            Origin::File => self.file.clone(),
            Origin::Line(line) => of_file(" ", format!("line {line}")),
            Origin::Set(change) => of_file(", ", format!("set {change}")),
            Origin::Preset(name) => of_file(", ", format!("preset {name}")),
        };
        let key = if self.key.is_empty() { String::new() } else { format!("{}: ", self.key) };
        let colon = if place.is_empty() { "" } else { ": " };
        // A key or a file name may contain a line feed; the error stays one line.
        format!("{place}{colon}{key}{}", self.message).replace(['\n', '\r'], " ")
    }
}
