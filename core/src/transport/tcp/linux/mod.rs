//! The two ends of a connection as a Linux kernel of today has them (6.x, `tcp_input.c`,
//! `tcp_output.c`, `tcp_recovery.c`), with the RFCs they follow.
//!
//! Sender: `sender` is the connection and `sending` what leaves; `sacks` takes in what an ACK says;
//! `repair` is the state machine Open, Disorder, Recovery, Loss; `timers` are retransmission
//! timeout, tail loss probe and reordering timeout. They share small parts: `rack` (when is a
//! segment lost), `reordering` (how far segments overtake each other), `undo` (was the reduction
//! spurious), `prr` (how the window falls), `rtt`, `window` with `reno`, `cubic` and `hystart`
//! (how it grows), `bbr` with `delivery` and `model` (it follows the path instead), `spacing`,
//! `sent_order` (segments by time of sending), `usage` (is the window the limit).
//!
//! Receiver: `receiver`, with `delayed_ack`.
//!
//! Left out: what depends on the host and not on the path (small queues, segmentation offload,
//! receive-buffer tuning, compression of SACKs within a millisecond), ECN, and FIN: a connection
//! ends with the acknowledgement of its last byte.

mod bbr;
mod cubic;
mod delayed_ack;
mod delivery;
mod hystart;
mod model;
#[cfg(test)]
mod properties;
mod prr;
mod rack;
mod receiver;
mod reno;
mod reordering;
mod repair;
mod rtt;
mod sacks;
mod sender;
mod sending;
mod sent_order;
mod spacing;
mod timers;
mod undo;
mod usage;
mod window;

pub(super) use receiver::LinuxReceiver;
pub(super) use sender::LinuxSender;
