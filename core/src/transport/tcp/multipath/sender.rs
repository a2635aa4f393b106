//! The sending end: hands segments to paths, and to other paths if one fails.

use std::collections::VecDeque;

use super::scheduler::{PathScheduler, PathState, Waiting};
use crate::transport::{
    Chunk, Contents, Endpoint, EndpointChange, Limit, Outbox, Packet, PathReport, Received, Report,
    Window,
};
use crate::units::{Bytes, Duration, Instant};

/// Windows of data that a send buffer takes: twice the largest window, of segments that take 2304
/// bytes of memory for 1448 bytes of data (`tcp_sndbuf_expand`).
const BUFFER: f64 = 2.0 * 2304.0 / 1448.0;

/// See [`Multipath::MOST_PATHS`](super::Multipath::MOST_PATHS).
pub(super) const MOST_PATHS: usize = 8;

/// Which data bytes of a subflow are (RFC 8684 section 3.3.1): the first byte of the subflow, the first
/// of the data, and the byte after the last.
pub(super) type Mapping = (u64, u64, u64);

/// Those of a packet that ends one segment of the data and begins another, as its contents.
pub(super) type Mappings = Vec<Mapping>;

/// Sends over several paths.
pub(super) struct MultipathSender {
    paths: Vec<Path>,
    scheduler: Box<dyn PathScheduler>,
    mss: u64,
    /// The receive window of the connection, in bytes, and the first byte that it does not allow.
    window: u64,
    edge: u64,
    /// First byte that does not fit into the send buffers; data leave them when they are acknowledged
    /// in the data sequence.
    buffered: u64,
    /// Bytes that the application has written; `u64::MAX`: it always has more.
    supplied: u64,
    closed: bool,
    /// First byte that no path has.
    next: u64,
    /// All bytes below are acknowledged.
    acked: u64,
    /// Segments that another path is to carry too, because the one that has them seems to have
    /// failed.
    again: VecDeque<Again>,
    /// The paths that may carry data now.
    open: Vec<PathState>,
}

/// A segment to be carried by another path than `failed`.
#[derive(Clone, Copy, Debug)]
struct Again {
    segment: Segment,
    failed: usize,
}

/// A segment that a subflow carries.
#[derive(Clone, Copy, Debug)]
struct Segment {
    /// First byte in the subflow.
    seq: u64,
    /// First byte of the data.
    start: u64,
    len: u64,
    /// When the data were first sent, over any path; `None`: not yet.
    first_sent: Option<Instant>,
}

/// A subflow.
struct Path {
    end: Box<dyn Endpoint>,
    /// Its segments that it has not acknowledged, and how many of them other paths carry too.
    segments: VecDeque<Segment>,
    copied: usize,
    /// Bytes handed to it.
    written: u64,
    /// Bytes of it that are not in its sender yet.
    granted: u64,
    acked: u64,
    timeouts: u64,
    /// True from a timeout until a segment is acknowledged.
    suspect: bool,
    /// The first byte that it has not carried, where every path carries everything.
    next: u64,
    /// When it may carry data: a further path waits for the acknowledgement of its join (RFC 8684
    /// section 3.2).
    opens: Option<Instant>,
    /// Whether that time has come.
    is_open: bool,
    rtt: RoundTrip,
    reinjected: u64,
    /// The largest congestion window that it had, segments.
    widest: u64,
}

/// The round-trip time of a path, and its deviation as it follows from the changes of the mean (RFC
/// 6298: a sample moves the mean by an eighth of its distance).
#[derive(Clone, Copy, Debug, Default)]
struct RoundTrip {
    smoothed: Duration,
    deviation: Duration,
}

impl RoundTrip {
    fn update(&mut self, smoothed: Duration) {
        let (old, new) = (self.smoothed.as_nanos(), smoothed.as_nanos());
        if old == 0 {
            self.deviation = Duration::from_nanos(new / 2);
        } else if old != new {
            let deviation = (3 * self.deviation.as_nanos() + 8 * old.abs_diff(new)) / 4;
            self.deviation = Duration::from_nanos(deviation);
        }
        self.smoothed = smoothed;
    }
}

impl MultipathSender {
    pub(super) fn new(
        ends: Vec<Box<dyn Endpoint>>,
        (mss, window): (Bytes, u32),
        scheduler: Box<dyn PathScheduler>,
    ) -> Self {
        let path = |end| Path {
            end,
            segments: VecDeque::new(),
            copied: 0,
            written: 0,
            granted: 0,
            acked: 0,
            timeouts: 0,
            suspect: false,
            next: 0,
            opens: None,
            is_open: false,
            rtt: RoundTrip::default(),
            reinjected: 0,
            widest: 0,
        };
        Self {
            paths: ends.into_iter().map(path).collect(),
            scheduler,
            mss: mss.0.into(),
            window: window.into(),
            edge: window.into(),
            buffered: u64::MAX,
            supplied: 0,
            closed: false,
            next: 0,
            acked: 0,
            again: VecDeque::new(),
            open: Vec::new(),
        }
    }

