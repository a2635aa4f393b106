//! What keeps a sender from sending, as the window's history explains it.

use crate::simulation::SenderState;
use crate::transport::{Limit, Window};
use crate::units::{Duration, Instant};

/// The causes: a row for each, with its name in JSON and its title.
macro_rules! causes {
    ($($(#[$doc:meta])* $cause:ident = $name:literal, $title:literal;)+) => {
        /// What capacity was spent on, or why it was not used.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Cause {
            $($(#[$doc])* $cause,)+
        }

        impl Cause {
            /// All causes, in the order in which a budget lists them.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$cause),+];

            /// Its name in JSON.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$cause => $name),+
                }
            }

            /// What it is, in a few words.
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$cause => $title),+
                }
            }
        }
    };
}

causes! {
    /// Units sent and erased.
    Erased = "erased", "erased LLDUs";
    /// What the link sent beyond the packets: repair units, repeated units, unit headers.
    Repair = "repair", "repairs of the link";
    /// What a code above the link added: repair packets, headers.
    Coding = "coding", "coding above the link";
    /// Received units of packets that the link gave up or lost.
    GivenUp = "given_up", "packets that the link lost";
    /// Padding of LLDUs, and headers of the link.
    Padding = "padding", "padding of LLDUs";
    /// Smaller slots in a fade.
    Fade = "fade", "smaller slots in a fade";
    /// An outage of a leg: slots in it, and packets that it lost.
    Outage = "outage", "outage";
    /// Packet headers, and packets without data.
    Headers = "headers", "headers";
    /// Data that the receiver had already.
    Duplicate = "duplicate", "data received twice";
    /// Packets that a later hop lost or dropped.
    LostLater = "lost_later", "packets lost behind the link";
    /// Packets on their way, or data not in order, at the end of the run.
    Unfinished = "unfinished", "under way at the end";
    /// No data of the application: before its start, after its end, or a pause.
    Application = "application", "no data of the application";
    /// The handshake of the connection.
    Handshake = "handshake", "handshake";
    /// The receive window.
    ReceiveWindow = "receive_window", "receive window";
    /// The upper limit of the congestion window.
    MostWindow = "cwnd_max", "limit cwnd_max";
    /// The window grows in slow start and was never cut.
    SlowStart = "slow_start", "slow start";
    /// The congestion window or the pacing rate, without a cut.
    Window = "window", "congestion window";
    /// The path scheduler of a connection over several paths gave the data to other paths, or kept
    /// them for one, although the window had room.
    Scheduler = "path_scheduler", "path scheduler";
    /// A window cut after a packet that a queue dropped.
    QueueFull = "queue_full", "window cut by a queue's drop";
    /// A window cut after a packet that was lost elsewhere.
    TrueLoss = "true_loss", "window cut by a loss";
    /// A window cut after a packet that arrived: reordering or delay looked like a loss.
    FalseLoss = "false_loss", "window cut without a loss";
    /// A retransmission timeout: the wait for it, and the window after it.
    Timeout = "timeout", "timeout";
    /// A window cut after an ECN mark.
    Mark = "mark", "window cut by an ECN mark";
    /// Packets waited, and the link used no slot: no HARQ process was free, or no slot was assigned to
    /// them.
    Link = "link", "link waits";
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
