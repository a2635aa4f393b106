//! Two captures of packets, at the sender and at the receiver: every packet sent is a slot, its
//! delay is the time until it is seen at the receiver, and what is never seen there is lost.
//!
//! Packets are matched by what no hop changes: addresses, ports, protocol, IP identification, TCP
//! sequence numbers and timestamps, lengths and a hash of the payload.

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
use crate::trace::series::{DelayIs, Shift};
use crate::trace::{Fault, PhyTrace};
use crate::units::{BitRate, Bytes};

pub(super) const FORMAT: FormatRow = FormatRow {
    name: "capture",
    suffixes: &[],
    doc: "Two captures of packets, pcap or pcapng, at the sender and at the receiver.",
    read: Some(read_files),
    write: None,
};

/// Interfaces of these names are meant where a capture has several: that of a run has, and is then given
/// twice.
const SENDER: &str = "sender";
const RECEIVER: &str = "receiver";

/// What two captures do not say themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Payload of a slot; the longest IP packet unless set.
    pub lldu: Option<Bytes>,
    /// Slots at this rate, each with the fate of the nearest packet; `None`: a slot a packet.
    pub rate: Option<BitRate>,
    /// Added to every delay: by how much the receiver's clock is behind.
    pub clock_offset: Option<Shift>,
    /// Whether what left earlier never arrives later, instead of as measured.
    pub keep_order: bool,
    /// Whether addresses and ports change on the way.
    pub nat: bool,
    /// Only packets that the sender's capture has from this address.
    pub from: Option<IpAddr>,
}

fn read_files(how: &TraceFile, input: &Input<'_>) -> Result<PhyTrace, FileError> {
    let why = "a capture at the sender needs the one at the receiver";
    let receiver = how.needed(how.receiver.as_ref(), why, "receiver", input)?;
    if how.delay_is != DelayIs::OneWay {
        return Err(how.wrong("delay_is", "two captures give one way; leave it out", input));
    }
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
                    "is no IP address; write one such as 10.0.0.1",
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
/// A [`ReadError`] if one is damaged, or if no packet of the one is in the other.
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

/// The IP packets of the capture at a place, one or more.
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
