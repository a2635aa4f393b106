//! Macros for types that serde's own attributes cannot read without losing the path of a fault.
//!
//! serde reads an internally tagged enum or a flattened struct from a copy of the table, and the
//! copy has no positions. These macros instead request such types from the deserialiser by a
//! special name, and the deserialiser of this module reads them from the table itself. For
//! serialisation and the JSON Schema, the same types derive with `#[serde(tag = "...")]` and
//! `#[serde(flatten)]`.

use std::cell::Cell;
use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, SeqAccess, Visitor};

/// The name that requests a struct of parts from the deserialiser.
pub const PARTS: &str = "parts of a section";

/// The tag and the default variant encoded in the name of a tagged enum.
pub(super) fn tag_of(name: &'static str) -> Option<(&'static str, Option<&'static str>)> {
    let rest = name.strip_prefix("tag ")?;
    Some(match rest.split_once('=') {
        Some((tag, usual)) => (tag, Some(usual)),
        None => (rest, None),
    })
}

/// Implements `Deserialize` for an enum whose variant is named by one key of its table; each
/// variant holds one struct.
///
/// ```
/// use clift::config::{self, Value};
/// #[derive(Debug, PartialEq, serde::Deserialize)]
/// struct Fixed {
///     delay: f64,
/// }
/// #[derive(Debug, PartialEq, serde::Deserialize)]
/// struct Drawn {
///     mean: f64,
/// }
/// #[derive(Debug, PartialEq)]
/// enum Delay {
///     Fixed(Fixed),
///     Drawn(Drawn),
/// }
/// clift::tagged!(Delay by "law" { "fixed" => Fixed(Fixed), "drawn" => Drawn(Drawn) });
///
/// let drawn = [("law", Value::text("drawn"))];
/// let fault = config::read::<Delay>(&Value::table(drawn)).unwrap_err().to_string();
/// assert_eq!(fault, "missing key `mean`");
/// let fixed = [("delay", Value::from(config::Node::Float(2.0))), ("law", Value::text("fixed"))];
/// assert_eq!(config::read(&Value::table(fixed)), Ok(Delay::Fixed(Fixed { delay: 2.0 })));
/// ```
#[macro_export]
macro_rules! tagged {
    ($type:ident by $tag:literal $(usual $usual:literal)? $(or $own:ident($own_type:ty))? {
        $($name:literal => $variant:ident($inner:ty)),+ $(,)?
    }) => {
        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                const NAMES: &[&str] = &[$($name),+];
                struct Choice;
                impl<'de> ::serde::de::Visitor<'de> for Choice {
                    type Value = $type;

                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str("a section with keys")
                    }

                    fn visit_enum<A: ::serde::de::EnumAccess<'de>>(
                        self,
                        data: A,
                    ) -> Result<$type, A::Error> {
                        use ::serde::de::VariantAccess;
                        let (name, rest) = data.variant::<String>()?;
                        match name.as_str() {
                            $($name => rest.newtype_variant().map($type::$variant),)+
                            _ => {
                                // User-defined variants, registered by a program.
                                $(if let Some(seed) = <$own_type>::named(&name) {
                                    return rest.newtype_variant_seed(seed).map($type::$own);
                                })?
                                Err(::serde::de::Error::unknown_variant(&name, NAMES))
                            }
                        }
                    }
                }
                let elsewhere = |field: &str| {
                    [$(($name, $crate::config::fields_of::<$inner>())),+]
                        .into_iter()
                        .find(|(_, fields)| fields.contains(&field))
                        .map(|(name, _)| name)
                };
                let _scope = $crate::config::OtherVariants::enter($tag, elsewhere);
                let names: &'static [&'static str] = NAMES;
                $(let names = <$own_type>::beside(names);)?
                from.deserialize_enum(concat!("tag ", $tag $(, "=", $usual)?), names, Choice)
            }
        }
    };
}

