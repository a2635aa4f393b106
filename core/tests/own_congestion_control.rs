//! The example of a custom congestion control runs, and does what it says.

use clift::scenario::{Scenario, Store};
use clift::simulation;
use clift::trace::Folder;
use clift::transport::tcp::{CongestionAlgorithm, Profile, TcpConfig};

#[path = "../examples/own_congestion_control.rs"]
mod example;

/// Response functions for a loss rate p, in segments: sqrt(3/2p) = 17.3 for newreno; for twice the
/// increase and 3/4 of the decrease sqrt(2·(2 - 1/4)/(2·1/4·p)) = 37.4.
#[test]
fn a_control_of_ones_own_is_chosen_by_name() {
    assert_eq!(example::main(), std::process::ExitCode::SUCCESS);
    let registry = example::registry().unwrap();
    let aimd: CongestionAlgorithm = registry.within(|| "aimd".parse()).unwrap();
    assert!(aimd.is_in(Profile::Papers) && aimd.is_in(Profile::Linux));
    assert_eq!(TcpConfig::papers(aimd).check(), Ok(()));
    let ratio = example::goodput("aimd").unwrap() / example::goodput("newreno").unwrap();
    assert!((1.7..2.6).contains(&ratio), "{ratio}");
    // A scenario file chooses it, too.
    let text = "duration = \"5 s\"\n[transport]\nprofile = \"linux\"\ncongestion = \"aimd\"\n\
                [channel]\nmodel = \"bernoulli\"\nerasures = 0.001\nrate = \"1 Mbit/s\"\n";
    let scenario = Scenario::parse("x.toml", text, &[], &registry).unwrap();
    let setup = scenario.cells()[0].setup(0, &Store::new(Folder::new(""))).unwrap();
    assert!(simulation::run(&setup, &mut ()).unwrap().goodput() > 0.0);
    let aimed = text.replace("aimd", "aimed");
    let wrong = Scenario::parse("x.toml", &aimed, &[], &registry).unwrap_err();
    assert!(wrong.to_string().contains("line 4: transport.congestion"), "{wrong}");
}
