//! The use of the capacity of a hop.

use crate::diagnosis::blame::Cause;
use crate::diagnosis::cut::Cut;
use crate::diagnosis::hop::HopLedger;
use crate::metrics::{HopMetrics, LinkMetrics};

/// The capacity of a hop, or of several side by side, the goodput, and what the difference was spent
/// on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    /// The hops, counted from the sources: of the hops with a rate, the one with the least capacity;
    /// for flows over several paths those with the least capacity together, of which each path
    /// crosses one.
    pub hops: Vec<usize>,
    /// Bits of all slots that passed.
    pub capacity_bits: u64,
    /// Payload that the receivers got in order, in bits; of one of several hops, its share by the
    /// payload that it carried and that the receivers had not got before.
    pub goodput_bits: u64,
    /// The causes that cost something, in the order of [`Cause::ALL`]; with the goodput they add up to
    /// the capacity.
    pub parts: Vec<Part>,
}

/// Capacity that a cause cost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Part {
    /// The cause.
    pub cause: Cause,
    /// What it cost.
    pub bits: u64,
}

/// Bits that are shared out, one demand after the other.
#[derive(Debug)]
pub(super) struct Shares {
    left: u64,
    parts: [u64; Cause::ALL.len()],
}

impl Shares {
    pub(super) fn of(bits: u64) -> Self {
        Self { left: bits, parts: [0; Cause::ALL.len()] }
    }

    /// Charges a cause with as much of `bytes` as is left; returns the bits.
    pub(super) fn charge(&mut self, cause: Cause, bytes: f64) -> u64 {
        let bits = self.take(bytes);
        self.parts[cause as usize] += bits;
        bits
    }

    /// As much of `bytes` as is left, in bits.
    pub(super) fn take(&mut self, bytes: f64) -> u64 {
        let bits = ((bytes.max(0.0) * 8.0).round() as u64).min(self.left);
        self.left -= bits;
        bits
    }

    /// Charges a cause with all that is left.
    pub(super) fn charge_rest(&mut self, cause: Cause) {
        self.parts[cause as usize] += std::mem::take(&mut self.left);
    }

    pub(super) fn parts(&self) -> Vec<Part> {
        let parts =
            Cause::ALL.into_iter().map(|cause| Part { cause, bits: self.parts[cause as usize] });
        parts.filter(|part| part.bits > 0).collect()
    }
}

impl Budget {
    /// The budget of several hops together.
    pub(super) fn of_all(all: &[Self]) -> Self {
        let sum = |of: &dyn Fn(&Self) -> u64| all.iter().map(of).sum();
        let part = |cause| Part { cause, bits: sum(&|own| own.bits(cause)) };
        Self {
            hops: all.iter().flat_map(|own| own.hops.iter().copied()).collect(),
            capacity_bits: sum(&|own| own.capacity_bits),
            goodput_bits: sum(&|own| own.goodput_bits),
            parts: Cause::ALL.into_iter().map(part).filter(|part| part.bits > 0).collect(),
        }
    }

    /// What a cause cost, in bits.
    pub fn bits(&self, cause: Cause) -> u64 {
        self.parts.iter().find(|part| part.cause == cause).map_or(0, |part| part.bits)
    }
}

/// Bytes of packets that crossed a hop.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Carried {
    pub(super) headers: f64,
    pub(super) payload: f64,
    pub(super) duplicate: f64,
    pub(super) lost_later: f64,
    /// Lost by this hop: bytes of packets, their units, and their number.
    pub(super) lost: f64,
    pub(super) lost_units: u64,
    pub(super) lost_packets: u64,
    pub(super) under_way: f64,
}

/// Shares the capacity of a hop out.
pub(super) fn budget(
    number: usize,
    hop: &HopLedger,
    carried: &Carried,
    cuts: &[Cut],
    goodput: u64,
    metrics: &HopMetrics,
) -> Budget {
    let capacity_bits = (hop.capacity() * 8.0).round() as u64;
    let mut shares = Shares::of(capacity_bits);
    let goodput_bits = shares.take(goodput as f64);
    for cause in Cause::ALL {
        let of_cuts: f64 = cuts
            .iter()
            .enumerate()
            .filter(|(_, cut)| cut.cause() == cause)
            .map(|(number, _)| hop.of_cut(number))
            .sum();
        shares.charge(cause, hop.of(cause) + of_cuts);
    }
    let usage = hop.usage();
    let slot = f64::from(usage.slot.0);
    shares.charge(Cause::Erased, usage.erased.min(usage.used) * slot);
    shares.charge(Cause::Duplicate, carried.duplicate);
    shares.charge(Cause::LostLater, carried.lost_later);
    shares.charge(Cause::Headers, carried.headers);
    let waiting = (carried.payload - goodput as f64).max(0.0);
    shares.charge(Cause::Unfinished, carried.under_way + waiting);
    shares.charge(Cause::Padding, usage.padding * slot);
    shares.charge(Cause::Fade, usage.faded * slot);
    match metrics {
        HopMetrics::Leg(_) => {
            let cause = if hop.has_outages() { Cause::Outage } else { Cause::GivenUp };
            shares.charge(cause, carried.lost);
            shares.charge_rest(Cause::Headers);
        }
        HopMetrics::Link(link) => {
            let counters = &link.counters;
            let missing = detail(link, "units_given_up").unwrap_or(carried.lost_packets);
            let coding = shares.charge(Cause::Coding, usage.coding) as f64 / 8.0;
            let received = carried.lost_units.saturating_sub(missing) as f64 * slot;
            if usage.pads {
                shares.charge(Cause::GivenUp, received);
                let units = counters.lldus_delivered as f64 * slot;
                shares.charge(Cause::Padding, units - counters.bytes_delivered as f64);
                let ended = counters.lldus_delivered + carried.lost_units;
                let data = usage.used / usage.per_lldu;
                shares.charge(Cause::Unfinished, (data - ended as f64) * slot);
            } else if usage.repairs {
                shares.charge(Cause::GivenUp, received.min(carried.lost));
            } else {
                // A packet that the queue of a coded link drops is lost once the code gives it up.
                let part = counters.lost as f64 / carried.lost_packets.max(1) as f64;
                let lost = carried.lost * part.min(1.0);
                let ended = counters.bytes_delivered as f64 + lost;
                shares.charge(Cause::Unfinished, counters.bytes_carried as f64 - ended - coding);
                shares.charge(Cause::GivenUp, lost);
            }
            // How many erased units a window of a link trace holds is known on average only.
            shares.charge_rest(match usage.repairs {
                true => Cause::Repair,
                false if usage.erased > 0.0 => Cause::Erased,
                false => Cause::Unfinished,
            });
        }
    }
    Budget { hops: vec![number], capacity_bits, goodput_bits, parts: shares.parts() }
}

/// A counter that only some kinds of links have.
pub(super) fn detail(link: &LinkMetrics, name: &str) -> Option<u64> {
    link.details.iter().find(|(known, _)| *known == name).map(|&(_, count)| count)
}
