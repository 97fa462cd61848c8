//! Beyond the ends of what the race has tried, if the choice is there, and between its neighbours.

use super::race::{EXTENSIONS, Entry, falling};
use super::{Search, Setting};
use crate::Result;
use crate::objective::ubauc::{ClassWeight, ClassWeights};

/// A longer path that gains less than this is long enough, and a γ between two that promises less is not tried.
const LEAST_GAIN: f64 = 1e-4;
/// γ beyond these means nothing.
const GAMMA_RANGE: std::ops::Range<f64> = 1e-10..1e4;
/// β beyond these is a corner: the loss alone, or ridge regression.
const BETA_RANGE: std::ops::Range<f64> = 1e-4..1e3;
/// From the largest β to the next where the one before is 0.
const BETA_STEP: f64 = 4.0;
/// From the largest or least weight of the negatives to the next.
const RATIO_STEP: f64 = 4.0;
/// Beyond these one class hardly counts.
const RATIO_RANGE: std::ops::Range<f64> = 1e-3..1e4;

impl Search<'_> {
    /// Beyond the ends of what was tried, if the choice is there, and between its neighbours.
    pub(super) fn further(&mut self, entries: &mut Vec<Entry>) -> Result<()> {
        if self.params.extend_betas {
            self.extend_settings(entries, Self::with_next_beta)?;
        }
        if self.params.extend_ratios {
            self.extend_settings(entries, Self::with_next_ratio)?;
        }
        if self.params.extend {
            self.extend(entries)?;
            // A grid stays a grid but for its ends.
            if self.params.race {
                self.refine(entries)?;
            }
        }
        Ok(())
    }

    /// More settings, as long as the choice is at an end of those tried; at its γ and the neighbours of that.
    fn extend_settings(
        &mut self,
        entries: &mut Vec<Entry>,
        next: impl Fn(&Self, usize) -> Option<Setting>,
    ) -> Result<()> {
        let mut before = f64::NEG_INFINITY;
        for _ in 0..EXTENSIONS {
            let Some((chosen, best)) = self.at_hand(entries, before) else {
                break;
            };
            before = best;
            let Entry { setting, gamma, .. } = entries[chosen];
            let Some(further) = next(self, setting) else {
                break;
            };
            let path = self.gammas_of(entries, setting);
            let at = path.iter().position(|g| *g == gamma).unwrap_or(0);
            let near = path[at.saturating_sub(1)..(at + 2).min(path.len())].to_vec();
            self.settings.push(further);
            let new = self.settings.len() - 1;
            let only = |gammas: Vec<f64>| {
                let mut all = vec![Vec::new(); new + 1];
                all[new] = gammas;
                all
            };
            let mut done = 0;
            let mut left = near;
            if self.params.race {
                self.round(entries, &only(left), 0..1)?;
                left = self.left(entries, 1).pop().unwrap_or_default();
                done = 1;
            }
            self.round(entries, &only(left), done..self.sizes.folds)?;
        }
        Ok(())
    }

    /// With the next β, if that of a setting is at an end of those with the same softness and weights.
    fn with_next_beta(&self, setting: usize) -> Option<Setting> {
        let beta = self.next_beta(setting)?;
        Some(Setting {
            beta,
            ..self.settings[setting]
        })
    }

    /// With the next class weight, if that of a setting is at an end of those with the same loss.
    fn with_next_ratio(&self, setting: usize) -> Option<Setting> {
        let of = self.settings[setting];
        let total = ClassWeights {
            pos: self.sizes.n_pos as f64,
            neg: self.sizes.n_neg as f64,
        };
        let class_weight = of.class_weight;
        let alike = (self.settings.iter()).filter(|other| {
            let same = Setting {
                class_weight,
                ..**other
            };
            same == of
        });
        let ratios = alike.map(|other| other.class_weight.ratio(total));
        let ratios = falling(&ratios.collect::<Vec<f64>>());
        let ratio = class_weight.ratio(total);
        let next = match ratios.as_slice() {
            [first, _, ..] if *first == ratio => ratio * RATIO_STEP,
            [.., _, last] if *last == ratio => ratio / RATIO_STEP,
            _ => return None,
        };
        let next = two_digits(next);
        RATIO_RANGE.contains(&next).then_some(Setting {
            class_weight: ClassWeight::Ratio(next),
            ..of
        })
    }

    /// β beyond that of a setting, if it is at an end of those with the same softness and weights.
    fn next_beta(&self, setting: usize) -> Option<f64> {
        let of = self.settings[setting];
        let alike = self.settings.iter().enumerate().filter(|(at, other)| {
            let beta = of.beta;
            Some(*at) != self.baseline && Setting { beta, ..**other } == of
        });
        let betas = falling(&alike.map(|(_, other)| other.beta).collect::<Vec<f64>>());
        let next = match betas.as_slice() {
            [first, second, ..] if *first == of.beta && *second > 0.0 => first * (first / second),
            [first, _, ..] if *first == of.beta => first * BETA_STEP,
            [.., second, last] if *last == of.beta => last * (last / second),
            _ => return None,
        };
        let next = two_digits(next);
        BETA_RANGE.contains(&next).then_some(next)
    }

    /// The choice and its mean, unless it is no better than before or time is up.
    fn at_hand(&self, entries: &[Entry], before: f64) -> Option<(usize, f64)> {
        if self.is_over() {
            return None;
        }
        let chosen = self.choose(entries).ok()?;
        let best = self.point(&entries[chosen]).judged.auc;
        (best >= before + LEAST_GAIN).then_some((chosen, best))
    }

    /// Longer paths of γ, as long as the choice is at an end of its path.
    fn extend(&self, entries: &mut Vec<Entry>) -> Result<()> {
        let mut before = f64::NEG_INFINITY;
        for _ in 0..EXTENSIONS {
            let Some((chosen, best)) = self.at_hand(entries, before) else {
                break;
            };
            before = best;
            let Some(next) = self.next_gamma(entries, chosen) else {
                break;
            };
            self.trial(entries, chosen, next)?;
        }
        Ok(())
    }

    /// γ beyond the end of its path, if an entry is there.
    pub(super) fn next_gamma(&self, entries: &[Entry], at: usize) -> Option<f64> {
        let Entry { setting, gamma, .. } = entries[at];
        let path = self.gammas_of(entries, setting);
        let next = match path.as_slice() {
            [first, second, ..] if *first == gamma => first * (first / second),
            [.., second, last] if *last == gamma => last * (last / second),
            _ => return None,
        };
        GAMMA_RANGE.contains(&next).then_some(next)
    }

    /// The γ at the maximum of a parabola in ln γ through the choice and its neighbours, if it promises to be better.
    fn refine(&self, entries: &mut Vec<Entry>) -> Result<()> {
        let Ok(chosen) = self.choose(entries) else {
            return Ok(());
        };
        let Entry { setting, gamma, .. } = entries[chosen];
        let path = self.gammas_of(entries, setting);
        let neighbours = path
            .windows(3)
            .find(|three| three[1] == gamma)
            .map(|three| [three[0], three[2]]);
        let Some(sides) = neighbours else {
            return Ok(());
        };
        // The first folds that all three were tried on.
        let tried = [gamma, sides[0], sides[1]].map(|g| self.sibling(entries, chosen, g));
        let is_tried = |k: &usize| {
            tried
                .iter()
                .all(|e| e.is_some_and(|e| e.folds[*k].is_some()))
        };
        let folds = (0..self.sizes.folds as usize).take_while(is_tried).count();
        let behind = |side: f64| self.behind(entries, chosen, side, folds);
        let [Some(b), Some(a)] = sides.map(behind) else {
            return Ok(());
        };
        // Beside a plateau there is no maximum to look for.
        if a.min(b) < self.flat() {
            return Ok(());
        }
        let [r, l] = sides.map(|side| (side / gamma).ln().abs());
        let (t, gain) = peak([l, r], [a, b]);
        match gain >= LEAST_GAIN {
            true => self.trial(entries, chosen, two_digits(gamma * t.exp())),
            false => Ok(()),
        }
    }

    /// The entry of another γ of the setting of an entry.
    fn sibling<'e>(&self, entries: &'e [Entry], of: usize, gamma: f64) -> Option<&'e Entry> {
        let setting = entries[of].setting;
        (entries.iter()).find(|e| e.setting == setting && e.gamma == gamma)
    }

    /// By how much another γ of its setting is behind an entry, on the first folds.
    fn behind(&self, entries: &[Entry], than: usize, gamma: f64, folds: usize) -> Option<f64> {
        let other = self.sibling(entries, than, gamma)?.mean(folds)?;
        Some(entries[than].mean(folds)? - other).filter(|x| x.is_finite())
    }

    /// Another γ of the setting of an entry, on all folds unless it is clearly behind on the first ones.
    fn trial(&self, entries: &mut Vec<Entry>, than: usize, gamma: f64) -> Result<()> {
        let setting = entries[than].setting;
        let mut gammas = vec![Vec::new(); self.settings.len()];
        gammas[setting].push(gamma);
        let mut done = 0;
        for folds in self.stages() {
            self.round(entries, &gammas, done..folds)?;
            done = folds;
            let best = entries[than].mean(done as usize);
            let margin = best.map(|best| self.margin_between_gammas(best, done as usize));
            match (self.behind(entries, than, gamma, done as usize), margin) {
                (Some(behind), Some(margin)) if behind <= margin => {}
                _ => break,
            }
        }
        Ok(())
    }
}

