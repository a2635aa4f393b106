//! Checks that the header is up to date.

use std::fs;
use std::path::Path;

/// `CLIFT_WRITE_HEADER=1 cargo test -p clift-c` rewrites the header, as `make c` does.
#[test]
fn the_header_matches_the_functions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let builder = cbindgen::Builder::new().with_config(config).with_src(folder.join("src/lib.rs"));
    let mut text = Vec::new();
    builder.generate().unwrap().write(&mut text);
    // "# Safety" sections address callers in C, and a negative number needs parentheses in a macro.
    let text = String::from_utf8(text).unwrap();
    let text = text.replace("// # Safety\n", "// Callers:\n").replace(" -1\n", " (-1)\n");
    let header = folder.join("include/clift.h");
    if std::env::var_os("CLIFT_WRITE_HEADER").is_some() {
        fs::write(&header, &text).unwrap();
    }
    let kept = fs::read_to_string(&header).unwrap_or_default();
    assert!(kept == text, "include/clift.h is out of date; `make c-header` rewrites it");
}
