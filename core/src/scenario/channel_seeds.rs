//! Seeds of the channels of a link.

use rand::Rng;

use crate::seed::{Seed, Stream};

/// What the channels of a link in a replication take their seeds from.
#[derive(Clone, Copy)]
pub(super) struct ChannelSeeds<'a> {
    /// The seed of the replication.
    pub(super) run: Seed,
    /// The seed of the scenario.
    pub(super) scenario: Seed,
    /// Number of the link, forward links first.
    pub(super) link: u32,
    /// Its name and direction, in a network.
    pub(super) named: Option<&'a (String, u32)>,
}

impl ChannelSeeds<'_> {
    /// The seed of the channel under the link; each link has its own.
    pub(super) fn channel(&self, given: Option<u64>, redraw: bool) -> u64 {
        let base = given.map_or_else(|| self.shared(redraw), Seed);
        match (self.named, self.link) {
            (Some((name, direction)), _) => base.of_link(name, *direction).0,
            (None, 0) => base.0,
            (None, 1..) => base.rng(Stream::Channel(self.link)).next_u64(),
        }
    }

    /// The seed of the channel that loses the reports of the link.
    pub(super) fn feedback(&self, given: Option<u64>, redraw: bool) -> u64 {
        given.unwrap_or_else(|| {
            let shared = self.shared(redraw);
            let (seed, number) = match self.named {
                Some((name, direction)) => (shared.of_link(name, *direction), 0),
                None => (shared, self.link),
            };
            seed.rng(Stream::FeedbackChannel(number)).next_u64()
        })
    }

    fn shared(&self, redraw: bool) -> Seed {
        if redraw { self.run } else { self.scenario }
    }
}
