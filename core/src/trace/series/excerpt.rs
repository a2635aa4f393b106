//! An excerpt of a series: without its pauses, and of a long one parts that are spread over it.

use super::slots::SlotGenerator;
use crate::units::Duration;

/// Shortest pause in ns: a run lasts as long, so that a pause would be evidence.
const PAUSE: i64 = 10_000_000_000;
/// Length of a part in ns, and the fewest parts.
const PART: u128 = 60_000_000_000;
const PARTS: u128 = 6;

/// True if a time between two rows is a pause of the log, in which nothing is known of the link.
pub(super) fn is_pause(interval: i64, usual: i64) -> bool {
    interval >= PAUSE && interval / 5 >= usual.max(1)
}

/// The times between the pauses; the row before a pause holds for the usual interval.
pub(super) fn stretches(intervals: &[i64], usual: i64) -> Vec<(i64, i64)> {
    let (mut stretches, mut from, mut t) = (Vec::new(), 0, 0);
    for &interval in intervals {
        if is_pause(interval, usual) {
            stretches.push((from, t + usual));
            from = t + interval;
        }
        t += interval;
    }
    stretches.push((from, t + usual));
    stretches
}

/// Parts of a series of length `end` that hold `most` slots together.
///
/// They are spread by slots, so that each slot, and each time without slots, is as likely in a part
/// as any other.
pub(super) fn parts(slots: &SlotGenerator<'_>, end: i64, most: u64) -> Vec<(i64, i64)> {
    let parts = spread(slots.len() as u64, Duration::from_nanos(end.unsigned_abs()), most);
    let times = slots.times(parts.flat_map(|(first, end)| [first, end]));
    times.chunks_exact(2).map(|part| (part[0], part[1])).collect()
}

/// Parts of a log of `all` slots and this length, spread evenly over it, that hold `most` slots together:
/// the first slot of each, and the one behind it. A part lasts a minute, but there are six at least.
///
/// ```
/// use clift::trace::series::spread;
/// use clift::units::Duration;
/// let parts: Vec<_> = spread(1200, Duration::from_secs(60), 60).collect();
/// assert_eq!(parts[..2], [(0, 10), (200, 210)]);
/// assert_eq!(parts.len(), 6);
/// ```
pub fn spread(all: u64, length: Duration, most: u64) -> impl Iterator<Item = (u64, u64)> {
    let (all, most) = (u128::from(all), u128::from(most));
    let count = (u128::from(length.as_nanos()) * most / all.max(1) / PART).max(PARTS);
    (0..count).map(move |part| {
        let first = part * all / count;
        (first as u64, (first + (most / count).max(1)) as u64)
    })
}

/// Total length of parts.
pub(super) fn length(parts: &[(i64, i64)]) -> i64 {
    parts.iter().map(|(from, to)| to - from).sum()
}
