//! What the headers of Parquet files claim; they are structures of Thrift's compact protocol.

/// True if lists, or the children of an element of the schema, claim to be more than there are bytes,
/// or a number more than 64 bits, which only damage explains: each element takes a byte or more. The
/// bytes start with a structure of these fields.
///
/// The crate `parquet` reserves memory for the children, and it passes over the elements of an
/// unknown list one by one, those of truth values without reading a byte: 2^31 of them take
/// seconds, a list of such lists hours. It also reads known fields without looking at their kinds,
/// so that one of a wrong kind would hide what follows: that counts as damage, too.
pub(super) fn claims_too_much(fields: &[Value], bytes: &[u8]) -> bool {
    let most = bytes.len() as u64;
    let mut structure = Structure { rest: bytes, most, elements: most };
    matches!(structure.fields(fields, DEPTH), Err(Stop::Claim))
}

/// Nesting beyond which `parquet` gives up, too.
const DEPTH: u8 = 64;

/// A value as Parquet's Thrift definition has it.
#[derive(Clone, Copy)]
pub(super) enum Value {
    /// Not known, or a truth value, whose kind is looked at.
    Any,
    Byte,
    /// Of 16, 32 or 64 bits, which are written alike.
    Number,
    /// Elements that follow in the schema.
    Children,
    Double,
    Binary,
    List(&'static Self),
    /// A structure or a union, by its fields from number 1 on.
    Fields(&'static [Self]),
}

use Value::{Any, Binary, Byte, Children, Double, Fields, List, Number};

/// The footer of a file.
pub(super) const FILE: &[Value] = &[
    Number,
    List(&Fields(ELEMENT)),
    Number,
    List(&Fields(ROW_GROUP)),
    List(&Fields(KEY_AND_VALUE)),
    Binary,
    List(&Fields(&[EMPTY; 3])),
];
const KEY_AND_VALUE: &[Value] = &[Binary, Binary];
const EMPTY: Value = Fields(&[]);

const ELEMENT: &[Value] =
    &[Number, Number, Number, Binary, Children, Number, Number, Number, Number, Fields(LOGICAL)];
const LOGICAL: &[Value] = &[
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    Fields(&[Number, Number]),
    EMPTY,
    Fields(TIME),
    Fields(TIME),
    EMPTY,
    Fields(&[Byte, Any]),
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    EMPTY,
    Fields(&[Byte]),
    Fields(&[Binary]),
    Fields(&[Binary, Number]),
    EMPTY,
];
const TIME: &[Value] = &[Any, Fields(&[EMPTY; 3])];

const ROW_GROUP: &[Value] =
    &[List(&Fields(CHUNK)), Number, Number, List(&Fields(&[Number])), Number, Number, Number];
const CHUNK: &[Value] =
    &[Binary, Number, Fields(COLUMN), Number, Number, Number, Number, Any, Binary];
const COLUMN: &[Value] = &[
    Number,
    List(&Number),
    List(&Binary),
    Number,
    Number,
    Number,
    Number,
    List(&Fields(KEY_AND_VALUE)),
    Number,
    Number,
    Number,
    Fields(STATISTICS),
    List(&Fields(&[Number; 3])),
    Number,
    Number,
    Fields(&[Number, List(&Number), List(&Number)]),
    Fields(&[Fields(&[Double; 8]), List(&Number)]),
];
const STATISTICS: &[Value] = &[Binary, Binary, Number, Number, Binary, Binary, Any, Any, Number];

/// The header of a page.
pub(super) const PAGE: &[Value] = &[
    Number,
    Number,
    Number,
    Number,
    Fields(&[Number, Number, Number, Number, Fields(STATISTICS)]),
    EMPTY,
    Fields(&[Number, Number]),
    Fields(&[Number, Number, Number, Number, Number, Number, Any, Fields(STATISTICS)]),
];

impl Value {
    /// True if a value of this kind, by its number in the compact protocol, is read as it was written.
    fn is_of(self, kind: u8) -> bool {
        match self {
            Any => true,
            Byte => kind == 3,
            Number | Children => matches!(kind, 4..=6),
            Double => kind == 7,
            Binary => kind == 8,
            List(_) => kind == 9,
            Fields(_) => kind == 12,
        }
    }
}

enum Stop {
    /// The bytes end, or are no structure: `parquet` says what is wrong.
    End,
    Claim,
}

struct Structure<'a> {
    rest: &'a [u8],
    most: u64,
    /// Elements that the lists may still have.
    elements: u64,
}

impl Structure<'_> {
    fn fields(&mut self, fields: &[Value], depth: u8) -> Result<(), Stop> {
        let mut field = 0_i16;
        loop {
            let head = self.byte()?;
            let kind = head & 0xf;
            if kind == 0 {
                return Ok(());
            }
            field = match head >> 4 {
                // The crate cuts these numbers to 16 bits as well.
                0 => self.signed()? as i16,
                more => field.checked_add(i16::from(more)).ok_or(Stop::End)?,
            };
            let index = usize::try_from(field).ok().and_then(|field| field.checked_sub(1));
            let value = index.and_then(|index| fields.get(index)).copied().unwrap_or(Any);
            self.value(kind, value, depth)?;
        }
    }

