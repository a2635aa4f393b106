//! What a proxy is.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::config::Fault;
use crate::transport::tcp::config::{CongestionAlgorithm, LinuxOptions, Profile, TcpConfig};
use crate::transport::tcp::congestion::of_tcp;
use crate::units::{Packets, Size};

/// A proxy that splits each TCP connection in two (a performance-enhancing proxy, RFC 3135). What
/// is left out of its own connection, towards the destination, is as in the flow's `[transport]`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Proxy")]
pub struct ProxyConfig {
    /// Congestion control of the connection towards the destination: any of TCP.
    #[schemars(schema_with = "of_tcp")]
    pub congestion: Option<CongestionAlgorithm>,
    /// Which stack the details of that connection follow: "linux" or "papers".
    pub profile: Option<Profile>,
    /// Its initial window.
    pub initial_window: Option<Packets>,
    /// Upper limit of its congestion window.
    pub cwnd_max: Option<Packets>,
    /// Instead of a congestion control a constant window, under any losses; only a
    /// timeout makes it one packet, until the next acknowledgement.
    pub window: Option<Packets>,
    /// Bytes that the proxy holds for one flow before it sends them and until they are acknowledged
    /// (its send buffer). Each flow has its own buffer, at least a full packet's.
    pub buffer: Size,
    /// Bytes that it holds for one flow beside these, as they arrive (its receive buffer): what it
    /// announces to its sender; as many as `buffer` unless set.
    pub receive_buffer: Option<Size>,
    /// The connection towards the destination is open already when a flow begins; otherwise it is
    /// opened when the SYN of the flow comes. Profile "linux"; "papers" has no handshake.
    pub held_open: bool,
    /// Parts of the profile "linux" to be switched.
    pub linux: Option<LinuxOptions>,
}

impl Default for ProxyConfig {
    /// More than 100 Mbit/s need over a geostationary satellite: 7.5 MB in 600 ms.
    fn default() -> Self {
        Self {
            congestion: None,
            profile: None,
            initial_window: None,
            cwnd_max: None,
            window: None,
            buffer: Size(8_000_000),
            receive_buffer: None,
            held_open: false,
            linux: None,
        }
    }
}

impl ProxyConfig {
    /// A proxy with the same buffers and no other setting: the far one of a pair.
    pub fn far_end(&self) -> Self {
        let (buffer, receive_buffer) = (self.buffer, self.receive_buffer);
        Self { buffer, receive_buffer, ..Self::default() }
    }

    /// Bytes that its send buffer takes.
    pub(crate) fn send_buffer(&self) -> u64 {
        self.buffer.0
    }

    /// Bytes that its receive buffer takes.
    pub(crate) fn receive_buffer(&self) -> u64 {
        self.receive_buffer.unwrap_or(self.buffer).0
    }

    /// The window that it announces.
    pub(in crate::transport::tcp) fn announced(&self) -> Size {
        Size(self.receive_buffer())
    }

    /// Most bytes that it ever holds for one flow.
    ///
    /// ```
    /// use clift::config::{self, Value};
    /// use clift::transport::tcp::{CongestionAlgorithm, ProxyConfig, TcpConfig};
    /// use clift::units::Size;
    /// let keys = [("congestion", "hybla"), ("buffer", "2 MB")];
    /// let proxy = Value::table(keys.map(|(key, text)| (key, Value::text(text))));
    /// let proxy: ProxyConfig = config::read(&proxy).unwrap();
    /// assert_eq!(proxy.congestion, Some(CongestionAlgorithm::HYBLA));
    /// // As much on each side.
    /// assert_eq!(proxy.most_held(), 4_000_000);
    /// assert_eq!(proxy.check(&TcpConfig::default()), Ok(()));
    /// ```
    pub fn most_held(&self) -> u64 {
        self.send_buffer().saturating_add(self.receive_buffer())
    }

    /// Whether there can be such a proxy for a connection like `own`.
    ///
    /// # Errors
    /// The key that is wrong, and what to give instead.
    pub fn check(&self, own: &TcpConfig) -> Result<(), Fault> {
        let least = own.mss().0;
        for (name, bytes) in
            [("buffer", self.buffer), ("receive_buffer", Size(self.receive_buffer()))]
        {
            if bytes.0 < u64::from(least) {
                let message =
                    format!("{} bytes take no full packet; give {least} or more", bytes.0);
                return Err(Fault::new(name, message));
            }
        }
        if self.window.is_some() {
            let beside = [
                ("congestion", self.congestion.is_some()),
                ("initial_window", self.initial_window.is_some()),
                ("cwnd_max", self.cwnd_max.is_some()),
            ];
            let message = "`window` is a window that stays as it is; leave one of them out";
            Fault::refuse(beside, message)?;
        }
        let sending = self.sending(own);
        if self.held_open && sending.profile() == Profile::Papers {
            let message = "profile \"papers\" has no handshake to save; leave it out";
            return Err(Fault::new("held_open", message));
        }
        sending.check()
    }

