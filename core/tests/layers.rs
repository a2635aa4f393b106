//! The arrows between the stages: what each folder of the core may use.
//!
//! A newcomer reads the folders as the data flow; an arrow that the picture does not have is a
//! design fault.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each stage with what it may use besides itself, `units`, `seed`, `config`, `budget` and `sync`.
const ALLOWED: [(&str, &[&str]); 17] = [
    ("units", &[]),
    ("seed", &[]),
    ("config", &[]),
    ("budget", &[]),
    ("sync", &[]),
    ("trace", &[]),
    ("channel", &["trace"]),
    ("link", &["trace"]),
    ("queue", &["link"]),
    ("scheme", &["link", "queue", "trace"]),
    ("transport", &[]),
    ("metrics", &["link", "transport"]),
    ("application", &["metrics", "transport"]),
    ("simulation", &["application", "link", "metrics", "queue", "scheme", "trace", "transport"]),
    ("diagnosis", &["link", "metrics", "simulation", "transport"]),
    ("capture", &["diagnosis", "link", "scheme", "simulation", "trace", "transport"]),
    (
        "scenario",
        &["application", "channel", "link", "queue", "scheme", "simulation", "trace", "transport"],
    ),
];

#[test]
fn stages_use_only_what_comes_before_them() {
    let mut faults = Vec::new();
    for (stage, allowed) in ALLOWED {
        for file in files_of(stage) {
            let text = fs::read_to_string(&file).unwrap();
            if escapes(&text, depth(&file)) {
                faults.push(format!("{}: `super` leaves the stage; write `crate`", file.display()));
            }
            for used in stages_used(&text) {
                // Macros of `config` stand at the crate's root.
                let macros = ["delegate", "parts", "tagged"];
                let free = ["units", "seed", "config", "budget", "sync"];
                let fine = stage == used
                    || macros.contains(&used.as_str())
                    || free.contains(&used.as_str())
                    || allowed.contains(&used.as_str());
                if !fine {
                    faults.push(format!("{}: {stage} uses {used}", file.display()));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_stage_is_listed() {
    let listed: BTreeSet<&str> = ALLOWED.iter().map(|(stage, _)| *stage).collect();
    for entry in fs::read_dir(source()).unwrap() {
        let path = entry.unwrap().path();
        let stage = path.file_stem().unwrap().to_str().unwrap();
        assert!(stage == "lib" || listed.contains(stage), "{stage} is in no row of ALLOWED");
    }
}

/// What follows `crate::` in code; comments and doc links do not count.
fn stages_used(text: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

/// Whether a chain of `super` in a file `depth` modules below its stage's root climbs out of the
/// stage. A test module lies one deeper.
fn escapes(text: &str, depth: usize) -> bool {
    let mut depth = depth;
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.fold(false, |out, line| {
        depth += usize::from(line.starts_with("mod ") && line.ends_with('{'));
        out || line.contains(&"super::".repeat(depth + 1))
    })
}

/// Modules between a file and its stage: 0 for `scheme/mod.rs`, 1 for `scheme/text.rs`.
fn depth(file: &Path) -> usize {
    let below = file.strip_prefix(source()).unwrap().components().count() - 1;
    below - usize::from(below > 0 && file.ends_with("mod.rs"))
}

#[test]
fn a_way_out_of_a_stage_is_seen() {
    let root = source().join("scheme");
    assert_eq!((depth(&root.join("mod.rs")), depth(&root.join("fec/law.rs"))), (0, 2));
    assert_eq!((depth(&root.join("fec/mod.rs")), depth(&source().join("units.rs"))), (1, 0));
    assert!(escapes("use super::link;", 0) && !escapes("use super::text;", 1));
    assert!(escapes("use super::super::link;", 1));
    assert!(!escapes("mod tests {\n    use super::super::text;", 1));
    assert!(escapes("mod tests {\n    use super::super::super::link;", 1));
}

fn files_of(stage: &str) -> Vec<PathBuf> {
    let mut files = vec![source().join(format!("{stage}.rs"))];
    let mut folders = vec![source().join(stage)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.retain(|file| file.extension().is_some_and(|e| e == "rs") && file.exists());
    files
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../src")
}
