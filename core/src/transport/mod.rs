//! Stage 4: transports, state machines without I/O, clock or knowledge of links.

pub mod datagram;
pub mod segment;
pub mod tcp;

pub use segment::{SackBlock, SackList, Segment};

use crate::units::Instant;

/// One end of a transport connection.
///
/// Call order: after anything was handed in ([`Endpoint::handle_segment`],
/// [`Endpoint::handle_timeout`]), call [`Endpoint::poll_transmit`] until it returns `None`, then
/// ask [`Endpoint::poll_timeout`] anew. `now` never falls.
pub trait Endpoint {
    /// A segment from the peer arrived.
    fn handle_segment(&mut self, now: Instant, segment: &Segment);

    /// The instant named by [`Endpoint::poll_timeout`] has come (calling early does no harm).
    fn handle_timeout(&mut self, now: Instant);

    /// Writes the next segment to send now to where the host wants it; says whether there is one.
    ///
    /// Without one, what `segment` holds has no meaning.
    fn transmit_into(&mut self, now: Instant, segment: &mut Segment) -> bool;

    /// The next segment to send now.
    fn poll_transmit(&mut self, now: Instant) -> Option<Segment> {
        let mut segment = Segment::default();
        self.transmit_into(now, &mut segment).then_some(segment)
    }

    /// When [`Endpoint::handle_timeout`] must be called; may move with every call.
    fn poll_timeout(&self) -> Option<Instant>;
}
