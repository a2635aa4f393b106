//! What the headers of Parquet files claim; they are structures of Thrift's compact protocol.

/// True if lists, or the children of a schema's element, claim to be more than there are bytes, or a
/// number more than 64 bits, which only damage explains: each element takes a byte or more.
///
/// `bytes` begin with a structure. The crate `parquet` reserves memory for the children, and it
/// passes over the elements of an unknown list one by one, those of truth values without reading a
/// byte: 2^31 of them take seconds, a list of such lists hours.
pub(super) fn claims_too_much(bytes: &[u8]) -> bool {
    let most = bytes.len() as u64;
    let mut structure = Structure { rest: bytes, most, elements: most };
    matches!(structure.fields(DEPTH), Err(Stop::Claim))
}

/// Nesting beyond which `parquet` gives up, too.
const DEPTH: u8 = 64;
/// Depth of a schema's elements, a list of structures in the footer, and their field `num_children`
/// with its kind.
const SCHEMA: u8 = DEPTH - 2;
const CHILDREN: (u64, u8) = (5, 5);

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
    fn fields(&mut self, depth: u8) -> Result<(), Stop> {
        let mut field = 0;
        loop {
            let head = self.byte()?;
            let kind = head & 0xf;
            if kind == 0 {
                return Ok(());
            }
            // Signed numbers stand doubled, the negative ones between them.
            field = match head >> 4 {
                0 => self.number()? / 2,
                more => field + u64::from(more),
            };
            if depth == SCHEMA && (field, kind) == CHILDREN {
                if self.number()? / 2 > self.most {
                    return Err(Stop::Claim);
                }
            } else {
                self.value(kind, depth)?;
            }
        }
    }

    /// Passes over a value; the kinds are those of the protocol.
    fn value(&mut self, kind: u8, depth: u8) -> Result<(), Stop> {
        let below = depth.checked_sub(1).ok_or(Stop::End)?;
        match kind {
            1 | 2 => Ok(()),
            3 => self.pass(1),
            4..=6 => self.number().map(drop),
            7 => self.pass(8),
            8 => self.number().and_then(|length| self.pass(length)),
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                self.list(count, &[head & 0xf], below)
            }
            11 => match self.number()? {
                0 => Ok(()),
                count => {
                    let kinds = self.byte()?;
                    self.list(count, &[kinds >> 4, kinds & 0xf], below)
                }
            },
            12 => self.fields(below),
            13 => self.pass(16),
            _ => Err(Stop::End),
        }
    }

    fn list(&mut self, count: u64, kinds: &[u8], depth: u8) -> Result<(), Stop> {
        self.elements = self.elements.checked_sub(count).ok_or(Stop::Claim)?;
        for _ in 0..count {
            for &kind in kinds {
                self.value(kind, depth)?;
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
            assert!(claims_too_much(&[&[0x19][..], &endless(kind), &[0]].concat()));
            let nested = [&[0x19, 0x19][..], &endless(kind), &[0]].concat();
            assert!(claims_too_much(&nested), "in a list of lists");
        }
        assert!(claims_too_much(&[0x1b, 0xff, 0xff, 0x03, 0x11, 0]), "a map");
        assert!(claims_too_much(&[&[0x15][..], &[0x80; 10], &[0, 0]].concat()), "77 bits");
        for (children, is_too_many) in [([0x08, 0x00], false), ([0xff, 0x0f], true)] {
            // A list of one structure, whose field 5 has these children.
            let schema = [&[0x29, 0x1c, 0x55][..], &children, &[0, 0]].concat();
            assert_eq!(claims_too_much(&schema), is_too_many);
        }
        // Three bytes in a list, a text, a structure in a structure, a field with its own number.
        for whole in
            [&[0x19, 0x33, 1, 2, 3, 0][..], &[0x18, 2, b'a', b'b', 0], &[0x1c, 0, 0], &[5, 9, 4, 0]]
        {
            assert!(!claims_too_much(whole));
        }
        // What is cut or no structure is for the reader to name.
        for other in [&[][..], &[0x19], &[0x1f], &[0x1c; 200], &[0x19; 200]] {
            assert!(!claims_too_much(other));
        }
    }
}
