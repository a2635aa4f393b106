//! Web pages over HTTP/1.1, HTTP/2 and HTTP/3.

mod browser;
mod config;
mod content;
mod shape;

pub use config::{Http, Page, PageLoad};
pub use content::{PageContent, PageFault, PageObject, PageReader};
pub use shape::Shape;

pub(super) use config::{check_tls, dialogues};
