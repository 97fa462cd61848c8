//! Weights in order: some must not exceed others, or 0.
//!
//! ```text
//! A w ≥ 0,   a row of A for each pair: w_upper − w_lower, where 0 may stand for either
//! ```
//!
//! **A point in order.** Weights that are bound to be equal, each at most the other, share a class, with the middle of
//! their weights. Classes follow each other; those at most 0 are cut at 0, and those at least 0. Then the largest of a class and all
//! below it is in order, the smallest of a class and all above it too, and half of each is the answer: near w where w is
//! near such a point, w itself where it is in order, and to the last bit in order, since rounding keeps order. A point with weights apart by
//! given margins is had in the same way.

use crate::{Error, Result};

/// Stands for 0 where a weight may stand.
pub const ZERO: u32 = u32::MAX;

/// Which weights must not exceed which.
#[derive(Debug, Clone)]
pub struct Order {
    cols: usize,
    /// Lower and upper.
    pairs: Vec<[u32; 2]>,
    /// The features among them, ascending.
    features: Vec<u32>,
    /// The class of each of these and, last, of 0; lower classes have smaller numbers.
    classes: Vec<usize>,
    /// Pairs of classes, lower and upper, ascending.
    edges: Vec<[usize; 2]>,
    /// Whether a class is at most 0, and at least 0.
    bounded: Vec<[bool; 2]>,
}

impl Order {
    /// Of `cols` weights; each pair is [lower, upper].
    pub fn new(cols: usize, mut pairs: Vec<[u32; 2]>) -> Result<Order> {
        pairs.retain(|[lower, upper]| lower != upper);
        pairs.sort_unstable();
        pairs.dedup();
        let mut features: Vec<u32> = pairs.concat();
        features.retain(|j| *j != ZERO);
        features.sort_unstable();
        features.dedup();
        if let Some(&j) = features.last().filter(|j| **j as usize >= cols) {
            return Err(Error::Parameter {
                name: "order of weights",
                value: format!("feature {j}"),
                must: "of features that there are",
            });
        }
        let node = |j: u32| features.binary_search(&j).unwrap_or(features.len());
        let nodes = features.len() + 1;
        let mut above = vec![Vec::new(); nodes];
        for [lower, upper] in &pairs {
            above[node(*lower)].push(node(*upper));
        }
        let classes = classes(&above);
        let mut edges: Vec<[usize; 2]> = pairs
            .iter()
            .map(|pair| pair.map(|j| classes[node(j)]))
            .filter(|[lower, upper]| lower != upper)
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let mut bounded = vec![[false; 2]; nodes];
        bounded[classes[nodes - 1]] = [true; 2];
        for &[lower, upper] in edges.iter().rev() {
            bounded[lower][0] |= bounded[upper][0];
        }
        for &[lower, upper] in &edges {
            bounded[upper][1] |= bounded[lower][1];
        }
        Ok(Order {
            cols,
            pairs,
            features,
            classes,
            edges,
            bounded,
        })
    }

    /// Number of weights.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Lower and upper; [`ZERO`] is 0.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// The features that are in a pair, ascending.
    pub fn features(&self) -> &[u32] {
        &self.features
    }

    /// A w.
    pub fn differences(&self, w: &[f64]) -> Vec<f64> {
        let of = |[lower, upper]: &[u32; 2]| at(w, *upper) - at(w, *lower);
        self.pairs.iter().map(of).collect()
    }

    /// g ← g + a Aᵀx.
    pub(crate) fn add_transposed(&self, a: f64, x: &[f64], g: &mut [f64]) {
        for ([lower, upper], x) in self.pairs.iter().zip(x) {
            add(g, *upper, a * x);
            add(g, *lower, -a * x);
        }
    }

    /// Whether each pair is of weights that are bound to be equal.
    pub(crate) fn are_equal(&self) -> Vec<bool> {
        let is_equal = |[lower, upper]: &[u32; 2]| self.class(*lower) == self.class(*upper);
        self.pairs.iter().map(is_equal).collect()
    }

    fn class(&self, j: u32) -> usize {
        let node = self.features.binary_search(&j);
        self.classes[node.unwrap_or(self.features.len())]
    }

    /// A point in order that is near w.
    pub fn project(&self, w: &[f64]) -> Vec<f64> {
        self.near(w, &vec![0.0; self.edges.len()])
    }

