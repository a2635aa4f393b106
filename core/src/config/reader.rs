//! Reads a configuration from a tree of values.

use std::cell::{Cell, RefCell};

use serde::de::value::StrDeserializer;
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};

use super::fault::Fault;
use super::macros::{OtherVariants, PARTS, VariantLookup, tag_of};
use super::tree::{Node, Table, Value};

/// Reads a configuration.
///
/// # Errors
/// The first wrong value: its path and what to do.
pub fn read<'de, T: Deserialize<'de>>(value: &'de Value) -> Result<T, Fault> {
    T::deserialize(Reader { value, shared: None })
}

/// Deserializes one value.
#[derive(Clone, Copy)]
struct Reader<'de, 's> {
    value: &'de Value,
    /// The table shared with the other parts of a struct ([`crate::parts!`]): each part takes the
    /// keys that it knows.
    shared: Option<&'s Shared<'de>>,
}

/// A table from which several types are read.
struct Shared<'de> {
    table: &'de Table,
    /// Per entry: whether a type has taken it.
    taken: RefCell<Vec<bool>>,
    /// All keys that some type knows.
    known: RefCell<Vec<&'static str>>,
    /// The tag, and a lookup of keys that belong to variants other than the chosen one.
    elsewhere: Cell<Option<(&'static str, VariantLookup)>>,
    /// True if the key that chooses the variant is missing.
    tag_missing: Cell<bool>,
}

impl<'de> Shared<'de> {
    fn new(table: &'de Table) -> Self {
        let taken = RefCell::new(vec![false; table.iter().count()]);
        Self {
            table,
            taken,
            known: RefCell::new(Vec::with_capacity(32)),
            elsewhere: Cell::new(None),
            tag_missing: Cell::new(false),
        }
    }

    /// Takes the entries whose keys are in `fields`.
    #[inline(never)]
    fn take(&self, fields: &[&'static str]) -> Vec<(&'de str, &'de Value)> {
        self.known.borrow_mut().extend(fields);
        let mut taken = self.taken.borrow_mut();
        let entries = self.table.iter().zip(taken.iter_mut());
        entries
            .filter(|((key, _), _)| fields.contains(key))
            .map(|(entry, taken)| {
                *taken = true;
                entry
            })
            .collect()
    }

    /// Returns `made`, unless a key of the table was not taken. Such a key may be a misspelling of
    /// a missing one, so it is reported instead of the missing key.
    fn finished<T>(&self, made: Result<T, Fault>) -> Result<T, Fault> {
        match made {
            Err(fault) if !fault.path().is_empty() || self.tag_missing.get() => Err(fault),
            made => self.finish().and(made),
        }
    }

    /// Fails if a key was not taken.
    fn finish(&self) -> Result<(), Fault> {
        let taken = self.taken.borrow();
        match self.table.iter().zip(taken.iter()).find(|(_, taken)| !**taken) {
            None => Ok(()),
            Some(((key, _), _)) => Err(match self.elsewhere(key) {
                Some((tag, variant)) => {
                    let cure =
                        format!("belongs to {tag} = \"{variant}\"; remove it, or change `{tag}`");
                    Fault::at(cure).within_key(key)
                }
                None => Fault::unknown_key(key, &self.known.borrow()),
            }),
        }
    }

    fn elsewhere(&self, key: &str) -> Option<(&'static str, &'static str)> {
        let (tag, knows) = self.elsewhere.get()?;
        Some((tag, knows(key)?))
    }
}

impl<'de> Reader<'de, '_> {
    /// The entries of a struct. One function for every struct: configurations have hundreds, and
    /// what is compiled for each of them is a tenth of the core.
    #[inline(never)]
    fn entries(
        &self,
        fields: &[&'static str],
        expected: &dyn de::Expected,
    ) -> Result<Entries<'de>, Fault> {
        Ok(Entries::new(match self.shared {
            Some(shared) => shared.take(fields),
            None => self.table(expected)?.iter().collect(),
        }))
    }

    #[inline(never)]
    fn table(&self, expected: &dyn de::Expected) -> Result<&'de Table, Fault> {
        self.value.as_table().ok_or_else(|| de::Error::invalid_type(self.unexpected(), expected))
    }

    fn unexpected(&self) -> Unexpected<'de> {
        match &self.value.node {
            Node::Bool(on) => Unexpected::Bool(*on),
            Node::Integer(number) => integer(*number),
            Node::Float(number) => Unexpected::Float(*number),
            Node::Text(text) => Unexpected::Str(text),
            Node::List(_) => Unexpected::Seq,
            Node::Table(_) => Unexpected::Map,
        }
    }
}

fn integer(number: i128) -> Unexpected<'static> {
    match (u64::try_from(number), i64::try_from(number)) {
        (Ok(number), _) => Unexpected::Unsigned(number),
        (_, Ok(number)) => Unexpected::Signed(number),
        _ => Unexpected::Other("a number out of range"),
    }
}

