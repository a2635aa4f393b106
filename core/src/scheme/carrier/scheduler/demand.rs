//! Demand assignment.

use std::collections::VecDeque;

use rand_chacha::ChaCha8Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CarrierOptions, Scheduler, SchedulerParameters, Terminals};
use crate::config::Fault;
use crate::units::{BitRate, Duration};

/// Terminals request capacity, and a controller assigns the slots of each frame (ETSI EN 301 790,
/// EN 301 545-2). A request at the start of a frame covers the bytes that
/// wait and that no earlier request covers. It is served in the first frame that begins a round trip
/// later. Slots go to constant rates first, then to requested rates, then to requested volumes, then
/// to all terminals in turn; terminals of one class take turns.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Demand {
    /// Demand: duration of a frame; it has as many whole slots as fit.
    pub frame: Duration,
    /// Demand: rate that each terminal has without a request (constant rate assignment, CRA).
    pub constant: Option<BitRate>,
    /// Demand: maximum rate that a terminal may request (rate-based dynamic capacity, RBDC). A
    /// terminal spreads what it requests over `spread` frames; slots that are not granted are
    /// requested again. A slot that exceeds the maximum of a frame counts for the next frames too.
    /// Default: no requests of rates.
    pub rate: Option<BitRate>,
    /// Demand: frames over which a request of a rate spreads the bytes.
    pub spread: u32,
    /// Demand: whether terminals request volumes (volume-based dynamic capacity, VBDC), beyond the
    /// rates that they request. The controller keeps volumes until it has granted them.
    pub volume: bool,
    /// Demand: whether the slots that remain go to all terminals in turn (free capacity
    /// assignment, FCA).
    pub free: bool,
}

impl Default for Demand {
    fn default() -> Self {
        Self {
            frame: Duration::from_millis(30),
            constant: None,
            rate: None,
            spread: 8,
            volume: true,
            free: true,
        }
    }
}

/// Bounds of the slots of a frame, of the frames that a request spreads over, of those frames times
/// the terminals, and of the frames of a round trip. The link allocates by each of them.
const MOST_SLOTS: u64 = 1_000_000;
const MOST_SPREAD: u32 = 1000;
const MOST_RATES: u64 = 10_000_000;
const MOST_LATENCY: u64 = 100_000;

impl Demand {
    /// Slots of a frame.
    fn slots(&self, carrier: &CarrierOptions) -> u64 {
        (self.frame.as_nanos() / carrier.slot_time().as_nanos().max(1)).max(1)
    }

    /// Frames from a request to the frame that serves it: a round trip, at least one.
    fn latency(&self, carrier: &CarrierOptions) -> u64 {
        let frame = self.slots(carrier) * carrier.slot_time().as_nanos();
        (2 * carrier.delay.as_nanos()).div_ceil(frame.max(1)).max(1)
    }
}

impl SchedulerParameters for Demand {
    fn check(&self, carrier: &CarrierOptions) -> Result<(), Fault> {
        if self.frame < carrier.slot_time() {
            let message = format!(
                "{} has no whole slot of {}; give a longer frame",
                self.frame,
                carrier.slot_time()
            );
            return Err(Fault::new("frame", message));
        }
        let slots = self.slots(carrier);
        if slots > MOST_SLOTS {
            let message = format!(
                "{} holds {slots} slots of {}; give a frame of at most {MOST_SLOTS} slots",
                self.frame,
                carrier.slot_time()
            );
            return Err(Fault::new("frame", message));
        }
        if self.latency(carrier) > MOST_LATENCY {
            return Err(Fault::new(
                "frame",
                "a round trip has over 100000 frames; give longer ones",
            ));
        }
        if self.spread == 0 || self.spread > MOST_SPREAD {
            let message = format!("{} frames; give 1 to {MOST_SPREAD}", self.spread);
            return Err(Fault::new("spread", message));
        }
        if u64::from(self.spread) * u64::from(carrier.terminals) > MOST_RATES {
            let message = format!(
                "{} frames for each of {} terminals are over {MOST_RATES}; give fewer",
                self.spread, carrier.terminals
            );
            return Err(Fault::new("spread", message));
        }
        let constant = self.constant.map_or(0, BitRate::bits_per_second);
        if constant.saturating_mul(u64::from(carrier.terminals)) > carrier.rate.bits_per_second() {
            let cure = "the carrier is slower than the constant rates of all terminals; give less";
            return Err(Fault::new("constant", cure));
        }
        if self.constant.is_none() && self.rate.is_none() && !self.volume && !self.free {
            let cure = "nothing assigns slots; give constant, rate, volume or free";
            return Err(Fault::new("free", cure));
        }
        Ok(())
    }