    /// Whether its connection carries pages and requests too, which go both ways.
    pub(in crate::transport::tcp) fn check_dialogue(&self, own: &TcpConfig) -> Result<(), Fault> {
        if self.sending(own).profile() == Profile::Papers {
            let message = "profile \"papers\" sends one way, and pages and requests go both; leave \
                           it out";
            return Err(Fault::new("profile", message));
        }
        Ok(())
    }

    /// The connection that it makes towards the destination for a flow like `own`.
    pub(in crate::transport::tcp) fn sending(&self, own: &TcpConfig) -> TcpConfig {
        let mut config = TcpConfig { profile: Some(own.profile()), ..own.clone() };
        if let Some(profile) = self.profile
            && profile != own.profile()
        {
            config.profile = Some(profile);
            (config.linux, config.papers) = (None, None);
        }
        config.congestion = self.congestion.unwrap_or(config.congestion);
        config.initial_window = self.initial_window.or(config.initial_window);
        config.cwnd_max = self.cwnd_max.or(config.cwnd_max);
        config.linux = self.linux.or(config.linux);
        if let Some(window) = self.window {
            config.congestion = CongestionAlgorithm::FIXED;
            (config.initial_window, config.cwnd_max) = (Some(window), Some(window));
        }
        // The flow may be without SACK, which another profile need not follow and which in
        // `papers` only NewReno can be.
        config.sack |= config.profile() != own.profile()
            || (config.profile() == Profile::Papers
                && config.congestion != CongestionAlgorithm::NEWRENO);
        if self.held_open && config.profile() == Profile::Linux {
            config.linux = Some(LinuxOptions { handshake: false, ..config.options() });
        }
        config
    }
}

/// Proxies, as a scenario asks for them: `true` or a table of what they are like.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Pep {
    /// None, or one with no setting.
    Switched(bool),
    /// One like this.
    Like(Box<ProxyConfig>),
}

impl Pep {
    /// The proxy; `None`: there is none.
    pub fn proxy(&self) -> Option<ProxyConfig> {
        match self {
            Self::Switched(on) => on.then(ProxyConfig::default),
            Self::Like(proxy) => Some(ProxyConfig::clone(proxy)),
        }
    }
}

impl<'de> Deserialize<'de> for Pep {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Pep;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false or a section with the keys of a proxy")
            }

            fn visit_bool<E: de::Error>(self, on: bool) -> Result<Pep, E> {
                Ok(Pep::Switched(on))
            }

            fn visit_map<A: MapAccess<'de>>(self, keys: A) -> Result<Pep, A::Error> {
                let keys = de::value::MapAccessDeserializer::new(keys);
                ProxyConfig::deserialize(keys).map(|proxy| Pep::Like(Box::new(proxy)))
            }
        }
        from.deserialize_any(Read)
    }
}

impl JsonSchema for Pep {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pep".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "true, or what the proxy is like.",
            "anyOf": [{ "type": "boolean" }, generator.subschema_for::<ProxyConfig>()]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Node, Value};

    #[test]
    fn a_proxy_is_switched_on_or_described() {
        let on = |on| config::read::<Pep>(&Value::from(Node::Bool(on))).unwrap().proxy();
        assert_eq!((on(false), on(true)), (None, Some(ProxyConfig::default())));
        let like = Value::table([("window", Value::text("300 packets"))]);
        let like = config::read::<Pep>(&like).unwrap().proxy().unwrap();
        assert_eq!(like.sending(&TcpConfig::default()).initial_window(), 300);
        let wrong = Value::table([("bufer", Value::text("1 MB"))]);
        let fault = config::read::<Pep>(&wrong).unwrap_err().to_string();
        assert!(fault.contains("bufer"), "{fault}");
        let wrong = Value::table([("buffer", Value::text("1 Mbit/s"))]);
        let fault = config::read::<Pep>(&wrong).unwrap_err();
        assert_eq!(fault.path(), "buffer", "{fault}");
    }

    #[test]
    fn a_wrong_proxy_names_its_key() {
        let usual = ProxyConfig::default;
        let some = Packets::new;
        let wrong = [
            (ProxyConfig { buffer: Size(1000), ..usual() }, "buffer: 1000 bytes take no full"),
            (
                ProxyConfig { receive_buffer: Some(Size(9)), ..usual() },
                "receive_buffer: 9 bytes take",
            ),
            (
                ProxyConfig { window: some(9), cwnd_max: some(9), ..usual() },
                "cwnd_max: `window` is a window",
            ),
            (
                ProxyConfig {
                    profile: Some(Profile::Papers),
                    congestion: Some(CongestionAlgorithm::BBR),
                    ..usual()
                },
                "congestion: profile `papers` supports",
            ),
            (
                ProxyConfig { profile: Some(Profile::Papers), held_open: true, ..usual() },
                "held_open: profile \"papers\" has no handshake",
            ),
        ];
        for (proxy, expected) in wrong {
            let fault = proxy.check(&TcpConfig::default()).unwrap_err().to_string();
            assert!(fault.starts_with(expected), "{fault}");
        }
        // What another profile has is left to it.
        let papers = ProxyConfig { profile: Some(Profile::Papers), ..usual() };
        let own = TcpConfig { linux: Some(LinuxOptions::default()), ..TcpConfig::default() };
        assert_eq!(papers.check(&own), Ok(()));
    }
}
