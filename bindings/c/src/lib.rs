//! The C interface: links of scenario files for hosts that are not written in Rust.
//!
//! `include/clift.h` is generated from this crate, including the docs of the functions below. Only
//! nanoseconds, packet numbers and text cross the interface; panics do not.

mod error;
mod link;
mod scenario;

pub use link::*;
pub use scenario::*;

use std::ffi::c_char;

/// Version of this interface, also in the name of the shared library (`libclift.so.1`). A host
/// built against another version must not use the library. The version changes whenever an existing
/// function, constant or structure changes; a new function or constant does not change it.
pub const CLIFT_ABI: u32 = 1;

/// No time: the link does nothing until a further packet arrives.
pub const CLIFT_NEVER: u64 = u64::MAX;

/// Returns the version of the interface that the library was built with; compare it with
/// `CLIFT_ABI`.
#[unsafe(no_mangle)]
pub extern "C" fn clift_abi() -> u32 {
    CLIFT_ABI
}

/// Returns the version of CLIFT, e.g. "0.2.0". The library owns the text; do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn clift_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Frees a text that this library returned (an error, a report); accepts null.
///
/// # Safety
/// `text` must be null or a text that a function of this library returned and that is not freed
/// yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_string_free(text: *mut c_char) {
    // SAFETY: guaranteed by the caller.
    unsafe { error::release(text) }
}
