//! The import of a series: its rows become slots or frames.

use std::borrow::Cow;
use std::io::BufRead;

use crate::budget::Budget;
use crate::trace::decimal::{parse_scaled, with_point};
use crate::trace::error::{Fault, ReadError, Snippet, TOO_LATE};
use crate::trace::step::StepDetector;
use crate::trace::{Header, LATEST, Loading, Notes, Packing, PhyTrace};
use crate::units::{Duration, counted};

use super::description::{PACKET, Series};
use super::frames::Frames;
use super::modem::Signal;
use super::slots::{Loss, SlotGenerator, State};
use super::{clock, excerpt};
use crate::trace::given::{
    ColumnName, ColumnUnit, DelayIs, Given, RateIs, Shift, TimeFormat, column,
};
use crate::trace::table::{Row, Table, WHITE_SPACE};

/// The decimal mark of the numbers that are used.
#[derive(Default)]
pub(super) struct Decimals {
    /// True if a comma may be one, as it does not separate the columns.
    pub(super) allowed: bool,
    /// Lines of the first number with a comma, and with a point.
    pub(super) lines: [Option<u64>; 2],
}

impl Decimals {
    /// A number with a decimal point; other text as it is.
    fn pointed<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let pointed = self.allowed.then(|| with_point(text)).flatten();
        pointed.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// As [`Decimals::pointed`], for the field of a row; refuses a mixture of commas and points.
    fn take<'a>(&mut self, text: &'a [u8], line: u64) -> Result<Cow<'a, [u8]>, Fault> {
        let number = self.pointed(text);
        let mark = match &number {
            _ if !self.allowed => return Ok(number),
            Cow::Owned(_) => 0,
            _ if text.contains(&b',') && text.contains(&b'.') => {
                let digits = |byte: &u8| byte.is_ascii_digit() || b"+-.,".contains(byte);
                if !text.iter().all(digits) {
                    return Ok(number);
                }
                return Err(Fault::Text(format!(
                    "{} has a comma and a point; write numbers without separators of thousands",
                    Snippet::new(text)
                )));
            }
            _ if text.contains(&b'.') && parse_scaled(text, 0).is_some() => 1,
            _ => return Ok(number),
        };
        self.lines[mark].get_or_insert(line);
        match self.lines {
            [Some(comma), Some(point)] => Err(Fault::Text(format!(
                "numbers have decimal commas (from line {comma}) and decimal points (from line \
                 {point}); write one of them throughout"
            ))),
            _ => Ok(number),
        }
    }
}

/// The row that holds until the next one.
struct CurrentRow {
    line: u64,
    t: i64,
    state: State,
    signal: Signal,
}

impl Series<'_> {
    /// Reads a table; `made`: the notes of the reader that made it from a file of another format.
    pub(super) fn read(
        &self,
        reader: impl BufRead,
        made: Option<Notes>,
        budget: &Budget<'_>,
    ) -> Result<PhyTrace, ReadError> {
        let mut table = Table::new(reader)?;
        let mut import = SeriesImport::new(self, budget);
        import.between = table.between();
        import.decimals.allowed = !table.commas;
        import.made = made;
        while let Some(row) = table.next()? {
            import.row(row).map_err(|fault| fault.at(row.line))?;
        }
        let mut phy = import.finish()?;
        let name = self.how.file.file_name().map(|name| name.to_string_lossy().into_owned());
        phy.set_source(name);
        Ok(phy)
    }
}

