//! Configurations: trees of values that a front end fills, and the types that are read from them.
//!
//! A scenario file, a dictionary of Python and the options of a command line all become one
//! [`Value`]. [`read`] makes a configuration from it, which is a plain Rust type with serde's
//! derive, and a wrong value comes back as a [`Fault`]: the path of the field and what to do. Each
//! front end spells the path its own way.
//!
//! Two macros make the types that serde's own attributes cannot read without losing the path:
//! [`tagged!`](crate::tagged) for a choice by the value of one key, and [`parts!`](crate::parts)
//! for a struct whose fields share one table.
//!
//! ```
//! use clift::config::{self, Value};
//! use clift::units::Duration;
//! #[derive(Debug, PartialEq, serde::Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Link {
//!     rtt: Duration,
//! }
//! let good = Value::table([("rtt", Value::text("500 ms"))]);
//! assert_eq!(config::read::<Link>(&good).unwrap().rtt, Duration::from_millis(500));
//! let bad = Value::table([("rat", Value::text("500 ms"))]);
//! let fault = config::read::<Link>(&bad).unwrap_err();
//! assert_eq!(fault.to_string(), "rat: unknown key, one of rtt (did you mean rtt?)");
//! ```

mod changed;
mod fault;
mod flat;
mod macros;
mod reader;
mod suggest;
mod tree;

pub(crate) use crate::parts;
pub(crate) use crate::tagged;
pub(crate) use changed::changed;
pub use fault::Fault;
pub(crate) use flat::flat;
#[doc(hidden)]
pub use macros::{Elsewhere, PARTS, fields_of};
pub use reader::read;
pub(crate) use suggest::nearest;
pub(crate) use tree::join;
pub use tree::{Node, Table, Value};
