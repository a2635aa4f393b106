//! The arrows between the stages: what each folder of the core may use.
//!
//! A newcomer reads the folders as the data flow; an arrow that the picture does not have is a
//! design fault.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each stage with what it may use besides itself, `units` and `seed`.
const ALLOWED: [(&str, &[&str]); 11] = [
    ("units", &[]),
    ("seed", &[]),
    ("trace", &[]),
    ("channel", &["trace"]),
    ("scheme", &["trace"]),
    ("analysis", &["scheme"]),
    ("link", &["scheme", "trace"]),
    ("transport", &[]),
    ("metrics", &["link"]),
    ("simulation", &["link", "metrics", "scheme", "transport"]),
    ("scenario", &["channel", "link", "scheme", "simulation", "trace", "transport"]),
];

#[test]
fn stages_use_only_what_comes_before_them() {
    let mut faults = Vec::new();
    for (stage, allowed) in ALLOWED {
        for file in files_of(stage) {
            let text = fs::read_to_string(&file).unwrap();
            for used in stages_used(&text, depth(&file)) {
                let fine = [stage, "units", "seed"].contains(&used.as_str())
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

/// What follows `crate::`, and stages that follow as many `super::` as lead there, in code;
/// comments and doc links do not count.
fn stages_used(text: &str, depth: usize) -> BTreeSet<String> {
    let code = || text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let word = |rest: &str| -> String {
        rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let up = "super::".repeat(depth);
    let named = code().flat_map(|line| line.split("crate::").skip(1)).map(word);
    // Inside a `mod { ... }` one `super` more leads there.
    let above = code().flat_map(|line| line.split(&up).skip(1));
    let above = above.map(|rest| word(rest.trim_start_matches("super::")));
    named.chain(above.filter(|word| ALLOWED.iter().any(|(stage, _)| stage == word))).collect()
}

/// How many modules a file is below the crate.
fn depth(file: &Path) -> usize {
    let inside = file.strip_prefix(source()).unwrap().with_extension("");
    let modules = inside.components().count();
    modules - usize::from(inside.ends_with("mod"))
}

#[test]
fn a_way_up_to_the_crate_is_seen() {
    let used = |text, depth| stages_used(text, depth).into_iter().collect::<Vec<_>>();
    assert_eq!(used("use crate::link::Packet;", 2), ["link"]);
    assert_eq!(used("use super::super::link::Packet;", 2), ["link"]);
    assert!(used("use super::packet::Packet;", 2).is_empty());
    assert!(used("/// [`crate::link::Packet`]", 2).is_empty());
    assert_eq!(depth(&source().join("link/live/mod.rs")), 2);
    assert_eq!(depth(&source().join("link/live/fec.rs")), 3);
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
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}
