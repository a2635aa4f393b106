//! What a TCP connection is: profile, sizes and limits.

mod linux_options;

pub use linux_options::LinuxOptions;

use thiserror::Error;

use super::congestion::CongestionAlgorithm;
use crate::units::{Bytes, Duration};

/// Bytes of an IPv4 and a TCP header without options.
const HEADERS: u32 = 40;
/// Bytes of the timestamps option, padded (RFC 7323 appendix A).
const TIMESTAMPS: u32 = 12;
/// Reordering degree that a connection begins with, in segments.
const LEAST_REORDERING: u32 = 3;

/// Whose behaviour a connection shows (DESIGN §7).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Profile {
    /// What the papers' simulator does: ns-2.35, `Agent/TCP/Linux` and `Agent/TCPSink/Sack1`.
    #[default]
    Papers,
    /// What a Linux kernel of today (6.x) does.
    Linux,
}

/// How both ends of a TCP connection behave.
///
/// ```
/// use clift::transport::tcp::{CongestionAlgorithm, TcpConfig};
/// use clift::units::{Bytes, Duration};
/// let mut config = TcpConfig::papers(CongestionAlgorithm::CUBIC);
/// config.cwnd_max = Some(288); // bandwidth-delay product and buffer, in packets
/// config.delayed_ack = Some(Duration::from_millis(40));
/// assert_eq!(config.mss(), Bytes(1448));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TcpConfig {
    /// Whose behaviour to show.
    pub profile: Profile,
    /// How the window grows and shrinks.
    pub congestion: CongestionAlgorithm,
    /// Size of a full IP packet, headers included.
    pub packet: Bytes,
    /// Whether segments carry timestamps (RFC 7323): 12 bytes each, an RTT sample per ACK.
    pub timestamps: bool,
    /// Whether ACKs say what arrived beyond a gap (RFC 2018). Without it profile `papers` is
    /// ns-2's `Agent/TCP/Newreno` towards `Agent/TCPSink` (RFC 6582; congestion control `newreno`
    /// only), which opens with a SYN; profile `linux` cannot do without.
    pub sack: bool,
    /// Initial window in segments.
    pub initial_window: u32,
    /// Receive window that the receiver announces, in bytes, at least one full segment; `None`:
    /// no limit.
    pub receive_window: Option<Bytes>,
    /// Upper limit of the congestion window in segments, and the first slow-start threshold
    /// (`window_` of ns-2); `None`: no limit.
    pub cwnd_max: Option<u32>,
    /// How long the receiver may hold an ACK back; `None`: one ACK for every segment.
    ///
    /// Profile `linux`: the shortest time; its timer adapts up to 200 ms.
    pub delayed_ack: Option<Duration>,
    /// What profile `linux` does beyond that; nothing in profile `papers`.
    pub linux: LinuxOptions,
}

impl TcpConfig {
    /// The papers' connection (DESIGN §7): 1500-byte packets with timestamps, initial window 2,
    /// no handshake, no delayed ACK, no limit on the window.
    pub fn papers(congestion: CongestionAlgorithm) -> Self {
        Self {
            profile: Profile::Papers,
            congestion,
            packet: Bytes(1500),
            timestamps: true,
            sack: true,
            initial_window: 2,
            receive_window: None,
            cwnd_max: None,
            delayed_ack: None,
            linux: LinuxOptions::default(),
        }
    }

    /// A connection between two Linux kernels of today: initial window 10 (RFC 6928), delayed
    /// ACKs of 40 ms and more, and every option of [`LinuxOptions::default`].
    ///
    /// ```
    /// use clift::transport::tcp::{CongestionAlgorithm, TcpConfig};
    /// let mut config = TcpConfig::linux(CongestionAlgorithm::NEWRENO);
    /// config.linux.max_reordering = 3; // net.ipv4.tcp_max_reordering
    /// assert_eq!(config.initial_window, 10);
    /// ```
    pub fn linux(congestion: CongestionAlgorithm) -> Self {
        Self {
            profile: Profile::Linux,
            initial_window: 10,
            delayed_ack: Some(Duration::from_millis(40)),
            ..Self::papers(congestion)
        }
    }

