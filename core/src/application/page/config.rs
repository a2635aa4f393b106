//! A web page as a configuration names it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::browser::Browser;
use super::content::PageContent;
use super::shape::Shape;
use crate::application::session::InSession;
use crate::application::{Application, Session, Traffic};
use crate::config::Fault;
use crate::transport::{Protocol, Streams};
use crate::units::{Bytes, Duration, Instant};

/// The HTTP that a page is loaded by.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Http {
    /// HTTP/1.1 (RFC 9112): up to six connections, one object at a time on each.
    #[serde(rename = "1.1")]
    One,
    /// HTTP/2 (RFC 9113): all objects at once over one TCP connection.
    #[default]
    #[serde(rename = "2")]
    Two,
    /// HTTP/3 (RFC 9114): all objects at once over one QUIC connection, a stream each.
    #[serde(rename = "3")]
    Three,
}

/// A web page: a browser asks for its objects, a server answers. The load is over when all have
/// arrived.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default)]
pub struct Page {
    /// Page: a CSV file with an object a line, in columns `name`, `bytes`, `parent`, `parse_ms`,
    /// `think_ms`, `request_bytes`, of which the first two must be there; relative to the folder of
    /// the scenario file.
    pub page: Option<String>,
    /// Page: in place of a file one that is built in: "3gpp" (42 kB, 5 objects), "mobile-2024" (2311
    /// KiB, 66 objects), "desktop-2024" (2652 KiB, 71 objects); the last unless either is given.
    pub shape: Option<Shape>,
    /// Page: "1.1" (six connections), "2" (one TCP connection) or "3" (one QUIC connection, with
    /// `protocol = "quic"`). "2" unless set, "3" over QUIC.
    pub http: Option<Http>,
    /// Page: most connections at once of HTTP/1.1; 6, as browsers have it, unless set.
    pub connections: Option<u32>,
    /// Page, request: round trips of TLS after the handshake of TCP; 1 (TLS 1.3, RFC 8446) unless
    /// set, 2 as TLS 1.2 had them, 0 without TLS. QUIC has its own in its handshake.
    pub tls: Option<u32>,
    /// Page: time that the server takes for an object, unless the file has it; 0 unless set.
    pub think: Option<Duration>,
    /// Page: bytes of a request with its headers, unless the file has them; 350 unless set (the
    /// model of 3GPP2; ns-3).
    pub request_size: Option<Bytes>,
    /// Page: until when, from the start, an object counts as in time.
    pub deadline: Option<Duration>,
}

/// Connections of a browser to one host over HTTP/1.1.
const BROWSERS: u32 = 6;
const REQUEST: u32 = 350;
/// As many as a session may have.
const MOST_CONNECTIONS: u32 = 64;
const MOST_TLS: u32 = 10;

impl Page {
    /// What a run takes, once a file has been read.
    ///
    /// # Errors
    /// What `read` says of the file.
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

    /// Whether there can be such a page, whatever stands in its file.
    pub(in crate::application) fn check(&self) -> Result<(), Fault> {
        if self.page.is_some() && self.shape.is_some() {
            let cure = "stands beside `page`; give a file or a built-in shape, not both";
            return Err(Fault::new("shape", cure));
        }
        if self.page.as_ref().is_some_and(String::is_empty) {
            return Err(Fault::new("page", "is empty; name a CSV file of objects"));
        }
        if let Some(count) = self.connections {
            if self.http.is_some_and(|http| http != Http::One) {
                let cure = "is for http = \"1.1\"; HTTP/2 and HTTP/3 have one connection";
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

    /// Whether it goes over such a transport.
    pub(in crate::application) fn check_over(&self, transport: &dyn Protocol) -> Result<(), Fault> {
        let streams = dialogues(transport)?;
        match (self.http, streams) {
            (Some(Http::Three), Streams::One) => {
                let cure = "HTTP/3 goes over QUIC; give [transport] protocol = \"quic\"";
                Err(Fault::new("http", cure))
            }
            (Some(Http::One | Http::Two), Streams::Many) => {
                let cure = "QUIC carries HTTP/3; give http = \"3\", or protocol = \"tcp\"";
                Err(Fault::new("http", cure))
            }
            (None, Streams::Many) if self.connections.is_some() => {
                Err(Fault::new("connections", "is for http = \"1.1\"; HTTP/3 has one connection"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether there can be so many round trips of TLS.
pub(in crate::application) fn check_tls(tls: Option<u32>) -> Result<(), Fault> {
    match tls {
        Some(tls) if tls > MOST_TLS => {
            let message = format!("{tls} round trips; give 0 to {MOST_TLS}, 1 as TLS 1.3 has it");
            Err(Fault::new("tls", message))
        }
        _ => Ok(()),
    }
}

/// The streams of a transport that carries requests and answers.
pub(in crate::application) fn dialogues(transport: &dyn Protocol) -> Result<Streams, Fault> {
    transport.dialogues().ok_or_else(|| {
        let message = format!(
            "asks and answers, which {} here does not carry both ways; give TCP of profile \
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
    /// Its objects.
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

    fn start(&self, _: Instant, _: Bytes) -> Box<dyn Traffic> {
        Box::new(InSession)
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
            (None, Streams::One) => Http::Two,
        };
        Some(Box::new(Browser::new(
            Arc::clone(&self.content),
            super::browser::Manner {
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
