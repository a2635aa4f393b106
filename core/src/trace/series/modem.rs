//! Logs of modems: their additional columns, and the frames generated from them.

use super::slots::Loss;
use crate::trace::decibels::{self, Decibels, SymbolRate};
use crate::trace::error::{Fault, FileError, Snippet};
use crate::trace::file::{Input, TraceFile};
use crate::trace::given::{ColumnName, Given, column};
use crate::trace::{Modcod, Modcods};
use crate::units::Duration;

/// How the MODCOD of a frame is chosen.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Coding {
    /// The same for all frames.
    Constant(usize),
    /// The MODCOD of the row.
    Variable,
    /// The most efficient MODCOD for the Es/N0 that the sender knew a delay ago, less a margin.
    Adaptive { margin: Decibels, delay: Duration },
}

/// Signal of a modem during an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Signal {
    /// Es/N0 in dB; `None`: no reception.
    pub(super) esn0: Option<f64>,
    /// The MODCOD of the row, if rows give one; `None`: nothing is sent.
    pub(super) modcod: Option<usize>,
    /// Share of its frames that were lost, if rows give it.
    pub(super) loss: Option<Loss>,
}

/// Layout of a modem's log.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Modem {
    /// Es/N0, or C/N0 if `carrier`: the symbol rate converts it.
    level: Option<Given<Decibels>>,
    pub(super) carrier: bool,
    pub(super) coding: Coding,
    /// The column of MODCODs.
    column: Option<ColumnName>,
    pub(super) modcods: Modcods,
    /// True if the default table was used.
    pub(super) assumed: bool,
    pub(super) rate: SymbolRate,
    pub(super) symbols: Option<u32>,
}

