//! Both ends of a TCP connection, as the engine drives them.

use rand_chacha::ChaCha8Rng;

use super::config::{EcnMode, Profile, TcpConfig};
use super::dialogue::TcpDialogue;
use super::linux::{LinuxReceiver, LinuxSender};
use super::papers::{NoSackSender, PapersReceiver, PapersSender};
use super::shared::counters::{ReceiverCounters, SenderCounters};
use super::split::{Chain, ProxyConfig, SplitDialogue};
use crate::config::Fault;
use crate::transport::{
    Connection, EcnReport, End, Endpoint, FlowControl, Outbox, Packet, Protocol, Received, Report,
    Streams, Window,
};
use crate::units::{Bytes, Instant};

impl Protocol for TcpConfig {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn check(&self) -> Result<(), Fault> {
        Self::check(self)
    }

    fn packet(&self) -> Bytes {
        self.packet
    }

    fn payload(&self) -> Bytes {
        self.mss()
    }

    fn flow_control(&self) -> FlowControl {
        match self.cwnd_max {
            None => FlowControl::Acknowledgements,
            Some(_) => FlowControl::Window,
        }
    }

    fn connect(&self, rng: ChaCha8Rng) -> Box<dyn Connection> {
        match self.profile() {
            Profile::Papers if !self.sack => {
                join(NoSackSender::new(self), PapersReceiver::new(self), false)
            }
            Profile::Papers => join(PapersSender::new(self, rng), PapersReceiver::new(self), false),
            Profile::Linux => {
                let marks = self.ecn_mode() != EcnMode::Off;
                join(LinuxSender::new(self, rng), LinuxReceiver::new(self), marks)
            }
        }
    }

    fn check_proxy(&self, proxy: &ProxyConfig, converses: bool) -> Result<(), Fault> {
        proxy.check(self)?;
        if converses { proxy.check_dialogue(self) } else { Ok(()) }
    }

    fn split(
        &self,
        proxies: &[ProxyConfig],
        main: usize,
        rngs: Vec<ChaCha8Rng>,
    ) -> Option<Box<dyn Connection>> {
        Some(Box::new(Chain::new(self, proxies, main, rngs)))
    }

    /// The agents of profile `papers` send data in one direction only.
    fn dialogues(&self) -> Option<Streams> {
        (self.profile() == Profile::Linux).then_some(Streams::One)
    }

    fn converse(&self, rng: ChaCha8Rng) -> Option<Box<dyn Connection>> {
        self.dialogues()?;
        Some(Box::new(TcpDialogue::new(self, rng)))
    }

    fn converse_through(
        &self,
        proxies: &[ProxyConfig],
        main: usize,
        rngs: Vec<ChaCha8Rng>,
    ) -> Option<Box<dyn Connection>> {
        self.dialogues()?;
        Some(Box::new(SplitDialogue::new(self, proxies, main, rngs)))
    }
}

/// Operations that a connection needs from a sender of any profile, besides [`Endpoint`].
pub(super) trait Sender: Endpoint + Send + 'static {
    fn supply(&mut self, bytes: u64);
    fn close(&mut self);
    fn open(&mut self);
    fn acknowledged(&self) -> u64;
    fn counters(&self) -> &SenderCounters;
    fn window(&self) -> Window;
}

/// Operations that a connection needs from a receiver of any profile, besides [`Endpoint`].
pub(super) trait Receiver: Endpoint + Send + 'static {
    fn received(&self) -> u64;
    fn permit(&mut self, edge: u64, tell: bool);
    fn counters(&self) -> &ReceiverCounters;
}

macro_rules! senders {
    ($($sender:ty),+) => {$(
        impl Sender for $sender {
            fn supply(&mut self, bytes: u64) {
                self.supply(bytes);
            }

            fn close(&mut self) {
                self.close();
            }

            fn open(&mut self) {
                self.open();
            }

            fn acknowledged(&self) -> u64 {
                self.acknowledged()
            }

            fn counters(&self) -> &SenderCounters {
                self.counters()
            }

            fn window(&self) -> Window {
                Window {
                    cwnd: f64::from(self.cwnd()),
                    ssthresh: self.ssthresh().map_or(f64::INFINITY, f64::from),
                    srtt: self.srtt(),
                    in_flight: self.in_flight(),
                }
            }
        }
    )+};
}

macro_rules! receivers {
    ($($receiver:ty),+) => {$(
        impl Receiver for $receiver {
            fn received(&self) -> u64 {
                self.received()
            }

            fn permit(&mut self, edge: u64, tell: bool) {
                self.permit(edge, tell);
            }

            fn counters(&self) -> &ReceiverCounters {
                self.counters()
            }
        }
    )+};
}

