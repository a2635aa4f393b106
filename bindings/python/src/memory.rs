//! Memory of large columns in huge pages.
//!
//! A fresh column of 10^7 slots is 160 MB, and handing it out in pages of 4 KiB costs more than
//! filling it. numpy asks the kernel for huge pages for its arrays; so does this allocator, from the
//! same size on.

use std::alloc::{GlobalAlloc, Layout, System};

#[global_allocator]
static MEMORY: HugePages = HugePages;

/// The system's allocator, which asks for huge pages for what is large.
struct HugePages;

/// From this size on, as numpy does.
#[cfg(target_os = "linux")]
const LARGE: usize = 1 << 22;

// SAFETY: every call goes to the system's allocator as it came; the advice changes no content.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those that the system asks for.
        let start = unsafe { System.alloc(layout) };
        advise(start, layout.size());
        start
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let start = unsafe { System.alloc_zeroed(layout) };
        advise(start, layout.size());
        start
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        let start = unsafe { System.realloc(start, layout, size) };
        if size > layout.size() {
            advise(start, size);
        }
        start
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(start, layout) }
    }
}

#[cfg(target_os = "linux")]
fn advise(start: *mut u8, size: usize) {
    const PAGE: usize = 4096;
    if size < LARGE || start.is_null() {
        return;
    }
    let skipped = start.align_offset(PAGE);
    // SAFETY: the range lies within what was just allocated. That the kernel may refuse does not
    // matter.
    unsafe {
        libc::madvise(start.add(skipped).cast(), size - skipped, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_: *mut u8, _: usize) {}
