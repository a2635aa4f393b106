//! Origins of a cell's values: the file, a change from outside, a preset, a trace, or a default.

use super::cell::Cell;
use super::error::{Origin, ScenarioError};
use super::link::SlotLink;
use super::source::Source;
use super::traces::{MakeError, SetupFault, Traces};
use crate::config::{Node, Table, Value, join};

/// A key with its effective value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InEffect {
    /// The dotted key.
    pub key: String,
    /// The value, as written in a file.
    pub value: String,
    /// Its origin.
    pub from: String,
}

/// The dotted keys that a scenario gives, with their places.
pub(super) fn origins(source: &Source, root: &Table) -> Vec<(String, Origin)> {
    let preset = root.get("preset").and_then(Value::plain);
    let mut found = Vec::new();
    for (key, value) in root.iter() {
        visit(key.to_owned(), value, &mut |key, value| {
            let from = match &preset {
                _ if !value.place.is_empty() => source.place(&value.place),
                // Values parsed from text have a position. A value without one comes from the
                // preset.
                Some(name) if !source.text().is_empty() => Origin::Preset(name.clone()),
                _ => Origin::File,
            };
            found.push((key, from));
        });
    }
    found
}

fn visit(key: String, value: &Value, see: &mut impl FnMut(String, &Value)) {
    match &value.node {
        Node::Table(table) => {
            table.iter().for_each(|(name, value)| visit(join(&key, name), value, see));
        }
        Node::List(list) if list.iter().any(|one| one.as_table().is_some()) => {
            let numbered = list.iter().enumerate();
            numbered.for_each(|(index, value)| visit(join(&key, &index.to_string()), value, see));
        }
        _ => see(key, value),
    }
}

impl Cell {
    /// The dotted keys that the scenario gives, with their places.
    pub fn origins(&self) -> &[(String, Origin)] {
        &self.origins
    }

    /// The place of a dotted key, if it is given.
    fn origin(&self, key: &str) -> Option<&Origin> {
        self.origins.iter().find(|(known, _)| known == key).map(|(_, place)| place)
    }

    /// Turns a setup fault of the cell into an error of the scenario named `file`.
    pub fn error(&self, file: &str, fault: &SetupFault) -> ScenarioError {
        let (key, message) = match fault {
            SetupFault::Key(fault) => (fault.path(), fault.message().to_owned()),
            SetupFault::Trace(MakeError::Trace { key, error }) => (key.clone(), error.to_string()),
            SetupFault::Trace(error) => (String::new(), error.to_string()),
        };
        let place = self.origin(&key).cloned().unwrap_or(Origin::File);
        ScenarioError { file: file.to_owned(), place, key, message }
    }

    /// Round-trip time, queue, LLDU size and decoding time of every link that has them, with their
    /// origins. Values of a trace from a file are the trace's.
    ///
    /// # Errors
    /// If a trace cannot be made.
    pub fn in_effect(&self, traces: &dyn Traces) -> Result<Vec<InEffect>, SetupFault> {
        let mut found = Vec::new();
        for (index, link) in self.plan.links().enumerate() {
            let mut see = |name: &str, value: String, otherwise: &str| {
                let key = join(&link.key, name);
                let from = self.origin(&key).map_or(otherwise.to_owned(), Origin::to_string);
                found.push(InEffect { key, value, from });
            };
            // A link with its own section has its own delay, and a link trace includes its delay.
            if link.phy.is_some() && link.section.is_empty() {
                let measured = self.measured_rtt(index, link, traces)?;
                let from = if measured.is_some() { "trace" } else { "default" };
                let rtt = link.link.slots.rtt.or(measured).unwrap_or(SlotLink::RTT);
                see("link.rtt", rtt.to_string(), from);
            }
            let channel = link.phy.as_ref().filter(|phy| phy.trace.is_none());
            if let Some((lldu, decoding)) = channel
                .and_then(|phy| phy.channel.as_ref())
                .and_then(|channel| channel.config.lldu_and_decoding())
            {
                see("channel.lldu", lldu.to_string(), "default");
                see("channel.decoding", decoding.to_string(), "default: one slot");
            }
            see("link.queue", link.link.usage.queue.to_string(), "default");
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Registry;
    use crate::scenario::{Scenario, Store};
    use crate::trace::InMemory;

    fn lines(text: &str, changes: &[(&str, &str)]) -> Vec<String> {
        let changes: Vec<_> =
            changes.iter().map(|&(key, text)| (key.to_owned(), text.to_owned())).collect();
        let scenario = Scenario::parse("geo.toml", text, &changes, &Registry::new()).unwrap();
        let found = scenario.cells()[0].in_effect(&Store::new(InMemory::default())).unwrap();
        found.iter().map(|own| format!("{} {} ({})", own.key, own.value, own.from)).collect()
    }

    #[test]
    fn each_value_in_effect_says_where_it_comes_from() {
        let channel = "[channel]\nmodel = \"bernoulli\"\nerasures = 0\nslot = \"2 ms\"\n";
        assert_eq!(
            lines(channel, &[("link.queue", "9 packets")]),
            [
                "link.rtt 100 ms (default)",
                "channel.lldu 1500 B (default)",
                "channel.decoding 2 ms (default: one slot)",
                "link.queue 9 packets (--set)",
            ]
        );
        let named = format!("preset = \"geo-mobile-2014\"\n{channel}lldu = \"99 B\"\n");
        assert_eq!(
            lines(&named, &[]),
            [
                "link.rtt 500 ms (preset geo-mobile-2014)",
                "channel.lldu 99 B (line 6)",
                "channel.decoding 36 ms (preset geo-mobile-2014)",
                "link.queue unlimited (preset geo-mobile-2014)",
            ]
        );
        assert_eq!(lines("[ntn]\n", &[]), ["link.queue 1000 packets (default)"]);
    }
}
