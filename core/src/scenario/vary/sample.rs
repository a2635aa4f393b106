//! `[vary.sample]`: points drawn in the space of several keys, as one axis.

use std::collections::BTreeSet;

use rand::Rng;

use super::point::{Changes, Label, MOST_CELLS, Point, Values, gather, path_of};
use super::{range, sobol};
use crate::config::{Fault, Node, Table, Value};
use crate::seed::{Seed, Stream};

/// Default seed of a sample.
pub(super) const SEED: u64 = 1;

impl Values {
    /// Label and value at a fraction of the range.
    fn at(&self, share: f64) -> (String, Value) {
        match self {
            Self::Range(range) => {
                let value = range.at(share);
                (range::label_of(&value), value)
            }
            Self::List(list) => {
                list[((share * list.len() as f64) as usize).min(list.len() - 1)].clone()
            }
        }
    }
}

/// The axis of a sample.
pub(super) fn sampled(label: Label<'_>, table: &Table) -> Result<Changes, Fault> {
    let mut is_sobol = true;
    let (mut points, mut seed) = (None, SEED);
    let mut spaces = Vec::new();
    let one = "one value does not vary; give a range, e.g. { from = 5, to = 12 }, or a list";
    for (key, value) in table.iter() {
        match key {
            "method" => {
                is_sobol = match value.plain().as_deref() {
                    Some("sobol") => true,
                    Some("lhs") => false,
                    _ => {
                        return Err(Fault::new(key, "give \"sobol\" or \"lhs\" (Latin hypercube)"));
                    }
                }
            }
            "points" => {
                let count = range::whole(key, value, 1)?;
                if count > MOST_CELLS {
                    let most = MOST_CELLS;
                    return Err(Fault::new(key, format!("more than {most} points; give fewer")));
                }
                points = Some(count);
            }
            "seed" => {
                let Node::Integer(number) = value.node else {
                    return Err(Fault::new(key, "give a whole number, 0 or more"));
                };
                seed = u64::try_from(number)
                    .map_err(|_| Fault::new(key, "give a whole number, 0 or more"))?;
            }
            key => gather(label, key, value, (one, None), &mut spaces)?,
        }
    }
    for (key, space) in &spaces {
        if let Values::Range(range) = space
            && let Some(says) = range.says_points()
        {
            let message = "the sample's `points` gives the number; leave it out";
            return Err(Fault::new(says, message).within(key));
        }
    }
    let Some(points) = points else {
        return Err(Fault::at("a sample needs `points`; give their number, e.g. points = 64"));
    };
    if spaces.is_empty() {
        let message =
            "no key varies; give ranges, e.g. link.rtt = { from = \"20 ms\", to = \"600 ms\" }";
        return Err(Fault::at(message));
    }
    if is_sobol && spaces.len() > sobol::MOST {
        let most = sobol::MOST;
        return Err(Fault::new(
            "method",
            format!("\"sobol\" takes at most {most} keys; use \"lhs\""),
        ));
    }
    let mut drawn = vec![Point::default(); points];
    for (number, (key, space)) in spaces.iter().enumerate() {
        let shares = match is_sobol {
            true => sobol::coordinate(number, points, seed),
            false => hypercube(number, points, seed),
        };
        let path = path_of(key);
        for (point, share) in drawn.iter_mut().zip(shares) {
            point.add(&path, space.at(share));
        }
    }
    let labels: BTreeSet<&str> = drawn.iter().map(|point| point.label.as_str()).collect();
    if labels.len() < points {
        let there = labels.len();
        let message = format!("only {there} points differ; give fewer points, or wider ranges");
        return Err(Fault::new("points", message));
    }
    Ok(Changes { key: String::new(), name: "sample".to_owned(), points: drawn })
}

/// A coordinate of a Latin hypercube: each of `points` intervals contains one point at a random
/// position (McKay, Beckman and Conover 1979).
fn hypercube(number: usize, points: usize, seed: u64) -> Vec<f64> {
    let mut rng = Seed(seed).rng(Stream::Sample(number as u32));
    let mut places: Vec<usize> = (0..points).collect();
    // Fisher-Yates shuffle; the bias of the 64-bit remainder is about 1 in 10^13.
    for end in (1..points).rev() {
        places.swap(end, (rng.next_u64() % (end as u64 + 1)) as usize);
    }
    let inside =
        |place: usize, draw: u32| (place as f64 + f64::from(draw) / 2f64.powi(32)) / points as f64;
    places.into_iter().map(|place| inside(place, rng.next_u32())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_interval_of_a_hypercube_contains_one_point() {
        for (number, points) in [(0, 1), (1, 7), (5, 1000)] {
            let column = hypercube(number, points, 3);
            let mut places: Vec<_> = column.iter().map(|x| (x * points as f64) as usize).collect();
            places.sort_unstable();
            assert!(places.into_iter().eq(0..points));
        }
        assert_ne!(hypercube(0, 9, 1), hypercube(0, 9, 2));
        assert_ne!(hypercube(0, 9, 1), hypercube(1, 9, 1));
    }
}
