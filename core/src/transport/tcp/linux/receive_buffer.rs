//! Growth of the receive buffer, which affects ACKs: Linux acknowledges at once each segment that
//! lets its window grow (`tcp_grow_window` in `tcp_input.c` makes `icsk_ack.quick` odd), so that
//! few ACKs are delayed in slow start. With `window_growth` the receiver announces this window;
//! otherwise it announces the configured one.

use crate::units::{Duration, Instant};

/// Initial window in bytes; it is announced in whole segments (`tcp_select_initial_window`).
const INITIAL: u64 = 65_536;
/// Room for payload in the buffer of a new connection, `tcp_rmem` by default, once the ratio of
/// payload to packet memory is known: five eighths of 131,072 bytes.
const FIRST_LIMIT: u64 = 81_920;
/// Room for payload in the largest buffer: five eighths of 32 MiB.
const LAST_LIMIT: u64 = 20_971_520;
/// Segments of an initial window, which arrive in the first round trip.
const FIRST_ROUND: u64 = 10;

/// The shift of announced windows: the largest buffer, for windows of at most `most` bytes, fits into
/// 16 bits (`tcp_select_initial_window`).
fn scale_of(most: u32) -> u32 {
    let buffer = u64::from(most).min(LAST_LIMIT) * 8 / 5;
    buffer.max(1).ilog2().saturating_sub(15)
}

/// The window that a SYN-ACK announces, in bytes, for segments of `segment` bytes. The buffer then
/// reserves one segment (`tcp_init_buffer_space`).
pub(crate) fn first_window(segment: u32) -> u32 {
    let segment = segment.max(1);
    (INITIAL as u32 / segment * segment).max(segment)
}

/// The window that the buffer allows, in bytes, and its limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiveBuffer {
    /// Payload of a full segment.
    segment: u64,
    window: u64,
    limit: u64,
    /// Maximum number of bytes that the application read in a round trip.
    taken: u64,
    /// Start of this round trip, as byte and as time.
    round: (u64, Instant),
    /// Eight times the round-trip time in nanoseconds, measured by echoed timestamps; 0 before the
    /// first sample.
    rtt8: u64,
    last_echo: Instant,
    /// Announced windows are multiples of 1 << `scale` bytes.
    scale: u32,
}

impl ReceiveBuffer {
    /// A buffer for segments that carry `segment` bytes beside options, and for windows of at most `most`
    /// bytes.
    pub(super) fn new(segment: u32, most: u32) -> Self {
        let segment = u64::from(segment.max(1));
        Self {
            segment,
            window: INITIAL.saturating_sub(segment).max(segment),
            limit: FIRST_LIMIT,
            taken: FIRST_ROUND * segment,
            round: (0, Instant::ZERO),
            rtt8: 0,
            last_echo: Instant::ZERO,
            scale: scale_of(most),
        }
    }

    /// The window to announce, at least `told` bytes, while `held` bytes wait: it is a multiple of what
    /// its scale can tell (`__tcp_select_window`, `tcp_select_window`).
    #[inline]
    pub(super) fn window(&self, held: u64, told: u64) -> u64 {
        let free = self.limit.saturating_sub(held);
        let free = if self.is_half_used(held) { free >> self.scale << self.scale } else { free };
        told.max(self.window.min(free)).next_multiple_of(1 << self.scale)
    }

    /// True if the application, which has read all but `held` bytes, makes a window of `told` bytes at
    /// least twice as large: then an ACK leaves (`__tcp_cleanup_rbuf`).
    #[inline]
    pub(super) fn reopens(&self, held: u64, told: u64) -> bool {
        2 * told <= self.limit && 2 * told <= self.window(held, 0)
    }

    /// True if more than half of the room is used by `held` bytes.
    #[inline]
    pub(super) fn is_half_used(&self, held: u64) -> bool {
        held > self.limit / 2
    }

    /// The handshake is complete: the first round trip begins.
    pub(super) fn begin(&mut self, now: Instant) {
        self.round = (0, now);
    }

    /// Handles a full segment that echoes a timestamp of this end, whose clock counts milliseconds
    /// (`tcp_rcv_rtt_measure_ts`). A shorter round trip replaces the estimate at once
    /// (`tcp_rcv_rtt_update`).
    #[inline]
    pub(super) fn on_echo(&mut self, now: Instant, echo: Instant) {
        if echo == self.last_echo {
            return;
        }
        self.last_echo = echo;
        let rtt = millis(now).saturating_sub(millis(echo)).max(1) * 1_000_000;
        let shorter = self.rtt8 == 0 || rtt * 8 < self.rtt8;
        self.rtt8 = if shorter { rtt * 8 } else { self.rtt8 - self.rtt8 / 8 + rtt };
    }

    /// Handles a new segment, with which `used` bytes wait for the application or behind a gap.
    /// Returns true if the window grows.
    #[inline]
    pub(super) fn grows(&mut self, used: u64) -> bool {
        let needed = used + self.window;
        if needed >= self.limit {
            return false;
        }
        self.window += (self.limit - needed).min(2 * self.segment);
        true
    }