/// Implements `Deserialize` for a struct whose fields are read from one table: each field takes the
/// keys that it knows, and a key that no field knows is a fault.
///
/// ```
/// use clift::config::{self, Node, Value};
/// #[derive(Debug, PartialEq, serde::Deserialize)]
/// struct Slots {
///     slots: u64,
/// }
/// #[derive(Debug, PartialEq, serde::Deserialize)]
/// struct Draw {
///     seed: u64,
/// }
/// #[derive(Debug, PartialEq)]
/// struct Channel {
///     slots: Slots,
///     draw: Draw,
/// }
/// clift::parts!(Channel { slots, draw });
///
/// let one = || Value::from(Node::Integer(1));
/// let channel = config::read::<Channel>(&Value::table([("seed", one()), ("slots", one())])).unwrap();
/// assert_eq!((channel.slots.slots, channel.draw.seed), (1, 1));
/// let table = Value::table([("seed", one()), ("slots", one()), ("sed", one())]);
/// let fault = config::read::<Channel>(&table).unwrap_err().to_string();
/// assert_eq!(fault, "sed: unknown key, one of slots, seed (did you mean seed?)");
/// ```
#[macro_export]
macro_rules! parts {
    ($type:ident { $($field:ident),+ $(,)? }) => {
        impl<'de> ::serde::Deserialize<'de> for $type {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Parts;
                impl<'de> ::serde::de::Visitor<'de> for Parts {
                    type Value = $type;

                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str("a section with keys")
                    }

                    fn visit_seq<A: ::serde::de::SeqAccess<'de>>(
                        self,
                        mut parts: A,
                    ) -> Result<$type, A::Error> {
                        // Every part is read before any error returns: `fields_of` collects the
                        // keys of all parts, and each of its reads fails.
                        $(let $field = parts.next_element();)+
                        $(
                            let $field = $field?.ok_or_else(|| {
                                <A::Error as ::serde::de::Error>::missing_field(stringify!($field))
                            })?;
                        )+
                        Ok($type { $($field),+ })
                    }
                }
                let count = [$(stringify!($field)),+].len();
                from.deserialize_tuple_struct($crate::config::PARTS, count, Parts)
            }
        }
    };
}

/// The counters of two sources together: sums, but for those of which the larger counts.
///
/// ```ignore
/// together!(self, other => dropped, delivered; most longest_queue)
/// ```
macro_rules! together {
    ($one:expr, $other:expr => $($sum:ident),+ $(; most $most:ident)? $(; and $field:ident: $value:expr)?) => {
        Self {
            $($sum: $one.$sum + $other.$sum,)+
            $($most: $one.$most.max($other.$most),)?
            $($field: $value,)?
        }
    };
}
pub(crate) use together;

/// Methods of a trait that only call the same method of something that is held.
///
/// ```ignore
/// impl Link for Behind {
///     delegate! { self.inner =>
///         fn has_room(&mut self, now: Instant, size: Bytes) -> bool;
///     }
/// }
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! delegate {
    ($to:expr =>) => {};
    ($to:expr => fn $name:ident(
        &$this:ident $(, $argument:ident: $type:ty)*
    ) $(-> $result:ty)?; $($rest:tt)*) => {
        fn $name(&$this $(, $argument: $type)*) $(-> $result)? {
            $to.$name($($argument),*)
        }
        $crate::delegate! { $to => $($rest)* }
    };
    ($to:expr => fn $name:ident(
        &mut $this:ident $(, $argument:ident: $type:ty)*
    ) $(-> $result:ty)?; $($rest:tt)*) => {
        fn $name(&mut $this $(, $argument: $type)*) $(-> $result)? {
            $to.$name($($argument),*)
        }
        $crate::delegate! { $to => $($rest)* }
    };
}

/// Returns the variant to which a key belongs.
pub(super) type VariantLookup = fn(&str) -> Option<&'static str>;

thread_local! {
    static ELSEWHERE: Cell<Option<(&'static str, VariantLookup)>> = const { Cell::new(None) };
}

/// Scope in which an enum is read; it tells to which other variant of that enum a key belongs.
#[derive(Debug)]
pub struct OtherVariants(Option<(&'static str, VariantLookup)>);

impl OtherVariants {
    /// Enters the scope, which lasts until the guard is dropped.
    pub fn enter(tag: &'static str, knows: VariantLookup) -> Self {
        Self(ELSEWHERE.replace(Some((tag, knows))))
    }

    /// The tag and the lookup of the enum that is being read.
    pub(super) fn now() -> Option<(&'static str, VariantLookup)> {
        ELSEWHERE.get()
    }
}

impl Drop for OtherVariants {
    fn drop(&mut self) {
        ELSEWHERE.set(self.0);
    }
}

/// The keys from which a type is read.
pub fn fields_of<T: Deserialize<'static>>() -> Vec<&'static str> {
    let mut fields = Vec::new();
    // Always fails: the probe has no value.
    let _ = T::deserialize(Probe(&mut fields));
    fields
}

/// Records the fields that a type requests.
struct Probe<'f>(&'f mut Vec<&'static str>);

/// The error of [`Probe`], which has no value.
#[derive(Debug)]
struct NoValue;

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = NoValue;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NoValue> {
        Err(NoValue)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, NoValue> {
        self.0.extend(fields);
        Err(NoValue)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, NoValue> {
        visitor.visit_seq(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, NoValue> {
        self.0.extend(tag_of(name).map(|(tag, _)| tag));
        Err(NoValue)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple map identifier ignored_any
    }
}

impl<'de> SeqAccess<'de> for Probe<'_> {
    type Error = NoValue;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, NoValue> {
        seed.deserialize(Probe(self.0)).map(Some)
    }
}

impl de::Error for NoValue {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

impl fmt::Display for NoValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no value")
    }
}

impl std::error::Error for NoValue {}
