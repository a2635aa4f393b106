//! What scenario files say, and what wrong ones are told.

mod adaptive_harq;
mod campaign;
mod channel;
mod delays;
mod errors;
mod feedback;
mod links;
mod path;

use proptest::prelude::*;

use super::*;
use crate::scheme::{LinkConfig, Medium};
use crate::simulation::{Hop as Hops, Setup};
use crate::trace::PhyTrace;
use crate::units::Bytes;

const CHANNEL: &str = "[channel]\nmodel = \"bernoulli\"\nerasures = 0.02\nslot = \"1003802 ns\"\nlength = \"700 s\"\n";

fn error(text: &str) -> String {
    Scenario::parse("geo.toml", text, &[]).unwrap_err().to_string()
}

fn with_channel(text: &str) -> Scenario {
    Scenario::parse("geo.toml", &format!("{text}\n{CHANNEL}"), &[]).unwrap()
}

/// The only cell of a file, made from these inputs without files of delays.
fn setup(text: &str, inputs: &[LinkInput]) -> Setup {
    let scenario = Scenario::parse("geo.toml", text, &[]).unwrap();
    scenario.cells()[0].setup(0, inputs, &DelayFiles::new()).unwrap()
}

/// The media of the links there.
fn media(setup: &Setup) -> Vec<Medium> {
    let hops = setup.forward.iter();
    let medium = |hop: &Hops| match hop {
        Hops::Link(LinkConfig { medium, .. }) => Some(medium.clone()),
        Hops::Leg(_) => None,
    };
    hops.filter_map(medium).collect()
}

/// Slots at 0, 1, ... ns with these decoding times.
fn phy(d: &[i64]) -> PhyTrace {
    let t: Vec<i64> = (0..).take(d.len()).collect();
    PhyTrace::new(t.into(), d.to_vec().into(), Bytes(33)).unwrap()
}

#[test]
fn the_top_level_keys_are_those_of_the_schema() {
    let schema: serde_json::Value = serde_json::from_str(&json_schema()).unwrap();
    let mut keys: Vec<&str> =
        schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    keys.retain(|key| !["vary", "printed"].contains(key));
    keys.sort_unstable();
    let mut known = super::read::KEYS.to_vec();
    known.sort_unstable();
    assert_eq!(keys, known);
}

#[test]
fn a_large_file_or_campaign_is_refused_before_any_work() {
    let large = " ".repeat(Scenario::MOST_BYTES + 1);
    assert!(error(&large).contains("too large for a scenario"));
    let many = (0..200).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let text = format!("[vary]\nseed = [{many}]\nruns = [{many}]\n");
    assert!(error(&text).contains("vary: more than 10000 cells"));
}

proptest! {
    #[test]
    fn no_text_panics(text in "[\\[\\]a-z0-9 .=\"\n{},]{0,80}", key in "[a-z.0-9]{0,9}", value in "\\PC{0,9}") {
        let _ = Scenario::parse("x.toml", &text, &[(key, value)]);
        let _ = Scenario::parse("x.toml", &format!("{text}\n{CHANNEL}"), &[]);
    }
}
