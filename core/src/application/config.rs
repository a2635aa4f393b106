//! The applications by name.

use std::sync::Arc;

use schemars::{JsonSchema, Schema};
use serde::Serialize;

use super::{Application, Bulk, ConstantRate, File, OwnApplication};
use crate::config::Fault;
use crate::tagged;
use crate::transport::{FlowControl, Protocol};

/// The registry: a row for each application, the one that needs no keys first.
macro_rules! applications {
    ($($name:literal => $kind:ident),+ $(,)?) => {
        /// What drives a flow: "bulk" (always more to send), "file" (so many bytes) or "constant
        /// rate" (messages).
        #[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
        #[serde(tag = "type")]
        #[schemars(rename = "Application", transform = as_it_is_read)]
        #[allow(missing_docs)]
        pub enum ApplicationConfig {
            $(#[serde(rename = $name)] $kind($kind),)+
            /// One from outside the core.
            #[serde(untagged)]
            #[schemars(skip)]
            Own(OwnApplication),
        }

        /// The names of the core's own.
        pub(super) const NAMES: &[&str] = &[$($name),+];

        tagged!(ApplicationConfig by "type" usual "bulk" or Own(OwnApplication) { $($name => $kind($kind)),+ });

        impl ApplicationConfig {
            /// The application that it names.
            pub fn application(&self) -> Arc<dyn Application> {
                match self {
                    $(Self::$kind(own) => Arc::new(*own),)+
                    Self::Own(own) => own.application(),
                }
            }
        }
    };
}

applications! {
    "bulk" => Bulk,
    "file" => File,
    "constant rate" => ConstantRate,
}

impl Default for ApplicationConfig {
    fn default() -> Self {
        Self::Bulk(Bulk)
    }
}

impl ApplicationConfig {
    /// Whether there can be such an application over a transport.
    ///
    /// # Errors
    /// A [`Fault`] that says what is wrong, and what to give instead.
    pub fn check(&self, transport: &dyn Protocol) -> Result<(), Fault> {
        let application = self.application();
        if application.never_ends() && transport.flow_control() == FlowControl::None {
            let cure = "datagrams have no flow control; give type = \"constant rate\" or \"file\"";
            return Err(Fault::new("type", cure));
        }
        application.check()
    }
}

/// Has the schema do as the reader does, which knows the keys of each application and takes a
/// section without a name for the first.
fn as_it_is_read(schema: &mut Schema) {
    // Those registered by a program, which are not in it, would make it a choice of any.
    let told = std::mem::take(schema.ensure_object());
    let one_of = |key: String| if key == "anyOf" { "oneOf".to_owned() } else { key };
    *schema.ensure_object() = told.into_iter().map(|(key, value)| (one_of(key), value)).collect();
    let variants = schema.get_mut("oneOf").and_then(|variants| variants.as_array_mut());
    for (index, variant) in variants.into_iter().flatten().enumerate() {
        if let Some(variant) = variant.as_object_mut() {
            variant.insert("unevaluatedProperties".to_owned(), false.into());
            if index == 0 {
                variant.remove("required");
            }
        }
    }
}
