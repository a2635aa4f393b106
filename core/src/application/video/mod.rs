//! Video over HTTP: a player requests segment by segment, at a rate that it adapts (DASH, ISO/IEC
//! 23009-1).

mod adaptation;
mod player;

pub use adaptation::Adaptation;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Application;
use super::dialogue::Dialogue;
use super::page::{check_tls, dialogues};
use super::session::{Connections, Session};
use crate::config::Fault;
use crate::metrics::{FlowMetrics, VideoMetrics};
use crate::transport::{End, Protocol, Streams};
use crate::units::{BitRate, Bytes, Duration, Instant};
use adaptation::Rates;
use player::Player;

/// A video of segments, each in several rates. The player requests one segment after the other over
/// one connection, and plays from a buffer.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Video {
    /// Video: rates in which each segment is available.
    pub ladder: Vec<BitRate>,
    /// Video: playing time of a segment. Default: 4 s.
    pub segment: Option<Duration>,
    /// Video: playing time of the video, rounded up to whole segments. Without it, the video
    /// continues until the run ends.
    pub length: Option<Duration>,
    /// Video: how the player chooses a segment's rate: "buffer" (BBA-0 of Huang et al. 2014; the
    /// default) or "rate" (from the rates at which segments arrived).
    pub adaptation: Option<Adaptation>,
    /// Video: largest content of the player's buffer. Default: 240 s (Huang et al. 2014).
    pub buffer: Option<Duration>,
    /// Video: content at which playback starts, at first and after a stall. Default: one segment.
    pub startup: Option<Duration>,
    /// Video: bytes of a request including headers. Default: 350, as for pages.
    pub request: Option<Bytes>,
    /// Video: processing time of the server. Default: 0.
    pub think: Option<Duration>,
    /// Video: round trips of the TLS handshake after the TCP handshake. Default: 1 (TLS 1.3).
    pub tls: Option<u32>,
}

const SEGMENT: Duration = Duration::from_secs(4);
const BUFFER: Duration = Duration::from_secs(240);
/// As [`super::Page::request_size`].
const REQUEST: Bytes = Bytes(350);
/// Limits the effect of a typing error.
const LONGEST_SEGMENT: Duration = Duration::from_secs(3600);
const MOST_RATES: usize = 64;

impl Video {
    fn segment(&self) -> Duration {
        self.segment.unwrap_or(SEGMENT)
    }

    fn buffer(&self) -> Duration {
        self.buffer.unwrap_or(BUFFER)
    }

    fn startup(&self) -> Duration {
        self.startup.unwrap_or(self.segment())
    }

    /// Number of segments.
    fn segments(&self) -> Option<u64> {
        Some(self.length?.as_nanos().div_ceil(self.segment().as_nanos()))
    }
}

impl Application for Video {
    fn check(&self) -> Result<(), Fault> {
        if self.ladder.is_empty() || self.ladder.len() > MOST_RATES {
            let message = format!("{} rates; give 1 to {MOST_RATES}", self.ladder.len());
            return Err(Fault::new("ladder", message));
        }
        if !self.ladder.is_sorted_by(|a, b| a < b) {
            return Err(Fault::new("ladder", "rates must increase; sort them and give each once"));
        }
        let segment = self.segment();
        if segment < Duration::from_millis(1) || segment > LONGEST_SEGMENT {
            return Err(Fault::new("segment", format!("{segment}; give 1 ms to 3600 s")));
        }
        if self.length == Some(Duration::ZERO) {
            return Err(Fault::new("length", "is zero; give a time above zero, or leave it out"));
        }
        if self.buffer() < segment {
            let message = format!("{} does not hold a segment of {segment}", self.buffer());
            return Err(Fault::new("buffer", message));
        }
        // The player requests a segment only if it fits.
        let most = Duration::from_nanos(
            self.buffer().as_nanos() / segment.as_nanos() * segment.as_nanos(),
        );
        if self.startup() > most {
            let message =
                format!("playback never starts: the buffer holds segments of {most} in all");
            return Err(Fault::new("startup", message));
        }
        if self.request == Some(Bytes(0)) {
            return Err(Fault::new("request", "a request of 0 bytes; give 1 B or more"));
        }
        check_tls(self.tls)
    }