/// State of the import of a file.
pub(super) struct SeriesImport<'a> {
    pub(super) series: &'a Series<'a>,
    pub(super) slots: SlotGenerator<'a>,
    pub(super) frames: Option<Frames<'a>>,
    /// Columns of the file, counted from 0, in the order of [`Series::columns`].
    layout: Option<[Option<usize>; 6]>,
    /// The fields of the header line.
    pub(super) header: Option<Vec<String>>,
    pub(super) between: &'static str,
    /// Notes of the reader that made the table.
    pub(super) made: Option<Notes>,
    pub(super) decimals: Decimals,
    pub(super) columns: usize,
    pub(super) origin: i64,
    held: Option<CurrentRow>,
    pub(super) rows: u64,
    pub(super) repeated: u64,
    pub(super) outages: u64,
    /// Outages with a rate of their row, which only lack a delay.
    pub(super) unmeasured: u64,
    pub(super) outage: i64,
    pub(super) intervals: Vec<i64>,
    /// Length of the longest interval, and the line before it.
    pub(super) longest: (i64, u64),
    pub(super) delays: StepDetector,
    /// Rates of the rows as written, in bit/s, and one-way delays, in ns; without outages.
    pub(super) values: [Vec<u64>; 2],
    /// Sum of the shares lost, and the rows that have one.
    pub(super) lost: (f64, u64),
    /// Lines of the first date without a time zone, and with one.
    pub(super) zones: [Option<u64>; 2],
    /// Es/N0 of the rows that have one, in dB.
    pub(super) levels: Vec<f64>,
    /// Rows with a delay of 0, which a slot cannot have.
    pub(super) no_delay: u64,
    /// Parts of an excerpt, and slots and length of the whole.
    pub(super) parts: Option<(usize, usize, i64)>,
    /// Number of rows with a loss of 1 per cent, and with a value other than 0 or 1.
    pub(super) one_per_cent: (u64, u64),
}

impl<'a> SeriesImport<'a> {
    pub(super) fn new(series: &'a Series<'a>, budget: &'a Budget<'a>) -> Self {
        let losses = series.how.loss.as_ref().map(|_| series.losses());
        let lldu = series.how.lldu.unwrap_or(PACKET);
        let limits = (series.most(), budget);
        let frames = |modem| Frames::new(modem, series.losses(), series.keeps_order(), limits);
        Self {
            series,
            slots: SlotGenerator::new(lldu, losses, series.keeps_order(), limits),
            frames: series.modem.as_ref().map(frames),
            layout: None,
            header: None,
            between: "",
            made: None,
            decimals: Decimals::default(),
            columns: 0,
            origin: 0,
            held: None,
            rows: 0,
            repeated: 0,
            outages: 0,
            unmeasured: 0,
            outage: 0,
            intervals: Vec::new(),
            longest: (0, 0),
            delays: StepDetector::default(),
            values: [Vec::new(), Vec::new()],
            lost: (0.0, 0),
            zones: [None; 2],
            levels: Vec::new(),
            no_delay: 0,
            parts: None,
            one_per_cent: (0, 0),
        }
    }

    pub(super) fn row(&mut self, row: Row<'_>) -> Result<(), Fault> {
        if self.layout.is_none() {
            let names = self.header_of(row);
            let layout = self.layout_of(names.as_deref(), row)?;
            self.layout = Some(layout);
            self.columns = row.len();
            if names.is_some() {
                self.header = names;
                return Ok(());
            }
        }
        if self.rows == 0 {
            // Rows may have fewer fields than the header, but all have the same number.
            self.columns = row.len();
        }
        // Logs with white space leave columns without a name; with commas, they may be decimal.
        if let Some(header) = &self.header
            && self.between != WHITE_SPACE
            && row.filled() > header.len()
        {
            let cure = match self.decimals.allowed {
                true => "give every column a name, or remove the header",
                false => {
                    "if commas are decimal, columns must be separated by semicolons or tabs; if \
                     text has commas, it must be quoted"
                }
            };
            return Err(Fault::Text(format!(
                "{}, more than the {} of the header; {cure}",
                counted(row.filled(), "field", "fields"),
                header.len()
            )));
        }
        if row.len() != self.columns {
            return Err(Fault::columns(row.len(), self.columns));
        }
        let Some([time, rate, delay, loss, level, modcod]) = self.layout else { return Ok(()) };
        let field = |index| {
            let fault = Fault::columns(row.len(), index + 1);
            row.field(index).ok_or(fault)
        };
        let decimals = &mut self.decimals;
        let mut number = |index: Option<usize>| {
            index.map(|index| decimals.take(field(index)?, row.line)).transpose()
        };
        let (rate, delay, loss, level) =
            (number(rate)?, number(delay)?, number(loss)?, number(level)?);
        let text = match self.series.time.format {
            TimeFormat::Unit(_) => number(time)?,
            _ => time.map(field).transpose()?.map(Cow::Borrowed),
        };
        let text = text.unwrap_or_default();
        let modcod = modcod.map(field).transpose()?;
        let time = self.on_its_day(self.series.time.format.parse(&text)?);
        self.zoned(&text, row.line);
        let (rate, delay) = (self.rate(rate.as_deref())?, self.delay(delay.as_deref())?);
        let is_idle = match &self.series.modem {
            None => rate == 0 || delay.is_none(),
            Some(_) => modcod.is_some_and(|field| self.is_missing(field)),
        };
        let loss = self.loss(loss.as_deref(), is_idle)?;
        let mut state = State { rate, delay, loss };
        self.count(&state);
        if self.series.how.rate_is == Some(RateIs::Received) {
            state = state.sent().ok_or_else(|| {
                Fault::new("the rate with what was lost is over 1 Tbit/s".to_owned())
            })?;
        }
        let signal = match &self.series.modem {
            None => Signal::default(),
            Some(about) => {
                let loss = self.series.how.loss.as_ref().map(|_| state.loss);
                about.signal([level.as_deref(), modcod], |field| self.is_missing(field), loss)?
            }
        };
        if self.rows == 0 {
            self.origin = time;
        }
        self.rows += 1;
        self.levels.extend(signal.esn0);
        let t = time.checked_sub(self.origin).filter(|t| *t < LATEST);
        let t = t.ok_or_else(|| Fault::of(&text, TOO_LATE))?;
        if self.series.how.rate.is_none() && self.frames.is_none() {
            if self.held.as_ref().is_some_and(|held| held.t >= t) {
                return Err(self.unsorted(Fault::unsorted(&text), &text));
            }
            self.slots.single(t, &state, &text)?;
        }
        self.hold(CurrentRow { line: row.line, t, state, signal }, &text)
    }

