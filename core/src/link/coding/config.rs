//! `[coding]`: the keys of coding above the link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::Fault;
use crate::units::{Bytes, Duration, Probability};

/// Erasure coding above the link: an encoder before one or several hops, a decoder behind them. The
/// encoder adds repair packets, which take queue room and air time as other packets do. It works
/// for TCP, QUIC and datagrams alike, with or without a scheme of the link.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Coding {
    /// The code: "rlc" (sliding-window random linear code over GF(256), as in RFC 8681 and RFC
    /// 9407) or "block" (an ideal block code, as in RFC 5510: any `window` packets of a block
    /// decode it).
    pub code: Code,
    /// Packets that a repair packet covers: the last ones sent (rlc), or a block of them (block).
    pub window: u32,
    /// Code rate: share of source packets among all packets. With `adapt`, the rate until the first
    /// report arrives.
    pub rate: Probability,
    /// Adapts the code rate to the loss that reports state: the encoder sends this many times the
    /// repair packets that make up for the mean loss. Default: the rate is fixed.
    pub adapt: Option<f64>,
    /// Also send one repair packet for each packet that the decoder lacks according to a report
    /// (rlc only).
    pub on_demand: bool,
    /// Time between the reports of the decoder, which it sends while packets arrive. Without `adapt`
    /// and `on_demand` it sends none.
    pub report: Duration,
    /// Time that a report takes to the encoder. Default: the delay of the way back over the same
    /// hops.
    pub feedback: Option<Duration>,
    /// If no source packet follows for this time, the encoder closes the block (block) or covers
    /// the last packets with a repair packet (rlc).
    pub flush: Duration,
    /// Release packets in order. If false, each is released when it arrives or is decoded.
    pub in_order: bool,
    /// Longest time for which the decoder waits for a missing packet. It also gives a packet up
    /// when no further repair packet can cover it.
    pub hold: Duration,
    /// Bytes that the coding adds to each packet.
    pub header: Bytes,
    /// Hops of `[[path]]` between encoder and decoder, from this hop on. `[coding]` outside of
    /// `[[path]]` is around the whole path.
    pub hops: u32,
}

/// An erasure code.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Code {
    /// Sliding-window random linear code.
    #[default]
    Rlc,
    /// Block code.
    Block,
}

impl Default for Coding {
    fn default() -> Self {
        Self {
            code: Code::Rlc,
            window: 64,
            rate: Probability::new(0.9).unwrap_or(Probability::ONE),
            adapt: None,
            on_demand: false,
            report: Duration::from_millis(50),
            feedback: None,
            flush: Duration::from_millis(100),
            in_order: true,
            hold: Duration::from_secs(1),
            header: Bytes(8),
            hops: 1,
        }
    }
}

impl Coding {
    /// Most packets of a window: bounds the time to decode.
    pub const MOST_WINDOW: u32 = 1024;
    /// Packets of a block, repair packets included, that a code over GF(256) can have.
    pub const MOST_BLOCK: u32 = 256;
    /// Most bytes that the coding adds to a packet.
    pub const LARGEST_HEADER: Bytes = Bytes(1000);
    /// Most repair packets for each source packet, on average.
    pub const MOST_OVERHEAD: f64 = 9.0;

    /// Repair packets for each source packet: 1 / rate - 1.
    pub fn overhead(&self) -> f64 {
        1.0 / self.rate.get() - 1.0
    }

    /// Whether the encoder uses reports.
    pub fn wants_reports(&self) -> bool {
        self.adapt.is_some() || self.on_demand
    }

    /// Checks the keys.
    ///
    /// # Errors
    /// The key that is out of range, or contradicts another one.
    pub fn check(&self) -> Result<(), Fault> {
        let most = Self::MOST_WINDOW;
        if self.window == 0 || self.window > most {
            return Err(Fault::new("window", format!("{} packets; give 1 to {most}", self.window)));
        }
        if self.rate.get() < 1.0 / (1.0 + Self::MOST_OVERHEAD) {
            let cure = "below 0.1 the repair packets leave no room for data; give 0.1 to 1";
            return Err(Fault::new("rate", cure));
        }
        if self.adapt.is_some_and(|factor| !(0.0..=Self::MOST_OVERHEAD).contains(&factor)) {
            return Err(Fault::new("adapt", "out of range; give a factor from 0 to 9"));
        }
        if self.header > Self::LARGEST_HEADER {
            let message =
                format!("{} bytes; give at most {}", self.header.0, Self::LARGEST_HEADER.0);
            return Err(Fault::new("header", message));
        }
        if self.hops == 0 {
            return Err(Fault::new("hops", "0 hops; give 1 or more"));
        }
        for (key, time) in [("report", self.report), ("hold", self.hold)] {
            if time < Duration::from_millis(1) {
                return Err(Fault::new(key, format!("{time}; give 1 ms or more")));
            }
        }
        if self.code == Code::Rlc {
            return Ok(());
        }
        if self.on_demand {
            let cure = "a block has a fixed number of repair packets; leave it out, or give code = \"rlc\"";
            return Err(Fault::new("on_demand", cure));
        }
        let block = f64::from(self.window) * (1.0 + self.overhead());
        if block > f64::from(Self::MOST_BLOCK) {
            let cure = format!(
                "blocks of {block:.0} packets; a code over GF(256) has at most {}: give a smaller window or a higher rate",
                Self::MOST_BLOCK
            );
            return Err(Fault::new("window", cure));
        }
        Ok(())
    }
}