impl<'de> Deserializer<'de> for Reader<'de, '_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.value.node {
            Node::Bool(on) => visitor.visit_bool(*on),
            Node::Integer(number) => match (u64::try_from(*number), i64::try_from(*number)) {
                (Ok(number), _) => visitor.visit_u64(number),
                (_, Ok(number)) => visitor.visit_i64(number),
                _ => {
                    let written = format!("integer `{number}`");
                    Err(de::Error::invalid_value(Unexpected::Other(&written), &visitor))
                }
            },
            Node::Float(number) => visitor.visit_f64(*number),
            Node::Text(text) => visitor.visit_borrowed_str(text),
            Node::List(list) => visitor.visit_seq(Items { list, next: 0 }),
            Node::Table(table) => visitor.visit_map(Entries::new(table.iter().collect())),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let entries = self.entries(fields, &visitor)?;
        visitor.visit_map(entries)
    }

    /// A struct without fields is read from an empty section.
    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if self.shared.is_none()
            && let Some((key, _)) = self.table(&visitor)?.iter().next()
        {
            return Err(Fault::unknown_key(key, &[]));
        }
        visitor.visit_unit()
    }

    /// A struct of parts: each part is read from the same table.
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _len: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if name != PARTS {
            return self.deserialize_any(visitor);
        }
        if self.shared.is_some() {
            return visitor.visit_seq(Parts(self));
        }
        let shared = Shared::new(self.table(&visitor)?);
        shared
            .finished(visitor.visit_seq(Parts(Reader { value: self.value, shared: Some(&shared) })))
    }

    /// A choice: named by the text itself, or by the tag of the table.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let Some((tag, usual)) = tag_of(name) else {
            return match &self.value.node {
                Node::Text(text) => visitor.visit_enum(StrDeserializer::<Fault>::new(text)),
                _ => Err(de::Error::invalid_type(self.unexpected(), &visitor)),
            };
        };
        let own;
        let (table, shared) = match self.shared {
            Some(shared) => (shared.table, shared),
            None => {
                own = Shared::new(self.table(&visitor)?);
                (own.table, &own)
            }
        };
        shared.take(&[tag]);
        shared.elsewhere.set(OtherVariants::now());
        let variant = match table.get(tag).map(|value| &value.node) {
            Some(Node::Text(text)) => text.as_str(),
            Some(_) => {
                return Err(Fault::new(tag, format!("give one of {}", variants.join(", "))));
            }
            None => usual.ok_or_else(|| {
                shared.tag_missing.set(true);
                Fault::at(format!("missing key `{tag}`: give one of {}", variants.join(", ")))
            })?,
        };
        if !variants.contains(&variant) {
            let unknown: Fault = de::Error::unknown_variant(variant, variants);
            return Err(unknown.within(tag));
        }
        let value = Reader { value: self.value, shared: Some(shared) };
        let made = visitor.visit_enum(ChosenVariant { variant, value });
        if self.shared.is_some() { made } else { shared.finished(made) }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit seq tuple map identifier
    }
}

/// The parts of a struct; each sees the whole table.
struct Parts<'de, 's>(Reader<'de, 's>);

impl<'de> SeqAccess<'de> for Parts<'de, '_> {
    type Error = Fault;

    #[inline(never)]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        seed.deserialize(self.0).map(Some)
    }
}

/// The elements of a list.
struct Items<'de> {
    list: &'de [Value],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        let Some(value) = self.list.get(self.next) else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        let made = seed.deserialize(Reader { value, shared: None });
        made.map(Some).map_err(|fault| fault.within(&index.to_string()))
    }
}

/// The entries of a table.
struct Entries<'de> {
    entries: std::vec::IntoIter<(&'de str, &'de Value)>,
    key: &'de str,
    value: Option<&'de Value>,
}

impl<'de> Entries<'de> {
    fn new(entries: Vec<(&'de str, &'de Value)>) -> Self {
        Self { entries: entries.into_iter(), key: "", value: None }
    }

    #[inline(never)]
    fn next(&mut self) -> Option<&'de str> {
        let (key, value) = self.entries.next()?;
        (self.key, self.value) = (key, Some(value));
        Some(key)
    }
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        let Some(key) = self.next() else { return Ok(None) };
        seed.deserialize(de::value::BorrowedStrDeserializer::new(key)).map(Some)
    }

    #[inline(never)]
    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        let value = self.value.take().ok_or_else(|| Fault::at("a key without a value"))?;
        let made = seed.deserialize(Reader { value, shared: None });
        made.map_err(|fault| fault.within_key(self.key))
    }
}

/// The variant named by the tag, read from the rest of the table.
struct ChosenVariant<'de, 's> {
    variant: &'de str,
    value: Reader<'de, 's>,
}

impl<'de, 's> EnumAccess<'de> for ChosenVariant<'de, 's> {
    type Error = Fault;
    type Variant = Reader<'de, 's>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self::Variant), Fault> {
        let variant = seed.deserialize(StrDeserializer::<Fault>::new(self.variant))?;
        Ok((variant, self.value))
    }
}

impl<'de> VariantAccess<'de> for Reader<'de, '_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_struct("", fields, visitor)
    }
}
