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

use self::reader::Capture;
use crate::budget::Budget;
use crate::trace::PhyTrace;
use crate::trace::error::{FileError, ReadError};
use crate::trace::file::{FormatRow, Input, TraceFile};

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "capture",
    doc: "Two captures of packets, pcap or pcapng, at the sender and at the receiver.",
    keys: &[&["receiver", "nat", "from", "clock_offset", "rate"]],
    read: Some(read_files),
    ..FormatRow::NAMED
};

/// Interfaces with these names are used if a capture has several. The capture of a run has both,
/// and is given twice.
const SENDER: &str = "sender";
const RECEIVER: &str = "receiver";

fn read_files(how: &TraceFile, input: &Input<'_>) -> Result<PhyTrace, FileError> {
    let why = "a capture at the sender needs the one at the receiver";
    let receiver = how.needed(how.receiver.as_ref(), why, "receiver", input)?;
    let rate = how.constant_rate(input)?;
    let cure = "is not an IP address; write one such as 10.0.0.1";
    let source = how.from.as_deref().map(str::parse).transpose();
    let source = source.map_err(|_| how.wrong("from", cure, input))?;
    let at = |name, error: ReadError| input.fault(name, error);
    let from = |source, place| packets(source, how.nat, place, input.budget);
    let sent = from(input.reader(&how.file)?, SENDER);
    let sent = sent.map_err(|error| at(&how.file, error))?;
    let seen = from(input.reader(receiver)?, RECEIVER);
    let seen = seen.map_err(|error| at(receiver, error))?;
    let phy = pairs::trace([&sent, &seen], how, (source, rate), input.budget);
    let mut phy = phy.map_err(|error| at(&how.file, error))?;
    let name =
        |path: &std::path::Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let names = [name(&how.file), name(receiver)];
    phy.set_source(Some(names.into_iter().flatten().collect::<Vec<_>>().join(" and ")));
    Ok(phy)
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
        return Err(ReadError::of_file(format!("no IP packet in the capture of the {place}")));
    }
    Ok(capture)
}

#[cfg(test)]
mod tests;
