//! An excerpt of a series: without its pauses, and of a long one parts that are spread over it.

use super::slots::SlotGenerator;

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
    let (all, most) = (slots.len() as u128, u128::from(most));
    let length = u128::from(end.unsigned_abs()) * most / all;
    let count = (length / PART).max(PARTS);
    let bounds = (0..count).flat_map(|part| {
        let first = part * all / count;
        [first, first + (most / count).max(1)]
    });
    let times = slots.times(bounds.map(|slot| slot as u64));
    times.chunks_exact(2).map(|part| (part[0], part[1])).collect()
}

/// Total length of parts.
pub(super) fn length(parts: &[(i64, i64)]) -> i64 {
    parts.iter().map(|(from, to)| to - from).sum()
}
