//! Datagrams without acknowledgement: what a constant-rate source over UDP does.

use crate::transport::{Endpoint, Segment};
use crate::units::{Bytes, Instant};

/// IPv4 and UDP headers.
pub const HEADER: u32 = 28;

/// Sends whatever the application hands over, at once, in packets of at most one size.
///
/// ```
/// use clift::transport::Endpoint;
/// use clift::transport::datagram::DatagramSender;
/// use clift::units::{Bytes, Instant};
/// let mut sender = DatagramSender::new(Bytes(1500));
/// sender.supply(2000);
/// let sizes: Vec<u32> =
///     std::iter::from_fn(|| sender.poll_transmit(Instant::ZERO)).map(|s| s.wire).collect();
/// assert_eq!(sizes, [1500, 556]);
/// ```
#[derive(Clone, Debug)]
pub struct DatagramSender {
    payload: u32,
    next: u64,
    supplied: u64,
    sent: u64,
    wire_bytes: u64,
}

impl DatagramSender {
    /// A source of IP packets of at most `packet` bytes, headers included (at least 29).
    pub fn new(packet: Bytes) -> Self {
        Self {
            payload: packet.0.saturating_sub(HEADER).max(1),
            next: 0,
            supplied: 0,
            sent: 0,
            wire_bytes: 0,
        }
    }

    /// The application hands over `bytes` of payload.
    pub fn supply(&mut self, bytes: u64) {
        self.supplied = self.supplied.saturating_add(bytes);
    }

    /// Packets sent so far.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Bytes sent so far, headers included.
    pub fn wire_bytes(&self) -> u64 {
        self.wire_bytes
    }
}

impl Endpoint for DatagramSender {
    fn handle_segment(&mut self, _: Instant, _: &Segment) {}

    fn handle_timeout(&mut self, _: Instant) {}

    fn transmit_into(&mut self, now: Instant, segment: &mut Segment) -> bool {
        let left = self.supplied - self.next;
        if left == 0 {
            return false;
        }
        let len = left.min(u64::from(self.payload)) as u32;
        *segment = Segment {
            seq: self.next,
            len,
            wire: len + HEADER,
            ts_val: now,
            first_sent: now,
            ..Segment::default()
        };
        self.next += u64::from(len);
        self.sent += 1;
        self.wire_bytes += u64::from(segment.wire);
        true
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

/// Counts what arrives; answers nothing. Datagrams are never sent twice.
#[derive(Clone, Debug, Default)]
pub struct DatagramReceiver {
    received: u64,
    bytes: u64,
    wire_bytes: u64,
}

impl DatagramReceiver {
    /// Packets received so far.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Payload bytes received so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes received so far, headers included.
    pub fn wire_bytes(&self) -> u64 {
        self.wire_bytes
    }
}

impl Endpoint for DatagramReceiver {
    fn handle_segment(&mut self, _: Instant, segment: &Segment) {
        self.received += 1;
        self.bytes += u64::from(segment.len);
        self.wire_bytes += u64::from(segment.wire);
    }

    fn handle_timeout(&mut self, _: Instant) {}

    fn transmit_into(&mut self, _: Instant, _: &mut Segment) -> bool {
        false
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}
