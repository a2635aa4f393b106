//! MODCODs: payload of a frame, and the Es/N0 required to receive it.

mod presets;

use serde::Deserialize;

use crate::trace::error::{Fault, ReadError, Snippet};
use crate::trace::table::Table;

/// A modulation and a code rate.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modcod {
    /// Name, e.g. `QPSK 3/4`.
    pub name: String,
    /// Data bits per symbol, including the overhead of frame headers.
    pub efficiency: f64,
    /// Minimum Es/N0 in dB at which its frames are received.
    pub threshold_db: f64,
    /// Symbols per frame, if the table gives them.
    #[serde(default)]
    pub symbols: Option<u32>,
    /// Frame error rates of its decoder, each with its Es/N0 in dB, in order of Es/N0. Empty: no
    /// frame is lost from the threshold on, and all are below it.
    #[serde(default)]
    pub curve: Vec<(f64, f64)>,
}

/// The MODCODs of a modem.
///
/// ```
/// use clift::trace::Modcods;
/// let table = Modcods::preset("dvb-s2").unwrap();
/// let named = table.find("qpsk_3/4").unwrap();
/// assert_eq!((table.get(named).threshold_db, table.get(named).bytes(None)), (4.03, Some(6041)));
/// // The standard's numbers work, too. 10 dB less a margin of 1 dB leave 9 dB.
/// assert_eq!(table.find("7"), Some(named));
/// assert_eq!(table.get(table.best(9.0).unwrap()).name, "16APSK 2/3");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Modcods {
    entries: Vec<Modcod>,
    /// Description of the table.
    about: String,
}

impl Modcod {
    /// A MODCOD of short frames. Its threshold is where the curve reaches an error rate of 1e-5, as
    /// those of the standard.
    fn of_curve(&(name, bits, curve): &presets::Curve) -> Self {
        let symbols = presets::symbols(name, 16_200);
        let [(from, high), (to, low)] = [curve[curve.len() - 2], curve[curve.len() - 1]];
        let decades = libm::log10(high / low) / (to - from);
        Self {
            name: name.to_owned(),
            efficiency: f64::from(bits - 80) / f64::from(symbols),
            threshold_db: to + libm::log10(low / 1e-5) / decades,
            symbols: Some(symbols),
            curve: curve.to_vec(),
        }
    }

    /// Probability that a frame is lost at `esn0_db`. Between the points of the curve, and beyond
    /// them along its first and its last two, the logarithm of the rate is linear in dB.
    ///
    /// ```
    /// use clift::trace::Modcods;
    /// let curves = Modcods::preset("dvb-s2-short").unwrap();
    /// let qpsk = curves.get(curves.find("QPSK 3/5").unwrap());
    /// assert!((qpsk.error_rate(2.12) - 0.034).abs() < 1e-9);
    /// assert!((qpsk.error_rate(qpsk.threshold_db) / 1e-5 - 1.0).abs() < 0.1);
    /// assert_eq!(qpsk.error_rate(1.0), 1.0);
    /// ```
    pub fn error_rate(&self, esn0_db: f64) -> f64 {
        if self.curve.len() < 2 {
            return if esn0_db >= self.threshold_db { 0.0 } else { 1.0 };
        }
        let next = self.curve.partition_point(|&(at, _)| at < esn0_db);
        let next = next.clamp(1, self.curve.len() - 1);
        let ((from, high), (to, low)) = (self.curve[next - 1], self.curve[next]);
        let part = (esn0_db - from) / (to - from);
        libm::exp(libm::log(high) + part * (libm::log(low) - libm::log(high))).min(1.0)
    }

    /// Bytes of a frame of `symbols` symbols, or of the symbols in the table; `None` if neither is
    /// given, or less than 1 byte fits.
    pub fn bytes(&self, symbols: Option<u32>) -> Option<u32> {
        let symbols = symbols.or(self.symbols)?;
        let bytes = ((self.efficiency * f64::from(symbols)).round() / 8.0).floor();
        (1.0..=f64::from(u32::MAX)).contains(&bytes).then_some(bytes as u32)
    }
}

impl Modcods {
    /// Names of the presets.
    pub const PRESETS: [&str; 3] = ["dvb-s2", "dvb-s2x", "dvb-s2-short"];

