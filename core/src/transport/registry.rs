//! The registry of transports by name: those of this crate and those that a program adds.

use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use crate::config::{Registry, Row, unknown_value};
use crate::transport::Protocol;
use crate::transport::datagram::DatagramConfig;
use crate::transport::quic::QuicOptions;
use crate::transport::tcp::TcpConfig;

/// The options of a transport: each protocol reads its own.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// TCP configuration. Other transports use its congestion control, packet size, initial window,
    /// receive window and window limit too.
    pub tcp: TcpConfig,
    /// Further options of QUIC.
    pub quic: QuicOptions,
}

/// A kind of transport: one entry of the registry.
///
/// ```
/// use std::sync::Arc;
/// use clift::transport::datagram::DatagramConfig;
/// use clift::transport::{Choice, Kind, Options};
/// use clift::units::Bytes;
///
/// const SMALL: Kind = Kind {
///     name: "small",
///     summary: "Datagrams of 100 bytes.",
///     make: |_| Arc::new(DatagramConfig { packet: Bytes(100) }),
/// };
/// let mut registry = clift::Registry::new();
/// registry.add(SMALL)?;
/// let small = registry.within(|| Choice::named("small")).unwrap();
/// let protocol = small.make(&Options::default());
/// assert_eq!(protocol.packet(), Bytes(100));
/// assert!(registry.add(SMALL).is_err());
/// # Ok::<(), clift::config::NameTaken>(())
/// ```
#[derive(Clone, Copy)]
pub struct Kind {
    /// Name used in configurations.
    pub name: &'static str,
    /// One-sentence description.
    pub summary: &'static str,
    /// Creates the protocol. [`Protocol::check`] validates the result.
    pub make: fn(&Options) -> Arc<dyn Protocol>,
}

/// The transports of this crate.
static KINDS: [Kind; 2] = [
    Kind { name: "tcp", summary: "TCP.", make: |options| Arc::new(options.tcp.clone()) },
    Kind {
        name: "udp",
        summary: "Datagrams without acknowledgement.",
        make: |options| Arc::new(DatagramConfig { packet: options.tcp.packet }),
    },
];

/// Transports that other crates of this project register, with the crate of each.
const ELSEWHERE: [(&str, &str); 1] = [("quic", "clift-quic")];

impl Row for Kind {
    const PART: &'static str = "a transport";

    fn built_in() -> &'static [Self] {
        &KINDS
    }

    fn name(&self) -> &'static str {
        self.name
    }
}

/// A registered transport. Configurations give its name; the default is TCP.
///
/// ```
/// use clift::transport::Choice;
/// assert_eq!(Choice::default().name(), "tcp");
/// assert!(Choice::named("udp").is_ok());
/// let error = Choice::named("upd").unwrap_err().to_string();
/// assert_eq!(error, "unknown value `upd`, one of tcp, udp (did you mean udp?)");
/// ```
#[derive(Clone, Copy)]
pub struct Choice(&'static Kind);

impl Choice {
    /// Looks up the transport with this name.
    ///
    /// # Errors
    /// [`UnknownTransport`] if no transport has this name.
    pub fn named(name: &str) -> Result<Self, UnknownTransport> {
        let current = Registry::current();
        let unknown = || UnknownTransport { name: name.to_owned(), known: current.names::<Kind>() };
        current.named(name).map(Self).ok_or_else(unknown)
    }

    /// Name of the transport.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// One-sentence description.
    pub fn summary(self) -> &'static str {
        self.0.summary
    }

    /// Creates the protocol with these options.
    pub fn make(self, options: &Options) -> Arc<dyn Protocol> {
        (self.0.make)(options)
    }
}

impl Default for Choice {
    fn default() -> Self {
        Self(&KINDS[0])
    }
}

impl PartialEq for Choice {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Choice {}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Choice").field(&self.name()).finish()
    }
}

/// Error: no transport has this name.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownTransport {
    /// The unknown name.
    pub name: String,
    /// The registered names.
    pub known: Vec<&'static str>,
}

impl fmt::Display for UnknownTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, known } = self;
        if let Some((_, its)) = ELSEWHERE.iter().find(|(other, _)| other == name) {
            let known = known.join(" or ");
            return write!(
                f,
                "`{name}` comes with the crate {its}, which this program does not include; give {known}"
            );
        }
        f.write_str(&unknown_value(name, known))
    }
}

impl std::error::Error for UnknownTransport {}

impl<'de> Deserialize<'de> for Choice {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::named(&String::deserialize(from)?).map_err(de::Error::custom)
    }
}

impl Serialize for Choice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl JsonSchema for Choice {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Protocol".into()
    }

    /// Lists the project's names only: an editor does not know what a program registers.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let own = KINDS.iter().map(|kind| kind.name);
        let names: Vec<_> = own.chain(ELSEWHERE.iter().map(|(name, _)| *name)).collect();
        json_schema!({ "description": "A transport protocol.", "type": "string", "enum": names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_makes_the_protocol_of_its_name() {
        for kind in &KINDS {
            let protocol = (kind.make)(&Options::default());
            assert_eq!(protocol.name(), kind.name);
            assert_eq!(protocol.check(), Ok(()));
            assert!(protocol.payload() < protocol.packet());
        }
    }

    #[test]
    fn quic_is_reported_as_part_of_another_crate() {
        let error = Choice::named("quic").unwrap_err().to_string();
        assert!(
            error.contains("crate clift-quic") && error.ends_with("give tcp or udp"),
            "{error}"
        );
    }
}
