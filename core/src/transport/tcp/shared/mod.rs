//! What the senders and receivers of both profiles are made of.

pub(super) mod arrivals;
mod bits;
pub(super) mod counters;
pub(super) mod flight;
pub(super) mod reassembly;
pub(super) mod sack_blocks;
pub(super) mod supply;
