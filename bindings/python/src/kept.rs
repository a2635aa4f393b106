//! Large blocks that were freed, for the next one of about their size: the kernel clears each page of a
//! fresh one, which takes as long as a scheme takes to fill it. It may take the pages of a kept block
//! whenever it needs memory.

use std::alloc::Layout;

#[cfg(target_os = "linux")]
pub(crate) use linux::{keep, take};

#[cfg(target_os = "linux")]
mod linux {
    use std::sync::Mutex;

    use super::Layout;

    /// Most bytes that are kept.
    const MOST: usize = 1 << 28;
    /// Size of a huge page, which the kernel takes as a whole.
    const PAGE: usize = 1 << 21;

    #[derive(Clone, Copy)]
    struct Block {
        start: *mut u8,
        size: usize,
    }

    // SAFETY: nobody else has a kept block.
    unsafe impl Send for Block {}

    /// Blocks of the system's allocator. Nobody waits for the lock: a thread that held it may not exist
    /// after a fork.
    static KEPT: Mutex<[Option<Block>; 4]> = Mutex::new([None; 4]);

    /// A kept block of this layout, at most twice as large. If there is none, all smaller ones are given
    /// back: what is asked for grows.
    pub(crate) fn take(layout: Layout) -> Option<*mut u8> {
        let size = layout.size();
        let mut kept = KEPT.try_lock().ok()?;
        let fits =
            |block: Block| layout.align() <= 16 && block.size >= size && block.size / 2 <= size;
        let places = kept.iter_mut().filter(|place| place.is_some_and(fits));
        if let Some(place) = places.min_by_key(|place| place.map(|block| block.size)) {
            return place.take().map(|block| block.start);
        }
        let smaller = kept.each_mut().map(|place| place.take_if(|block| block.size < size));
        drop(kept);
        for block in smaller.into_iter().flatten() {
            // SAFETY: the block is the allocator's, and it is not kept any more.
            unsafe { libc::free(block.start.cast()) };
        }
        None
    }

    /// Keeps a block, if need be instead of the smallest one; says whether there is room.
    ///
    /// # Safety
    /// The block is the system allocator's, and nobody uses it.
    pub(crate) unsafe fn keep(start: *mut u8) -> bool {
        let Ok(mut kept) = KEPT.try_lock() else { return false };
        // SAFETY: as the caller guarantees.
        let size = unsafe { libc::malloc_usable_size(start.cast()) };
        kept.sort_unstable_by_key(|place| place.map_or(0, |block| block.size));
        let [place, others @ ..] = &mut *kept;
        let held: usize = others.iter().flatten().map(|block| block.size).sum();
        if held + size > MOST || place.is_some_and(|block| block.size >= size) {
            return false;
        }
        let skipped = start.align_offset(PAGE);
        if let Some(whole) = size.checked_sub(skipped) {
            // SAFETY: the range lies within the block. The content matters to nobody.
            unsafe {
                libc::madvise(start.add(skipped).cast(), whole / PAGE * PAGE, libc::MADV_FREE)
            };
        }
        if let Some(smallest) = place.replace(Block { start, size }) {
            // SAFETY: the block is the allocator's, and it is not kept any more.
            unsafe { libc::free(smallest.start.cast()) };
        }
        true
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn take(_: Layout) -> Option<*mut u8> {
    None
}

/// # Safety
/// Any block will do.
#[cfg(not(target_os = "linux"))]
pub(crate) unsafe fn keep(_: *mut u8) -> bool {
    false
}
