//! What is known of one scorer: all of it from its ROC curve, which has every distinct score with its counts, or weights.
//!
//! Where examples come in groups or have weights, the interval of AUC is theirs, and the band and the intervals of shares count as
//! many examples as there are independent ones of equal weight (`metrics/band.rs`).
//!
//! Curves are thinned for drawing. A point is kept where the curve has moved by δ, in either direction of the picture, since the
//! last one that was kept; whatever is left out lies within δ of the line that is drawn. δ is 1/400 of the side of the picture,
//! about a pixel, and is doubled until at most [`MOST`] points are left.

use serde::{Deserialize, Serialize};

use super::auc_part::{AucPart, as_count, count, counts, number_of};
use super::score_groups::{brier, groups};
use crate::Result;
use crate::metrics::{
    RocCurve, Sample, average_precision, roc_band, roc_curve, weighted_average_precision,
    weighted_roc_curve,
};

/// Points of a curve that are drawn.
const MOST: usize = 800;
/// Cuts that the slider has.
const MOST_CUTS: usize = 200;
/// The shares of positives to be found, of which the table of cuts has a row each.
const RECALLS: [f64; 11] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99];
/// Bars of the histogram.
const BARS: usize = 40;

/// What mistakes cost, in one unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Of a negative that is flagged.
    pub false_positive: f64,
    /// Of a positive that is not.
    pub false_negative: f64,
}

/// A scorer and what is asked of it.
pub struct Scored<'a> {
    /// What people call it.
    pub name: String,
    /// Scores and classes, and weights or groups; not both.
    pub sample: Sample<'a>,
    /// AUC and its interval, where it is another than the usual one of the sample.
    pub auc: Option<AucPart>,
    /// Where the model itself cuts.
    pub threshold: Option<f64>,
    /// From a score to a probability.
    pub probability: Option<&'a (dyn Fn(f64) -> f64 + Sync)>,
}

/// A scorer, judged.
#[derive(Debug, Clone, Serialize)]
pub struct Judged {
    /// What people call it.
    pub name: String,
    /// AUC and its interval.
    #[serde(flatten)]
    pub auc: AucPart,
    /// Mean precision over the positives.
    pub average_precision: f64,
    /// How far FPR and TPR of the whole curve can be from the truth.
    pub band: [f64; 2],
    /// Distinct scores, of which the curves were thinned.
    pub distinct: usize,
    /// The ROC curve.
    pub roc: Vec<Cut>,
    /// The curve of precision by recall; without the point where nobody is flagged.
    pub precision_recall: Vec<Cut>,
    /// Cuts for the slider, those that flag fewest first.
    pub cuts: Vec<Cut>,
    /// Cuts that have a name, those that flag fewest first.
    pub table: Vec<NamedCut>,
    /// Scores by class.
    pub histogram: Histogram,
    /// Groups of about equal numbers of examples, of the lowest scores first.
    pub groups: Vec<Group>,
    /// Mean square of probability − class, where there are probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brier: Option<f64>,
}

/// A cut and what it does: examples that score at least so much are flagged.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cut {
    /// None, and +∞ in the mathematics, where nobody is flagged.
    pub cut: Option<f64>,
    /// Positives that are flagged, or their weight.
    #[serde(serialize_with = "count")]
    pub tp: f64,
    /// Negatives that are.
    #[serde(serialize_with = "count")]
    pub fp: f64,
    /// tp of all positives.
    pub recall: f64,
    /// fp of all negatives.
    pub false_alarms: f64,
    /// tp of all that are flagged; none where nobody is.
    pub precision: Option<f64>,
    /// Flagged of all.
    pub flagged: f64,
    /// By the costs that were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// A cut of the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedCut {
    /// Why it is there.
    pub why: Vec<Why>,
    /// The cut.
    #[serde(flatten)]
    pub cut: Cut,
}

