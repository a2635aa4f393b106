//! The numbers of a run by dotted names, as tables of results store them.

use std::fmt::Write;

use crate::metrics::catalog;
use crate::metrics::{FlowMetrics, Outcome, Value};

/// Maximum number of flows with separate numbers in tables of results; for more flows, a table
/// stores their ranges. 10^5 flows would need four million columns.
pub const MOST_FLOWS: usize = 100;

impl Outcome {
    /// Calls `see` with the dotted name and the value of each finite number of the summary, in its
    /// order.
    ///
    /// For example, the timeouts of flow 3 are `flows.3.timeouts`, and those of a flow with the name
    /// web are `flows.web.timeouts`; links of a network have names too. With more than [`MOST_FLOWS`]
    /// flows, the names are `flows.least.timeouts`, `flows.median.timeouts` and
    /// `flows.most.timeouts`, over the flows that have the number, and
    /// `flows.sum.segments_by_retransmissions.0` and so on.
    ///
    /// # Errors
    /// The errors of `see`.
    pub fn numbers<E>(&self, mut see: impl FnMut(&str, f64) -> Result<(), E>) -> Result<(), E> {
        let whole = if self.flows.len() > MOST_FLOWS {
            self.summary_with(ranges(&self.flows))
        } else {
            self.summary()
        };
        gather(&whole, &mut String::new(), &mut see)
    }
}

/// Calls `see` for the finite numbers of a value and its parts. `name` is the prefix of their
/// names.
fn gather<E>(
    value: &Value,
    name: &mut String,
    see: &mut impl FnMut(&str, f64) -> Result<(), E>,
) -> Result<(), E> {
    if let Some(number) = finite(value) {
        return see(name, number);
    }
    let length = name.len();
    let dot = if length > 0 { "." } else { "" };
    match value {
        Value::List(values) => {
            for (index, value) in values.iter().enumerate() {
                // Writing to a string cannot fail.
                let _ = match value.get("name") {
                    Some(Value::Text(own)) => write!(name, "{dot}{own}"),
                    _ => write!(name, "{dot}{index}"),
                };
                gather(value, name, see)?;
                name.truncate(length);
            }
        }
        Value::Table(values) => {
            for (own, value) in values {
                name.push_str(dot);
                name.push_str(own);
                gather(value, name, see)?;
                name.truncate(length);
            }
        }
        Value::Missing | Value::Count(_) | Value::Number(_) | Value::Text(_) => {}
    }
    Ok(())
}

fn finite(value: &Value) -> Option<f64> {
    match value {
        Value::Count(count) => Some(*count as f64),
        Value::Number(number) if number.is_finite() => Some(*number),
        _ => None,
    }
}

/// The least, the median and the most of each number of the flows.
fn ranges(flows: &[FlowMetrics]) -> Value {
    let mut of_all = Samples::default();
    let mut sums = [0; 8];
    for flow in flows {
        of_all.add(&catalog::flow(flow));
        for (sum, count) in sums.iter_mut().zip(flow.sender.acknowledged_by_transmissions) {
            *sum += count;
        }
    }
    of_all.sort();
    let sums = Value::List(sums.map(Value::Count).to_vec());
    Value::Table(vec![
        ("least", of_all.picked(&|sorted| sorted[0])),
        (
            "median",
            of_all.picked(&|sorted| {
                let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
                low + (high - low) / 2.0
            }),
        ),
        ("most", of_all.picked(&|sorted| sorted[sorted.len() - 1])),
        ("sum", Value::Table(vec![("segments_by_retransmissions", sums)])),
    ])
}

/// The numbers of several values of the same shape, collected by position.
#[derive(Default)]
struct Samples {
    own: Vec<f64>,
    items: Vec<Samples>,
    rows: Vec<(&'static str, Samples)>,
}

impl Samples {
    fn add(&mut self, value: &Value) {
        self.own.extend(finite(value));
        match value {
            Value::List(values) => {
                self.items.resize_with(values.len().max(self.items.len()), Self::default);
                for (place, value) in self.items.iter_mut().zip(values) {
                    place.add(value);
                }
            }
            Value::Table(values) => {
                for (at, (name, value)) in values.iter().enumerate() {
                    self.row(at, name).add(value);
                }
            }
            Value::Missing | Value::Count(_) | Value::Number(_) | Value::Text(_) => {}
        }
    }

