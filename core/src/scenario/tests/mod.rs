//! Valid scenario files are read, and invalid ones are refused with the reason.

mod adaptive_harq;
mod campaign;
mod channel;
mod delays;
mod errors;
mod feedback;
mod links;
mod network;
mod path;

use crate::config::Registry;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::application::PageContent;
use crate::link::DelaySeries;
use crate::scheme::{LinkConfig, Medium};
use crate::simulation::{Hop as Hops, Setup};
use crate::trace::{MiTrace, PhyTrace};
use crate::units::{Bytes, Duration, Instant};

const CHANNEL: &str = "[channel]\nmodel = \"bernoulli\"\nerasures = 0.02\nslot = \"1003802 ns\"\nlength = \"700 s\"\n";

fn error(text: &str) -> String {
    Scenario::parse("geo.toml", text, &[], &Registry::new()).unwrap_err().to_string()
}

fn with_channel(text: &str) -> Scenario {
    Scenario::parse("geo.toml", &format!("{text}\n{CHANNEL}"), &[], &Registry::new()).unwrap()
}

/// Traces that are given instead of made, and what was asked for.
struct Given {
    /// PHY traces in the order in which they are asked for, the last one for all further ones.
    phy: Vec<PhyTrace>,
    information: Information,
    asked: Mutex<Vec<PhySpec>>,
    asked_information: Mutex<Vec<InformationSpec>>,
}

impl Given {
    fn phy(phy: impl IntoIterator<Item = PhyTrace>) -> Self {
        Self { phy: phy.into_iter().collect(), ..Self::information(0.5) }
    }

    /// Ten values of a millisecond, and their mean.
    fn information(mean: f64) -> Self {
        let trace = MiTrace::new(Duration::from_millis(1), vec![mean as f32; 10]).unwrap();
        Self {
            phy: vec![phy(&[1; 9])],
            information: Information { trace: Arc::new(trace), mean },
            asked: Mutex::default(),
            asked_information: Mutex::default(),
        }
    }
}

impl Traces for Given {
    fn phy(&self, spec: &PhySpec) -> Result<PhyTrace, MakeError> {
        let mut asked = self.asked.lock().unwrap();
        asked.push(spec.clone());
        Ok(self.phy[(asked.len() - 1).min(self.phy.len() - 1)].clone())
    }

    fn information(&self, spec: &InformationSpec) -> Result<Information, MakeError> {
        self.asked_information.lock().unwrap().push(spec.clone());
        Ok(self.information.clone())
    }

    /// The number in the name of a file is its first delay in ms.
    fn delays(&self, file: &str) -> Result<Arc<DelaySeries>, MakeError> {
        let ms: u64 = file.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
        let step = |at, ms| (Instant::from_nanos(at), Duration::from_millis(ms));
        Ok(Arc::new(DelaySeries::new(vec![step(0, ms), step(1_000_000_000, ms / 2)]).unwrap()))
    }

    fn times(&self, file: &str) -> Result<Vec<Duration>, MakeError> {
        assert_eq!(file, "starts.txt");
        Ok([1, 4, 9].map(Duration::from_secs).to_vec())
    }

    fn page(&self, _: &str) -> Result<Arc<PageContent>, MakeError> {
        Ok(Arc::new(PageContent::parse("name,bytes\na,7\n").unwrap()))
    }
}

/// The only cell of a file.
fn setup(text: &str, traces: &Given) -> Setup {
    let scenario = Scenario::parse("geo.toml", text, &[], &Registry::new()).unwrap();
    scenario.cells()[0].setup(0, traces).unwrap()
}

/// What is wrong with the only cell of a file once its traces are there: key and message.
fn fault(text: &str, traces: &Given) -> (String, String) {
    let scenario = Scenario::parse("geo.toml", text, &[], &Registry::new()).unwrap();
    match scenario.cells()[0].setup(0, traces).unwrap_err() {
        SetupFault::Key(fault) => (fault.path(), fault.message().to_owned()),
        SetupFault::Trace(error) => panic!("{error}"),
    }
}

/// Which PHY traces a cell asks for in a replication.
fn asked(cell: &Cell, replication: u32) -> Vec<PhySpec> {
    let slot = phy(&[1; 9]);
    let long = PhyTrace::new(vec![0, 700_000_000_000].into(), vec![1; 2].into(), slot.lldu());
    let given = Given::phy([long.unwrap()]);
    cell.setup(replication, &given).unwrap();
    given.asked.into_inner().unwrap()
}

/// The media of the links there.
fn media(setup: &Setup) -> Vec<Arc<dyn Medium>> {
    let hops = setup.forward.iter();
    let medium = |hop: &Hops| match hop {
        Hops::Link(LinkConfig { medium, .. }) => Some(medium.clone()),
        Hops::Leg(_) => None,
    };
    hops.filter_map(medium).collect()
}

/// The medium of the only link there, which is an `M`.
fn medium<M: Medium>(setup: &Setup) -> Arc<M> {
    let [medium] = &media(setup)[..] else { panic!("one link") };
    medium.get().expect("a link of this kind")
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
    let mut known = super::read::keys();
    known.sort_unstable();
    assert_eq!(keys, known);
}

#[test]
fn a_large_file_or_campaign_is_rejected_before_any_work() {
    let large = " ".repeat(Scenario::MOST_BYTES + 1);
    assert!(error(&large).contains("too large for a scenario"));
    let many = (0..1001).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let text = format!("[vary]\nseed = [{many}]\nruns = [{many}]\n");
    assert!(error(&text).contains("vary: more than 1000000 cells"));
}

proptest! {
    #[test]
    fn no_text_panics(text in "[\\[\\]a-z0-9 .=\"\n{},]{0,80}", key in "[a-z.0-9]{0,9}", value in "\\PC{0,9}") {
        let _ = Scenario::parse("x.toml", &text, &[(key, value)], &Registry::new());
        let _ = Scenario::parse("x.toml", &format!("{text}\n{CHANNEL}"), &[], &Registry::new());
    }
}