    fn check_over(&self, transport: &dyn Protocol) -> Result<(), Fault> {
        dialogues(transport).map(|_| ())
    }

    fn is_session(&self) -> bool {
        true
    }

    fn ends(&self) -> bool {
        self.length.is_some()
    }

    fn session(&self, start: Instant, streams: Streams) -> Option<Box<dyn Session>> {
        let (request, think) = (self.request.unwrap_or(REQUEST), self.think.unwrap_or_default());
        let ladder = self.ladder.iter().map(|rate| rate.bits_per_second()).collect();
        Some(Box::new(Stream {
            start,
            segments: self.segments(),
            dialogue: Dialogue::new(streams, self.tls, request, think),
            rates: Rates::new(ladder, self.adaptation.unwrap_or_default(), self.buffer()),
            player: Player::new(start, self.segment(), self.startup()),
            buffer: self.buffer(),
            received: Vec::new(),
            bits: 0,
            last: start,
        }))
    }
}

/// Both ends of the video of one flow.
struct Stream {
    start: Instant,
    segments: Option<u64>,
    dialogue: Dialogue,
    rates: Rates,
    player: Player,
    buffer: Duration,
    /// Rate of each segment received, bit/s.
    received: Vec<u64>,
    /// Bits of the segments received.
    bits: u128,
    last: Instant,
}

impl Stream {
    /// Requests the next segment, as soon as the buffer has room for it.
    fn request(&mut self, now: Instant) {
        let at = self.player.room_at(now, self.buffer);
        // The choice depends on the buffer at the time of the request.
        let rate = self.rates.choose(self.player.content(at));
        self.dialogue.ask(at, self.size(rate));
    }

    /// Bytes of a segment at `rate`.
    fn size(&self, rate: u64) -> u64 {
        let bits = u128::from(rate) * u128::from(self.player.segment().as_nanos()) / 1_000_000_000;
        u64::try_from(bits / 8).unwrap_or(u64::MAX).max(1)
    }

    fn is_received(&self) -> bool {
        self.segments.is_some_and(|count| self.received.len() as u64 >= count)
    }
}

impl Session for Stream {
    fn run(&mut self, now: Instant, connections: &mut dyn Connections) -> Option<Instant> {
        if self.dialogue.open(connections) {
            self.request(now);
        }
        let next = self.dialogue.run(now, connections);
        if !self.is_received() {
            return next;
        }
        // The session lasts until the video has been played.
        self.player.advance(now);
        self.player.end()
    }

    fn arrived(
        &mut self,
        now: Instant,
        number: usize,
        end: End,
        connections: &mut dyn Connections,
    ) -> Option<Instant> {
        if self.dialogue.arrived(now, number, end, connections) {
            let took = now.saturating_since(self.dialogue.asked);
            let size = self.size(self.rates.current());
            self.rates.received(size * 8, took);
            self.received.push(self.rates.current());
            self.bits += u128::from(size) * 8;
            self.last = now;
            self.player.received(now, self.is_received());
            if !self.is_received() {
                self.request(now);
            }
        }
        self.run(now, connections)
    }

    fn is_done(&self) -> bool {
        self.is_received() && self.player.is_over()
    }

    fn report(&self, _: usize, metrics: &mut FlowMetrics) {
        metrics.start = self.start;
        let until = metrics.end;
        if self.is_received() {
            metrics.completed = Some(self.last);
        }
        let playback = self.player.until(until);
        let (count, stalled) = (self.received.len() as f64, playback.stalled());
        let length = self.player.segment().as_secs_f64() * count;
        let mean_rate = (length > 0.0).then(|| self.bits as f64 / length);
        let quality = |startup: Duration| {
            let waited = (startup + stalled).as_secs_f64();
            let lost = self.rates.changes() as f64 + self.rates.highest() as f64 * waited;
            Some(mean_rate? - lost / count)
        };
        metrics.video = Some(VideoMetrics {
            requested: self.dialogue.sent,
            received: self.received.len() as u64,
            startup: playback.startup,
            stalls: playback.stalls.len() as u64,
            stalled,
            played: playback.played,
            switches: self.rates.switches(),
            mean_rate,
            quality: playback.startup.and_then(quality),
            segment: self.player.segment(),
            ladder: self.rates.ladder().to_vec(),
            rates: self.received.clone(),
            interruptions: playback.stalls,
        });
    }
}
