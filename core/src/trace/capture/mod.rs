//! Two captures of packets, at the sender and at the receiver. Every packet sent is a slot; its
//! delay is the time until it is seen at the receiver; a packet never seen there is lost.
//!
//! Packets are matched by fields that no hop changes: addresses, ports, protocol, IP
//! identification, TCP sequence numbers and timestamps, lengths and a hash of the payload.

mod link;
mod packet;
mod pairs;
mod reader;

use std::io::Read;
use std::net::IpAddr;

use self::reader::Capture;
use crate::budget::Budget;
use crate::trace::error::ReadError;
use crate::trace::file::{FileError, Input, TraceFile};
use crate::trace::format::FormatRow;
use crate::trace::series::Shift;
use crate::trace::{Fault, PhyTrace};
use crate::units::{BitRate, Bytes};

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "capture",
    suffixes: &[],
    doc: "Two captures of packets, pcap or pcapng, at the sender and at the receiver.",
    keys: &[&["receiver", "nat", "from", "clock_offset", "rate"]],
    read: Some(read_files),
    write: None,
};

/// Interfaces with these names are used if a capture has several. The capture of a run has both,
/// and is given twice.
const SENDER: &str = "sender";
const RECEIVER: &str = "receiver";

/// Settings that two captures do not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Payload of a slot; default: 1500 bytes, or the longest IP packet if that is longer.
    pub lldu: Option<Bytes>,
    /// Slots at this rate, each with the fate of the nearest packet; `None`: one slot per packet.
    pub rate: Option<BitRate>,
    /// Added to every delay: the time by which the receiver's clock is behind.
    pub clock_offset: Option<Shift>,
    /// True to restore the order in which packets were sent; false to keep the measured order.
    pub keep_order: bool,
    /// True if addresses and ports change between the captures.
    pub nat: bool,
    /// Use only packets with this source address in the sender's capture.
    pub from: Option<IpAddr>,
}

fn read_files(how: &TraceFile, input: &Input<'_>) -> Result<PhyTrace, FileError> {
    let why = "a capture at the sender needs the one at the receiver";
    let receiver = how.needed(how.receiver.as_ref(), why, "receiver", input)?;
    let options = Options {
        lldu: how.lldu,
        rate: how.constant_rate(input)?,
        clock_offset: how.clock_offset,
        keep_order: how.keep_order.unwrap_or(false),
        nat: how.nat,
        from: match how.from.as_deref().map(str::parse) {
            None => None,
            Some(Ok(address)) => Some(address),
            Some(Err(_)) => {
                return Err(how.wrong(
                    "from",
                    "is not an IP address; write one such as 10.0.0.1",
                    input,
                ));
            }
        },
    };
    let at = |name, error| FileError::Read { place: input.files.place(name), error };
    let from = |source, place| packets(source, options.nat, place, input.budget);
    let sent = from(input.reader(&how.file)?, SENDER);
    let sent = sent.map_err(|error| at(&how.file, error))?;
    let seen = from(input.reader(receiver)?, RECEIVER);
    let seen = seen.map_err(|error| at(receiver, error))?;
    let phy = pairs::trace(&sent, &seen, &options, input.budget);
    let mut phy = phy.map_err(|error| at(&how.file, error))?;
    let name =
        |path: &std::path::Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let names = [name(&how.file), name(receiver)];
    phy.set_source(Some(names.into_iter().flatten().collect::<Vec<_>>().join(" and ")));
    Ok(phy)
}

/// Reads the captures at the sender and at the receiver, each pcap or pcapng.
///
/// # Errors
/// A [`ReadError`] if a capture is damaged, or if no packet occurs in both.
pub fn read(
    sender: impl Read + Send,
    receiver: impl Read + Send,
    options: &Options,
) -> Result<PhyTrace, ReadError> {
    let budget = Budget::unlimited();
    let sent = packets(sender, options.nat, SENDER, &budget)?;
    let seen = packets(receiver, options.nat, RECEIVER, &budget)?;
    pairs::trace(&sent, &seen, options, &budget)
}

/// The IP packets of one capture; at least one.
fn packets(
    source: impl Read + Send,
    nat: bool,
    place: &'static str,
    budget: &Budget<'_>,
) -> Result<Capture, ReadError> {
    let capture = reader::packets(source, nat, place, budget)?;
    if capture.packets.is_empty() {
        return Err(fault(format!("no IP packet in the capture of the {place}")));
    }
    Ok(capture)
}

/// A fault of a whole capture.
fn fault(text: impl Into<String>) -> ReadError {
    ReadError::File(Fault::Table(text.into()))
}

#[cfg(test)]
mod tests;
