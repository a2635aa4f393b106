//! Configuration of a TCP connection, used by programs and scenario files alike; and of the kinds of
//! congestion control that it may name, each of which is built from it.

use std::fmt;

use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::congestion::{CongestionControl, Window};
use crate::config::Chosen;
use crate::units::{Bytes, Duration, Packets, Size, number_with};

/// Bytes of an IPv4 and a TCP header without options.
const HEADERS: u32 = 40;
/// Bytes of the timestamps option with padding (RFC 7323 appendix A).
const TIMESTAMPS: u32 = 12;
/// Bytes of the option that counts marked bytes (RFC 9768, section 3.2.3), with its padding.
const MARK_COUNTS: u32 = 12;
/// The stack whose behaviour a TCP connection follows.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The simulator of the papers: ns-2.35, `Agent/TCP/Linux` and `Agent/TCPSink/Sack1`.
    Papers,
    /// A current Linux kernel (6.x).
    #[default]
    Linux,
}

/// A TCP connection and its options. Options that are left out take the profile's default.
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
    /// Congestion control. TCP supports "newreno", "cubic", "hybla", "westwood" and "compound", and
    /// in the profile "linux" also "bbr", "bbr3", "dctcp", "prague" and, coupled over several
    /// `paths` and "newreno" over one, "lia", "olia" and "balia". Over QUIC, "newreno", "cubic" and
    /// "bbr" are the implementations of quinn; "clift-newreno", "clift-cubic", "hybla",
    /// "westwood" and "compound" are CLIFT's.
    pub congestion: CongestionAlgorithm,
    /// The stack to follow: "linux" (a current kernel) or "papers" (the ns-2 agents of the papers).
    /// Default "linux"; with `sack = false` the default is "papers".
    pub profile: Option<Profile>,
    /// Size of a full IP packet, headers included.
    pub packet: Bytes,
    /// Initial window. Default 10 packets in the profile "linux", 2 in "papers", where it may not
    /// exceed `cwnd_max`.
    pub initial_window: Option<Packets>,
    /// Delayed acknowledgements: false, true (40 ms) or the delay. Default in the profile "linux":
    /// 40 ms and more, up to 200 ms, as the kernel's timer adapts; in "papers": off.
    pub delayed_ack: Option<DelayedAck>,
    /// Upper limit of the congestion window. In the profile "papers" it is also the initial
    /// slow-start threshold (`window_` of ns-2). Without a limit, a connection of that profile that
    /// overshoots a deep queue can stay in recovery for minutes, as in ns-2.
    pub cwnd_max: Option<Packets>,
    /// Receive window, at least one full segment.
    pub receive_window: Option<Size>,
    /// Timestamps (RFC 7323), 12 bytes of header. A 1500-byte packet carries 1448 bytes of data
    /// with timestamps, 1460 without.
    pub timestamps: bool,
    /// Selective acknowledgements (RFC 2018). With false, profile "linux" behaves as a kernel with
    /// net.ipv4.tcp_sack = 0: NewReno's recovery (RFC 6582) under any congestion control, without
    /// RACK, tail loss probes, D-SACK and SACK compression. Profile "papers", which is the default
    /// then, behaves as ns-2's Agent/TCP/Newreno and opens with a SYN; it needs newreno.
    pub sack: bool,
    /// Path parameters saved from an earlier connection, for Careful Resume (RFC 9959). Supported
    /// in the profile "linux" and over QUIC, with window-based congestion control (not BBR).
    pub careful_resume: Option<SavedPath>,
    /// Explicit congestion notification (RFC 3168): queues with active queue management (`aqm`)
    /// mark packets instead of dropping them. Supported in the profile "linux" and over QUIC. Off
    /// by default: a Linux kernel accepts ECN but does not request it (`net.ipv4.tcp_ecn = 2`).
    /// "dctcp" and "prague" turn it on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Settings of the profile "linux".
    pub linux: Option<LinuxOptions>,
    /// Settings of the profile "papers".
    pub papers: Option<PapersOptions>,
}

impl Default for TcpConfig {
    /// CUBIC in profile `linux`.
    fn default() -> Self {
        Self { profile: None, ..Self::linux(CongestionAlgorithm::CUBIC) }
    }
}

impl TcpConfig {
    /// The connection of the papers: 1500-byte packets with timestamps, initial window 2, no
    /// handshake, no delayed ACKs, no window limit.
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

