//! The C interface: links of scenario files for hosts that are not written in Rust.
//!
//! `include/clift.h` is generated from this crate; what a function does, takes and returns stands at
//! the functions below and, generated, there. Only nanoseconds, packet numbers and text cross the
//! border; no panic does.

mod error;
mod link;
mod scenario;

pub use link::*;
pub use scenario::*;

use std::ffi::c_char;

/// Version of this interface: a host that was built against another one must not go on. It changes
/// whenever a function or a structure changes; new functions leave it.
pub const CLIFT_ABI: u32 = 1;

/// No instant: the link does nothing before a further packet.
pub const CLIFT_NEVER: u64 = u64::MAX;

/// The version of the interface that the library was built with; compare it with `CLIFT_ABI`.
#[unsafe(no_mangle)]
pub extern "C" fn clift_abi() -> u32 {
    CLIFT_ABI
}

/// The version of CLIFT, e.g. "0.1.0". The text is the library's own; it must not be freed.
#[unsafe(no_mangle)]
pub extern "C" fn clift_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Frees a text that this library made (an error, a report); null is left alone.
///
/// # Safety
/// `text` must be null or a text that a function of this library handed out, and be freed once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_string_free(text: *mut c_char) {
    // SAFETY: the caller's promise.
    unsafe { error::release(text) }
}
