//! Frames of a modem with a varying MODCOD: consecutive frames, each with its own size.

use std::collections::VecDeque;

use rand_chacha::ChaCha8Rng;

use super::modem::{Coding, Modem, Signal};
use super::slots::{AT_ONCE, share};
use crate::budget::Budget;
use crate::seed::uniform;
use crate::trace::Sizes;
use crate::trace::error::Fault;
use crate::units::{Duration, counted};

/// Generates frames. Time is counted in symbols, so that rounding errors do not accumulate.
pub(super) struct Frames<'a> {
    modem: &'a Modem,
    t: Vec<i64>,
    d: Vec<i64>,
    bytes: Vec<i64>,
    /// Start of the next frame, in ns times symbols per second.
    next: u128,
    /// Past signals, each with the time from which it applies.
    past: VecDeque<(i64, Option<f64>)>,
    losses: ChaCha8Rng,
    keep_order: bool,
    latest: i64,
    most: u64,
    budget: &'a Budget<'a>,
    /// Frames sent and lost, by MODCOD.
    pub(super) sent: Vec<(u64, u64)>,
    /// Frames sent although the Es/N0 known to the sender was below every MODCOD.
    pub(super) desperate: u64,
    /// Frames that wait for an earlier one, or would if order were kept.
    pub(super) waited: u64,
    /// True if draws decided which frames were lost.
    pub(super) drawn: bool,
    /// Rows in which no frame starts, because an earlier one is still being sent.
    pub(super) idle: u64,
}

impl<'a> Frames<'a> {
    pub(super) fn new(
        modem: &'a Modem,
        losses: ChaCha8Rng,
        keep_order: bool,
        (most, budget): (u64, &'a Budget<'a>),
    ) -> Self {
        Self {
            modem,
            t: Vec::new(),
            d: Vec::new(),
            bytes: Vec::new(),
            next: 0,
            past: VecDeque::new(),
            losses,
            keep_order,
            latest: 0,
            most,
            budget,
            sent: vec![(0, 0); modem.modcods.all().len()],
            desperate: 0,
            waited: 0,
            drawn: false,
            idle: 0,
        }
    }

    /// Adds the frames that start from `from` and before `to`. Each lasts as long as its MODCOD
    /// requires and then takes `delay` to arrive.
    pub(super) fn interval(
        &mut self,
        from: i64,
        to: i64,
        signal: Signal,
        delay: i64,
    ) -> Result<(), Fault> {
        const SECOND: u128 = 1_000_000_000;
        let modem = self.modem;
        let rate = u128::from(modem.rate.per_second());
        self.past.push_back((from, signal.esn0));
        self.next = self.next.max(from.unsigned_abs() as u128 * rate);
        // The row's frames, among which counted losses are divided.
        let first = self.t.len();
        loop {
            let t = (self.next / rate) as i64;
            if t >= to {
                self.idle += u64::from(first == self.t.len() && to > from);
                break;
            }
            let Some(index) = self.choose(t, signal) else { break };
            let modcod = modem.modcods.get(index);
            let symbols = modem.symbols.or(modcod.symbols).unwrap_or(1);
            let Some(bytes) = modcod.bytes(modem.symbols) else {
                return Err(Fault::Text(format!(
                    "a frame of {symbols} symbols with {} carries less than 1 byte",
                    modcod.name
                )));
            };
            if self.t.len() as u64 >= self.most {
                return Err(Fault::TooMany(self.most));
            }
            if (self.t.len() as u64).is_multiple_of(AT_ONCE) {
                self.budget.ask()?;
            }
            self.budget.grow(&mut self.t, "frames")?;
            self.budget.grow(&mut self.d, "frames")?;
            self.budget.grow(&mut self.bytes, "frames")?;
            self.next += u128::from(symbols) * SECOND;
            let end = self.next.div_ceil(rate) as i64;
            let lost = signal.esn0.map_or(1.0, |esn0| modcod.error_rate(esn0));
            self.sent[index].0 += 1;
            // A log without errors and a MODCOD without a curve need no draw.
            let arrived = signal.loss.is_some()
                || match lost {
                    0.0 => true,
                    1.0 => false,
                    rate => {
                        self.drawn = true;
                        uniform(&mut self.losses) >= rate
                    }
                };
            self.sent[index].1 += u64::from(!arrived);
            self.t.push(t);
            self.bytes.push(i64::from(bytes));
            self.d.push(if arrived { (end - t + delay).max(1) } else { 0 });
        }
        let row = first..self.t.len();
        if let Some(loss) = signal.loss {
            let share = share(loss, row.len() as u128, "shares")?;
            self.drawn |= share > 0.0 && share < 1.0 && !row.is_empty();
            for slot in row.clone() {
                if uniform(&mut self.losses) < share {
                    self.d[slot] = 0;
                    self.sent[signal.modcod.unwrap_or_default()].1 += 1;
                }
            }
        }
        for slot in row {
            if self.d[slot] == 0 {
                continue;
            }
            let arrival = self.t[slot] + self.d[slot];
            self.waited += u64::from(arrival < self.latest);
            self.latest = self.latest.max(arrival);
            if self.keep_order {
                self.d[slot] = self.latest - self.t[slot];
            }
        }
        Ok(())
    }

