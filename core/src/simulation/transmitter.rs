//! What stands behind the queue of a wired leg: a transmitter, random loss, propagation.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use crate::link::{Propagation, Usage};
use crate::seed::Geometric;
use crate::simulation::setup::{LegConfig, Loss};
use crate::units::{BitRate, Bytes, Duration, Instant};

/// It sends one packet after the other at a fixed rate. Only a path that gets shorter lets packets
/// overtake one another.
#[derive(Debug)]
pub(super) struct Transmitter {
    rate: Option<BitRate>,
    delay: Propagation,
    loss: LossProcess,
    /// The time that everything takes behind it, if nothing is lost or overtakes.
    lead: Option<Duration>,
    free_at: Instant,
    last_arrival: Instant,
    /// Time to send a packet of the size sent last: sizes hardly change, divisions are slow.
    last_size: (Bytes, Duration),
}

impl Transmitter {
    /// That of `config`; losses are drawn from `rng`.
    pub(super) fn new(config: &LegConfig, rng: ChaCha8Rng) -> Self {
        let (delay, loss) = (config.delay.clone(), LossProcess::new(&config.loss, rng));
        let lead = match (&delay, &loss) {
            (Propagation::Fixed(delay), LossProcess::None) => Some(*delay),
            _ => None,
        };
        Self {
            rate: config.rate,
            delay,
            loss,
            lead,
            free_at: Instant::ZERO,
            last_arrival: Instant::ZERO,
            last_size: (Bytes(0), Duration::ZERO),
        }
    }

    /// Begins to send a packet at `starts`, when it is free; `data`: it carries some. When it is at
    /// the far end; `None` if it is lost on the way.
    #[inline(always)] // called for every packet: a call costs as much as what it does
    pub(super) fn send(&mut self, starts: Instant, size: Bytes, data: bool) -> Option<Instant> {
        self.free_at = starts + self.time_to_send(size);
        if let Some(lead) = self.lead {
            return Some(self.free_at + lead);
        }
        match self.loss.next(data, self.free_at) {
            Fate::Kept => Some(self.arrival()),
            Fate::Held(time) => Some(self.arrival() + time),
            Fate::Lost => None,
        }
    }

    /// Whether no packet overtakes another.
    pub(super) fn keeps_order(&self) -> bool {
        let holds = matches!(&self.loss, LossProcess::Listed(listed) if !listed.held.is_empty());
        !holds && !matches!(self.delay, Propagation::Varying { keep_order: false, .. })
    }

    /// The time that everything it is given takes at least; `None` if that is not known, if packets
    /// overtake one another or if some are lost: a loss is reported as soon as the packet was sent.
    pub(super) fn lead(&self) -> Option<Duration> {
        self.lead
    }

    #[inline]
    fn arrival(&mut self) -> Instant {
        match &self.delay {
            Propagation::Fixed(delay) => self.free_at + *delay,
            Propagation::Varying { series, keep_order } => {
                let at = self.free_at + series.at(self.free_at);
                if !keep_order {
                    return at;
                }
                self.last_arrival = self.last_arrival.max(at);
                self.last_arrival
            }
        }
    }

    /// When it has sent all that it was given.
    #[inline]
    pub(super) fn free_at(&self) -> Instant {
        self.free_at
    }

    /// When it begins to send the packet that it was given last.
    pub(super) fn last_start(&self) -> Instant {
        match self.rate {
            Some(_) => Instant::ZERO + ((self.free_at - Instant::ZERO) - self.last_size.1),
            None => self.free_at,
        }
    }

    /// Bytes that it could send until `now`, and those of `given` that it sent until then; a slot is a
    /// byte. `None` without a rate.
    pub(super) fn usage(&self, now: Instant, given: u64) -> Option<Usage> {
        let per_nano = self.rate?.bits_per_second() as f64 / 8e9;
        let ahead = self.free_at.saturating_since(now).as_nanos() as f64 * per_nano;
        Some(Usage {
            slots: now.as_nanos() as f64 * per_nano,
            used: (given as f64 - ahead).max(0.0),
            per_lldu: 1.0,
            slot: Bytes(1),
            ..Usage::NONE
        })
    }