    /// The same with Aw at least `margins`, up to rounding, but for pairs of equal weights.
    pub(crate) fn inside(&self, w: &[f64], margins: &[f64]) -> Vec<f64> {
        let mut of_edges = vec![0.0_f64; self.edges.len()];
        for (pair, margin) in self.pairs.iter().zip(margins) {
            let edge = pair.map(|j| self.class(j));
            if let Ok(at) = self.edges.binary_search(&edge) {
                of_edges[at] = of_edges[at].max(*margin);
            }
        }
        self.near(w, &of_edges)
    }

    /// Weights of these features, ascending, move to 0, or as near to it as those of the others let them; w is in order.
    pub(crate) fn rest(&self, features: &[u32], w: &mut [f64]) {
        if features.is_empty() {
            return;
        }
        // A class moves as a whole; that of 0 does not.
        let is_zero = |bounded: &[bool; 2]| (*bounded == [true, true]).then_some(0.0);
        let mut value: Vec<Option<f64>> = self.bounded.iter().map(is_zero).collect();
        for (j, &class) in self.features.iter().zip(&self.classes) {
            if features.binary_search(j).is_err() {
                value[class] = Some(w[*j as usize]);
            }
        }
        let mut least: Vec<f64> = (value.iter())
            .map(|v| v.unwrap_or(f64::NEG_INFINITY))
            .collect();
        let mut most: Vec<f64> = value.iter().map(|v| v.unwrap_or(f64::INFINITY)).collect();
        for &[lower, upper] in &self.edges {
            least[upper] = least[upper].max(least[lower]);
        }
        for &[lower, upper] in self.edges.iter().rev() {
            most[lower] = most[lower].min(most[upper]);
        }
        for (j, &class) in self.features.iter().zip(&self.classes) {
            if value[class].is_none() {
                w[*j as usize] = 0.0_f64.min(most[class]).max(least[class]);
            }
        }
    }

    /// Classes of an edge differ by its margin at least.
    fn near(&self, w: &[f64], margins: &[f64]) -> Vec<f64> {
        let count = self.bounded.len();
        let mut ranges = vec![[f64::INFINITY, f64::NEG_INFINITY]; count];
        for (&j, &class) in self.features.iter().zip(&self.classes) {
            let [low, high] = ranges[class];
            ranges[class] = [low.min(w[j as usize]), high.max(w[j as usize])];
        }
        // How far from 0 a class is at least, on either side.
        let mut distances = vec![[0.0_f64; 2]; count];
        let edges = self.edges.iter().zip(margins);
        for (&[lower, upper], margin) in edges.clone().rev() {
            if self.bounded[upper][0] {
                distances[lower][0] = distances[lower][0].max(distances[upper][0] + margin);
            }
        }
        for (&[lower, upper], margin) in edges.clone() {
            if self.bounded[lower][1] {
                distances[upper][1] = distances[upper][1].max(distances[lower][1] + margin);
            }
        }
        let value = |class: usize| {
            let [low, high] = ranges[class];
            let middle = if low <= high {
                low / 2.0 + high / 2.0
            } else {
                0.0
            };
            let ([at_most, at_least], [below, above]) = (self.bounded[class], distances[class]);
            let capped = if at_most {
                middle.min(0.0 - below)
            } else {
                middle
            };
            // −0 is 0.
            (if at_least { capped.max(above) } else { capped }) + 0.0
        };
        let values: Vec<f64> = (0..count).map(value).collect();
        let (mut largest, mut smallest) = (values.clone(), values);
        for (&[lower, upper], margin) in edges.clone() {
            largest[upper] = largest[upper].max(largest[lower] + margin);
        }
        for (&[lower, upper], margin) in edges.rev() {
            smallest[lower] = smallest[lower].min(smallest[upper] - margin);
        }
        let mut near = w.to_vec();
        for (&j, &class) in self.features.iter().zip(&self.classes) {
            // What is 0 stays 0, whatever the margins are rounded to.
            near[j as usize] = match self.bounded[class] {
                [true, true] => 0.0,
                _ => largest[class] / 2.0 + smallest[class] / 2.0,
            };
        }
        near
    }
}

fn at(w: &[f64], j: u32) -> f64 {
    w.get(j as usize).copied().unwrap_or(0.0)
}

fn add(g: &mut [f64], j: u32, x: f64) {
    if let Some(g) = g.get_mut(j as usize) {
        *g += x;
    }
}

