//! TCP connections that end at proxies (RFC 3135 section 3.1.1.1: split connections).

mod config;
mod window;

pub use config::{Pep, ProxyConfig};
pub(super) use window::{TellWindow, Windowed};
