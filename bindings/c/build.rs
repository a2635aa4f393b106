//! The shared library carries the name that `make c` gives it, with the version of the interface.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/lib.rs");
    let source = include_str!("src/lib.rs");
    let (_, rest) = source.split_once("pub const CLIFT_ABI: u32 = ").expect("CLIFT_ABI in lib.rs");
    let (abi, _) = rest.split_once(';').expect("a number");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libclift.so.{abi}");
    }
}
