//! What is minimised, and what it says about AUC: values and subgradients, no loops over time.
//!
//! Numbers of equations, lemmas and errata (`E1` … `E14`) are those of `docs/paper.md`.
//!
//! | file | what |
//! |---|---|
//! | [`auc_risk`] | Eq. (1), Eq. (2): the risk itself, by ranks |
//! | [`univariate`] | Eq. (3)–(5), Lemma 1, Lemma 4, Theorem 1: the bound L̃ and its report |
//! | [`svm`] | the margin form and its place above L̃ |
//! | [`population`] | Eq. (11): an estimate of the bound for new data |
//! | [`pairwise`] | hinge, square and exponential losses of pairs |
//! | [`class_weight`] | weights of the classes: where λ is on the ROC curve |
//! | [`loss`] | the hinge and its soft form: value, multiplier and curvature of one example |
//! | [`ubauc`] | Eq. (6), Eq. (8): the learning objective, as sums over chunks of rows |
//!
//! Functions of scores take `scores` and `positive` (true for y = +1) of one length. They refuse
//! NaN, infinities and anything above 1e280 in size, so that no sum over examples can overflow.

pub mod auc_risk;
pub mod class_weight;
pub mod loss;
pub mod pairwise;
pub mod population;
pub(crate) mod single;
mod sorted;
pub(crate) mod sum;
pub mod svm;
pub mod ubauc;
pub mod univariate;
