//! Scores and labels in, AUC and its statistics out. Plain slices; no other module is needed.
//!
//! Scores are `&[f64]`, higher meaning more likely positive; labels are `&[bool]`, `true` meaning
//! positive.
//!
//! | function | answers | time | extra memory |
//! |---|---|---|---|
//! | [`auc()`] | AUC, DeLong variance, 95 % interval, ties | O(N), all threads | 8 to 16 bytes each |
//! | [`weighted_auc`] | the same with a weight for each example | O(N) | O(N) |
//! | [`clustered_auc`] | AUC of examples that come in groups, with Obuchowski's variance | O(N log N) | O(N) |
//! | [`compare`], [`compare_many`] | whether scorers of the same examples differ (DeLong's paired test) | O(kN + k²N) | O(kN) |
//! | [`clustered_compare`], [`clustered_compare_many`] | the same where examples come in groups | O(k²N + N log N) | O(kN) |
//! | [`covariance`] | the covariance matrix of the AUCs of k scorers | O(k²N) | O(kN) |
//! | [`roc_curve`] | rates, counts and threshold at each distinct score | O(N) | O(N) |
//! | [`weighted_roc_curve`] | the same with a weight for each example | O(N) | O(N) |
//! | [`roc_band`], [`wilson`] | how sure a whole ROC curve is, and one share | O(1) | |
//! | [`partial_auc`] | area up to a false positive rate, or from a true positive rate on | O(N) | O(N) |
//! | [`weighted_partial_auc`] | the same with a weight for each example | O(N) | O(N) |
//! | [`average_precision`] | mean precision over the positives | O(N) | 8 bytes each |
//! | [`average_precision_interval`] | the same with its variance and interval | O(N) | 8 bytes each and 32 a positive |
//! | [`clustered_average_precision`], [`clustered_recalls_at_fpr`] | intervals where examples come in groups | O(N log N) | O(N) |
//! | [`weighted_average_precision`] | the same with a weight for each example | O(N) | O(N) |
//! | [`recall_at_fpr`], [`recalls_at_fpr`] | recall where false alarms are limited, with an interval | O(N) | 8 bytes each |
//! | [`Criterion`] | AUC, partial AUC or average precision, chosen by name | | |
//! | [`hand_till`] | AUC for c classes | O(cN) | O(N) |
//! | [`Cut`] | [`auc()`] of scores that lie in parts on many machines, to the last bit | O(N), each part for itself | 8 bytes each |
//! | [`BucketAuc`] | AUC of a stream, with a bound on its error; can be merged and saved | O(1) an example | 16·2^k bytes |
//! | [`FadingAuc`] | the same where an example counts half as much after N later ones | O(1) an example | 16·2^k bytes |
//! | [`WindowAuc`] | AUC of the last W examples of a stream | O(1) an example | 16·W bytes |
//! | [`FallAlarm`] | whether the AUC of a stream has fallen, with a stated rate of false alarms | O(1) an example | O(log N) and a block |
//!
//! What happens at the edges:
//!
//! | case | result |
//! |---|---|
//! | ties of a positive and a negative | count one half |
//! | all scores tied | AUC ½, variance 0, the interval of as many tied pairs; [`Auc::degenerate`] is true |
//! | perfect separation | AUC 1 (or 0), variance 0, the interval of as many won pairs, [0.29, 1] for three positives; [`Auc::degenerate`] is true |
//! | one example in a class | its share of the variance is the largest possible, A(1 − A): conservative |
//! | one group only with positives, or with negatives | no variance between groups; refused: [`Error::Classes`](crate::Error::Classes) |
//! | scores of ±∞ | ordinary scores at the ends; two of one sign are tied |
//! | −0.0 and 0.0 | equal |
//! | a score that is NaN | refused with its row: [`Error::NotFinite`](crate::Error::NotFinite) |
//! | one class only | refused with its name: [`Error::OneClass`](crate::Error::OneClass) |
//! | no examples | refused: [`Error::Empty`](crate::Error::Empty) |
//!
//! Nothing panics, and every result has the same bits for any number of threads: what is counted
//! in parallel is counted in integers.
//!
//! ```
//! use ubauc::metrics;
//!
//! let positive = [true, true, true, false, false, false, false];
//! let ours = [0.9, 0.8, 0.3, 0.5, 0.3, 0.2, 0.1];
//! let theirs = [0.9, 0.2, 0.4, 0.5, 0.3, 0.6, 0.1];
//!
//! let auc = metrics::auc(&ours, &positive)?;
//! assert_eq!(auc.half_wins, 21); // 10 pairs won, 1 tied, of 12
//! assert_eq!(auc.auc, 21.0 / 24.0);
//! assert!(auc.ci95[0] < auc.auc && auc.auc < auc.ci95[1]);
//!
//! let test = metrics::compare(&ours, &theirs, &positive)?;
//! assert!(test.difference > 0.0);
//! assert!(test.p.is_some_and(|p| p > 0.05)); // seven examples prove little
//! # Ok::<(), ubauc::Error>(())
//! ```

mod auc;
mod average_precision;
mod band;
mod bootstrap;
mod bucket;
mod clustered;
mod criterion;
mod delong;
mod exact;
mod fading;
mod fall;
mod hand_till;
mod interval;
mod normal;
pub(crate) mod order;
mod partial_auc;
mod parts;
mod placement;
pub(crate) mod radix;
mod ranges;
mod recall_at_fpr;
mod roc;
mod weighted;
mod weighted_order;
mod window;

pub use auc::{Auc, auc};
pub use average_precision::{
    AveragePrecision, average_precision, average_precision_interval, clustered_average_precision,
    weighted_average_precision,
};
pub use band::{effective_size, roc_band, wilson};
pub use bootstrap::{Sample, Statistic};
pub use bucket::{BucketAuc, BucketEstimate};
pub use clustered::{clustered_auc, clustered_compare, clustered_compare_many};
pub use criterion::Criterion;
pub use delong::{ComparedPair, Comparison, PairedTest, compare, compare_many, covariance};
pub use fading::{FadingAuc, FadingEstimate};
pub use fall::{Fall, FallAlarm};
pub use hand_till::{ClassPair, HandTill, hand_till, weighted_hand_till};
pub use interval::{Interval, Resampling, Share};
pub use normal::{normal_cdf, normal_quantile};
pub use partial_auc::{PartialAuc, RocPart, partial_auc, weighted_partial_auc};
pub use parts::{Cell, Cut, Piece, count_cells, keys_by_class, range_sums, scatter};
pub use placement::PlacementSums;
pub use recall_at_fpr::{RecallAtFpr, clustered_recalls_at_fpr, recall_at_fpr, recalls_at_fpr};
pub use roc::{RocCurve, WeightedRocCurve, roc_curve, weighted_roc_curve};
pub use weighted::{WeightedAuc, weighted_auc};
pub use window::WindowAuc;
