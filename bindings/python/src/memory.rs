//! Memory: small blocks from mimalloc, large columns from the system in huge pages.
//!
//! A scenario is some hundred small blocks, made on one thread and dropped on another, which glibc's
//! arenas are slow at. A fresh column of 10^7 slots is 160 MB, and handing it out in pages of 4 KiB
//! costs more than filling it. numpy asks the kernel for huge pages for its arrays; so does this
//! allocator, from the same size on.

use std::alloc::{GlobalAlloc, Layout, System};

use mimalloc::MiMalloc;

#[global_allocator]
static MEMORY: BySize = BySize;

/// mimalloc for what is small; the system's allocator, asked for huge pages, for what is large.
struct BySize;

/// From this size on, as numpy does.
const LARGE: usize = 1 << 22;

const fn is_large(size: usize) -> bool {
    size >= LARGE
}

// SAFETY: a block's size says which allocator it is from, and every call goes to that one as it came.
// The advice changes no content.
unsafe impl GlobalAlloc for BySize {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !is_large(layout.size()) {
            // SAFETY: the caller's promises are those that both allocators ask for.
            return unsafe { MiMalloc.alloc(layout) };
        }
        // SAFETY: as above.
        let start = unsafe { System.alloc(layout) };
        advise(start, layout.size());
        start
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !is_large(layout.size()) {
            // SAFETY: as above.
            return unsafe { MiMalloc.alloc_zeroed(layout) };
        }
        // SAFETY: as above.
        let start = unsafe { System.alloc_zeroed(layout) };
        advise(start, layout.size());
        start
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        match (is_large(layout.size()), is_large(size)) {
            // SAFETY: as above.
            (false, false) => unsafe { MiMalloc.realloc(start, layout, size) },
            (true, true) => {
                // SAFETY: as above.
                let start = unsafe { System.realloc(start, layout, size) };
                if size > layout.size() {
                    advise(start, size);
                }
                start
            }
            // It changes its allocator.
            _ => {
                // SAFETY: the caller promises that the size, rounded up to the alignment, is no
                // overflow; the blocks are apart, and as long as what is copied.
                unsafe {
                    let moved = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                    if !moved.is_null() {
                        moved.copy_from_nonoverlapping(start, layout.size().min(size));
                        self.dealloc(start, layout);
                    }
                    moved
                }
            }
        }
    }

    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        if is_large(layout.size()) {
            // SAFETY: as above.
            unsafe { System.dealloc(start, layout) }
        } else {
            // SAFETY: as above.
            unsafe { MiMalloc.dealloc(start, layout) }
        }
    }
}

#[cfg(target_os = "linux")]
fn advise(start: *mut u8, size: usize) {
    const PAGE: usize = 4096;
    if start.is_null() {
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
