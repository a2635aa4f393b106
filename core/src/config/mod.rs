//! Configurations: trees of values that front ends build, and the types read from them.
//!
//! A scenario file, a Python dictionary and command-line options all become one [`Value`]. [`read`]
//! converts it to a configuration, a plain Rust type with serde's derive. A wrong value gives a
//! [`Fault`]: the path of the field and what to do. Each front end writes the path in its own
//! syntax.
//!
//! Two macros define types that serde's own attributes cannot read without losing the path:
//! [`tagged!`](crate::tagged) for a choice by the value of one key, and [`parts!`](crate::parts)
//! for a struct whose fields share one table. A third, `delegate!`, writes the methods of a trait
//! that only call the same method of something that is held.
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

mod arguments;
mod changed;
mod fault;
mod flat;
mod macros;
mod own;
mod reader;
mod registry;
mod suggest;
mod tree;

pub(crate) use crate::delegate;
pub(crate) use crate::parts;
pub(crate) use crate::tagged;
pub use arguments::Arguments;
pub(crate) use arguments::{called, number, one_of};
pub(crate) use changed::{changed_keys, first_changed_key};
pub use fault::Fault;
pub(crate) use fault::unknown_value;
pub(crate) use flat::flatten_variants;
pub(crate) use macros::together;
#[doc(hidden)]
pub use macros::{OtherVariants, PARTS, fields_of};
pub(crate) use own::list_built_in;
pub use own::{KeyedRow, Own, Parameter};
pub use reader::read;
pub use registry::{Chosen, ChosenRow, NameTaken, Registry, Row, UnknownKind};
pub(crate) use suggest::nearest;
pub use tree::{Node, Table, Value};
pub(crate) use tree::{check_name, join};
