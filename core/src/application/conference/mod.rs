//! A conference: video in real time, whose rate Google Congestion Control sets.

mod control;
mod delay;

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::session::{Connections, Session};
use super::{Application, deadline};
use crate::config::Fault;
use crate::metrics::{ConferenceMetrics, Distribution, FlowMetrics};
use crate::transport::{End, Protocol, Streams};
use crate::units::{BitRate, Bytes, Duration, Instant};
use control::{Controller, Report};
use delay::BURST;

/// Video of one direction of a conference, over UDP: frames in RTP packets without retransmission,
/// at the rate that Google Congestion Control sets (draft-ietf-rmcat-gcc-02; Carlucci et al. 2016),
/// with both of its controllers at the sender.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Conference {
    /// Conference: rate at the start. Default: 300 kbit/s.
    pub start_rate: Option<BitRate>,
    /// Conference: lowest rate of the encoder. Default: 100 kbit/s.
    pub min_rate: Option<BitRate>,
    /// Conference: highest rate of the encoder. Default: 2.5 Mbit/s.
    pub max_rate: Option<BitRate>,
    /// Conference: interval of the receiver's feedback. Default: 100 ms.
    pub feedback: Option<Duration>,
    /// Conference: maximum delay of a frame from the camera to its last packet's arrival, to count
    /// as in time. Without it, all complete frames are in time.
    pub deadline: Option<Duration>,
}

/// Defaults of the rates, bit/s: start, lowest, highest.
const RATES: [u64; 3] = [300_000, 100_000, 2_500_000];
/// Limits of the rates, bit/s: a frame has more bytes than a header, and feedback fits a packet.
const LIMITS: [u64; 2] = [10_000, 100_000_000];
const FEEDBACK: Duration = Duration::from_millis(100);
const FRAMES_PER_SECOND: u64 = 30;
/// Bytes of the largest RTP packet (draft-ietf-rmcat-gcc-02, section 5.5).
const PACKET: u32 = 1200;
/// Bytes of a feedback message without packets, and for each of them (RFC 8888 section 3.1).
const FEEDBACK_HEADER: u64 = 20;
const FEEDBACK_PACKET: u64 = 2;
/// The shortest time between two pictures that is a freeze: one interval and 150 ms more, as in
/// `freezeCount` of the W3C's "Identifiers for WebRTC's Statistics API".
const FREEZE: Duration = Duration::from_nanos(1_000_000_000 / FRAMES_PER_SECOND + 150_000_000);

impl Conference {
    /// Rates in bit/s: start, lowest, highest.
    fn rates(&self) -> [u64; 3] {
        let given = [self.start_rate, self.min_rate, self.max_rate];
        std::array::from_fn(|of| given[of].map_or(RATES[of], BitRate::bits_per_second))
    }

    fn feedback(&self) -> Duration {
        self.feedback.unwrap_or(FEEDBACK)
    }
}

impl Application for Conference {
    fn check(&self) -> Result<(), Fault> {
        let [start, least, most] = self.rates();
        for (key, rate) in [("min_rate", least), ("max_rate", most)] {
            if !(LIMITS[0]..=LIMITS[1]).contains(&rate) {
                return Err(Fault::new(key, "out of range; give 10 kbit/s to 100 Mbit/s"));
            }
        }
        if !(least..=most).contains(&start) {
            let message = format!(
                "{} kbit/s is not within min_rate and max_rate, {} and {} kbit/s",
                start / 1000,
                least / 1000,
                most / 1000
            );
            return Err(Fault::new("start_rate", message));
        }
        let feedback = self.feedback();
        if feedback < Duration::from_millis(10) || feedback > Duration::from_secs(1) {
            return Err(Fault::new("feedback", format!("{feedback}; give 10 ms to 1 s")));
        }
        Ok(())
    }

    fn check_over(&self, transport: &dyn Protocol) -> Result<(), Fault> {
        if transport.dialogues() != Some(Streams::Datagrams) {
            let cure = "a conference runs over UDP only; give [transport] protocol = \"udp\"";
            return Err(Fault::new("type", cure));
        }
        if transport.payload() < Bytes(PACKET) {
            let message = format!(
                "packets of a conference have up to {PACKET} bytes, but the payload is at most {}; \
                 give a larger [transport] packet",
                transport.payload().0
            );
            return Err(Fault::new("type", message));
        }
        Ok(())
    }

