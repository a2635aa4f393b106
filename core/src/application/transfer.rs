//! Data that are available from the start: a file, or unlimited data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Application, Traffic};
use crate::config::Fault;
use crate::transport::Endpoint;
use crate::units::{Bytes, Instant, Size};

/// Unlimited data.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Bulk;

/// A file. The flow ends when the file has arrived and, if the transport has acknowledgements, the
/// sender has received the last one.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct File {
    /// File: size of the file.
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
    fn drive(&mut self, _: Instant, sender: &mut dyn Endpoint) -> Option<Instant> {
        sender.write(0, u64::MAX, false);
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
    fn drive(&mut self, _: Instant, sender: &mut dyn Endpoint) -> Option<Instant> {
        sender.write(0, self.size.0, false);
        sender.close();
        None
    }
}
