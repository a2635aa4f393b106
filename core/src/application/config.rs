//! Configurations of applications, by name.

use std::convert::Infallible;
use std::sync::Arc;

use schemars::{JsonSchema, Schema};
use serde::Serialize;

use super::{
    Application, Bulk, Conference, ConstantRate, File, OwnApplication, Page, PageContent, Requests,
    Video, Voice,
};
use crate::config::{Fault, list_built_in};
use crate::tagged;
use crate::transport::{FlowControl, Protocol};

/// The registry: one row for each application, beginning with the default.
macro_rules! applications {
    ($($name:literal => $kind:ident),+ $(,)?) => {
        /// Application of a flow: "bulk" (unlimited data), "file" (a given number of bytes),
        /// "constant rate" (messages), "page" (a web page), "request" (requests and answers),
        /// "video" (a stream of segments), "voice" (a call) or "conference" (video in real time).
        #[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
        #[serde(tag = "type")]
        #[schemars(rename = "Application", transform = as_it_is_read)]
        #[allow(missing_docs)]
        pub enum ApplicationConfig {
            $(#[serde(rename = $name)] $kind($kind),)+
            /// An application registered from outside the core.
            #[serde(untagged)]
            #[schemars(skip)]
            Own(OwnApplication),
        }

        /// The names of the built-in applications.
        pub(super) const NAMES: &[&str] = &[$($name),+];

        tagged!(ApplicationConfig by "type" usual "bulk" or Own(OwnApplication) { $($name => $kind($kind)),+ });

        impl ApplicationConfig {
            /// Makes the application; `read` reads the file of a page.
            ///
            /// # Errors
            /// The errors of `read`.
            pub fn application<E>(
                &self,
                read: impl FnOnce(&str) -> Result<Arc<PageContent>, E>,
            ) -> Result<Arc<dyn Application>, E> {
                match self {
                    $(Self::$kind(own) => own.made(read),)+
                    Self::Own(own) => Ok(own.application()),
                }
            }
        }
    };
}

applications! {
    "bulk" => Bulk,
    "file" => File,
    "constant rate" => ConstantRate,
    "page" => Page,
    "request" => Requests,
    "video" => Video,
    "voice" => Voice,
    "conference" => Conference,
}

/// A configuration from which an application can be made.
trait Made {
    fn made<E>(
        &self,
        read: impl FnOnce(&str) -> Result<Arc<PageContent>, E>,
    ) -> Result<Arc<dyn Application>, E>;
}

impl<A: Application + Clone + 'static> Made for A {
    fn made<E>(
        &self,
        _: impl FnOnce(&str) -> Result<Arc<PageContent>, E>,
    ) -> Result<Arc<dyn Application>, E> {
        Ok(Arc::new(self.clone()))
    }
}

impl Page {
    fn made<E>(
        &self,
        read: impl FnOnce(&str) -> Result<Arc<PageContent>, E>,
    ) -> Result<Arc<dyn Application>, E> {
        Ok(Arc::new(self.loaded(read)?))
    }
}

impl Default for ApplicationConfig {
    fn default() -> Self {
        Self::Bulk(Bulk)
    }
}

impl ApplicationConfig {
    /// Checks the configuration for this transport.
    ///
    /// # Errors
    /// A [`Fault`] with the cause and a correction.
    pub fn check(&self, transport: &dyn Protocol) -> Result<(), Fault> {
        let application = self.parameters();
        if application.never_ends() && transport.flow_control() == FlowControl::None {
            let cure = "datagrams have no flow control; give type = \"constant rate\" or \"file\"";
            return Err(Fault::new("type", cure));
        }
        application.check()?;
        application.check_over(transport)
    }

    /// True if the application ends before the run does.
    pub fn ends(&self) -> bool {
        self.parameters().ends()
    }

    /// Whether the application is a dialogue, in which both ends send data.
    pub fn is_session(&self) -> bool {
        self.parameters().is_session()
    }

    /// The application with an empty page instead of a file, for properties that do not depend on
    /// the page.
    fn parameters(&self) -> Arc<dyn Application> {
        let Ok(application) =
            self.application(|_| Ok::<_, Infallible>(Arc::new(PageContent::empty())));
        application
    }
}

/// Adapts the schema to the reader, which reads a section without `type` as the first application.
fn as_it_is_read(schema: &mut Schema) {
    list_built_in(schema);
    let first = schema.get_mut("oneOf").and_then(|variants| variants.get_mut(0));
    first.and_then(|first| first.as_object_mut()).map(|first| first.remove("required"));
}
