//! The options that say which features are made of the columns of a table.

use anyhow::Result;
use clap::{Args, ValueEnum};
use ubauc::glass_box::{MapKind, PAIRS_PER_COLUMN, PairChoice};
use ubauc::objective::loss::Loss;

use crate::args::WrongUsage;
use crate::column_list::ColumnList;
use crate::training::quoted;

/// Which features, where the file is a table.
#[derive(Debug, Args)]
#[command(next_help_heading = "Features")]
pub(crate) struct FeatureArgs {
    /// What is made of the columns of a table, or of the features of svmlight, whose names are their indices [default: auto
    /// where the loss, gamma and scale are not given; otherwise, and for wide or sparse numbers, linear]
    #[arg(long, value_name = "MAP", value_enum)]
    features: Option<FeaturesName>,
    /// How many pairs of columns get a table, those that gain most: a number (10), a share of the number of columns (0.5), or
    /// a multiple of it (3x)
    #[arg(long, value_name = "M", value_parser = parse_pairs)]
    pairs: Option<PairChoice>,
    /// A table of these two columns, whatever it gains; may be given several times
    #[arg(long = "pair", value_name = "A,B", value_parser = parse_pair, conflicts_with = "pairs")]
    named: Vec<NamedPair>,
}

/// Two columns.
#[derive(Debug, Clone, PartialEq)]
struct NamedPair([String; 2]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FeaturesName {
    /// Numbers as they are, a weight for each level of a category
    Linear,
    /// A table for each number besides: bins of several widths
    Additive,
    /// Tables of pairs of columns besides
    Pairs,
    /// The simplest of these that cross-validation does not find worse
    Auto,
}

/// What else was typed, as far as it decides between maps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given {
    /// The loss or γ is left to a search.
    pub(crate) searches: bool,
    /// Neither the loss nor γ was typed.
    pub(crate) is_free: bool,
    /// An option that only features as they are can have.
    pub(crate) linear_only: Option<&'static str>,
    /// Columns must be increasing or decreasing: the map knows them, linear or not.
    pub(crate) is_monotone: bool,
}

/// What is tried.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Plan {
    /// The columns as they are.
    Linear,
    /// One map.
    Map(MapKind),
    /// A search over these maps.
    Search(Vec<MapKind>),
    /// A search over the maps that suit the file: linear for wide or sparse numbers.
    Suited,
}

impl FeatureArgs {
    /// Refuses what contradicts itself.
    pub(crate) fn plan(&self, given: Given) -> Result<Plan> {
        let plan = self.plan_of_features(given)?;
        if let (true, Some(option)) = (given.is_monotone, given.linear_only) {
            let what = format!("{option} cannot be combined with --increasing or --decreasing");
            return Err(WrongUsage(what).into());
        }
        Ok(match plan {
            Plan::Linear if given.is_monotone && given.searches => {
                Plan::Search(vec![MapKind::Linear])
            }
            Plan::Linear if given.is_monotone => Plan::Map(MapKind::Linear),
            plan => plan,
        })
    }

    fn plan_of_features(&self, given: Given) -> Result<Plan> {
        let wrong = |what: String| Err(WrongUsage(what).into());
        let choice = self.choice();
        let name = match (self.features, &choice) {
            (Some(name @ (FeaturesName::Linear | FeaturesName::Additive)), Some(_)) => {
                let option = if self.named.is_empty() {
                    "pairs"
                } else {
                    "pair"
                };
                let name = name_of(name);
                return wrong(format!(
                    "--{option} is for --features pairs or auto, not {name}"
                ));
            }
            (Some(name), _) => name,
            (None, Some(_)) => FeaturesName::Pairs,
            (None, None) if given.is_free && given.linear_only.is_none() => {
                return Ok(Plan::Suited);
            }
            (None, None) => return Ok(Plan::Linear),
        };
        if name == FeaturesName::Linear {
            return Ok(Plan::Linear);
        }
        if let Some(option) = given.linear_only {
            let name = name_of(name);
            return wrong(format!("{option} is for --features linear, not {name}"));
        }
        let pairs = |share: f64| MapKind::Pairs(PairChoice::PerColumn(share));
        Ok(match (name, given.searches, choice) {
            (FeaturesName::Auto, false, _) => {
                return wrong(
                    "--features auto is a search; leave out --beta or --gamma, or give additive or pairs"
                        .to_string(),
                );
            }
            (FeaturesName::Auto, true, None) => Plan::Suited,
            (FeaturesName::Auto, true, Some(choice)) => Plan::Search(vec![
                MapKind::Linear,
                MapKind::Additive,
                MapKind::Pairs(choice),
            ]),
            (FeaturesName::Pairs, false, None) => Plan::Map(pairs(PAIRS_PER_COLUMN[0])),
            (FeaturesName::Pairs, true, None) => Plan::Search(PAIRS_PER_COLUMN.map(pairs).to_vec()),
            (FeaturesName::Pairs, false, Some(choice)) => Plan::Map(MapKind::Pairs(choice)),
            (FeaturesName::Pairs, true, Some(choice)) => Plan::Search(vec![MapKind::Pairs(choice)]),
            (FeaturesName::Additive, false, _) => Plan::Map(MapKind::Additive),
            (FeaturesName::Additive, true, _) => Plan::Search(vec![MapKind::Additive]),
            (FeaturesName::Linear, false, _) => Plan::Map(MapKind::Linear),
            (FeaturesName::Linear, true, _) => Plan::Search(vec![MapKind::Linear]),
        })
    }

