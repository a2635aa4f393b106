//! Values of metrics, as a tree that JSON can represent.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

/// The value of a metric, or all metrics of a run by name: [`crate::metrics::Outcome::summary`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Not measured: for example, no file was completed, or no packet arrived.
    Missing,
    /// A count.
    Count(u64),
    /// Any other number.
    Number(f64),
    /// A text.
    Text(Cow<'static, str>),
    /// A list: one value for each flow or link.
    List(Vec<Value>),
    /// A table by name, in the order of the catalogue.
    Table(Vec<(&'static str, Value)>),
}

impl Value {
    /// The value with this name; `None` if this is not a table or has no such key.
    ///
    /// ```
    /// use clift::metrics::Value;
    /// let table = Value::Table(vec![("timeouts", 2.into())]);
    /// assert_eq!(table.get("timeouts"), Some(&Value::Count(2)));
    /// ```
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Table(values) => values.iter().find(|(key, _)| *key == name).map(|(_, v)| v),
            _ => None,
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Missing => serializer.serialize_none(),
            Self::Count(count) => serializer.serialize_u64(*count),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(values) => serializer.collect_seq(values),
            Self::Table(values) => serializer.collect_map(values.iter().map(|(k, v)| (k, v))),
        }
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Into::into)
    }
}
