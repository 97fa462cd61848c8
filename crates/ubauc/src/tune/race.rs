//! Rounds of fits: all settings on the first fold, those that are not clearly behind there on the second, and those that
//! are not clearly behind on both on the others.
//!
//! What the choice then asks for beyond the ends of what was tried, or between, is in `extend.rs`.
//!
//! A map of a table that is behind a simpler one (`maps.rs`), clearly on the first fold or at all on the first two, is not
//! tried on the others; not where examples are so few that they are dealt into folds more than once.
//!
//! On the first fold two settings lead, logistic regression with and without balanced classes where both are tried: these
//! go along all of γ, and the others only near what was best for them, and on from there as long as their best is at an end.
//! Where balanced classes make no difference to the leaders, they are not tried with other losses.
//!
//! Models of the same data err together, so that a fifth of the standard error of an AUC (`hanley_mcneil.rs`), over the
//! folds so far, is a margin between settings: where examples are few, and fits cheap, nearly everything stays in the race;
//! where they are many, little does. Of one setting, γ a decade apart differ from fold to fold by more than settings at
//! their best γ do, and the best γ of one fold may be the wrong one: between them the margin is three times as wide.

use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::collapse::Ties;
use super::judge::{Judged, Lane};
use super::{Search, Setting, hanley_mcneil};
use crate::Result;
use crate::objective::ubauc::ClassWeight;

/// What is left of a standard error in a difference of two settings, each at its best γ, on the same data …
const PAIRED: f64 = 0.2;
/// … and how many times that between two γ of one setting.
const BETWEEN_GAMMAS: f64 = 3.0;
/// On the first fold a setting that is this many margins behind is not followed beyond the γ tried.
const HOPELESS: f64 = 2.0;
/// No smaller margin than this: a difference that does not matter.
const LEAST_MARGIN: f64 = 3e-4;
/// Of two γ of a setting that differ by less than this only the larger one is kept, where a fold can show such a difference:
/// where it has this many pairs of a positive and a negative for each step of it.
const FLAT: f64 = 2e-4;
const PAIRS_PER_STEP: f64 = 20.0;
/// Decades from the best γ of the leaders within which the others are tried first.
const NEAR: f64 = 1.05;
/// Steps by which a path of γ is made longer, at most.
pub(super) const EXTENSIONS: usize = 6;

/// A point, as far as it was tried.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Index of the setting.
    pub(super) setting: usize,
    pub(super) gamma: f64,
    /// On each fold.
    pub(super) folds: Vec<Option<Judged>>,
    /// Solved to the end, so that its ties are certain.
    pub(super) is_close: bool,
}

impl Entry {
    /// Folds it was tried on.
    pub(super) fn judged(&self) -> usize {
        self.folds.iter().flatten().count()
    }

    pub(super) fn collapsed(&self) -> bool {
        self.folds
            .iter()
            .flatten()
            .any(|f| f.ties == Ties::Collapse)
    }

    /// The mean over the first folds, if it was tried on all of these.
    pub(super) fn mean(&self, folds: usize) -> Option<f64> {
        let values: Option<Vec<f64>> = self.folds[..folds]
            .iter()
            .map(|f| f.map(|f| f.value))
            .collect();
        values.map(|values| values.iter().sum::<f64>() / folds as f64)
    }
}

