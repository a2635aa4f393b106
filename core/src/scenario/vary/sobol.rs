//! Sobol's sequence: points that fill a cube evenly for any number of points.
//!
//! Sobol 1967, in the Gray code order of Antonov and Saleev 1979, with the primitive polynomials
//! and direction numbers of Joe and Kuo 2008 (SIAM J. Sci. Comput. 30(5), the set
//! new-joe-kuo-6.21201). A seed shifts each coordinate by a different number, bit by bit without
//! carry. This keeps the points evenly spread (a random digital shift: L'Ecuyer and Lemieux 2002).
//! carry, which leaves the evenness as it is (a random digital shift: L'Ecuyer and Lemieux 2002).

use rand::Rng;

use crate::seed::{Seed, Stream};

/// Bits of a coordinate.
const BITS: usize = 32;
/// Degree and coefficients of the polynomial, and the first direction numbers, of each coordinate
/// after the first.
const JOE_KUO: [(u32, u32, &[u32]); 20] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
    (6, 19, &[1, 1, 1, 15, 7, 5]),
    (6, 22, &[1, 3, 1, 15, 13, 25]),
    (6, 25, &[1, 1, 5, 5, 19, 61]),
    (7, 1, &[1, 3, 7, 11, 23, 15, 103]),
    (7, 4, &[1, 3, 7, 13, 13, 15, 69]),
];
/// Maximum number of coordinates.
pub(super) const MOST: usize = JOE_KUO.len() + 1;

/// One coordinate of the first `points` points, each in [0, 1).
pub(super) fn coordinate(number: usize, points: usize, seed: u64) -> Vec<f64> {
    let shift = Seed(seed).rng(Stream::Sample(number as u32)).next_u32();
    unshifted(number, points)
        .into_iter()
        .map(|bits| f64::from(bits ^ shift) / 2f64.powi(32))
        .collect()
}

/// The coordinate before the shift, as bits after the binary point.
fn unshifted(number: usize, points: usize) -> Vec<u32> {
    let directions = directions(number);
    let mut bits = 0;
    let mut found = Vec::with_capacity(points);
    for point in 0..points {
        found.push(bits);
        // In Gray code order, neighbours differ in one direction number: that of the lowest zero
        // bit of the index.
        bits ^= directions[(!point).trailing_zeros() as usize % BITS];
    }
    found
}

fn directions(number: usize) -> [u32; BITS] {
    let mut directions = [0; BITS];
    let Some((degree, coefficients, first)) = number.checked_sub(1).map(|at| JOE_KUO[at]) else {
        for (bit, direction) in directions.iter_mut().enumerate() {
            *direction = 1 << (BITS - 1 - bit);
        }
        return directions;
    };
    let degree = degree as usize;
    for bit in 0..BITS {
        directions[bit] = match first.get(bit) {
            Some(own) => own << (BITS - 1 - bit),
            None => {
                let mut direction = directions[bit - degree] ^ (directions[bit - degree] >> degree);
                for back in 1..degree {
                    if coefficients >> (degree - 1 - back) & 1 == 1 {
                        direction ^= directions[bit - back];
                    }
                }
                direction
            }
        };
    }
    directions
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of the 2^k intervals of length 2^-k contains one of 2^k points, in every coordinate and
    /// with any seed. In the first two coordinates, so does each box of that area (a (0, k, 2)
    /// net).
    #[test]
    fn points_fill_every_interval_and_box_once() {
        for seed in [1, 2, 99] {
            let columns: Vec<_> = (0..MOST).map(|number| coordinate(number, 256, seed)).collect();
            for column in &columns {
                let mut cells: Vec<_> = column.iter().map(|x| (x * 256.0) as usize).collect();
                cells.sort_unstable();
                assert!(cells.into_iter().eq(0..256));
            }
            for k in 0..=8 {
                let (wide, high) = (2f64.powi(k), 2f64.powi(8 - k));
                let mut boxes: Vec<_> = columns[0]
                    .iter()
                    .zip(&columns[1])
                    .map(|(x, y)| ((x * wide) as usize, (y * high) as usize))
                    .collect();
                boxes.sort_unstable();
                boxes.dedup();
                assert_eq!(boxes.len(), 256);
            }
        }
        assert_ne!(coordinate(0, 4, 1), coordinate(0, 4, 2));
    }
}
