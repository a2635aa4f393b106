//! Ranges: `{ from = 5, to = 12, step = 0.5 }`, with the units of the key, linear or logarithmic.
//!
//! Computed numbers are rounded to six digits, and the run uses the value of the label: no label is
//! 0.30000000000000004, and none stands for a different number.

use super::units::{self, Unit};
use crate::config::{Fault, Node, Table, Value};

/// Digits of a computed number.
const DIGITS: i32 = 6;
/// Digits of a number that is converted or added up; removes the errors of binary arithmetic.
const EXACT: i32 = 12;
/// Keys of a range.
const KEYS: [&str; 6] = ["from", "to", "step", "points", "scale", "whole"];

/// The numbers between two ends.
pub(super) struct Range {
    from: f64,
    to: f64,
    /// The unit of `from`, used for the computation.
    unit: Unit,
    /// The unit of `to`.
    end: Unit,
    step: Option<f64>,
    points: Option<usize>,
    is_log: bool,
    /// Whether numbers are rounded to integers.
    whole: bool,
    /// Whether both ends are integers, so that integers between them stay integers.
    integers: bool,
    place: std::ops::Range<usize>,
}

/// Whether a table is a range rather than a section with keys that vary.
pub(super) fn is_range(table: &Table) -> bool {
    let plain = |key| {
        table
            .get(key)
            .is_some_and(|value: &Value| !matches!(value.node, Node::Table(_) | Node::List(_)))
    };
    plain("from") || plain("to")
}

impl Range {
    /// The range that a table describes.
    pub(super) fn of(value: &Value, table: &Table) -> Result<Self, Fault> {
        if let Some((key, _)) = table.iter().find(|(key, _)| !KEYS.contains(key)) {
            let message =
                "unknown key of a range; the keys are from, to, step or points, scale and whole";
            return Err(Fault::new(key, message));
        }
        let end = |key| match table.get(key) {
            Some(value) => number(value).ok_or_else(|| {
                Fault::new(key, "is not a number; give one, with the unit of the key if it has one")
            }),
            None => Err(Fault::at(format!(
                "a range needs `{key}`; e.g. {{ from = 5, to = 12, step = 0.5 }}"
            ))),
        };
        let (from, unit) = end("from")?;
        let (to, of_end) = end("to")?;
        let fits = |key: &str, other: Unit| match unit.fits(other) {
            true => Ok(()),
            false => Err(Fault::new(
                key,
                "has another kind of unit than `from`; give units of the same kind",
            )),
        };
        fits("to", of_end)?;
        let to = converted(to, of_end, unit);
        if from == to {
            return Err(Fault::new("to", "is the same as `from`; give another end"));
        }
        let step = table.get("step").map(|value| match number(value) {
            Some((step, of_step)) => {
                fits("step", of_step)?;
                let step = converted(step, of_step, unit);
                if step == 0.0 || (step > 0.0) != (to > from) {
                    return Err(Fault::new(
                        "step",
                        "does not lead to `to`; give a step towards it",
                    ));
                }
                Ok(step)
            }
            None => Err(Fault::new("step", "is not a number; give one, with its unit")),
        });
        let step = step.transpose()?;
        let points = table.get("points").map(|value| whole("points", value, 2)).transpose()?;
        let is_log = match table.get("scale").map(|value| &value.node) {
            None => false,
            Some(Node::Text(text)) if text == "linear" => false,
            Some(Node::Text(text)) if text == "log" => true,
            Some(_) => return Err(Fault::new("scale", "give \"linear\" or \"log\"")),
        };
        let is_whole = match table.get("whole").map(|value| &value.node) {
            None => false,
            Some(Node::Bool(on)) => *on,
            Some(_) => return Err(Fault::new("whole", "give true or false")),
        };
        if step.is_some() && points.is_some() {
            return Err(Fault::new("points", "excludes `step`; give one of them"));
        }
        if is_log && step.is_some() {
            return Err(Fault::new(
                "step",
                "needs a linear range; with scale \"log\" give `points`",
            ));
        }
        if is_log && (from <= 0.0 || to <= 0.0) {
            return Err(Fault::new("scale", "\"log\" needs both ends above zero"));
        }
        let is_integer = |key| matches!(table.get(key), Some(Value { node: Node::Integer(_), .. }));
        let integers = is_integer("from") && is_integer("to");
        let place = value.place.clone();
        Ok(Self {
            from,
            to,
            unit,
            end: of_end,
            step,
            points,
            is_log,
            whole: is_whole,
            integers,
            place,
        })
    }

