//! Linear equations over GF(256), whose rank decides what a decoder can rebuild.

use std::collections::BTreeMap;

/// Equations between packets that are missing, in reduced echelon form: each row states one packet,
/// its pivot, by packets that are no pivots (free). A row without free packets is solved and leaves.
///
/// Only coefficients are kept, no payload: which packets are known after an elimination follows from
/// the coefficients alone.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    /// Free packets with their coefficients, by pivot.
    rows: BTreeMap<u64, BTreeMap<u64, u8>>,
}

impl System {
    /// Number of independent equations between packets from `first` on that solve nothing so far.
    pub(super) fn rank_from(&self, first: u64) -> u64 {
        // A pivot is the lowest packet of its row.
        self.rows.range(first..).count() as u64
    }

    /// Adds an equation between missing packets. Returns whether it is independent of the others;
    /// solved packets go to `solved`.
    pub(super) fn add(
        &mut self,
        terms: impl IntoIterator<Item = (u64, u8)>,
        solved: &mut Vec<u64>,
    ) -> bool {
        let mut sum = BTreeMap::new();
        for (packet, coefficient) in terms {
            match self.rows.get(&packet) {
                Some(row) => add_scaled(&mut sum, row, coefficient),
                None => add_term(&mut sum, packet, coefficient),
            }
        }
        let Some((pivot, leading)) = sum.pop_first() else { return false };
        let scale = inverse(leading);
        sum.values_mut().for_each(|coefficient| *coefficient = multiply(*coefficient, scale));
        self.solve_for(pivot, sum, solved);
        true
    }

    /// Enters `pivot = row` and removes `pivot` from all other rows.
    fn solve_for(&mut self, pivot: u64, row: BTreeMap<u64, u8>, solved: &mut Vec<u64>) {
        for other in self.rows.values_mut() {
            if let Some(coefficient) = other.remove(&pivot) {
                add_scaled(other, &row, coefficient);
            }
        }
        self.rows.insert(pivot, row);
        self.take_solved(solved);
    }

    fn take_solved(&mut self, solved: &mut Vec<u64>) {
        self.rows.retain(|&pivot, row| {
            if row.is_empty() {
                solved.push(pivot);
            }
            !row.is_empty()
        });
    }

    /// A packet is known: it leaves all equations.
    pub(super) fn know(&mut self, packet: u64, solved: &mut Vec<u64>) {
        if let Some(row) = self.rows.remove(&packet) {
            // The rest of the row is a relation between free packets.
            self.add(row, solved);
            return;
        }
        for row in self.rows.values_mut() {
            row.remove(&packet);
        }
        self.take_solved(solved);
    }

    /// A packet stays unknown for ever: only the combinations without it remain.
    pub(super) fn forget(&mut self, packet: u64) {
        if self.rows.remove(&packet).is_some() {
            return;
        }
        let Some((&pivot, _)) = self.rows.iter().find(|(_, row)| row.contains_key(&packet)) else {
            return;
        };
        let Some(mut row) = self.rows.remove(&pivot) else { return };
        let Some(leading) = row.remove(&packet) else { return };
        row.insert(pivot, 1);
        let scale = inverse(leading);
        row.values_mut().for_each(|coefficient| *coefficient = multiply(*coefficient, scale));
        for other in self.rows.values_mut() {
            if let Some(coefficient) = other.remove(&packet) {
                add_scaled(other, &row, coefficient);
            }
        }
    }
}

fn add_scaled(sum: &mut BTreeMap<u64, u8>, row: &BTreeMap<u64, u8>, scale: u8) {
    for (&packet, &coefficient) in row {
        add_term(sum, packet, multiply(coefficient, scale));
    }
}

fn add_term(sum: &mut BTreeMap<u64, u8>, packet: u64, coefficient: u8) {
    if coefficient == 0 {
        return;
    }
    let place = sum.entry(packet).or_default();
    *place ^= coefficient;
    if *place == 0 {
        sum.remove(&packet);
    }
}

/// The polynomial of RFC 5510, section 8.1, and RFC 8681, section 3.7.1: x^8 + x^4 + x^3 + x^2 + 1.
const POLYNOMIAL: u16 = 0x11D;

/// Powers of x, twice, and their exponents.
static POWERS: ([u8; 510], [u8; 256]) = {
    let (mut powers, mut exponents) = ([0; 510], [0; 256]);
    let (mut value, mut exponent) = (1u16, 0);
    while exponent < 255 {
        powers[exponent] = value as u8;
        powers[exponent + 255] = value as u8;
        exponents[value as usize] = exponent as u8;
        value <<= 1;
        if value > 255 {
            value ^= POLYNOMIAL;
        }
        exponent += 1;
    }
    (powers, exponents)
};

fn multiply(a: u8, b: u8) -> u8 {
    let (powers, exponents) = &POWERS;
    if a == 0 || b == 0 {
        return 0;
    }
    powers[usize::from(exponents[usize::from(a)]) + usize::from(exponents[usize::from(b)])]
}

/// The inverse of a number other than 0.
pub(super) fn inverse(a: u8) -> u8 {
    let (powers, exponents) = &POWERS;
    powers[255 - usize::from(exponents[usize::from(a)])]
}