    /// The fault of a time that is too early: `fault`, or a date without a time zone among others.
    fn unsorted(&self, fault: Fault, text: &[u8]) -> Fault {
        let [Some(line), Some(_)] = self.zones else { return fault };
        Fault::Text(format!(
            "time {} does not come after that of the row before it: line {line} has no time zone, \
             which others have, and is taken as UTC; write the zone in every row",
            Snippet::new(text)
        ))
    }

    /// Ends the current row and makes `next` the current one.
    fn hold(&mut self, next: CurrentRow, text: &[u8]) -> Result<(), Fault> {
        let Some(held) = self.held.take() else {
            self.held = Some(next);
            return Ok(());
        };
        let length = next.t - held.t;
        match length {
            ..0 => {
                let is_local = self.zones[1].is_none()
                    && !matches!(self.series.time.format, TimeFormat::Unit(_));
                let back =
                    if is_local { ", or write the time zone if clocks went back" } else { "" };
                let fault = Fault::Text(format!(
                    "time {} comes before that of the row before it; sort the file by time{back}",
                    Snippet::new(text)
                ));
                return Err(self.unsorted(fault, text));
            }
            0 => self.repeated += 1,
            _ => {
                self.intervals.push(length);
                self.longest = self.longest.max((length, held.line));
            }
        }
        self.end(&held, next.t).map_err(|fault| match fault {
            // The fault belongs to the row that ends, not to the line that ends it.
            Fault::Text(text) => Fault::Text(format!("{text} (the row of line {})", held.line)),
            fault => fault,
        })?;
        self.held = Some(next);
        Ok(())
    }

    /// Counts a row for the notes.
    fn count(&mut self, state: &State) {
        if column(self.series.how.rate.as_ref()).is_some() && state.rate > 0 {
            self.values[0].push(state.rate / 1_000_000);
        }
        if let (Some(_), Some(delay)) = (column(self.series.how.delay.as_ref()), state.delay) {
            self.values[1].push(delay.unsigned_abs());
        }
        if let (Some(_), Loss::Share(share)) = (column(self.series.how.loss.as_ref()), state.loss) {
            self.lost = (self.lost.0 + share, self.lost.1 + 1);
        }
    }

    /// A time of day on the day on which it is closest to the row before it.
    fn on_its_day(&self, time: i64) -> i64 {
        const DAY: i64 = 86_400_000_000_000;
        match &self.held {
            Some(held) if self.series.time.format.is_clock() => {
                let before = self.origin + held.t;
                time + (before - time + DAY / 2).div_euclid(DAY) * DAY
            }
            _ => time,
        }
    }

    /// Remembers whether a date has a time zone.
    fn zoned(&mut self, text: &[u8], line: u64) {
        if self.series.time.format == TimeFormat::Date {
            self.zones[usize::from(clock::has_zone(text))].get_or_insert(line);
        }
    }