    fn build(&self, carrier: &CarrierOptions, _: ChaCha8Rng) -> Box<dyn Scheduler> {
        let terminals = carrier.terminals as usize;
        let frame = u128::from(self.slots(carrier)) * u128::from(carrier.slot_time().as_nanos());
        let of_frame = |rate: BitRate| {
            let bits = u128::from(rate.bits_per_second()) * frame / 1_000_000_000;
            u64::try_from(bits / 8).unwrap_or(u64::MAX)
        };
        Box::new(Controller {
            slots: self.slots(carrier) as usize,
            slot: u64::from(carrier.slot.0),
            constant: self.constant.map_or(0, of_frame),
            owed: vec![0; terminals],
            rate: self.rate.map(of_frame),
            volume: self.volume,
            free: self.free,
            rates: vec![vec![0; terminals]; self.spread as usize],
            exceeded: vec![0; terminals],
            covered: vec![0; terminals],
            open: 0,
            volumes: vec![0; terminals],
            under_way: (0..self.latency(carrier)).map(|_| Vec::new()).collect(),
            turn: 0,
        })
    }
}

/// A request of a terminal, in bytes.
#[derive(Clone, Copy, Debug)]
struct Request {
    terminal: usize,
    /// To be granted in the frame that serves the request.
    rate: u64,
    /// To be granted at any time from then on.
    volume: u64,
}

/// The controller, and the terminals' side of the requests. All amounts are bytes.
#[derive(Debug)]
struct Controller {
    /// Slots of a frame.
    slots: usize,
    /// Bytes of a slot.
    slot: u64,
    /// Of a frame at the constant rate of a terminal.
    constant: u64,
    /// What the constant rate of each terminal amounts to so far, and it has not got: a frame may have
    /// fewer slots than terminals.
    owed: Vec<u64>,
    /// Of a frame at the maximum rate that a terminal may request.
    rate: Option<u64>,
    volume: bool,
    free: bool,
    /// What each terminal will request as a rate, by frame modulo their number.
    rates: Vec<Vec<u64>>,
    /// What each terminal got as a rate beyond its maximum, in whole slots: less for the next frames.
    exceeded: Vec<u64>,
    /// What is requested for each terminal, or will be, and not granted yet.
    covered: Vec<u64>,
    /// The sum of `covered`.
    open: u64,
    /// What was requested by volume and not granted yet, by terminal.
    volumes: Vec<u64>,
    /// Requests on their way, the oldest first: one entry for each frame of the round trip.
    under_way: VecDeque<Vec<Request>>,
    /// The terminal that is the first to get a slot.
    turn: usize,
}

impl Scheduler for Controller {
    fn slots(&self) -> usize {
        self.slots
    }

    fn assign(&mut self, frame: u64, terminals: &Terminals, plan: &mut [Option<u32>]) {
        let requests = self.request(frame, terminals);
        self.under_way.push_back(requests);
        let served = self.under_way.pop_front().unwrap_or_default();
        let mut slots = plan.iter_mut();
        self.grant_constant(&mut slots);
        self.grant_rates(&served, &mut slots);
        served.iter().for_each(|request| self.volumes[request.terminal] += request.volume);
        self.grant_volumes(&mut slots);
        if self.free {
            let (count, all) = (terminals.len() as u64, plan.len() as u64);
            for (place, slot) in (0..).zip(plan).filter(|(_, slot)| slot.is_none()) {
                *slot = Some(((frame * all + place) % count) as u32);
            }
        }
    }

    fn is_busy(&self, _: u64) -> bool {
        self.open > 0
    }
}

type Slots<'a> = std::slice::IterMut<'a, Option<u32>>;

