//! The 3GPP view: NR user-plane layers over a long link, in one direction.
//!
//! [`NtnLink`] is a [`Link`](crate::link::Link): PDCP and RLC cut packets into transport blocks
//! (TBs), HARQ sends them in slots, the same layers at the far end put them together. Section
//! numbers below are those of Release 17.
//!
//! - **Slots**: one TB in each, of fixed size, or nothing; an idle slot costs nothing.
//! - **HARQ** (TS 38.321 sections 5.3.2, 5.4.2): a process holds one TB from its first transmission
//!   until its last feedback came, so that N processes carry at most N TBs in a round trip.
//!   Without feedback a process is free at once; some or all may be without.
//! - **K_offset** (TS 38.213 section 4.2, TS 38.300 section 16.14.2): feedback and grants are timed
//!   for the largest round trip of the cell.
//! - **Uplink** (TS 38.321 sections 5.4.4, 5.4.5, 5.8.2): if asked for, new data needs grants,
//!   which
//!   requests, buffer status reports or a configuration bring.
//! - **Cell** ([`CellConfig`]): terminals with a link each share the slots; a scheduler of
//!   [carriers](crate::scheme::carrier) gives each slot to one that could use it.
//! - **Handover** (TS 38.300 section 9.2.3.2): an interruption; MAC is reset, RLC and PDCP are
//!   re-established, packets are forwarded.
//! - **Control** ([`ControlErrors`]): grants may be missed, feedback may be missed or misread; off
//!   unless set.
//! - **RLC** (TS 38.322): UM reassembles and gives up after `t-Reassembly`; AM polls, reports and
//!   sends again. Sequence numbers do not wrap: they are the windows' worth, not the bits'.
//! - **PDCP** (TS 38.323): order, `t-Reordering`, `discardTimer`.
//!
//! What 3GPP leaves to implementations is decided so:
//! - A slot goes to a HARQ retransmission (repetitions under way first, then first negative
//!   feedback, first served), else to a new TB if a process is free: RLC retransmissions first (first
//!   considered, first served), then new data.
//! - The sender takes silence where feedback is due for a NACK, at the time at which a NACK would
//!   have come. A TB that it takes for received by mistake is lost at that moment. The receiver
//!   distinguishes transmissions of two TBs even if it missed some between them.
//! - The first slot at or after an event can use it; a slot also takes a packet that comes at its
//!   very instant, and makes room in a full queue for it first.
//! - Status reports and HARQ feedback use the way back at once; their size is not counted.
//! - HARQ feedback leaves when the nominal decoding time is over (or the block is decoded, if that
//!   takes longer), plus the processing time.
//! - When `t-PollRetransmit` expires, data that waits to be sent again carries the poll, else the
//!   last
//!   unacknowledged packet, also if only later nothing else can carry the poll.
//! - RLC in UM does not learn from HARQ that a TB failed. A UM packet that cannot become complete
//!   is lost with the last TB that carries a part of it.
//! - A packet sent again `maxRetxThreshold` times in vain is a radio link failure on a real network
//!   (TS 38.331 section 5.3.10.3). Here it is given up alone: the receiver learns of it one propagation
//!   delay later, and both windows go on.
//! - At one instant events come in the order of the module's agenda: a handover, grants, arrivals,
//!   timers of the receiver, feedback, timers of the sender, requests, the slot.
//!
//! ```
//! use clift::scheme::ntn::{NtnConfig, NtnLink};
//! use clift::link::{Link, Packet, PacketId, TraceLinkConfig, deliver};
//! use clift::seed::Seed;
//! use clift::units::Bytes;
//!
//! let config = NtnConfig::preset("nr-ntn-geo").unwrap();
//! let mut link = NtnLink::new(&config, TraceLinkConfig::default(), Seed(1), 0)?;
//! let results = deliver(&mut link, &[0; 20], Bytes(1500)).unwrap();
//! // Everything arrives, after half a round trip at least.
//! assert!(results.delivered.iter().all(|&at| at > 270_730_000));
//! # Ok::<(), clift::config::Fault>(())
//! ```

mod backlog;
mod cell;
mod combining;
mod config;
mod grants;
mod harq;
mod link;
mod options;
mod path;
mod pdcp;
mod pdu;
mod preset;
mod reassembly;
mod rlc;
mod rlc_am;
mod rlc_um;
mod slots;

pub use cell::{CellConfig, CellOptions};
pub use combining::{Combining, Decoder, SoftCombining};
pub use config::{
    AmConfig, Asking, ControlErrors, Handovers, HarqConfig, HarqMode, NtnConfig, NtnHeaders,
    NtnPhy, PdcpConfig, RlcConfig, UmConfig, UplinkConfig,
};
pub use link::NtnLink;
pub use options::{
    GrantsBy, HarqOptions, MobilityOptions, NtnBlocks, NtnOptions, NtnPath, UplinkOptions,
};
pub use preset::{PRESETS, Preset, Timers};