    fn is_session(&self) -> bool {
        true
    }

    fn session(&self, start: Instant, _: Streams) -> Option<Box<dyn Session>> {
        let [first, least, most] = self.rates().map(|rate| rate as f64);
        Some(Box::new(Call {
            config: *self,
            start,
            controller: Controller::new(start, first, [least, most]),
            frames: Vec::new(),
            rates: 0.0,
            pacer: VecDeque::new(),
            paced: start,
            packets: Vec::new(),
            reports: Vec::new(),
            report: Report::default(),
            report_at: None,
            screen: Screen::default(),
        }))
    }
}

/// One direction of a conference, both ends.
struct Call {
    config: Conference,
    start: Instant,
    controller: Controller,
    frames: Vec<Frame>,
    /// Sum of the rates at which the frames were encoded, bit/s.
    rates: f64,
    /// Packets of frames that wait to be sent: frame, bytes.
    pacer: VecDeque<(u32, u64)>,
    /// When the pacer lets the next one go.
    paced: Instant,
    /// Packets sent, by number.
    packets: Vec<Packet>,
    /// Reports that the receiver sent, by number.
    reports: Vec<Report>,
    /// What the receiver will report next, and when.
    report: Report,
    report_at: Option<Instant>,
    screen: Screen,
}

/// A frame of the video.
struct Frame {
    captured: Instant,
    /// Packets that have not arrived.
    missing: u64,
}

/// What the header of a packet tells the receiver: frame, send time.
#[derive(Clone, Copy)]
struct Packet {
    frame: u32,
    sent: Instant,
}

impl Call {
    /// Capture time of frame `n`.
    fn capture(&self, n: usize) -> Instant {
        let nanos = u128::from(n as u64) * 1_000_000_000 / u128::from(FRAMES_PER_SECOND);
        self.start + Duration::from_nanos(nanos as u64)
    }

    /// Encodes a frame at the current rate, into packets of one size.
    fn encode(&mut self, captured: Instant) {
        let rate = self.controller.rate();
        self.rates += rate;
        let bytes = (rate / 8.0 / FRAMES_PER_SECOND as f64).round() as u64;
        let count = bytes.div_ceil(u64::from(PACKET));
        let frame = self.frames.len() as u32;
        self.pacer.extend((0..count).map(|n| (frame, (n + 1) * bytes / count - n * bytes / count)));
        self.frames.push(Frame { captured, missing: count });
    }

    /// Sends the packets that the pacer lets go: every 5 ms, a group as large as the rate allows
    /// (section 4 of the draft). Returns when it lets the next ones go.
    fn pace(&mut self, now: Instant, connections: &mut dyn Connections) -> Option<Instant> {
        while let Some(&(frame, bytes)) = self.pacer.front()
            && self.paced <= now
        {
            self.pacer.pop_front();
            let number = self.packets.len() as u32;
            self.packets.push(Packet { frame, sent: now });
            connections.take(0).server.write(number, bytes, true);
            let nanos = bytes as f64 * 8e9 / self.controller.rate();
            self.paced = self.paced + Duration::from_nanos(nanos as u64);
        }
        let ticks = self.paced.saturating_since(self.start).as_nanos().div_ceil(BURST.as_nanos());
        let tick = self.start + Duration::from_nanos(ticks * BURST.as_nanos());
        (!self.pacer.is_empty()).then_some(tick)
    }

    /// A packet reaches the receiver.
    fn received(&mut self, now: Instant, number: u32, bytes: u64) {
        let Some(&Packet { frame, sent }) = self.packets.get(number as usize) else { return };
        self.report.packets.push((sent, now, bytes));
        self.report.expected = self.report.expected.max(u64::from(number) + 1);
        self.report.received += 1;
        self.report_at.get_or_insert(now + self.config.feedback());
        let Some(own) = self.frames.get_mut(frame as usize) else { return };
        own.missing -= 1;
        if own.missing == 0 {
            let took = now.saturating_since(own.captured);
            self.screen.show(now, frame, took, self.config.deadline);
        }
    }

    /// The receiver sends its feedback.
    fn feed_back(&mut self, now: Instant, connections: &mut dyn Connections) {
        self.report_at = Some(now + self.config.feedback());
        if self.report.packets.is_empty() {
            return;
        }
        let next = Report { packets: Vec::new(), ..self.report };
        let report = Report { at: now, ..std::mem::replace(&mut self.report, next) };
        let bytes = FEEDBACK_HEADER + FEEDBACK_PACKET * report.packets.len() as u64;
        let bytes = bytes.next_multiple_of(4).min(u64::from(PACKET));
        let number = self.reports.len() as u32;
        self.reports.push(report);
        connections.take(0).client.write(number, bytes, true);
    }
}

