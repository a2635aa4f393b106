//! Checks of a TCP configuration.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::config::{CongestionAlgorithm, EcnMode, Profile, TcpConfig};
use crate::config::Fault;
use crate::units::Size;

/// Initial reordering degree, in segments.
const LEAST_REORDERING: u32 = 3;

impl TcpConfig {
    /// Validates the configuration.
    ///
    /// # Errors
    /// The field that is wrong, and a valid value: for example packets without room for data, a
    /// receive window smaller than a segment, or an option that the profile does not support.
    pub fn check(&self) -> Result<(), Fault> {
        let least = self.headers() + 1;
        if !(least..=u32::from(u16::MAX)).contains(&self.packet.0) {
            let packet = self.packet.0;
            let message =
                format!("{packet} bytes is not a valid TCP packet size; give {least} to 65535");
            return Err(Fault::new("packet", message));
        }
        if !self.congestion.is_in(self.profile()) {
            return Err(Fault::new("congestion", self.not_in_profile()));
        }
        match self.profile() {
            Profile::Papers if !self.sack && self.congestion != CongestionAlgorithm::NEWRENO => {
                let message = format!(
                    "`sack = false` supports newreno only (ns-2's Agent/TCP/Newreno); {} needs SACK \
                     or profile = \"linux\"",
                    self.congestion
                );
                return Err(Fault::new("sack", message));
            }
            Profile::Linux if self.ecn == Some(false) && self.ecn_mode() != EcnMode::Off => {
                let message = format!("{} needs ECN; leave `ecn` out", self.congestion);
                return Err(Fault::new("ecn", message));
            }
            Profile::Papers if self.ecn == Some(true) => {
                let message = "belongs to profile = \"linux\"; set the profile, or leave it out";
                return Err(Fault::new("ecn", message));
            }
            Profile::Papers if self.linux.is_some() => {
                let message = "belongs to profile = \"linux\"; set the profile, or leave it out";
                return Err(Fault::new("linux", message));
            }
            Profile::Linux if self.papers.is_some() => {
                let message = "belongs to profile = \"papers\"; set the profile, or leave it out";
                return Err(Fault::new("papers", message));
            }
            _ => {}
        }
        self.check_initial_window()?;
        self.check_resume()?;
        let reordering = self.options().max_reordering;
        if reordering < LEAST_REORDERING {
            let message =
                format!("max_reordering = {reordering}: give 3 segments (no adaptation) or more");
            return Err(Fault::new("linux.max_reordering", message));
        }
        match self.receive_window {
            Some(Size(window)) if window < u64::from(self.mss().0) => {
                let message =
                    format!("{window} bytes hold no full segment; give at least {}", self.mss().0);
                Err(Fault::new("receive_window", message))
            }
            _ => Ok(()),
        }
    }

    /// A kernel begins with the limit if the initial window is larger (`tcp_init_cwnd`); ns-2 keeps
    /// a `cwnd_` above its `window_`, and only sends less.
    fn check_initial_window(&self) -> Result<(), Fault> {
        match (self.profile(), self.initial_window, self.cwnd_max) {
            (Profile::Papers, Some(initial), Some(most))
                if initial.saturated() > most.saturated() =>
            {
                let message = format!(
                    "{} packets are more than cwnd_max = {}; give at most that, or leave one out",
                    initial.saturated(),
                    most.saturated()
                );
                Err(Fault::new("initial_window", message))
            }
            _ => Ok(()),
        }
    }

    fn check_resume(&self) -> Result<(), Fault> {
        if self.careful_resume.is_none() {
            return Ok(());
        }
        let wrong = |message: String| Err(Fault::new("careful_resume", message));
        if self.profile() == Profile::Papers {
            return wrong(
                "belongs to profile = \"linux\"; set the profile, or leave it out".into(),
            );
        }
        let plain = Self { careful_resume: None, ..self.clone() };
        if self.congestion.build(&plain, ChaCha8Rng::seed_from_u64(0)).has_model() {
            let message = format!(
                "{} is model-based; give a window-based congestion control such as cubic",
                self.congestion
            );
            return wrong(message);
        }
        Ok(())
    }

    fn not_in_profile(&self) -> String {
        if let Some(ours) = self.congestion.name().strip_prefix("clift-") {
            return format!(
                "{} needs protocol = \"quic\"; the TCP name is {ours}",
                self.congestion
            );
        }
        let (here, other) = match self.profile() {
            Profile::Papers => ("papers", "linux"),
            Profile::Linux => ("linux", "papers"),
        };
        let names: Vec<_> = CongestionAlgorithm::in_profile(self.profile())
            .map(CongestionAlgorithm::name)
            .collect();
        let (last, rest) = names.split_last().unwrap_or((&"nothing", &[]));
        let known = format!("{} and {last}", rest.join(", "));
        format!("profile `{here}` supports {known}; {} needs profile `{other}`", self.congestion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::LinuxOptions;
    use crate::units::{Bytes, Packets};

    #[test]
    fn an_invalid_configuration_names_its_field() {
        let ok = TcpConfig::papers(CongestionAlgorithm::NEWRENO);
        assert_eq!(ok.check(), Ok(()));
        let linux = TcpConfig::linux(CongestionAlgorithm::BBR);
        assert_eq!(linux.check(), Ok(()));
        let adapts = |max_reordering| LinuxOptions { max_reordering, ..LinuxOptions::default() };
        let wrong = [
            (
                TcpConfig { packet: Bytes(52), ..ok.clone() },
                "packet: 52 bytes is not a valid TCP packet size",
            ),
            (
                TcpConfig { receive_window: Some(Size(1000)), ..ok.clone() },
                "receive_window: 1000 bytes hold no full segment",
            ),
            (
                TcpConfig::papers(CongestionAlgorithm::BBR),
                "congestion: profile `papers` supports newreno",
            ),
            (
                TcpConfig { sack: false, ..TcpConfig::papers(CongestionAlgorithm::CUBIC) },
                "sack: `sack = false` supports newreno",
            ),
            (
                TcpConfig {
                    initial_window: Packets::new(11),
                    cwnd_max: Packets::new(10),
                    ..ok.clone()
                },
                "initial_window: 11 packets are more than cwnd_max = 10",
            ),
            (
                TcpConfig {
                    ecn: Some(false),
                    congestion: "dctcp".parse().unwrap(),
                    ..linux.clone()
                },
                "ecn: dctcp needs ECN",
            ),
            (TcpConfig { ecn: Some(true), ..ok.clone() }, "ecn: belongs to profile = \"linux\""),
            (TcpConfig { linux: Some(adapts(300)), ..ok }, "linux: belongs to profile = \"linux\""),
            (
                TcpConfig { linux: Some(adapts(2)), ..linux },
                "linux.max_reordering: max_reordering = 2",
            ),
        ];
        for (config, expected) in wrong {
            let fault = config.check().unwrap_err().to_string();
            assert!(fault.starts_with(expected), "{fault}");
        }
    }
}