    /// A table of a standard: `dvb-s2` (ETSI EN 302 307-1, table 13) or `dvb-s2x` (the same and EN
    /// 302 307-2, table 20a); normal frames without pilots. Or `dvb-s2-short`: five MODCODs of DVB-S2
    /// with short frames and the frame error rates of a decoder.
    pub fn preset(name: &str) -> Option<Self> {
        if name == "dvb-s2-short" {
            let about = "DVB-S2, short frames, no pilots, with the frame error rates of AFF3CT's \
                         receiver (50 iterations)";
            let entries = presets::SHORT.iter().map(Modcod::of_curve).collect();
            return Some(Self { entries, about: about.to_owned() });
        }
        let (added, about): (&[presets::Entry], _) = match name {
            "dvb-s2" => (&[], "DVB-S2, normal frames, no pilots (EN 302 307-1, table 13)"),
            "dvb-s2x" => (
                &presets::DVB_S2X,
                "DVB-S2 and S2X, normal frames, no pilots (EN 302 307-1, table 13, and EN 302 307-2, \
                 table 20a)",
            ),
            _ => return None,
        };
        let entry = |&(name, efficiency, threshold_db): &presets::Entry| Modcod {
            name: name.to_owned(),
            efficiency,
            threshold_db,
            symbols: Some(presets::symbols(name, 64_800)),
            curve: Vec::new(),
        };
        let entries = presets::DVB_S2.iter().chain(added).map(entry).collect();
        Some(Self { entries, about: about.to_owned() })
    }

    /// A table in TOML: `[[modcod]]` with `name`, `efficiency`, `threshold_db` and optionally
    /// `symbols` and `curve`.
    ///
    /// # Errors
    /// The first fault.
    pub fn of_toml(text: &str, about: &str) -> Result<Self, ReadError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            modcod: Vec<Modcod>,
        }
        let file: File = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(0, |span| text[..span.start].matches('\n').count());
            let reason = error.message().lines().next().unwrap_or_default().to_owned();
            Fault::Text(reason).at(line as u64 + 1)
        })?;
        Self::of(file.modcod, about).map_err(ReadError::of_file)
    }

    /// A table with the columns `name`, `efficiency`, `threshold_db` and optionally `symbols`.
    ///
    /// # Errors
    /// The first faulty line.
    pub fn of_csv(text: &[u8], about: &str) -> Result<Self, ReadError> {
        let mut table = Table::new(text)?;
        let mut places: Option<[Option<usize>; 4]> = None;
        let mut entries = Vec::new();
        while let Some(row) = table.next()? {
            let fault = |reason: String| Fault::Text(reason).at(row.line);
            let Some(places) = places else {
                let named = |name: &str| {
                    (0..row.len()).find(|&index| row.field(index) == Some(name.as_bytes()))
                };
                let found = [named("name"), named("efficiency"), named("threshold_db")];
                if found.contains(&None) {
                    return Err(fault(
                        "the header of a MODCOD table has name, efficiency (bit/symbol) and \
                         threshold_db, and optionally symbols"
                            .to_owned(),
                    ));
                }
                places = Some([found[0], found[1], found[2], named("symbols")]);
                continue;
            };
            let field = |place: usize| {
                let text = places[place].and_then(|index| row.field(index)).unwrap_or_default();
                String::from_utf8_lossy(text).into_owned()
            };
            let number = |place: usize| {
                let text = field(place);
                let no = || fault(format!("{} is not a number", Snippet::new(text.as_bytes())));
                text.parse::<f64>().map_err(|_| no())
            };
            let symbols = match field(3) {
                text if text.is_empty() => None,
                text => Some(text.parse().map_err(|_| {
                    fault(format!("{} is not a number of symbols", Snippet::new(text.as_bytes())))
                })?),
            };
            let (efficiency, threshold_db) = (number(1)?, number(2)?);
            entries.push(Modcod {
                name: field(0),
                efficiency,
                threshold_db,
                symbols,
                curve: Vec::new(),
            });
        }
        Self::of(entries, about).map_err(ReadError::of_file)
    }

    fn of(entries: Vec<Modcod>, about: &str) -> Result<Self, String> {
        if entries.is_empty() {
            return Err("the MODCOD table is empty".to_owned());
        }
        for (place, entry) in entries.iter().enumerate() {
            let name = Snippet::new(entry.name.as_bytes());
            let plain = plain(&entry.name);
            let wrong = if plain.is_empty() || plain.bytes().all(|byte| byte.is_ascii_digit()) {
                "is not a valid name; numbers refer to rows of the table"
            } else if !(entry.efficiency > 0.0 && entry.efficiency <= 64.0) {
                "has no efficiency above 0 and up to 64 bit/symbol"
            } else if !(-100.0..=100.0).contains(&entry.threshold_db) {
                "has no threshold from -100 to 100 dB"
            } else if entry.symbols == Some(0) {
                "has frames without symbols"
            } else if !is_curve(&entry.curve) {
                "has no valid curve: give two or more pairs of Es/N0 in dB, which rises, and frame \
                 error rate, which falls, above 0 and up to 1"
            } else if entries[..place].iter().any(|other| self::plain(&other.name) == plain) {
                "occurs twice"
            } else {
                continue;
            };
            return Err(format!("MODCOD {name} {wrong}"));
        }
        Ok(Self { entries, about: about.to_owned() })
    }

    /// Index of the MODCOD with this name or number (from 1; for DVB-S2 that of the standard).
    pub fn find(&self, name: &str) -> Option<usize> {
        let wanted = plain(name);
        if let Ok(number) = wanted.parse::<usize>() {
            return (1..=self.entries.len()).contains(&number).then(|| number - 1);
        }
        self.entries.iter().position(|entry| plain(&entry.name) == wanted)
    }

    /// The MODCOD with this index; panics if it does not exist.
    pub fn get(&self, index: usize) -> &Modcod {
        &self.entries[index]
    }

    /// All MODCODs.
    pub fn all(&self) -> &[Modcod] {
        &self.entries
    }

    /// The most efficient MODCOD whose threshold is at most `esn0_db`.
    pub fn best(&self, esn0_db: f64) -> Option<usize> {
        let within = (0..self.entries.len()).filter(|&i| self.entries[i].threshold_db <= esn0_db);
        within.reduce(|best, i| {
            let (old, new) = (&self.entries[best], &self.entries[i]);
            let better = (new.efficiency, -new.threshold_db) > (old.efficiency, -old.threshold_db);
            if better { i } else { best }
        })
    }

    /// The MODCOD with the lowest threshold.
    pub fn most_robust(&self) -> usize {
        let threshold = |&i: &usize| self.entries[i].threshold_db;
        let all = 0..self.entries.len();
        all.min_by(|a, b| threshold(a).total_cmp(&threshold(b))).unwrap_or_default()
    }

    /// Description of the table.
    pub fn about(&self) -> &str {
        &self.about
    }
}

