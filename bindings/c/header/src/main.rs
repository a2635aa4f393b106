//! Writes `bindings/c/include/clift.h` from the functions of the C interface. With `--check`, exits with
//! 1 if the file differs.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml"))?;
    let builder = cbindgen::Builder::new().with_config(config).with_src(folder.join("src/lib.rs"));
    let mut text = Vec::new();
    builder.generate()?.write(&mut text);
    // C has no `# Safety` headings, and a macro of a negative number needs brackets.
    let text = String::from_utf8(text)?;
    let text = text.replace("// # Safety\n", "// Callers:\n").replace(" -1\n", " (-1)\n");
    let header = folder.join("include/clift.h");
    if env::args().nth(1).as_deref() != Some("--check") {
        fs::write(&header, &text)?;
    } else if fs::read_to_string(&header)? != text {
        eprintln!("bindings/c/include/clift.h is out of date: make c-header");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