    /// Handles a segment beyond a gap; `ahead` bytes lie between the next byte expected and the end
    /// of the segment. The buffer grows to hold all waiting data (`tcp_rcvbuf_grow`, from
    /// `tcp_data_queue_ofo`).
    pub(super) fn on_gap(&mut self, ahead: u64) {
        self.limit = self.limit.max((2 * self.taken + ahead).min(LAST_LIMIT));
    }

    /// The application has read everything below byte `next`. Once per round trip the buffer grows
    /// for a sender that doubles its rate (`tcp_rcv_space_adjust`). Of data that fill a gap the
    /// segment that ends at byte `first` is read first: the others still wait, and count against it.
    #[inline]
    pub(super) fn on_taken(&mut self, now: Instant, first: u64, next: u64, ahead: u64) {
        let (from, since) = self.round;
        let rtt = Duration::from_nanos(self.rtt8 / 8);
        if self.rtt8 == 0 || now.saturating_since(since) < rtt {
            return;
        }
        self.round = (first, now);
        let taken = (first - from).saturating_sub(next - first);
        if taken > self.taken {
            let twice = 2 * taken;
            let growth =
                u128::from(twice) * u128::from(taken - self.taken) / u128::from(self.taken);
            let growth = u64::try_from(2 * growth).unwrap_or(u64::MAX);
            let wanted = twice.saturating_add(growth).saturating_add(ahead).min(LAST_LIMIT);
            self.limit = self.limit.max(wanted);
            self.taken = taken;
        }
    }
}

fn millis(time: Instant) -> u64 {
    time.as_nanos() / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// The first 16,384 bytes are six steps of two segments. After that the window grows only when
    /// the application has read more than ten segments in a round trip.
    #[test]
    fn the_window_of_a_new_connection_grows_in_six_steps() {
        let mut buffer = ReceiveBuffer::new(1448, u32::MAX);
        assert_eq!((0..20).filter(|_| buffer.grows(1448)).count(), 6);
        buffer.on_taken(at(50), 14_480, 14_480, 0);
        assert!(!buffer.grows(1448), "the round-trip time is unknown");
        buffer.begin(at(0));
        buffer.on_echo(at(100), at(1));
        buffer.on_taken(at(100), 14_480, 14_480, 0);
        assert!(!buffer.grows(1448));
        // 20 segments: room for 2 x 20, and twice that for the doubled rate.
        buffer.on_taken(at(150), 30_000, 30_000, 0);
        assert!(!buffer.grows(1448), "the round trip is not over");
        buffer.on_taken(at(200), 14_480 + 28_960, 14_480 + 28_960, 0);
        assert_eq!(buffer.limit, 57_920 * 3);
        assert!(!buffer.grows(100_000), "waiting data use the room");
        assert_eq!((0..100).filter(|_| buffer.grows(1448)).count(), 32); // 91,840 bytes
    }

    /// 45 segments at first, but the buffer reserves one of 65,536 bytes. Data behind a gap use the
    /// remaining room.
    #[test]
    fn the_window_is_the_free_room_of_the_buffer() {
        let mut buffer = ReceiveBuffer::new(1448, u32::MAX);
        assert_eq!((buffer.window, first_window(1448)), (64_088, 65_160));
        assert_eq!(buffer.window(0, 0), 63 << 10, "told in kB");
        buffer.grows(1448);
        assert_eq!(buffer.window(0, 0), 66 << 10);
        assert_eq!(buffer.window(FIRST_LIMIT - 3000, 0), 2 << 10, "little room is not rounded up");
        assert_eq!(buffer.window(FIRST_LIMIT - 3000, 5000), 5 << 10, "a window never moves back");
        assert_eq!(first_window(100_000), 100_000, "a segment always fits");
    }

    /// As in Linux 7.2.13 with `tcp_rmem` of 16,402,912 and of 33,554,432 bytes.
    #[test]
    fn the_scale_is_that_of_the_largest_buffer() {
        assert_eq!([10_251_820, 20_971_520, u32::MAX, 65_160, 1].map(scale_of), [8, 10, 10, 1, 0]);
    }

    /// 20 segments are read at once behind a gap: 1 less the 19 that wait for it ends the round trip.
    #[test]
    fn data_behind_a_gap_do_not_count_in_the_round_trip_that_fills_it() {
        let mut buffer = ReceiveBuffer::new(1448, u32::MAX);
        buffer.on_echo(at(100), at(1));
        buffer.on_taken(at(100), 1448, 20 * 1448, 0);
        assert_eq!((buffer.limit, buffer.round), (FIRST_LIMIT, (1448, at(100))));
    }

    #[test]
    fn a_steady_rate_does_not_grow_the_buffer() {
        let mut buffer = ReceiveBuffer::new(1448, u32::MAX);
        buffer.on_echo(at(100), at(1));
        let mut grown = 0;
        for round in 0..1000 {
            buffer.on_taken(at(100 * round), 50_000 * round, 50_000 * round, 0);
            grown += u32::from(buffer.grows(1448) && round > 500);
        }
        assert_eq!(grown, 0);
        buffer.on_taken(at(200_000), 1 << 40, 1 << 40, 0);
        assert_eq!(buffer.limit, LAST_LIMIT);
    }
}
