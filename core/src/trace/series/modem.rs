//! Logs of modems: what they say besides delays, and how frames are made of it.

use super::frames::{Coding, Frames, Signal};
use super::given::{ColumnName, Given};
use super::slots::Loss;
use super::{DecibelHertz, Decibels, SymbolRate, decibels};
use crate::budget::Budget;
use crate::seed::{Seed, Stream};
use crate::trace::error::{Fault, Snippet};
use crate::trace::file::{FileError, Input, TraceFile};
use crate::trace::{Modcod, Modcods};
use crate::units::{Duration, counted};

/// Es/N0 of a log.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Level {
    Symbol(Given<Decibels>),
    /// C/N0, from which the symbol rate makes Es/N0.
    Carrier(Given<DecibelHertz>),
}

/// The column of MODCODs, or one for all frames.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Source {
    Column(ColumnName),
    Constant(usize),
    /// The most efficient that the channel bears.
    Table {
        margin: Decibels,
        delay: Duration,
    },
}

/// Where a log of a modem has what.
#[derive(Clone, Debug, PartialEq)]
pub struct Modem {
    pub(super) level: Option<Level>,
    pub(super) source: Source,
    modcods: Modcods,
    /// Whether the table was taken because none was named.
    assumed: bool,
    rate: SymbolRate,
    symbols: Option<u32>,
}

impl Modem {
    /// What a description of a file says of a modem, if it says anything.
    pub(super) fn of(how: &TraceFile, input: &Input<'_>) -> Result<Option<Self>, FileError> {
        let level = match (&how.esn0, &how.cn0) {
            (Some(_), Some(_)) => {
                let cure = "esn0 says the same; keep one of them";
                return Err(how.wrong("cn0", cure, input));
            }
            (Some(esn0), None) => Some(Level::Symbol(esn0.clone())),
            (None, cn0) => cn0.clone().map(Level::Carrier),
        };
        if level.is_none() && how.modcod.is_none() && how.modcod_table.is_none() {
            let given = [
                ("symbol_rate", how.symbol_rate.is_some()),
                ("margin", how.margin.is_some()),
                ("acm_delay", how.acm_delay.is_some()),
                ("frame_symbols", how.frame_symbols.is_some()),
            ];
            let belongs = "belongs to the log of a modem; give esn0, cn0 or modcod";
            return match given.iter().find(|(_, given)| *given) {
                Some((field, _)) => Err(how.wrong(field, belongs, input)),
                None => Ok(None),
            };
        }
        let refused = [
            ("rate", how.rate.is_some(), "follows from symbol rate and MODCOD; leave it out"),
            ("lldu", how.lldu.is_some(), "follows from the MODCOD of a frame; leave it out"),
            ("frame_symbols", how.frame_symbols == Some(0), "a frame has 1 symbol or more"),
        ];
        if let Some((field, _, cure)) = refused.into_iter().find(|refused| refused.1) {
            return Err(how.wrong(field, cure, input));
        }
        let why = "frames of a modem last as long as their symbols";
        let rate = how.needed(how.symbol_rate, why, "symbol_rate", input)?;
        let modcods = table(how, input)?;
        let source = match &how.modcod {
            None => Source::Table {
                margin: how.margin.unwrap_or(Decibels(0.0)),
                delay: how.acm_delay.unwrap_or_default(),
            },
            // A number is that of a column, a name that of a MODCOD before that of a column.
            Some(text) => match text.parse().map_err(|_| how.wrong("modcod", "is empty", input))? {
                ColumnName::Header(name) => match modcods.find(&name) {
                    Some(index) => Source::Constant(index),
                    None => Source::Column(ColumnName::Header(name)),
                },
                number @ ColumnName::Number(_) => Source::Column(number),
            },
        };
        let adaptive = matches!(source, Source::Table { .. });
        let variable = matches!(source, Source::Column(_));
        let wrong = [
            (
                "margin",
                !adaptive && how.margin.is_some(),
                "belongs to adaptive coding; leave it or modcod out",
            ),
            (
                "acm_delay",
                !adaptive && how.acm_delay.is_some(),
                "belongs to adaptive coding; leave it or modcod out",
            ),
            (
                "loss",
                !variable && how.loss.is_some(),
                "frame errors are those of the MODCODs that the log had: give their column as modcod, or leave the errors out, and thresholds say what is lost",
            ),
        ];
        if let Some((field, _, cure)) = wrong.into_iter().find(|wrong| wrong.1) {
            return Err(how.wrong(field, cure, input));
        }
        if level.is_none() && how.loss.is_none() {
            let why = "nothing says which frames were lost";
            return how.needed(None, why, "esn0, cn0 or frame errors (loss)", input);
        }
        let sized = modcods.all().iter().all(|modcod| modcod.symbols.is_some());
        if how.frame_symbols.is_none() && !sized {
            let why = "the MODCOD table does not say how many symbols a frame has";
            return how.needed(None, why, "frame_symbols, or a column symbols of the table", input);
        }
        let (symbols, assumed) = (how.frame_symbols, how.modcod_table.is_none());
        Ok(Some(Self { level, source, modcods, assumed, rate, symbols }))
    }

