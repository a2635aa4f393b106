//! Units of the ends of a range, so that a range can run from "100 kbit/s" to "10 Mbit/s".

/// A unit of quantities in a scenario.
#[derive(Debug, PartialEq)]
pub(super) struct Unit {
    pub(super) name: &'static str,
    /// Units of one kind can be converted into one another.
    kind: Kind,
    /// Value of the unit in the first unit of its kind.
    pub(super) factor: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Number,
    Percent,
    Time,
    Rate,
    Size,
    Level,
    Angle,
    Length,
    Speed,
    Frequency,
    SymbolRate,
    Packets,
}

const fn unit(name: &'static str, kind: Kind, factor: f64) -> Unit {
    Unit { name, kind, factor }
}

static UNITS: [Unit; 33] = [
    unit("", Kind::Number, 1.0),
    unit("%", Kind::Percent, 1.0),
    unit("ns", Kind::Time, 1.0),
    unit("us", Kind::Time, 1e3),
    unit("µs", Kind::Time, 1e3),
    unit("ms", Kind::Time, 1e6),
    unit("s", Kind::Time, 1e9),
    unit("min", Kind::Time, 60e9),
    unit("h", Kind::Time, 3600e9),
    unit("bit/s", Kind::Rate, 1.0),
    unit("kbit/s", Kind::Rate, 1e3),
    unit("Mbit/s", Kind::Rate, 1e6),
    unit("Gbit/s", Kind::Rate, 1e9),
    unit("B", Kind::Size, 1.0),
    unit("kB", Kind::Size, 1e3),
    unit("KiB", Kind::Size, 1024.0),
    unit("MB", Kind::Size, 1e6),
    unit("MiB", Kind::Size, 1_048_576.0),
    unit("GB", Kind::Size, 1e9),
    unit("GiB", Kind::Size, 1_073_741_824.0),
    unit("dB", Kind::Level, 1.0),
    unit("deg", Kind::Angle, 1.0),
    unit("m", Kind::Length, 1.0),
    unit("km", Kind::Length, 1e3),
    unit("km/h", Kind::Speed, 1.0),
    unit("m/s", Kind::Speed, 3.6),
    unit("MHz", Kind::Frequency, 1.0),
    unit("GHz", Kind::Frequency, 1e3),
    unit("Bd", Kind::SymbolRate, 1.0),
    unit("kBd", Kind::SymbolRate, 1e3),
    unit("MBd", Kind::SymbolRate, 1e6),
    unit("GBd", Kind::SymbolRate, 1e9),
    unit("packets", Kind::Packets, 1.0),
];

/// The empty unit.
pub(super) fn none() -> &'static Unit {
    &UNITS[0]
}

/// Number and unit of a text such as "2.3 Mbit/s".
pub(super) fn measured(text: &str) -> Option<(f64, &'static Unit)> {
    let text = text.trim();
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+');
    let split = text.find(|c| !is_of_number(c)).unwrap_or(text.len());
    let (number, name) = (&text[..split], text[split..].trim_start());
    let name = if name == "packet" { "packets" } else { name };
    let unit = UNITS.iter().find(|unit| unit.name == name)?;
    let number = number.parse::<f64>().ok().filter(|number| number.is_finite())?;
    Some((number, unit))
}

impl Unit {
    /// Whether a number in this unit can be converted to the other.
    pub(super) fn fits(&self, other: &Self) -> bool {
        self.kind == other.kind
    }

    /// Whether a number in this unit must be an integer multiple of the first unit of its kind.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.kind, Kind::Time | Kind::Rate | Kind::Size | Kind::Packets)
    }

    /// The first unit of this kind.
    pub(super) fn base(&self) -> &'static Self {
        UNITS.iter().find(|unit| unit.kind == self.kind && unit.factor == 1.0).unwrap_or(none())
    }
}
