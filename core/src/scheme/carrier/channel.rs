//! The channels of the terminals: losses of slots, and fades.

use super::config::{CarrierOptions, Fades};
use crate::seed::{KeyedRandom, Seed, Stream};
use crate::units::Probability;

/// Bits of a key for a slot or a fade; the others are the terminal's.
const BITS: u32 = 40;

/// The channel of each terminal. Its draws depend on the terminal and the slot only, so that every
/// scheduler meets the same channels.
#[derive(Clone, Debug)]
pub(super) struct Channels {
    loss: f64,
    losses: KeyedRandom,
    fades: Option<Fading>,
}

#[derive(Clone, Debug)]
struct Fading {
    /// Loss, and bytes of a slot, in a fade.
    loss: f64,
    bytes: u32,
    /// Mean duration of a fade and between two fades, ns.
    means: [f64; 2],
    draws: KeyedRandom,
    terminals: Vec<State>,
}

#[derive(Clone, Copy, Debug)]
struct State {
    is_faded: bool,
    /// When the state ends, ns.
    until: i64,
    /// Draws so far.
    drawn: u64,
}

impl Channels {
    pub(super) fn new(options: &CarrierOptions, seed: Seed, number: u32) -> Self {
        let fades = options.fades.filter(|fades| fades.share.get() > 0.0).map(|own| {
            let Fades { share, mean, bytes, loss } = own;
            let draws = KeyedRandom::of(seed.rng(Stream::Control(number)));
            let (mean, share) = (mean.as_nanos() as f64, share.get());
            let means = [mean, mean * (1.0 - share) / share];
            let mut fading = Fading {
                loss: loss.unwrap_or(options.loss).get(),
                bytes: (f64::from(options.slot.0) * bytes.map_or(1.0, Probability::get)) as u32,
                means,
                draws,
                terminals: Vec::new(),
            };
            let starts = (0..options.terminals).map(|terminal| {
                let is_faded = draws.uniform(u64::from(terminal) << BITS) < share;
                let state = State { is_faded: !is_faded, until: 0, drawn: 1 };
                fading.after(terminal as usize, state)
            });
            fading.terminals = starts.collect();
            fading
        });
        let losses = KeyedRandom::of(seed.rng(Stream::Link(number)));
        Self { loss: options.loss.get(), losses, fades }
    }

    /// Whether slots differ in size.
    pub(super) fn fade(&self) -> bool {
        self.fades.is_some()
    }

    /// Bytes that a slot at `time` carries for a terminal in a fade; `None`: it is not in one. Times
    /// of a terminal never fall.
    pub(super) fn faded(&mut self, terminal: usize, time: i64) -> Option<u32> {
        let fades = self.fades.as_mut()?;
        while fades.terminals[terminal].until <= time {
            fades.terminals[terminal] = fades.after(terminal, fades.terminals[terminal]);
        }
        fades.terminals[terminal].is_faded.then_some(fades.bytes)
    }

    /// Whether the slot number `slot` is lost for a terminal.
    pub(super) fn loses(&self, terminal: usize, slot: u64, is_faded: bool) -> bool {
        let loss = self.fades.as_ref().filter(|_| is_faded).map_or(self.loss, |own| own.loss);
        loss > 0.0 && self.losses.uniform((terminal as u64) << BITS | slot) < loss
    }
}

impl Fading {
    /// The state after one that ends.
    fn after(&self, terminal: usize, State { is_faded, until, drawn }: State) -> State {
        let uniform = self.draws.uniform((terminal as u64) << BITS | drawn);
        let lasts = self.means[usize::from(is_faded)] * -libm::log1p(-uniform);
        State { is_faded: !is_faded, until: until + (lasts as i64).max(1), drawn: drawn + 1 }
    }
}