senders!(PapersSender, NoSackSender, LinuxSender);
receivers!(PapersReceiver, LinuxReceiver);

/// A sender and a receiver.
#[derive(Debug)]
pub(super) struct TcpConnection<S, R> {
    pub(super) sender: S,
    pub(super) receiver: R,
    /// True if explicit congestion notification is in use.
    marks: bool,
}

impl<S, R> TcpConnection<S, R> {
    pub(super) fn new(sender: S, receiver: R, marks: bool) -> Self {
        Self { sender, receiver, marks }
    }
}

fn join(sender: impl Sender, receiver: impl Receiver, marks: bool) -> Box<dyn Connection> {
    Box::new(TcpConnection { sender, receiver, marks })
}

impl<S: Sender, R: Receiver> Connection for TcpConnection<S, R> {
    fn supply(&mut self, bytes: u64) {
        self.sender.supply(bytes);
    }

    fn close(&mut self) {
        self.sender.close();
    }

    fn open(&mut self) {
        self.sender.open();
    }

    fn permit(&mut self, edge: u64, tell: bool) {
        self.receiver.permit(edge, tell);
    }

    fn receive(&mut self, now: Instant, end: End, packet: &Packet) -> Received {
        let segment = &packet.segment;
        let refused = |receiver: &R| {
            let counters = receiver.counters();
            counters.duplicate_segments + counters.stale_segments
        };
        match end {
            End::Receiver => {
                let before = refused(&self.receiver);
                self.receiver.handle_segment(now, segment);
                let in_vain = refused(&self.receiver) > before;
                Received::Data { in_vain, delivered: self.receiver.received() }
            }
            End::Sender => {
                self.sender.handle_segment(now, segment);
                Received::Ack(segment.ack)
            }
        }
    }

    fn discard(&mut self, _: &Packet) {}

    fn transmit(&mut self, now: Instant, end: End, outbox: &mut Outbox) -> Option<Instant> {
        match end {
            End::Sender => transmit(&mut self.sender, now, 0, outbox),
            End::Receiver => transmit(&mut self.receiver, now, 0, outbox),
        }
    }

    fn handle_timeout(&mut self, now: Instant, end: End) {
        match end {
            End::Sender => handle_timeout(&mut self.sender, now),
            End::Receiver => handle_timeout(&mut self.receiver, now),
        }
    }

    fn in_order(&self) -> bool {
        true
    }

    fn delivered(&self) -> u64 {
        self.receiver.received()
    }

    fn acknowledged(&self) -> Option<u64> {
        Some(self.sender.acknowledged())
    }

    fn report(&self) -> Report {
        let (sender, receiver) = (self.sender.counters(), self.receiver.counters());
        Report {
            bytes_sent: sender.bytes_sent,
            bytes_received: receiver.distinct_bytes,
            sent: sender.segments_sent,
            retransmissions: sender.retransmissions,
            by_retransmissions: sender.acknowledged_by_transmissions,
            spurious_retransmissions: receiver.duplicate_segments,
            stale: receiver.stale_segments,
            timeouts: sender.timeouts,
            fast_retransmits: sender.fast_retransmits,
            recovery_entries: sender.recovery_entries_by_dupacks,
            duplicate_acks: sender.duplicate_acks,
            window_reductions: sender.cwnd_reductions,
            undo_events: sender.undo_events,
            reordering: u64::from(receiver.max_reordering),
            ecn: self.marks.then_some(EcnReport {
                marked: receiver.marked_segments,
                arrived: receiver.segments_received,
                reductions: sender.ecn_reductions,
            }),
        }
    }

    fn window(&self) -> Option<Window> {
        Some(self.sender.window())
    }
}

#[inline(always)]
pub(super) fn transmit(
    end: &mut impl Endpoint,
    now: Instant,
    body: u32,
    outbox: &mut Outbox,
) -> Option<Instant> {
    loop {
        let packet = outbox.draft();
        if !end.transmit_into(now, &mut packet.segment) {
            return end.poll_timeout();
        }
        packet.size = Bytes(packet.segment.wire);
        packet.len = packet.segment.len;
        packet.start = packet.segment.seq;
        packet.first_sent = packet.segment.first_sent;
        packet.retransmission = packet.segment.retransmission;
        packet.ecn = packet.segment.ecn;
        packet.body = body;
        outbox.send();
    }
}

/// Ignores a timeout that has been moved since the host scheduled it.
pub(super) fn handle_timeout(end: &mut impl Endpoint, now: Instant) {
    if end.poll_timeout().is_some_and(|at| at <= now) {
        end.handle_timeout(now);
    }
}
