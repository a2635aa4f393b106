//! What a TCP connection is: the one description of it, in programs and in scenario files.

use std::fmt;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::congestion::CongestionAlgorithm;
use crate::config::Fault;
use crate::units::{Bytes, Duration, Packets, Size};

/// Bytes of an IPv4 and a TCP header without options.
const HEADERS: u32 = 40;
/// Bytes of the timestamps option, padded (RFC 7323 appendix A).
const TIMESTAMPS: u32 = 12;
/// Reordering degree that a connection begins with, in segments.
const LEAST_REORDERING: u32 = 3;

/// Which stack the details of TCP follow.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The papers' simulator: ns-2.35, `Agent/TCP/Linux` and `Agent/TCPSink/Sack1`.
    Papers,
    /// A Linux kernel of today (6.x).
    #[default]
    Linux,
}

/// A TCP connection and its options; what is left out is the profile's own.
///
/// ```
/// use clift::transport::tcp::{CongestionAlgorithm, DelayedAck, TcpConfig};
/// use clift::units::{Bytes, Duration, Packets};
/// let mut config = TcpConfig::papers(CongestionAlgorithm::CUBIC);
/// config.cwnd_max = Packets::new(288); // bandwidth-delay product and buffer
/// config.delayed_ack = Some(DelayedAck::After(Duration::from_millis(40)));
/// assert_eq!(config.mss(), Bytes(1448));
/// assert_eq!(config.initial_window(), 2);
/// ```
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TcpConfig {
    /// Congestion control: "newreno", "cubic", "hybla", "westwood" and "compound"; "bbr", "bbr3",
    /// "dctcp" and "prague" in the profile "linux". Over QUIC "newreno", "cubic" and "bbr" are those of quinn, and
    /// "clift-newreno", "clift-cubic", "hybla", "westwood" and "compound" ours.
    pub congestion: CongestionAlgorithm,
    /// Which stack the details follow: "linux" (a kernel of today) or "papers" (the ns-2 agents of
    /// the papers). "linux" unless set, and "papers" with `sack = false`, which only that has.
    pub profile: Option<Profile>,
    /// IP packet, headers included.
    pub packet: Bytes,
    /// Initial window; 2 packets in the profile "papers", 10 in "linux".
    pub initial_window: Option<Packets>,
    /// Delayed acknowledgement: false, true (40 ms) or its timer; off in the profile "papers", 40 ms
    /// and more (up to 200 ms, as the kernel's timer adapts) in "linux".
    pub delayed_ack: Option<DelayedAck>,
    /// Upper limit of the congestion window; in the profile "papers" the first slow-start threshold
    /// too (`window_` of ns-2). Without it that profile, once it overshoots a deep queue, can stay
    /// in recovery for minutes, as ns-2 does.
    pub cwnd_max: Option<Packets>,
    /// Receive window, at least one full segment.
    pub receive_window: Option<Size>,
    /// Timestamps (RFC 7323), 12 bytes of header; a segment carries 1448 bytes of a 1500-byte
    /// packet with them, 1460 without.
    pub timestamps: bool,
    /// Selective acknowledgements (RFC 2018). False: ns-2's Agent/TCP/Newreno (RFC 6582), which
    /// opens with a SYN, for newreno in the profile "papers".
    pub sack: bool,
    /// What an earlier connection knew of the path, to be resumed carefully (RFC 9959); in the
    /// profile "linux" and over QUIC, with a control that goes by a window (not BBR).
    pub careful_resume: Option<SavedPath>,
    /// Explicit congestion notification (RFC 3168): queues that manage themselves (`aqm`) mark packets
    /// instead of dropping them. In the profile "linux", and over QUIC. Off unless set: a Linux
    /// kernel answers to it, but does not ask for it (`net.ipv4.tcp_ecn = 2`). "dctcp" and "prague" turn it on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Parts of the profile "linux" to be switched.
    pub linux: Option<LinuxOptions>,
    /// Parts of the profile "papers" to be switched.
    pub papers: Option<PapersOptions>,
}

impl Default for TcpConfig {
    /// CUBIC in profile `linux`.
    fn default() -> Self {
        Self { profile: None, ..Self::linux(CongestionAlgorithm::CUBIC) }
    }
}

