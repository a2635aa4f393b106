//! Configuration of a web page.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::browser::Browser;
use super::content::PageContent;
use super::shape::Shape;
use crate::application::{Application, Session};
use crate::config::Fault;
use crate::transport::{Protocol, Streams};
use crate::units::{Bytes, Duration, Instant};

/// The HTTP version that loads a page.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Http {
    /// HTTP/1.1 (RFC 9112): up to six connections, one object at a time on each.
    #[serde(rename = "1.1")]
    One,
    /// HTTP/2 (RFC 9113): all objects concurrently over one TCP connection.
    #[default]
    #[serde(rename = "2")]
    Two,
    /// HTTP/3 (RFC 9114): all objects concurrently over one QUIC connection, each on its own
    /// stream.
    #[serde(rename = "3")]
    Three,
}

/// A web page: a browser requests its objects from a server. The load ends when all objects have
/// arrived.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Page {
    /// Page: a CSV file with one object per line and the columns `name`, `bytes`, `parent`,
    /// `parse_ms`, `think_ms`, `request_bytes`; the first two are required. The path is relative to
    /// the folder of the scenario file.
    pub page: Option<String>,
    /// Page: a built-in page instead of a file: "3gpp" (42 kB, 5 objects), "mobile-2024" (2311 KiB,
    /// 66 objects) or "desktop-2024" (2652 KiB, 71 objects). Default, without a file:
    /// "desktop-2024".
    pub shape: Option<Shape>,
    /// Page: HTTP version: "1.1" (six connections), "2" (one TCP connection) or "3" (one QUIC
    /// connection, with `protocol = "quic"`). Default: "2", over QUIC "3".
    pub http: Option<Http>,
    /// Page: maximum number of simultaneous connections of HTTP/1.1. Default: 6, as in browsers.
    pub connections: Option<u32>,
    /// Page, request: round trips of the TLS handshake after the TCP handshake: 1 (TLS 1.3, RFC
    /// 8446; default), 2 (TLS 1.2) or 0 (no TLS). QUIC's handshake includes TLS.
    pub tls: Option<u32>,
    /// Page: processing time of the server for an object, unless the file gives it. Default: 0.
    pub think: Option<Duration>,
    /// Page: bytes of a request including headers, unless the file gives them. Default: 350 (the
    /// model of 3GPP2; ns-3).
    pub request_size: Option<Bytes>,
    /// Page: time from the start until which an object counts as in time.
    pub deadline: Option<Duration>,
}

/// Connections of a browser to one host over HTTP/1.1.
const BROWSERS: u32 = 6;
const REQUEST: u32 = 350;
/// Maximum number of connections of a session.
const MOST_CONNECTIONS: u32 = 64;
const MOST_TLS: u32 = 10;

impl Page {
    /// The page as the engine runs it; `read` reads the file.
    ///
    /// # Errors
    /// The errors of `read`.
    pub fn loaded<E>(
        &self,
        read: impl FnOnce(&str) -> Result<Arc<PageContent>, E>,
    ) -> Result<PageLoad, E> {
        let content = match &self.page {
            Some(file) => read(file)?,
            None => Arc::new(self.shape.unwrap_or(Shape::Desktop2024).content()),
        };
        Ok(PageLoad { page: self.clone(), content })
    }

    /// Checks the keys, without the content of the file.
    pub(in crate::application) fn check(&self) -> Result<(), Fault> {
        if self.page.is_some() && self.shape.is_some() {
            let cure = "excludes `page`; give a file or a built-in shape, not both";
            return Err(Fault::new("shape", cure));
        }
        if self.page.as_ref().is_some_and(String::is_empty) {
            return Err(Fault::new("page", "is empty; name a CSV file of objects"));
        }
        if let Some(count) = self.connections {
            if self.http.is_some_and(|http| http != Http::One) {
                let cure = "applies only to http = \"1.1\"; HTTP/2 and HTTP/3 have one connection";
                return Err(Fault::new("connections", cure));
            }
            if !(1..=MOST_CONNECTIONS).contains(&count) {
                let message = format!("{count} connections; give 1 to {MOST_CONNECTIONS}");
                return Err(Fault::new("connections", message));
            }
        }
        if self.request_size == Some(Bytes(0)) {
            return Err(Fault::new("request_size", "a request of 0 bytes; give 1 B or more"));
        }
        check_tls(self.tls)
    }

