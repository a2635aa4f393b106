//! Handovers that a terminal knows beforehand: when, and what its link is like after each.

use super::link::Link;
use crate::config::Fault;
use crate::link::Propagation;
use crate::link::clock::{SlotClock, SlotPosition};
use crate::scheme::ntn::{Handovers, NtnConfig};
use crate::scheme::{LinkConfig, LiveConfig};
use crate::trace::{Column, LinkTrace, Sizes};
use crate::transport::{Handover, Timetable};
use crate::units::{BitRate, Duration, Instant};

/// Most handovers of a link: limits the effect of a typing error.
const MOST: u64 = 1_000_000;

/// The timetable of `link` over a run of `duration`, with the delays `behind` it; `None`: it has none.
///
/// # Errors
/// If the keys of its handovers do not fit the link.
pub(super) fn timetable(
    keys: &Link,
    link: &LinkConfig,
    behind: Option<&Propagation>,
    duration: Duration,
) -> Result<Option<Timetable>, Fault> {
    let usage = &keys.usage;
    let given = usage.handover_every.map(|_| "handover_every");
    let given = given.or((!usage.handover_times.is_empty()).then_some("handover_times"));
    let ntn = link.medium.get::<NtnConfig>();
    let own = ntn.as_ref().and_then(|ntn| ntn.handovers);
    if usage.handover_every.is_some() && !usage.handover_times.is_empty() {
        let cure = "`handover_times` already says when; leave one of them out";
        return Err(Fault::new("handover_every", cure));
    }
    if given.is_none() && own.is_none() {
        return Ok(None);
    }
    let slots = Slots::of(link).map_err(|error| Fault::new("wrap", error.to_string()))?;
    let end = Instant::ZERO + duration;
    let times = match (given, own) {
        (Some(key), Some(_)) => {
            let cure = "`ntn.handover_every` already says when; leave it out";
            return Err(Fault::new(key, cure));
        }
        (_, Some(Handovers { every, .. })) => {
            // The list stays in memory: of a link with more of them it has the first.
            let all = (1..=MOST).map(|n| Instant::ZERO + every * n);
            all.take_while(|&at| at < end).collect()
        }
        (key, None) => times(keys, &slots, duration).ok_or_else(|| {
            let cure = format!("gives more than {MOST} handovers; give fewer");
            Fault::new(key.unwrap_or_default(), cure)
        })?,
    };
    let until = |number: usize| times.get(number + 1).copied().unwrap_or(end);
    let handover = |(number, &at): (usize, &Instant)| {
        let mut known = slots.as_ref().map_or_else(
            || Handover { at, gap: Duration::ZERO, delay: None, rate: None },
            |slots| slots.after(at, until(number)),
        );
        if let (Some(ntn), Some(Handovers { interruption, .. })) = (&ntn, own) {
            known.gap = interruption;
            known.delay = Some(ntn.propagation.at(at + interruption));
        }
        let behind = behind.map_or(Duration::ZERO, |behind| behind.at(at + known.gap));
        Handover { delay: known.delay.map(|own| own + behind), ..known }
    };
    Ok(Some(Timetable::new(times.iter().enumerate().map(handover).collect())))
}

/// The times of a run at which the link hands over; `None`: too many. A trace that repeats repeats
/// them.
fn times(keys: &Link, slots: &Option<Slots>, duration: Duration) -> Option<Vec<Instant>> {
    let usage = &keys.usage;
    let end = duration.as_nanos();
    let (start, first, period) = slots.as_ref().map_or((0, 0, None), Slots::clock);
    let mut found = Vec::new();
    if let Some(every) = usage.handover_every {
        let span = period.map_or(start + end, |period| first + period);
        let count = span.checked_div(every.as_nanos()).filter(|&count| count < MOST)?;
        found.extend((0..=count).map(|n| n * every.as_nanos()));
    } else {
        found.extend(usage.handover_times.iter().map(|time| time.as_nanos()));
    }
    // The first pass has also what is before the slots.
    let run = |pass: u64, time: u64| {
        let shift = pass * period.unwrap_or(0);
        let first_pass = pass == 0 || time >= first;
        let in_pass = period.is_none_or(|period| time < first + period);
        let at = (time + shift).checked_sub(start)?;
        (first_pass && in_pass && at < end).then_some(Instant::from_nanos(at))
    };
    let passes = period.map_or(0, |period| (start + end) / period);
    if passes.saturating_add(1).saturating_mul(found.len() as u64) > MOST {
        return None;
    }
    let times = (0..=passes).flat_map(|pass| found.iter().filter_map(move |&time| run(pass, time)));
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    times.dedup();
    Some(times)
}

/// The slots of a link that carry data.
struct Slots {
    clock: SlotClock,
    first: u64,
    t: Column,
    d: Column,
    sizes: Sizes,
    one_way: Duration,
}

impl Slots {
    /// Those of a link whose slots are known beforehand.
    fn of(link: &LinkConfig) -> Result<Option<Self>, Fault> {
        let (t, d, sizes, rtt) = if let Some(trace) = link.medium.get::<LinkTrace>() {
            let parts = trace.parts();
            let sizes = parts.sizes.as_ref().map(|sizes| sizes.lldus.clone());
            (parts.t.clone(), parts.d.clone(), sizes.unwrap_or(parts.lldu.into()), parts.rtt)
        } else if let Some(live) = link.medium.get::<LiveConfig>() {
            let LiveConfig { phy, timing, .. } = &*live;
            (phy.t().clone(), phy.d().clone(), phy.sizes().clone(), timing.rtt)
        } else {
            return Ok(None);
        };
        let Some((first, end)) = link.medium.span() else { return Ok(None) };
        let period = link.wrap.then(|| Duration::from_nanos(end - first));
        let clock = SlotClock::new(first as i64, link.start_offset, period)?.over(&t);
        Ok(Some(Self { clock, first, t, d, sizes, one_way: rtt.half() }))
    }

    /// Time of the trace at time 0 of the run, its first slot, and its period if it repeats.
    fn clock(&self) -> (u64, u64, Option<u64>) {
        let period = self.clock.period().map(i64::unsigned_abs);
        (self.clock.offset().unsigned_abs(), self.first, period)
    }

    /// What the slots from `at` to `until` show.
    fn after(&self, at: Instant, until: Instant) -> Handover {
        let [from, until] = [at, until].map(|at| at.as_nanos() as i64);
        let start = |place: SlotPosition| self.t.get(place.slot).map(|t| t + place.base);
        let mut place = self.clock.first_from(&self.t, self.clock.start(), from);
        let first = place.and_then(start).map_or(until, |first| first.min(until));
        let (mut bytes, mut least) = (0u64, None::<i64>);
        while let Some(now) = place.filter(|&place| start(place).is_some_and(|t| t < until)) {
            bytes += u64::from(self.sizes.at(now.slot));
            let delay = Some(self.d[now.slot]).filter(|&d| d > 0);
            least = least.into_iter().chain(delay).min();
            let next = SlotPosition { slot: now.slot + 1, ..now };
            place = if next.slot < self.t.len() { Some(next) } else { self.clock.next_cycle(now) };
        }
        let bits = u128::from(bytes) * 8 * 1_000_000_000;
        let rate = bits.checked_div((until - first).max(0) as u128);
        Handover {
            at,
            gap: Duration::from_nanos((first - from).max(0) as u64),
            delay: least.map(|d| Duration::from_nanos(d as u64) + self.one_way),
            rate: rate.and_then(|rate| BitRate::from_bits_per_second(rate as u64)),
        }
    }
}
