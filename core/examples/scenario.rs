//! Runs a scenario file without Python: a JSON object a line for each run, with the `labels` of the
//! cell, the number of the `replication` and the `summary`.
//!
//! `cargo run --release --example scenario -- FILE [--runs N]`
#![allow(clippy::print_stdout)] // data goes to stdout

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use clift::scenario::{Scenario, Store};
use clift::simulation;
use clift::trace::Folder;
use serde_json::{Map, json};

fn main() -> ExitCode {
    clift::trace::parquet::enable();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [file] => run(file, None),
        [file, "--runs", runs] => match runs.parse() {
            Ok(runs) if runs > 0 => run(file, Some(runs)),
            _ => Err(format!("--runs {runs}: give a whole number, 1 or more").into()),
        },
        _ => Err("give a scenario file, and --runs N for at most N runs of each cell".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(file: &str, most: Option<u32>) -> Result<(), Box<dyn Error>> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let scenario = Scenario::parse(file, &text, &[], &clift::Registry::new())?;
    let store = Store::new(Folder::new(Path::new(file).parent().unwrap_or(Path::new(""))));
    for index in 0..scenario.count() {
        let cell = scenario.cell(index)?;
        let labels: Map<_, _> =
            cell.labels().iter().map(|(axis, label)| (axis.clone(), json!(label))).collect();
        let runs = cell.config().run.runs;
        for replication in 0..most.map_or(runs, |most| most.min(runs)) {
            let setup = cell.setup(replication, &store)?;
            let summary = simulation::run(&setup, &mut ())?.summary();
            println!(
                "{}",
                json!({ "labels": labels, "replication": replication, "summary": summary })
            );
        }
    }
    Ok(())
}