impl TcpConfig {
    /// The papers' connection: 1500-byte packets with timestamps, initial window 2, no handshake,
    /// no delayed ACK, no limit on the window.
    pub fn papers(congestion: CongestionAlgorithm) -> Self {
        Self {
            congestion,
            profile: Some(Profile::Papers),
            packet: Bytes(1500),
            initial_window: None,
            delayed_ack: None,
            cwnd_max: None,
            receive_window: None,
            timestamps: true,
            sack: true,
            careful_resume: None,
            ecn: None,
            linux: None,
            papers: None,
        }
    }

    /// A connection between two Linux kernels of today: initial window 10 (RFC 6928), delayed
    /// ACKs of 40 ms and more, and every option of [`LinuxOptions::default`].
    ///
    /// ```
    /// use clift::transport::tcp::{CongestionAlgorithm, LinuxOptions, TcpConfig};
    /// let mut config = TcpConfig::linux(CongestionAlgorithm::NEWRENO);
    /// // net.ipv4.tcp_max_reordering
    /// config.linux = Some(LinuxOptions { max_reordering: 3, ..LinuxOptions::default() });
    /// assert_eq!(config.initial_window(), 10);
    /// ```
    pub fn linux(congestion: CongestionAlgorithm) -> Self {
        Self { profile: Some(Profile::Linux), ..Self::papers(congestion) }
    }