    /// The samples with this name. They are usually at the same index as in the previous value.
    fn row(&mut self, at: usize, name: &'static str) -> &mut Self {
        let there = if self.rows.get(at).is_some_and(|(own, _)| *own == name) {
            Some(at)
        } else {
            self.rows.iter().position(|(own, _)| *own == name)
        };
        let at = there.unwrap_or_else(|| {
            self.rows.push((name, Self::default()));
            self.rows.len() - 1
        });
        &mut self.rows[at].1
    }

    fn sort(&mut self) {
        self.own.sort_unstable_by(f64::total_cmp);
        self.items.iter_mut().for_each(Self::sort);
        self.rows.iter_mut().for_each(|(_, row)| row.sort());
    }

    /// The numbers that `pick` selects from the sorted numbers at each position.
    fn picked(&self, pick: &impl Fn(&[f64]) -> f64) -> Value {
        if !self.own.is_empty() {
            return Value::Number(pick(&self.own));
        }
        if !self.items.is_empty() {
            return Value::List(self.items.iter().map(|item| item.picked(pick)).collect());
        }
        let picked = |(name, row): &(&'static str, Self)| (*name, row.picked(pick));
        Value::Table(self.rows.iter().map(picked).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use super::*;
    use crate::metrics::MessageMetrics;
    use crate::transport::tcp::SenderCounters;
    use crate::units::Instant;

    fn numbers(flows: Vec<FlowMetrics>) -> BTreeMap<String, f64> {
        let ended = Instant::from_nanos(8_000_000);
        let outcome = Outcome {
            ended,
            flows,
            forward: vec![],
            backward: vec![],
            hop_names: vec![],
            events: 0,
        };
        let mut found = BTreeMap::new();
        let Ok(()) = outcome.numbers(|name, number| {
            assert_eq!(found.insert(name.to_owned(), number), None, "{name}");
            Ok::<(), Infallible>(())
        });
        found
    }

    fn flow(timeouts: u64) -> FlowMetrics {
        FlowMetrics {
            sender: SenderCounters {
                timeouts,
                acknowledged_by_transmissions: [timeouts, 1, 0, 0, 0, 0, 0, 0],
                ..SenderCounters::default()
            },
            end: Instant::from_nanos(8_000_000),
            bytes_in_order: 1000 * timeouts,
            // Only every other flow has an application with its own summary.
            messages: (timeouts % 2 == 1)
                .then(|| MessageMetrics { sent: timeouts, ..Default::default() }),
            ..FlowMetrics::default()
        }
    }

    #[test]
    fn few_flows_have_separate_numbers() {
        let found = numbers((0..MOST_FLOWS as u64).rev().map(flow).collect());
        assert_eq!((found["flows.0.timeouts"], found["flows.99.timeouts"]), (99.0, 0.0));
        assert_eq!(found["flows.2.messages.sent"], 97.0);
        assert!(!found.contains_key("flows.least.timeouts"));
    }

    #[test]
    fn many_flows_have_a_range() {
        let found = numbers((0..=MOST_FLOWS as u64).rev().map(flow).collect());
        let ranges = ["least", "median", "most"];
        let of = |name: &str| ranges.map(|range| found[&format!("flows.{range}.{name}")]);
        assert_eq!(of("timeouts"), [0.0, 50.0, 100.0]);
        assert_eq!(of("goodput_kbps"), [0.0, 50_000.0, 100_000.0]);
        assert_eq!(of("messages.sent"), [1.0, 50.0, 99.0]);
        assert_eq!(of("segments_by_retransmissions.1"), [1.0, 1.0, 1.0]);
        assert_eq!(found["flows.sum.segments_by_retransmissions.0"], 5050.0);
        assert_eq!(found["timeouts"], 5050.0);
        assert!(!found.contains_key("flows.0.timeouts"));
        assert!(!found.contains_key("flows.least.messages.share_in_time.0"));
    }
}