fn is_curve(curve: &[(f64, f64)]) -> bool {
    let is_in = |&(at, rate): &(f64, f64)| at.abs() <= 100.0 && rate > 0.0 && rate <= 1.0;
    let falls = |pair: &[(f64, f64)]| pair[0].0 < pair[1].0 && pair[0].1 > pair[1].1;
    curve.len() != 1 && curve.iter().all(is_in) && curve.windows(2).all(falls)
}

/// Normalises a name, for comparison.
fn plain(name: &str) -> String {
    let kept = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '/');
    kept.map(|c| c.to_ascii_uppercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Data bits of a normal frame are k of BCH - 80, with the code rate and the BCH parity of the
    /// standard: 192, 160 or 128 bits.
    #[test]
    fn the_presets_agree_with_the_frames_of_the_standard() {
        let table = Modcods::preset("dvb-s2x").unwrap();
        assert_eq!((table.all().len(), Modcods::preset("dvb-s2").unwrap().all().len()), (67, 28));
        for entry in table.all() {
            let (_, rate) = entry.name.split_once(' ').unwrap();
            let (over, under) = rate.trim_end_matches("-L").split_once('/').unwrap();
            let coded = 64_800.0 * over.parse::<f64>().unwrap() / under.parse::<f64>().unwrap();
            let symbols = f64::from(entry.symbols.unwrap());
            let close =
                |parity: f64| ((coded - parity - 80.0) / symbols - entry.efficiency).abs() < 1e-6;
            assert!([192.0, 160.0, 128.0].into_iter().any(close), "{entry:?}");
        }
        assert_eq!(table.get(0).bytes(None), Some(1991));
        assert!(Modcods::preset("dvb-s3").is_none());
    }

    #[test]
    fn a_better_channel_never_lowers_the_efficiency() {
        for name in Modcods::PRESETS {
            let table = Modcods::preset(name).unwrap();
            let best = |tenths: i32| table.best(f64::from(tenths) / 10.0);
            let efficiency = |i: Option<usize>| i.map_or(0.0, |i| table.get(i).efficiency);
            assert!((-40..250).is_sorted_by_key(|tenths| efficiency(best(tenths)).to_bits()));
            assert_eq!(table.best(-9.0), None);
        }
        let s2 = Modcods::preset("dvb-s2").unwrap();
        assert_eq!(s2.get(s2.most_robust()).name, "QPSK 1/4");
        // 8PSK 3/5 is less efficient than QPSK 9/10 but needs a lower Es/N0.
        assert_eq!(s2.get(s2.best(6.0).unwrap()).name, "8PSK 3/5");
    }

    #[test]
    fn user_tables_are_read_and_checked() {
        let csv = b"name;threshold_db;efficiency\nLow;-1.5;0.5\nHigh;6;2\n";
        let toml = "[[modcod]]\nname = \"Low\"\nefficiency = 0.5\nthreshold_db = -1.5\n\
                    [[modcod]]\nname = \"High\"\nefficiency = 2.0\nthreshold_db = 6.0\n";
        let table = Modcods::of_csv(csv, "x").unwrap();
        assert_eq!(table, Modcods::of_toml(toml, "x").unwrap());
        assert_eq!(
            (table.find("high"), table.find("2"), table.find("3")),
            (Some(1), Some(1), None)
        );
        assert_eq!((table.get(0).bytes(None), table.get(0).bytes(Some(160))), (None, Some(10)));
        let fault = |text: &str| Modcods::of_csv(text.as_bytes(), "x").unwrap_err().to_string();
        assert!(fault("name,efficiency\n").starts_with("line 1: the header of a MODCOD table has"));
        let head = "name,efficiency,threshold_db\n";
        assert_eq!(fault(&format!("{head}a,b,c\n")), "line 2: `b` is not a number");
        assert_eq!(fault(&format!("{head}a,1,1\nA,2,2\n")), "MODCOD `A` occurs twice");
        assert!(fault(&format!("{head}a,NaN,1\n")).starts_with("MODCOD `a` has no efficiency"));
        assert!(fault(&format!("{head}7,1,1\n")).starts_with("MODCOD `7` is not a valid name"));
        assert_eq!(fault(head), "the MODCOD table is empty");
        let fault = |text: &str| Modcods::of_toml(text, "x").unwrap_err().to_string();
        assert!(fault("[[modcod]]\nname = 3\n").starts_with("line 2: "));
        assert!(fault("x = 1\n").starts_with("line 1: unknown field `x`"));
    }

    /// EN 302 307-1, table 13: short frames need 0.2 to 0.3 dB more than normal ones. The data bits
    /// of a frame are those of BCH less the baseband header of 80.
    #[test]
    fn the_curves_of_short_frames_agree_with_the_standard() {
        let (normal, short) = (Modcods::preset("dvb-s2").unwrap(), Modcods::preset("dvb-s2-short"));
        for entry in short.unwrap().all() {
            let own = normal.get(normal.find(&entry.name).unwrap());
            let more = entry.threshold_db - own.threshold_db;
            assert!((0.15..0.3).contains(&more), "{entry:?}");
            assert!((entry.error_rate(entry.threshold_db) / 1e-5 - 1.0).abs() < 0.1, "{entry:?}");
            let bits = entry.efficiency * f64::from(entry.symbols.unwrap());
            assert!([9552.0 - 80.0, 14_232.0 - 80.0].iter().any(|own| (bits - own).abs() < 1e-6));
            assert!(is_curve(&entry.curve));
        }
        let of = |curve: &str| {
            let rest = "name = \"a\"\nefficiency = 1.0\nthreshold_db = 2.0\n";
            Modcods::of_toml(&format!("[[modcod]]\n{rest}curve = {curve}\n"), "x")
        };
        let table = of("[[0.0, 1.0], [1.0, 0.01]]").unwrap();
        let rates = [-1.0, 0.5, 2.0].map(|at| table.get(0).error_rate(at));
        assert_eq!((rates[0], rates[1].round(), table.get(0).threshold_db), (1.0, 0.0, 2.0));
        assert!((rates[1] - 0.1).abs() < 1e-12 && (rates[2] - 1e-4).abs() < 1e-15, "{rates:?}");
        for wrong in ["[[0.0, 1.0]]", "[[0.0, 0.1], [1.0, 0.2]]", "[[0.0, 0.1], [1.0, 0.0]]"] {
            assert!(of(wrong).unwrap_err().to_string().contains("has no valid curve"), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "(name,efficiency,threshold_db,symbols\n)?[ -~\n]{0,60}") {
            for read in [Modcods::of_csv(text.as_bytes(), "x"), Modcods::of_toml(&text, "x")] {
                match read {
                    Ok(table) => prop_assert!(table.best(200.0).is_some()),
                    Err(error) => prop_assert!(!error.to_string().contains('\n')),
                }
            }
        }
    }
}
