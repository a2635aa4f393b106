//! The subflows of a connection over several paths, and what their congestion controls see of each
//! other.

use std::sync::{Arc, Mutex, PoisonError};

/// What the control of one subflow shows to the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Share {
    /// Congestion window, segments.
    pub(super) cwnd: f64,
    /// Smoothed round-trip time, seconds; 0 before the first sample.
    pub(super) rtt: f64,
    /// Segments acknowledged between the last two losses, or since the last one, whichever are more.
    pub(super) run: f64,
}

impl Share {
    /// Segments per second.
    pub(super) fn rate(&self) -> f64 {
        self.cwnd / self.rtt
    }
}

/// The place of a subflow among the subflows of its connection, through which their congestion
/// controls see each other
/// ([`CongestionControl::couple`](crate::transport::tcp::CongestionControl::couple)).
#[derive(Clone, Debug)]
pub struct Subflow {
    shares: Arc<Mutex<Vec<Share>>>,
    number: usize,
}

impl Subflow {
    /// The subflows of a connection.
    ///
    /// ```
    /// use clift::transport::tcp::Subflow;
    /// assert_eq!(Subflow::all(2).len(), 2);
    /// ```
    pub fn all(count: usize) -> Vec<Self> {
        let shares = Arc::new(Mutex::new(vec![Share::default(); count]));
        (0..count).map(|number| Self { shares: Arc::clone(&shares), number }).collect()
    }

    /// That of a connection with one path.
    pub(super) fn alone() -> Self {
        Self { shares: Arc::new(Mutex::new(vec![Share::default()])), number: 0 }
    }

    pub(super) fn with<T>(&self, act: impl FnOnce(&mut [Share], usize) -> T) -> T {
        act(&mut self.shares.lock().unwrap_or_else(PoisonError::into_inner), self.number)
    }
}
