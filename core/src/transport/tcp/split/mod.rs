//! A TCP connection that proxies split (RFC 3135 section 3.1.1.1: split connections): to each end it
//! looks like one, and is a chain of connections, one for each stretch of the way, joined by relays.

mod births;
mod chain;
mod config;
mod dialogue;
mod lane;
mod relay;

pub(super) use chain::Chain;
pub use config::{Pep, ProxyConfig};
pub(super) use dialogue::SplitDialogue;