impl Session for Call {
    fn run(&mut self, now: Instant, connections: &mut dyn Connections) -> Option<Instant> {
        let mut capture = self.capture(self.frames.len());
        while capture <= now {
            if self.pacer.is_empty() {
                self.paced = self.paced.max(now);
            }
            self.encode(capture);
            capture = self.capture(self.frames.len());
        }
        if self.report_at.is_some_and(|at| at <= now) {
            self.feed_back(now, connections);
        }
        let paced = self.pace(now, connections);
        [Some(capture), paced, self.report_at].into_iter().flatten().min()
    }

    fn arrived(
        &mut self,
        now: Instant,
        number: usize,
        end: End,
        connections: &mut dyn Connections,
    ) -> Option<Instant> {
        while let Some(chunk) = connections.take(number).at(end).read() {
            match end {
                End::Receiver => self.received(now, chunk.stream, chunk.bytes),
                End::Sender => {
                    let report = self.reports.get_mut(chunk.stream as usize);
                    let report = report.map(std::mem::take).unwrap_or_default();
                    self.controller.report(now, &report);
                }
            }
        }
        self.run(now, connections)
    }

    fn is_done(&self) -> bool {
        false
    }

    fn report(&self, _: usize, metrics: &mut FlowMetrics) {
        let mut screen = self.screen.clone();
        if let Some((_, last)) = screen.last {
            screen.pause(metrics.end.saturating_since(last));
        }
        let frames = self.frames.len() as u64;
        let deadline = self.config.deadline;
        let is_open = |frame: &&Frame| deadline::is_open(deadline, frame.captured, metrics.end);
        let open = self.frames.iter().rev().take_while(is_open);
        let open = open.filter(|frame| frame.missing > 0).count() as u64;
        metrics.conference = Some(ConferenceMetrics {
            sent: frames,
            received: screen.delay.count(),
            judged: frames - open,
            in_time: screen.in_time,
            delay: screen.delay.summary(),
            packets_sent: self.packets.len() as u64,
            packets_expected: self.report.expected,
            packets_received: self.report.received,
            rate: (frames > 0).then(|| self.rates / frames as f64),
            freezes: screen.freezes,
            frozen: screen.frozen,
            watched: screen.first.map(|first| metrics.end.saturating_since(first)),
        });
    }
}

/// The receiver's screen, which shows a frame once it is complete, unless it showed a later one.
#[derive(Clone, Default)]
struct Screen {
    first: Option<Instant>,
    /// The last picture, and since when it is shown.
    last: Option<(u32, Instant)>,
    delay: Distribution,
    in_time: u64,
    freezes: u64,
    frozen: Duration,
}

impl Screen {
    /// A frame is complete.
    fn show(&mut self, now: Instant, frame: u32, took: Duration, deadline: Option<Duration>) {
        self.delay.record(took);
        self.in_time += u64::from(deadline::is_met(deadline, took));
        self.first.get_or_insert(now);
        match self.last {
            Some((last, _)) if last > frame => return,
            Some((_, since)) => self.pause(now.saturating_since(since)),
            None => {}
        }
        self.last = Some((frame, now));
    }

    /// The next picture comes after this time.
    fn pause(&mut self, time: Duration) {
        if time >= FREEZE {
            self.freezes += 1;
            self.frozen += time;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freezes_are_long_times_between_pictures() {
        let mut screen = Screen::default();
        let mut show = |frame, millis| {
            let now = Instant::ZERO + Duration::from_millis(millis);
            screen.show(now, frame, Duration::from_millis(80), Some(Duration::from_millis(79)));
            (screen.freezes, screen.frozen.as_nanos() / 1_000_000)
        };
        assert_eq!(show(0, 100), (0, 0));
        assert_eq!(show(3, 283), (0, 0)); // 183 ms, a third of a millisecond below the limit
        assert_eq!(show(1, 400), (0, 0)); // too late to be shown
        assert_eq!(show(4, 467), (1, 184));
        assert_eq!(show(9, 1000), (2, 717));
        assert_eq!((screen.delay.count(), screen.in_time), (5, 0));
    }
}