    /// The number of points, if the range gives it.
    pub(super) fn count(&self) -> Option<f64> {
        match (self.step, self.points) {
            // A millionth of a step is rounding error: the last step still reaches `to`.
            (Some(step), _) => Some(((self.to - self.from) / step + 1e-6).floor() + 1.0),
            (None, points) => points.map(|points| points as f64),
        }
    }

    /// The points of the range. If the range does not give their number, `others` does.
    pub(super) fn values(&self, others: Option<usize>, most: usize) -> Result<Vec<Value>, Fault> {
        let count = match (self.count(), others) {
            (Some(count), _) if count > most as f64 => {
                let key = if self.step.is_some() { "step" } else { "points" };
                return Err(Fault::new(key, format!("makes more than {most} points; make fewer")));
            }
            (Some(count), _) => count as usize,
            (None, Some(others)) => others,
            (None, None) => {
                return Err(Fault::at("a range needs `step` or `points`; give one of them"));
            }
        };
        let mut values: Vec<Value> = (0..count).map(|n| self.nth(n, count)).collect();
        if self.whole && others.is_none() {
            values.dedup_by(|a, b| a.node == b.node);
        }
        Ok(values)
    }

    fn nth(&self, n: usize, count: usize) -> Value {
        if let Some(step) = self.step {
            let digits = decimals(self.from).max(decimals(step));
            return self.written(rounded(self.from + n as f64 * step, digits));
        }
        match n {
            0 => self.written(self.from),
            n if n + 1 == count => self.written(self.to),
            n => self.at(n as f64 / (count - 1) as f64),
        }
    }

    /// The number at a fraction of the range, rounded to six digits.
    pub(super) fn at(&self, share: f64) -> Value {
        let (low, high) = (self.from.min(self.to), self.from.max(self.to));
        let number = if self.is_log {
            significant((self.from.ln() + share * (self.to / self.from).ln()).exp(), DIGITS)
        } else {
            let span = high - low;
            rounded(self.from + share * (self.to - self.from), DIGITS - magnitude(span))
        };
        self.written(number.clamp(low, high))
    }

    /// The key that gives the number of points, for messages where that is not allowed.
    pub(super) fn says_points(&self) -> Option<&'static str> {
        self.step.map(|_| "step").or(self.points.map(|_| "points"))
    }

    /// A number as written in a file.
    fn written(&self, number: f64) -> Value {
        let number = if self.whole { number.round() } else { number };
        let node = if self.unit.fits(units::NONE) {
            if (self.integers || self.whole) && number.fract() == 0.0 {
                Node::Integer(number as i128)
            } else {
                Node::Float(number)
            }
        } else {
            Node::Text(self.with_unit(number))
        };
        Value { node, place: self.place.clone() }
    }

    /// The number with a unit: the larger of the units of both ends in which it is at least 1, else
    /// that of `from`.
    fn with_unit(&self, number: f64) -> String {
        let (mut number, mut unit) = (number, self.unit);
        let at_end = converted(number, unit, self.end);
        let larger = self.end.factor > unit.factor && at_end.abs() >= 1.0;
        let smaller = self.end.factor < unit.factor && number.abs() < 1.0;
        if !self.whole && (larger || smaller) {
            (number, unit) = (at_end, self.end);
        }
        let base = number * unit.factor;
        if unit.is_whole && (base - base.round()).abs() > 1e-9 * base.abs() {
            (number, unit) = (base.round(), unit.base());
        }
        if unit.name.is_empty() { label(number) } else { format!("{number} {}", unit.name) }
    }
}

/// A value as a label.
pub(super) fn label_of(value: &Value) -> String {
    match &value.node {
        Node::Float(number) => label(*number),
        _ => value.plain().unwrap_or_default(),
    }
}

/// Reads an integer of at least `least`.
pub(super) fn whole(key: &str, value: &Value, least: i128) -> Result<usize, Fault> {
    match value.node {
        Node::Integer(number) if number >= least => usize::try_from(number).ok(),
        _ => None,
    }
    .ok_or_else(|| Fault::new(key, format!("give a whole number, {least} or more")))
}

/// Formats a number; a small one with an exponent.
fn label(number: f64) -> String {
    if number != 0.0 && number.abs() < 1e-4 { format!("{number:e}") } else { number.to_string() }
}

fn number(value: &Value) -> Option<(f64, Unit)> {
    match &value.node {
        Node::Integer(number) => Some((*number as f64, units::NONE)),
        Node::Float(number) if number.is_finite() => Some((*number, units::NONE)),
        Node::Text(text) => units::measured(text),
        _ => None,
    }
}

fn converted(number: f64, from: Unit, to: Unit) -> f64 {
    if from.factor == to.factor {
        return number;
    }
    significant(number * from.factor / to.factor, EXACT)
}

