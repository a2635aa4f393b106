//! Profile `papers`: the agents of ns-2.35, on which the papers built.
//!
//! `sender` is `Agent/TCP/Linux`: `scoreboard` finds losses by FACK distance, `rtt` keeps the
//! retransmission timeout, `congestion` the window, `rate_halving` the way down to it. `no_sack`
//! is `Agent/TCP/Newreno`, which does without SACK. `receiver` is `Agent/TCPSink/Sack1`, and
//! `Agent/TCPSink` without SACK.

pub(super) mod congestion;
mod no_sack;
mod rate_halving;
mod receiver;
mod rtt;
mod scoreboard;
mod sender;

pub(super) use no_sack::NoSackSender;
pub(super) use receiver::PapersReceiver;
pub(super) use sender::PapersSender;
