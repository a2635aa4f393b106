//! Replays what fuzzing found worth keeping: `core/fuzz/corpus/<target>/`.

#[path = "../fuzz/src/lib.rs"]
#[allow(unreachable_pub)] // public to the fuzz targets
mod checks;

use std::fs;
use std::path::Path;

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let inputs: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(inputs.len() > 10, "{} holds {} inputs", folder.display(), inputs.len());
    for input in inputs {
        check(&fs::read(input).unwrap());
    }
}

#[test]
fn text() {
    replay("text", checks::text);
}

#[test]
fn columns() {
    replay("columns", checks::columns);
}

#[test]
fn mahimahi() {
    replay("mahimahi", checks::mahimahi);
}

#[test]
fn probes() {
    replay("probes", checks::probes);
}

#[test]
fn loss() {
    replay("loss", checks::loss);
}

#[test]
fn parquet() {
    replay("parquet", checks::parquet);
}

#[test]
fn scenario() {
    replay("scenario", checks::scenario);
}
