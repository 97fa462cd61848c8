//! Points instead of scores, as credit scorecards have them.
//!
//! With the log-odds of the positive class L = a(score − threshold) + b and the score a sum of terms,
//!
//! ```text
//! points = base + factor·(∓L − ln odds),   factor = pdo/ln 2,
//! ```
//!
//! so that `base` points mean odds of `odds` to 1 against the positive class (default: the positive class is the bad one, and more points are
//! better), and every `pdo` points more double them. Reversed, odds are in favour of the positive class. Each term has its own points; they
//! add up, with those of the base, to the points of a row.
//!
//! a and b are those of the model's calibration. Without one they are known of logistic regression alone (β = 0): a = 1/κ, and b = 0
//! or, if the negatives weigh R times as much as the positives (1 if balanced), ln(RN⁺/N⁻), which takes the weights back;
//! N± are sums of weights where examples had some.

use serde::{Deserialize, Serialize};

use crate::document::numbers::thousands;
use crate::document::{Document, Facts, Table};
use crate::features::FeatureMap;
use crate::features::columns::{ColumnMap, Effect};
use crate::glass_box::effects::{Effects, Term};
use crate::model_file::SavedModel;
use crate::objective::ubauc::ClassWeight;
use crate::{Error, Result};

/// What points mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Points {
    /// Points that double the odds.
    pub pdo: f64,
    /// The odds at `base` points.
    pub odds: f64,
    /// The points of these odds.
    pub base: f64,
    /// More points speak for the positive class.
    pub reverse: bool,
}

impl Points {
    /// `pdo=20,odds=50,base=600`, perhaps with `reverse`.
    pub fn parse(text: &str) -> Result<Points> {
        let refuse = || Error::Parameter {
            name: "points",
            value: text.to_string(),
            must: "like pdo=20,odds=50,base=600, with pdo and odds above 0, and perhaps ,reverse",
        };
        let (mut pdo, mut odds, mut base, mut reverse) = (None, None, None, false);
        for part in text.split(',').map(str::trim) {
            if part == "reverse" {
                reverse = true;
                continue;
            }
            let (name, value) = part.split_once('=').ok_or_else(refuse)?;
            let value: f64 = value.trim().parse().map_err(|_| refuse())?;
            match name.trim() {
                "pdo" => pdo = Some(value),
                "odds" => odds = Some(value),
                "base" => base = Some(value),
                _ => return Err(refuse()),
            }
        }
        match (pdo, odds, base) {
            (Some(pdo), Some(odds), Some(base))
                if [pdo, odds].iter().all(|x| *x > 0.0 && x.is_finite()) && base.is_finite() =>
            {
                Ok(Points {
                    pdo,
                    odds,
                    base,
                    reverse,
                })
            }
            _ => Err(refuse()),
        }
    }
}

/// The points of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scorecard {
    /// What they mean.
    pub points: Points,
    /// Of a row whose terms are all 0.
    pub base_points: f64,
    /// Points of a unit of the score.
    pub per_score: f64,
    /// As the model has them, the most important one first.
    pub terms: Vec<CardTerm>,
}

/// The points of a column or pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CardTerm {
    /// Of the column, or of both.
    pub name: String,
    /// Besides the points of its cell: those of each unit by which a number is above `from`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slope: Option<CardSlope>,
    /// Its cells.
    pub cells: Vec<CardCell>,
    /// The points of a row in none of them.
    pub outside: f64,
}

/// Points that grow with a number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CardSlope {
    /// Of a unit of the number; of a time of a day.
    pub points: f64,
    /// Where they are 0.
    pub from: f64,
}

/// The points of a cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CardCell {
    /// `25 <= age < 30`; of a pair two of these.
    pub names: Vec<String>,
    /// Training rows in it.
    pub rows: u64,
    /// Its points.
    pub points: f64,
}

impl Scorecard {
    /// Of a model of the columns of a table, with its effects.
    pub fn of(saved: &SavedModel, points: Points) -> Result<Scorecard> {
        let refuse = |why: &str| {
            Err(Error::Export {
                target: "points",
                why: why.to_string(),
            })
        };
        let FeatureMap::Columns(map) = &saved.model.features else {
            return refuse(
                "it is not a model of the columns of a table; train one with --features additive",
            );
        };
        let Some(effects) = &saved.effects else {
            return refuse("the file does not hold the effects of its columns; train it again");
        };
        let Some((slope, offset)) = log_odds(saved) else {
            return refuse(
                "its scores are no log-odds; train with --beta 0 --softness 1 (logistic regression), or calibrate it",
            );
        };
        let effects = Effects::restore(map, &saved.model.weights, effects)?;
        let sign = if points.reverse { 1.0 } else { -1.0 };
        let factor = points.pdo / std::f64::consts::LN_2;
        let per_score = factor * sign * slope;
        let at_zero = slope * (effects.intercept - saved.model.threshold) + offset;
        let mut terms: Vec<&Term> = effects.terms.iter().collect();
        terms.sort_by(|a, b| b.importance.total_cmp(&a.importance));
        Ok(Scorecard {
            points,
            base_points: points.base + factor * (sign * at_zero - points.odds.ln()),
            per_score,
            terms: terms
                .iter()
                .map(|term| card(map, term, per_score))
                .collect(),
        })
    }

