//! Turns errors and panics into text for C; no panic unwinds into C.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Once;

/// Result of a call: a value, or an error message.
pub(crate) type Fallible<T> = Result<T, String>;

thread_local! {
    /// Location of the last panic of this thread.
    static PANICKED: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Runs `action` and turns a panic into an error.
pub(crate) fn guarded<T>(action: impl FnOnce() -> Fallible<T>) -> Fallible<T> {
    static QUIET: Once = Once::new();
    // The library has its own copy of the standard library, so this does not replace a hook of the
    // host.
    QUIET.call_once(|| {
        set_hook(Box::new(|info| {
            let place = info.location().map(ToString::to_string).unwrap_or_default();
            PANICKED.with_borrow_mut(|noted| *noted = place);
        }));
    });
    catch_unwind(AssertUnwindSafe(action)).unwrap_or_else(|cause| Err(described(&*cause)))
}

fn described(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    let text = text.or(cause.downcast_ref::<&str>().copied()).unwrap_or("no message");
    let place = PANICKED.with_borrow(String::clone);
    format!("internal error in CLIFT, please report it: {text} ({place})")
}

/// Text for C. A zero byte within it ends the text.
pub(crate) fn c_string(text: &str) -> CString {
    let bytes: Vec<u8> = text.bytes().take_while(|&byte| byte != 0).collect();
    CString::new(bytes).unwrap_or_default()
}

/// Passes the text of an error to the caller, if it asked for one.
///
/// # Safety
/// `error` must be null or point to a pointer that may be overwritten.
pub(crate) unsafe fn hand_out(error: *mut *mut c_char, message: Option<&str>) {
    let text = message.map_or(std::ptr::null_mut(), |message| c_string(message).into_raw());
    if error.is_null() {
        // SAFETY: `text` comes from `into_raw` above, or is null.
        unsafe { release(text) };
    } else {
        // SAFETY: guaranteed by the caller.
        unsafe { *error = text };
    }
}

/// Frees a text that was passed out; accepts null.
///
/// # Safety
/// `text` must be null or come from [`hand_out`] or `CString::into_raw`, and must not be freed yet.
pub(crate) unsafe fn release(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: guaranteed by the caller.
        drop(unsafe { CString::from_raw(text) });
    }
}