    /// A connection between two current Linux kernels: initial window 10 (RFC 6928), delayed ACKs
    /// of 40 ms and more, and the settings of [`LinuxOptions::default`].
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

    /// The profile in force.
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

    /// Maximum segment size: the packet size less 40 bytes of headers, less 12 bytes with
    /// timestamps and 12 with counted marks; at least one byte.
    pub fn mss(&self) -> Bytes {
        Bytes(self.packet.0.saturating_sub(self.headers()).max(1))
    }

    /// Initial window in segments.
    pub fn initial_window(&self) -> u32 {
        let usual = if self.profile() == Profile::Linux { 10 } else { 2 };
        self.initial_window.map_or(usual, Packets::saturated)
    }

    /// Upper limit of the congestion window in segments; `u32::MAX` if unlimited.
    pub fn window_limit(&self) -> u32 {
        self.cwnd_max.map_or(u32::MAX, Packets::saturated)
    }

    /// Longest delay of an ACK; `None` if every segment is acknowledged at once. In profile `linux`
    /// this is the shortest setting of a timer that adapts up to 200 ms.
    pub fn ack_delay(&self) -> Option<Duration> {
        match (self.delayed_ack, self.profile()) {
            (Some(DelayedAck::After(time)), _) => Some(time),
            (None, Profile::Linux) => Some(DelayedAck::USUAL),
            _ => None,
        }
    }

    /// The same configuration with the profile's defaults written out.
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

    /// ECN feedback scheme in use.
    pub(super) fn ecn_mode(&self) -> EcnMode {
        match (self.congestion.name(), self.ecn) {
            ("dctcp", _) => EcnMode::Exact,
            ("prague", _) => EcnMode::Accurate,
            (_, Some(true)) => EcnMode::Classic,
            _ => EcnMode::Off,
        }
    }

    /// The settings of profile `linux` in force. What needs SACK is off without it.
    pub fn options(&self) -> LinuxOptions {
        let options = self.linux.unwrap_or_default();
        LinuxOptions {
            rack: options.rack && self.sack,
            tail_loss_probe: options.tail_loss_probe && self.sack,
            dsack: options.dsack && self.sack,
            sack_compression: options.sack_compression && self.sack,
            ..options
        }
    }

    /// Header bytes of a data segment.
    pub(super) fn headers(&self) -> u32 {
        let timestamps = if self.timestamps { TIMESTAMPS } else { 0 };
        let counts = if self.ecn_mode() == EcnMode::Accurate { MARK_COUNTS } else { 0 };
        HEADERS + timestamps + counts
    }

    /// Bytes of a SYN, with the options maximum segment size, window scale, SACK permitted and
    /// timestamps.
    pub(super) fn syn_size(&self) -> u32 {
        match (self.timestamps, self.sack) {
            (true, _) => HEADERS + 20, // the flag of SACK fits into the padding of timestamps
            (false, true) => HEADERS + 12,
            (false, false) => HEADERS + 8,
        }
    }

    /// The receive window as announced once it is fully grown.
    pub(super) fn announced_window(&self) -> u32 {
        let bytes = |Size(window)| u32::try_from(window).unwrap_or(u32::MAX);
        self.receive_window.map_or(u32::MAX, |window| bytes(window).max(self.mss().0))
    }

    /// The receive window announced by a new connection.
    pub(super) fn first_window(&self) -> u32 {
        let window = self.announced_window();
        let grows = self.profile() == Profile::Linux && self.options().window_growth;
        if grows { window.min(super::linux::first_window(self.mss().0)) } else { window }
    }
}

/// A congestion control algorithm, parsed from its name or an alias.
///
/// ```
/// use clift::transport::tcp::{CongestionAlgorithm, Profile};
/// assert_eq!(CongestionAlgorithm::CUBIC.name(), "cubic");
/// assert!("vegas".parse::<CongestionAlgorithm>().is_err());
/// assert!(!CongestionAlgorithm::BBR.is_in(Profile::Papers));
/// ```
pub type CongestionAlgorithm = Chosen<CongestionControlKind>;

/// Builds a control for a connection. The control takes its random draws from the generator.
pub type BuildControl = dyn Fn(&TcpConfig, ChaCha8Rng) -> Box<dyn CongestionControl> + Sync;

