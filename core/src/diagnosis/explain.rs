//! A diagnosis as a tree that JSON can represent.

use std::sync::Arc;

use crate::diagnosis::budget::{Budget, Part};
use crate::diagnosis::cut::Cut;
use crate::diagnosis::flight::PacketHistory;
use crate::diagnosis::found::{Diagnosis, Moment};
use crate::diagnosis::{Cause, PacketFate, Trigger, Why};
use crate::link::Transit;
use crate::metrics::Value;
use crate::units::{Duration, Instant, counted};

/// Cuts that an explanation lists.
const COSTLIEST: usize = 10;

impl Diagnosis {
    /// The budget, the costliest cuts, and with `at` what kept the senders from sending at that
    /// instant. Rates are in kbit/s over the run, times in s.
    ///
    /// - `capacity_kbps`, `goodput_kbps`, `budget`: a table of `cause`, `title`, `kbps` and `share` of
    ///   the capacity for each cause.
    /// - `hops`: of each limiting hop its number `hop`, its `name`, and the same three. There are
    ///   several if a flow has several paths.
    /// - `limited_by`: the cause that cost most.
    /// - `cuts`: their number by trigger and truth; `costliest`: those with the largest estimates, each
    ///   with its `events`, which led to it or followed, in words and in order of time.
    /// - `moment`: [`Moment`], with the cut of each sender.
    pub fn explain(&self, at: Option<Instant>) -> Value {
        let budget = &self.budget;
        let mut values = vec![
            ("duration_s", seconds(self.ended)),
            ("hop", budget.hops.first().map(|&hop| hop as u64).into()),
        ];
        values.extend(self.uses(budget));
        let hops = self.shares.iter().zip(&self.names).map(|(own, name)| {
            let mut hop = vec![
                ("hop", own.hops.first().map(|&hop| hop as u64).into()),
                ("name", name_value(name.as_ref())),
            ];
            hop.extend(self.uses(own));
            Value::Table(hop)
        });
        values.extend([
            ("hops", Value::List(hops.collect())),
            ("limited_by", Value::from(self.limited_by().map(Name))),
            ("cuts", self.counts()),
        ]);
        let mut costliest: Vec<usize> = (0..self.cuts.len()).collect();
        costliest.sort_by_key(|&number| std::cmp::Reverse(self.cuts[number].cost_bits));
        costliest.truncate(COSTLIEST);
        let costliest = costliest.into_iter().map(|number| self.cut(number)).collect();
        values.push(("costliest", Value::List(costliest)));
        if let Some(at) = at {
            values.push(("moment", self.at(at)));
        }
        Value::Table(values)
    }

    /// The cause that cost most; `None` if the goodput took all.
    pub fn limited_by(&self) -> Option<Cause> {
        self.budget.parts.iter().max_by_key(|part| part.bits).map(|part| part.cause)
    }

    fn kbps(&self, bits: u64) -> Value {
        let seconds = self.ended.as_secs_f64();
        if seconds > 0.0 { (bits as f64 / seconds / 1e3).into() } else { 0.0.into() }
    }

