//! Enums of names: what is chosen by a word.

/// An enum of which each variant has a name, by which it is read and written.
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
            /// Names and what they name.
            pub const ALL: [(&'static str, Self); [$($name),+].len()] =
                [$(($name, Self::$variant)),+];

            /// Its name.
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
