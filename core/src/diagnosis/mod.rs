//! Causes: why a run has no more goodput than it has, and which event led to which.
//!
//! [`diagnose`] runs a setup and watches it. The [`Budget`] divides the capacity of the
//! hop that limits the path: goodput, and the share that each [`Cause`] cost. Its parts add up to
//! the capacity. A [`Cut`] is a reduction of a sender's window, with the packet that led to it.
//!
//! - A slot that carried something is charged to what it carried, or to its erasure.
//! - A slot that carried nothing is charged to what kept the senders from sending at that time, less
//!   the propagation delay from the sender to the hop. After cuts, those are the cuts, each until the
//!   window is as large as before it; they share the slot by the packets that each took from the
//!   window. What one cut alone cost is another number ([`Cut::cost_bits`]): without it, others would
//!   have followed.
//!
//! ```
//! use clift::diagnosis::{Cause, diagnose};
//! use clift::scenario::{Scenario, Store};
//! use clift::trace::Folder;
//!
//! let text = r#"
//!     scheme = "ARQ"
//!     duration = "20 s"
//!     [channel]
//!     model = "bernoulli"
//!     erasures = 0.02
//!     slot = "1 ms"
//!     lldu = "300 B"
//!     [link]
//!     rtt = "300 ms"
//!     live = true
//! "#;
//! let scenario = Scenario::parse("arq.toml", text, &[], &clift::Registry::new())?;
//! let setup = scenario.cells()[0].setup(0, &Store::new(Folder::new("")))?;
//! let (outcome, diagnosis) = diagnose(&setup, &|| true)?;
//! let budget = &diagnosis.budget;
//! let sum: u64 = budget.parts.iter().map(|part| part.bits).sum();
//! assert_eq!(budget.goodput_bits + sum, budget.capacity_bits);
//! assert_eq!(budget.goodput_bits, outcome.flows[0].bytes_in_order * 8);
//! assert!(budget.bits(Cause::Erased) > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod blame;
mod budget;
mod cut;
mod explain;
mod flight;
mod found;
mod hop;
mod loss;
mod watch;

pub use blame::Cause;
pub use budget::{Budget, Part};
pub use cut::{Cut, Trigger, Why};
pub use flight::{PacketFate, PacketHistory};
pub use found::{Diagnosis, Moment, NoDiagnosis, diagnose};
pub use loss::{Loss, LossSegment, LossUnit, loss_after};