/// Why a cut is in the table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// It flags as few as find this share of the positives.
    Recall(f64),
    /// It is the model's own.
    Model,
    /// It flags as many as there are positives, or as few more as ties allow.
    AsMany,
    /// The difference of recall and false alarms is largest.
    Balance,
    /// No other costs less.
    Cheapest,
}

/// How many of each class score what.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Histogram {
    /// One more than bars.
    pub edges: Vec<f64>,
    /// Positives in each bar; those beyond the edges are in the outermost ones.
    #[serde(serialize_with = "counts")]
    pub positive: Vec<f64>,
    /// Negatives in each.
    #[serde(serialize_with = "counts")]
    pub negative: Vec<f64>,
    /// Examples beyond the edges.
    #[serde(serialize_with = "count")]
    pub beyond: f64,
}

/// Examples of similar scores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The lowest score; none where it is infinite.
    pub low: Option<f64>,
    /// The highest.
    pub high: Option<f64>,
    /// Examples.
    #[serde(serialize_with = "count")]
    pub n: f64,
    /// Positives among them.
    #[serde(serialize_with = "count")]
    pub n_pos: f64,
    /// Their share.
    pub share: f64,
    /// Wilson's 95 % interval of it.
    pub ci95: [f64; 2],
    /// The mean probability that was predicted, where there are probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<f64>,
}

impl Judged {
    /// Judges a scorer.
    pub fn new(scored: &Scored<'_>, costs: Option<Costs>) -> Result<Judged> {
        let sample = &scored.sample;
        let Sample {
            scores, positive, ..
        } = *sample;
        let mut auc = match &scored.auc {
            Some(auc) => auc.clone(),
            None => AucPart::of(sample)?,
        };
        auc.n_groups = sample.groups.map(number_of);
        let (curve, corners, precision) = match sample.weights {
            None => {
                let curve = roc_curve(scores, positive)?;
                let corners = Curve::from(curve.without_collinear());
                let precision = average_precision(scores, positive)?;
                (Curve::from(curve), Some(corners), precision)
            }
            Some(weights) => {
                let curve = weighted_roc_curve(scores, positive, weights)?;
                let curve = Curve {
                    thresholds: curve.thresholds,
                    rates: [curve.fpr, curve.tpr],
                    fp: curve.fp,
                    tp: curve.tp,
                    neg: curve.weight_neg,
                    pos: curve.weight_pos,
                };
                let precision = weighted_average_precision(scores, positive, weights)?;
                (curve, None, precision)
            }
        };
        let [m_neg, m_pos] = sample.effective_sizes();
        let all = Cuts {
            curve: &curve,
            costs,
        };
        let roc = |cut: &Cut| [cut.false_alarms, cut.recall];
        let by_precision = |cut: &Cut| [cut.recall, cut.precision.unwrap_or(1.0)];
        let slider = |cut: &Cut| {
            let precision = cut.precision.unwrap_or(1.0);
            [cut.false_alarms, cut.recall, precision]
        };
        let lossless = Cuts {
            curve: corners.as_ref().unwrap_or(&curve),
            costs,
        };
        let groups = groups(&curve, sample, scored.probability);
        Ok(Judged {
            name: scored.name.clone(),
            average_precision: precision,
            band: roc_band(m_pos, m_neg),
            distinct: curve.thresholds.len() - 1,
            roc: thinned(&lossless, 0, MOST, roc),
            precision_recall: thinned(&all, 1, MOST, by_precision),
            cuts: thinned(&all, 0, MOST_CUTS, slider),
            table: all.named(scored.threshold),
            histogram: Histogram::new(&curve),
            brier: scored
                .probability
                .map(|probability| brier(&curve, probability)),
            groups,
            auc,
        })
    }

