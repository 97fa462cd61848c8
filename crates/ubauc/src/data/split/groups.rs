//! Splits that keep groups together: all visits of a patient are in one part.
//!
//! Part f is to have the share t_f of each class: 1/k for k folds, s and 1 − s for a part held out.
//! Group g has the shares v_g = (p/N⁺, q/N⁻) of the positives and negatives. Groups are taken in
//! random order, but large ones first: by the power of two of the sum of their shares, so that small
//! groups even out what large ones leave. (scikit-learn's `StratifiedGroupKFold` sorts by how uneven
//! the classes of a group are, which leaves large even groups for last, and by exact sizes, after
//! which no chance is left if no two are alike.) Each goes to the part where the distance
//!
//!   Φ = Σ_f ‖x_f − t_f X‖²/t_f = Σ_f ‖x_f‖²/t_f − ‖X‖² ,   x_f the shares in part f, X = Σ_f x_f
//!
//! stays smallest, that is, where (2 v·x_f + ‖v‖²)/t_f is; of equal parts to the one of fewest
//! examples. By any f, Φ grows by Δ_f with Σ_f t_f Δ_f = 2v·X + k‖v‖² − 2v·X − ‖v‖², so the least
//! is at most (k − 1)‖v‖², and in the end, where X = (1, 1),
//!
//!   Σ_f ‖x_f − t_f‖²/t_f ≤ (k − 1) Σ_g ‖v_g‖²
//!
//! which is little where groups are many and small.
//!
//! Every part gets both classes. A part is not open to a group if the groups after it could then
//! no longer give each part what it lacks ([`Lacking::can_be_met`]); one part always is, if at the
//! beginning there are at least k groups with positives and k with negatives. (Only where that closes
//! the best part may the inequality fail.)
//!
//! Cost O(N + G log G + Gk) for G groups. The split depends on which rows are together, not on the
//! numbers of the groups, and is the same on every platform. It needs no more than the counts of each
//! group, so that rows which are anywhere are dealt as those of one machine.

use std::cmp::Reverse;
use std::collections::HashMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

use super::{at_least_two, share_between};
use crate::{Error, Result};

/// The fold of every example, from 0 to k − 1, where examples of one value in `groups` are in one
/// fold, and every fold has both classes and, as nearly as groups allow, equal shares of each.
pub fn group_folds(positive: &[bool], groups: &[u32], k: u32, seed: u64) -> Result<Vec<u32>> {
    let rows = GroupedRows::new(positive, groups)?;
    Ok(rows.each(&folds_of_groups(&rows.counts, k, seed)?))
}

/// Which examples are held out, where examples of one value in `groups` stay together: as nearly as
/// groups allow the given share of each class; both parts have both classes.
pub fn group_hold_out(
    positive: &[bool],
    groups: &[u32],
    share: f64,
    seed: u64,
) -> Result<Vec<bool>> {
    let rows = GroupedRows::new(positive, groups)?;
    Ok(rows.each(&hold_out_groups(&rows.counts, share, seed)?))
}

/// The fold of every group, by how many positives and negatives it has; groups are in the order in
/// which they first appear among the examples, wherever these are.
pub fn folds_of_groups(counts: &[[usize; 2]], k: u32, seed: u64) -> Result<Vec<u32>> {
    at_least_two(k)?;
    let groups = Groups::new(counts, seed);
    groups.enough(k as usize, &format!("{k} folds"))?;
    let part = groups.assign(&vec![1.0 / f64::from(k); k as usize]);
    Ok(part.into_iter().map(|f| f as u32).collect())
}

/// Which groups are held out, likewise.
pub fn hold_out_groups(counts: &[[usize; 2]], share: f64, seed: u64) -> Result<Vec<bool>> {
    share_between(share)?;
    let groups = Groups::new(counts, seed);
    groups.enough(2, "2 parts")?;
    let part = groups.assign(&[1.0 - share, share]);
    Ok(part.into_iter().map(|f| f == 1).collect())
}

/// Examples in groups, which are numbered in the order in which they first appear.
pub struct GroupedRows {
    group_of: Vec<usize>,
    /// Positives and negatives of each group.
    pub counts: Vec<[usize; 2]>,
}

impl GroupedRows {
    /// Of one group for each example; the numbers of the groups mean nothing.
    pub fn new(positive: &[bool], groups: &[u32]) -> Result<GroupedRows> {
        if groups.len() != positive.len() {
            return Err(Error::Length {
                what: "groups",
                expected: positive.len(),
                got: groups.len(),
            });
        }
        let mut numbers: HashMap<u32, usize> = HashMap::new();
        let mut counts: Vec<[usize; 2]> = Vec::new();
        let number = |(group, positive): (&u32, &bool)| {
            let group = *numbers.entry(*group).or_insert(counts.len());
            if group == counts.len() {
                counts.push([0; 2]);
            }
            counts[group][usize::from(!positive)] += 1;
            group
        };
        let group_of = groups.iter().zip(positive).map(number).collect();
        Ok(GroupedRows { group_of, counts })
    }

    /// What each example has of what each group has.
    pub fn each<T: Copy>(&self, of_groups: &[T]) -> Vec<T> {
        self.group_of.iter().map(|&g| of_groups[g]).collect()
    }
}

