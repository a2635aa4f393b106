//! A call: packets at the codec's rate, a playout buffer, and the resulting quality.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::codec::Codec;
use super::emodel::EModel;
use crate::application::{Application, Arrival, Traffic, deadline};
use crate::config::Fault;
use crate::metrics::{Distribution, FlowMetrics, VoiceMetrics};
use crate::transport::{Endpoint, FlowControl, Protocol};
use crate::units::{Bytes, Duration, Instant};

/// Bytes of an RTP header (RFC 3550 section 5.1).
const RTP: u32 = 12;
const PLAYOUT: Duration = Duration::from_millis(60);

/// One direction of a call over datagrams (UDP or QUIC): RTP packets at the rate of a codec,
/// without silence suppression. The playout buffer holds the first packet for a fixed time and then
/// plays one packet per interval.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Voice {
    /// Voice: the codec: "g711" (default), "g711-bare" (without loss concealment), "g729", "g723.1"
    /// or "gsm-efr".
    pub codec: Codec,
    /// Voice: time for which the playout buffer holds the first packet. Default: 60 ms. A packet
    /// that arrives after its playout time counts as lost.
    pub playout: Option<Duration>,
    /// Voice: maximum delay of a packet from application to application, to count as in time.
    /// Without it, packets that arrive before their playout time are in time.
    pub deadline: Option<Duration>,
    /// Voice: duration of the speech. Without it, the speaker continues until the run ends.
    pub length: Option<Duration>,
}

impl Application for Voice {
    fn check(&self) -> Result<(), Fault> {
        if self.length == Some(Duration::ZERO) {
            return Err(Fault::new("length", "is zero; give a time above zero"));
        }
        Ok(())
    }

    fn check_over(&self, transport: &dyn Protocol) -> Result<(), Fault> {
        let beside = transport.datagram();
        if beside.is_none() && transport.flow_control() != FlowControl::None {
            let cure = "voice needs datagrams; give [transport] protocol = \"udp\" or \"quic\"";
            return Err(Fault::new("type", cure));
        }
        let bytes = self.codec.data().payload + RTP;
        let most = beside.unwrap_or(transport.payload());
        if most.0 < bytes {
            let message = format!(
                "a packet of this codec has {bytes} bytes, but the payload is at most {} bytes; \
                 give a larger [transport] packet",
                most.0
            );
            return Err(Fault::new("codec", message));
        }
        Ok(())
    }

    fn sends_messages(&self) -> bool {
        true
    }

    fn start(&self, start: Instant, _: Bytes) -> Box<dyn Traffic> {
        Box::new(Call { config: *self, start, ..Call::default() })
    }
}

/// One direction of a call.
#[derive(Default)]
struct Call {
    config: Voice,
    start: Instant,
    sent: u64,
    /// Arrival time of each packet; `Instant::MAX` if it has not arrived.
    arrivals: Vec<Instant>,
    /// The packet that arrived first.
    first: Option<u64>,
    /// Packets that arrived within the deadline.
    in_time: u64,
    delay: Distribution,
}

impl Call {
    /// Bytes of an RTP packet.
    fn bytes(&self) -> u64 {
        u64::from(self.config.codec.data().payload + RTP)
    }

    /// Send time of packet `n`: the end of its speech interval.
    fn due(&self, n: u64) -> Instant {
        let interval = self.config.codec.data().interval.as_nanos();
        self.start + Duration::from_nanos(n.saturating_mul(interval))
    }

    /// A packet arrived.
    fn heard(&mut self, now: Instant, number: u64) {
        let place = number as usize;
        if place >= self.arrivals.len() {
            self.arrivals.resize(place + 1, Instant::MAX);
        }
        self.arrivals[place] = now;
        // The first packet that arrives starts the playout, even if earlier ones come later.
        self.first.get_or_insert(number);
        let took = now.saturating_since(self.due(number));
        self.delay.record(took);
        self.in_time += u64::from(deadline::is_met(self.config.deadline, took));
    }

    /// Time from sending to playout, the same for all packets.
    fn lag(&self) -> Option<Duration> {
        let first = self.first?;
        let arrived = *self.arrivals.get(first as usize)?;
        let held = self.config.playout.unwrap_or(PLAYOUT);
        Some(arrived.saturating_since(self.due(first)) + held)
    }

