//! Enums whose variants have names in configurations.

/// Defines an enum whose variants are read and written by name.
macro_rules! named {
    (
        $(#[$doc:meta])*
        pub enum $type:ident { $($(#[$of:meta])* $variant:ident = $name:literal),+ $(,)? }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        #[derive(schemars::JsonSchema, serde::Deserialize, serde::Serialize)]
        pub enum $type {
            $($(#[$of])* #[serde(rename = $name)] $variant),+
        }

        impl $type {
            /// All names and their variants.
            pub const ALL: [(&'static str, Self); [$($name),+].len()] =
                [$(($name, Self::$variant)),+];

            /// The name of the variant.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = crate::config::Fault;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                crate::config::read(&crate::config::Value::text(name))
            }
        }
    };
}
pub(super) use named;
