//! Parts with keys that a program registers: a name, and values of keys that the core does not know.

use std::fmt;

use schemars::Schema;
use serde::de::{self, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Registry, Row};

/// A row that a section chooses by `type`; its other keys are parameters.
pub trait KeyedRow: Row {
    /// Keys of its section, without `type`.
    fn keys(&self) -> &'static [&'static str];
}

/// The value of a key.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(untagged)]
pub enum Parameter {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(String),
}

/// A registered kind with the given keys.
pub struct Own<R: 'static> {
    kind: &'static R,
    parameters: Vec<(&'static str, Parameter)>,
}

impl<R: KeyedRow> Own<R> {
    /// The kind.
    pub(crate) fn kind(&self) -> &'static R {
        self.kind
    }

    /// The given keys.
    pub(crate) fn parameters(&self) -> &[(&'static str, Parameter)] {
        &self.parameters
    }

    /// The reader of the kind with this name, if one is registered.
    pub(crate) fn named(name: &str) -> Option<impl for<'de> DeserializeSeed<'de, Value = Self>> {
        Registry::current().named(name).map(Keys::<R>)
    }

    /// All names: `built_in`, then the registered ones.
    pub(crate) fn beside(built_in: &'static [&'static str]) -> &'static [&'static str] {
        Registry::current().names_with_added::<R>().unwrap_or(built_in)
    }
}

impl<R> Clone for Own<R> {
    fn clone(&self) -> Self {
        Self { kind: self.kind, parameters: self.parameters.clone() }
    }
}

impl<R: KeyedRow> fmt::Debug for Own<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(self.kind.name()).field(&self.parameters).finish()
    }
}

impl<R: KeyedRow> PartialEq for Own<R> {
    fn eq(&self, other: &Self) -> bool {
        self.kind.name() == other.kind.name() && self.parameters == other.parameters
    }
}

impl<R: KeyedRow> Serialize for Own<R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.parameters.len() + 1))?;
        map.serialize_entry("type", self.kind.name())?;
        for (key, value) in &self.parameters {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Reads the keys of a kind.
struct Keys<R: 'static>(&'static R);

impl<'de, R: KeyedRow> DeserializeSeed<'de> for Keys<R> {
    type Value = Own<R>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Own<R>, D::Error> {
        from.deserialize_struct("a registered kind", self.0.keys(), self)
    }
}

impl<'de, R: KeyedRow> Visitor<'de> for Keys<R> {
    type Value = Own<R>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a section with keys")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Own<R>, A::Error> {
        let mut parameters = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            let Some(known) = self.0.keys().iter().find(|known| **known == key) else {
                map.next_value::<IgnoredAny>()?;
                return Err(A::Error::custom(format!("{key}: unknown key")));
            };
            parameters.push((*known, map.next_value_seed(OneValue)?));
        }
        Ok(Own { kind: self.0, parameters })
    }
}

/// Reads the value of a key, with an error message that names the allowed types.
struct OneValue;

impl<'de> DeserializeSeed<'de> for OneValue {
    type Value = Parameter;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Parameter, D::Error> {
        from.deserialize_any(self)
    }
}

impl Visitor<'_> for OneValue {
    type Value = Parameter;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text, true or false")
    }

    fn visit_bool<E: de::Error>(self, on: bool) -> Result<Parameter, E> {
        Ok(Parameter::Bool(on))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Parameter, E> {
        Ok(Parameter::Integer(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Parameter, E> {
        let fits = i64::try_from(number).map(Parameter::Integer);
        fits.map_err(|_| E::custom(format!("{number} is over 2^63; give a smaller number")))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Parameter, E> {
        Ok(Parameter::Float(number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Parameter, E> {
        Ok(Parameter::Text(text.to_owned()))
    }
}

/// Adapts the schema of a choice between built-in and registered kinds to the reader, which knows
/// the keys of each kind. Registered kinds are not part of the schema; with them, any section would
/// match.
pub(crate) fn list_built_in(schema: &mut Schema) {
    let object = std::mem::take(schema.ensure_object());
    let one_of = |key: String| if key == "anyOf" { "oneOf".to_owned() } else { key };
    *schema.ensure_object() = object.into_iter().map(|(key, value)| (one_of(key), value)).collect();
    let variants = schema.get_mut("oneOf").and_then(|variants| variants.as_array_mut());
    for variant in variants.into_iter().flatten().filter_map(|variant| variant.as_object_mut()) {
        variant.insert("unevaluatedProperties".to_owned(), false.into());
    }
}
