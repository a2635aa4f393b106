//! Parameters that make no land mobile satellite channel.

use thiserror::Error;

use crate::trace::TraceError;

/// Why a channel cannot be made; the message names what exists.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum LmsError {
    /// A name that is in no table.
    #[error("{what} `{given}` does not exist; choose one of {known}")]
    Unknown {
        /// What was to be named.
        what: &'static str,
        /// The name given.
        given: String,
        /// The names there are.
        known: String,
    },
    /// A model without this environment.
    #[error("the {model} tables hold no environment `{environment}`; they hold {known}")]
    Environment {
        /// The model.
        model: &'static str,
        /// What was asked for.
        environment: String,
        /// What its tables hold.
        known: String,
    },
    /// An elevation outside the table.
    #[error(
        "elevation {given} degrees is outside the {model} table of {environment}, which holds {known}"
    )]
    Elevation {
        /// The elevation.
        given: f64,
        /// The model.
        model: &'static str,
        /// The environment.
        environment: String,
        /// What the table holds.
        known: String,
    },
    /// A carrier outside the tables.
    #[error("a carrier of {given} GHz is outside the {model} tables, which hold {known}")]
    Carrier {
        /// The carrier.
        given: f64,
        /// The model.
        model: &'static str,
        /// The bands there are.
        known: String,
    },
    /// A number outside its range.
    #[error("{name} = {value} is out of range; give {wanted}")]
    Range {
        /// Which parameter.
        name: &'static str,
        /// What it was.
        value: f64,
        /// What it may be.
        wanted: &'static str,
    },
    /// Parameters that contradict each other.
    #[error("{0}")]
    Contradiction(&'static str),
    /// A table of packet error rates that is none.
    #[error("the table of packet error rates {0}")]
    Table(String),
    /// A series of levels that is none.
    #[error("the series of levels {0}")]
    Series(String),
    /// What no trace can be.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// `value` if it is from `low` to `high`.
pub(super) fn within(
    name: &'static str,
    value: f64,
    low: f64,
    high: f64,
    wanted: &'static str,
) -> Result<f64, LmsError> {
    if (low..=high).contains(&value) {
        Ok(value)
    } else {
        Err(LmsError::Range { name, value, wanted })
    }
}