impl Controller {
    /// The requests that terminals send at the start of a frame.
    fn request(&mut self, frame: u64, terminals: &Terminals) -> Vec<Request> {
        let spread = self.rates.len() as u64;
        let mut requests = Vec::new();
        for terminal in terminals.all_waiting() {
            let mut open = terminals.waiting(terminal).saturating_sub(self.covered[terminal]);
            let wanted = open;
            if let Some(most) = self.rate {
                for place in 0..spread {
                    let own = &mut self.rates[((frame + place) % spread) as usize][terminal];
                    let part = open.div_ceil(spread - place).min(most.saturating_sub(*own));
                    *own += part;
                    open -= part;
                }
            }
            let volume = if self.volume { open } else { 0 };
            self.covered[terminal] += wanted - open + volume;
            self.open += wanted - open + volume;
            if volume > 0 {
                requests.push(Request { terminal, rate: 0, volume });
            }
        }
        let now = &mut self.rates[(frame % spread) as usize];
        let rates = now.iter_mut().enumerate().filter(|(_, rate)| **rate > 0);
        requests.extend(rates.map(|(terminal, rate)| Request {
            terminal,
            rate: std::mem::take(rate),
            volume: 0,
        }));
        requests
    }

    /// Grants constant rates, in whole slots.
    fn grant_constant(&mut self, slots: &mut Slots<'_>) {
        if self.constant == 0 {
            return;
        }
        self.owed.iter_mut().for_each(|owed| *owed += self.constant);
        let due = |(terminal, owed): (usize, &u64)| (terminal, owed / self.slot);
        let wanted: Vec<_> = self.owed.iter().enumerate().map(due).collect();
        for (terminal, granted) in self.share(&wanted, slots).into_iter().enumerate() {
            self.owed[terminal] -= granted * self.slot;
        }
    }

    /// Grants requested rates, in whole slots; what does not fit is no longer requested.
    fn grant_rates(&mut self, served: &[Request], slots: &mut Slots<'_>) {
        let Some(most) = self.rate else { return };
        let rates: Vec<_> = served.iter().filter(|request| request.rate > 0).collect();
        let due = |request: &&Request| {
            let left = most.saturating_sub(self.exceeded[request.terminal]);
            (request.terminal, request.rate.min(left).div_ceil(self.slot))
        };
        let wanted: Vec<_> = rates.iter().map(due).collect();
        let granted = self.share(&wanted, slots);
        for (&(terminal, _), granted) in wanted.iter().zip(granted) {
            self.exceeded[terminal] += granted * self.slot;
        }
        self.exceeded.iter_mut().for_each(|bytes| *bytes = bytes.saturating_sub(most));
        rates.into_iter().for_each(|request| self.uncover(request.terminal, request.rate));
    }

    fn grant_volumes(&mut self, slots: &mut Slots<'_>) {
        let open = self.volumes.iter().enumerate().filter(|(_, volume)| **volume > 0);
        let due = |(terminal, volume): (usize, &u64)| (terminal, volume.div_ceil(self.slot));
        let wanted: Vec<_> = open.map(due).collect();
        let granted = self.share(&wanted, slots);
        for ((terminal, _), granted) in wanted.into_iter().zip(granted) {
            let bytes = self.volumes[terminal].min(granted * self.slot);
            self.volumes[terminal] -= bytes;
            self.uncover(terminal, bytes);
        }
    }

    fn uncover(&mut self, terminal: usize, bytes: u64) {
        self.covered[terminal] -= bytes;
        self.open -= bytes;
    }

    /// Grants terminals, in ascending order, the slots that they want, one in turn; returns how many
    /// each got.
    fn share(&mut self, wanted: &[(usize, u64)], slots: &mut Slots<'_>) -> Vec<u64> {
        let mut granted = vec![0; wanted.len()];
        let first = wanted.partition_point(|&(terminal, _)| terminal < self.turn);
        let order = (first..wanted.len()).chain(0..first);
        let mut waiting: VecDeque<usize> = order.filter(|&place| wanted[place].1 > 0).collect();
        while let Some(place) = waiting.pop_front() {
            let Some(slot) = slots.next() else { break };
            let (terminal, most) = wanted[place];
            *slot = Some(terminal as u32);
            self.turn = terminal + 1;
            granted[place] += 1;
            if granted[place] < most {
                waiting.push_back(place);
            }
        }
        granted
    }
}