/// The examples of one group.
struct Group {
    /// Its number, in the order of appearance.
    number: usize,
    /// Positives and negatives.
    n: [usize; 2],
}

impl Group {
    fn has(&self) -> [bool; 2] {
        self.n.map(|n| n > 0)
    }
}

/// All groups, in the order in which they are assigned.
struct Groups {
    groups: Vec<Group>,
    /// All positives and negatives.
    n: [usize; 2],
}

impl Groups {
    fn new(counts: &[[usize; 2]], seed: u64) -> Self {
        let groups = counts.iter().enumerate();
        let mut groups: Vec<Group> = groups.map(|(number, &n)| Group { number, n }).collect();
        groups.shuffle(&mut Pcg64::seed_from_u64(seed));
        let n = [0, 1].map(|class| counts.iter().map(|n| n[class]).sum());
        let [n_pos, n_neg] = n.map(|n: usize| n as u128);
        // p/N⁺ + q/N⁻ in units of 1/(N⁺N⁻); if a class is missing, the split is refused anyway.
        let size = |[p, q]: [usize; 2]| p as u128 * n_neg + q as u128 * n_pos;
        groups.sort_by_key(|group| Reverse(size(group.n).checked_ilog2()));
        Self { groups, n }
    }

    fn enough(&self, parts: usize, what: &str) -> Result<()> {
        for (class, name) in ["positive", "negative"].into_iter().enumerate() {
            let n = (self.groups.iter())
                .filter(|group| group.has()[class])
                .count();
            if n < parts {
                let groups = if n == 1 { "group has" } else { "groups have" };
                return Err(Error::Classes {
                    what: format!(
                        "{n} {groups} {name} examples: too few for {what} with both classes"
                    ),
                });
            }
        }
        Ok(())
    }

    /// The part of each group; part f is to have the share `targets[f]`.
    fn assign(&self, targets: &[f64]) -> Vec<usize> {
        let mut parts = vec![[0; 2]; targets.len()];
        let mut lacking = Lacking::new(&self.groups, targets.len());
        let mut part_of = vec![0; self.groups.len()];
        for group in &self.groups {
            lacking.take(group.has());
            let open =
                (0..parts.len()).filter(|&f| lacking.with(group.has(), parts[f]).can_be_met());
            let rank = |&f: &usize| (self.growth(group.n, parts[f]) / targets[f], parts[f]);
            let best = open.min_by(|a, b| {
                let ((a, n_a), (b, n_b)) = (rank(a), rank(b));
                let examples = |n: [usize; 2]| n[0] + n[1];
                a.total_cmp(&b).then(examples(n_a).cmp(&examples(n_b)))
            });
            let best = best.unwrap_or_default(); // one part is always open
            lacking = lacking.with(group.has(), parts[best]);
            for class in [0, 1] {
                parts[best][class] += group.n[class];
            }
            part_of[group.number] = best;
        }
        part_of
    }

    /// 2 v·x + ‖v‖² for a group of n examples by class and a part of m.
    fn growth(&self, n: [usize; 2], m: [usize; 2]) -> f64 {
        let of_class = |class: usize| {
            let all = self.n[class] as f64;
            n[class] as f64 / all * ((2 * m[class] + n[class]) as f64 / all)
        };
        of_class(0) + of_class(1)
    }
}

/// Which classes parts still lack, and what groups are left to give them.
#[derive(Clone, Copy)]
struct Lacking {
    /// Parts that lack only positives, only negatives, both.
    parts: [usize; 3],
    /// Groups left that have only positives, only negatives, both.
    groups: [usize; 3],
}

/// The place in the lists of [`Lacking`].
fn place(classes: [bool; 2]) -> Option<usize> {
    match classes {
        [true, false] => Some(0),
        [false, true] => Some(1),
        [true, true] => Some(2),
        [false, false] => None,
    }
}

impl Lacking {
    fn new(groups: &[Group], parts: usize) -> Self {
        let mut found = Self {
            parts: [0, 0, parts],
            groups: [0; 3],
        };
        for place in groups.iter().filter_map(|group| place(group.has())) {
            found.groups[place] += 1;
        }
        found
    }

    /// A group is no longer left.
    fn take(&mut self, has: [bool; 2]) {
        if let Some(place) = place(has) {
            self.groups[place] -= 1;
        }
    }

    /// After a group is put into a part of this many examples.
    fn with(mut self, has: [bool; 2], part: [usize; 2]) -> Self {
        let before = part.map(|n| n == 0);
        let after = [before[0] && !has[0], before[1] && !has[1]];
        if let Some(place) = place(before) {
            self.parts[place] -= 1;
        }
        if let Some(place) = place(after) {
            self.parts[place] += 1;
        }
        self
    }

    /// Whether the groups left can give every part what it lacks: those of both classes first where
    /// both are lacking, where one does the work of two; what is left of them in place of either.
    fn can_be_met(&self) -> bool {
        let [no_pos, no_neg, neither] = self.parts;
        let [pos, neg, both] = self.groups;
        let (neither, both) = (neither.saturating_sub(both), both.saturating_sub(neither));
        let missing =
            (no_pos + neither).saturating_sub(pos) + (no_neg + neither).saturating_sub(neg);
        missing <= both
    }
}

#[cfg(test)]
mod tests;
