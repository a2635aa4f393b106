//! The two ends of a connection as a Linux kernel of today has them (6.x, `tcp_input.c`,
//! `tcp_output.c`, `tcp_recovery.c`), with the RFCs they follow.
//!
//! Sender: `sender` is the connection and what leaves. It takes an ACK through four parts, each
//! with its own state: `scoreboard` (which segments are SACKed, lost or sent again; with `rack`,
//! `reordering`, `sent_order` and `delivery`), `recovery` (the phases Open, Disorder, Recovery and
//! Loss; with `undo`), `congestion` (the window; with its controls), `timers`. `rtt`,
//! `pacing` and `ticks` stand by themselves.
//!
//! Receiver: `receiver`, with `delayed_ack`, `compression` and `receive_buffer`.
//!
//! Left out: what depends on the host and not on the path (small queues, what
//! segmentation offload does to the timing of bursts), ECN, and FIN: a connection
//! ends with the acknowledgement of its last byte.

mod buffers;
mod compression;
mod congestion;
mod delayed_ack;
mod delivery;
mod ecn;
mod pacing;
mod rack;
mod receive_buffer;
mod receiver;
mod recovery;
mod reordering;
mod rtt;
mod scoreboard;
mod sender;
mod sent_order;
mod ticks;
mod timers;
mod undo;

pub(super) use congestion::{
    Bbr, Bbr3, CarefulResume, Cubic, Dctcp, HyStartPlus, Hybla, Prague, Reno, Westwood,
};
pub(super) use receive_buffer::first_window;
pub(super) use receiver::LinuxReceiver;
pub(super) use sender::LinuxSender;