    /// Whether each packet due for playout by `end` was played.
    fn played(&self, end: Instant) -> Vec<bool> {
        let lag = self.lag();
        let of = |n: u64| {
            // Without a packet the playout delay is unknown; the packets sent by `end` are judged.
            let at = self.due(n) + lag.unwrap_or_default();
            let arrived = self.arrivals.get(n as usize).copied().unwrap_or(Instant::MAX);
            (at <= end).then_some(lag.is_some() && arrived <= at)
        };
        (0..self.sent).map_while(of).collect()
    }
}

impl Traffic for Call {
    fn drive(&mut self, _: Instant, sender: &mut dyn Endpoint) -> Option<Instant> {
        sender.write(0, self.bytes(), false);
        self.sent += 1;
        let next = self.due(self.sent);
        let over = |length| next.saturating_since(self.start) >= length;
        if self.config.length.is_some_and(over) {
            sender.close();
            return None;
        }
        Some(next)
    }

    fn arrived(&mut self, now: Instant, what: Arrival) {
        let Arrival::Datagram { start, len } = what else { return };
        let count = u64::from(len) / self.bytes();
        (0..count).for_each(|packet| self.heard(now, start / self.bytes() + packet));
    }

    fn report(&self, metrics: &mut FlowMetrics) {
        let played = self.played(metrics.end);
        let count = played.iter().filter(|&&played| played).count() as u64;
        let judged = played.len() as u64;
        let codec = self.config.codec.data();
        let loss = (judged > 0).then(|| 1.0 - count as f64 / judged as f64);
        let model = self.lag().zip(loss).map(|(lag, loss)| EModel {
            delay_ms: (codec.delay + lag).as_secs_f64() * 1e3,
            impairment: codec.impairment,
            robustness: codec.robustness,
            loss,
            burst_ratio: burst_ratio(&played),
        });
        let mut voice = VoiceMetrics {
            sent: self.sent,
            received: self.delay.count(),
            judged,
            played: count,
            in_time: if self.config.deadline.is_some() { self.in_time } else { count },
            share_in_time: None,
            delay: self.delay.summary(),
            mouth_to_ear: model.map(|model| model.delay_ms),
            burst_ratio: model.map(|model| model.burst_ratio),
            delay_impairment: model.map(|model| model.delay_impairment()),
            loss_impairment: model.map(|model| model.loss_impairment()),
            rating: model.map(|model| model.rating()),
            opinion: model.map(|model| model.opinion()),
        };
        // A call of which nothing was heard has the lowest rating.
        if judged > 0 && count == 0 {
            (voice.rating, voice.opinion) = (voice.rating.or(Some(0.0)), Some(1.0));
        }
        let of = self.config.deadline.map_or(judged, |_| {
            let is_open =
                |n: &u64| deadline::is_open(self.config.deadline, self.due(*n), metrics.end);
            let arrived =
                |n: u64| self.arrivals.get(n as usize).is_some_and(|at| *at < Instant::MAX);
            let open = (0..self.sent).rev().take_while(is_open).filter(|&n| !arrived(n)).count();
            self.sent - open as u64
        });
        voice.share_in_time = (of > 0).then(|| voice.in_time as f64 / of as f64);
        metrics.voice = Some(voice);
    }
}

/// Mean length of the bursts of losses, divided by that of random losses, 1 / (1 - p) (ITU-T G.107
/// section 7.5); 1 without losses.
fn burst_ratio(played: &[bool]) -> f64 {
    let lost = played.iter().filter(|&&played| !played).count();
    let bursts = played.iter().enumerate();
    let bursts = bursts.filter(|&(n, &own)| !own && (n == 0 || played[n - 1])).count();
    // Without a received packet the length of random bursts is infinite, so the ratio is undefined.
    if bursts == 0 || lost == played.len() {
        return 1.0;
    }
    let received = 1.0 - lost as f64 / played.len() as f64;
    // Random losses of share p come in bursts of 1 / (1 - p) packets on average (G.107, BurstR).
    lost as f64 / bursts as f64 * received
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burst_ratios_match_hand_calculations() {
        let of = |text: &str| burst_ratio(&text.bytes().map(|it| it == b'1').collect::<Vec<_>>());
        assert_eq!(of("1111"), 1.0);
        assert_eq!(of("0000"), 1.0);
        // Two bursts, of two and one: 1.5 x 7/10.
        assert!((of("1100111011") - 1.05).abs() < 1e-12);
        assert!((of("0011111111") - 1.6).abs() < 1e-12);
    }
}
