//! A custom scheme, chosen by its text in a scenario: every LLDU goes out in a number of slots in
//! a row, and arrives with the first of them that does. Beside it, the same link without a scheme.
//!
//! `cargo run --release --example own_scheme`
#![allow(clippy::print_stdout)] // data goes to stdout

use std::fmt;
use std::process::ExitCode;

use clift::Registry;
use clift::scenario::{Cell, Scenario, Store};
use clift::scheme::{Scheme, SchemeForms, SchemeKind, Timing};
use clift::simulation;
use clift::trace::{Fate, Folder, LinkTrace, LinkTraceBuilder, PhyTrace};

/// Every LLDU in this many slots.
#[derive(Debug)]
struct Repeat(u32);

impl SchemeForms for Repeat {
    fn apply(&self, phy: &PhyTrace, timing: Timing) -> LinkTrace {
        let (times, decoding) = (self.0 as usize, phy.nominal_decoding().as_nanos() as i64);
        let mut link = LinkTraceBuilder::new(phy, timing.rtt);
        for (t, d) in phy.t().chunks_exact(times).zip(phy.d().chunks_exact(times)) {
            let arrivals = t.iter().zip(d).filter(|(_, d)| **d > 0).map(|(t, d)| t + d);
            let fate = match arrivals.min() {
                Some(at) if d[0] > 0 => Fate::AtOnce(at - t[0]),
                Some(at) => Fate::Recovered(at - t[0]),
                None => Fate::Lost(t[times - 1] + decoding - t[0]),
            };
            link.push(t[0], self.0, fate);
        }
        link.finish()
    }
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "repeat({})", self.0)
    }
}

/// A link that erases a slot in ten.
const SCENARIO: &str = r#"
duration = "20 s"
vary.scheme = ["none", "repeat(2)"]
channel = { model = "bernoulli", erasures = 0.1, slot = "1 ms", lldu = "500 B", decoding = "5 ms" }
link = { rtt = "100 ms", queue = "100 packets" }
"#;

pub(crate) fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // An error that `main` returns would be printed in its Debug form.
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    for (scheme, goodput) in goodput()? {
        println!("{scheme}: {:.0} kbit/s", goodput / 1e3);
    }
    Ok(())
}

/// The built-in kinds of schemes and the custom one.
pub(crate) fn registry() -> Result<Registry, clift::config::NameTaken> {
    let mut registry = Registry::new();
    registry.add(SchemeKind {
        name: "repeat",
        summary: "Every LLDU in a number of slots in a row.",
        texts: &["repeat(2)"],
        parse: &|mut arguments| match (arguments.number("how often")?, arguments.options([])?) {
            (0, []) => Err("0 times sends nothing".to_owned()),
            (times, []) => Ok(Scheme::own(Repeat(times))),
        },
    })?;
    Ok(registry)
}

/// Each scheme of the scenario, and its goodput in bit/s.
pub(crate) fn goodput() -> Result<Vec<(String, f64)>, Box<dyn std::error::Error>> {
    let store = Store::new(Folder::new(""));
    let scenario = Scenario::parse("scenario.toml", SCENARIO, &[], &registry()?)?;
    let run = |cell: &Cell| {
        let outcome = simulation::run(&cell.setup(0, &store)?, &mut ())?;
        Ok((cell.config().scheme().to_string(), outcome.goodput()))
    };
    scenario.cells().iter().map(run).collect()
}
