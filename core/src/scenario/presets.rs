//! `preset`: the values of a paper for the keys that a scenario leaves out.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kinds::own_sections;
use super::source::Source;
use crate::config::{Node, Table, Value, join};

/// A named set of keys.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "ScenarioPreset")]
#[allow(missing_docs)]
pub enum Preset {
    #[serde(rename = "geo-mobile-2014")]
    GeoMobile2014,
    #[serde(rename = "leo-2017")]
    Leo2017,
}

/// Name and text of each preset. The texts are partial scenarios.
const PRESETS: [(Preset, &str, &str); 2] = [
    (Preset::GeoMobile2014, "geo-mobile-2014", include_str!("presets/geo-mobile-2014.toml")),
    (Preset::Leo2017, "leo-2017", include_str!("presets/leo-2017.toml")),
];

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = PRESETS.iter().find(|(preset, ..)| preset == self);
        row.map_or(Ok(()), |(_, name, _)| f.write_str(name))
    }
}

/// Adds the keys of the preset that `root` names, where the file does not give them. An unknown
/// name is reported later, when the scenario is read.
///
/// # Returns
/// The dotted keys that the preset added.
pub(super) fn lay_under(root: &mut Table) -> Vec<String> {
    let mut brought = Vec::new();
    let name = root.get("preset").and_then(Value::plain);
    let Some((.., text)) = PRESETS.iter().find(|(_, known, _)| Some(*known) == name.as_deref())
    else {
        return brought;
    };
    // The texts are compiled in, and a test reads each of them.
    let Ok(preset) = Source::new("", text, &[]).parse() else { return brought };
    if let Some(own) = preset.get("transport").and_then(Value::as_table) {
        fill(root, "transport", own, &mut brought, "");
    }
    let mut of_hop = |hop: &mut Value, key: String| {
        let is_link = |hop: &&mut Table| !["leg", "pep"].into_iter().any(|name| hop.contains(name));
        if let Some(hop) = hop.as_table_mut().filter(is_link) {
            of_link(hop, &preset, &mut brought, &key);
        }
    };
    if let Some(network) = root.get_mut("network").and_then(Value::as_table_mut) {
        let links = network.get_mut("links").and_then(Value::as_table_mut);
        for (name, link) in links.into_iter().flat_map(Table::iter_mut) {
            let key = format!("network.links.{name}");
            let back = link.as_table_mut().and_then(|link| link.get_mut("return"));
            back.into_iter().for_each(|back| of_hop(back, join(&key, "return")));
            of_hop(link, key);
        }
        return brought;
    }
    match root.get_mut("path").map(|path| &mut path.node) {
        Some(Node::List(hops)) => {
            let hops = hops.iter_mut().enumerate();
            hops.for_each(|(index, hop)| of_hop(hop, format!("path.{index}")));
        }
        _ => of_link(root, &preset, &mut brought, ""),
    }
    brought
}

/// Adds the keys of a link to the sections of the link at `key`.
fn of_link(sections: &mut Table, preset: &Table, brought: &mut Vec<String>, key: &str) {
    let has = |name: &str| sections.contains(name);
    let own_delay = own_sections().chain(["link_trace"]).any(has);
    let model = sections.get("channel").and_then(Value::as_table).and_then(|own| own.get("model"));
    // A trace, or the land mobile channel's own preset, provides the slots.
    let own_slots = has("trace") || model.and_then(Value::plain).as_deref() == Some("lms");
    for (name, own) in preset.iter() {
        let Some(mut own) = own.as_table().cloned() else { continue };
        // A preset must not turn a hop into a link, nor add slots to sections that provide their
        // own.
        let fits = name == "link" || sections.contains(name) && (name != "channel" || !own_slots);
        let fits = fits && name != "transport";
        if name == "link" && own_delay {
            own.remove("rtt");
        }
        if fits {
            fill(sections, name, &own, brought, key);
        }
    }
}

