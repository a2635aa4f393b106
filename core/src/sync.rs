//! What threads share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a mutex guards. A panic of whoever held it before is told where it happened; what they left
/// is taken as it is.
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