    /// The cut to begin with: the cheapest, the model's own if it flags anything, or the one that flags as many as there are positives.
    pub fn first_cut(&self) -> Option<&NamedCut> {
        let by = |why: Why| self.table.iter().find(|row| row.why.contains(&why));
        by(Why::Cheapest)
            .or_else(|| by(Why::Model).filter(|row| row.cut.flagged > 0.0))
            .or_else(|| by(Why::AsMany))
            .or_else(|| by(Why::Balance))
    }

    /// The model's own cut, where it flags nothing.
    pub fn idle_cut(&self) -> Option<f64> {
        let own = (self.table.iter()).find(|row| row.why.contains(&Why::Model));
        own.filter(|row| row.cut.flagged == 0.0)?.cut.cut
    }

    /// The share of positives.
    pub fn prevalence(&self) -> f64 {
        let [neg, pos] = self.auc.totals();
        pos / (pos + neg)
    }
}

/// A ROC curve of examples that count once or have weights.
pub(super) struct Curve {
    thresholds: Vec<f64>,
    /// False and true positive rates.
    rates: [Vec<f64>; 2],
    fp: Vec<f64>,
    tp: Vec<f64>,
    pub(super) neg: f64,
    pub(super) pos: f64,
}

impl From<RocCurve> for Curve {
    fn from(curve: RocCurve) -> Curve {
        let number = |counts: Vec<u64>| counts.into_iter().map(|n| n as f64).collect();
        Curve {
            thresholds: curve.thresholds,
            rates: [curve.fpr, curve.tpr],
            fp: number(curve.fp),
            tp: number(curve.tp),
            neg: curve.n_neg as f64,
            pos: curve.n_pos as f64,
        }
    }
}

/// A curve with costs.
struct Cuts<'a> {
    curve: &'a Curve,
    costs: Option<Costs>,
}

impl Cuts<'_> {
    fn at(&self, k: usize) -> Cut {
        let curve = self.curve;
        let (tp, fp) = (curve.tp[k], curve.fp[k]);
        let flagged = tp + fp;
        let cost =
            |costs: Costs| costs.false_positive * fp + costs.false_negative * (curve.pos - tp);
        Cut {
            cut: Some(curve.thresholds[k]).filter(|cut| cut.is_finite()),
            tp,
            fp,
            recall: curve.rates[1][k],
            false_alarms: curve.rates[0][k],
            precision: (flagged > 0.0).then(|| tp / flagged),
            flagged: flagged / (curve.pos + curve.neg),
            cost: self.costs.map(cost),
        }
    }

    fn len(&self) -> usize {
        self.curve.tp.len()
    }

    /// The rows of the table.
    fn named(&self, threshold: Option<f64>) -> Vec<NamedCut> {
        let curve = self.curve;
        let recall = |share: f64| {
            let k = curve.rates[1].partition_point(|tpr| *tpr < share);
            (k.min(self.len() - 1), Why::Recall(share))
        };
        let mut found: Vec<(usize, Why)> = RECALLS.iter().map(|share| recall(*share)).collect();
        // A threshold between two scores flags what the next lower one does not.
        let own = |threshold: f64| curve.thresholds.partition_point(|cut| *cut >= threshold);
        if let Some(threshold) = threshold {
            found.push((own(threshold).max(1) - 1, Why::Model));
        }
        let flagged = |k: usize| curve.tp[k] + curve.fp[k];
        let as_many = (1..self.len()).find(|&k| flagged(k) >= curve.pos);
        found.extend(as_many.map(|k| (k, Why::AsMany)));
        let balance = |k: &usize| curve.rates[1][*k] - curve.rates[0][*k];
        found.extend(first_largest(self.len(), balance).map(|k| (k, Why::Balance)));
        if self.costs.is_some() {
            let saved = |k: &usize| -self.at(*k).cost.unwrap_or(0.0);
            found.extend(first_largest(self.len(), saved).map(|k| (k, Why::Cheapest)));
        }
        found.sort_by_key(|(k, _)| *k);
        let same = found.chunk_by(|a, b| a.0 == b.0);
        same.map(|rows| {
            let mut cut = self.at(rows[0].0);
            let why: Vec<Why> = rows.iter().map(|row| row.1).collect();
            if why.contains(&Why::Model) {
                cut.cut = threshold;
            }
            NamedCut { why, cut }
        })
        .collect()
    }
}

