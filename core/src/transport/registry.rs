//! The registry of transports by name: those of this crate and those that a program adds.

use std::sync::Arc;

use crate::config::{Chosen, ChosenRow, Row};
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
/// let small = registry.within(|| "small".parse::<Choice>()).unwrap();
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

impl Row for Kind {
    const PART: &'static str = "a transport protocol";
    const BUILT_IN: &'static [Self] = &KINDS;

    fn name(&self) -> &'static str {
        self.name
    }
}

impl ChosenRow for Kind {
    const SCHEMA: &'static str = "Protocol";
    const ELSEWHERE: &'static [(&'static str, &'static str)] = &[("quic", "clift-quic")];
}

/// A transport. Configurations give its name; the default is TCP.
pub type Choice = Chosen<Kind>;

impl Choice {
    /// Creates the protocol with these options.
    pub fn make(self, options: &Options) -> Arc<dyn Protocol> {
        (self.0.make)(options)
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
        let error = "quic".parse::<Choice>().unwrap_err().to_string();
        assert!(
            error.contains("crate clift-quic") && error.ends_with("give tcp or udp"),
            "{error}"
        );
    }
}