    fn end(&mut self, held: &CurrentRow, to: i64) -> Result<(), Fault> {
        let most = self.series.how.max_hold.map_or(i64::MAX, |hold| hold.as_nanos() as i64);
        let until = to.min(held.t.saturating_add(most));
        if until == to {
            return self.interval(held, to);
        }
        self.interval(held, until)?;
        let (line, signal) = (held.line, Signal::default());
        let state = State { rate: 0, delay: None, loss: held.state.loss };
        self.interval(&CurrentRow { line, t: until, state, signal }, to)
    }

    fn interval(&mut self, held: &CurrentRow, to: i64) -> Result<(), Fault> {
        if let Some(frames) = &mut self.frames {
            // A frame without a delay in the log is nevertheless received.
            let delay = held.state.delay.unwrap_or_default();
            return frames.interval(held.t, to, held.signal, delay);
        }
        if held.state.is_outage() && to > held.t {
            self.outages += 1;
            let has_rate = matches!(self.series.how.rate, Some(Given::Column(..)));
            self.unmeasured += u64::from(has_rate && held.state.rate > 0);
            self.outage += to - held.t;
        }
        if self.series.how.rate.is_some() {
            self.slots.interval(held.t, to, &held.state)?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<PhyTrace, ReadError> {
        let Some(held) = self.held.take() else { return Err(Fault::empty().into()) };
        let intervals = self.leaves_out().then(|| self.intervals.clone());
        let mut usual = 0;
        if !self.intervals.is_empty() {
            let middle = (self.intervals.len() - 1) / 2;
            usual = *self.intervals.select_nth_unstable(middle).1;
        } else if self.series.how.rate.is_some() || self.frames.is_some() {
            let fault = "the duration of a single row is unknown; give two or more rows";
            return Err(Fault::new(fault).at(held.line));
        }
        if 2 * self.repeated >= self.rows {
            return Err(ReadError::of_file(format!(
                "{} of {} rows have the time of the row after them, so this is more than one series \
                 (satellites, directions, an hour that clocks had twice); keep one of them",
                self.repeated, self.rows
            )));
        }
        let mut end = held.t.saturating_add(usual);
        self.end(&held, end).map_err(|fault| fault.at(held.line))?;
        if let Some(intervals) = intervals {
            let stretches = excerpt::stretches(&intervals, usual);
            self.slots.keep(&stretches);
            end = excerpt::length(&stretches);
        }
        if let Some(most) = self.series.excerpt.filter(|&most| self.slots.len() as u64 > most) {
            let parts = excerpt::parts(&self.slots, end, most);
            self.parts = Some((parts.len(), self.slots.len(), end));
            self.slots.keep(&parts);
            end = excerpt::length(&parts);
        }
        if self.frames.as_ref().map_or(self.slots.len(), Frames::len) == 0 {
            let fault = "the series has no slots: the rate is 0 or a value is missing in every row";
            return Err(ReadError::of_file(fault));
        }
        // The period must be longer than from the first slot to the last.
        let period = (usual > 0).then(|| Duration::from_nanos(end.unsigned_abs()));
        let rtt = self.series.how.delay.as_ref().map(|_| Duration::ZERO);
        self.slots.make()?;
        self.values.iter_mut().for_each(|values| values.sort_unstable());
        self.levels.sort_unstable_by(f64::total_cmp);
        let notes = self.notes(usual).clean();
        if let Some(frames) = self.frames {
            let (t, d, sizes) = frames.columns()?;
            // Base-band frames carry packets back to back.
            let loading = Loading { packing: Some(Packing::Bytes), ..Loading::default() };
            let header = Header { period, rtt, notes, loading, ..Header::default() };
            return Ok(PhyTrace::with_header(t.into(), d.into(), sizes, header)?);
        }
        self.slots.finish(Header { period, rtt, notes, ..Header::default() })
    }

    /// True if the pauses of the log are left out.
    pub(super) fn leaves_out(&self) -> bool {
        let series = self.series;
        series.excerpt.is_some()
            && series.how.rate.is_some()
            && series.how.max_hold.is_none()
            && self.frames.is_none()
    }

    /// The names in the first row, if it is a header: if columns are given by name, or the row has
    /// no valid time and no valid value in any other column.
    fn header_of(&self, row: Row<'_>) -> Option<Vec<String>> {
        let series = self.series;
        let columns = series.columns();
        let named = columns.iter().flatten().any(|name| matches!(name, ColumnName::Header(_)));
        let field = |name: &ColumnName| match name {
            ColumnName::Number(number) => row.field(number - 1),
            ColumnName::Header(_) => None,
        };
        let is_value = |name: &ColumnName| {
            field(name).is_some_and(|field| {
                let number = self.decimals.pointed(field);
                parse_scaled(&number, 0).is_some() || self.is_missing(field)
            })
        };
        let is_time = || {
            field(&series.time.column).is_some_and(|field| {
                let is_time = |text: &[u8]| series.time.format.parse(text).is_ok();
                is_time(field) || is_time(&self.decimals.pointed(field))
            })
        };
        let plain = || !is_time() && !columns.iter().flatten().any(|name| is_value(name));
        (named || plain()).then(|| {
            let name = |index| String::from_utf8_lossy(row.field(index).unwrap_or_default()).into();
            (0..row.len()).map(name).collect()
        })
    }

    fn layout_of(
        &self,
        names: Option<&[String]>,
        row: Row<'_>,
    ) -> Result<[Option<usize>; 6], Fault> {
        let find = |column: &ColumnName| match column {
            ColumnName::Number(number) if names.is_some() || *number <= row.len() => Ok(number - 1),
            ColumnName::Number(number) => Err(Fault::columns(row.len(), *number)),
            ColumnName::Header(name) => {
                let names = names.unwrap_or_default();
                let mut found = (0..names.len()).filter(|&index| names[index] == *name);
                match (found.next(), found.next()) {
                    (Some(index), None) => Ok(index),
                    (Some(_), Some(_)) => Err(Fault::Text(format!(
                        "column {} occurs twice; give its number, from 1",
                        Snippet::new(name.as_bytes())
                    ))),
                    (None, _) => {
                        let known = names.iter().take(30).map(|name| Snippet::new(name.as_bytes()));
                        let known = known.map(|name| name.to_string()).collect::<Vec<_>>();
                        Err(Fault::Text(format!(
                            "no column {}; the header has {}",
                            Snippet::new(name.as_bytes()),
                            known.join(", ")
                        )))
                    }
                }
            }
        };
        let mut layout = [None; 6];
        for (place, column) in layout.iter_mut().zip(self.series.columns()) {
            *place = column.map(find).transpose()?;
        }
        Ok(layout)
    }

    fn is_missing(&self, field: &[u8]) -> bool {
        const MISSING: [&[u8]; 7] = [b"", b"-", b"nan", b"na", b"n/a", b"null", b"none"];
        MISSING.iter().any(|name| field.eq_ignore_ascii_case(name))
            || self.series.how.missing.as_ref().is_some_and(|text| field == text.trim().as_bytes())
    }

    /// The rate in millionths of a bit per second.
    fn rate(&self, field: Option<&[u8]>) -> Result<u64, Fault> {
        const MOST: u64 = 1_000_000_000_000_000_000;
        let too_fast = |text: &[u8]| {
            Fault::Text(format!("rate {} is over 1 Tbit/s; check the unit", Snippet::new(text)))
        };
        let unit = match (&self.series.how.rate, field) {
            (None, _) => return Ok(MOST),
            (Some(Given::Constant(rate)), _) => {
                let rate = rate.bits_per_second();
                let rate = rate.checked_mul(1_000_000).filter(|&rate| rate <= MOST);
                return rate.ok_or_else(|| too_fast(b"given"));
            }
            (Some(Given::Column(..)), None) => return Ok(0),
            (Some(Given::Column(..)), Some(field)) if self.is_missing(field) => return Ok(0),
            (Some(Given::Column(_, unit)), Some(_)) => unit,
        };
        let field = field.unwrap_or_default();
        match parse_scaled(field, unit.digits) {
            None => Err(not_a_number("rate", field)),
            Some((true, _)) => Err(Fault::Text(format!(
                "rate {} is negative; if it marks an outage, give it as `missing`",
                Snippet::new(field)
            ))),
            Some((false, size)) => {
                let rate = size.and_then(|size| size.checked_mul(u128::from(unit.factor)));
                let rate = rate.filter(|&rate| rate <= u128::from(MOST));
                rate.map(|rate| rate as u64).ok_or_else(|| too_fast(field))
            }
        }
    }

    /// The one-way delay in nanoseconds.
    fn delay(&mut self, field: Option<&[u8]>) -> Result<Option<i64>, Fault> {
        let unit = match &self.series.how.delay {
            // The arrival time of a modem's frame already includes its own duration.
            None => return Ok(Some(i64::from(self.frames.is_none()))),
            Some(Given::Constant(delay)) => {
                let delay = i64::try_from(delay.as_nanos()).unwrap_or(LATEST);
                return Ok(Some(self.one_way(delay)));
            }
            Some(Given::Column(_, unit)) => *unit,
        };
        let Some(field) = field.filter(|field| !self.is_missing(field)) else { return Ok(None) };
        let Some((negative, size)) = parse_scaled(field, unit.digits) else {
            return Err(not_a_number("delay", field));
        };
        let size = size.and_then(|size| i64::try_from(size).ok()).filter(|&size| size < LATEST);
        let size = size.ok_or_else(|| Fault::of(field, TOO_LATE))?;
        let measured = self.one_way(if negative { -size } else { size });
        self.delays.take(measured);
        let shift = self.series.how.clock_offset.map_or(0, Shift::as_nanos);
        match measured.saturating_add(shift) {
            ..0 => Err(Fault::Text(format!(
                "delay {} is negative{}: {} the marker of missing values as `missing`",
                Snippet::new(field),
                if shift == 0 { "" } else { " with the clock offset" },
                match self.series.how.delay_is {
                    DelayIs::OneWay => "the clocks differ, so give clock_offset, or",
                    // One clock measures both ends of it.
                    DelayIs::RoundTrip => "give",
                }
            ))),
            delay => {
                self.no_delay += u64::from(delay == 0);
                Ok(Some(delay))
            }
        }
    }

    fn one_way(&self, delay: i64) -> i64 {
        match self.series.how.delay_is {
            DelayIs::OneWay => delay,
            DelayIs::RoundTrip => delay / 2 + delay % 2,
        }
    }

    /// The loss, which may be missing in a row that has no slots (`is_idle`).
    fn loss(&mut self, field: Option<&[u8]>, is_idle: bool) -> Result<Loss, Fault> {
        let unit = match &self.series.how.loss {
            None => return Ok(Loss::default()),
            Some(Given::Constant(share)) => return Ok(Loss::Share(share.get())),
            Some(Given::Column(_, unit)) => *unit,
        };
        let field = field.unwrap_or_default();
        let snippet = || Snippet::new(field);
        if self.is_missing(field) {
            if is_idle {
                return Ok(Loss::default());
            }
            return Err(Fault::Text(format!(
                "the loss is missing ({}); write 0, or remove `loss`",
                snippet()
            )));
        }
        if unit.name == ColumnUnit::COUNT {
            let whole = match parse_scaled(field, 6) {
                Some((false, Some(millionths))) if millionths % 1_000_000 == 0 => {
                    u64::try_from(millionths / 1_000_000).ok()
                }
                _ => None,
            };
            let fault = || Fault::Text(format!("loss {} is not a number of packets", snippet()));
            return whole.map(Loss::Packets).ok_or_else(fault);
        }
        let text = std::str::from_utf8(field).ok().filter(|_| parse_scaled(field, 0).is_some());
        let number = text.and_then(|text| text.parse::<f64>().ok());
        let number = number.ok_or_else(|| not_a_number("loss", field))?;
        let share = if unit.digits < 0 { number / 100.0 } else { number };
        if unit.digits < 0 {
            self.one_per_cent.0 += u64::from(number == 1.0);
            self.one_per_cent.1 += u64::from(number != 1.0 && number != 0.0);
        }
        if (0.0..=1.0).contains(&share) {
            return Ok(Loss::Share(share));
        }
        Err(Fault::new(match unit.name {
            "%" => format!("loss {} must be from 0 to 100 %", snippet()),
            _ => format!(
                "loss {} must be a share from 0 to 1; use `:%` for per cent, `:packets` for counts",
                snippet()
            ),
        }))
    }
}

fn not_a_number(what: &str, field: &[u8]) -> Fault {
    Fault::Text(format!("{what} {} is not a number; write e.g. 1.5", Snippet::new(field)))
}