    /// Length of the segment at `start` of the data, if it may be sent.
    fn segment_at(&self, start: u64) -> Option<u64> {
        let len = self.supplied.saturating_sub(start).min(self.mss);
        (len > 0 && start + len <= self.edge.min(self.buffered)).then_some(len)
    }

    /// First byte of the data that a path may be given.
    fn next_of(&self, path: &Path) -> u64 {
        if self.scheduler.copies() { path.next.max(self.acked) } else { self.next }
    }

    /// What keeps a path from sending; `None`: the scheduler gives it no data.
    fn limit_of(&self, path: &Path) -> Option<Limit> {
        let Window { cwnd, in_flight, .. } = path.end.window().unwrap_or_default();
        let next = self.next_of(path);
        match self.supplied.saturating_sub(next) {
            0 if self.closed => Some(Limit::Path),
            0 => Some(Limit::Application),
            _ if matches!(path.end.limit(), Limit::ReceiveWindow | Limit::MostWindow) => {
                Some(path.end.limit())
            }
            _ if !path.is_open || path.end.unsent() > 0 || in_flight as f64 >= cwnd => {
                Some(Limit::Path)
            }
            _ if self.segment_at(next).is_none() => Some(Limit::ReceiveWindow),
            _ => None,
        }
    }

    /// Has a subflow send what it has.
    fn send(&mut self, number: usize, now: Instant, outbox: &mut Outbox) -> Option<Instant> {
        let more = self.segment_at(self.next_of(&self.paths[number])).is_some();
        let path = &mut self.paths[number];
        if path.granted > 0 {
            path.end.write(0, std::mem::take(&mut path.granted), false);
        }
        path.end.expect(more);
        let first = outbox.sent().len();
        let timeout = path.end.transmit(now, outbox);
        for index in first..outbox.sent().len() {
            let id = outbox.sent()[index];
            let packet = &mut outbox[id];
            packet.path = number as u8;
            if packet.len > 0 {
                let (seq, end) = (packet.segment.seq, packet.segment.seq + u64::from(packet.len));
                let at = path.segments.partition_point(|segment| segment.seq <= seq);
                let at = at.saturating_sub(1);
                let segment = &mut path.segments[at];
                packet.start = segment.start + (seq - segment.seq);
                packet.first_sent = *segment.first_sent.get_or_insert(packet.first_sent);
                if end > segment.seq + segment.len {
                    outbox.attach_to(id, Box::new(path.mappings(at, seq, end)));
                }
            }
        }
        timeout
    }

    /// Opens the further paths once the first is open; returns when the next one may carry data.
    fn join(&mut self, now: Instant) -> Option<Instant> {
        if !self.paths[0].end.is_open() {
            return None;
        }
        let mut opens = None;
        for (number, path) in self.paths.iter_mut().enumerate() {
            if number > 0 && path.opens.is_none() {
                path.end.open();
            }
            if path.opens.is_none() && path.end.is_open() {
                let rtt = path.end.window().and_then(|window| window.srtt).unwrap_or_default();
                path.rtt.update(rtt);
                path.opens = Some(if number > 0 { now + rtt } else { now });
            }
            opens = opens.into_iter().chain(path.opens.filter(|&at| at > now)).min();
        }
        opens
    }

    /// Lists the paths that may carry data, without those that seem to have failed if there are
    /// others.
    fn look(&mut self, now: Instant) {
        for path in &mut self.paths {
            path.is_open = path.opens.is_some_and(|at| at <= now);
            if path.is_open {
                let cwnd = path.end.window().map_or(0.0, |window| window.cwnd);
                path.widest = path.widest.max(cwnd as u64);
            }
        }
        if self.scheduler.buffers() {
            let buffers = self.paths.iter().map(|path| path.buffer(self.mss)).sum::<u64>();
            self.buffered = self.acked.saturating_add(buffers);
        }
        let works = self.paths.iter().any(|path| path.is_open && !path.suspect);
        self.open.clear();
        for (number, path) in self.paths.iter_mut().enumerate() {
            if !path.is_open || (path.suspect && works) {
                continue;
            }
            let window = path.end.window().unwrap_or_default();
            let (cwnd, in_flight) = (window.cwnd as u64, window.in_flight);
            let queued = (path.written - path.acked).div_ceil(self.mss);
            let room = if self.scheduler.buffers() {
                path.buffer(self.mss).div_ceil(self.mss).saturating_sub(queued)
            } else if path.end.unsent() == 0 {
                cwnd.saturating_sub(in_flight)
            } else {
                0 // What a path has been given leaves first.
            };
            let RoundTrip { smoothed: srtt, deviation } = path.rtt;
            let pace = pace(&window, queued);
            let state = PathState { number, srtt, deviation, cwnd, in_flight, room, queued, pace };
            self.open.push(state);
        }
    }