/// Adds the keys of `base` that the section `name` leaves out.
fn fill(table: &mut Table, name: &str, base: &Table, brought: &mut Vec<String>, key: &str) {
    if !table.contains(name) {
        table.insert(name, Node::Table(Table::default()).into());
    }
    // A value that is not a table is reported when the scenario is read.
    let Some(own) = table.get_mut(name).and_then(Value::as_table_mut) else { return };
    for (field, value) in base.iter() {
        // `slot` and `rate` both give the slot duration.
        let said = own.contains(field) || (field == "slot" && own.contains("rate"));
        if !said {
            own.insert(field, value.node.clone().into());
            brought.push(join(key, &join(name, field)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Registry;
    use crate::scenario::{Cell, Scenario};
    use crate::units::{Bytes, Duration};

    const CHANNEL: &str = "[channel]\nmodel = \"bernoulli\"\nerasures = 0.02\n";

    fn cell(text: &str) -> Cell {
        Scenario::parse("geo.toml", text, &[], &Registry::new()).unwrap().cells()[0].clone()
    }

    /// The names in serde's attributes match the table, and every text can be read.
    #[test]
    fn every_preset_has_its_name_and_keys_of_a_scenario() {
        for (preset, name, text) in PRESETS {
            assert_eq!(serde_json::to_string(&preset).unwrap(), format!("\"{name}\""));
            assert_eq!(preset.to_string(), name);
            let link = if text.contains("[channel]") {
                CHANNEL
            } else {
                "[adaptive_harq]\ndelay = \"9 ms\"\n"
            };
            let mut root =
                Source::new("", &format!("preset = \"{name}\"\n{link}"), &[]).parse().unwrap();
            let keys = text.lines().filter(|line| line.contains(" = ")).count();
            assert_eq!(lay_under(&mut root).len(), keys, "{name}");
            assert_eq!(
                cell(&format!("preset = \"{name}\"\n{link}")).config().run.preset,
                Some(preset)
            );
        }
    }

    #[test]
    fn the_keys_of_the_file_override_a_preset() {
        let geo = cell(&format!("preset = \"geo-mobile-2014\"\nlink.rtt = \"20 ms\"\n{CHANNEL}"));
        let config = geo.config();
        let link = config.sections.link.clone().unwrap();
        assert_eq!(link.slots.rtt, Some(Duration::from_millis(20)));
        assert_eq!(link.usage.queue.to_string(), "unlimited");
        let slots = config.sections.channel.as_ref().unwrap().config.slots;
        assert_eq!(
            (slots.lldu, slots.decoding),
            (Some(Bytes(33)), Some(Duration::from_millis(36)))
        );
        assert_eq!(config.traffic.transport.tcp.cwnd_max.map(|most| most.saturated()), Some(1000));
    }

    #[test]
    fn a_preset_does_not_change_links_with_their_own_values() {
        let geo = |text: &str| cell(&format!("preset = \"geo-mobile-2014\"\n{text}"));
        let rate = geo(&format!("{CHANNEL}rate = \"1 Mbit/s\""));
        let slots = rate.config().sections.channel.as_ref().unwrap().config.slots;
        assert_eq!((slots.slot, slots.lldu), (None, Some(Bytes(33))));
        let lms = geo("[channel]\nmodel = \"lms\"");
        assert_eq!(lms.config().sections.channel.as_ref().unwrap().config.slots.slot, None);
        for own in ["[hybrid]\nn = 11", "[carrier]\nrate = \"2 Mbit/s\""] {
            assert_eq!(geo(own).config().sections.link.clone().unwrap().slots.rtt, None, "{own}");
        }
        let hops = geo(&format!(
            "[[path]]\nleg.delay = \"1 ms\"\n[[path]]\n{}",
            CHANNEL.replace("[c", "[path.c")
        ));
        let link = hops.config().traffic.path[1].sections.link.clone().unwrap();
        assert_eq!(link.slots.rtt, Some(Duration::from_millis(500)));
    }

    #[test]
    fn an_unknown_preset_is_reported_with_the_nearest_name() {
        let error =
            Scenario::parse("geo.toml", "preset = \"geo-mobile-2015\"", &[], &Registry::new())
                .unwrap_err();
        assert_eq!(
            error.to_string(),
            "geo.toml line 1: preset: unknown value `geo-mobile-2015`, one of geo-mobile-2014, leo-2017 (did you mean geo-mobile-2014?)"
        );
    }
}
