//! Where the values of a cell come from: its file, a change from outside, a preset, a trace, or nowhere.

use super::cell::Cell;
use super::error::{Place, ScenarioError};
use super::link::SlotLink;
use super::source::Source;
use super::store::MakeError;
use super::traces::{SetupFault, Traces};
use crate::config::{Node, Table, Value, join};

/// A key in effect.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InEffect {
    /// The dotted key.
    pub key: String,
    /// Its value, as a file would have it.
    pub value: String,
    /// Where it comes from.
    pub from: String,
}

/// Dotted keys that a scenario gives, and where each stands.
pub(super) fn origins(source: &Source, root: &Table) -> Vec<(String, Place)> {
    let preset = root.get("preset").and_then(Value::plain);
    let mut found = Vec::new();
    for (key, value) in root.iter() {
        visit(key.to_owned(), value, &mut |key, value| {
            let from = match &preset {
                _ if !value.place.is_empty() => source.place(&value.place),
                // Text has a place; what has none beside it was laid under.
                Some(name) if !source.text().is_empty() => Place::Preset(name.clone()),
                _ => Place::File,
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
    /// Dotted keys that the scenario gives, and where each stands.
    pub fn origins(&self) -> &[(String, Place)] {
        &self.origins
    }

    /// Where a dotted key stands, if it is given.
    fn origin(&self, key: &str) -> Option<&Place> {
        self.origins.iter().find(|(known, _)| known == key).map(|(_, place)| place)
    }

    /// Why the cell does not become a run, as the fault of a scenario that is called `file`.
    pub fn error(&self, file: &str, fault: &SetupFault) -> ScenarioError {
        let (key, message) = match fault {
            SetupFault::Key(fault) => (fault.path(), fault.message().to_owned()),
            SetupFault::Trace(MakeError::Trace { key, error }) => (key.clone(), error.to_string()),
            SetupFault::Trace(error) => (String::new(), error.to_string()),
        };
        let place = self.origin(&key).cloned().unwrap_or(Place::File);
        ScenarioError { file: file.to_owned(), place, key, message }
    }

    /// Round-trip time, queue, LLDU size and decoding time of every link that has them, and where each
    /// comes from; those of a trace from a file are the trace's.
    ///
    /// # Errors
    /// A trace that cannot be made.
    pub fn in_effect(&self, traces: &dyn Traces) -> Result<Vec<InEffect>, SetupFault> {
        let mut found = Vec::new();
        for (index, link) in self.plan.links().enumerate() {
            let mut see = |name: &str, value: String, otherwise: &str| {
                let key = join(&link.key, name);
                let from = self.origin(&key).map_or(otherwise.to_owned(), Place::to_string);
                found.push(InEffect { key, value, from });
            };
            // A link with a section of its own has a delay of its own, and a link trace has its.
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
    use crate::scenario::{Scenario, Store};
    use crate::trace::InMemory;

    fn lines(text: &str, changes: &[(&str, &str)]) -> Vec<String> {
        let changes: Vec<_> =
            changes.iter().map(|&(key, text)| (key.to_owned(), text.to_owned())).collect();
        let scenario = Scenario::parse("geo.toml", text, &changes).unwrap();
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
