//! Several hops as the medium of one link, for coding around them.

use std::sync::Arc;

use crate::config::Fault;
use crate::link::{BuiltLink, Coding, Propagation};
use crate::scheme::{Building, LinkConfig, Medium};
use crate::simulation::setup::Hop;
use crate::simulation::way::Way;
use crate::units::{Bytes, Duration};

/// A stretch of a path: consecutive hops that one code protects.
///
/// ```
/// use clift::link::Coding;
/// use clift::simulation::{Hop, LegConfig, Stretch};
/// use clift::units::Duration;
/// let leg = |ms| Hop::Leg(LegConfig::of_delay(Duration::from_millis(ms)));
/// let Hop::Link(link) = Stretch::coded(vec![leg(5), leg(20)], Coding::default()) else {
///     panic!("a link")
/// };
/// assert!(link.coding.is_some() && link.medium.get::<Stretch>().is_some());
/// ```
#[derive(Clone, Debug)]
pub struct Stretch {
    pub(super) hops: Vec<Hop>,
}

impl Stretch {
    /// `hops` between the encoder and the decoder of `coding`.
    pub fn coded(mut hops: Vec<Hop>, coding: Coding) -> Hop {
        let coding = Some(coding);
        if let [Hop::Link(link)] = &mut hops[..] {
            return Hop::Link(LinkConfig { coding, ..link.clone() });
        }
        Hop::Link(LinkConfig { coding, ..LinkConfig::new(Arc::new(Self { hops })) })
    }
}

impl Hop {
    /// Numbers of random streams that the hop takes: one, or one for each hop of a stretch, so that
    /// its hops draw the same as without coding.
    pub(super) fn streams(&self) -> u32 {
        let Self::Link(link) = self else { return 1 };
        let stretch = link.medium.get::<Stretch>();
        stretch.map_or(1, |own| own.hops.iter().map(Self::streams).sum())
    }

    /// Hops with the number of the first stream of each, which counts from `first`.
    pub(super) fn numbered<'h>(
        hops: impl IntoIterator<Item = &'h Self>,
        first: u32,
    ) -> impl Iterator<Item = (&'h Self, u32)> {
        hops.into_iter().scan(first, |next, hop| {
            let number = *next;
            *next += hop.streams();
            Some((hop, number))
        })
    }
}

impl Medium for Stretch {
    fn build(self: Arc<Self>, with: Building<'_>) -> Result<BuiltLink, Fault> {
        let Building { usage, seed, number, .. } = with;
        Ok(Box::new(Way::until(&self.hops, seed, number, usage.duration)?))
    }

    /// Where several delays vary, their longest values count.
    fn way_back(&self) -> Propagation {
        let mut legs = Hop::way_back(&self.hops).into_iter().filter_map(|hop| match hop {
            Hop::Leg(leg) => Some(leg.delay),
            Hop::Link(_) => None,
        });
        match (legs.next(), legs.next()) {
            (None, _) => Propagation::Fixed(Duration::ZERO),
            (Some(only), None) => only,
            (Some(first), Some(second)) => {
                let others = [first, second].into_iter().chain(legs);
                let longest = others.map(|delay| delay.longest());
                Propagation::Fixed(longest.fold(Duration::ZERO, |sum, delay| sum + delay))
            }
        }
    }

    fn reads_streams(&self) -> bool {
        self.hops.iter().any(Hop::reads_streams)
    }

    fn largest_packet(&self) -> Option<Bytes> {
        let of_link = |hop: &Hop| match hop {
            Hop::Link(link) => link.largest_packet(),
            Hop::Leg(_) => None,
        };
        self.hops.iter().filter_map(of_link).min()
    }
}