    /// What a budget says.
    fn uses(&self, budget: &Budget) -> [(&'static str, Value); 3] {
        let parts = budget.parts.iter().map(|part| self.part(budget, part)).collect();
        [
            ("capacity_kbps", self.kbps(budget.capacity_bits)),
            ("goodput_kbps", self.kbps(budget.goodput_bits)),
            ("budget", Value::List(parts)),
        ]
    }

    /// Which connection or path of a flow it is.
    fn which(&self, flow: u32, connection: u32) -> [(&'static str, Value); 5] {
        let several = self.several[flow as usize];
        let path = several.then(|| u64::from(connection));
        [
            ("flow", u64::from(flow).into()),
            ("name", name_value(self.flows[flow as usize].as_ref())),
            ("connection", if several { 0 } else { u64::from(connection) }.into()),
            ("path", path.into()),
            ("over", name_value(self.name_of(flow, connection).filter(|_| several).as_ref())),
        ]
    }

    fn part(&self, budget: &Budget, part: &Part) -> Value {
        let share = part.bits as f64 / budget.capacity_bits as f64;
        Value::Table(vec![
            ("cause", Name(part.cause).into()),
            ("title", Value::Text(part.cause.title().into())),
            ("kbps", self.kbps(part.bits)),
            ("share", share.into()),
        ])
    }

    fn counts(&self) -> Value {
        let count = |of: &dyn Fn(&Cut) -> bool| {
            (self.cuts.iter().filter(|cut| of(cut)).count() as u64).into()
        };
        let by = |trigger: Trigger, why: Why| {
            count(&move |cut| cut.trigger == trigger && cut.why() == why)
        };
        Value::Table(vec![
            ("losses", count(&|cut| cut.cause() == Cause::TrueLoss && cut.why() == Why::Lost)),
            ("drops", count(&|cut| cut.cause() == Cause::QueueFull)),
            ("false_losses", count(&|cut| cut.cause() == Cause::FalseLoss)),
            ("timeouts_lost", by(Trigger::Timeout, Why::Lost)),
            ("timeouts_arrived", by(Trigger::Timeout, Why::Arrived)),
            ("marks", count(&|cut| cut.trigger == Trigger::Mark)),
            ("unknown", count(&|cut| cut.trigger != Trigger::Mark && cut.why() == Why::Unknown)),
            ("handshake_timeouts", self.handshake_timeouts.into()),
        ])
    }

    fn cut(&self, number: usize) -> Value {
        let cut = &self.cuts[number];
        let trigger = match cut.trigger {
            Trigger::DuplicateAcks => "duplicate_acks",
            Trigger::Probe => "tail_loss_probe",
            Trigger::Timeout => "timeout",
            Trigger::Mark => "mark",
        };
        let why = match cut.why() {
            Why::Lost => "lost",
            Why::Arrived => "arrived",
            Why::Unknown => "unknown",
        };
        let mut values = vec![("number", (number as u64).into()), ("at_s", seconds(cut.at))];
        values.extend(self.which(cut.flow, cut.connection));
        values.extend([
            ("cause", Name(cut.cause()).into()),
            ("trigger", Value::Text(trigger.into())),
            ("packet_was", Value::Text(why.into())),
            ("window_before_packets", cut.before.into()),
            ("window_after_packets", cut.after.into()),
            ("duplicate_acks", cut.duplicate_acks.into()),
            ("overtaken_by", u64::from(cut.overtaken_by).into()),
            ("undone_s", cut.undone.map(Instant::as_secs_f64).into()),
            ("cost_kbps", self.kbps(cut.cost_bits)),
            ("packet", cut.packet.as_ref().map_or(Value::Missing, packet)),
            ("events", Value::List(self.events(number, cut))),
        ]);
        Value::Table(values)
    }

    fn at(&self, at: Instant) -> Value {
        let Moment { from, until, capacity_bits, idle_bits, erased_bits, senders } =
            self.moment(at, LOOK.min(Duration::from_nanos(self.ended.as_nanos() / 20)));
        let span = until.saturating_since(from).as_secs_f64();
        let kbps = |bits: u64| (bits as f64 / span.max(1e-9) / 1e3).into();
        let share = |bits: u64| match capacity_bits {
            0 => 0.0,
            all => bits as f64 / all as f64,
        };
        let sender = |(flow, connection, cause, cut): (u32, u32, Cause, Option<usize>)| {
            let mut values = Vec::from(self.which(flow, connection));
            values.extend([
                ("cause", Name(cause).into()),
                ("title", Value::Text(cause.title().into())),
                ("cut", cut.map_or(Value::Missing, |number| self.cut(number))),
            ]);
            Value::Table(values)
        };
        Value::Table(vec![
            ("at_s", seconds(at)),
            ("from_s", seconds(from)),
            ("until_s", seconds(until)),
            ("capacity_kbps", kbps(capacity_bits)),
            ("idle_kbps", kbps(idle_bits)),
            ("idle_share", share(idle_bits).into()),
            ("erased_share", share(erased_bits).into()),
            ("senders", Value::List(senders.into_iter().map(sender).collect())),
        ])
    }

    /// What led to a cut, and what followed, in words and in order of time.
    fn events(&self, number: usize, cut: &Cut) -> Vec<Value> {
        let packet = cut.packet.as_ref();
        let mut events = packet.map_or_else(Vec::new, |packet| self.of_packet(packet));
        if cut.overtaken_by > 0 {
            let late = counted(cut.overtaken_by, "packet that was", "packets that were");
            events.push((cut.at, format!("{late} sent after it had arrived")));
        }
        events.push((cut.at, cut.words(number)));
        if let Some(at) = cut.undone {
            events.push((at, "the sender undid the cut".into()));
        }
        // Stable, so that events of the same instant stay in the order of their causes.
        events.sort_by_key(|(at, _)| *at);
        let event = |(at, text): (Instant, String)| {
            Value::Table(vec![("at_s", seconds(at)), ("text", Value::Text(text.into()))])
        };
        events.into_iter().map(event).collect()
    }

    /// What happened to a packet, in words.
    fn of_packet(&self, packet: &PacketHistory) -> Vec<(Instant, String)> {
        let again = if packet.retransmission > 0 { " again" } else { "" };
        let (bytes, start) = (packet.len, packet.start);
        let sent = format!("a packet of {bytes} bytes was sent{again} (byte {start})");
        let mut events = vec![(packet.sent, sent)];
        let millis = |from: Instant, to: Instant| to.saturating_since(from).as_secs_f64() * 1e3;
        let waited = packet.transit.as_ref().and_then(|it| {
            (it.departed > it.entered)
                .then(|| (it.departed, format!(" after {:.0} ms", millis(it.entered, it.departed))))
        });
        if let Some((at, after)) = waited.as_ref().filter(|_| packet.fate != PacketFate::Dropped) {
            events.push((*at, format!("it left the queue{after}")));
        }
        if let (Some(&at), Some(transit)) = (packet.erased.first(), &packet.transit) {
            events.push((at, of_erasures(packet.erased.len(), transit.lldus)));
        }
        // Hops after the shared ones are the flows' own legs.
        let place = |hop: usize| self.places.get(hop).map_or("the access leg", String::as_str);
        match (packet.fate, &packet.transit, packet.ended, packet.hop) {
            (PacketFate::Arrived, Some(transit), ..) => {
                let crossed = millis(transit.departed, transit.at);
                let by = match packet.again + packet.repair {
                    0 => String::new(),
                    repairs => format!(", with {}", counted(repairs, "repair", "repairs")),
                };
                let what = format!("the link delivered it after {crossed:.0} ms{by}");
                events.push((transit.at, what));
            }
            (PacketFate::Lost, _, Some(at), Some(hop)) => {
                let outage =
                    if self.with_outages.get(hop) == Some(&true) { "an outage of " } else { "" };
                events.push((at, format!("{outage}{} lost it", place(hop))));
            }
            (PacketFate::Dropped, _, Some(at), Some(hop)) => {
                let after = waited.map_or(String::new(), |(_, after)| after);
                events.push((at, format!("the queue of {} dropped it{after}", place(hop))));
            }
            _ => {}
        }
        events
    }
}

/// Time before and after an instant in which a moment counts slots.
const LOOK: Duration = Duration::from_millis(250);

/// The name of a cause in JSON.
struct Name(Cause);

impl From<Name> for Value {
    fn from(Name(cause): Name) -> Self {
        Self::Text(cause.name().into())
    }
}

impl Cut {
    /// What happened at its time, in words; `number` is its place among the cuts of the run.
    pub fn words(&self, number: usize) -> String {
        let (heard, what) = match (self.trigger, self.duplicate_acks) {
            (Trigger::Mark, _) => (String::new(), "ECN mark"),
            (Trigger::Probe, _) => (String::new(), "the ACK of a tail loss probe shows the loss"),
            (Trigger::DuplicateAcks, 0) => (String::new(), "taken for lost"),
            (Trigger::Timeout, 0) => (String::new(), "retransmission timeout"),
            (Trigger::DuplicateAcks, acks) => (of_acks(acks), "taken for lost"),
            (Trigger::Timeout, acks) => (of_acks(acks), "retransmission timeout"),
        };
        let (before, after) = (self.before, self.after);
        let window = match after < before {
            true => format!("window cut from {before:.0} to {after:.0} packets"),
            false => format!("the window stays at {before:.0} packets"),
        };
        format!("{heard}{what}: {window} (cut:{number})")
    }
}

fn of_acks(acks: u64) -> String {
    format!("{}, ", counted(acks, "duplicate ACK", "duplicate ACKs"))
}

/// The first erasure of a unit with a part of a packet, in words.
fn of_erasures(erased: usize, lldus: u32) -> String {
    let one = if lldus == 1 { "its LLDU".into() } else { format!("one of its {lldus} LLDUs") };
    match erased {
        1 => format!("{one} was erased"),
        several => format!("{one} was erased, the first of {several} erasures"),
    }
}

fn name_value(name: Option<&Arc<str>>) -> Value {
    name.map_or(Value::Missing, |name| Value::Text(name.to_string().into()))
}

fn seconds(at: Instant) -> Value {
    at.as_secs_f64().into()
}

fn packet(packet: &PacketHistory) -> Value {
    let fate = match packet.fate {
        PacketFate::UnderWay => "under_way",
        PacketFate::Arrived => "arrived",
        PacketFate::Lost => "lost",
        PacketFate::Dropped => "dropped",
    };
    let time = |at: Option<Instant>| at.map(Instant::as_secs_f64).into();
    let transit = |of: fn(&Transit) -> Instant| time(packet.transit.as_ref().map(of));
    Value::Table(vec![
        ("first_byte", packet.start.into()),
        ("bytes", u64::from(packet.len).into()),
        ("retransmission", u64::from(packet.retransmission).into()),
        ("sent_s", seconds(packet.sent)),
        ("entered_link_s", transit(|it| it.entered)),
        ("left_queue_s", transit(|it| it.departed)),
        ("left_link_s", transit(|it| it.at)),
        ("units", packet.transit.map(|it| u64::from(it.lldus)).into()),
        ("units_erased", (packet.erased.len() as u64).into()),
        ("first_erased_s", time(packet.erased.first().copied())),
        ("erased_s", Value::List(packet.erased.iter().copied().map(seconds).collect())),
        ("units_sent_again", u64::from(packet.again).into()),
        ("repair_units", u64::from(packet.repair).into()),
        ("fate", Value::Text(fate.into())),
        ("fate_s", time(packet.ended)),
        ("fate_hop", packet.hop.map(|hop| hop as u64).into()),
    ])
}
