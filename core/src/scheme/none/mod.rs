//! No scheme: what is erased is lost.

pub(super) mod law;
pub(super) mod live;
pub(super) mod open;
