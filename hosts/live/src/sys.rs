//! Calls of the kernel, each checked.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering};

use crate::LiveError;

/// What a call returned, or the error that it left.
pub(crate) fn checked(what: &str, returned: libc::c_int) -> Result<libc::c_int, LiveError> {
    match returned {
        -1 => Err(LiveError::Kernel { what: what.to_owned(), source: io::Error::last_os_error() }),
        fine => Ok(fine),
    }
}

/// A file descriptor that a call returned.
pub(crate) fn owned(what: &str, returned: libc::c_int) -> Result<OwnedFd, LiveError> {
    // SAFETY: the call has just opened it.
    checked(what, returned).map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Nanoseconds of the monotonic clock.
pub(crate) fn monotonic() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds since 1970.
pub(crate) fn since_1970() -> u64 {
    clock(libc::CLOCK_REALTIME)
}

/// Nanoseconds of processor time that this thread used.
pub(crate) fn processor_time() -> u64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn clock(which: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to a place of ours, and cannot fail with these clocks.
    unsafe { libc::clock_gettime(which, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Opens a file for reading, or for reading and writing without blocking.
pub(crate) fn open(path: &CStr, write: bool) -> Result<OwnedFd, LiveError> {
    let mode = if write { libc::O_RDWR | libc::O_NONBLOCK } else { libc::O_RDONLY };
    // SAFETY: the path ends with a zero byte.
    let opened = unsafe { libc::open(path.as_ptr(), mode | libc::O_CLOEXEC) };
    owned(&path.to_string_lossy(), opened)
}

/// Reads into `buffer`; `None`: nothing to read now.
pub(crate) fn read(fd: &OwnedFd, buffer: &mut [u8]) -> io::Result<Option<usize>> {
    // SAFETY: the buffer is ours and of that length.
    let count = unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
    transferred(count)
}

/// Writes a packet; `None`: the far side takes none now.
pub(crate) fn write(fd: &OwnedFd, bytes: &[u8]) -> io::Result<Option<usize>> {
    // SAFETY: the bytes are ours and of that length.
    let count = unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) };
    transferred(count)
}

fn transferred(count: isize) -> io::Result<Option<usize>> {
    if count >= 0 {
        return Ok(Some(count as usize));
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EINTR | libc::ENOBUFS) => Ok(None),
        _ => Err(error),
    }
}

/// A timer at instants of the monotonic clock.
pub(crate) struct Timer(OwnedFd);

impl Timer {
    pub(crate) fn new() -> Result<Self, LiveError> {
        let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
        // SAFETY: no memory is involved.
        owned("a timer", unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) }).map(Self)
    }

    /// Sets it to an instant in ns; `None`: it never rings.
    pub(crate) fn set(&self, at: Option<u64>) {
        // Zero would disarm it.
        let at = at.map_or(0, |at| at.max(1));
        let value = libc::timespec {
            tv_sec: (at / 1_000_000_000) as libc::time_t,
            tv_nsec: (at % 1_000_000_000) as libc::c_long,
        };
        let spec = libc::itimerspec {
            it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: value,
        };
        let (fd, flags) = (self.0.as_raw_fd(), libc::TFD_TIMER_ABSTIME);
        // SAFETY: it reads a place of ours.
        unsafe { libc::timerfd_settime(fd, flags, &raw const spec, std::ptr::null_mut()) };
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// Waits until one of the descriptors can be read; those that can.
pub(crate) fn wait<const N: usize>(fds: [RawFd; N]) -> Result<[bool; N], LiveError> {
    let mut asked = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    // SAFETY: the list is ours and of that length.
    let ready = unsafe { libc::poll(asked.as_mut_ptr(), N as libc::nfds_t, -1) };
    if ready == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) {
        return Ok([false; N]);
    }
    checked("waiting for packets", ready)?;
    Ok(asked.map(|one| one.revents != 0))
}

/// Signals that end a run, read like packets. A handler passes them on, for a signal of the process
/// reaches any thread that does not block it, whichever threads other libraries have.
pub(crate) struct Signals {
    fd: OwnedFd,
    _far: OwnedFd,
    before: Vec<(libc::c_int, libc::sigaction)>,
}

/// The end of a pipe that the handler writes to.
static NOTICES: AtomicI32 = AtomicI32::new(-1);

extern "C" fn notice(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel hands over its own place; writing to a pipe is allowed in a handler.
    // The interrupted code may be about to read `errno`, so it stays as it was.
    unsafe {
        let errno = *libc::__errno_location();
        let from_process = (*info).si_code <= 0;
        let bytes = [signal as u8, u8::from(from_process)];
        libc::write(NOTICES.load(Ordering::Relaxed), bytes.as_ptr().cast(), bytes.len());
        *libc::__errno_location() = errno;
    }
}

impl Signals {
    /// SIGINT, SIGTERM and SIGHUP from now on.
    pub(crate) fn catch() -> Result<Self, LiveError> {
        let mut ends = [0; 2];
        let flags = libc::O_NONBLOCK | libc::O_CLOEXEC;
        // SAFETY: it writes two descriptors to a place of ours, which are then owned.
        let (fd, far) = unsafe {
            checked("a pipe", libc::pipe2(ends.as_mut_ptr(), flags))?;
            (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
        };
        NOTICES.store(far.as_raw_fd(), Ordering::Relaxed);
        let mut before = Vec::new();
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: actions are places of ours; the handler has the form that the flag asks for.
            unsafe {
                let mut own: libc::sigaction = std::mem::zeroed();
                let mut old: libc::sigaction = std::mem::zeroed();
                own.sa_sigaction = notice as *const () as usize;
                own.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
                checked("a signal", libc::sigaction(signal, &raw const own, &raw mut old))?;
                before.push((signal, old));
            }
        }
        Ok(Self { fd, _far: far, before })
    }

    /// The signal that came, if one did, and whether a process sent it to us alone: one from the
    /// terminal reached the commands, too.
    pub(crate) fn next(&self) -> Option<(libc::c_int, bool)> {
        let mut notice = [0; 2];
        (read(&self.fd, &mut notice).ok()?? == 2).then_some((i32::from(notice[0]), notice[1] == 1))
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for (signal, old) in &self.before {
            // SAFETY: it reads a place of ours.
            unsafe { libc::sigaction(*signal, std::ptr::from_ref(old), std::ptr::null_mut()) };
        }
        NOTICES.store(-1, Ordering::Relaxed);
    }
}

/// Real-time scheduling and memory that stays, where they can be had; whether they could.
pub(crate) fn prefer_this_thread() -> bool {
    // SAFETY: no memory of ours is involved but the parameter.
    unsafe {
        let parameter = libc::sched_param { sched_priority: 50 };
        let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
        let real_time = libc::sched_setscheduler(0, policy, &raw const parameter) == 0;
        if real_time {
            // What is there stays; what was only reserved (an allocator does so by the gigabyte) is not
            // made for that.
            libc::mlockall(libc::MCL_CURRENT | libc::MCL_ONFAULT);
        }
        real_time
    }
}

/// Gives back what [`prefer_this_thread`] took.
pub(crate) fn be_ordinary(real_time: bool) {
    if real_time {
        // SAFETY: as above.
        unsafe {
            let parameter = libc::sched_param { sched_priority: 0 };
            libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const parameter);
            libc::munlockall();
        }
    }
}