impl Modem {
    /// The modem settings of a file description, if it has any.
    pub(super) fn of(how: &TraceFile, input: &Input<'_>) -> Result<Option<Self>, FileError> {
        let level = match (&how.esn0, &how.cn0) {
            (Some(_), Some(_)) => {
                let cure = "conflicts with esn0; keep one of them";
                return Err(how.wrong("cn0", cure, input));
            }
            (Some(esn0), None) => Some(esn0.clone()),
            (None, Some(Given::Constant(cn0))) => Some(Given::Constant(Decibels(cn0.0))),
            (None, Some(Given::Column(name, unit))) => Some(Given::Column(name.clone(), *unit)),
            (None, None) => None,
        };
        if level.is_none() && how.modcod.is_none() && how.modcod_table.is_none() {
            let given = [
                ("symbol_rate", how.symbol_rate.is_some()),
                ("margin", how.margin.is_some()),
                ("acm_delay", how.acm_delay.is_some()),
                ("frame_symbols", how.frame_symbols.is_some()),
            ];
            let belongs = "needs the log of a modem; give esn0, cn0 or modcod";
            return match given.iter().find(|(_, given)| *given) {
                Some((field, _)) => Err(how.wrong(field, belongs, input)),
                None => Ok(None),
            };
        }
        let refused = [
            ("rate", how.rate.is_some(), "follows from symbol rate and MODCOD; remove it"),
            ("lldu", how.lldu.is_some(), "follows from the MODCOD of a frame; remove it"),
            ("frame_symbols", how.frame_symbols == Some(0), "must be 1 or more"),
        ];
        if let Some((field, _, cure)) = refused.into_iter().find(|refused| refused.1) {
            return Err(how.wrong(field, cure, input));
        }
        let why = "frames of a modem last as long as their symbols";
        let rate = how.needed(how.symbol_rate, why, "symbol_rate", input)?;
        let modcods = table(how, input)?;
        let (coding, column) = match &how.modcod {
            None => {
                let margin = how.margin.unwrap_or(Decibels(0.0));
                (Coding::Adaptive { margin, delay: how.acm_delay.unwrap_or_default() }, None)
            }
            // A number is a column; a name is a MODCOD if one matches, else a column.
            Some(text) => match text.parse().map_err(|_| how.wrong("modcod", "is empty", input))? {
                ColumnName::Header(name) => match modcods.find(&name) {
                    Some(index) => (Coding::Constant(index), None),
                    None => (Coding::Variable, Some(ColumnName::Header(name))),
                },
                number @ ColumnName::Number(_) => (Coding::Variable, Some(number)),
            },
        };
        let (adaptive, variable) = (how.modcod.is_none(), column.is_some());
        let cure = "applies to adaptive coding only; remove it or modcod";
        let wrong = [
            ("margin", !adaptive && how.margin.is_some(), cure),
            ("acm_delay", !adaptive && how.acm_delay.is_some(), cure),
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
        let carrier = how.cn0.is_some();
        Ok(Some(Self { level, carrier, coding, column, modcods, assumed, rate, symbols }))
    }

    /// The columns of Es/N0 and of MODCODs, if given.
    pub(super) fn columns(&self) -> [Option<&ColumnName>; 2] {
        [column(self.level.as_ref()), self.column.as_ref()]
    }

    /// The signal of a row; `missing` tells whether a field has no value.
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
                let what = if self.carrier { "C/N0" } else { "Es/N0" };
                Fault::Text(format!("{what} {} is not a number of decibels", Snippet::new(field)))
            };
            number.map(Some).ok_or_else(fault)
        };
        let esn0 = match &self.level {
            None => None,
            Some(Given::Constant(level)) => Some(level.0),
            Some(Given::Column(..)) => number(level)?,
        };
        let esn0 = if self.carrier { esn0.map(above) } else { esn0 };
        let modcod = match modcod.filter(|field| !missing(field)) {
            None => None,
            Some(field) => {
                let name = String::from_utf8_lossy(field);
                let found = self.modcods.find(&name).ok_or_else(|| {
                    Fault::Text(format!(
                        "{} is not a MODCOD of {}; give your own table as modcod_table, or the \
                         marker of missing values as missing",
                        Snippet::new(field),
                        self.modcods.about()
                    ))
                })?;
                Some(found)
            }
        };
        Ok(Signal { esn0, modcod, loss })
    }

    /// Warns if the median Es/N0 of the rows (`levels`, sorted) exceeds the highest MODCOD
    /// threshold by more than the margin of any real link: the column is probably another quantity.
    pub(super) fn too_good(&self, levels: &[f64]) -> Option<String> {
        const PLENTY: f64 = 20.0;
        let middle = *levels.get(levels.len().saturating_sub(1) / 2)?;
        let by_threshold = |a: &&Modcod, b: &&Modcod| a.threshold_db.total_cmp(&b.threshold_db);
        let best = self.modcods.all().iter().max_by(by_threshold)?;
        let cure = match self.carrier {
            true => "check the symbol rate, and whether the level is C/N0",
            false => "check the column; C/N0 in dBHz is cn0",
        };
        (middle > best.threshold_db + PLENTY).then(|| {
            format!(
                "the median Es/N0 is {middle:.1} dB, and {} asks for {} dB, which is the most: \
                 {cure}",
                best.name, best.threshold_db
            )
        })
    }
}

/// The MODCOD table of a description: a preset, or a file.
fn table(how: &TraceFile, input: &Input<'_>) -> Result<Modcods, FileError> {
    let named = how.modcod_table.as_deref().unwrap_or("dvb-s2x");
    if let Some(preset) = Modcods::preset(named) {
        return Ok(preset);
    }
    let path = std::path::Path::new(named);
    if path.extension().is_none() {
        let cure =
            "is neither a preset (dvb-s2, dvb-s2x, dvb-s2-short) nor a file of .toml or .csv";
        return Err(how.wrong("modcod_table", cure, input));
    }
    let mut text = Vec::new();
    // Tables are short, so the file is read as a whole.
    let mut file = std::io::Read::take(input.reader(path)?, 1 << 20);
    let read = std::io::Read::read_to_end(&mut file, &mut text);
    read.map_err(|error| input.fault(path, error))?;
    let about = format!("the table {}", path.file_name().unwrap_or_default().to_string_lossy());
    let modcods = match path.extension().is_some_and(|suffix| suffix == "toml") {
        true => Modcods::of_toml(&String::from_utf8_lossy(&text), &about),
        false => Modcods::of_csv(&text, &about),
    };
    modcods.map_err(|error| input.fault(path, error))
}
