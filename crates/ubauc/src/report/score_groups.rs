//! Examples of similar scores: the share of positives among them, and what was predicted.

use super::judged::{Curve, Group, by_score};
use crate::metrics::{Sample, wilson};

/// Groups of scores.
const GROUPS: usize = 10;

/// Scores from the lowest up, a group being full when it has its share; equal scores stay together.
pub(super) fn groups(
    curve: &Curve,
    sample: &Sample<'_>,
    probability: Option<&(dyn Fn(f64) -> f64 + Sync)>,
) -> Vec<Group> {
    let n = curve.pos + curve.neg;
    let mut groups: Vec<Group> = Vec::new();
    let mut lowest = Vec::new();
    let (mut seen, mut start) = (0.0, None);
    let tenth = |seen: f64| (seen * GROUPS as f64 / n).floor();
    for (score, pos, neg) in by_score(curve).rev() {
        if start.is_none_or(|start| tenth(seen) > tenth(start)) {
            start = Some(seen);
            lowest.push(score);
            groups.push(Group {
                low: Some(score).filter(|score| score.is_finite()),
                high: None,
                n: 0.0,
                n_pos: 0.0,
                share: 0.0,
                ci95: [0.0, 1.0],
                predicted: probability.map(|_| 0.0),
            });
        }
        if let Some(group) = groups.last_mut() {
            group.high = Some(score).filter(|score| score.is_finite());
            group.n += pos + neg;
            group.n_pos += pos;
            if let (Some(sum), Some(probability)) = (&mut group.predicted, probability) {
                *sum += probability(score) * (pos + neg);
            }
        }
        seen += pos + neg;
    }
    let sizes = effective_sizes(&lowest, sample);
    for (k, group) in groups.iter_mut().enumerate() {
        group.share = (group.n_pos / group.n).min(1.0);
        let size = sizes.as_ref().map_or(group.n, |sizes| sizes[k]);
        group.ci95 = wilson(group.share, size);
        group.predicted = group.predicted.map(|sum| sum / group.n);
    }
    groups
}

/// As how many independent examples those of each group of scores count, where they do not all count once.
fn effective_sizes(lowest: &[f64], sample: &Sample<'_>) -> Option<Vec<f64>> {
    if sample.weights.is_none() && sample.groups.is_none() {
        return None;
    }
    let mut members = vec![Vec::new(); lowest.len()];
    for (i, score) in sample.scores.iter().enumerate() {
        let place = lowest.partition_point(|low| low <= score);
        // What has no weight may lie below all that has some.
        members[place.max(1) - 1].push(i);
    }
    let size = |members: &Vec<usize>| sample.effective_size_of(members.iter().copied());
    Some(members.iter().map(size).collect())
}

/// Mean square of probability − class.
pub(super) fn brier(curve: &Curve, probability: &(dyn Fn(f64) -> f64 + Sync)) -> f64 {
    let sum: f64 = by_score(curve)
        .map(|(score, pos, neg)| {
            let p = probability(score);
            pos * (1.0 - p) * (1.0 - p) + neg * p * p
        })
        .sum();
    sum / (curve.pos + curve.neg)
}
