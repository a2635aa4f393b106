//! Matches packets sent and received: delays, losses, and ambiguous cases.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::packet::{Packet, PayloadLevel};
use super::reader::Capture;
use crate::budget::Budget;
use crate::trace::error::ReadError;
use crate::trace::given::Shift;
use crate::trace::notes::readable;
use crate::trace::probes::resample;
use crate::trace::step::StepDetector;
use crate::trace::{Header, Notes, PhyTrace, TraceFile};
use crate::units::{BitRate, Bytes, Duration, counted};

/// Minimum percentage of the sender's packets that must be in both captures, unless the user
/// selects the packets.
const LEAST_SHARE: usize = 50;

/// A gap of at least this length (ns) is a pause, in which the packets do not sample the link.
const PAUSE: i64 = 200_000_000;

/// Bytes of the packets that a path is taken to carry: captures of small packets do not show it,
/// and a run's packets of 1500 bytes would take two LLDUs of fewer.
const MTU: u32 = 1500;

/// Builds the trace from the packets sent, those with the address `from` if it is given.
pub(super) fn trace(
    [sent, seen]: [&Capture; 2],
    how: &TraceFile,
    (from, rate): (Option<IpAddr>, Option<BitRate>),
    budget: &Budget<'_>,
) -> Result<PhyTrace, ReadError> {
    let chosen = |packet: &&Packet| sent.is_from(packet.from, from);
    let offered = sent.packets.iter().filter(chosen).count();
    if let Some(from) = from.filter(|_| offered == 0) {
        let places = sent.packets.iter().map(|packet| packet.from).collect::<BTreeSet<_>>();
        let there = places.into_iter().filter_map(|place| sent.addresses.get(place as usize));
        let there = there.take(5).map(ToString::to_string).collect::<Vec<_>>().join(", ");
        return Err(ReadError::of_file(format!(
            "no packet from {from} in the capture of the sender; there are packets from {there}"
        )));
    }
    let keep_order = how.keep_order.unwrap_or(false);
    let level = sent.level.max(seen.level);
    let matched = MatchedPackets::of(sent, seen, level);
    if matched.unclear * 10 > offered as u64 {
        return Err(ReadError::of_file(format!(
            "{} of {offered} packets look the same as others, some of which were lost; capture \
             more bytes of each packet, or traffic that differs",
            matched.unclear
        )));
    }
    if sent.packets.len() == seen.packets.len() && matched.raw.iter().all(|&raw| raw == Some(0)) {
        return Err(ReadError::of_file(
            "both captures hold the same packets at the same times, so this is one capture twice; \
             give the one at the receiver as the second",
        ));
    }
    let ways = matched.ways(sent, from);
    let Some(there) = ways.there else {
        return Err(ReadError::of_file(
            "no packet is in both captures; are they of the same time and traffic? Behind NAT give \
             nat, and switch segmentation offload off where it is captured",
        ));
    };
    let pairs = sent.packets.iter().zip(&matched.raw);
    let both = pairs.filter(|(packet, raw)| raw.is_some() && chosen(packet)).count();
    if both * 100 < offered {
        return Err(ReadError::of_file(format!(
            "only {both} of {offered} packets are in both captures; are they of the same time and \
             traffic?"
        )));
    }
    let share = both * 100 / offered;
    if share < LEAST_SHARE && from.is_none() {
        return Err(ReadError::of_file(format!(
            "{both} of {offered} packets of the sender ({share} %) are in both captures, less than \
             {LEAST_SHARE} %: other hosts, the way back or multicast may be mixed in; give `from`, \
             the address whose packets cross the link, to count all of those and no others"
        )));
    }
    // Packets that cross the link in this direction, in the order in which they were sent.
    let mut slots: Vec<(i64, Option<i64>)> = Vec::new();
    let mut largest = 0;
    for (packet, &raw) in sent.packets.iter().zip(&matched.raw) {
        if ways.forward.contains(&(packet.from, packet.to)) {
            slots.push((packet.time, raw));
            largest = largest.max(packet.size);
        }
    }
    slots.sort_by_key(|&(time, _)| time);
    let all = slots.len();
    let slots = known(&slots, seen, there);
    let censored = all - slots.len();
    let lost = slots.iter().filter(|(_, raw)| raw.is_none()).count();

    let shift = how.clock_offset.map_or(0, Shift::as_nanos);
    let least = there.least.saturating_add(shift);
    let lift = if least < 0 { 1i64.saturating_sub(least) } else { 0 };
    let first = slots[0].0;
    let (mut t, mut d) = (Vec::with_capacity(slots.len()), Vec::with_capacity(slots.len()));
    let (mut together, mut overtaken, mut latest, mut grid) =
        (0u64, 0u64, 0i64, StepDetector::default());
    for &(time, raw) in slots {
        let mut at = time.saturating_sub(first);
        if let Some(&before) = t.last()
            && at <= before
        {
            (at, together) = (before + 1, together + 1);
        }
        let delay = raw.map_or(0, |raw| {
            grid.take(raw);
            raw.saturating_add(shift).saturating_add(lift).max(1)
        });
        let arrival = at.saturating_add(delay);
        let behind = raw.is_some() && arrival < latest;
        overtaken += u64::from(behind);
        latest = if raw.is_some() { latest.max(arrival) } else { latest };
        d.push(if behind && keep_order { latest - at } else { delay });
        t.push(at);
    }
    let lldu = how.lldu.unwrap_or(Bytes(largest.max(MTU)));
    let gaps = t.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap >= PAUSE);
    let (pauses, paused) = gaps.fold((0, 0), |(count, sum), gap| (count + 1, sum + gap));
    let lasted = t.last().map_or(1, |last| (*last).max(1));
    if let Some(rate) = rate {
        (t, d) = resample(&t, &d, lldu, rate, budget)?;
    }

    let span = |nanos: i64| readable(nanos.abs());
    let mut notes = Notes::default();
    let understood = &mut notes.understood;
    let name = |place: u32| sent.addresses.get(place as usize).map(ToString::to_string);
    let flows: Vec<String> = ways
        .forward
        .iter()
        .filter_map(|&(from, to)| Some(format!("{} to {}", name(from)?, name(to)?)))
        .collect();
    let shown = flows.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    let more =
        if flows.len() > 5 { format!(" and {} more", flows.len() - 5) } else { String::new() };
    understood.push(format!("{} from {shown}{more}", counted(all, "packet", "packets")));
    understood.push(format!(
        "{} seen at the receiver, {} lost",
        counted(slots.len() - lost, "was", "were"),
        counted(lost, "was", "were")
    ));
    if censored > 0 {
        understood.push(format!(
            "{} left out, which the capture of the receiver may have missed at its beginning or end",
            counted(censored, "is", "are")
        ));
    }
    understood.push(
        [
            "matched by headers and whole payloads",
            "matched by headers and the first 16 bytes of \
          payloads",
            "matched by headers alone",
        ][level]
            .to_owned(),
    );
    if shift != 0 {
        understood
            .push(format!("{} were added to every delay", how.clock_offset.unwrap_or_default()));
    }
    understood.push(format!(
        "{both} of {offered} packets of the sender's capture ({share} %) are in both"
    ));
    let others = sent.packets.len() - all;
    if others > 0 {
        let packets = counted(others, "packet", "packets");
        understood.push(format!("left out: {packets} of the other way or of other hosts"));
    }
    let assumed = &mut notes.assumed;
    if how.lldu.is_none() {
        let why = if largest < MTU {
            format!("what an Ethernet frame carries (the longest packet has {largest})")
        } else {
            "the longest packet".to_owned()
        };
        assumed.push(format!("LLDUs of {} bytes, {why}", lldu.0));
    }
    assumed.push(match rate {
        None => "one slot per packet".to_owned(),
        Some(rate) => format!("slots at {rate}, each with the fate of the nearest packet"),
    });
    if how.clock_offset.is_none() && lift == 0 {
        assumed.push("both clocks agree".to_owned());
    }
    assumed.push(
        "the whole delay is in d, so that the link adds none (RTT 0); the way back takes as long"
            .to_owned(),
    );
    let warnings = &mut notes.warnings;
    if rate.is_some() && pauses > 0 {
        let share = 100.0 * paused as f64 / lasted as f64;
        warnings.push(format!(
            "{} of {} or more between packets, {share:.3} % of the time: nobody knows \
             what the link did then, and slots take the fate of the nearest packet",
            counted(pauses, "pause", "pauses"),
            span(PAUSE)
        ));
    }
    if lift > 0 {
        let swapped = if ways.back.is_none() { ", or are the captures swapped?" } else { "" };
        warnings.push(format!(
            "clock offset: the smallest delay is -{}, so delays are counted from the smallest; give \
             the clock offset for true ones{swapped}",
            span(least)
        ));
    }
    if least > 10_000_000_000 {
        warnings.push(format!("clock offset: the smallest delay is {}", span(least)));
    }
    if let Some(back) = ways.back {
        let ahead = there.least.saturating_add(back) / 2;
        if ahead.abs() >= 1_000_000 && shift == 0 {
            let sign = if ahead < 0 { "" } else { "-" };
            warnings.push(format!(
                "clock offset: if both ways take equally long, it is {sign}{}",
                span(ahead)
            ));
        }
    }
    if overtaken > 0 {
        let kept = if keep_order { ", with which they now arrive" } else { "" };
        warnings.push(format!(
            "{} arrived behind a later one{kept}",
            counted(overtaken, "packet", "packets")
        ));
    }
    if together > 0 {
        warnings.push(format!(
            "{} the time of the one before: 1 ns later",
            counted(together, "packet has", "packets have")
        ));
    }
    if let Some(step) = grid.step() {
        warnings.push(format!("a coarse clock: all delays are multiples of {}", span(step)));
    }
    if matched.repeated > 0 {
        warnings.push(format!(
            "{} an earlier one, matched in order",
            counted(matched.repeated, "packet is like", "packets are like")
        ));
    }
    if matched.extra > 0 {
        warnings.push(format!(
            "{} at the receiver not seen at the sender, or twice",
            counted(matched.extra, "packet", "packets")
        ));
    }
    if largest > 1 << 14 {
        warnings.push(format!(
            "packets of up to {largest} bytes: switch segmentation offload off where it is captured"
        ));
    }
    for (capture, end) in [(sent, "sender"), (seen, "receiver")] {
        if capture.cut {
            warnings.push(format!("the capture of the {end} ends within a packet, left out"));
        }
        if capture.others > 0 {
            warnings.push(format!(
                "{} no IP at the {end}",
                counted(capture.others, "frame is", "frames are")
            ));
        }
    }
    let notes = notes.clean();
    let header = Header { rtt: Some(Duration::ZERO), notes, ..Header::default() };
    Ok(PhyTrace::with_header(t.into(), d.into(), lldu, header)?)
}