    fn choice(&self) -> Option<PairChoice> {
        if self.named.is_empty() {
            return self.pairs.clone();
        }
        let names = self.named.iter().map(|NamedPair(names)| names.clone());
        Some(PairChoice::Named(names.collect()))
    }
}

/// Refuses a loss that columns cannot be increasing or decreasing with.
pub(crate) fn refuse_hinge(
    is_monotone: bool,
    mut softness: impl Iterator<Item = f64>,
) -> Result<()> {
    if is_monotone && softness.any(|softness| !Loss::of_softness(softness).is_smooth()) {
        let what = "--increasing and --decreasing need a softness above 0; give --softness 1 (with beta 0 that is \
                    logistic regression) or a small one such as 0.05";
        return Err(WrongUsage(what.to_string()).into());
    }
    Ok(())
}

/// As it is typed and reported.
fn name_of(name: FeaturesName) -> &'static str {
    match name {
        FeaturesName::Linear => "linear",
        FeaturesName::Additive => "additive",
        FeaturesName::Pairs => "pairs",
        FeaturesName::Auto => "auto",
    }
}

/// A map without its number of pairs.
pub(crate) fn kind_of(map: &MapKind) -> &'static str {
    match map {
        MapKind::Linear => "linear",
        MapKind::Additive => "additive",
        MapKind::Pairs(_) => "pairs",
    }
}

/// The options for a map, each after a blank; none for the linear one.
pub(crate) fn options_of_map(map: &MapKind) -> String {
    match map {
        MapKind::Linear => String::new(),
        MapKind::Additive => " --features additive".to_string(),
        MapKind::Pairs(PairChoice::Best(count)) => format!(" --features pairs --pairs {count}"),
        MapKind::Pairs(PairChoice::PerColumn(share)) => {
            format!(" --features pairs --pairs {share}x")
        }
        MapKind::Pairs(PairChoice::Named(pairs)) => {
            let option = |pair: &[String; 2]| {
                format!(
                    " --pair {}",
                    quoted(&ColumnList::new(pair.to_vec()).to_string())
                )
            };
            " --features pairs".to_string() + &pairs.iter().map(option).collect::<String>()
        }
    }
}

/// A whole number of pairs, or a multiple of the number of columns.
fn parse_pairs(text: &str) -> Result<PairChoice, String> {
    let (share, below) = match text.strip_suffix(['x', 'X']) {
        Some(multiple) => (multiple, f64::INFINITY),
        None => match text.parse::<usize>() {
            Ok(count) => return Ok(PairChoice::Best(count)),
            Err(_) => (text, 1.0),
        },
    };
    match share.parse::<f64>() {
        Ok(share) if share >= 0.0 && share < below => Ok(PairChoice::PerColumn(share)),
        Ok(share) if share >= 1.0 && share.is_finite() => Err(format!(
            "a share of the columns is below 1; for a multiple of them give {share}x"
        )),
        _ => Err(
            "must be a number (10), a share of the columns (0.5) or a multiple (3x)".to_string(),
        ),
    }
}

fn parse_pair(text: &str) -> Result<NamedPair, String> {
    match ColumnList::parse(text)?.names() {
        [a, b] if a != b => Ok(NamedPair([a.clone(), b.clone()])),
        [_, _] => Err("must be two different columns".to_string()),
        names => Err(format!(
            "must be two columns, as in age,income; found {}",
            names.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_as_by_boosting_machines() {
        assert_eq!(parse_pairs("10"), Ok(PairChoice::Best(10)));
        assert_eq!(parse_pairs("0.5"), Ok(PairChoice::PerColumn(0.5)));
        assert_eq!(parse_pairs("3x"), Ok(PairChoice::PerColumn(3.0)));
        assert_eq!(parse_pairs("0"), Ok(PairChoice::Best(0)));
        for wrong in ["", "x", "-1", "infx", "inf", "NaN", "3y", "1.0", "1.5"] {
            assert!(parse_pairs(wrong).is_err(), "{wrong}");
        }
        let refused = parse_pairs("1.5").unwrap_err();
        assert!(refused.ends_with("give 1.5x"), "{refused}");
    }

    #[test]
    fn options_of_maps_can_be_typed_again() {
        let pair = ["a,b".to_string(), "c d".to_string()];
        let map = MapKind::Pairs(PairChoice::Named(vec![pair.clone()]));
        assert_eq!(
            options_of_map(&map),
            r#" --features pairs --pair '"a,b",c d'"#
        );
        assert_eq!(parse_pair(r#""a,b",c d"#), Ok(NamedPair(pair)));
        let map = MapKind::Pairs(PairChoice::PerColumn(0.5));
        assert_eq!(options_of_map(&map), " --features pairs --pairs 0.5x");
        for wrong in ["a", "a,a", "a,b,c", ""] {
            assert!(parse_pair(wrong).is_err(), "{wrong}");
        }
    }
}