    /// Checks that the transport supports the page.
    pub(in crate::application) fn check_over(&self, transport: &dyn Protocol) -> Result<(), Fault> {
        let streams = dialogues(transport)?;
        match (self.http, streams) {
            (Some(Http::Three), Streams::One) => {
                let cure = "HTTP/3 needs QUIC; give [transport] protocol = \"quic\"";
                Err(Fault::new("http", cure))
            }
            (Some(Http::One | Http::Two), Streams::Many) => {
                let cure = "QUIC carries HTTP/3; give http = \"3\", or protocol = \"tcp\"";
                Err(Fault::new("http", cure))
            }
            (None, Streams::Many) if self.connections.is_some() => Err(Fault::new(
                "connections",
                "applies only to http = \"1.1\"; HTTP/3 has one connection",
            )),
            _ => Ok(()),
        }
    }
}

/// Checks the number of TLS round trips.
pub(in crate::application) fn check_tls(tls: Option<u32>) -> Result<(), Fault> {
    match tls {
        Some(tls) if tls > MOST_TLS => {
            let message = format!("{tls} round trips; give 0 to {MOST_TLS}; TLS 1.3 has 1");
            Err(Fault::new("tls", message))
        }
        _ => Ok(()),
    }
}

/// The streams of a transport that carries requests and answers.
pub(in crate::application) fn dialogues(transport: &dyn Protocol) -> Result<Streams, Fault> {
    let streams = transport.dialogues().filter(|&streams| streams != Streams::Datagrams);
    streams.ok_or_else(|| {
        let message = format!(
            "needs data in both directions, which {} does not carry here; give TCP of profile \
             \"linux\", or QUIC",
            transport.name()
        );
        Fault::new("type", message)
    })
}

/// A web page with its objects, as the engine runs it.
///
/// ```
/// use clift::application::{Application, Http, Page, Shape};
/// let page = Page { shape: Some(Shape::ThreeGpp), http: Some(Http::One), ..Page::default() };
/// let load = page.loaded(|_| Err("no file is named")).unwrap();
/// assert_eq!((load.connections(), load.content().bytes()), (6, 41_742));
/// ```
#[derive(Clone, Debug)]
pub struct PageLoad {
    page: Page,
    content: Arc<PageContent>,
}

impl PageLoad {
    /// The objects of the page.
    pub fn content(&self) -> &PageContent {
        &self.content
    }
}

impl Application for PageLoad {
    fn check(&self) -> Result<(), Fault> {
        self.page.check()
    }

    fn check_over(&self, transport: &dyn Protocol) -> Result<(), Fault> {
        self.page.check_over(transport)
    }

    fn is_session(&self) -> bool {
        true
    }

    fn ends(&self) -> bool {
        true
    }

    fn connections(&self) -> usize {
        match self.page.http {
            Some(Http::One) => self.page.connections.unwrap_or(BROWSERS) as usize,
            _ => self.page.connections.map_or(1, |count| count as usize),
        }
    }

    fn session(&self, start: Instant, streams: Streams) -> Option<Box<dyn Session>> {
        let Page { think, request_size, deadline, tls, .. } = self.page;
        let http = match (self.page.http, streams) {
            (_, Streams::Many) => Http::Three,
            (Some(http), _) => http,
            (None, Streams::One) if self.page.connections.is_some() => Http::One,
            (None, Streams::One | Streams::Datagrams) => Http::Two,
        };
        Some(Box::new(Browser::new(
            Arc::clone(&self.content),
            super::browser::PageOptions {
                http,
                connections: self.connections(),
                tls: tls.unwrap_or(1),
                think: think.unwrap_or_default(),
                request: u64::from(request_size.map_or(REQUEST, |bytes| bytes.0)),
                deadline,
            },
            start,
        )))
    }
}
