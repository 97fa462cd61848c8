//! Weights of groups of features: w = S v, with one weight v_g for each group and the penalty on v.
//!
//! ```text
//! w_j = Σ_{groups g with j in g} factor_g v_g,    P(v) = loss(X S v) + (γ/2)‖v‖²
//! ```
//!
//! Bins of several widths are such groups: a bin of a coarse width is the group of the fine cells in it, so that rows need
//! to know their fine cell alone, and the model keeps one table w. Features that share a group belong together; S falls
//! into such components. Where SSᵀ is positive definite, with SSᵀ = LLᵀ the problem in v is the problem in as many
//! variables as there are features:
//!
//! ```text
//! min_v loss(XSv) + (γ/2)‖v‖²  =  min_t loss(XLt) + (γ/2)‖t‖²,    w = Sv = Lt,    v = Sᵀ(SSᵀ)⁻¹w
//! ```
//!
//! since of all v with Sv = w this one has the least norm, wᵀ(SSᵀ)⁻¹w = ‖t‖². Its gradient in v is Sᵀ(g + Nγ(SSᵀ)⁻¹w),
//! of the same norm as the gradient Lᵀg + Nγt in t: a certificate in t is a certificate of the expanded problem XS. L is of
//! the size of a component, which for nested bins is the number of fine cells in a bin of the coarsest width.
//!
//! SSᵀ is positive definite for intervals, whatever their ends, since their indicators span all step functions; and where
//! groups are nested, as long as no two features are in the same groups.

use crate::data::rows::dot;
use crate::solver::cholesky::Cholesky;
use crate::{Error, Result};

/// Features with a weight in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Of the weight; above 0.
    pub factor: f64,
    /// Groups of one family have one factor where factors are learned.
    pub family: u32,
    /// The features, each once.
    pub features: Vec<u32>,
}

/// S, and the root L of SSᵀ.
#[derive(Debug, Clone)]
pub struct Nesting {
    groups: Vec<Group>,
    /// L_jj of a feature that is a component of its own; 1 for the others.
    alone: Vec<f64>,
    components: Vec<Component>,
}

/// Features that share groups.
#[derive(Debug, Clone)]
struct Component {
    /// Ascending.
    features: Vec<u32>,
    root: Cholesky,
}

