//! Land mobile satellite channels: a vehicle terminal that receives a satellite.
//!
//! From the level to the slots, in processing order:
//!
//! 1. [`Shadowing`] along the road: states, their lengths and transitions ([`TwoState`] of ITU-R
//!    P.681, [`ThreeState`] of Perez-Fontan, [`IsolatedTrees`], or one steady [`Loo`] state), with
//!    the parameters of [`Propagation`];
//! 2. [`Fading`]: lognormal shadowing correlated over distance, plus multipath whose Doppler
//!    spectrum is that of isotropic scattering at the terminal's speed ([`Motion`]);
//! 3. [`Receiver`]: mutual information of the [`Modulation`], averaged over the symbols of a code
//!    word as the [`Interleaver`] spreads them, and the [`Code`]'s PER of that mean;
//! 4. [`Synthesis`]: slots, one uniform draw deciding the fate of each.
//!
//! [`Preset`] has the channels of the papers, [`Options`] replaces parts of a preset, and
//! [`LandMobile`] is the resulting channel. A measured [`Series`] of levels uses the same receiver.

mod channel;
mod code;
mod csv;
mod decoder;
mod fading;
mod gaussian;
mod information;
mod level_cdf;
mod loo;
mod multipath;
mod named;
mod options;
mod preset;
mod receiver;
mod samples;
mod series;
mod shadowing;
mod synthesis;
mod tables;
mod three_state;
mod trees;
mod two_state;

pub use channel::{LandMobile, Motion, Reference};
pub use code::{Code, CodeName};
pub use decoder::Decoder;
pub use fading::Fading;
pub use information::Modulation;
pub use loo::Loo;
pub use options::{LooState, Options, PerAxis, Tables};
pub use preset::Preset;
pub use receiver::{Interleaver, Receiver};
pub use series::Series;
pub use shadowing::{Law, Segment, Shadowing};
pub use synthesis::{SlotColumns, Synthesis};
pub use tables::{Environment, Propagation};
pub use three_state::{ChainState, ThreeState};
pub use trees::IsolatedTrees;
pub use two_state::{EventState, TwoState};

use crate::config::Fault;

/// Returns `value` of the key `name` if it is from `low` to `high`.
fn within(name: &str, value: f64, low: f64, high: f64, wanted: &str) -> Result<f64, Fault> {
    let fits = (low..=high).contains(&value);
    fits.then_some(value).ok_or_else(|| Fault::new(name, out_of_range(value, wanted)))
}

fn out_of_range(value: impl std::fmt::Display, wanted: &str) -> String {
    format!("{value} is out of range; give {wanted}")
}
