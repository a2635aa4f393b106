//! Runs a link alone: arrivals in, deliveries out.

use crate::config::Fault;
use crate::link::{Admission, HORIZON, Link, LinkEvent, Packet, PacketId};
use crate::units::{Bytes, Instant};

/// The fate of each packet, in order of arrival.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Deliveries {
    /// Delivery times, ns; -1 if not delivered.
    pub delivered: Vec<i64>,
    /// Its fate.
    pub fate: Vec<PacketFate>,
}

/// Fate of a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum PacketFate {
    /// Delivered.
    Delivered = 0,
    /// Given up by the link.
    Lost = 1,
    /// Dropped by a full queue.
    QueueFull = 2,
    /// Still pending at the end of the trace.
    Pending = 3,
}

/// Sends packets of `size` into `link` at `arrivals` (ns, not decreasing) and waits for all of
/// them.
///
/// # Errors
/// A [`Fault`] with the first faulty arrival; the link is then unchanged.
pub fn deliver(link: &mut dyn Link, arrivals: &[i64], size: Bytes) -> Result<Deliveries, Fault> {
    check(arrivals, size)?;
    let mut results = Deliveries {
        delivered: vec![-1; arrivals.len()],
        fate: vec![PacketFate::Pending; arrivals.len()],
    };
    for (index, &arrival) in arrivals.iter().enumerate() {
        let now = Instant::from_nanos(arrival as u64);
        drain(link, now, &mut results);
        if let Admission::Dropped(_) = link.enqueue(now, Packet::new(PacketId(index as u64), size))
        {
            results.fate[index] = PacketFate::QueueFull;
        }
    }
    while let Some(now) = link.poll_timeout() {
        drain(link, now, &mut results);
    }
    Ok(results)
}

fn check(arrivals: &[i64], size: Bytes) -> Result<(), Fault> {
    if size.0 == 0 {
        return Err(Fault::at("packets of 0 bytes; give a packet size of at least 1"));
    }
    let mut before = 0;
    let wrong =
        |index: usize, at: i64, why| Err(Fault::at(format!("arrival {index}: {at} ns {why}")));
    for (index, &at) in arrivals.iter().enumerate() {
        if at < 0 {
            return wrong(index, at, "is negative; times start at 0");
        }
        if at > HORIZON {
            return wrong(index, at, "is over 2^61 ns (73 years); check the unit");
        }
        if at < before {
            return wrong(index, at, "comes before the arrival before it; sort the arrivals");
        }
        before = at;
    }
    Ok(())
}

fn drain(link: &mut dyn Link, now: Instant, results: &mut Deliveries) {
    while let Some(event) = link.poll(now) {
        match event {
            LinkEvent::Delivered(transit) => {
                let index = transit.packet.0 as usize;
                results.delivered[index] = transit.at.as_nanos() as i64;
                results.fate[index] = PacketFate::Delivered;
            }
            LinkEvent::Lost(transit) => {
                results.fate[transit.packet.0 as usize] = PacketFate::Lost;
            }
            // Packets that still wait stay pending.
            LinkEvent::Departed { .. }
            | LinkEvent::Marked { .. }
            | LinkEvent::TraceEnded { .. } => {}
        }
    }
}
