//! Applications registered from outside the core.

use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde::{Deserialize, de};

use super::Application;
use crate::config::{Registry, Row};

/// A kind of application: a row of the registry.
///
/// ```
/// use std::sync::Arc;
///
/// use clift::Registry;
/// use clift::application::{
///     Application, ApplicationConfig, ApplicationKind, Parameter, Traffic,
/// };
/// use clift::config::{self, Node, Value};
/// use clift::transport::Endpoint;
/// use clift::units::{Bytes, Instant};
///
/// /// Sends a number of bytes at once.
/// #[derive(Debug)]
/// struct Burst(u64);
///
/// impl Application for Burst {
///     fn start(&self, _: Instant, _: Bytes) -> Box<dyn Traffic> {
///         Box::new(Self(self.0))
///     }
/// }
///
/// impl Traffic for Burst {
///     fn drive(&mut self, _: Instant, sender: &mut dyn Endpoint) -> Option<Instant> {
///         sender.write(0, self.0, false);
///         None
///     }
/// }
///
/// let mut registry = Registry::new();
/// registry.add(ApplicationKind {
///     name: "burst",
///     summary: "Sends a number of bytes at once.",
///     keys: &["bytes"],
///     make: &|given| match given {
///         [("bytes", Parameter::Integer(bytes))] => Arc::new(Burst(bytes.unsigned_abs())),
///         _ => Arc::new(Burst(1000)),
///     },
/// })?;
/// let section = [("type", Value::text("burst")), ("bytes", Value::from(Node::Integer(5)))];
/// let burst: ApplicationConfig =
///     registry.within(|| config::read(&Value::table(section))).unwrap();
/// assert_eq!(serde_json::to_string(&burst).unwrap(), r#"{"type":"burst","bytes":5}"#);
/// let unknown = Value::table([("type", Value::text("burts"))]);
/// let fault = registry.within(|| config::read::<ApplicationConfig>(&unknown)).unwrap_err();
/// assert!(fault.to_string().contains("burst"), "{fault}");
/// # Ok::<(), clift::config::NameTaken>(())
/// ```
pub struct ApplicationKind {
    /// Name in configurations.
    pub name: &'static str,
    /// Description, in one sentence.
    pub summary: &'static str,
    /// Keys of its section.
    pub keys: &'static [&'static str],
    /// Makes an application from the given keys; [`Application::check`] validates it.
    pub make: &'static MakeApplication,
}

/// Function that makes an application from keys and their values.
pub type MakeApplication =
    dyn Fn(&[(&'static str, Parameter)]) -> Arc<dyn Application> + Send + Sync;

/// The value of a key.
#[derive(Clone, Debug, Deserialize, PartialEq, serde::Serialize)]
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

/// An application from outside the core, with the given keys.
#[derive(Clone)]
pub struct OwnApplication {
    kind: &'static ApplicationKind,
    parameters: Vec<(&'static str, Parameter)>,
}

impl Row for ApplicationKind {
    const PART: &'static str = "an application";

    fn reserved() -> Vec<&'static str> {
        super::config::NAMES.to_vec()
    }

    fn name(&self) -> &'static str {
        self.name
    }
}

impl OwnApplication {
    /// The application.
    pub(super) fn application(&self) -> Arc<dyn Application> {
        (self.kind.make)(&self.parameters)
    }

    /// The reader of the application with this name, if one is registered.
    pub(crate) fn named(name: &str) -> Option<impl for<'de> DeserializeSeed<'de, Value = Self>> {
        Registry::current().named(name).map(Keys)
    }

    /// All names: `built_in`, then the registered ones.
    pub(crate) fn beside(built_in: &'static [&'static str]) -> &'static [&'static str] {
        Registry::current().names_with_added::<ApplicationKind>().unwrap_or(built_in)
    }
}

impl fmt::Debug for OwnApplication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(self.kind.name).field(&self.parameters).finish()
    }
}

impl PartialEq for OwnApplication {
    fn eq(&self, other: &Self) -> bool {
        self.kind.name == other.kind.name && self.parameters == other.parameters
    }
}

impl Serialize for OwnApplication {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.parameters.len() + 1))?;
        map.serialize_entry("type", self.kind.name)?;
        for (key, value) in &self.parameters {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Reads the keys of a kind.
struct Keys(&'static ApplicationKind);

impl<'de> DeserializeSeed<'de> for Keys {
    type Value = OwnApplication;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<OwnApplication, D::Error> {
        from.deserialize_struct("own application", self.0.keys, self)
    }
}

impl<'de> Visitor<'de> for Keys {
    type Value = OwnApplication;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a section with keys")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OwnApplication, A::Error> {
        let mut parameters = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            let Some(known) = self.0.keys.iter().find(|known| **known == key) else {
                map.next_value::<IgnoredAny>()?;
                return Err(A::Error::custom(format!("{key}: unknown key")));
            };
            parameters.push((*known, map.next_value_seed(OneValue)?));
        }
        Ok(OwnApplication { kind: self.0, parameters })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::{ApplicationConfig, Bulk};
    use crate::config::{self, NameTaken, Node, Value};

    #[test]
    fn keys_are_read_and_checked() {
        let row = |name| ApplicationKind {
            name,
            summary: "",
            keys: &["pace", "what"],
            make: &|_| Arc::new(Bulk),
        };
        let taken = |name| Some(NameTaken { part: "an application", name });
        let mut registry = Registry::new();
        assert_eq!(registry.add(row("file")).err(), taken("file"));
        assert_eq!(registry.add(row("unit test")).err(), None);
        assert_eq!(registry.add(row("unit test")).err(), taken("unit test"));
        let read = |keys: &[(&'static str, Value)]| {
            let section = [("type", Value::text("unit test"))].into_iter();
            let section = section.chain(keys.iter().cloned());
            let section = Value::table(section.collect::<Vec<_>>());
            registry.within(|| config::read::<ApplicationConfig>(&section))
        };
        let own = read(&[("what", Value::text("x")), ("pace", Value::from(Node::Float(0.5)))]);
        let text = serde_json::to_string(&own.clone().unwrap()).unwrap();
        assert!(text.starts_with(r#"{"type":"unit test","#), "{text}");
        assert!(text.contains(r#""what":"x""#) && text.contains(r#""pace":0.5"#), "{text}");
        assert_eq!(
            own,
            read(&[("what", Value::text("x")), ("pace", Value::from(Node::Float(0.5)))])
        );
        assert_ne!(own, read(&[]));
        let fault = read(&[("pase", Value::text("x"))]).unwrap_err().to_string();
        assert_eq!(fault, "pase: unknown key, one of type, pace, what (did you mean pace?)");
        let fault = read(&[("pace", Value::table([]))]).unwrap_err().to_string();
        assert!(fault.starts_with("pace: ") && fault.contains("a number, a text"), "{fault}");
    }
}
