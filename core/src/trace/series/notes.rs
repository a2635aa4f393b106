//! Notes on a series: what was understood, what was assumed, and what looks wrong.

use crate::trace::Notes;
use crate::trace::notes::readable;
use crate::units::counted;

use super::description::PACKET;
use super::excerpt;
use super::import::SeriesImport;
use crate::trace::given::{ColumnName, DelayIs, Given, Measured, RateIs, TimeFormat, column};

/// Units of times in the name of a column; `$`: at its end.
const TIMES: [(&str, &str); 8] = [
    ("_ms", "ms"),
    ("(ms", "ms"),
    ("_us", "us"),
    ("_ns", "ns"),
    ("(s)", "s"),
    ("_s$", "s"),
    ("_sec$", "s"),
    ("_seconds$", "s"),
];

/// A rate that is this many times that of 99 % of the rows is doubted.
const JUMP: u64 = 20;
/// Rows of which 1 % are a few.
const FEWEST_ROWS: usize = 200;

impl SeriesImport<'_> {
    pub(super) fn notes(&self, usual: i64) -> Notes {
        let series = self.series;
        let mut notes = self.made.clone().unwrap_or_default();
        let (understood, assumed) = (&mut notes.understood, &mut notes.assumed);
        if self.made.is_none() {
            let header = if self.header.is_some() { "a header" } else { "no header" };
            let rows = counted(self.rows, "row", "rows");
            understood.push(format!("{rows} of {} with {header}", self.between));
        }
        let time = match &series.time.format {
            TimeFormat::Unit(unit) => unit.to_string(),
            TimeFormat::Date => "dates".to_owned(),
            TimeFormat::Pattern(pattern) if series.time.format.is_clock() => {
                format!("times of day as {pattern}, each within half a day of the row before it")
            }
            TimeFormat::Pattern(pattern) => format!("dates as {pattern}"),
        };
        if self.made.is_none() {
            understood.push(format!("time is {} in {time}", self.named(&series.time.column)));
        }
        let given = [
            ("rate", self.said(series.how.rate.as_ref())),
            (
                match series.how.delay_is {
                    DelayIs::OneWay => "one-way delay",
                    DelayIs::RoundTrip => "round-trip time",
                },
                self.said(series.how.delay.as_ref()),
            ),
            ("loss", self.said(series.how.loss.as_ref())),
        ];
        understood.extend(
            given.into_iter().filter_map(|(what, said)| Some(format!("{what} is {}", said?))),
        );
        let [rates, delays] = &self.values;
        if let [least, .., most] = rates[..] {
            let [least, middle, most] = [least, median(rates), most].map(fast);
            understood.push(format!("rates from {least} to {most}, the median {middle}"));
        }
        if let [least, .., most] = delays[..] {
            let [least, middle, most] =
                [least, median(delays), most].map(|delay| readable(delay as i64));
            understood.push(format!("one-way delays from {least} to {most}, the median {middle}"));
        }
        match (&series.how.rate, &series.how.loss, series.how.rate_is) {
            (Some(_), Some(_), Some(RateIs::Received)) => understood
                .push("the rate counts received data: the lost part is added to it".to_owned()),
            (Some(Given::Column(..)), Some(_), None) => {
                assumed.push("the rate is what was sent, with what was lost (rate_is)".to_owned())
            }
            _ => {}
        }
        if let Some(hold) = series.how.max_hold {
            understood.push(format!("a row holds for {hold} at most, then an outage begins"));
        }
        let span = |nanos: u64| readable(nanos as i64);
        if self.outages > 0 {
            understood.push(format!(
                "{} (no rate or no delay), {} in all",
                counted(self.outages, "row is an outage", "rows are outages"),
                span(self.outage.unsigned_abs())
            ));
        }
        if let Some(shift) = series.how.clock_offset {
            understood.push(format!("{shift} were added to every delay"));
        }
        let has_zones = series.time.format == TimeFormat::Date && self.zones[0].is_none();
        if !matches!(series.time.format, TimeFormat::Unit(_)) && !has_zones {
            assumed.push("dates without an offset are in UTC".to_owned());
        }
        if self.decimals.lines[0].is_some() {
            assumed.push("decimal commas: `4,00` is 4.00".to_owned());
        }
        match series.how.rate {
            None if series.modem.is_none() => {
                assumed.push("no rate: one slot per row".to_owned());
            }
            _ => assumed.push(format!(
                "a row holds until the next, the last one for {}",
                span(usual.unsigned_abs())
            )),
        }
        if let Some((parts, slots, length)) = self.parts {
            assumed.push(format!(
                "{parts} parts, spread evenly over the log, stand for its {slots} slots and {}",
                span(length.unsigned_abs())
            ));
        }
        if series.how.lldu.is_none() && series.modem.is_none() {
            let rate =
                if series.how.rate.is_none() { ", which the rate is counted with" } else { "" };
            assumed.push(format!("LLDUs of {} bytes{rate}", PACKET.0));
        }
        match (&series.how.delay, series.how.delay_is) {
            (None, _) if series.modem.is_some() => assumed.push(
                "no delay: a frame is there once its last symbol is, and the round trip is not known"
                    .to_owned(),
            ),
            (None, _) => assumed.push("no delay: LLDUs arrive 1 ns after they are sent".to_owned()),
            (Some(_), DelayIs::OneWay) => assumed.push("the delay is one way".to_owned()),
            (Some(_), DelayIs::RoundTrip) => {
                assumed.push("half of the round-trip time is the way there".to_owned());
            }
        }
        if series.how.delay.is_some() {
            assumed.push(
                "the whole delay is in d, so that the link adds none (RTT 0); for the way back a \
                 run takes the median delay of the way there unless it gives one"
                    .to_owned(),
            );
        }
        match &series.how.loss {
            None if series.modem.is_some() && self.drawn() => assumed.push(format!(
                "a frame is lost with the frame error rate of its MODCOD's curve at the Es/N0 of \
                 its row, drawn with seed {}",
                series.seed()
            )),
            None if series.modem.is_some() => assumed.push(
                "a frame is lost if the Es/N0 of its row is below its MODCOD's threshold"
                    .to_owned(),
            ),
            None => assumed.push("no loss: no slot is erased".to_owned()),
            Some(_) if self.drawn() => assumed
                .push(format!("slots are lost independently, drawn with seed {}", series.seed())),
            Some(_) => {
                understood
                    .push("a row loses all of its slots or none: nothing is drawn".to_owned());
            }
        }
        if let Some(frames) = &self.frames {
            frames.notes(&self.levels, understood, assumed);
        }
        if series.keeps_order() && self.slots.waited > 0 {
            assumed.push(format!(
                "order is kept: {} later than {} row says, behind an earlier one",
                counted(self.slots.waited, "slot arrives", "slots arrive"),
                if self.slots.waited == 1 { "its" } else { "their" }
            ));
        }
        self.warnings(usual, &mut notes.warnings);
        notes
    }

    /// True if random draws decided which slots were lost.
    fn drawn(&self) -> bool {
        self.frames.as_ref().map_or(self.slots.drawn, |frames| frames.drawn)
    }

    fn warnings(&self, usual: i64, warnings: &mut Vec<String>) {
        let span = readable;
        if let Some(modem) = &self.series.modem {
            warnings.extend(modem.too_good(&self.levels));
        }
        let (waited, made, unit) = match &self.frames {
            Some(frames) => (frames.waited, frames.len(), "frame"),
            None => (self.slots.waited, self.slots.len(), "slot"),
        };
        if waited > made as u64 / 2 {
            let does = if self.series.keeps_order() { "waits behind" } else { "arrives before" };
            warnings.push(format!(
                "most {unit}s ({waited} of {made}) have a delay with which each {does} an earlier \
                 one: check the unit of the time column, then that of the delay"
            ));
        }
        self.doubts(warnings);
        if self.repeated > 0 {
            warnings.push(format!(
                "{} ignored",
                counted(
                    self.repeated,
                    "row has the time of the row after it and is",
                    "rows have the time of the row after them and are"
                )
            ));
        }
        if 2 * self.unmeasured > self.rows {
            warnings.push(format!(
                "{} of {} rows have a rate but no delay and count as outages: if their delay was \
                 only not measured, omit the delay",
                self.unmeasured, self.rows
            ));
        }
        let delay_or_loss = column(self.series.how.delay.as_ref()).is_some()
            || column(self.series.how.loss.as_ref()).is_some();
        let (idle, unit, so) = match &self.frames {
            Some(frames) => (frames.idle, "frame", "no frame is judged by them"),
            None if delay_or_loss => {
                let so =
                    "rates count there, delays and losses do not (a smaller LLDU has more slots)";
                (self.slots.idle, "slot", so)
            }
            None => (self.slots.idle, "slot", "rates count there (a smaller LLDU has more slots)"),
        };
        if idle > 0 {
            let rows = counted(idle, "row ends", "rows end");
            warnings.push(format!("{rows} before the {unit} under way does: {so}"));
        }
        if self.no_delay > 0 && self.frames.is_none() {
            let rows = counted(self.no_delay, "row has", "rows have");
            warnings.push(format!("{rows} a delay of 0: 1 ns is taken"));
        }
        if let (rows @ 1.., 0) = self.one_per_cent {
            warnings.push(format!(
                "every loss is 0 or 1 %, {} 1: if these are flags, give them as shares, without :%",
                counted(rows, "row has", "rows have")
            ));
        }
        let is_pause = |length: &i64| self.leaves_out() && excerpt::is_pause(*length, usual);
        let (pauses, others): (Vec<i64>, Vec<i64>) =
            self.intervals.iter().partition(|i| is_pause(i));
        let gaps = self.intervals.iter().filter(|&&length| length / 5 >= usual.max(1)).count();
        if gaps > 0 {
            let holds = match (pauses.len(), &self.series.how.rate) {
                (0, Some(_)) => ", and the row before holds on".to_owned(),
                (0, None) => String::new(),
                (count, _) => format!(
                    ": {}, {} in all, {} left out (if the link was down there, give max_hold: \
                     --max-hold '{}')",
                    counted(count, "pause", "pauses"),
                    span(pauses.iter().sum()),
                    if count == 1 { "is" } else { "are" },
                    span(usual)
                ),
            };
            warnings.push(format!(
                "{} of 5 times the usual {} or more between rows, the longest {} behind \
                 line {}{holds}",
                counted(gaps, "gap", "gaps"),
                span(usual),
                span(self.longest.0),
                self.longest.1
            ));
        }
        let mean = others.iter().sum::<i64>() / others.len().max(1) as i64;
        if self.series.how.rate.is_some() && usual > 0 && mean / 10 >= usual {
            warnings.push(format!(
                "rows come in batches, {} apart within one and {} on average: their times may be \
                 those at which a buffer was written, not those of the measurement",
                span(usual),
                span(mean)
            ));
        }
        if let Some(step) = self.delays.step() {
            warnings.push(format!("a coarse clock: all delays are multiples of {}", span(step)));
        }
        let far = 60_000_000_000;
        if self.delays.most > far {
            warnings.push(format!(
                "delays of up to {}: check their unit, and whether the clocks agree",
                span(self.delays.most)
            ));
        }
    }

    /// Warns of what is probably another unit, another time zone or another kind of rate.
    fn doubts(&self, warnings: &mut Vec<String>) {
        let series = self.series;
        let rates = &self.values[0];
        // The rate that 99 % of the rows do not exceed; of few rows it says nothing.
        let usual = rates.get(rates.len() * 99 / 100).filter(|_| rates.len() >= FEWEST_ROWS);
        if let (Some(&usual @ 1..), Some(&most)) = (usual, rates.last())
            && most / JUMP >= usual
        {
            let jumps = rates.iter().filter(|&&rate| rate / JUMP >= usual).count();
            warnings.push(format!(
                "{} {JUMP} times the rate that 99 % of the rows do not exceed, or more, up to {}: \
                 if a counter jumped there, remove the rate",
                counted(jumps, "row has", "rows have"),
                fast(most)
            ));
        }
        if let (Some(Given::Column(column, unit)), true) = (&series.how.rate, self.made.is_none()) {
            const HINTS: [(&str, &str); 8] = [
                ("gbps", "Gbit/s"),
                ("gbit", "Gbit/s"),
                ("mbps", "Mbit/s"),
                ("mbit", "Mbit/s"),
                ("kbps", "kbit/s"),
                ("kbit", "kbit/s"),
                ("_bps", "bit/s"),
                ("(bps", "bit/s"),
            ];
            warnings.extend(self.misnamed("rate", column, unit.name, &HINTS));
            let middle = median(&self.values[0]);
            if !self.values[0].is_empty() && !(1_000..=20_000_000_000).contains(&middle) {
                let middle = fast(middle);
                warnings.push(format!("the median rate is {middle}: check the unit of the rate"));
            }
        }
        if let Some(Given::Column(column, unit)) = &series.how.delay {
            warnings.extend(self.misnamed("delay", column, unit.name, &TIMES));
            let is_rtt =
                |name: &str| name.split(|c: char| !c.is_alphabetic()).any(|word| word == "rtt");
            if series.how.delay_is == DelayIs::OneWay
                && let Some((name, lower)) = self.title(column)
                && is_rtt(&lower)
            {
                warnings.push(format!(
                    "the delay's column `{name}` sounds like round-trip times, but is read as one-way \
                     delays: give delay_is rtt (--delay-is rtt), or the delay counts twice"
                ));
            }
        }
        if let (TimeFormat::Unit(unit), true) = (&series.time.format, self.made.is_none()) {
            warnings.extend(self.misnamed("time", &series.time.column, &unit.to_string(), &TIMES));
        }
        if let Some(Given::Column(column, unit)) = &series.how.loss {
            const HINTS: [(&str, &str); 4] =
                [("percent", "%"), ("pct", "%"), ("(%", "%"), ("_%", "%")];
            let unit = if unit.name.is_empty() { "shares" } else { unit.name };
            warnings.extend(self.misnamed("loss", column, unit, &HINTS));
        }
        let mean = self.lost.0 / self.lost.1.max(1) as f64;
        if mean >= 0.2 {
            let cure = match (&series.how.rate, series.how.rate_is) {
                (Some(Given::Column(..)), None) => {
                    ": if the rate is what was received, give rate_is received (--rate-is \
                     received), or the loss counts twice"
                }
                _ => ": check that the column is what was lost",
            };
            warnings.push(format!("rows lose {:.3} % on average{cure}", 100.0 * mean));
        }
        if let [Some(line), Some(_)] = self.zones {
            warnings.push(format!(
                "only some dates have a time zone: those without one, the first in line {line}, are \
                 taken as UTC"
            ));
        }
    }

    /// Warns if the name of a column speaks of another unit.
    fn misnamed(
        &self,
        what: &str,
        column: &ColumnName,
        unit: &str,
        hints: &[(&str, &str)],
    ) -> Option<String> {
        let (name, lower) = self.title(column)?;
        let is_there = |mark: &str| match mark.strip_suffix('$') {
            Some(end) => lower.ends_with(end),
            None => lower.contains(mark),
        };
        let (_, hint) = hints.iter().find(|(mark, _)| is_there(mark))?;
        (*hint != unit).then(|| {
            format!("the {what}'s column `{name}` sounds like {hint}, but is read in {unit}")
        })
    }

    /// The name of a column in the header, and in lower case with round brackets.
    fn title<'n>(&'n self, column: &'n ColumnName) -> Option<(&'n str, String)> {
        let name = match column {
            ColumnName::Header(name) => name,
            ColumnName::Number(number) => self.header.as_deref()?.get(number - 1)?,
        };
        Some((name, name.to_ascii_lowercase().replace('[', "(").replace(']', ")")))
    }

    /// The name of a column in a note.
    fn named(&self, column: &ColumnName) -> String {
        let names = self.header.as_deref().unwrap_or_default();
        match column {
            ColumnName::Header(name) => match names.iter().position(|known| known == name) {
                Some(index) => format!("column {} `{name}`", index + 1),
                None => format!("column `{name}`"),
            },
            ColumnName::Number(number) => match names.get(number - 1) {
                Some(name) if !name.is_empty() => format!("column {number} `{name}`"),
                _ => format!("column {number}"),
            },
        }
    }

    fn said<Q: Measured>(&self, given: Option<&Given<Q>>) -> Option<String> {
        Some(match given? {
            Given::Constant(value) => format!("{value} throughout"),
            Given::Column(column, unit) => {
                let unit = match unit.name {
                    "" => "as a share",
                    "%" => "in %",
                    name => &format!("in {name}"),
                };
                format!("{} {unit}", self.named(column))
            }
        })
    }
}

/// The median of sorted numbers; 0 without any.
fn median(sorted: &[u64]) -> u64 {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// Formats a rate in bit/s for readers, with up to four digits.
fn fast(rate: u64) -> String {
    let units = [("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3), ("bit/s", 1.0)];
    let (unit, scale) = units.into_iter().find(|unit| rate as f64 >= unit.1).unwrap_or(units[3]);
    let size = rate as f64 / scale;
    let digits = [1000.0, 100.0, 10.0].iter().filter(|&&most| size < most).count();
    let text = format!("{size:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}
