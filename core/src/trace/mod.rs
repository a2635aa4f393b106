//! Stage 1: the behaviour of the physical layer, slot by slot.
//!
//! A [`PhyTrace`] holds, for every slot, the time at which its LLDU was sent and its decoding time,
//! or that it was erased (DESIGN: words; the CLIFT papers, section III-A).
//!
//! Each file format has one module: [`text`] (CLIFT's own), [`columns`] (two bare columns),
//! [`mahimahi`], [`probes`] (per-packet delay and loss), [`ping`] (the output of ping),
//! [`loss_string`] (0/1 strings and ns-2 run lengths), [`series`] (rate, delay and loss over time),
//! [`irtt`], `iperf3`, `starlink` and `rinex` (files of those tools),
//! [`capture`] (packets at both ends), `parquet` (a feature, on by default; a program calls
//! `parquet::enable` once) and [`netem`] (write
//! only). They work on readers and writers. A [`TraceFile`] describes a file and reads it from the
//! [`Files`] of a host; [`WriteAs`] writes a file; [`Format`] is the registry of formats.

mod atomic;
pub mod capture;
mod checksum;
mod column;
pub mod columns;
mod decibels;
mod decimal;
mod erasures;
mod error;
mod file;
mod files;
mod format;
mod given;
mod iperf3;
pub mod irtt;
mod json;
mod keys;
mod lines;
mod link_builder;
mod link_columns;
mod link_file;
mod link_stats;
mod link_trace;
pub mod loss_string;
pub mod mahimahi;
mod median;
mod mi;
mod modcod;
pub mod netem;
mod notes;
mod packing;
#[cfg(feature = "parquet")]
pub mod parquet;
mod phy;
pub mod ping;
pub mod probes;
mod reading;
mod rinex;
pub mod series;
mod share;
mod sizes;
mod slots;
mod starlink;
mod step;
mod table;
pub mod text;
#[cfg(feature = "parquet")]
mod thrift;
mod warnings;
mod writing;

pub use column::Column;
pub(crate) use column::LATEST;
pub use decimal::TimeUnit;
pub use erasures::{Erasures, GilbertFit, Runs};
pub use error::{Fault, FileError, ReadError, Snippet, WriteError};
pub use file::{Direction, Format, TraceFile, WriteAs};
pub use files::{Files, Folder, InMemory, Source};
pub use link_builder::{Fate, LinkTraceBuilder};
pub use link_columns::LinkColumns;
pub use link_stats::LinkStats;
pub use link_trace::{LinkSizes, LinkTrace, Parts};
pub use mi::MiTrace;
pub use modcod::{Modcod, Modcods};
pub use notes::Notes;
pub use packing::{Loading, Packing};
pub use phy::{Header, PhyTrace};
pub use reading::{read, read_lines};
pub use sizes::Sizes;
pub use writing::write_file;

use self::file::FormatRow;

/// All formats, in the order in which messages list them.
static FORMATS: &[&FormatRow] = &[
    &text::FORMAT,
    &columns::FORMAT,
    #[cfg(feature = "parquet")]
    &parquet::FORMAT,
    &mahimahi::FORMAT,
    &probes::FORMAT,
    &probes::PAIR,
    &ping::FORMAT,
    &irtt::FORMAT,
    &iperf3::FORMAT,
    &starlink::FORMAT,
    &rinex::FORMAT,
    &series::FORMAT,
    &capture::FORMAT,
    &loss_string::FORMAT,
    &loss_string::RUNS,
    &netem::FORMAT,
];