/// The number of digits before the decimal point: 1 for 7, 0 for 0.3.
fn magnitude(number: f64) -> i32 {
    number.abs().log10().ceil() as i32
}

/// Rounds to a number of significant digits.
fn significant(number: f64, digits: i32) -> f64 {
    if number == 0.0 { 0.0 } else { rounded(number, digits - magnitude(number)) }
}

/// Rounds to a number of digits after the decimal point; a negative number rounds before it.
fn rounded(number: f64, digits: i32) -> f64 {
    match usize::try_from(digits) {
        Ok(digits) => format!("{number:.0$}", digits.min(300)).parse().unwrap_or(number),
        Err(_) => {
            let unit = 10f64.powi(-digits);
            (number / unit).round() * unit
        }
    }
}

/// Number of digits after the decimal point, as written.
fn decimals(number: f64) -> i32 {
    number.to_string().split_once('.').map_or(0, |(_, behind)| behind.len() as i32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(text: &str) -> Vec<String> {
        let table = crate::scenario::source::Source::new("", &format!("x = {text}"), &[]);
        let table = table.parse().unwrap();
        let value = table.get("x").unwrap();
        let range = Range::of(value, value.as_table().unwrap()).unwrap();
        range.values(None, 1000).unwrap().iter().map(label_of).collect()
    }

    #[test]
    fn steps_and_points_are_round_in_a_suitable_unit() {
        assert_eq!(labels("{ from = 0, to = 0.4, step = 0.1 }"), ["0", "0.1", "0.2", "0.3", "0.4"]);
        assert_eq!(labels("{ from = 5, to = 6, step = 0.5 }"), ["5", "5.5", "6"]);
        assert_eq!(labels("{ from = 3, to = 0, step = -2 }"), ["3", "1"]);
        assert_eq!(labels("{ from = 5, to = 12, points = 4 }"), ["5", "7.33333", "9.66667", "12"]);
        assert_eq!(
            labels("{ from = \"100 kbit/s\", to = \"10 Mbit/s\", points = 5, scale = \"log\" }"),
            ["100 kbit/s", "316.228 kbit/s", "1 Mbit/s", "3.16228 Mbit/s", "10 Mbit/s"]
        );
        assert_eq!(
            labels("{ from = \"500 ms\", to = \"1.5 s\", step = \"250 ms\" }"),
            ["500 ms", "750 ms", "1 s", "1.25 s", "1.5 s"]
        );
        assert_eq!(
            labels("{ from = 1e-6, to = 1e-2, points = 3, scale = \"log\" }"),
            ["1e-6", "1e-4", "0.01"].map(|text| if text == "1e-4" { "0.0001" } else { text })
        );
        assert_eq!(
            labels("{ from = \"1e2 ms\", to = \"3e-1 s\", step = \"1e-1 s\" }"),
            ["100 ms", "200 ms", "300 ms"]
        );
        assert_eq!(labels("{ from = \"1 %\", to = \"2 %\", points = 3 }"), ["1 %", "1.5 %", "2 %"]);
        // A range of bytes must have whole steps.
        assert_eq!(labels("{ from = \"1 kB\", to = \"2 kB\", points = 4 }")[1], "1333 B");
        assert_eq!(
            labels("{ from = 1, to = 100, points = 4, scale = \"log\", whole = true }"),
            ["1", "5", "22", "100"]
        );
        assert_eq!(labels("{ from = 1, to = 3, points = 9, whole = true }"), ["1", "2", "3"]);
    }

    proptest! {
        /// All numbers lie between the ends, in order, and equal the number of their label.
        #[test]
        fn ranges_stay_between_their_ends(
            from in -1e6..1e6, span in 1e-3..1e6, points in 2usize..50, log in any::<bool>(),
        ) {
            let from = if log { f64::abs(from) + 1e-3 } else { from };
            let to = from + span;
            let scale = if log { "log" } else { "linear" };
            let text = format!("{{ from = {from:?}, to = {to:?}, points = {points}, scale = \"{scale}\" }}");
            let numbers: Vec<f64> =
                labels(&text).iter().map(|label| label.parse().unwrap()).collect();
            prop_assert_eq!(numbers.len(), points);
            prop_assert_eq!((numbers[0], numbers[points - 1]), (from, to));
            prop_assert!(numbers.is_sorted());
            for (n, number) in numbers.iter().enumerate() {
                let share = n as f64 / (points - 1) as f64;
                let exact = if log { from * (to / from).powf(share) } else { from + share * span };
                let error = if log { 1e-5 * exact } else { 1e-5 * span };
                prop_assert!((number - exact).abs() <= error, "{} {}", number, exact);
            }
        }
    }
}
