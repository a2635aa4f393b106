//! The description of a series, checked.

use rand_chacha::ChaCha8Rng;

use super::modem::Modem;
use crate::seed::{Seed, Stream};
use crate::trace::column::MOST;
use crate::trace::error::FileError;
use crate::trace::file::{Input, TraceFile};
use crate::trace::given::{ColumnName, ColumnUnit, DelayIs, Given, RateIs, TimeColumn, column};
use crate::units::{Bytes, Probability};

/// Default payload of an LLDU: that of an Ethernet frame.
pub(super) const PACKET: Bytes = Bytes(1500);

/// The description of a series, checked.
pub(super) struct Series<'a> {
    pub(super) how: &'a TraceFile,
    pub(super) time: &'a TimeColumn,
    /// Leaves out pauses of the log, and of more slots than this all but parts that are spread over
    /// it; not for frames.
    pub(super) excerpt: Option<u64>,
    /// Settings for the log of a modem, whose slots are frames.
    pub(super) modem: Option<Modem>,
}

impl<'a> Series<'a> {
    /// Largest number of slots that rows may ask for.
    pub(super) fn most(&self) -> u64 {
        if self.excerpt.is_some() { u64::MAX } else { MOST }
    }

    /// True if slots arrive in order.
    pub(super) fn keeps_order(&self) -> bool {
        self.how.keep_order.unwrap_or(true)
    }

    /// The columns that are read: time, rate, delay, loss, level and MODCOD.
    pub(super) fn columns(&self) -> [Option<&ColumnName>; 6] {
        let how = self.how;
        let (rate, delay) = (column(how.rate.as_ref()), column(how.delay.as_ref()));
        let [level, modcod] = self.modem.as_ref().map_or([None; 2], Modem::columns);
        [Some(&self.time.column), rate, delay, column(how.loss.as_ref()), level, modcod]
    }

    pub(super) fn seed(&self) -> u64 {
        self.how.seed.unwrap_or(1)
    }

    pub(super) fn losses(&self) -> ChaCha8Rng {
        Seed(self.seed()).rng(Stream::Import(0))
    }

    pub(super) fn of(how: &'a TraceFile, input: &Input<'_>) -> Result<Self, FileError> {
        let why = "a series needs its column of times, e.g. \"1:s\"";
        let series = Self {
            how,
            time: how.needed(how.time.as_ref(), why, "time", input)?,
            excerpt: input.excerpt,
            modem: Modem::of(how, input)?,
        };
        if series.modem.is_some() {
            return Ok(series);
        }
        if how.rate.is_none() && how.delay.is_none() && how.loss.is_none() {
            let why = "a series needs more than times";
            return how.needed(None, why, "rate, delay or loss", input);
        }
        // The times of an excerpt say nothing alone; with `max_hold` they tell outages.
        let no_column = series.columns()[1..].iter().all(Option::is_none) && how.max_hold.is_none();
        if no_column && series.excerpt.is_some() {
            let why = "the log of a link needs a column besides its times";
            return how.needed(None, why, "rate, delay or loss as a column", input);
        }
        let counted = |loss: &Given<Probability>| matches!(loss, Given::Column(_, unit) if unit.name == ColumnUnit::COUNT);
        if how.rate_is == Some(RateIs::Received) && how.loss.as_ref().is_none_or(counted) {
            let cure = "a received rate needs losses as shares or in %; give loss";
            return Err(how.wrong("rate_is", cure, input));
        }
        if how.max_hold.is_some_and(|hold| hold.as_nanos() == 0) {
            return Err(how.wrong("max_hold", "must be longer than 0", input));
        }
        if how.delay_is == DelayIs::RoundTrip && how.clock_offset.is_some() {
            let cure = "round-trip times use a single clock; remove it";
            return Err(how.wrong("clock_offset", cure, input));
        }
        if how.clock_offset.is_some() && column(how.delay.as_ref()).is_none() {
            let cure = "no clock measured the delay; add the offset to `delay`, and remove it";
            return Err(how.wrong("clock_offset", cure, input));
        }
        Ok(series)
    }
}