    /// The MODCOD of a frame that starts at `t`.
    fn choose(&mut self, t: i64, signal: Signal) -> Option<usize> {
        match &self.modem.coding {
            Coding::Constant(index) => Some(*index),
            Coding::Variable => signal.modcod,
            Coding::Adaptive { margin, delay } => {
                let known = t.saturating_sub(delay.as_nanos() as i64);
                while self.past.get(1).is_some_and(|&(from, _)| from <= known) {
                    self.past.pop_front();
                }
                // Before the first report, the first signal applies.
                let esn0 = self.past.front().and_then(|&(_, esn0)| esn0);
                let best = esn0.and_then(|esn0| self.modem.modcods.best(esn0 - margin.0));
                self.desperate += u64::from(best.is_none());
                Some(best.unwrap_or_else(|| self.modem.modcods.most_robust()))
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.t.len()
    }

    /// Frames sent by MODCOD, the most used first: name, frames, lost.
    pub(super) fn used(&self) -> Vec<(String, u64, u64)> {
        let all = self.modem.modcods.all().iter().zip(&self.sent);
        let mut used: Vec<_> = all
            .filter(|(_, sent)| sent.0 > 0)
            .map(|(modcod, sent)| (modcod.name.clone(), sent.0, sent.1))
            .collect();
        used.sort_by_key(|(_, frames, _)| std::cmp::Reverse(*frames));
        used
    }

    /// Adds the notes of the import; `levels`: Es/N0 of the rows, sorted.
    pub(super) fn notes(
        &self,
        levels: &[f64],
        understood: &mut Vec<String>,
        assumed: &mut Vec<String>,
    ) {
        let modem = self.modem;
        let table = &modem.modcods;
        understood.push(format!("MODCODs are those of {}", table.about()));
        if modem.assumed {
            assumed.push(format!("no MODCOD table is named: {}", table.about()));
        }
        understood.push(format!("symbol rate {}", modem.rate));
        understood.push(match modem.symbols {
            Some(symbols) => format!("frames of {symbols} symbols"),
            None => "frames have the symbols that the table says".to_owned(),
        });
        if modem.carrier {
            understood.push("Es/N0 is C/N0 over the symbol rate".to_owned());
        }
        if let (Some(least), Some(most)) = (levels.first(), levels.last()) {
            let middle = levels[(levels.len() - 1) / 2];
            understood.push(format!(
                "Es/N0 is from {least:.1} to {most:.1} dB, the median {middle:.1} dB"
            ));
        }
        assumed.push("packets share frames by bytes, as in GSE".to_owned());
        match &modem.coding {
            Coding::Constant(index) => {
                understood.push(format!("constant coding: {}", table.get(*index).name));
            }
            Coding::Variable => understood.push("variable coding: the log's MODCODs".to_owned()),
            Coding::Adaptive { margin, delay } => {
                understood.push(format!(
                    "adaptive coding: the most efficient MODCOD whose threshold and {margin} of \
                     margin the Es/N0 of {delay} before reaches"
                ));
                let robust = &table.get(table.most_robust()).name;
                if self.desperate > 0 {
                    assumed.push(format!(
                        "{robust} where no MODCOD's threshold and margin are reached: {}",
                        counted(self.desperate, "frame", "frames")
                    ));
                }
                if *delay > Duration::ZERO {
                    assumed.push("before the first report the first row is known".to_owned());
                }
            }
        }
        let used = self.used();
        let shown = used.iter().take(12).map(|(name, sent, lost)| match lost {
            0 => format!("{name} {sent}"),
            lost => format!("{name} {sent} ({lost} lost)"),
        });
        let more = if used.len() > 12 { ", ..." } else { "" };
        understood.push(format!("frames: {}{more}", shown.collect::<Vec<_>>().join(", ")));
    }

    /// The columns `t` and `d`, and the sizes.
    pub(super) fn columns(self) -> Result<(Vec<i64>, Vec<i64>, Sizes), crate::trace::Fault> {
        Ok((self.t, self.d, Sizes::each(self.bytes.into())?))
    }
}