/// A kind of congestion control: one entry of the registry.
///
/// ```
/// use clift::transport::tcp::{
///     Ack, CongestionControl, CongestionControlKind, Loss, Profile, Reduction, TcpConfig, Window,
/// };
///
/// /// A constant window.
/// #[derive(Debug)]
/// struct Fixed;
///
/// impl CongestionControl for Fixed {
///     fn grow(&mut self, _: &Ack, _: &mut Window) {}
///     fn reduce(&mut self, _: Loss, window: &Window) -> Reduction {
///         Reduction::to(window.cwnd())
///     }
/// }
///
/// let mut registry = clift::Registry::new();
/// registry.add(CongestionControlKind {
///     name: "constant",
///     aliases: &[],
///     summary: "A constant window.",
///     profiles: &[Profile::Papers, Profile::Linux],
///     build: &|_, _| Box::new(Fixed),
/// })?;
/// let constant = registry.within(|| "constant".parse()).unwrap();
/// assert_eq!(TcpConfig::papers(constant).check(), Ok(()));
/// # Ok::<(), clift::config::NameTaken>(())
/// ```
#[derive(Clone, Copy)]
pub struct CongestionControlKind {
    /// Name used in configurations.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// Description in one or two sentences.
    pub summary: &'static str,
    /// Profiles that support it.
    pub profiles: &'static [Profile],
    /// Builds the control.
    pub build: &'static BuildControl,
}

impl Window {
    /// The initial window of a connection.
    pub fn new(config: &TcpConfig) -> Self {
        let limit = config.window_limit();
        let ssthresh = if config.profile() == Profile::Papers { limit } else { u32::MAX };
        Self::within(limit, config.initial_window(), ssthresh)
    }
}

/// Path parameters saved from an earlier connection: the input of Careful Resume (RFC 9959).
///
/// After the first round trip, if it took more than half of `rtt` and at most ten times `rtt`, the
/// window jumps to half of `cwnd`, with pacing. After a loss, the window falls to half of the data
/// known to have passed, and ssthresh to half of the data that passed in the end.
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
    /// Minimum round-trip time of the earlier connection.
    pub rtt: Duration,
}

/// Feedback scheme of explicit congestion notification.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum EcnMode {
    /// ECN is off.
    #[default]
    Off,
    /// The receiver echoes a mark until the sender has reduced its window (RFC 3168).
    Classic,
    /// The receiver echoes each mark individually (RFC 8257).
    Exact,
    /// The receiver counts marks (RFC 9768), and queues mark early (RFC 9331).
    Accurate,
}

/// Settings of the profile "papers".
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Papers")]
pub struct PapersOptions {
    /// How CUBIC computes the cube root for the time to its plateau: "exact", or "table" as the
    /// kernel code in ns-2 does (a table and one Newton step, slightly inexact).
    pub cube_root: CubeRoot,
}

/// The cube root function of CUBIC in the profile "papers".
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CubeRoot {
    /// The integer cube root, rounded down.
    #[default]
    Exact,
    /// The function of the kernel code in ns-2.
    Table,
}

/// Settings of the profile "linux", named after the kernel's.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Linux")]
pub struct LinuxOptions {
    /// The connection opens with a handshake (SYN and SYN-ACK) before data.
    pub handshake: bool,
    /// Detect losses by transmission time (RACK, RFC 8985). If false, detect losses by the number
    /// of SACKed segments above (RFC 6675).
    pub rack: bool,
    /// Send tail loss probes (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Reduce the window by proportional rate reduction (RFC 6937). If false, the window falls at
    /// once.
    pub prr: bool,
    /// Report duplicates with D-SACK (RFC 2883) and use the reports.
    pub dsack: bool,
    /// Undo window reductions that prove spurious.
    pub undo: bool,
    /// Detect spurious timeouts from the acknowledgements that follow (F-RTO, RFC 5682).
    pub frto: bool,
    /// Upper limit of the adaptive reordering degree, in segments, at least 3; 3 turns adaptation
    /// off.
    pub max_reordering: u32,
    /// CUBIC leaves slow start when the round-trip time rises (HyStart).
    pub hystart: bool,
    /// CUBIC and NewReno end their first slow start with HyStart++ (RFC 9406): once the round-trip
    /// time has risen, the window grows at a quarter of the rate for five round trips, then slow
    /// start ends. Replaces `hystart`. No kernel implements it.
    pub hystart_plus: bool,
    /// Acknowledge the first segments at once, and those after duplicates or long gaps.
    pub quick_ack: bool,
    /// Compress SACKs: from the fourth repetition of an acknowledgement on, the receiver sends one
    /// SACK per millisecond.
    pub sack_compression: bool,
    /// A window that is idle for a retransmission timeout decays (RFC 2861).
    pub slow_start_after_idle: bool,
    /// Pace segments by the window instead of sending bursts: at twice the window's rate in slow
    /// start, at 1.2 times the rate afterwards. BBR always paces.
    pub pacing: bool,
    /// The receive window starts at 64 kB and grows with the data received, up to the buffer. If
    /// false, it is `receive_window` from the start. It bounds the start of Hybla.
    pub window_growth: bool,
    /// A burst that the window cuts short waits for an ACK that is due within a millisecond. The
    /// kernel does so for segmentation offload; it affects which packets fit into a short queue.
    pub burst_deferral: bool,
    /// Timers expire on ticks of 4 ms, and the clocks of CUBIC and Westwood+ count ticks, as in a
    /// kernel built with CONFIG_HZ=250: a retransmission timeout fires up to 36 ms late, a delayed
    /// ACK or reordering timeout up to 8 ms late. If false, timers are exact.
    pub timer_ticks: bool,
}