/// The maximum of a parabola that is 0 at 0, −a at −l and −b at r, and where it is. It is −s t − c t² with
///
/// ```text
/// s = (b l² − a r²) / (l r (l + r)),   c = (b l + a r) / (l r (l + r)),   its maximum s²/(4c) at t = −s/(2c).
/// ```
fn peak([l, r]: [f64; 2], [a, b]: [f64; 2]) -> (f64, f64) {
    let per = l * r * (l + r);
    let (s, c) = ((b * l * l - a * r * r) / per, (b * l + a * r) / per);
    match c > 0.0 {
        true => (-s / (2.0 * c), s * s / (4.0 * c)),
        false => (0.0, 0.0),
    }
}

/// The nearest number of two digits, which people can type.
pub(super) fn two_digits(x: f64) -> f64 {
    format!("{x:.1e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A parabola −c(t − at)² + top through the origin, seen at −l and r.
        #[test]
        fn the_peak_of_a_parabola_is_found(c in 0.01..10.0f64, at in -1.0..1.0f64, l in 1.0..3.0f64, r in 1.0..3.0f64) {
            let value = |t: f64| c * at * at - c * (t - at) * (t - at);
            prop_assert_eq!(value(0.0), 0.0);
            let (t, gain) = peak([l, r], [-value(-l), -value(r)]);
            prop_assert!((t - at).abs() < 1e-9, "{t} {at}");
            prop_assert!((gain - c * at * at).abs() < 1e-9 * (1.0 + c));
        }
    }

    #[test]
    fn no_peak_where_nothing_bends() {
        assert_eq!(peak([1.0, 1.0], [0.0, 0.0]), (0.0, 0.0));
    }
}
