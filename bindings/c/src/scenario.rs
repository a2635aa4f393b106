//! Scenarios and the links that they describe.

use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};

use clift::Registry;
use clift::config::{Node, Value};
use clift::scenario::{Change, Content, Scenario, Store};
use clift::seed::{Seed, Stream};
use clift::simulation::{Hop, Setup, Way};
use clift::trace::Folder;

use crate::error::{Fallible, guarded, hand_out};
use crate::link::clift_link;

/// Direction from the senders to the receivers.
pub const CLIFT_FORWARD: u32 = 0;
/// Direction from the receivers to the senders.
pub const CLIFT_BACKWARD: u32 = 1;

/// The hops from the senders to the receivers, as the way back of a host that describes both ways
/// by forward paths. With the same seed they draw other erasures than the forward paths.
pub const CLIFT_REVERSE: u32 = 2;

/// A scenario with changes of its keys; made by `clift_scenario_open` or `clift_scenario_parse`,
/// freed by `clift_scenario_free`. Traces that its links share are made once.
#[allow(non_camel_case_types)]
pub struct clift_scenario {
    content: Source,
    changes: Vec<(String, Change)>,
    store: Store<'static>,
}

/// Source of a scenario.
enum Source {
    File(PathBuf),
    Text(String),
}

impl clift_scenario {
    fn new(content: Source, folder: &Path) -> Self {
        Self { content, changes: Vec::new(), store: Store::new(Folder::new(folder)) }
    }

    fn read(&self, changes: &[(String, Change)]) -> Fallible<Scenario> {
        let read = match &self.content {
            Source::File(path) => Scenario::open(path, changes, &Registry::new()),
            Source::Text(text) => {
                Scenario::read("", &Content::Text(text.clone()), changes, &Registry::new())
            }
        };
        read.map_err(|error| error.to_string())
    }

    /// The setup of the first replication of the only cell; `seed`, if given, replaces the file's
    /// seed.
    fn setup(&self, seed: Option<u64>) -> Fallible<Setup> {
        let mut changes = self.changes.clone();
        changes.extend(seed.map(|seed| {
            let seed = Value::from(Node::Integer(i128::from(seed)));
            ("seed".to_owned(), Change::Value(seed))
        }));
        let scenario = self.read(&changes)?;
        let [cell] = scenario.cells() else {
            let axes: Vec<_> = scenario.axes().iter().map(|axis| axis.name.clone()).collect();
            return Err(format!(
                "{}has {} cells; a link needs one: leave [vary] out, or set {}",
                prefix(scenario.file()),
                scenario.count(),
                axes.join(", ")
            ));
        };
        let setup = cell.setup(0, &self.store);
        let setup = setup.map_err(|fault| format!("{}{fault}", prefix(scenario.file())))?;
        match setup.proxies.is_empty() {
            true => Ok(setup),
            false => Err(format!(
                "{}proxies (`pep`) work only with clift's own TCP; leave them out, or set up proxies of the \
                 host that runs the transport",
                prefix(scenario.file())
            )),
        }
    }

    fn name(&self) -> String {
        match &self.content {
            Source::File(path) => format!("{}: ", path.display()),
            Source::Text(_) => String::new(),
        }
    }

    /// The only link of the forward path.
    fn link(&self, seed: Option<u64>) -> Fallible<clift_link> {
        let setup = self.setup(seed)?;
        let (forward, _) = hops(&setup, CLIFT_FORWARD)?;
        let links: Vec<usize> =
            (0..forward.len()).filter(|&hop| matches!(forward[hop], Hop::Link(_))).collect();
        match links[..] {
            [hop] => self.part(&setup, CLIFT_FORWARD, Some(hop)),
            _ => Err(format!(
                "{}has {} links on the forward path; choose one with clift_scenario_link, or use \
                 all of them with clift_scenario_way",
                self.name(),
                links.len()
            )),
        }
    }

    /// The setup of a direction; CLIFT_REVERSE has its own seed.
    fn directed(&self, seed: Option<u64>, direction: u32) -> Fallible<Setup> {
        let setup = self.setup(seed)?;
        match direction {
            CLIFT_REVERSE => self.setup(Some(Seed::drawn(setup.seed.rng(Stream::Reverse)).0)),
            _ => Ok(setup),
        }
    }

    /// One hop of a direction, or all of them.
    fn part(&self, setup: &Setup, direction: u32, hop: Option<usize>) -> Fallible<clift_link> {
        let (hops, first) = hops(setup, direction)?;
        let (hops, first) = match hop {
            None => (hops, first),
            Some(hop) if hop < hops.len() => (&hops[hop..=hop], first + hop as u32),
            Some(hop) => {
                let most = hops.len();
                return Err(format!(
                    "{}hop {hop} does not exist; this direction has {most}",
                    self.name()
                ));
            }
        };
        let way = Way::new(hops, setup.seed, first);
        way.map(clift_link::new).map_err(|error| format!("{}{error}", self.name()))
    }
}

