//! Data that are there from the start: a file, or more than any run can send.

use super::{Application, Traffic};
use crate::transport::Connection;
use crate::units::Instant;

/// Always more to send.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Bulk;

/// A file; the flow is done when it has arrived and, if the transport has acknowledgements, the
/// sender knows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct File {
    /// Payload bytes.
    pub bytes: u64,
}

impl Application for Bulk {
    fn name(&self) -> &'static str {
        "bulk"
    }

    fn never_ends(&self) -> bool {
        true
    }

    fn start(&self, _: Instant) -> Box<dyn Traffic> {
        Box::new(Self)
    }
}

impl Traffic for Bulk {
    fn drive(&mut self, _: Instant, connection: &mut dyn Connection) -> Option<Instant> {
        connection.supply(u64::MAX);
        None
    }
}

impl Application for File {
    fn name(&self) -> &'static str {
        "file"
    }

    fn start(&self, _: Instant) -> Box<dyn Traffic> {
        Box::new(*self)
    }
}

impl Traffic for File {
    fn drive(&mut self, _: Instant, connection: &mut dyn Connection) -> Option<Instant> {
        connection.supply(self.bytes);
        connection.close();
        None
    }

    fn size(&self) -> Option<u64> {
        Some(self.bytes)
    }
}