/// The class of every node of a graph, of which those on a cycle share one, numbered such that edges go up: Tarjan's
/// algorithm, which finds the last classes first, without recursion.
fn classes(above: &[Vec<usize>]) -> Vec<usize> {
    const NEW: usize = usize::MAX;
    let n = above.len();
    let (mut number, mut low, mut class) = (vec![NEW; n], vec![0; n], vec![NEW; n]);
    let (mut open, mut next, mut found) = (Vec::new(), 0, 0);
    for root in 0..n {
        if number[root] != NEW {
            continue;
        }
        // A node, and how many of its edges have been followed.
        let mut path = vec![(root, 0)];
        while let Some((node, followed)) = path.pop() {
            if followed == 0 {
                (number[node], low[node]) = (next, next);
                next += 1;
                open.push(node);
            } else {
                low[node] = low[node].min(low[above[node][followed - 1]]);
            }
            let mut followed = followed;
            let mut child = None;
            while let Some(&to) = above[node].get(followed) {
                followed += 1;
                if number[to] == NEW {
                    child = Some(to);
                    break;
                }
                if class[to] == NEW {
                    low[node] = low[node].min(number[to]);
                }
            }
            if let Some(to) = child {
                path.push((node, followed));
                path.push((to, 0));
            } else if low[node] == number[node] {
                while let Some(member) = open.pop() {
                    class[member] = found;
                    if member == node {
                        break;
                    }
                }
                found += 1;
            }
        }
    }
    // The last class has the smallest number so far. Those that do not exist are the first then.
    class.into_iter().map(|c| n - 1 - c).collect()
}

/// A_aᵀρA_a for some pairs a: what is added to a Hessian.
#[derive(Debug, Clone)]
pub(crate) struct Stiffness {
    /// Each with its ρ.
    pub(crate) pairs: Vec<([u32; 2], f64)>,
}

impl Stiffness {
    /// out ← out + AᵀρAp.
    pub(crate) fn add_product(&self, p: &[f64], out: &mut [f64]) {
        for ([lower, upper], rho) in &self.pairs {
            let force = rho * (at(p, *upper) - at(p, *lower));
            add(out, *upper, force);
            add(out, *lower, -force);
        }
    }

    /// Its diagonal.
    pub(crate) fn add_diagonal(&self, diagonal: &mut [f64]) {
        for (pair, rho) in &self.pairs {
            pair.iter().for_each(|j| add(diagonal, *j, *rho));
        }
    }