/// Of equal ones the first.
fn first_largest(n: usize, value: impl Fn(&usize) -> f64) -> Option<usize> {
    (0..n).reduce(|best, k| if value(&k) > value(&best) { k } else { best })
}

/// Points that are some way apart in the picture, both ends among them.
fn thinned<const D: usize>(
    cuts: &Cuts<'_>,
    first: usize,
    most: usize,
    place: impl Fn(&Cut) -> [f64; D],
) -> Vec<Cut> {
    let last = cuts.len() - 1;
    let mut delta = 2.0 / most as f64;
    loop {
        let mut kept: Vec<Cut> = vec![cuts.at(first.min(last))];
        let mut before: Option<Cut> = None;
        for k in first + 1..=last {
            let cut = cuts.at(k);
            let [here, from] = [&cut, &kept[kept.len() - 1]].map(&place);
            let has_moved = here.iter().zip(from).any(|(a, b)| (a - b).abs() >= delta);
            if has_moved || k == last {
                // The point before it, too, unless it is next to the one that was kept.
                kept.extend(before.take());
                kept.push(cut);
            } else {
                before = Some(cut);
            }
            if kept.len() > most {
                break;
            }
        }
        if kept.len() <= most {
            return kept;
        }
        delta *= 2.0;
    }
}

/// Every distinct finite or infinite score with the positives and the negatives that have it, the highest first.
pub(super) fn by_score(curve: &Curve) -> impl DoubleEndedIterator<Item = (f64, f64, f64)> + '_ {
    (1..curve.tp.len()).map(|k| {
        let (tp, fp) = (curve.tp[k] - curve.tp[k - 1], curve.fp[k] - curve.fp[k - 1]);
        (curve.thresholds[k], tp, fp)
    })
}

impl Histogram {
    /// Between the scores that all but 1 in 200 on either side lie between, widened to all scores where these are not far off.
    fn new(curve: &Curve) -> Histogram {
        let n = curve.pos + curve.neg;
        let finite = || by_score(curve).filter(|(score, ..)| score.is_finite());
        let (Some((high, ..)), Some((low, ..))) = (finite().next(), finite().next_back()) else {
            return Histogram::default();
        };
        let quantile = |share: f64| {
            // Of counts a whole number.
            let wanted = match as_count(n) {
                Some(_) => (share * n).floor(),
                None => share * n,
            };
            let k = (1..curve.tp.len()).find(|&k| curve.tp[k] + curve.fp[k] > wanted)?;
            Some(curve.thresholds[k]).filter(|score| score.is_finite())
        };
        let (inner_high, inner_low) = (
            quantile(0.005).unwrap_or(high),
            quantile(0.995).unwrap_or(low),
        );
        let width = inner_high - inner_low;
        let from = low.max(inner_low - 0.5 * width);
        let to = high.min(inner_high + 0.5 * width);
        let (from, to) = if to - from > 0.0 && (to - from).is_finite() {
            (from, to)
        } else {
            (low - 0.5, low + 0.5)
        };
        let bars = BARS;
        let step = (to - from) / bars as f64;
        let mut histogram = Histogram {
            edges: (0..=bars).map(|k| from + step * k as f64).collect(),
            positive: vec![0.0; bars],
            negative: vec![0.0; bars],
            beyond: 0.0,
        };
        for (score, pos, neg) in by_score(curve) {
            let place = ((score - from) / step).floor();
            let bar = place.clamp(0.0, bars as f64 - 1.0) as usize;
            histogram.positive[bar] += pos;
            histogram.negative[bar] += neg;
            if score < from || score > to {
                histogram.beyond += pos + neg;
            }
        }
        histogram
    }
}
