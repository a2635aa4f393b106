//! HARQ of type II.

pub(super) mod law;
pub(super) mod live;
pub(super) mod open;