impl Search<'_> {
    /// Everything that was tried.
    pub(super) fn race(&mut self) -> Result<Vec<Entry>> {
        let mut entries = Vec::new();
        if self.all_folds(&mut entries)? {
            self.further(&mut entries)?;
        }
        let key = |entry: &Entry| (entry.setting, -entry.gamma);
        entries.sort_by(|a, b| {
            let ((a, x), (b, y)) = (key(a), key(b));
            a.cmp(&b).then(x.total_cmp(&y))
        });
        Ok(entries)
    }

    /// The settings and γ of the parameters, as far as they are not behind; false if all of them are behind a simpler map.
    fn all_folds(&self, entries: &mut Vec<Entry>) -> Result<bool> {
        let gammas = falling(&self.params.gammas);
        if !self.params.race {
            let all = vec![gammas; self.settings.len()];
            self.round(entries, &all, 0..self.sizes.folds)?;
            return Ok(true);
        }
        self.first_fold(entries, &gammas)?;
        for stage in self.stages().windows(2) {
            if self.is_behind_simpler(entries, stage[0] as usize)
                && !self.catches_up(entries, stage[0])?
            {
                return Ok(false);
            }
            let left = self.left(entries, stage[0] as usize);
            self.round(entries, &left, stage[0]..stage[1])?;
        }
        Ok(true)
    }

    /// Whether the best point is behind a simpler map on the first folds: clearly on one, at all on two. To be chosen it must
    /// be ahead by a standard error.
    fn is_behind_simpler(&self, entries: &[Entry], folds: usize) -> bool {
        let is_dealt_once = self.sizes.folds <= self.params.folds;
        let simpler = self.simpler.filter(|_| is_dealt_once);
        let Some(simpler) = simpler.and_then(|aucs| aucs.get(..folds)) else {
            return false;
        };
        let simpler = simpler.iter().sum::<f64>() / folds as f64;
        let best = best_on(entries, folds).and_then(|at| entries[at].mean(folds));
        let margin = match folds {
            1 => self.margin_between_gammas(simpler, 1),
            _ => 0.0,
        };
        best.is_none_or(|best| best < simpler - margin)
    }

    /// Whether it is not behind any more with γ beyond the end of its path, if its best is there.
    fn catches_up(&self, entries: &mut Vec<Entry>, folds: u32) -> Result<bool> {
        for _ in 0..EXTENSIONS {
            let best = best_on(entries, folds as usize);
            let Some(at) = best.filter(|_| self.params.extend && !self.is_over()) else {
                break;
            };
            let Entry { setting, .. } = entries[at];
            let Some(next) = self.next_gamma(entries, at) else {
                break;
            };
            let mut gammas = vec![Vec::new(); self.settings.len()];
            gammas[setting].push(next);
            self.round(entries, &gammas, 0..folds)?;
            if !self.is_behind_simpler(entries, folds as usize) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// All settings on the first fold: the leaders along all of γ, the others near their best.
    fn first_fold(&self, entries: &mut Vec<Entry>, gammas: &[f64]) -> Result<()> {
        let leaders = self.leaders();
        let mut next = vec![Vec::new(); self.settings.len()];
        leaders.iter().for_each(|&s| next[s] = gammas.to_vec());
        self.round(entries, &next, 0..1)?;
        let best: Vec<f64> = leaders
            .iter()
            .filter_map(|&s| Some(best_on_first(entries, s)?.0))
            .collect();
        let is_near = |gamma: &f64| best.iter().any(|b| (gamma / b).log10().abs() <= NEAR);
        let near: Vec<f64> = gammas.iter().copied().filter(is_near).collect();
        let needless = self.balance_is_needless(entries, &leaders);
        let others: Vec<usize> = (0..self.settings.len())
            .filter(|s| !leaders.contains(s))
            .filter(|&s| !(needless && self.has_twin(s)))
            .collect();
        let mut next = vec![Vec::new(); self.settings.len()];
        others.iter().for_each(|&s| next[s].clone_from(&near));
        while next.iter().any(|gammas| !gammas.is_empty()) && !self.is_over() {
            self.round(entries, &next, 0..1)?;
            next.fill(Vec::new());
            for &s in &others {
                next[s].extend(self.beyond(entries, s, gammas));
            }
        }
        Ok(())
    }

    /// Logistic regression, or the first setting, and the same with the other class weights or else the next one.
    pub(super) fn leaders(&self) -> Vec<usize> {
        let all = 0..self.settings.len();
        let first = all.clone().find(|&s| self.settings[s].is_logistic());
        let first = first.unwrap_or(0);
        let of = self.settings[first];
        let is_twin = |&s: &usize| {
            let class_weight = of.class_weight;
            s != first
                && Setting {
                    class_weight,
                    ..self.settings[s]
                } == of
        };
        let second = all.clone().find(is_twin);
        let second = second.or_else(|| all.into_iter().find(|&s| s != first));
        std::iter::once(first).chain(second).collect()
    }

    /// Whether the leaders differ in their class weights alone, and not at all in what comes of it.
    fn balance_is_needless(&self, entries: &[Entry], leaders: &[usize]) -> bool {
        let &[a, b] = leaders else {
            return false;
        };
        let (of, other) = (self.settings[a], self.settings[b]);
        let class_weight = of.class_weight;
        let balanced = other.class_weight == ClassWeight::Balanced;
        let alike = Setting {
            class_weight,
            ..other
        };
        if !balanced || alike != of {
            return false;
        }
        let values = |s: usize| -> Vec<(f64, f64)> {
            let of_setting = entries.iter().filter(|e| e.setting == s);
            of_setting
                .filter_map(|e| Some((e.gamma, e.mean(1)?)))
                .collect()
        };
        let (a, b) = (values(a), values(b));
        let is_same = |((gamma, x), (other, y)): (&(f64, f64), &(f64, f64))| {
            gamma == other && (x - y).abs() < LEAST_MARGIN
        };
        a.len() == b.len() && a.iter().zip(&b).all(is_same)
    }

    /// Whether a setting has balanced classes, and is tried without them, too.
    fn has_twin(&self, setting: usize) -> bool {
        let of = self.settings[setting];
        let class_weight = ClassWeight::None;
        let twin = Setting { class_weight, ..of };
        of.class_weight == ClassWeight::Balanced && self.settings.contains(&twin)
    }

    /// The next γ of the grid, where the best of a setting on the first fold is at an end of those tried and not far behind.
    fn beyond(&self, entries: &[Entry], setting: usize, grid: &[f64]) -> Option<f64> {
        let (gamma, mine) = best_on_first(entries, setting)?;
        let all = (0..self.settings.len()).filter_map(|s| best_on_first(entries, s));
        let best = all.map(|(_, value)| value).fold(mine, f64::max);
        if mine < best - HOPELESS * self.margin(best, 1) {
            return None;
        }
        let tried = self.gammas_of(entries, setting);
        let at = grid.iter().position(|g| *g == gamma)?;
        let is_first = tried.first() == Some(&gamma);
        let is_last = tried.last() == Some(&gamma);
        let larger = is_first.then(|| grid.get(at.checked_sub(1)?)).flatten();
        larger
            .or_else(|| is_last.then(|| grid.get(at + 1)).flatten())
            .copied()
    }

    /// Fits every setting along its γ on some folds.
    pub(super) fn round(
        &self,
        entries: &mut Vec<Entry>,
        gammas: &[Vec<f64>],
        folds: std::ops::Range<u32>,
    ) -> Result<()> {
        self.first_fold_done
            .store(folds.start > 0, Ordering::Relaxed);
        // What is tried on the first fold is nearly always tried on the second, too.
        let soon = folds.end.max(self.sizes.folds.min(2));
        self.folds.prepare(folds.start..soon)?;
        let lanes = self.lanes(gammas);
        let tasks: Vec<(u32, &Lane)> = folds
            .clone()
            .flat_map(|fold| lanes.iter().map(move |lane| (fold, lane)))
            .collect();
        let fits: usize = lanes.iter().flatten().map(|(_, gammas)| gammas.len()).sum();
        self.plan(fits * folds.len(), 0);
        let found: Vec<Vec<(usize, f64, Judged)>> = tasks
            .par_iter()
            .with_max_len(1)
            .map(|(fold, lane)| self.walk(*fold, lane))
            .collect::<Result<_>>()?;
        let k = self.sizes.folds as usize;
        for ((fold, _), found) in tasks.iter().zip(found) {
            for (setting, gamma, judged) in found {
                let known = |e: &Entry| e.setting == setting && e.gamma == gamma;
                let at = entries.iter().position(known).unwrap_or_else(|| {
                    entries.push(Entry {
                        setting,
                        gamma,
                        folds: vec![None; k],
                        is_close: false,
                    });
                    entries.len() - 1
                });
                entries[at].folds[*fold as usize] = Some(judged);
            }
        }
        Ok(())
    }

    /// Settings of the hinge with the same weights share their Gram matrix; every other one is a lane of its own. The
    /// baseline first: where time is short that is what there is.
    fn lanes(&self, gammas: &[Vec<f64>]) -> Vec<Lane> {
        let mut lanes: Vec<Lane> = Vec::new();
        let mut order: Vec<usize> = (0..self.settings.len()).collect();
        order.sort_by_key(|&s| !self.settings[s].is_logistic());
        for s in order.into_iter().filter(|&s| !gammas[s].is_empty()) {
            let of = self.settings[s];
            let shares = |lane: &&mut Lane| {
                let other = self.settings[lane[0].0];
                let weights = (of.class_weight, of.least_squares);
                !of.loss().is_smooth()
                    && !other.loss().is_smooth()
                    && weights == (other.class_weight, other.least_squares)
            };
            match lanes.iter_mut().find(shares) {
                Some(lane) => lane.push((s, gammas[s].clone())),
                None => lanes.push(vec![(s, gammas[s].clone())]),
            }
        }
        // Of the hinge β falling.
        for lane in &mut lanes {
            lane.sort_by(|a, b| {
                let beta = |s: usize| self.settings[s].beta;
                beta(b.0).total_cmp(&beta(a.0))
            });
        }
        lanes
    }

    /// That of a mean AUC over some folds.
    pub(super) fn standard_error(&self, auc: f64, folds: usize) -> f64 {
        let k = f64::from(self.params.folds);
        let fold = [self.sizes.n_pos, self.sizes.n_neg].map(|n| n as f64 / k);
        hanley_mcneil::standard_error(auc, fold) / (folds as f64).sqrt()
    }

    /// By what a mean over some folds must be behind to be clearly behind, where the best is A.
    pub(super) fn margin(&self, best: f64, folds: usize) -> f64 {
        (PAIRED * self.standard_error(best, folds)).max(LEAST_MARGIN)
    }

    /// The same of two γ of one setting.
    pub(super) fn margin_between_gammas(&self, best: f64, folds: usize) -> f64 {
        BETWEEN_GAMMAS * self.margin(best, folds)
    }

    /// The γ of every setting that are still in the race after the first folds; logistic regression always is.
    pub(super) fn left(&self, entries: &[Entry], folds: usize) -> Vec<Vec<f64>> {
        let means: Vec<(usize, f64, f64)> = entries
            .iter()
            .filter(|e| !e.collapsed())
            .filter_map(|e| Some((e.setting, e.gamma, e.mean(folds)?)))
            .collect();
        let best_of = |setting: Option<usize>| {
            let of = means.iter().filter(|m| setting.is_none_or(|s| s == m.0));
            of.map(|m| m.2).fold(f64::NEG_INFINITY, f64::max)
        };
        let best = best_of(None);
        let margin = self.margin(best, folds);
        let between = self.margin_between_gammas(best, folds);
        let left = |setting: usize| {
            let mine = best_of(Some(setting));
            if mine < best - margin && !self.settings[setting].is_logistic() {
                return Vec::new();
            }
            let near = means
                .iter()
                .filter(|m| m.0 == setting && m.2 >= mine - between);
            let near: Vec<(f64, f64)> = near.map(|m| (m.1, m.2)).collect();
            thinned(near, self.flat())
        };
        (0..self.settings.len()).map(left).collect()
    }

    /// [`FLAT`], or 0 where folds are too small to show it.
    pub(super) fn flat(&self) -> f64 {
        let k = f64::from(self.params.folds);
        let pairs = (self.sizes.n_pos as f64 / k) * (self.sizes.n_neg as f64 / k);
        match FLAT * pairs >= PAIRS_PER_STEP {
            true => FLAT,
            false => 0.0,
        }
    }

    /// Folds after which it is decided what stays in the race: one, two, all.
    pub(super) fn stages(&self) -> Vec<u32> {
        let k = self.sizes.folds;
        match self.params.race {
            true => (1..k.min(3)).chain([k]).collect(),
            false => vec![k],
        }
    }

    /// The γ that were tried with a setting, falling.
    pub(super) fn gammas_of(&self, entries: &[Entry], setting: usize) -> Vec<f64> {
        let of_setting = entries.iter().filter(|e| e.setting == setting);
        falling(&of_setting.map(|e| e.gamma).collect::<Vec<f64>>())
    }
}

/// The entry with the highest mean over the first folds.
fn best_on(entries: &[Entry], folds: usize) -> Option<usize> {
    let means = entries.iter().enumerate().filter(|(_, e)| !e.collapsed());
    let means = means.filter_map(|(at, e)| Some((at, e.mean(folds)?)));
    let best = means.reduce(|a, b| if b.1 > a.1 { b } else { a });
    best.map(|(at, _)| at)
}

/// The best γ of a setting on the first fold, and its value there; of equal ones the largest.
fn best_on_first(entries: &[Entry], setting: usize) -> Option<(f64, f64)> {
    let of_setting = entries.iter().filter(|e| e.setting == setting);
    let values = of_setting.filter_map(|e| Some((e.gamma, e.mean(1)?)));
    values.reduce(|a, b| if (b.1, b.0) > (a.1, a.0) { b } else { a })
}

/// The γ of these (γ, criterion), falling, without those that differ from the last larger one kept by less than `flat`.
fn thinned(mut near: Vec<(f64, f64)>, flat: f64) -> Vec<f64> {
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.dedup_by(|smaller, larger| (smaller.1 - larger.1).abs() < flat);
    near.into_iter().map(|(gamma, _)| gamma).collect()
}

/// Falling, each once.
pub(super) fn falling(of: &[f64]) -> Vec<f64> {
    let mut falling = of.to_vec();
    falling.sort_by(|a, b| b.total_cmp(a));
    falling.dedup();
    falling
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a plateau its largest γ stays, and what is above or below it by more.
    #[test]
    fn a_plateau_has_one_gamma() {
        let path = |values: &[f64]| -> Vec<(f64, f64)> {
            let gammas = (1..).map(|k| 10f64.powi(-k));
            gammas.zip(values.iter().copied()).collect()
        };
        let kept = |values: &[f64], flat: f64| -> Vec<i32> {
            let gammas = thinned(path(values), flat);
            gammas.iter().map(|g| -g.log10().round() as i32).collect()
        };
        let values = [0.9, 0.93, 0.9301, 0.93015, 0.9299, 0.92];
        assert_eq!(kept(&values, FLAT), [1, 2, 6]);
        assert_eq!(kept(&values, 0.0), [1, 2, 3, 4, 5, 6]);
        // Small steps that add up are kept.
        assert_eq!(kept(&[0.9, 0.9001, 0.90025, 0.9003], FLAT), [1, 3]);
    }
}