/// The result of matching two captures.
struct MatchedPackets {
    /// Per packet, time until it was seen; `None`: not seen.
    raw: Vec<Option<i64>>,
    /// Packets that look the same as an earlier one.
    repeated: u64,
    /// Packets received that were not sent.
    extra: u64,
    /// Packets that look the same as others, not all of which were seen once, so that the match is
    /// a guess.
    unclear: u64,
}

impl MatchedPackets {
    /// Matches the n-th of equal packets sent to the n-th of them received.
    fn of(sent: &Capture, seen: &Capture, level: PayloadLevel) -> Self {
        let order = |capture: &Capture| {
            let mut order: Vec<u32> = (0..capture.packets.len() as u32).collect();
            let key = |&at: &u32| {
                let packet = &capture.packets[at as usize];
                (packet.ids[level], packet.time)
            };
            order.sort_by_key(key);
            order
        };
        let (left, right) = (order(sent), order(seen));
        let id = |packets: &[Packet], place: u32| packets[place as usize].ids[level];
        let mut matched =
            Self { raw: vec![None; sent.packets.len()], repeated: 0, extra: 0, unclear: 0 };
        let mut rest = &right[..];
        for alike in left.chunk_by(|&a, &b| id(&sent.packets, a) == id(&sent.packets, b)) {
            let own = id(&sent.packets, alike[0]);
            let before = rest.partition_point(|&place| id(&seen.packets, place) < own);
            let (others, behind) = rest.split_at(before);
            let count = behind.partition_point(|&place| id(&seen.packets, place) == own);
            let (copies, behind) = behind.split_at(count);
            rest = behind;
            for (&from, &to) in alike.iter().zip(copies) {
                let time = seen.packets[to as usize].time;
                let raw = time.saturating_sub(sent.packets[from as usize].time);
                matched.raw[from as usize] = Some(raw);
            }
            matched.repeated += alike.len() as u64 - 1;
            matched.extra += (others.len() + copies.len().saturating_sub(alike.len())) as u64;
            let unclear = alike.len() > 1 && !copies.is_empty() && copies.len() != alike.len();
            matched.unclear += if unclear { alike.len() as u64 } else { 0 };
        }
        matched.extra += rest.len() as u64;
        matched
    }

