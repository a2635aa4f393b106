//! Speech codecs: packets and impairments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Duration;

/// A speech codec, with the packet length for which ITU-T G.113 appendix I gives its impairment
/// (G.711: 10 ms in G.113, 20 ms here, as in RFC 3551).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Codec {
    /// G.711, 64 kbit/s, with loss concealment as in its appendix I.
    #[default]
    #[serde(rename = "g711")]
    G711,
    /// G.711 that plays silence for lost packets.
    #[serde(rename = "g711-bare")]
    G711Bare,
    /// G.729 annex A, 8 kbit/s.
    #[serde(rename = "g729")]
    G729,
    /// G.723.1, 6.3 kbit/s.
    #[serde(rename = "g723.1")]
    G7231,
    /// GSM enhanced full rate, 12.2 kbit/s.
    #[serde(rename = "gsm-efr")]
    GsmEfr,
}

/// Properties of a codec for the network and the E-model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodecData {
    /// Bytes of speech in a packet.
    pub payload: u32,
    /// Interval between packets.
    pub interval: Duration,
    /// Delay of coding and packetisation at the speaker: one frame more than a packet contains,
    /// plus the look-ahead (ITU-T G.114 annex A).
    pub delay: Duration,
    /// Equipment impairment factor Ie without losses (ITU-T G.113 appendix I).
    pub impairment: f64,
    /// Packet-loss robustness factor Bpl (ITU-T G.113 appendix I).
    pub robustness: f64,
}

impl Codec {
    /// The properties of the codec.
    ///
    /// ```
    /// use clift::application::Codec;
    /// let g711 = Codec::G711.data();
    /// // 64 kbit/s
    /// assert_eq!(u64::from(g711.payload) * 8 * 1_000_000_000 / g711.interval.as_nanos(), 64_000);
    /// ```
    pub fn data(self) -> CodecData {
        let data = |payload, interval_ms, delay_us, impairment, robustness| CodecData {
            payload,
            interval: Duration::from_millis(interval_ms),
            delay: Duration::from_micros(delay_us),
            impairment,
            robustness,
        };
        match self {
            Self::G711 => data(160, 20, 20_125, 0.0, 25.1),
            Self::G711Bare => data(160, 20, 20_125, 0.0, 4.3),
            Self::G729 => data(20, 20, 35_000, 11.0, 19.0),
            Self::G7231 => data(24, 30, 67_500, 15.0, 16.1),
            Self::GsmEfr => data(31, 20, 40_000, 5.0, 10.0),
        }
    }
}
