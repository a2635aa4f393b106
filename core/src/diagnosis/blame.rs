//! What keeps a sender from sending, as the window's history explains it.

use crate::simulation::SenderState;
use crate::transport::{Limit, Window};
use crate::units::{Duration, Instant};

/// What capacity was spent on, or why it was not used.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Cause {
    /// Units sent and erased.
    Erased,
    /// What the link sent beyond the packets: repair units, repeated units, unit headers.
    Repair,
    /// What a code above the link added: repair packets, headers.
    Coding,
    /// Received units of packets that the link gave up or lost.
    GivenUp,
    /// Padding of LLDUs, and headers of the link.
    Padding,
    /// Smaller slots in a fade.
    Fade,
    /// An outage of a leg: slots in it, and packets that it lost.
    Outage,
    /// Packet headers, and packets without data.
    Headers,
    /// Data that the receiver had already.
    Duplicate,
    /// Packets that a later hop lost or dropped.
    LostLater,
    /// Packets on their way, or data not in order, at the end of the run.
    Unfinished,
    /// No data of the application: before its start, after its end, or a pause.
    Application,
    /// The handshake of the connection.
    Handshake,
    /// The receive window.
    ReceiveWindow,
    /// The upper limit of the congestion window.
    MostWindow,
    /// The window grows in slow start and was never cut.
    SlowStart,
    /// The congestion window or the pacing rate, without a cut.
    Window,
    /// The path scheduler of a connection over several paths gave the data to other paths, or kept
    /// them for one, although the window had room.
    Scheduler,
    /// A window cut after a packet that a queue dropped.
    QueueFull,
    /// A window cut after a packet that was lost elsewhere.
    TrueLoss,
    /// A window cut after a packet that arrived: reordering or delay looked like a loss.
    FalseLoss,
    /// A retransmission timeout: the wait for it, and the window after it.
    Timeout,
    /// A window cut after an ECN mark.
    Mark,
    /// Packets waited, and the link used no slot: no HARQ process was free, or no slot was assigned to
    /// them.
    Link,
}

impl Cause {
    /// All causes, in the order in which a budget lists them.
    pub const ALL: [Self; 24] = [
        Self::Erased,
        Self::Repair,
        Self::Coding,
        Self::GivenUp,
        Self::Padding,
        Self::Fade,
        Self::Outage,
        Self::Headers,
        Self::Duplicate,
        Self::LostLater,
        Self::Unfinished,
        Self::Application,
        Self::Handshake,
        Self::ReceiveWindow,
        Self::MostWindow,
        Self::SlowStart,
        Self::Window,
        Self::Scheduler,
        Self::QueueFull,
        Self::TrueLoss,
        Self::FalseLoss,
        Self::Timeout,
        Self::Mark,
        Self::Link,
    ];

    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Erased => "erased",
            Self::Repair => "repair",
            Self::Coding => "coding",
            Self::GivenUp => "given_up",
            Self::Padding => "padding",
            Self::Fade => "fade",
            Self::Outage => "outage",
            Self::Headers => "headers",
            Self::Duplicate => "duplicate",
            Self::LostLater => "lost_later",
            Self::Unfinished => "unfinished",
            Self::Application => "application",
            Self::Handshake => "handshake",
            Self::ReceiveWindow => "receive_window",
            Self::MostWindow => "cwnd_max",
            Self::SlowStart => "slow_start",
            Self::Window => "window",
            Self::Scheduler => "path_scheduler",
            Self::QueueFull => "queue_full",
            Self::TrueLoss => "true_loss",
            Self::FalseLoss => "false_loss",
            Self::Timeout => "timeout",
            Self::Mark => "mark",
            Self::Link => "link",
        }
    }

    /// What it is, in a few words.
    pub fn title(self) -> &'static str {
        match self {
            Self::Erased => "erased LLDUs",
            Self::Repair => "repairs of the link",
            Self::Coding => "coding above the link",
            Self::GivenUp => "packets that the link lost",
            Self::Padding => "padding of LLDUs",
            Self::Fade => "smaller slots in a fade",
            Self::Outage => "outage",
            Self::Headers => "headers",
            Self::Duplicate => "data received twice",
            Self::LostLater => "packets lost behind the link",
            Self::Unfinished => "under way at the end",
            Self::Application => "no data of the application",
            Self::Handshake => "handshake",
            Self::ReceiveWindow => "receive window",
            Self::MostWindow => "limit cwnd_max",
            Self::SlowStart => "slow start",
            Self::Window => "congestion window",
            Self::Scheduler => "path scheduler",
            Self::QueueFull => "window cut by a queue's drop",
            Self::TrueLoss => "window cut by a loss",
            Self::FalseLoss => "window cut without a loss",
            Self::Timeout => "timeout",
            Self::Mark => "window cut by an ECN mark",
            Self::Link => "link waits",
        }
    }
}