    #[inline]
    fn time_to_send(&mut self, size: Bytes) -> Duration {
        if self.last_size.0 != size {
            let time = self.rate.map_or(Duration::ZERO, |rate| rate.time_to_send(size));
            self.last_size = (size, time);
        }
        self.last_size.1
    }
}

/// What happens to a packet once it is sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fate {
    Kept,
    /// It arrives so much later.
    Held(Duration),
    Lost,
}

/// Which packets are lost, or held back, behind the transmitter.
#[derive(Debug)]
enum LossProcess {
    None,
    /// Independent losses, drawn as the number of packets until the next one.
    Random {
        rng: Box<ChaCha8Rng>,
        law: Geometric,
        until_next: u64,
    },
    Listed(Box<Listed>),
    Outages(Arc<[(Instant, Instant)]>),
}

/// Packets named one by one.
#[derive(Debug)]
struct Listed {
    /// Only packets that carry data count.
    data_only: bool,
    lost: Arc<[u64]>,
    held: Arc<[(u64, Duration)]>,
    next_lost: usize,
    next_held: usize,
    sent: u64,
}

impl LossProcess {
    fn new(loss: &Loss, mut rng: ChaCha8Rng) -> Self {
        match loss {
            Loss::None => Self::None,
            Loss::Random(p) if p.get() == 0.0 => Self::None,
            Loss::Random(p) => {
                let law = Geometric::with_end(p.get());
                let until_next = law.draw(&mut rng);
                Self::Random { rng: Box::new(rng), law, until_next }
            }
            Loss::Packets(lost) => Self::listed(lost, &Arc::default(), false),
            Loss::Data { lost, held } => Self::listed(lost, held, true),
            Loss::Outages(spans) => Self::Outages(Arc::clone(spans)),
        }
    }

    fn listed(lost: &Arc<[u64]>, held: &Arc<[(u64, Duration)]>, data_only: bool) -> Self {
        let (lost, held) = (Arc::clone(lost), Arc::clone(held));
        let (next_lost, next_held, sent) = (0, 0, 0);
        Self::Listed(Box::new(Listed { data_only, lost, held, next_lost, next_held, sent }))
    }

    #[inline(always)] // as above
    fn next(&mut self, data: bool, sent: Instant) -> Fate {
        match self {
            Self::None => Fate::Kept,
            Self::Random { until_next, .. } if *until_next > 0 => {
                *until_next -= 1;
                Fate::Kept
            }
            _ => self.draw(data, sent),
        }
    }

    fn draw(&mut self, data: bool, sent: Instant) -> Fate {
        match self {
            Self::None => Fate::Kept,
            Self::Random { rng, law, until_next } => {
                *until_next = law.draw(rng);
                Fate::Lost
            }
            Self::Listed(listed) if data || !listed.data_only => listed.next(),
            Self::Listed(_) => Fate::Kept,
            Self::Outages(spans) => {
                let next = spans.partition_point(|&(_, end)| end <= sent);
                let is_out = spans.get(next).is_some_and(|&(begin, _)| begin <= sent);
                if is_out { Fate::Lost } else { Fate::Kept }
            }
        }
    }
}

impl Listed {
    fn next(&mut self) -> Fate {
        let number = self.sent;
        self.sent += 1;
        let time = self.held.get(self.next_held).filter(|(held, _)| *held == number);
        self.next_held += usize::from(time.is_some());
        if self.lost.get(self.next_lost) == Some(&number) {
            self.next_lost += 1;
            return Fate::Lost;
        }
        time.map_or(Fate::Kept, |&(_, time)| Fate::Held(time))
    }
}
