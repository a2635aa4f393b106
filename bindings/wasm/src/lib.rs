//! Runs scenarios in a web page: scenario text in, JSON and columns out.
//!
//! The module imports nothing. Its host writes a request at the address that [`clift_input`]
//! returns, calls a function, and reads the answer at [`clift_output`]; the function returns the
//! answer's length. An answer has the length of its JSON in 4 bytes (little-endian), the JSON, and
//! from the next multiple of 8 on the columns: 64-bit floats, at the places that the JSON gives.
//! Bad input gives the JSON `{"error": "one line"}`. A panic ends the module; its host then reads
//! one line with [`clift_fault`] and makes a new instance.

mod answer;
mod log;

use std::sync::{Mutex, Once, OnceLock};

use clift::sync::lock;
use clift::trace::InMemory;

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static FAULT: Mutex<String> = Mutex::new(String::new());

/// The files that scenarios name.
fn files() -> &'static Mutex<InMemory> {
    static FILES: OnceLock<Mutex<InMemory>> = OnceLock::new();
    FILES.get_or_init(Mutex::default)
}

/// Makes room for a request of `length` bytes and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn clift_input(length: usize) -> *mut u8 {
    static NOTED: Once = Once::new();
    NOTED.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let text = info.to_string();
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            *lock(&FAULT) = format!("internal error in CLIFT, please report it: {text}");
        }));
    });
    let mut input = lock(&INPUT);
    input.clear();
    input.resize(length, 0);
    input.as_mut_ptr()
}

/// Returns the address of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn clift_output() -> *const u8 {
    lock(&OUTPUT).as_ptr()
}

/// Adds a file that scenarios may name. The request is its name, a zero byte, and its content.
#[unsafe(no_mangle)]
pub extern "C" fn clift_add_file() -> usize {
    let input = std::mem::take(&mut *lock(&INPUT));
    let end = input.iter().position(|&byte| byte == 0).unwrap_or(input.len());
    let name = String::from_utf8_lossy(&input[..end]).into_owned();
    lock(files()).insert(name, &input[(end + 1).min(input.len())..]);
    answered(Vec::new())
}

/// Reads a scenario and lists its cells. The request is JSON: [`answer::Request`].
#[unsafe(no_mangle)]
pub extern "C" fn clift_check() -> usize {
    answered(answer::to(&std::mem::take(&mut *lock(&INPUT)), answer::check))
}

/// Runs one replication of one cell. The request is JSON: [`answer::Request`].
#[unsafe(no_mangle)]
pub extern "C" fn clift_run() -> usize {
    answered(answer::to(&std::mem::take(&mut *lock(&INPUT)), answer::run))
}

/// Runs one replication of one cell and says what limited it. The request is JSON:
/// [`answer::Request`].
#[unsafe(no_mangle)]
pub extern "C" fn clift_why() -> usize {
    answered(answer::to(&std::mem::take(&mut *lock(&INPUT)), answer::why))
}

/// Runs one replication of one cell until a loss on a live link is repaired. The request is JSON:
/// [`answer::Request`].
#[unsafe(no_mangle)]
pub extern "C" fn clift_loss() -> usize {
    answered(answer::to(&std::mem::take(&mut *lock(&INPUT)), answer::loss))
}

/// Answers with the text of the panic that ended the last call.
#[unsafe(no_mangle)]
pub extern "C" fn clift_fault() -> usize {
    answered(lock(&FAULT).clone().into_bytes())
}

fn answered(answer: Vec<u8>) -> usize {
    let mut output = lock(&OUTPUT);
    *output = answer;
    output.len()
}