    /// Whether a connection can be like this.
    ///
    /// # Errors
    /// If packets have no room for a byte, or a window no room for a segment.
    pub fn check(&self) -> Result<(), TcpConfigError> {
        if self.packet.0 <= self.headers() || self.packet.0 > u32::from(u16::MAX) {
            let (packet, least) = (self.packet.0, self.headers() + 1);
            return Err(TcpConfigError::Packet { packet, least });
        }
        if self.initial_window == 0 || self.cwnd_max == Some(0) {
            return Err(TcpConfigError::NoWindow);
        }
        if !self.congestion.is_in(self.profile) {
            return Err(TcpConfigError::NotInPapers(self.congestion));
        }
        match self.profile {
            Profile::Linux if !self.sack => return Err(TcpConfigError::LinuxNeedsSack),
            Profile::Papers if !self.sack && self.congestion != CongestionAlgorithm::NEWRENO => {
                return Err(TcpConfigError::NeedsSack(self.congestion));
            }
            _ => {}
        }
        if self.profile == Profile::Linux && self.linux.max_reordering < LEAST_REORDERING {
            return Err(TcpConfigError::MaxReordering(self.linux.max_reordering));
        }
        match self.receive_window {
            Some(window) if window < self.mss() => {
                Err(TcpConfigError::ReceiveWindow { window: window.0, mss: self.mss().0 })
            }
            _ => Ok(()),
        }
    }

    /// Payload of a full packet: the packet less 40 bytes of headers, less 12 with timestamps;
    /// at least one byte.
    pub fn mss(&self) -> Bytes {
        Bytes(self.packet.0.saturating_sub(self.headers()).max(1))
    }

    /// Bytes that every data segment has beyond its payload.
    pub(super) fn headers(&self) -> u32 {
        if self.timestamps { HEADERS + TIMESTAMPS } else { HEADERS }
    }

    /// Bytes of an ACK with `blocks` SACK blocks. Profile `papers`: 40 and 8 per block, as ns-2's
    /// sinks count them; a real ACK has up to 16 more, for options and their padding.
    pub(super) fn ack_size(&self, blocks: usize) -> u32 {
        match self.profile {
            Profile::Papers => HEADERS + 8 * blocks as u32,
            Profile::Linux if blocks == 0 => self.headers(),
            Profile::Linux => self.headers() + 4 + 8 * blocks as u32,
        }
    }

    /// Bytes of a SYN: maximum segment size, window scale, SACK permitted and timestamps.
    pub(super) fn syn_size(&self) -> u32 {
        if self.timestamps { HEADERS + 20 } else { HEADERS + 12 }
    }

    /// The receive window as a segment carries it.
    pub(super) fn announced_window(&self) -> u32 {
        self.receive_window.map_or(u32::MAX, |Bytes(window)| window.max(self.mss().0))
    }
}

/// A connection that cannot be.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum TcpConfigError {
    /// Packets too small for a byte of payload, or larger than IP allows.
    #[error("a TCP packet of {packet} bytes cannot be; give {least} to 65535")]
    Packet {
        /// Size asked for.
        packet: u32,
        /// Headers and a byte.
        least: u32,
    },
    /// A window of no segment.
    #[error(
        "a window of 0 packets never sends; give an initial and a maximal window of at least 1"
    )]
    NoWindow,
    /// Profile `linux` without SACK.
    #[error("profile `linux` needs SACK; `sack = false` is in profile `papers`, with newreno")]
    LinuxNeedsSack,
    /// A congestion control other than NewReno without SACK.
    #[error("without SACK there is newreno only (ns-2's Agent/TCP/Newreno); {0} needs SACK")]
    NeedsSack(CongestionAlgorithm),
    /// A reordering degree below the one that a connection begins with.
    #[error("max_reordering = {0}: give 3 segments (it does not adapt) or more")]
    MaxReordering(u32),
    /// A congestion control that profile `papers` does not have.
    #[error(
        "profile `papers` has newreno, cubic, hybla, westwood and compound; {0} is in profile \
         `linux`"
    )]
    NotInPapers(CongestionAlgorithm),
    /// A receive window below one segment.
    #[error("a receive window of {window} bytes takes no full segment; give at least {mss}")]
    ReceiveWindow {
        /// Window asked for.
        window: u32,
        /// Payload of a full segment.
        mss: u32,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn connections_that_cannot_be_are_refused() {
        let ok = TcpConfig::papers(CongestionAlgorithm::NEWRENO);
        assert_eq!(ok.check(), Ok(()));
        let small = TcpConfig { packet: Bytes(52), ..ok.clone() };
        assert_eq!(small.check(), Err(TcpConfigError::Packet { packet: 52, least: 53 }));
        let still = TcpConfig { cwnd_max: Some(0), ..ok.clone() };
        assert_eq!(still.check(), Err(TcpConfigError::NoWindow));
        let shut = TcpConfig { receive_window: Some(Bytes(1000)), ..ok };
        assert!(matches!(shut.check(), Err(TcpConfigError::ReceiveWindow { .. })));
        let bbr = TcpConfig::papers(CongestionAlgorithm::BBR);
        assert!(matches!(bbr.check(), Err(TcpConfigError::NotInPapers(_))));
        assert_eq!(TcpConfig::linux(CongestionAlgorithm::BBR).check(), Ok(()));
    }
}