    pub(super) fn frames<'a>(
        &self,
        seed: u64,
        keep_order: bool,
        limits: (u64, &'a Budget<'a>),
    ) -> Frames<'a> {
        let coding = match &self.source {
            Source::Column(_) => Coding::Variable,
            Source::Constant(index) => Coding::Constant(*index),
            Source::Table { margin, delay } => Coding::Adaptive { margin: *margin, delay: *delay },
        };
        let losses = Seed(seed).rng(Stream::Import(0));
        let air = (self.rate, self.symbols);
        Frames::new((coding, self.modcods.clone()), air, losses, keep_order, limits)
    }

    /// The columns of Es/N0 and of MODCODs, if there are any.
    pub(super) fn columns(&self) -> [Option<&ColumnName>; 2] {
        let level = match &self.level {
            Some(
                Level::Symbol(Given::Column(name, _)) | Level::Carrier(Given::Column(name, _)),
            ) => Some(name),
            _ => None,
        };
        let modcod = match &self.source {
            Source::Column(name) => Some(name),
            _ => None,
        };
        [level, modcod]
    }

    /// What a row says; `missing`: of a field, whether it is empty.
    pub(super) fn signal(
        &self,
        [level, modcod]: [Option<&[u8]>; 2],
        missing: impl Fn(&[u8]) -> bool,
        loss: Option<Loss>,
    ) -> Result<Signal, Fault> {
        let above = |level: f64| level - 10.0 * (self.rate.per_second() as f64).log10();
        let number = |field: Option<&[u8]>| {
            let Some(field) = field.filter(|field| !missing(field)) else { return Ok(None) };
            let number = std::str::from_utf8(field).ok().and_then(decibels::decibels);
            let fault = || {
                let what =
                    if matches!(self.level, Some(Level::Carrier(_))) { "C/N0" } else { "Es/N0" };
                Fault::Table(format!("{what} {} is no number of decibels", Snippet::new(field)))
            };
            number.map(Some).ok_or_else(fault)
        };
        let esn0 = match &self.level {
            None => None,
            Some(Level::Symbol(Given::Constant(level))) => Some(level.0),
            Some(Level::Carrier(Given::Constant(level))) => Some(above(level.0)),
            Some(Level::Symbol(_)) => number(level)?,
            Some(Level::Carrier(_)) => number(level)?.map(above),
        };
        let modcod = match modcod.filter(|field| !missing(field)) {
            None => None,
            Some(field) => {
                let name = String::from_utf8_lossy(field);
                let found = self.modcods.find(&name).ok_or_else(|| {
                    Fault::Table(format!(
                        "{} is no MODCOD of {}; give a table of your own as modcod_table, or what \
                         stands for a missing value as missing",
                        Snippet::new(field),
                        self.modcods.about()
                    ))
                })?;
                Some(found)
            }
        };
        Ok(Signal { esn0, modcod, loss })
    }

    /// That the Es/N0 of most rows, which are sorted, is above what any of the MODCODs asks for by
    /// more than a link is built with: likely it is another quantity.
    pub(super) fn too_good(&self, levels: &[f64]) -> Option<String> {
        const PLENTY: f64 = 20.0;
        let middle = *levels.get(levels.len().saturating_sub(1) / 2)?;
        let by_threshold = |a: &&Modcod, b: &&Modcod| a.threshold_db.total_cmp(&b.threshold_db);
        let best = self.modcods.all().iter().max_by(by_threshold)?;
        let cure = match self.level {
            Some(Level::Carrier(_)) => "check the symbol rate, and whether the level is C/N0",
            _ => "check the column; C/N0 in dBHz is cn0",
        };
        (middle > best.threshold_db + PLENTY).then(|| {
            format!(
                "the median Es/N0 is {middle:.1} dB, and {} asks for {} dB, which is the most: \
                 {cure}",
                best.name, best.threshold_db
            )
        })
    }

    /// What was understood and assumed; `levels`: Es/N0 of the rows, sorted.
    pub(super) fn notes(
        &self,
        frames: &Frames,
        levels: &[f64],
        understood: &mut Vec<String>,
        assumed: &mut Vec<String>,
    ) {
        let table = frames.modcods();
        understood.push(format!("MODCODs are those of {}", table.about()));
        if self.assumed {
            assumed.push(format!("no MODCOD table is named: {}", table.about()));
        }
        understood.push(format!("{} symbols a second", self.rate));
        match (self.symbols, &self.source) {
            (Some(symbols), _) => understood.push(format!("frames of {symbols} symbols")),
            (None, _) => understood.push("frames have the symbols that the table says".to_owned()),
        }
        if let Some(Level::Carrier(_)) = self.level {
            understood.push("Es/N0 is C/N0 over the symbol rate".to_owned());
        }
        if let (Some(least), Some(most)) = (levels.first(), levels.last()) {
            let middle = levels[(levels.len() - 1) / 2];
            understood.push(format!(
                "Es/N0 is from {least:.1} to {most:.1} dB, the median {middle:.1} dB"
            ));
        }
        assumed.push("packets share frames by bytes, as in GSE".to_owned());
        match &self.source {
            Source::Constant(index) => {
                understood.push(format!("constant coding: {}", table.get(*index).name));
            }
            Source::Column(_) => understood.push("variable coding: the log's MODCODs".to_owned()),
            Source::Table { margin, delay } => {
                understood.push(format!(
                    "adaptive coding: the most efficient MODCOD whose threshold and {margin} of \
                     margin the Es/N0 of {delay} before reaches"
                ));
                let robust = &table.get(table.most_robust()).name;
                if frames.desperate > 0 {
                    assumed.push(format!(
                        "{robust} where no MODCOD's threshold and margin are reached: {}",
                        counted(frames.desperate, "frame", "frames")
                    ));
                }
                if *delay > Duration::ZERO {
                    assumed.push("before the first report the first row is known".to_owned());
                }
            }
        }
        let used = frames.used();
        let shown = used.iter().take(12).map(|(name, sent, lost)| match lost {
            0 => format!("{name} {sent}"),
            lost => format!("{name} {sent} ({lost} lost)"),
        });
        let more = if used.len() > 12 { ", ..." } else { "" };
        understood.push(format!("frames: {}{more}", shown.collect::<Vec<_>>().join(", ")));
    }
}

/// The table that a description names: a preset, or a file.
fn table(how: &TraceFile, input: &Input<'_>) -> Result<Modcods, FileError> {
    let named = how.modcod_table.as_deref().unwrap_or("dvb-s2x");
    if let Some(preset) = Modcods::preset(named) {
        return Ok(preset);
    }
    let path = std::path::Path::new(named);
    if path.extension().is_none() {
        let cure = "is neither a preset (dvb-s2, dvb-s2x) nor a file of .toml or .csv";
        return Err(how.wrong("modcod_table", cure, input));
    }
    let mut text = Vec::new();
    let place = || input.files.place(path);
    // A table is short.
    let mut file = std::io::Read::take(input.reader(path)?, 1 << 20);
    let read = std::io::Read::read_to_end(&mut file, &mut text);
    read.map_err(|error| FileError::Read { place: place(), error: error.into() })?;
    let about = format!("the table {}", path.file_name().unwrap_or_default().to_string_lossy());
    let modcods = match path.extension().is_some_and(|suffix| suffix == "toml") {
        true => Modcods::of_toml(&String::from_utf8_lossy(&text), &about),
        false => Modcods::of_csv(&text, &about),
    };
    modcods.map_err(|error| FileError::Read { place: place(), error })
}