impl Nesting {
    /// Of `cols` features. Refuses features in no group, and groups that do not tell all features apart.
    pub fn new(cols: usize, groups: Vec<Group>) -> Result<Nesting> {
        check_groups(cols, &groups)?;
        let of_feature = components(cols, &groups);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); cols];
        for (j, &component) in of_feature.iter().enumerate() {
            members[component as usize].push(j as u32);
        }
        // Where each feature is in its component.
        let mut place = vec![0; cols];
        for features in &members {
            for (at, &j) in features.iter().enumerate() {
                place[j as usize] = at;
            }
        }
        let mut squares: Vec<Vec<f64>> =
            members.iter().map(|m| vec![0.0; m.len().pow(2)]).collect();
        for group in &groups {
            let Some(&first) = group.features.first() else {
                continue;
            };
            let component = of_feature[first as usize] as usize;
            let k = members[component].len();
            let square = &mut squares[component];
            for &i in &group.features {
                for &j in &group.features {
                    square[place[i as usize] * k + place[j as usize]] +=
                        group.factor * group.factor;
                }
            }
        }
        let mut nesting = Nesting {
            groups,
            alone: vec![1.0; cols],
            components: Vec::new(),
        };
        for (features, square) in members.into_iter().zip(squares) {
            match features.as_slice() {
                [] => {}
                [j] => nesting.alone[*j as usize] = square[0].sqrt(),
                _ => {
                    let root = Cholesky::new(square, features.len())
                        .ok_or_else(|| refused("the same groups for two features", TOLD_APART))?;
                    nesting.components.push(Component { features, root });
                }
            }
        }
        match nesting.alone.iter().position(|x| *x == 0.0) {
            None => Ok(nesting),
            Some(j) => Err(refused(
                &format!("feature {j} in no group"),
                "of all features",
            )),
        }
    }

    /// Number of features.
    pub fn cols(&self) -> usize {
        self.alone.len()
    }

    /// The columns of S.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// S v.
    pub fn expand(&self, v: &[f64]) -> Vec<f64> {
        let mut w = vec![0.0; self.cols()];
        for (group, v) in self.groups.iter().zip(v) {
            for &j in &group.features {
                w[j as usize] += group.factor * v;
            }
        }
        w
    }

    /// t ← Lt: weights of the features.
    pub(crate) fn to_weights(&self, t: &mut [f64]) {
        t.iter_mut().zip(&self.alone).for_each(|(t, l)| *t *= l);
        self.each_component(t, |component, part| component.root.times(part));
    }

    /// w ← L⁻¹w.
    pub(crate) fn undo_weights(&self, w: &mut [f64]) {
        w.iter_mut().zip(&self.alone).for_each(|(w, l)| *w /= l);
        self.each_component(w, |component, part| component.root.forward(part));
    }

    /// g ← Lᵀg: sums over features, or a row of them.
    pub(crate) fn to_gradient(&self, g: &mut [f64]) {
        g.iter_mut().zip(&self.alone).for_each(|(g, l)| *g *= l);
        self.each_component(g, |component, part| component.root.times_transposed(part));
    }

    /// The numbers of each component, gathered and written back.
    fn each_component(&self, x: &mut [f64], change: impl Fn(&Component, &mut [f64])) {
        let mut part = Vec::new();
        for component in &self.components {
            part.clear();
            part.extend(component.features.iter().map(|&j| x[j as usize]));
            change(component, &mut part);
            for (&j, value) in component.features.iter().zip(&part) {
                x[j as usize] = *value;
            }
        }
    }

    /// A ← LᵀAL of a symmetric matrix, of which the lower triangle is read and written.
    pub(crate) fn to_square(&self, a: &mut [f64]) {
        let d = self.cols();
        for i in 0..d {
            for j in 0..i {
                a[j * d + i] = a[i * d + j];
            }
        }
        a.chunks_exact_mut(d.max(1))
            .for_each(|row| self.to_gradient(row));
        for (row, l) in a.chunks_exact_mut(d.max(1)).zip(&self.alone) {
            row.iter_mut().for_each(|x| *x *= l);
        }
        let mut sum = vec![0.0; d];
        for Component { features, root } in &self.components {
            // Row j is made of the rows from j on: those before are not needed any more.
            for (at, &j) in features.iter().enumerate() {
                sum.fill(0.0);
                for (below, &i) in features.iter().enumerate().skip(at) {
                    let row = &a[i as usize * d..(i as usize + 1) * d];
                    crate::data::rows::add_to(root.entry(below, at), row, &mut sum);
                }
                a[j as usize * d..(j as usize + 1) * d].copy_from_slice(&sum);
            }
        }
    }

    /// x ← the diagonal of Lᵀdiag(x)L: that of LᵀXᵀXL where no row has two features of a component.
    pub(crate) fn to_diagonal(&self, x: &mut [f64]) {
        x.iter_mut().zip(&self.alone).for_each(|(x, l)| *x *= l * l);
        self.each_component(x, |component, part| {
            for at in 0..part.len() {
                let below = at..part.len();
                part[at] = below
                    .map(|i| component.root.entry(i, at).powi(2) * part[i])
                    .sum();
            }
        });
    }

    /// The features of each component of more than one, and Lᵀdiag(x)L of it, lower triangle.
    pub(crate) fn blocks(&self, x: &[f64]) -> Vec<(Vec<u32>, Vec<f64>)> {
        let block = |Component { features, root }: &Component| {
            let k = features.len();
            let mut square = vec![0.0; k * k];
            for i in 0..k {
                for j in 0..=i {
                    let sum = (i..k)
                        .map(|c| root.entry(c, i) * x[features[c] as usize] * root.entry(c, j));
                    square[i * k + j] = sum.sum();
                }
            }
            (features.clone(), square)
        };
        self.components.iter().map(block).collect()
    }

    /// The same groups with the factor of each family.
    pub(crate) fn with_factors(&self, of_families: &[f64]) -> Result<Nesting> {
        let changed = self.groups.iter().map(|group| Group {
            factor: of_families[group.family as usize],
            ..group.clone()
        });
        Nesting::new(self.cols(), changed.collect())
    }

    /// For every group its v_g of w = Sv, and how far rows determine it, between 0 and 1: 1 − ρ(M⁻¹)_gg with
    /// M = ρI + Sᵀdiag(h)S, where the curvature of the loss is diag(h), which it is within a component whose features
    /// exclude each other. With K = ρI + √h SSᵀ √h, of the size of the features, that is
    ///
    /// ```text
    /// I − ρM⁻¹ = Sᵀ√h K⁻¹ √h S
    /// ```
    pub(crate) fn determined(&self, w: &[f64], h: &[f64], ridge: f64) -> Vec<[f64; 2]> {
        let mut u: Vec<f64> = w.to_vec();
        u.iter_mut().zip(&self.alone).for_each(|(w, l)| *w /= l * l);
        self.each_component(&mut u, |component, part| component.root.solve(part));
        let weight = |group: &Group| -> f64 {
            let sum: f64 = group.features.iter().map(|&j| u[j as usize]).sum();
            group.factor * sum
        };
        let mut component_of = vec![usize::MAX; self.cols()];
        for (at, component) in self.components.iter().enumerate() {
            (component.features.iter()).for_each(|&j| component_of[j as usize] = at);
        }
        let mut groups_of: Vec<Vec<usize>> = vec![Vec::new(); self.components.len()];
        let mut found: Vec<[f64; 2]> = self.groups.iter().map(|g| [weight(g), 0.0]).collect();
        for (g, group) in self.groups.iter().enumerate() {
            let Some(&first) = group.features.first() else {
                continue;
            };
            let j = first as usize;
            match component_of[j] {
                usize::MAX => {
                    let all = ridge + h[j] * self.alone[j].powi(2);
                    found[g][1] = h[j] * group.factor.powi(2) / all;
                }
                at => groups_of[at].push(g),
            }
        }
        let each = self.components.iter().zip(&groups_of);
        for (component, groups) in each {
            let shares = self.shares(component, groups, h, ridge);
            for (&g, share) in groups.iter().zip(shares) {
                found[g][1] = share;
            }
        }
        found
    }

    /// The diagonal of Sᵀ√h K⁻¹ √h S for the groups of a component.
    fn shares(&self, of: &Component, groups: &[usize], h: &[f64], ridge: f64) -> Vec<f64> {
        let k = of.features.len();
        let roots: Vec<f64> = of.features.iter().map(|&j| h[j as usize].sqrt()).collect();
        let places = |g: usize| -> Vec<usize> {
            let features = self.groups[g].features.iter();
            features
                .filter_map(|j| of.features.binary_search(j).ok())
                .collect()
        };
        let places: Vec<Vec<usize>> = groups.iter().map(|&g| places(g)).collect();
        let squares: Vec<f64> = (groups.iter())
            .map(|&g| self.groups[g].factor.powi(2))
            .collect();
        let mut square = vec![0.0; k * k];
        for (of_group, factor) in places.iter().zip(&squares) {
            for &i in of_group {
                for &j in of_group {
                    square[i * k + j] += factor * roots[i] * roots[j];
                }
            }
        }
        (0..k).for_each(|i| square[i * k + i] += ridge);
        let Some(root) = Cholesky::new(square, k) else {
            return vec![0.0; groups.len()];
        };
        let mut column = vec![0.0; k];
        let share = |(of_group, factor): (&Vec<usize>, &f64)| {
            column.fill(0.0);
            of_group.iter().for_each(|&i| column[i] = roots[i]);
            root.forward(&mut column);
            (factor * dot(&column, &column)).min(1.0)
        };
        places.iter().zip(&squares).map(share).collect()
    }

    /// The features of every component, those that are alone included.
    pub(crate) fn members(&self) -> Vec<Vec<u32>> {
        let mut in_component = vec![false; self.cols()];
        let mut members: Vec<Vec<u32>> = Vec::with_capacity(self.components.len());
        for component in &self.components {
            component
                .features
                .iter()
                .for_each(|&j| in_component[j as usize] = true);
            members.push(component.features.clone());
        }
        let alone = (0..self.cols()).filter(|&j| !in_component[j]);
        members.extend(alone.map(|j| vec![j as u32]));
        members
    }

    /// Of some features, ascending, alone, which are numbered from 0: whole components only.
    pub(crate) fn part(&self, of: &[u32]) -> Nesting {
        let place = |j: u32| of.binary_search(&j).ok().map(|at| at as u32);
        let component = |Component { features, root }: &Component| {
            let features: Option<Vec<u32>> = features.iter().map(|&j| place(j)).collect();
            Some(Component {
                features: features?,
                root: root.clone(),
            })
        };
        Nesting {
            groups: Vec::new(),
            alone: of.iter().map(|&j| self.alone[j as usize]).collect(),
            components: self.components.iter().filter_map(component).collect(),
        }
    }

    /// The entries of Lᵀx of one row.
    pub(crate) fn to_entries(&self, x: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
        let mut full = vec![0.0; self.cols()];
        x.into_iter().for_each(|(j, x)| full[j as usize] = x);
        self.to_gradient(&mut full);
        let entries = full.into_iter().enumerate().filter(|(_, x)| *x != 0.0);
        entries.map(|(j, x)| (j as u32, x)).collect()
    }
}