    /// The part of some columns, all of them if empty, to the lower triangle of a matrix of b rows.
    pub(crate) fn add_block(&self, columns: &[u32], b: usize, block: &mut [f64]) {
        let place = |j: u32| match columns.is_empty() {
            true => Some(j as usize).filter(|j| *j < b),
            false => columns.binary_search(&j).ok(),
        };
        for ([lower, upper], rho) in &self.pairs {
            let (lower, upper) = (place(*lower), place(*upper));
            for at in [lower, upper].into_iter().flatten() {
                block[at * b + at] += rho;
            }
            if let (Some(i), Some(j)) = (lower, upper) {
                block[i.max(j) * b + i.min(j)] -= rho;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Pairs that were drawn; ends beyond the last weight are 0.
    fn order(cols: u32, pairs: &[(u32, u32)]) -> Order {
        let end = |j: u32| if j >= cols { ZERO } else { j };
        let pairs = pairs.iter().map(|(a, b)| [end(*a), end(*b)]).collect();
        Order::new(cols as usize, pairs).unwrap()
    }

    proptest! {
        #[test]
        fn a_projected_point_is_in_order_and_stays(
            pairs in prop::collection::vec((0u32..13, 0u32..13), 0..25),
            w in prop::collection::vec(-2.0..2.0, 12),
        ) {
            let order = order(12, &pairs);
            let near = order.project(&w);
            prop_assert!(order.differences(&near).iter().all(|d| *d >= 0.0), "{near:?}");
            prop_assert_eq!(order.project(&near), near.clone());
            for j in (0..12).filter(|j| !order.features().contains(j)) {
                prop_assert_eq!(near[j as usize], w[j as usize]);
            }
            // Not further than the violation reaches along a chain of pairs.
            let violation = order.differences(&w).into_iter().fold(0.0_f64, |a, d| a.max(-d));
            let off = near.iter().zip(&w).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            prop_assert!(off <= 13.0 * violation, "{off} {violation}");
        }

        #[test]
        fn a_point_inside_keeps_its_margins(
            pairs in prop::collection::vec((0u32..13, 0u32..13), 0..25),
            w in prop::collection::vec(-2.0..2.0, 12),
            margins in prop::collection::vec(0.0..1.0, 25),
        ) {
            let order = order(12, &pairs);
            let near = order.inside(&w, &margins);
            let apart = order.differences(&near).into_iter().zip(&margins).zip(order.are_equal());
            for ((s, margin), is_equal) in apart {
                match is_equal {
                    true => prop_assert_eq!(s, 0.0),
                    false => prop_assert!(s >= margin - 1e-14, "{} {}", s, margin),
                }
            }
            let again = order.inside(&near, &margins);
            for (a, b) in again.iter().zip(&near) {
                prop_assert!((a - b).abs() < 1e-13);
            }
        }

        #[test]
        fn features_at_rest_are_in_order_and_as_near_to_0_as_others_let_them(
            pairs in prop::collection::vec((0u32..13, 0u32..13), 0..25),
            w in prop::collection::vec(-2.0..2.0, 12),
            at_rest in prop::collection::vec(any::<bool>(), 12),
        ) {
            let order = order(12, &pairs);
            let w = order.project(&w);
            let features: Vec<u32> = (0..12).filter(|j| at_rest[*j as usize]).collect();
            let mut moved = w.clone();
            order.rest(&features, &mut moved);
            prop_assert!(order.differences(&moved).iter().all(|d| *d >= 0.0), "{moved:?}");
            for j in 0..12 {
                prop_assert!(at_rest[j] || moved[j] == w[j]);
                prop_assert!(moved[j].abs() <= w[j].abs());
            }
            // A second time nothing moves.
            let mut again = moved.clone();
            order.rest(&features, &mut again);
            prop_assert_eq!(again, moved);
        }

        #[test]
        fn products_diagonals_and_blocks_are_of_one_matrix(
            pairs in prop::collection::vec((0u32..7, 0u32..7), 0..12),
            p in prop::collection::vec(-2.0..2.0, 6),
            chosen in prop::collection::vec(any::<bool>(), 6),
        ) {
            let order = order(6, &pairs);
            let stiffness = Stiffness { pairs: order.pairs().iter().map(|pair| (*pair, 1.5)).collect() };
            let mut product = vec![0.0; 6];
            stiffness.add_product(&p, &mut product);
            let mut expected = vec![0.0; 6];
            order.add_transposed(1.5, &order.differences(&p), &mut expected);
            for (a, b) in product.iter().zip(&expected) {
                prop_assert!((a - b).abs() < 1e-12);
            }
            let column = |j: usize| {
                let mut unit = vec![0.0; 6];
                unit[j] = 1.0;
                let mut column = vec![0.0; 6];
                stiffness.add_product(&unit, &mut column);
                column
            };
            let mut diagonal = vec![0.0; 6];
            stiffness.add_diagonal(&mut diagonal);
            let some: Vec<u32> = (0..6).filter(|j| chosen[*j as usize]).collect();
            for columns in [Vec::new(), some] {
                let of: Vec<u32> = if columns.is_empty() { (0..6).collect() } else { columns.clone() };
                let b = of.len();
                let mut block = vec![0.0; b * b];
                stiffness.add_block(&columns, b, &mut block);
                for (i, &p) in of.iter().enumerate() {
                    prop_assert!((diagonal[p as usize] - column(p as usize)[p as usize]).abs() < 1e-12);
                    for (j, &q) in of[..=i].iter().enumerate() {
                        prop_assert!((block[i * b + j] - column(q as usize)[p as usize]).abs() < 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn chains_cycles_and_bounds_by_hand() {
        // 0 ≤ 1 ≤ 2, 3 = 4 by a cycle, 5 ≥ 0, 6 ≤ 0.
        let pairs = [[0, 1], [1, 2], [3, 4], [4, 3], [ZERO, 5], [6, ZERO]];
        let order = Order::new(8, pairs.to_vec()).unwrap();
        let near = order.project(&[1.0, 0.0, 2.0, 5.0, 7.0, -1.0, -3.0, 9.0]);
        assert_eq!(near, [0.5, 0.5, 2.0, 6.0, 6.0, 0.0, -3.0, 9.0]);
        let flat = Order::new(1, vec![[0, ZERO]]).unwrap().project(&[2.0]);
        assert!(flat[0] == 0.0 && flat[0].is_sign_positive());
        assert!(Order::new(3, vec![[0, 3]]).is_err());
        assert!(Order::new(0, Vec::new()).unwrap().project(&[]).is_empty());
    }
}
