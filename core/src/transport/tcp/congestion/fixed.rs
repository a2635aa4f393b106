//! A window that stays as it is.

use super::{Ack, CongestionControl, Loss, Reduction, Window};

/// So many segments whatever is lost, as proxies have it whose share of the link is reserved. Only a
/// timeout makes the sender begin with one segment, until the next acknowledgement.
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
