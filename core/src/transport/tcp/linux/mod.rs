//! The two ends of a connection as in a current Linux kernel (6.x, `tcp_input.c`, `tcp_output.c`,
//! `tcp_recovery.c`), with the RFCs that the kernel follows.
//!
//! Sender: `sender` holds the connection state and decides what to send. Each ACK passes through
//! four parts with their own state: `scoreboard` (SACKed, lost and retransmitted segments; with
//! `rack`, `reordering`, `sent_order` and `delivery`), `recovery` (the states Open, Disorder, Cwr,
//! Recovery and Loss; with `undo`), `congestion` (the window; with its controls) and `timers`.
//! `rtt`, `pacing`, `ecn`, `buffers` and `ticks` are independent helpers.
//!
//! Receiver: `receiver`, with `delayed_ack`, `compression`, `ecn` and `receive_buffer`.
//!
//! Not modelled: host-dependent parts (TCP small queues, the effect of segmentation offload on the
//! timing of bursts), and FIN: a connection ends with the acknowledgement of its last byte.

mod buffers;
mod compression;
pub(super) mod congestion;
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

pub(super) use receive_buffer::first_window;
pub(super) use receiver::LinuxReceiver;
pub(super) use sender::LinuxSender;