    /// Passes over a value; the kinds are those of the protocol.
    fn value(&mut self, kind: u8, value: Value, depth: u8) -> Result<(), Stop> {
        if !value.is_of(kind) {
            return Err(Stop::Claim);
        }
        let below = depth.checked_sub(1).ok_or(Stop::End)?;
        match kind {
            1 | 2 => Ok(()),
            3 => self.pass(1),
            4..=6 => {
                let number = self.signed()?;
                let is_claim = matches!(value, Children) && number.unsigned_abs() > self.most;
                if is_claim { Err(Stop::Claim) } else { Ok(()) }
            }
            7 => self.pass(8),
            8 => self.number().and_then(|length| self.pass(length)),
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                let element = match value {
                    List(element) => *element,
                    _ => Any,
                };
                self.list(count, &[head & 0xf], element, below)
            }
            11 => match self.number()? {
                0 => Ok(()),
                count => {
                    let kinds = self.byte()?;
                    self.list(count, &[kinds >> 4, kinds & 0xf], Any, below)
                }
            },
            12 => match value {
                Fields(fields) => self.fields(fields, below),
                _ => self.fields(&[], below),
            },
            13 => self.pass(16),
            _ => Err(Stop::End),
        }
    }

    fn list(&mut self, count: u64, kinds: &[u8], value: Value, depth: u8) -> Result<(), Stop> {
        self.elements = self.elements.checked_sub(count).ok_or(Stop::Claim)?;
        for _ in 0..count {
            for &kind in kinds {
                self.value(kind, value, depth)?;
            }
        }
        Ok(())
    }

    fn byte(&mut self) -> Result<u8, Stop> {
        let (&first, rest) = self.rest.split_first().ok_or(Stop::End)?;
        self.rest = rest;
        Ok(first)
    }

    /// A number of up to 64 bits, seven in each byte, the lowest first.
    fn number(&mut self) -> Result<u64, Stop> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Stop::Claim)
    }

    /// A signed number: the positive ones stand doubled, the negative ones between them.
    fn signed(&mut self) -> Result<i64, Stop> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn pass(&mut self, length: u64) -> Result<(), Stop> {
        let length = usize::try_from(length).map_err(|_| Stop::End)?;
        self.rest = self.rest.get(length..).ok_or(Stop::End)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of 2^31 - 1 elements of a kind.
    fn endless(kind: u8) -> [u8; 6] {
        [0xf0 | kind, 0xff, 0xff, 0xff, 0xff, 0x07]
    }

    #[test]
    fn lists_have_no_more_elements_than_bytes() {
        for kind in [1, 7, 12] {
            assert!(claims_too_much(&[], &[&[0x19][..], &endless(kind), &[0]].concat()));
            let nested = [&[0x19, 0x19][..], &endless(kind), &[0]].concat();
            assert!(claims_too_much(&[], &nested), "in a list of lists");
        }
        assert!(claims_too_much(&[], &[0x1b, 0xff, 0xff, 0x03, 0x11, 0]), "a map");
        assert!(claims_too_much(&[], &[&[0x15][..], &[0x80; 10], &[0, 0]].concat()), "77 bits");
        // Three bytes in a list, a text, a structure in a structure, a field with its own number.
        for whole in
            [&[0x19, 0x33, 1, 2, 3, 0][..], &[0x18, 2, b'a', b'b', 0], &[0x1c, 0, 0], &[5, 9, 4, 0]]
        {
            assert!(!claims_too_much(&[], whole));
        }
        // What is cut or no structure is for the reader to name.
        for other in [&[][..], &[0x19], &[0x1f], &[0x1c; 200], &[0x19; 200]] {
            assert!(!claims_too_much(&[], other));
        }
    }

    #[test]
    fn a_schema_has_no_more_children_than_bytes_and_no_header_hides_a_list() {
        // A list of one structure, whose field 5 has these children.
        let claims =
            |element: &[u8]| claims_too_much(FILE, &[&[0x29, 0x1c][..], element, &[0, 0]].concat());
        assert!(!claims(&[0x55, 0x08]));
        assert!(claims(&[0x55, 0xff, 0x0f]));
        assert!(claims(&[0x05, 0x01, 0, 0x65, 0xff, 0x0f]), "field 5 is field -1 and 6");
        assert!(!claims(&[0x55, 0x07]), "a negative number is for the reader to name");
        // Fields 1, 4, 5 and 10 are of another kind: a text, a number, a truth value, a list.
        for wrong in [&[0x18, 1, b'a'][..], &[0x45, 2], &[0x51], &[0xa9, 0x00]] {
            assert!(claims(wrong), "{wrong:x?}");
        }
        // Field 10, its 8 (a time), whose 1 is a truth value and whose 2 holds the structure of a
        // unit; then a unit of another kind, and a width that is a text.
        assert!(!claims(&[0xac, 0x8c, 0x11, 0x1c, 0x3c, 0, 0, 0, 0]));
        assert!(claims(&[0xac, 0x8c, 0x11, 0x1c, 0x31, 0, 0, 0]));
        assert!(claims(&[0xac, 0xac, 0x18, 1, b'a', 0, 0]));
        assert!(claims_too_much(FILE, &[0x29, 0x15, 2, 0]), "a schema of numbers");
        assert!(claims_too_much(FILE, &[0x25, 2, 0]), "a number for a schema");
        assert!(claims_too_much(PAGE, &[0x18, 1, b'a', 0]), "a text for a page's type");
    }
}
