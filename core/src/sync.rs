//! Data shared between threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks `mutex`. If a thread panicked while it held the lock, the value is used as that thread
/// left it: the panic itself is reported where it occurred.
///
/// ```
/// use std::sync::Mutex;
/// let shared = Mutex::new(1);
/// *clift::sync::lock(&shared) += 1;
/// assert_eq!(*clift::sync::lock(&shared), 2);
/// ```
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
