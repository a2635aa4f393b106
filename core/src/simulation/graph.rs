//! Routes through a network: by fewest links, by delay, or given.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use thiserror::Error;

use crate::units::Duration;

/// The nodes and links of a network. Nodes and links are numbered from 0; a link has one direction.
///
/// ```
/// use clift::simulation::Graph;
/// use clift::units::Duration;
/// let ms = Duration::from_millis;
/// // 0 to 2 at once, or by 1 in less time.
/// let links = [(0, 2, ms(80)), (0, 1, ms(20)), (1, 2, ms(20))];
/// assert_eq!(Graph::by_fewest_links(links).routes().way(0, 2), Ok(vec![0]));
/// assert_eq!(Graph::by_delay(links).routes().way(0, 2), Ok(vec![1, 2]));
/// assert!(Graph::by_delay(links).routes().way(2, 0).is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Graph {
    links: Vec<GraphLink>,
    /// Numbers of the links that end at each node.
    arriving: Vec<Vec<u32>>,
    /// Numbers of the links that begin at each node.
    leaving: Vec<Vec<u32>>,
}

#[derive(Clone, Copy, Debug)]
struct GraphLink {
    from: u32,
    to: u32,
    /// What a route makes as small as possible, before its number of links.
    cost: u64,
}

/// A route that does not exist.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum RouteError {
    /// No links lead from one node to the other.
    #[error("no links lead from node {from} to node {to}")]
    NoWay {
        /// The node at which packets begin.
        from: u32,
        /// The node that they do not reach.
        to: u32,
    },
    /// A given route does not begin where its packets are.
    #[error("link {link} does not begin at node {at}, where the route has arrived")]
    Broken {
        /// Number of the link.
        link: u32,
        /// The node at which the route has arrived.
        at: u32,
    },
    /// A given route ends elsewhere.
    #[error("the route ends at node {at}, not at node {to}")]
    Elsewhere {
        /// The node at which the route ends.
        at: u32,
        /// The node at which its packets should arrive.
        to: u32,
    },
    /// A given route visits a node twice.
    #[error("the route visits node {at} twice")]
    Loop {
        /// The node.
        at: u32,
    },
}

impl Graph {
    /// Links (first node, last node, delay), whose routes have the fewest links. Of routes of equal
    /// length a node takes the link with the lowest number.
    pub fn by_fewest_links(links: impl IntoIterator<Item = (u32, u32, Duration)>) -> Self {
        Self::new(links.into_iter().map(|(from, to, _)| GraphLink { from, to, cost: 0 }).collect())
    }

    /// Links (first node, last node, delay), whose routes have the smallest sum of delays. Of routes
    /// of equal delay, the one of fewest links; of these a node takes the link with the lowest
    /// number.
    pub fn by_delay(links: impl IntoIterator<Item = (u32, u32, Duration)>) -> Self {
        let link = |(from, to, delay): (u32, u32, Duration)| GraphLink {
            from,
            to,
            cost: delay.as_nanos(),
        };
        Self::new(links.into_iter().map(link).collect())
    }

    fn new(links: Vec<GraphLink>) -> Self {
        let nodes = links.iter().map(|link| link.from.max(link.to) as usize + 1).max().unwrap_or(0);
        let (mut arriving, mut leaving) = (vec![Vec::new(); nodes], vec![Vec::new(); nodes]);
        for (link, number) in links.iter().zip(0..) {
            arriving[link.to as usize].push(number);
            leaving[link.from as usize].push(number);
        }
        Self { links, arriving, leaving }
    }