    /// For people: points as whole numbers.
    pub fn document(&self) -> Document {
        let Points {
            pdo,
            odds,
            base,
            reverse,
        } = self.points;
        let side = if reverse { "for" } else { "against" };
        let mut facts = Facts::default();
        facts.add(
            "points",
            format!(
                "{base} for odds of {odds} to 1 {side} the positive class, {pdo} more double them"
            ),
        );
        facts.add(
            "base",
            format!("{:.0} and what the terms add", self.base_points),
        );
        let mut document = Document::from(facts);
        for term in &self.terms {
            let mut table = Table::new([term.name.as_str(), "examples", "points"]);
            for cell in &term.cells {
                let name = cell.names.join(", ");
                let points = format!("{:+.0}", cell.points);
                table.row([name, thousands(cell.rows), points]);
            }
            if term.outside != 0.0 {
                table.row(["otherwise", "", &format!("{:+.0}", term.outside)]);
            }
            table.foot = term.slope.map(|slope| {
                format!(
                    "and {:+.4} for each unit above {}",
                    slope.points, slope.from
                )
            });
            document = document.with(table);
        }
        document
    }
}

/// a and b.
fn log_odds(saved: &SavedModel) -> Option<(f64, f64)> {
    if let Some(calibration) = &saved.model.calibration {
        return calibration
            .knots
            .is_empty()
            .then_some((calibration.slope, calibration.offset));
    }
    let number = |name: &str| saved.parameters.get(name)?.as_f64();
    let softness = match saved.algorithm.as_str() {
        "logistic" => 1.0,
        _ if number("beta") == Some(0.0) => number("softness").filter(|k| *k > 0.0)?,
        _ => return None,
    };
    let weight = saved.parameters.get("class_weight");
    let weight = weight.and_then(|w| ClassWeight::deserialize(w).ok());
    // The odds of a class with the weight a are a times too large.
    let balanced = || class_totals(saved).map(|[neg, pos]| pos / neg);
    let offset = match weight {
        Some(ClassWeight::Balanced) => balanced()?.ln(),
        Some(ClassWeight::Ratio(r)) => (r * balanced()?).ln(),
        Some(ClassWeight::None) | None => 0.0,
    };
    offset.is_finite().then_some((1.0 / softness, offset))
}

/// N⁻ and N⁺: sums of weights where examples had some.
fn class_totals(saved: &SavedModel) -> Option<[f64; 2]> {
    if saved.parameters.contains_key("weight") {
        let sums = saved.parameters.get("weight_sums")?;
        return Some([sums.get(0)?.as_f64()?, sums.get(1)?.as_f64()?]);
    }
    let certificate = &saved.certificate;
    Some([certificate.n_neg as f64, certificate.n_pos as f64])
}

fn card(map: &ColumnMap, term: &Term, per_score: f64) -> CardTerm {
    let linear = map.effects.iter().find_map(|effect| match effect {
        Effect::Linear {
            column,
            mean,
            deviation,
        } if term.columns == [*column] => Some((*mean, *deviation)),
        _ => None,
    });
    let slope = match (term.slope, linear) {
        (Some(slope), Some((from, deviation))) => Some(CardSlope {
            points: per_score * slope / deviation,
            from,
        }),
        _ => None,
    };
    let cells = term.cells.iter().map(|cell| CardCell {
        names: cell.names.clone(),
        rows: cell.rows,
        points: per_score * cell.value,
    });
    CardTerm {
        name: term.name.clone(),
        slope,
        cells: cells.collect(),
        outside: per_score * term.outside(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read_as_they_are_written() {
        let points = Points::parse("pdo=20, odds=50,base=600").unwrap();
        assert_eq!((points.pdo, points.odds, points.base), (20.0, 50.0, 600.0));
        assert!(!points.reverse);
        assert!(
            Points::parse("pdo=20,odds=1,base=0,reverse")
                .unwrap()
                .reverse
        );
        for wrong in [
            "",
            "pdo=20",
            "pdo=0,odds=50,base=600",
            "pdo=20,odds=-1,base=600",
            "pdo=x,odds=50,base=600",
            "pdo=20,odds=50,base=600,size=3",
            "pdo=20,odds=50,base=inf",
        ] {
            assert!(Points::parse(wrong).is_err(), "{wrong}");
        }
    }
}