    /// Determines the directions across the link. A given source address decides them.
    fn ways(&self, sent: &Capture, from: Option<IpAddr>) -> LinkDirections {
        let mut directions: BTreeMap<(u32, u32), TimeDifferences> = BTreeMap::new();
        for (packet, raw) in sent.packets.iter().zip(&self.raw) {
            if let &Some(raw) = raw {
                let own = TimeDifferences { least: raw, most: raw };
                let range = directions.entry((packet.from, packet.to)).or_insert(own);
                *range = range.join(own);
            }
        }
        // A packet of the return path appears in the sender's capture after the receiver's. Of two
        // opposite directions, the forward one is therefore the one with the larger difference,
        // independently of the clocks.
        let opposite = |&(from, to): &(u32, u32)| directions.get(&(to, from));
        let mut ways = LinkDirections { forward: BTreeSet::new(), there: None, back: None };
        for (&direction, &range) in &directions {
            let crosses = sent.is_from(direction.0, from);
            let other = opposite(&direction);
            let is_back = if from.is_some() {
                !crosses && other.is_some() && sent.is_from(direction.1, from)
            } else {
                other.is_some_and(|other| (other.least, direction.1) > (range.least, direction.0))
            };
            if is_back {
                ways.back = ways.back.max(Some(range.most));
            } else if crosses {
                ways.forward.insert(direction);
                ways.there =
                    Some(ways.there.map_or(range, |there: TimeDifferences| there.join(range)));
            }
        }
        ways
    }
}