    /// Starts to look for routes. Routes to the same node are found together.
    pub fn routes(&self) -> Routes<'_> {
        Routes { graph: self, towards: BTreeMap::new() }
    }

    /// Checks a given route: `way` lists the numbers of the links from one node to another.
    ///
    /// # Errors
    /// If the links do not join, end elsewhere, or form a loop.
    ///
    /// # Panics
    /// If a link does not exist.
    pub fn check(&self, way: &[u32], from: u32, to: u32) -> Result<(), RouteError> {
        let (mut at, mut visited) = (from, vec![from]);
        for &link in way {
            let GraphLink { from, to, .. } = self.links[link as usize];
            if from != at {
                return Err(RouteError::Broken { link, at });
            }
            at = to;
            if visited.contains(&at) {
                return Err(RouteError::Loop { at });
            }
            visited.push(at);
        }
        if at == to { Ok(()) } else { Err(RouteError::Elsewhere { at, to }) }
    }

    /// The link by which each node forwards packets to `to`; `None` if it does not reach it.
    /// (Dijkstra's algorithm from the destination.)
    fn towards(&self, to: u32) -> Vec<Option<u32>> {
        const FAR: (u64, u32) = (u64::MAX, u32::MAX);
        let mut distances = vec![FAR; self.arriving.len().max(to as usize + 1)];
        distances[to as usize] = (0, 0);
        let mut reached = BinaryHeap::from([Reverse((distances[to as usize], to))]);
        while let Some(Reverse((distance, node))) = reached.pop() {
            if distance > distances[node as usize] {
                continue;
            }
            for &number in self.arriving.get(node as usize).into_iter().flatten() {
                let GraphLink { from, cost, .. } = self.links[number as usize];
                let further = (distance.0.saturating_add(cost), distance.1 + 1);
                if further < distances[from as usize] {
                    distances[from as usize] = further;
                    reached.push(Reverse((further, from)));
                }
            }
        }
        let onward = |node: usize| {
            let mut leaving = self.leaving.get(node)?.iter().copied();
            leaving.find(|&number| {
                let GraphLink { to, cost, .. } = self.links[number as usize];
                let (sum, count) = distances[to as usize];
                count != u32::MAX && (sum.saturating_add(cost), count + 1) == distances[node]
            })
        };
        (0..distances.len()).map(onward).collect()
    }
}

/// Routes through a [`Graph`], by destination.
#[derive(Clone, Debug)]
pub struct Routes<'a> {
    graph: &'a Graph,
    towards: BTreeMap<u32, Vec<Option<u32>>>,
}

impl Routes<'_> {
    /// The numbers of the links from one node to another.
    ///
    /// # Errors
    /// If no links lead there.
    pub fn way(&mut self, from: u32, to: u32) -> Result<Vec<u32>, RouteError> {
        let graph = self.graph;
        let towards = self.towards.entry(to).or_insert_with(|| graph.towards(to));
        let (mut way, mut node) = (Vec::new(), from);
        while node != to {
            let link = towards.get(node as usize).copied().flatten();
            let link = link.ok_or(RouteError::NoWay { from, to })?;
            way.push(link);
            node = graph.links[link as usize].to;
        }
        Ok(way)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Smallest delay and number of links by relaxing all links until nothing changes (Bellman and
    /// Ford).
    fn reference(links: &[(u32, u32, u64)], to: u32) -> Vec<Option<(u64, u32)>> {
        let mut distances = vec![None; 8];
        distances[to as usize] = Some((0, 0));
        for _ in 0..8 {
            for &(from, next, cost) in links {
                let through = distances[next as usize].map(|(sum, count)| (sum + cost, count + 1));
                let own = distances[from as usize];
                if through.is_some() && own.is_none_or(|own| through < Some(own)) {
                    distances[from as usize] = through;
                }
            }
        }
        distances
    }

    proptest! {
        #[test]
        fn routes_are_the_shortest_of_all(
            links in prop::collection::vec((0u32..8, 0u32..8, 0u64..5), 1..30),
            by_delay in any::<bool>(),
        ) {
            let timed = links.iter().map(|&(from, to, ms)| (from, to, Duration::from_millis(ms)));
            let graph =
                if by_delay { Graph::by_delay(timed) } else { Graph::by_fewest_links(timed) };
            let cost = |ms: u64| if by_delay { ms } else { 0 };
            let costs: Vec<_> = links.iter().map(|&(from, to, ms)| (from, to, cost(ms))).collect();
            let mut routes = graph.routes();
            for to in 0..8 {
                for (from, expected) in (0..8).zip(reference(&costs, to)) {
                    let Ok(way) = routes.way(from, to) else {
                        prop_assert!(expected.is_none());
                        continue;
                    };
                    graph.check(&way, from, to).unwrap();
                    let sum = way.iter().map(|&link| costs[link as usize].2).sum::<u64>();
                    prop_assert_eq!(Some((sum, way.len() as u32)), expected);
                }
            }
        }
    }
}
