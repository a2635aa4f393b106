//! The halves of a TCP endpoint: the one that sends data, and the one that acknowledges them.

use crate::transport::tcp::shared::counters::{ReceiverCounters, SenderCounters};
use crate::transport::train::Train;
use crate::transport::{EndpointChange, Limit, Outbox, Segment, Window};
use crate::units::{Duration, Instant};

/// What both halves do.
///
/// Call order: after [`Half::handle_segment`] or [`Half::handle_timeout`], call
/// [`Half::transmit_into`] until it returns false, then call [`Half::poll_timeout`] again.
/// `now` never decreases.
pub(super) trait Half: Send + 'static {
    /// True if the half does not exist.
    const ABSENT: bool = false;

    /// Handles a segment from the peer.
    fn handle_segment(&mut self, now: Instant, segment: &Segment);

    /// Handles the timeout that [`Half::poll_timeout`] returned. An early call has no effect.
    fn handle_timeout(&mut self, now: Instant);

    /// Writes the next segment to send at `now` into `segment`. Returns false if there is nothing
    /// to send; the value of `segment` is then unspecified.
    fn transmit_into(&mut self, now: Instant, segment: &mut Segment) -> bool;

    /// The next segment to send at `now`, if any.
    #[cfg(test)]
    fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        let mut segment = Segment::default();
        self.transmit_into(now, &mut segment).then_some(segment)
    }

    /// When [`Half::handle_timeout`] must be called. Every call may change this time.
    fn poll_timeout(&self) -> Option<Instant>;

    /// [`Endpoint::answer_all`](crate::transport::Endpoint::answer_all) from the arrival `first` on, as long
    /// as the expected segments come and nothing else is to be done: header prediction (Jacobson, 1990).
    /// Returns the number of the first arrival that it does not answer. The results are the same as one by one.
    fn answer_expected(&mut self, first: usize, _: &mut Train, _: &mut Outbox) -> usize {
        first
    }
}

/// The half that sends.
pub(super) trait Sender: Half {
    /// The application supplies `bytes` more; `u64::MAX` means data without end. They leave in full
    /// segments, the last one possibly short. Ignored after [`Sender::close`].
    fn supply(&mut self, bytes: u64);

    /// The application supplies no more data. An endless supply ends with the data already sent.
    fn close(&mut self);

    /// Starts the handshake, if there is one. New data do so too.
    fn open(&mut self) {}

    /// First unacknowledged byte.
    fn acknowledged(&self) -> u64;

    fn counters(&self) -> &SenderCounters;

    fn limit(&self) -> Limit;

    /// Congestion window in segments. While rate halving (profile `papers`) reduces the window,
    /// more segments than this are in flight.
    fn cwnd(&self) -> u32;

    /// Slow-start threshold in segments; `None` before the first reduction.
    fn ssthresh(&self) -> Option<u32>;

    /// Segments estimated to be in flight.
    fn in_flight(&self) -> u64;

    /// Smoothed round-trip time. `None` before the first sample, and in profile `papers` after four
    /// consecutive timeouts.
    fn srtt(&self) -> Option<Duration>;

    fn window(&self) -> Window {
        Window {
            cwnd: f64::from(self.cwnd()),
            ssthresh: self.ssthresh().map_or(f64::INFINITY, f64::from),
            srtt: self.srtt(),
            in_flight: self.in_flight(),
        }
    }

    /// True if data may be sent.
    fn is_established(&self) -> bool {
        true
    }

    /// Handles the ACK that completes a passive handshake. The SYN-ACK was sent `answers` times,
    /// last `since` ago.
    fn accept(&mut self, _now: Instant, _since: Duration, _answers: u32) {}

    /// Bytes supplied and not sent yet.
    fn unsent(&self) -> u64 {
        0
    }

    /// Whether the application has more data that it does not hand over yet: the connection is one
    /// path of several. Its window then limits it as if the data waited here.
    fn expect(&mut self, _more: bool) {}

    /// As [`Endpoint::change`](crate::transport::Endpoint::change).
    fn change(&mut self, _now: Instant, _change: &EndpointChange) -> bool {
        false
    }
}

/// The half that receives.
pub(super) trait Receiver: Half {
    /// Next byte expected; all bytes below were delivered to the application.
    fn received(&self) -> u64;

    /// Sets the receive window: the application accepts bytes below `edge`. With `tell`, an
    /// acknowledgement says so at once.
    fn permit(&mut self, edge: u64, tell: bool);

    fn counters(&self) -> &ReceiverCounters;

    /// This end opened the connection and received the SYN-ACK; `rtt` is the time since the SYN, if
    /// known.
    fn accept(&mut self, _now: Instant, _rtt: Option<Duration>) {}

    /// This end sends data. A delayed ACK leaves with them.
    fn on_reply(&mut self, _now: Instant) {}
}

/// In place of a half that never does anything: data go one way.
#[derive(Debug, Default)]
pub(super) struct Absent {
    sent: SenderCounters,
    received: ReceiverCounters,
}

impl Half for Absent {
    const ABSENT: bool = true;

    fn handle_segment(&mut self, _: Instant, _: &Segment) {}

    fn handle_timeout(&mut self, _: Instant) {}

    fn transmit_into(&mut self, _: Instant, _: &mut Segment) -> bool {
        false
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

impl Sender for Absent {
    fn supply(&mut self, _: u64) {}

    fn close(&mut self) {}

    fn acknowledged(&self) -> u64 {
        0
    }

    fn counters(&self) -> &SenderCounters {
        &self.sent
    }

    fn limit(&self) -> Limit {
        Limit::Application
    }

    fn cwnd(&self) -> u32 {
        0
    }

    fn ssthresh(&self) -> Option<u32> {
        None
    }

    fn in_flight(&self) -> u64 {
        0
    }

    fn srtt(&self) -> Option<Duration> {
        None
    }

    fn is_established(&self) -> bool {
        false
    }
}

impl Receiver for Absent {
    fn received(&self) -> u64 {
        0
    }

    fn permit(&mut self, _: u64, _: bool) {}

    fn counters(&self) -> &ReceiverCounters {
        &self.received
    }
}
