//! Replays what fuzzing found worth keeping: `core/fuzz/corpus.tar`.

#[path = "../fuzz/src/lib.rs"]
#[allow(unreachable_pub)] // public to the fuzz targets
mod checks;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// The inputs kept for a fuzz target, in the order of the archive.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus.tar");
    let mut archive = tar::Archive::new(File::open(archive).unwrap());
    let mut inputs = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.path().unwrap().parent() == Some(&Path::new("corpus").join(target)) {
            let mut input = Vec::new();
            entry.read_to_end(&mut input).unwrap();
            inputs.push(input);
        }
    }
    inputs
}

/// Inputs of the corpus, hurt in a few places; `PROPTEST_CASES` says how many of them are tried.
fn hurt(target: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let inputs = corpus(target);
    let wound = (any::<Index>(), 0u8..6, any::<u8>(), 1usize..9);
    (any::<Index>(), vec(wound, 1..6)).prop_map(move |(which, wounds)| {
        let mut input = which.get(&inputs).clone();
        for (at, kind, byte, length) in wounds {
            if input.is_empty() {
                break;
            }
            let at = at.index(input.len());
            let end = (at + length).min(input.len());
            match kind {
                0 => input[at] = byte,
                1 => input[at] ^= 1 << (byte % 8),
                2 => drop(input.drain(at..end)),
                3 => drop(input.splice(at..at, vec![byte; length])),
                4 => {
                    let piece = input[at..end].to_vec();
                    let to = usize::from(byte) % input.len();
                    drop(input.splice(to..to, piece));
                }
                _ => input.truncate(at),
            }
        }
        input
    })
}

proptest! {
    #[test]
    fn hurt_series(input in hurt("series")) {
        checks::series(&input);
    }

    #[test]
    fn hurt_modem_logs(input in hurt("modem")) {
        checks::modem(&input);
    }

    #[test]
    fn hurt_output_of_ping(input in hurt("ping")) {
        checks::ping(&input);
    }

    #[test]
    fn hurt_files_of_tools(input in hurt("tools")) {
        checks::tools(&input);
    }

    #[test]
    fn hurt_pages(input in hurt("page")) {
        checks::page(&input);
    }

    #[test]
    fn hurt_captures(input in hurt("capture")) {
        checks::capture(&input);
    }
}

fn replay(target: &str, check: fn(&[u8])) {
    let inputs = corpus(target);
    assert!(inputs.len() > 10, "the corpus of {target} holds {} inputs", inputs.len());
    for input in inputs {
        check(&input);
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
fn ping() {
    replay("ping", checks::ping);
}

#[test]
fn tools() {
    replay("tools", checks::tools);
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
fn series() {
    replay("series", checks::series);
}

#[test]
fn modem() {
    replay("modem", checks::modem);
}

#[test]
fn capture() {
    replay("capture", checks::capture);
}

#[test]
fn page() {
    replay("page", checks::page);
}

#[test]
fn scenario() {
    replay("scenario", checks::scenario);
}
