//! A constant window.

use super::{Ack, CongestionControl, Loss, Reduction, Window};

/// A constant window of this many segments, regardless of losses, as proxies with a reserved share
/// of the link use. Only after a timeout does the sender continue with one segment, until the next
/// acknowledgement.
#[derive(Debug)]
pub(super) struct Fixed(pub(super) u32);

impl CongestionControl for Fixed {
    fn grow(&mut self, _: &Ack, window: &mut Window) {
        window.set_cwnd(self.0);
    }

    fn reduce(&mut self, _: Loss, _: &Window) -> Reduction {
        Reduction::to(self.0)
    }
}