impl Default for LinuxOptions {
    /// The kernel's defaults: everything on except pacing. Timers are exact, because ticks depend on
    /// the clock of the kernel's host.
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
            window_growth: true,
            burst_deferral: true,
            timer_ticks: false,
        }
    }
}

/// Delayed acknowledgements: `false`, `true` (40 ms) or a time.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DelayedAck {
    /// The receiver acknowledges each segment at once.
    #[default]
    Off,
    /// The receiver acknowledges every second segment, or after this delay.
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

crate::units::schema!(DelayedAck, "DelayedAck", {
    "description": "false, true (40 ms) or the longest time that an acknowledgement waits, e.g. \"40 ms\"",
    "anyOf": [
        { "type": "boolean" },
        { "type": "string", "pattern": number_with!("ns|us|µs|ms|s|min|h") }
    ]
});

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

    /// A kernel's data segments carry the option of RFC 9768 with accurate ECN.
    #[test]
    fn counted_marks_take_room_from_the_data() {
        let mut kinds = CongestionAlgorithm::in_profile(Profile::Linux);
        let prague = kinds.find(|kind| kind.name() == "prague").expect("a registered control");
        assert_eq!(TcpConfig::linux(prague).mss(), Bytes(1436));
    }

    #[test]
    fn missing_options_take_the_profiles_defaults() {
        let resolved = |config: &TcpConfig| {
            let delay = config.ack_delay().map(|delay| delay.as_nanos() / 1_000_000);
            (config.initial_window(), delay, config.window_limit(), config.announced_window())
        };
        let mut papers = TcpConfig::papers(CongestionAlgorithm::CUBIC);
        assert_eq!(resolved(&papers), (2, None, u32::MAX, u32::MAX));
        let mut linux = TcpConfig::linux(CongestionAlgorithm::CUBIC);
        assert_eq!(resolved(&linux), (10, Some(40), u32::MAX, u32::MAX));
        assert!(linux.first_window() < 65_536);
        assert_eq!(papers.first_window(), u32::MAX);
        linux.delayed_ack = Some(DelayedAck::Off);
        assert_eq!(resolved(&linux).1, None);
        papers.delayed_ack = Some(DelayedAck::After(Duration::from_millis(100)));
        papers.initial_window = Packets::new(4);
        papers.cwnd_max = Packets::new(61);
        papers.receive_window = Some(Size(100_000));
        assert_eq!(resolved(&papers), (4, Some(100), 61, 100_000));
    }

    #[test]
    fn a_configuration_is_read_from_text() {
        let keys = [("congestion", "reno"), ("profile", "linux"), ("cwnd_max", "64 packets")];
        let config: TcpConfig =
            config::read(&Value::table(keys.map(|(key, text)| (key, Value::text(text))))).unwrap();
        let expected = TcpConfig::linux(CongestionAlgorithm::NEWRENO);
        assert_eq!(config, TcpConfig { cwnd_max: Packets::new(64), ..expected });
        let unknown = Value::table([("congestion", Value::text("cubik"))]);
        let fault = config::read::<TcpConfig>(&unknown).unwrap_err().to_string();
        assert_eq!(
            fault,
            "congestion: unknown value `cubik`, one of newreno, cubic, hybla, westwood, compound, \
             bbr, bbr3, dctcp, prague, lia, olia, balia; only over QUIC clift-newreno, clift-cubic \
             (did you mean cubic?)"
        );
    }
}