/// To what idle capacity is charged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Target {
    Cause(Cause),
    /// The cut of this number.
    Cut(usize),
}

/// What keeps a sender from sending: targets, and how much of the missing window each explains.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Blame {
    Cause(Cause),
    /// Cuts whose window the sender has not regained, in order of time. There is at least one.
    Cuts(Vec<Share>),
}

/// What a cut explains of idle capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    pub(super) cut: usize,
    /// Packets that are missing in the window because of it, or of what came before it.
    pub(super) packets: f64,
}

/// What a sender would send more without a cut alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extra {
    pub(super) cut: usize,
    /// Bytes by which its window would be larger.
    pub(super) window: f64,
    /// Bytes per second: a window goes once in a round-trip time.
    pub(super) rate: f64,
}

impl Blame {
    /// The target that explains most: of several cuts the one without which the sender would send most
    /// more, or else the last one.
    pub(super) fn main(&self, extras: &[Extra]) -> Target {
        let extra = |cut: usize| extras.iter().find(|it| it.cut == cut).map_or(0.0, |it| it.rate);
        match self {
            Self::Cause(cause) => Target::Cause(*cause),
            Self::Cuts(cuts) => {
                let most = cuts.iter().max_by(|a, b| extra(a.cut).total_cmp(&extra(b.cut)));
                most.map_or(Target::Cause(Cause::Window), |most| Target::Cut(most.cut))
            }
        }
    }
}

/// A cut whose window the sender has not regained.
#[derive(Clone, Copy, Debug)]
struct Open {
    cut: usize,
    at: Instant,
    /// Window before it, in packets.
    before: f64,
    /// Position of the last bytes sent before it: once they are acknowledged, it is repaired.
    until: u64,
}

/// By how much a window would be larger without a cut alone.
#[derive(Clone, Copy, Debug)]
struct Gap {
    cut: usize,
    before: f64,
    packets: f64,
}

/// Packets below which a gap is dropped, since a sender no longer feels it.
const LEAST_GAP: f64 = 0.05;

/// The history of a sender's window.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Bytes of the largest packet sent.
    pub(super) packet: u32,
    open: Vec<Open>,
    gaps: Vec<Gap>,
    /// Window at which the receive window or the upper limit of the window held the sender.
    ceiling: Option<f64>,
    last: SenderState,
    start: StartUp,
}

/// Whether the window still grows as in slow start. A control with a model has no threshold: it has
/// left start-up once its window grew by less than a quarter in three round-trip times each, which is
/// BBR's own criterion.
#[derive(Clone, Copy, Debug, Default)]
struct StartUp {
    round: Instant,
    window: f64,
    flat: u32,
}

/// Rounds without growth that end start-up, and growth that counts.
const FLAT_ROUNDS: u32 = 3;
const GROWTH: f64 = 1.25;

impl StartUp {
    fn note(&mut self, now: Instant, window: &Window) {
        let round = window.srtt.unwrap_or(Duration::ZERO);
        if window.ssthresh.is_finite() || now < self.round + round {
            return;
        }
        self.flat = if window.cwnd >= GROWTH * self.window { 0 } else { self.flat + 1 };
        self.window = self.window.max(window.cwnd);
        self.round = now;
    }

    fn is_on(&self, window: &Window) -> bool {
        window.cwnd < window.ssthresh && self.flat < FLAT_ROUNDS
    }
}

impl Ledger {
    /// Whether the sender has not regained the window before its last cut.
    pub(super) fn is_below(&self, cut: usize) -> bool {
        self.open.last().is_some_and(|open| open.cut == cut)
    }

    /// The state before the last one noted.
    pub(super) fn last(&self) -> &SenderState {
        &self.last
    }

    /// The sender reduced its window from `before` packets; it will be `after` once repaired.
    ///
    /// A cut shrinks the gaps of earlier cuts as it shrinks the window. A larger window also meets more
    /// losses: their number grows with the packets sent, so in the mean each cut stands for more than
    /// itself, by the gap relative to the window, and these further cuts shrink both. A full queue ends
    /// the gaps: the larger window would have filled it earlier, and both windows begin again from its
    /// limit.
    pub(super) fn cut(
        &mut self,
        cut: usize,
        at: Instant,
        before: f64,
        after: f64,
        is_queue_full: bool,
        until: u64,
    ) {
        let left = if before > 0.0 { (after / before).clamp(0.0, 1.0) } else { 1.0 };
        for gap in &mut self.gaps {
            let further = 1.0 + gap.packets / before.max(1.0);
            gap.packets *=
                if is_queue_full { 0.0 } else { left * libm::exp((left - 1.0) * further) };
        }
        self.gaps.retain(|gap| gap.packets > LEAST_GAP);
        self.gaps.push(Gap { cut, before, packets: (1.0 - left) * before });
        self.open.push(Open { cut, at, before, until });
    }

