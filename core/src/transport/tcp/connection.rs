//! Both ends of a TCP connection as the engine drives them.

use rand_chacha::ChaCha8Rng;

use super::{TcpConfig, TcpReceiver, TcpSender};
use crate::transport::bodies::Bodies;
use crate::transport::{
    Connection, End, Endpoint, FlowControl, Packet, Protocol, ProtocolError, Received, Report,
    Segment, Window,
};
use crate::units::{Bytes, Instant};

impl Protocol for TcpConfig {
    fn name(&self) -> &'static str {
        "tcp"
    }

    fn check(&self) -> Result<(), ProtocolError> {
        self.check().map_err(|error| ProtocolError(error.to_string()))
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
        Box::new(TcpConnection {
            sender: TcpSender::with_rng(self, rng),
            receiver: TcpReceiver::new(self),
            segments: Bodies::default(),
        })
    }
}

/// A sender, a receiver, and the segments between them.
#[derive(Debug)]
struct TcpConnection {
    sender: TcpSender,
    receiver: TcpReceiver,
    segments: Bodies<Segment>,
}

impl Connection for TcpConnection {
    fn supply(&mut self, bytes: u64) {
        self.sender.supply(bytes);
    }

    fn close(&mut self) {
        self.sender.close();
    }

    fn receive(&mut self, now: Instant, end: End, packet: &Packet) -> Received {
        let segment = &self.segments[packet.body];
        let received = match end {
            End::Receiver => {
                let refused = self.receiver.refused();
                self.receiver.handle_segment(now, segment);
                if self.receiver.refused() > refused { Received::InVain } else { Received::New }
            }
            End::Sender => {
                self.sender.handle_segment(now, segment);
                Received::Ack(segment.ack)
            }
        };
        self.segments.free(packet.body);
        received
    }

    fn discard(&mut self, packet: &Packet) {
        self.segments.free(packet.body);
    }

    fn transmit(&mut self, now: Instant, end: End, packet: &mut Packet) -> bool {
        let segment = self.segments.prepare();
        let any = match end {
            End::Sender => self.sender.transmit_into(now, segment),
            End::Receiver => self.receiver.transmit_into(now, segment),
        };
        if any {
            let Segment { seq, len, wire, first_sent, retransmission, .. } = *segment;
            let body = self.segments.keep();
            *packet =
                Packet { size: Bytes(wire), len, start: seq, first_sent, retransmission, body };
        }
        any
    }

    fn handle_timeout(&mut self, now: Instant, end: End) {
        match end {
            End::Sender => self.sender.handle_timeout(now),
            End::Receiver => self.receiver.handle_timeout(now),
        }
    }

    fn poll_timeout(&self, end: End) -> Option<Instant> {
        match end {
            End::Sender => self.sender.poll_timeout(),
            End::Receiver => self.receiver.poll_timeout(),
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
        }
    }

    fn window(&self) -> Option<Window> {
        Some(Window {
            cwnd: f64::from(self.sender.cwnd()),
            ssthresh: self.sender.ssthresh().map_or(f64::INFINITY, f64::from),
            srtt: self.sender.srtt(),
            in_flight: self.sender.in_flight(),
        })
    }
}

impl TcpReceiver {
    /// Segments that arrived in vain.
    #[inline]
    fn refused(&self) -> u64 {
        let counters = self.counters();
        counters.duplicate_segments + counters.stale_segments
    }
}