/// The hops of a direction, and the index of the first one in the run.
fn hops(setup: &Setup, direction: u32) -> Fallible<(&[Hop], u32)> {
    let [forward, backward] = setup.chain().map_err(|error| error.to_string())?;
    match direction {
        CLIFT_FORWARD | CLIFT_REVERSE => Ok((forward, 0)),
        CLIFT_BACKWARD => Ok((backward, forward.len() as u32)),
        other => Err(format!(
            "unknown direction {other}; give CLIFT_FORWARD, CLIFT_BACKWARD or CLIFT_REVERSE"
        )),
    }
}

fn prefix(file: &str) -> String {
    if file.is_empty() { String::new() } else { format!("{file}: ") }
}

/// Returns a text of the caller.
///
/// # Safety
/// `text` must be null or end with a zero byte.
unsafe fn text_of<'t>(text: *const c_char, what: &str) -> Fallible<&'t str> {
    if text.is_null() {
        return Err(format!("the {what} is null"));
    }
    // SAFETY: guaranteed by the caller.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| format!("the {what} is not UTF-8"))
}

/// Returns a path of the caller, with any bytes.
///
/// # Safety
/// `path` must be null or end with a zero byte.
unsafe fn path_of(path: *const c_char) -> Fallible<PathBuf> {
    if path.is_null() {
        return Err("the path is null".to_owned());
    }
    // SAFETY: guaranteed by the caller.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Ok(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
    }
    #[cfg(not(unix))]
    {
        let text = std::str::from_utf8(bytes).map_err(|_| "the path is not UTF-8".to_owned())?;
        Ok(PathBuf::from(text))
    }
}

/// The scenario in a file, unread.
///
/// # Safety
/// As for [`path_of`].
unsafe fn of_file(path: *const c_char) -> Fallible<clift_scenario> {
    // SAFETY: guaranteed by the caller.
    let path = unsafe { path_of(path) }?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    Ok(clift_scenario::new(Source::File(path), &folder))
}

/// The scenario in a text, unread.
///
/// # Safety
/// As for [`text_of`] and [`path_of`].
unsafe fn of_text(text: *const c_char, folder: *const c_char) -> Fallible<clift_scenario> {
    // SAFETY: guaranteed by the caller, in both calls.
    let text = unsafe { text_of(text, "scenario") }?.to_owned();
    let folder = if folder.is_null() { PathBuf::new() } else { unsafe { path_of(folder) }? };
    Ok(clift_scenario::new(Source::Text(text), &folder))
}

/// Returns the object that was made, or null and the error.
///
/// # Safety
/// `error` must be null or point to a pointer that may be overwritten.
unsafe fn made<T>(made: Fallible<T>, error: *mut *mut c_char) -> *mut T {
    // SAFETY: guaranteed by the caller, in both calls.
    match made {
        Ok(made) => {
            unsafe { hand_out(error, None) };
            Box::into_raw(Box::new(made))
        }
        Err(message) => {
            unsafe { hand_out(error, Some(&message)) };
            std::ptr::null_mut()
        }
    }
}

/// Returns the scenario of a handle.
///
/// # Safety
/// `scenario` must be null or a valid handle.
unsafe fn known<'s>(scenario: *const clift_scenario) -> Fallible<&'s clift_scenario> {
    // SAFETY: guaranteed by the caller.
    unsafe { scenario.as_ref() }.ok_or_else(|| "the scenario is null".to_owned())
}

/// Opens a scenario file and checks it. The file is read again for every change and every link, so
/// it must stay in place. File names in it are relative to its folder. Returns null and sets
/// `*error` if the file cannot be read or is not valid.
///
/// # Safety
/// `path` must end with a zero byte; `error` must be null or point to a pointer that may be
/// overwritten. Free the text of an error with `clift_string_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_scenario_open(
    path: *const c_char,
    error: *mut *mut c_char,
) -> *mut clift_scenario {
    let opened = guarded(|| {
        // SAFETY: guaranteed by the caller.
        let scenario = unsafe { of_file(path) }?;
        scenario.read(&[]).map(|_| scenario)
    });
    // SAFETY: guaranteed by the caller.
    unsafe { made(opened, error) }
}

/// Makes a scenario from its text. File names in it are relative to `folder` (null: the working
/// directory). Returns null and sets `*error` if the scenario is not valid.
///
/// # Safety
/// As for `clift_scenario_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_scenario_parse(
    text: *const c_char,
    folder: *const c_char,
    error: *mut *mut c_char,
) -> *mut clift_scenario {
    let parsed = guarded(|| {
        // SAFETY: guaranteed by the caller.
        let scenario = unsafe { of_text(text, folder) }?;
        scenario.read(&[]).map(|_| scenario)
    });
    // SAFETY: guaranteed by the caller.
    unsafe { made(parsed, error) }
}