const TOLD_APART: &str = "such that any two features differ in their groups";

fn refused(value: &str, must: &'static str) -> Error {
    Error::Parameter {
        name: "groups of features",
        value: value.to_string(),
        must,
    }
}

fn check_groups(cols: usize, groups: &[Group]) -> Result<()> {
    let mut last_group = vec![usize::MAX; cols];
    for (g, group) in groups.iter().enumerate() {
        if !(group.factor > 0.0 && group.factor.is_finite()) {
            return Err(refused(
                &format!("a factor of {}", group.factor),
                "finite and above 0",
            ));
        }
        for &j in &group.features {
            match last_group.get_mut(j as usize) {
                Some(last) if *last != g => *last = g,
                Some(_) => {
                    return Err(refused(
                        &format!("feature {j} twice"),
                        "of distinct features",
                    ));
                }
                None => {
                    return Err(refused(
                        &format!("feature {j}"),
                        "of features that there are",
                    ));
                }
            }
        }
    }
    match last_group.iter().position(|last| *last == usize::MAX) {
        None => Ok(()),
        Some(j) => Err(refused(
            &format!("feature {j} in no group"),
            "of all features",
        )),
    }
}

/// For each feature the first one that is connected with it through groups.
fn components(cols: usize, groups: &[Group]) -> Vec<u32> {
    let mut parent: Vec<u32> = (0..cols as u32).collect();
    fn root(parent: &mut [u32], mut j: u32) -> u32 {
        while parent[j as usize] != j {
            parent[j as usize] = parent[parent[j as usize] as usize];
            j = parent[j as usize];
        }
        j
    }
    for group in groups {
        for pair in group.features.windows(2) {
            let (a, b) = (root(&mut parent, pair[0]), root(&mut parent, pair[1]));
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    (0..cols as u32).map(|j| root(&mut parent, j)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(factor: f64, features: &[u32]) -> Group {
        Group {
            factor,
            family: 0,
            features: features.to_vec(),
        }
    }

    /// Two widths over features 1 to 4, 0 alone, 5 alone in two groups.
    fn example() -> Nesting {
        let groups = vec![
            group(1.0, &[0]),
            group(0.5, &[1, 2]),
            group(0.5, &[3, 4]),
            group(0.5, &[1]),
            group(0.5, &[2, 3]),
            group(0.5, &[4]),
            group(0.5, &[5]),
            group(0.5, &[5]),
        ];
        Nesting::new(6, groups).unwrap()
    }

    /// S, a row for each feature.
    fn matrix(nesting: &Nesting) -> Vec<Vec<f64>> {
        let unit = |g: usize| -> Vec<f64> {
            (0..nesting.groups.len())
                .map(|k| f64::from(k == g))
                .collect()
        };
        let columns: Vec<Vec<f64>> = (0..nesting.groups.len())
            .map(|g| nesting.expand(&unit(g)))
            .collect();
        (0..nesting.cols())
            .map(|j| columns.iter().map(|c| c[j]).collect())
            .collect()
    }

    #[test]
    fn the_root_times_itself_is_the_square_of_the_groups() {
        let nesting = example();
        let s = matrix(&nesting);
        assert_eq!(s[1], [0.0, 0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0]);
        for j in 0..6 {
            // L Lᵀ e_j.
            let mut column = vec![0.0; 6];
            column[j] = 1.0;
            nesting.to_gradient(&mut column);
            nesting.to_weights(&mut column);
            for i in 0..6 {
                assert!((column[i] - dot(&s[i], &s[j])).abs() < 1e-15, "{i} {j}");
            }
        }
    }

    /// By the inverse of the whole matrix.
    #[test]
    fn groups_are_determined_as_the_inverse_has_it() {
        let nesting = example();
        let s = matrix(&nesting);
        let (ridge, k) = (0.3, nesting.groups.len());
        let h = [2.0, 0.5, 0.0, 3.0, 1.0, 4.0];
        let w = [1.0, -2.0, 0.5, 0.25, 3.0, -1.0];
        let found = nesting.determined(&w, &h, ridge);
        let v: Vec<f64> = found.iter().map(|[v, _]| *v).collect();
        let expanded = nesting.expand(&v);
        assert!(w.iter().zip(&expanded).all(|(a, b)| (a - b).abs() < 1e-12));
        // Of least norm: orthogonal to where two groups cancel.
        assert!((v[6] - v[7]).abs() < 1e-12);
        let mut a = vec![0.0; k * k];
        for x in 0..k {
            a[x * k + x] = ridge;
            for y in 0..k {
                a[x * k + y] += (0..6).map(|j| s[j][x] * h[j] * s[j][y]).sum::<f64>();
            }
        }
        let root = Cholesky::new(a, k).unwrap();
        for (g, [_, share]) in found.iter().enumerate() {
            let mut column: Vec<f64> = (0..k).map(|i| f64::from(i == g)).collect();
            root.solve(&mut column);
            assert!((share - (1.0 - ridge * column[g])).abs() < 1e-12, "{g}");
        }
    }

    #[test]
    fn families_change_their_factors_together() {
        let mut groups = example().groups;
        (groups.iter_mut().zip(0..)).for_each(|(group, at)| group.family = u32::from(at >= 3));
        let nesting = Nesting::new(6, groups).unwrap();
        let changed = nesting.with_factors(&[2.0, 0.25]).unwrap();
        let factors: Vec<f64> = changed.groups().iter().map(|g| g.factor).collect();
        assert_eq!(factors, [2.0, 2.0, 2.0, 0.25, 0.25, 0.25, 0.25, 0.25]);
        let mut t = vec![1.0; 6];
        changed.to_weights(&mut t);
        changed.undo_weights(&mut t);
        assert!(t.iter().all(|t| (t - 1.0).abs() < 1e-12));
    }

    #[test]
    fn weights_go_there_and_back() {
        let nesting = example();
        let w: Vec<f64> = (0..6).map(|j| f64::from(j * j) - 3.0).collect();
        let mut t = w.clone();
        nesting.undo_weights(&mut t);
        nesting.to_weights(&mut t);
        assert!(t.iter().zip(&w).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn a_square_is_turned_from_both_sides() {
        let nesting = example();
        let d = 6;
        let mut a: Vec<f64> = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..=i {
                a[i * d + j] = (i * 7 + j * 3) as f64 % 5.0 - 2.0;
            }
        }
        let full = |i: usize, j: usize| a[i.max(j) * d + i.min(j)];
        let unit = |j: usize| -> Vec<f64> {
            let mut x = vec![0.0; d];
            x[j] = 1.0;
            nesting.to_weights(&mut x);
            x
        };
        let mut turned = a.clone();
        nesting.to_square(&mut turned);
        for i in 0..d {
            for j in 0..=i {
                let (x, y) = (unit(i), unit(j));
                let pairs = (0..d).flat_map(|p| (0..d).map(move |q| (p, q)));
                let expected: f64 = pairs.map(|(p, q)| x[p] * full(p, q) * y[q]).sum();
                assert!((turned[i * d + j] - expected).abs() < 1e-12, "{i} {j}");
            }
        }
    }

    #[test]
    fn the_diagonal_and_the_blocks_are_those_of_the_square() {
        let nesting = example();
        let x: Vec<f64> = (1..=6).map(f64::from).collect();
        let mut a = vec![0.0; 36];
        (0..6).for_each(|j| a[j * 7] = x[j]);
        nesting.to_square(&mut a);
        let mut diagonal = x.clone();
        nesting.to_diagonal(&mut diagonal);
        (0..6).for_each(|j| assert!((a[j * 7] - diagonal[j]).abs() < 1e-12));
        for (features, block) in nesting.blocks(&x) {
            for (i, &p) in features.iter().enumerate() {
                for (j, &q) in features[..=i].iter().enumerate() {
                    let expected = a[p as usize * 6 + q as usize];
                    assert!((block[i * features.len() + j] - expected).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn part_and_members_keep_components_whole() {
        let nesting = example();
        let mut members = nesting.members();
        members.sort();
        assert_eq!(members, [vec![0], vec![1, 2, 3, 4], vec![5]]);
        let part = nesting.part(&[1, 2, 3, 4, 5]);
        let mut some = vec![1.0, -2.0, 3.0, 0.5, 2.0];
        let mut all = vec![0.0, 1.0, -2.0, 3.0, 0.5, 2.0];
        part.to_gradient(&mut some);
        nesting.to_gradient(&mut all);
        assert_eq!(some, all[1..]);
        let entries = nesting.to_entries(vec![(0, 2.0), (5, 1.0)]);
        assert_eq!(entries, [(0, 2.0), (5, 0.5_f64.sqrt())]);
    }

    #[test]
    fn groups_without_a_meaning_are_refused() {
        let refused = |groups: Vec<Group>| {
            assert!(matches!(
                Nesting::new(2, groups),
                Err(Error::Parameter { .. })
            ));
        };
        refused(vec![group(1.0, &[0])]);
        refused(vec![group(1.0, &[0, 1])]);
        refused(vec![group(1.0, &[0]), group(1.0, &[2])]);
        refused(vec![group(1.0, &[0, 0]), group(1.0, &[1])]);
        refused(vec![group(0.0, &[0]), group(1.0, &[1])]);
        refused(vec![group(f64::NAN, &[0]), group(1.0, &[1])]);
        assert!(Nesting::new(0, Vec::new()).is_ok());
    }
}