    /// Whether a connection can be like this.
    ///
    /// # Errors
    /// The field that is wrong, and what to do: packets without room for a byte, a receive window
    /// without room for a segment, something that the profile does not have.
    pub fn check(&self) -> Result<(), Fault> {
        let least = self.headers() + 1;
        if !(least..=u32::from(u16::MAX)).contains(&self.packet.0) {
            let packet = self.packet.0;
            let message = format!("{packet} bytes are not a TCP packet; give {least} to 65535");
            return Err(Fault::new("packet", message));
        }
        if !self.congestion.is_in(self.profile()) {
            return Err(Fault::new("congestion", self.not_in_profile()));
        }
        match self.profile() {
            Profile::Linux if !self.sack => {
                let message = "profile `linux` needs SACK; `sack = false` is in profile `papers`, \
                               with newreno";
                return Err(Fault::new("sack", message));
            }
            Profile::Papers if !self.sack && self.congestion != CongestionAlgorithm::NEWRENO => {
                let message = format!(
                    "without SACK there is newreno only (ns-2's Agent/TCP/Newreno); {} needs SACK",
                    self.congestion
                );
                return Err(Fault::new("sack", message));
            }
            Profile::Linux if self.ecn == Some(false) && self.ecn_mode() != EcnMode::Off => {
                let message = format!("{} needs it; leave `ecn` out", self.congestion);
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
        self.check_resume()?;
        let reordering = self.options().max_reordering;
        if reordering < LEAST_REORDERING {
            let message = format!(
                "max_reordering = {reordering}: give 3 segments (it does not adapt) or more"
            );
            return Err(Fault::new("linux.max_reordering", message));
        }
        match self.receive_window {
            Some(Size(window)) if window < u64::from(self.mss().0) => {
                let message = format!(
                    "a receive window of {window} bytes takes no full segment; give at least {}",
                    self.mss().0
                );
                Err(Fault::new("receive_window", message))
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
                "{} sets its window by a model; give a control that goes by a window, as cubic",
                self.congestion
            );
            return wrong(message);
        }
        Ok(())
    }

    fn not_in_profile(&self) -> String {
        if let Some(ours) = self.congestion.name().strip_prefix("clift-") {
            return format!("{} is for protocol = \"quic\"; TCP has {ours}", self.congestion);
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
        format!("profile `{here}` has {known}; {} is in profile `{other}`", self.congestion)
    }

    /// The stack that the details follow.
    ///
    /// ```
    /// use clift::transport::tcp::{Profile, TcpConfig};
    /// let usual = TcpConfig::default();
    /// assert_eq!(usual.profile(), Profile::Linux);
    /// assert_eq!(TcpConfig { sack: false, ..usual }.profile(), Profile::Papers);
    /// ```
    pub fn profile(&self) -> Profile {
        let usual = if self.sack { Profile::Linux } else { Profile::Papers };
        self.profile.unwrap_or(usual)
    }

    /// Payload of a full packet: the packet less 40 bytes of headers, less 12 with timestamps;
    /// at least one byte.
    pub fn mss(&self) -> Bytes {
        Bytes(self.packet.0.saturating_sub(self.headers()).max(1))
    }

    /// Initial window in segments.
    pub fn initial_window(&self) -> u32 {
        let usual = if self.profile() == Profile::Linux { 10 } else { 2 };
        self.initial_window.map_or(usual, Packets::saturated)
    }

    /// Upper limit of the congestion window in segments; `u32::MAX`: none.
    pub fn window_limit(&self) -> u32 {
        self.cwnd_max.map_or(u32::MAX, Packets::saturated)
    }

    /// How long the receiver may hold an ACK back; `None`: one ACK for every segment. Profile
    /// `linux`: the shortest time; its timer adapts up to 200 ms.
    pub fn ack_delay(&self) -> Option<Duration> {
        match (self.delayed_ack, self.profile()) {
            (Some(DelayedAck::After(time)), _) => Some(time),
            (None, Profile::Linux) => Some(DelayedAck::USUAL),
            _ => None,
        }
    }

    /// The same with what was left to the profile written out.
    ///
    /// ```
    /// use clift::transport::tcp::{CongestionAlgorithm, Profile, TcpConfig};
    /// use clift::units::Packets;
    /// let usual = TcpConfig { profile: None, ..TcpConfig::linux(CongestionAlgorithm::CUBIC) };
    /// let settled = usual.settled();
    /// assert_eq!(settled.profile, Some(Profile::Linux));
    /// assert_eq!(settled.initial_window, Packets::new(10));
    /// assert_eq!(settled.ack_delay(), usual.ack_delay());
    /// ```
    #[must_use]
    pub fn settled(&self) -> Self {
        Self {
            profile: Some(self.profile()),
            initial_window: Packets::new(self.initial_window().into()),
            delayed_ack: Some(self.ack_delay().map_or(DelayedAck::Off, DelayedAck::After)),
            ..self.clone()
        }
    }

    /// How explicit congestion notification is used.
    pub(super) fn ecn_mode(&self) -> EcnMode {
        match (self.congestion.name(), self.ecn) {
            ("dctcp", _) => EcnMode::Exact,
            ("prague", _) => EcnMode::Accurate,
            (_, Some(true)) => EcnMode::Classic,
            _ => EcnMode::Off,
        }
    }

    /// The parts of profile `linux` as they are in force.
    pub fn options(&self) -> LinuxOptions {
        self.linux.unwrap_or_default()
    }

    /// Bytes that every data segment has beyond its payload.
    pub(super) fn headers(&self) -> u32 {
        if self.timestamps { HEADERS + TIMESTAMPS } else { HEADERS }
    }

    /// Bytes of a SYN: maximum segment size, window scale, SACK permitted and timestamps.
    pub(super) fn syn_size(&self) -> u32 {
        if self.timestamps { HEADERS + 20 } else { HEADERS + 12 }
    }

    /// The receive window as a segment carries it, once it has grown.
    pub(super) fn announced_window(&self) -> u32 {
        let bytes = |Size(window)| u32::try_from(window).unwrap_or(u32::MAX);
        self.receive_window.map_or(u32::MAX, |window| bytes(window).max(self.mss().0))
    }

    /// The receive window of a new connection.
    pub(super) fn first_window(&self) -> u32 {
        let window = self.announced_window();
        let grows = self.profile() == Profile::Linux && self.options().window_growth;
        if grows { window.min(super::linux::first_window(self.mss().0)) } else { window }
    }
}

/// What an earlier connection knew of a path: the parameters of Careful Resume (RFC 9959).
///
/// After its first round trip, if that took more than half of `rtt` and no more than ten times, the
/// window jumps to half of `cwnd`, paced. Losses then put it to half of what is known to have
/// passed, and the threshold to half of what passed in the end.
///
/// ```
/// use clift::transport::tcp::{CongestionAlgorithm, SavedPath, TcpConfig};
/// use clift::units::{Duration, Packets};
/// let mut config = TcpConfig::linux(CongestionAlgorithm::CUBIC);
/// let cwnd = Packets::new(12_500).unwrap(); // 250 Mbit/s and 600 ms
/// config.careful_resume = Some(SavedPath { cwnd, rtt: Duration::from_millis(600) });
/// assert_eq!(config.check(), Ok(()));
/// config.congestion = CongestionAlgorithm::BBR;
/// assert!(config.check().is_err());
/// ```
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CarefulResume")]
pub struct SavedPath {
    /// Congestion window of the earlier connection.
    pub cwnd: Packets,
    /// Its least round-trip time.
    pub rtt: Duration,
}

/// How explicit congestion notification is used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum EcnMode {
    /// Not at all.
    Off,
    /// A mark is echoed until the window was reduced (RFC 3168).
    Classic,
    /// Each mark is echoed as it came (RFC 8257).
    Exact,
    /// Marks are counted (RFC 9768), and come early (RFC 9331).
    Accurate,
}

/// Parts of the profile "papers".
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Papers")]
pub struct PapersOptions {
    /// How CUBIC takes the cube root that says when it reaches its plateau: "exact", or "table", as
    /// the kernel code in ns-2 does, by a table and one step of Newton's, a little off.
    pub cube_root: CubeRoot,
}

/// How CUBIC of the profile "papers" takes a cube root.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CubeRoot {
    /// The integer root, rounded down.
    #[default]
    Exact,
    /// That of the kernel code in ns-2.
    Table,
}

/// Parts of the profile "linux", named after the kernel's settings.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Linux")]
pub struct LinuxOptions {
    /// A SYN and its answer go before the data.
    pub handshake: bool,
    /// Losses are detected by the time of sending (RACK, RFC 8985), else by the number of segments
    /// SACKed above (RFC 6675).
    pub rack: bool,
    /// Tail loss probes (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Proportional rate reduction (RFC 6937), else the window falls at once.
    pub prr: bool,
    /// Duplicates are reported (RFC 2883) and made use of.
    pub dsack: bool,
    /// Reductions that prove spurious are taken back.
    pub undo: bool,
    /// Spurious timeouts are detected by what is acknowledged after them (RFC 5682).
    pub frto: bool,
    /// How far the reordering degree may rise, in segments, 3 or more; 3: it does not adapt.
    pub max_reordering: u32,
    /// CUBIC leaves slow start when the round-trip time rises.
    pub hystart: bool,
    /// CUBIC and NewReno end their first slow start as HyStart++ does (RFC 9406): growth is a
    /// quarter while the round-trip time has risen, for five round trips, then it is over. Takes the
    /// place of `hystart`. No kernel has it.
    pub hystart_plus: bool,
    /// The first segments, and those after duplicates or long gaps, are acknowledged at once.
    pub quick_ack: bool,
    /// Of SACKs that repeat an acknowledgement for the fourth time or more those of a millisecond
    /// go as one.
    pub sack_compression: bool,
    /// A window unused for a timeout decays (RFC 2861).
    pub slow_start_after_idle: bool,
    /// Segments leave paced by the window instead of in bursts: twice its rate in slow start, 1.2
    /// times beyond. BBR paces in any case.
    pub pacing: bool,
    /// The receive window grows from 64 kB with what arrives, as far as the buffer does; without it
    /// `receive_window` counts, from the beginning.
    pub window_growth: bool,
    /// A burst that the window cuts short waits for an ACK that is due within a millisecond. It is
    /// for the sake of segmentation offload, and decides which packets find room in a short queue.
    pub burst_deferral: bool,
    /// Timers expire on ticks of 4 ms, and the clocks of CUBIC and Westwood+ count them, as in a
    /// kernel built with CONFIG_HZ=250: a retransmission timeout comes up to 36 ms late, a delayed
    /// ACK or a reordering timeout up to 8 ms. Without it they are exact.
    pub timer_ticks: bool,
}

impl Default for LinuxOptions {
    /// What the kernel does unless it is told otherwise: everything but pacing; a receive window
    /// that never limits and bursts that never wait; and exact timers, since ticks depend on how the
    /// kernel was built.
    fn default() -> Self {
        Self {
            handshake: true,
            rack: true,
            tail_loss_probe: true,
            prr: true,
            dsack: true,
            undo: true,
            frto: true,
            max_reordering: 300,
            hystart: true,
            hystart_plus: false,
            quick_ack: true,
            sack_compression: true,
            slow_start_after_idle: true,
            pacing: false,
            window_growth: false,
            burst_deferral: false,
            timer_ticks: false,
        }
    }
}

/// When a receiver delays its acknowledgements: `false`, `true` (40 ms) or a time.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DelayedAck {
    /// Each segment is acknowledged at once.
    #[default]
    Off,
    /// Every second segment, or after so long.
    After(Duration),
}