struct LinkDirections {
    /// Address pairs that cross the link from the sender to the receiver.
    forward: BTreeSet<(u32, u32)>,
    /// Their time differences.
    there: Option<TimeDifferences>,
    /// The largest time difference of packets of the return path.
    back: Option<i64>,
}

/// Range of the time differences between both captures.
#[derive(Clone, Copy)]
struct TimeDifferences {
    least: i64,
    most: i64,
}

impl TimeDifferences {
    fn join(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), most: self.most.max(other.most) }
    }
}

/// `slots` without those at both ends whose fate the receiver's capture cannot determine: not seen,
/// and sent too early or too late for the time from its first packet to its last.
fn known<'s>(
    slots: &'s [(i64, Option<i64>)],
    seen: &Capture,
    there: TimeDifferences,
) -> &'s [(i64, Option<i64>)] {
    let times = || seen.packets.iter().map(|packet| packet.time);
    let first = times().min().unwrap_or(0).saturating_sub(there.least);
    let last = times().max().unwrap_or(0).saturating_sub(there.most);
    let untold =
        |&&(time, raw): &&(i64, Option<i64>)| raw.is_none() && (time < first || time > last);
    let early = slots.iter().take_while(untold).count();
    let late = slots[early..].iter().rev().take_while(untold).count();
    &slots[early..slots.len() - late]
}