/// Sets a dotted key (`"link.queue"`) or selects a point of an axis (`"scheme"`), like `--set` on
/// the command line. Returns 0. On failure it returns -1, sets `*error` and changes nothing.
///
/// # Safety
/// `scenario` must be a valid handle that no other call uses; texts as for `clift_scenario_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_scenario_set(
    scenario: *mut clift_scenario,
    key: *const c_char,
    value: *const c_char,
    error: *mut *mut c_char,
) -> i32 {
    let set = guarded(|| {
        // SAFETY: guaranteed by the caller, in the three calls.
        let scenario = unsafe { scenario.as_mut() }.ok_or("the scenario is null")?;
        let key = unsafe { text_of(key, "key") }?.to_owned();
        let value = Change::Text(unsafe { text_of(value, "value") }?.to_owned());
        let mut changes = scenario.changes.clone();
        changes.push((key, value));
        scenario.read(&changes)?;
        scenario.changes = changes;
        Ok(())
    });
    // SAFETY: guaranteed by the caller.
    unsafe { hand_out(error, set.as_ref().err().map(String::as_str)) };
    if set.is_ok() { 0 } else { -1 }
}

/// Returns the number of hops in a direction, including wired legs. Returns -1 and sets `*error` if
/// the scenario is not valid or has several cells.
///
/// # Safety
/// `scenario` must be a valid handle; `error` as for `clift_scenario_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_scenario_hops(
    scenario: *const clift_scenario,
    direction: u32,
    error: *mut *mut c_char,
) -> i64 {
    let counted = guarded(|| {
        // SAFETY: guaranteed by the caller.
        let setup = unsafe { known(scenario) }?.setup(None)?;
        hops(&setup, direction).map(|(hops, _)| hops.len() as i64)
    });
    // SAFETY: guaranteed by the caller.
    unsafe { hand_out(error, counted.as_ref().err().map(String::as_str)) };
    counted.unwrap_or(-1)
}

/// Makes one hop of a direction, counted from 0. `seed` may be null; the scenario's own seed then
/// applies. Returns null and sets `*error` on failure.
///
/// # Safety
/// `scenario` must be a valid handle, and `seed` null or point to a number; `error` as for
/// `clift_scenario_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_scenario_link(
    scenario: *const clift_scenario,
    seed: *const u64,
    direction: u32,
    hop: u32,
    error: *mut *mut c_char,
) -> *mut clift_link {
    let link = guarded(|| {
        // SAFETY: guaranteed by the caller, in both calls.
        let scenario = unsafe { known(scenario) }?;
        let setup = scenario.directed(unsafe { seed.as_ref() }.copied(), direction)?;
        scenario.part(&setup, direction, Some(hop as usize))
    });
    // SAFETY: guaranteed by the caller.
    unsafe { made(link, error) }
}

/// Makes all hops of a direction as one link: a packet that a hop delivers enters the next one. A
/// packet that the full queue of a later hop drops is reported as lost. `seed` may be null; the
/// scenario's own seed then applies. Returns null and sets `*error` on failure.
///
/// # Safety
/// As for `clift_scenario_link`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_scenario_way(
    scenario: *const clift_scenario,
    seed: *const u64,
    direction: u32,
    error: *mut *mut c_char,
) -> *mut clift_link {
    let way = guarded(|| {
        // SAFETY: guaranteed by the caller, in both calls.
        let scenario = unsafe { known(scenario) }?;
        let setup = scenario.directed(unsafe { seed.as_ref() }.copied(), direction)?;
        scenario.part(&setup, direction, None)
    });
    // SAFETY: guaranteed by the caller.
    unsafe { made(way, error) }
}

/// Frees a scenario; accepts null. Links made from it stay valid.
///
/// # Safety
/// `scenario` must be null or a valid handle, and must not be used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_scenario_free(scenario: *mut clift_scenario) {
    if !scenario.is_null() {
        // SAFETY: guaranteed by the caller.
        drop(unsafe { Box::from_raw(scenario) });
    }
}

/// Makes the link of a scenario file without axes and with exactly one link on the forward path;
/// wired legs do not count. `seed` replaces the file's seed; the random draws are those of the
/// first run. Returns null and sets `*error` on failure.
///
/// # Safety
/// As for `clift_scenario_open`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_new(
    scenario_path: *const c_char,
    seed: u64,
    error: *mut *mut c_char,
) -> *mut clift_link {
    // SAFETY: guaranteed by the caller.
    let link = guarded(|| unsafe { of_file(scenario_path) }?.link(Some(seed)));
    // SAFETY: guaranteed by the caller.
    unsafe { made(link, error) }
}

/// As `clift_link_new`, from the text of a scenario. File names in it are relative to `folder`
/// (null: the working directory).
///
/// # Safety
/// As for `clift_scenario_parse`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clift_link_new_text(
    text: *const c_char,
    folder: *const c_char,
    seed: u64,
    error: *mut *mut c_char,
) -> *mut clift_link {
    // SAFETY: guaranteed by the caller.
    let link = guarded(|| unsafe { of_text(text, folder) }?.link(Some(seed)));
    // SAFETY: guaranteed by the caller.
    unsafe { made(link, error) }
}
