//! What is wrong with a scenario, where, and how to cure it.

use std::fmt;

use thiserror::Error;

/// One line that names the file, the line, the key and the cure.
///
/// ```
/// use clift::scenario::Scenario;
/// let error = Scenario::parse("geo.toml", "[link]\nrat = \"1 s\"\n", &[]).unwrap_err();
/// assert!(error.to_string().starts_with("geo.toml line 2: link.rat: unknown key"));
/// ```
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[error("{}", self.one_line())]
pub struct ScenarioError {
    /// The file, as the user named it; empty where the scenario does not come from a file.
    pub file: String,
    /// Where in it, if at a place.
    pub place: Place,
    /// The dotted key, empty if none is concerned.
    pub key: String,
    /// What is wrong and what to write instead.
    pub message: String,
}

/// Where in the sources of a scenario.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line of it, from 1.
    Line(usize),
    /// A change of one key from outside (`--set key=value`).
    Set(String),
    /// A preset that it names, which brings the key.
    Preset(String),
}

/// Where a value comes from, in words.
impl fmt::Display for Place {
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
        let place = match &self.place {
            Place::File => self.file.clone(),
            Place::Line(line) => format!("{} line {line}", self.file),
            Place::Set(change) => format!("{}, set {change}", self.file),
            Place::Preset(name) => format!("{}, preset {name}", self.file),
        };
        let key = if self.key.is_empty() { String::new() } else { format!("{}: ", self.key) };
        let colon = if place.is_empty() { "" } else { ": " };
        // A key or a file name may hold a line feed; the error stays one line.
        format!("{place}{colon}{key}{}", self.message).replace(['\n', '\r'], " ")
    }
}