impl DelayedAck {
    const USUAL: Duration = Duration::from_millis(40);
}

impl<'de> Deserialize<'de> for DelayedAck {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DelayedAckVisitor)
    }
}

impl Serialize for DelayedAck {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_bool(false),
            Self::After(time) => serializer.collect_str(time),
        }
    }
}

impl JsonSchema for DelayedAck {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DelayedAck".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "false, true (40 ms) or the longest time that an acknowledgement waits, e.g. \"40 ms\"",
            "anyOf": [
                { "type": "boolean" },
                { "type": "string", "pattern": r"^\s*[0-9]+(\.[0-9]+)?\s*(ns|us|µs|ms|s)\s*$" }
            ]
        })
    }
}

struct DelayedAckVisitor;

impl Visitor<'_> for DelayedAckVisitor {
    type Value = DelayedAck;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("false, true or a time such as \"40 ms\"")
    }

    fn visit_bool<E: de::Error>(self, on: bool) -> Result<DelayedAck, E> {
        Ok(if on { DelayedAck::After(DelayedAck::USUAL) } else { DelayedAck::Off })
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<DelayedAck, E> {
        let time: Duration = text.parse().map_err(E::custom)?;
        Ok(if time == Duration::ZERO { DelayedAck::Off } else { DelayedAck::After(time) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Value};

    #[test]
    fn mss_is_the_packet_less_its_headers() {
        let mut config = TcpConfig::papers(CongestionAlgorithm::NEWRENO);
        assert_eq!(config.mss(), Bytes(1448));
        config.timestamps = false;
        assert_eq!(config.mss(), Bytes(1460));
        config.packet = Bytes(10);
        assert_eq!(config.mss(), Bytes(1));
    }

    #[test]
    fn what_is_left_out_is_the_profiles_own() {
        let resolved = |config: &TcpConfig| {
            let delay = config.ack_delay().map(|delay| delay.as_nanos() / 1_000_000);
            (config.initial_window(), delay, config.window_limit(), config.announced_window())
        };
        let mut papers = TcpConfig::papers(CongestionAlgorithm::CUBIC);
        assert_eq!(resolved(&papers), (2, None, u32::MAX, u32::MAX));
        let mut linux = TcpConfig::linux(CongestionAlgorithm::CUBIC);
        assert_eq!(resolved(&linux), (10, Some(40), u32::MAX, u32::MAX));
        linux.delayed_ack = Some(DelayedAck::Off);
        assert_eq!(resolved(&linux).1, None);
        papers.delayed_ack = Some(DelayedAck::After(Duration::from_millis(100)));
        papers.initial_window = Packets::new(4);
        papers.cwnd_max = Packets::new(61);
        papers.receive_window = Some(Size(100_000));
        assert_eq!(resolved(&papers), (4, Some(100), 61, 100_000));
    }

    #[test]
    fn a_wrong_connection_names_its_field() {
        let ok = TcpConfig::papers(CongestionAlgorithm::NEWRENO);
        assert_eq!(ok.check(), Ok(()));
        let linux = TcpConfig::linux(CongestionAlgorithm::BBR);
        assert_eq!(linux.check(), Ok(()));
        let adapts = |max_reordering| LinuxOptions { max_reordering, ..LinuxOptions::default() };
        let wrong = [
            (
                TcpConfig { packet: Bytes(52), ..ok.clone() },
                "packet: 52 bytes are not a TCP packet",
            ),
            (TcpConfig { receive_window: Some(Size(1000)), ..ok.clone() }, "receive_window: a rec"),
            (
                TcpConfig::papers(CongestionAlgorithm::BBR),
                "congestion: profile `papers` has newreno",
            ),
            (
                TcpConfig { sack: false, ..TcpConfig::papers(CongestionAlgorithm::CUBIC) },
                "sack: without SACK there is newreno",
            ),
            (TcpConfig { sack: false, ..linux.clone() }, "sack: profile `linux` needs SACK"),
            (
                TcpConfig {
                    ecn: Some(false),
                    congestion: "dctcp".parse().unwrap(),
                    ..linux.clone()
                },
                "ecn: dctcp needs it",
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

    #[test]
    fn a_connection_is_read_from_text() {
        let keys = [("congestion", "reno"), ("profile", "linux"), ("cwnd_max", "64 packets")];
        let config: TcpConfig =
            config::read(&Value::table(keys.map(|(key, text)| (key, Value::text(text))))).unwrap();
        let expected = TcpConfig::linux(CongestionAlgorithm::NEWRENO);
        assert_eq!(config, TcpConfig { cwnd_max: Packets::new(64), ..expected });
        let unknown = Value::table([("congestion", Value::text("cubik"))]);
        let fault = config::read::<TcpConfig>(&unknown).unwrap_err().to_string();
        assert!(fault.starts_with("congestion: unknown value `cubik`, one of newreno, cubic, "));
        assert!(fault.ends_with(" (did you mean cubic?)"), "{fault}");
    }
}
