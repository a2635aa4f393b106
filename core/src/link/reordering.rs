//! A link with a re-sequencing buffer at its far end.

use crate::link::behind::Behind;
use crate::link::buffer::{LinkOrder, Resequencing};
use crate::link::stream_order::{StreamOrder, StreamRule};
use crate::link::{BuiltLink, InstrumentedLink, Link};

impl<L: Link> Behind<L> {
    /// `inner` followed by an empty buffer that restores the order in which `inner` admitted the
    /// packets, or the order of the byte streams that they carry.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use clift::link::{Behind, Link, Resequencing};
    /// // The buffer of Tauran 2017 (125 packets), on link order.
    /// fn as_tauran(link: impl Link) -> impl Link {
    ///     let packets = NonZeroU32::new(125).unwrap();
    ///     let rule = Resequencing::Bounded { packets, flush_when_full: true, flush_on_loss: true };
    ///     Behind::reordered(link, rule)
    /// }
    /// ```
    pub fn reordered(inner: L, rule: Resequencing) -> Self {
        match rule {
            Resequencing::TcpSequence { packets, flush_when_full, flush_on_loss } => {
                let rule = StreamRule { packets, flush_when_full, flush_on_loss };
                Self::new(inner, StreamOrder::new(rule))
            }
            rule => Self::new(inner, LinkOrder::new(rule)),
        }
    }
}

/// `link` followed by a buffer, if `rule` is given.
pub(crate) fn behind(
    link: impl InstrumentedLink + Send + 'static,
    rule: Option<Resequencing>,
) -> BuiltLink {
    match rule {
        None => Box::new(link),
        Some(rule) => Box::new(Behind::reordered(link, rule)),
    }
}