    /// Gives a segment to the path at `place` of the open ones.
    fn grant(&mut self, place: usize, segment: Segment) {
        let state = &mut self.open[place];
        state.in_flight += 1;
        state.queued += 1;
        // A short segment ends what is written at once: the next one begins a packet.
        state.room = if segment.len < self.mss { 0 } else { state.room.saturating_sub(1) };
        let path = &mut self.paths[state.number];
        path.segments.push_back(Segment { seq: path.written, ..segment });
        path.written += segment.len;
        path.granted += segment.len;
    }

    fn choose(&mut self, paths: &[PathState]) -> Option<usize> {
        let waiting = Waiting {
            segments: match self.supplied {
                u64::MAX => u64::MAX,
                supplied => supplied.saturating_sub(self.next).div_ceil(self.mss),
            },
            window: self.window / self.mss,
            room: self.edge.saturating_sub(self.next) / self.mss,
        };
        let at = self.scheduler.choose(paths, waiting)?;
        paths.get(at).filter(|path| path.room > 0).map(|_| at)
    }

    /// Gives segments of a failed path to others.
    fn grant_again(&mut self) {
        while let Some(&Again { segment, failed }) = self.again.front() {
            if segment.start + segment.len > self.acked {
                let others = self.open.iter().filter(|path| path.number != failed);
                let others: Vec<PathState> = others.copied().collect();
                let Some(chosen) = self.choose(&others) else { return };
                let number = others[chosen].number;
                self.paths[number].reinjected += segment.len;
                if let Some(place) = self.open.iter().position(|path| path.number == number) {
                    self.grant(place, segment);
                }
            }
            self.again.pop_front();
        }
    }

    /// Gives new data to paths.
    fn grant_new(&mut self) {
        while let Some(len) = self.segment_at(self.next) {
            let open = std::mem::take(&mut self.open);
            let chosen = self.choose(&open);
            let also = chosen.map(|first| self.scheduler.also(&open, first)).unwrap_or_default();
            self.open = open;
            let Some(place) = chosen else { return };
            let segment = Segment { seq: 0, start: self.next, len, first_sent: None };
            self.grant(place, segment);
            for place in also {
                let Some(&PathState { number, room, .. }) = self.open.get(place) else { continue };
                let has_it = |own: &Segment| own.start == segment.start;
                if room > 0 && !self.paths[number].segments.back().is_some_and(has_it) {
                    self.grant(place, segment);
                }
            }
            self.next += len;
        }
    }

    /// Gives every path what it has not carried.
    fn grant_copies(&mut self) {
        for place in 0..self.open.len() {
            let number = self.open[place].number;
            let mut start = self.paths[number].next.max(self.acked);
            while self.open[place].room > 0
                && let Some(len) = self.segment_at(start)
            {
                self.grant(place, Segment { seq: 0, start, len, first_sent: None });
                start += len;
            }
            self.paths[number].next = start;
            self.next = self.next.max(start);
        }
    }
}

/// Rate at which Linux paces segments (`tcp_update_pacing_rate`), segments per second.
fn pace(window: &Window, queued: u64) -> f64 {
    let share = if window.cwnd < window.ssthresh / 2.0 { 2.0 } else { 1.2 };
    let rtt = window.srtt.unwrap_or_default().as_secs_f64();
    share * window.cwnd.max(queued.min(window.in_flight) as f64) / rtt
}

impl Path {
    /// Bytes of data that its send buffer takes.
    fn buffer(&self, mss: u64) -> u64 {
        (BUFFER * (self.widest * mss) as f64) as u64
    }

    /// Which data the bytes `seq..end` of the subflow are, from the segment at `at` on. A segment that
    /// the edge of a window cuts leaves in two parts, the second together with the segment after it.
    fn mappings(&self, at: usize, seq: u64, end: u64) -> Mappings {
        let those = self.segments.range(at..).take_while(|segment| segment.seq < end);
        let each = those.map(|segment| {
            let from = seq.max(segment.seq);
            let start = segment.start + (from - segment.seq);
            (from, start, start + (end.min(segment.seq + segment.len) - from))
        });
        each.collect()
    }

    /// The segments that the subflow has acknowledged are at the receiver.
    fn forget_acknowledged(&mut self) {
        let acked = self.end.acknowledged().unwrap_or(0);
        if acked == self.acked {
            return;
        }
        self.acked = acked;
        self.suspect = false;
        while self.segments.front().is_some_and(|segment| segment.seq + segment.len <= acked) {
            self.segments.pop_front();
            self.copied = self.copied.saturating_sub(1);
        }
    }

