//! The allocator: mimalloc for small blocks, the system's allocator with huge pages for large
//! columns.
//!
//! A scenario consists of some hundred small blocks, made on one thread and freed on another, which
//! is slow in glibc's arenas. A fresh column of 10^7 slots has 160 MB. Mapping it in pages of 4 KiB
//! takes longer than filling it. numpy requests huge pages for its arrays; this allocator does the
//! same, from the same size, and keeps a few that were freed.

use std::alloc::{GlobalAlloc, Layout, System};

use libmimalloc_sys as mi;

use crate::kept;

#[global_allocator]
static MEMORY: BySize = BySize;

/// mimalloc for small blocks; the system's allocator with huge pages for large ones.
struct BySize;

/// Minimum size of a large block, as in numpy.
const LARGE: usize = 1 << 22;

const fn is_large(size: usize) -> bool {
    size >= LARGE
}

// SAFETY: the size of a block determines its allocator, to which every call is passed; a large block may
// first be kept for another large one. The advice to the kernel does not change the content.
unsafe impl GlobalAlloc for BySize {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !is_large(layout.size()) {
            // SAFETY: both allocators require what the caller guarantees.
            return unsafe { Small.alloc(layout) };
        }
        // SAFETY: as above.
        unsafe { large(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !is_large(layout.size()) {
            // SAFETY: as above.
            return unsafe { Small.alloc_zeroed(layout) };
        }
        // SAFETY: as above.
        let start = unsafe { System.alloc_zeroed(layout) };
        advise(start, layout.size());
        start
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        match (is_large(layout.size()), is_large(size)) {
            // SAFETY: as above.
            (false, false) => unsafe { Small.realloc(start, layout, size) },
            (true, true) => {
                // SAFETY: as above.
                let start = unsafe { System.realloc(start, layout, size) };
                if size > layout.size() {
                    advise(start, size);
                }
                start
            }
            // The new size belongs to the other allocator.
            _ => {
                // SAFETY: the caller guarantees that the size, rounded up to the alignment, does
                // not overflow. The blocks do not overlap and are at least as long as the copied
                // part.
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
        if !is_large(layout.size()) {
            // SAFETY: as above.
            return unsafe { Small.dealloc(start, layout) };
        }
        // SAFETY: the block is the system's, and nobody uses it.
        unsafe { free_large(start, layout) }
    }
}

/// A large block. Apart, so that small ones do not pay for its registers.
///
/// # Safety
/// As [`GlobalAlloc::alloc`].
#[cold]
unsafe fn large(layout: Layout) -> *mut u8 {
    if let Some(start) = kept::take(layout) {
        return start;
    }
    // SAFETY: as the caller guarantees.
    let start = unsafe { System.alloc(layout) };
    advise(start, layout.size());
    start
}

/// Frees a large block, or keeps it.
///
/// # Safety
/// As [`GlobalAlloc::dealloc`].
#[cold]
unsafe fn free_large(start: *mut u8, layout: Layout) {
    // SAFETY: as the caller guarantees.
    unsafe {
        if !kept::keep(start) {
            System.dealloc(start, layout);
        }
    }
}

/// mimalloc. Blocks that it aligns in any case take half the time of others.
struct Small;

impl Small {
    /// Whether mimalloc aligns blocks of this layout in any case.
    const fn is_aligned(layout: Layout) -> bool {
        layout.align() <= 16 && layout.align() <= layout.size()
    }
}

// SAFETY: the functions of mimalloc do what `malloc` and its relatives do, and a block of theirs stays
// with them.
unsafe impl GlobalAlloc for Small {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size and any power of two will do.
        unsafe {
            match Self::is_aligned(layout) {
                true => mi::mi_malloc(layout.size()),
                false => mi::mi_malloc_aligned(layout.size(), layout.align()),
            }
        }
        .cast()
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe {
            match Self::is_aligned(layout) {
                true => mi::mi_zalloc(layout.size()),
                false => mi::mi_zalloc_aligned(layout.size(), layout.align()),
            }
        }
        .cast()
    }

    unsafe fn realloc(&self, start: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above, and the block is mimalloc's.
        unsafe {
            match layout.align() <= 16 && layout.align() <= size {
                true => mi::mi_realloc(start.cast(), size),
                false => mi::mi_realloc_aligned(start.cast(), size, layout.align()),
            }
        }
        .cast()
    }

    unsafe fn dealloc(&self, start: *mut u8, _: Layout) {
        // SAFETY: the block is mimalloc's.
        unsafe { mi::mi_free(start.cast()) }
    }
}

#[cfg(target_os = "linux")]
fn advise(start: *mut u8, size: usize) {
    const PAGE: usize = 4096;
    if start.is_null() {
        return;
    }
    let skipped = start.align_offset(PAGE);
    // SAFETY: the range lies within the block just allocated. If the kernel refuses the advice,
    // nothing else changes.
    unsafe {
        libc::madvise(start.add(skipped).cast(), size - skipped, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_: *mut u8, _: usize) {}