    /// What the sender would send more without each cut alone.
    pub(super) fn extras(&self) -> Vec<Extra> {
        let window = &self.last.window;
        // After a timeout, and in recovery, the window is below the one it was cut to.
        let is_below = window.cwnd < window.ssthresh;
        let last = self.gaps.len().saturating_sub(1);
        let room = self.ceiling.map_or(f64::INFINITY, |ceiling| (ceiling - window.cwnd).max(0.0));
        let gaps = self.gaps.iter().enumerate().map(|(number, gap)| {
            let below = if is_below && number == last { gap.before - window.cwnd } else { 0.0 };
            let packets = gap.packets.max(below).min(room);
            let window = packets * f64::from(self.packet);
            Extra { cut: gap.cut, window, rate: self.rate(packets) }
        });
        gaps.collect()
    }

    /// Bytes per second that packets of a window bring; 0 before a round-trip time is measured: a
    /// timeout of the handshake is not charged with what a window that never was would have carried.
    fn rate(&self, packets: f64) -> f64 {
        let round = self.last.window.srtt.filter(|srtt| *srtt > Duration::ZERO);
        round.map_or(0.0, |srtt| packets * f64::from(self.packet) / srtt.as_secs_f64())
    }

    /// Bytes per second that the last window noted brings.
    pub(super) fn last_rate(&self) -> f64 {
        self.rate(self.last.window.cwnd)
    }

    /// What each open cut explains of a window that has `cwnd` packets now: as one of all, the packets
    /// from the window before it down to the one before the next cut.
    fn shares(&self, cwnd: f64) -> Vec<Share> {
        let below = self.open.iter().skip(1).map(|next| next.before).chain([cwnd]);
        let share = |(open, to): (&Open, f64)| Share {
            cut: open.cut,
            packets: (open.before - to).max(0.0),
        };
        self.open.iter().zip(below).map(share).collect()
    }

    /// Takes the state of the sender, and says what keeps it from sending.
    /// `is_cut`: it has just cut its window.
    pub(super) fn note(&mut self, now: Instant, state: &SenderState, is_cut: bool) -> Blame {
        let window = &state.window;
        let before = std::mem::replace(&mut self.last, *state);
        let undone = state.counters.undo_events > before.counters.undo_events;
        // A window that falls segment by segment is the old one for a moment.
        let round = window.srtt.unwrap_or(Duration::ZERO);
        let over = |open: &Open| window.cwnd >= open.before && (undone || now > open.at + round);
        while self.open.last().is_some_and(over) {
            self.open.pop();
        }
        // Something else makes a repaired window fall: BBR's probe of the round-trip time, a pause of the
        // application.
        let falls = window.cwnd < before.window.cwnd && !is_cut;
        if falls && window.cwnd < window.in_flight as f64 {
            // Nor does it grow again as in slow start.
            self.start.flat = FLAT_ROUNDS;
        }
        let repaired = self.open.last().is_some_and(|open| before.acknowledged > open.until);
        if falls && repaired {
            self.open.clear();
            self.gaps.clear();
        }
        if undone {
            self.gaps.retain(|gap| gap.before > window.cwnd);
        }
        self.ceiling = self.ceiling.filter(|&ceiling| window.cwnd <= ceiling);
        if matches!(state.limit, Limit::ReceiveWindow | Limit::MostWindow) {
            // The window would be at its limit without any cut, too.
            self.ceiling = Some(window.cwnd);
            self.gaps.clear();
        }
        self.start.note(now, window);
        let is_full = window.in_flight as f64 >= window.cwnd;
        Blame::Cause(match state.limit {
            Limit::Application => Cause::Application,
            Limit::ReceiveWindow => Cause::ReceiveWindow,
            Limit::MostWindow => Cause::MostWindow,
            Limit::Path if !state.is_open => Cause::Handshake,
            Limit::Path if state.is_passed_over => Cause::Scheduler,
            Limit::Path if state.unsent == 0 && !is_full => Cause::Application,
            Limit::Path => match self.open.last() {
                Some(_) => return Blame::Cuts(self.shares(window.cwnd)),
                None if self.start.is_on(window) => Cause::SlowStart,
                None => Cause::Window,
            },
        })
    }
}