    /// Whether a retransmission timeout has expired since the last call.
    fn has_timed_out(&mut self) -> bool {
        let timeouts = self.end.report().sender.timeouts;
        timeouts > std::mem::replace(&mut self.timeouts, timeouts)
    }
}

impl Endpoint for MultipathSender {
    fn open(&mut self) {
        self.paths[0].end.open();
    }

    fn is_open(&self) -> bool {
        self.paths[0].end.is_open()
    }

    fn write(&mut self, _: u32, bytes: u64, _: bool) {
        if !self.closed && bytes > 0 {
            self.supplied = self.supplied.saturating_add(bytes);
            self.open();
        }
    }

    fn close(&mut self) {
        self.closed = true;
        if self.supplied == u64::MAX {
            self.supplied = self.next;
        }
    }

    fn read(&mut self) -> Option<Chunk> {
        None
    }

    fn unsent(&self) -> u64 {
        self.supplied.saturating_sub(self.next)
    }

    fn total(&self) -> Option<u64> {
        self.closed.then_some(self.supplied)
    }

    fn handle(&mut self, now: Instant, packet: &Packet, contents: Option<Contents>) -> Received {
        let path = &mut self.paths[usize::from(packet.path)];
        path.end.handle(now, packet, contents);
        path.forget_acknowledged();
        if let Some(srtt) = path.end.window().and_then(|window| window.srtt) {
            path.rtt.update(srtt);
        }
        self.acked = self.acked.max(packet.start);
        self.edge = self.edge.max(packet.start + u64::from(packet.segment.window));
        Received::Ack(self.acked)
    }

    fn transmit(&mut self, now: Instant, outbox: &mut Outbox) -> Option<Instant> {
        let mut timeout = self.join(now);
        let mut timeouts: [Option<Instant>; MOST_PATHS] = Default::default();
        let timeouts = &mut timeouts[..self.paths.len()];
        for (number, timeout) in timeouts.iter_mut().enumerate() {
            *timeout = self.send(number, now, outbox);
        }
        self.look(now);
        self.grant_again();
        match self.scheduler.copies() {
            true => self.grant_copies(),
            false => self.grant_new(),
        }
        for (number, mut due) in timeouts.iter().copied().enumerate() {
            if self.paths[number].granted > 0 {
                due = self.send(number, now, outbox);
            }
            timeout = timeout.into_iter().chain(due).min();
        }
        timeout
    }

    fn handle_timeout(&mut self, now: Instant) {
        for number in 0..self.paths.len() {
            let path = &mut self.paths[number];
            path.end.handle_timeout(now);
            if path.has_timed_out() && !path.segments.is_empty() {
                path.suspect = true;
                if !self.scheduler.copies() {
                    let lost = path.segments.range(path.copied..);
                    self.again.extend(lost.map(|&segment| Again { segment, failed: number }));
                    path.copied = path.segments.len();
                }
            }
        }
    }

    fn delivered(&self) -> u64 {
        0
    }

    fn acknowledged(&self) -> Option<u64> {
        Some(self.acked)
    }

    fn report(&self) -> Report {
        let reports = self.paths.iter().map(|path| path.end.report());
        reports.reduce(|sum, path| sum.beside(&path)).unwrap_or_default()
    }

    fn paths(&self) -> Vec<PathReport> {
        let of = |path: &Path| PathReport {
            report: path.end.report(),
            window: path.end.window(),
            reinjected: path.reinjected,
            limit: self.limit_of(path),
            acknowledged: path.end.acknowledged().unwrap_or(0),
            is_open: path.is_open,
        };
        self.paths.iter().map(of).collect()
    }

    fn limit(&self) -> Limit {
        match self.unsent() {
            0 if self.closed => Limit::Path,
            0 => Limit::Application,
            _ if self.segment_at(self.next).is_none() => Limit::ReceiveWindow,
            _ => Limit::Path,
        }
    }

    fn change(&mut self, now: Instant, change: &EndpointChange) -> bool {
        let (EndpointChange::KeepWindow { path } | EndpointChange::Foresee { path, .. }) = change
        else {
            return false;
        };
        let path = self.paths.get_mut(*path as usize);
        path.is_some_and(|path| path.end.change(now, change))
    }

    /// The sums of the windows, and the least round-trip time.
    fn window(&self) -> Option<Window> {
        let windows = self.paths.iter().filter_map(|path| path.end.window());
        windows.reduce(|sum, path| Window {
            cwnd: sum.cwnd + path.cwnd,
            ssthresh: sum.ssthresh + path.ssthresh,
            srtt: sum.srtt.into_iter().chain(path.srtt).min(),
            in_flight: sum.in_flight + path.in_flight,
        })
    }
}
