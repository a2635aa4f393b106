//! Applications registered from outside the core.

use std::sync::Arc;

use super::Application;
use crate::config::{KeyedRow, Own, Parameter, Row};

/// A kind of application: a row of the registry.
///
/// ```
/// use std::sync::Arc;
///
/// use clift::Registry;
/// use clift::application::{
///     Application, ApplicationConfig, ApplicationKind, Traffic,
/// };
/// use clift::config::{self, Node, Parameter, Value};
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

impl Row for ApplicationKind {
    const PART: &'static str = "an application";
    const RESERVED: &'static [&'static str] = super::config::NAMES;

    fn name(&self) -> &'static str {
        self.name
    }
}

impl KeyedRow for ApplicationKind {
    fn keys(&self) -> &'static [&'static str] {
        self.keys
    }
}

/// An application from outside the core, with the given keys.
pub type OwnApplication = Own<ApplicationKind>;

impl OwnApplication {
    /// The application.
    pub(super) fn application(&self) -> Arc<dyn Application> {
        (self.kind().make)(self.parameters())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::{ApplicationConfig, Bulk};
    use crate::config::{self, NameTaken, Node, Registry, Value};

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
