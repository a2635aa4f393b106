//! Data that are there from the start: a file, or more than any run can send.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Application, Traffic};
use crate::config::Fault;
use crate::transport::Connection;
use crate::units::{Bytes, Instant, Size};

/// Always more to send.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Bulk;

/// A file; the flow is done when it has arrived and, if the transport has acknowledgements, the
/// sender knows.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct File {
    /// File: its size.
    pub size: Size,
}

impl Application for Bulk {
    fn never_ends(&self) -> bool {
        true
    }

    fn start(&self, _: Instant, _: Bytes) -> Box<dyn Traffic> {
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
    fn check(&self) -> Result<(), Fault> {
        match self.size.0 {
            0 => Err(Fault::new("size", "a file of 0 bytes; give 1 B or more")),
            _ => Ok(()),
        }
    }

    fn size(&self) -> Option<u64> {
        Some(self.size.0)
    }

    fn start(&self, _: Instant, _: Bytes) -> Box<dyn Traffic> {
        Box::new(*self)
    }
}

impl Traffic for File {
    fn drive(&mut self, _: Instant, connection: &mut dyn Connection) -> Option<Instant> {
        connection.supply(self.size.0);
        connection.close();
        None
    }
}
