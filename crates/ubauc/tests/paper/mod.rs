//! The paper, equation by equation, and its errata. `docs/paper.md` names each test; `map` keeps it so.

mod auc_risk; // Eq. (1), Eq. (2), Figure 1
mod cases; // random cases and oracles
mod errata_bound; // E1, E2, E6, E11
mod errata_data; // E13, E14
mod errata_learning; // E3, E4, E5, E10, E12
mod errata_losses; // E7, E8, E9
mod learning; // Eq. (6)–(8)
mod line; // one feature: exact solutions
mod map; // docs/paper.md tells the truth
mod real_data; // files under $UBAUC_DATA
mod univariate; // Eq. (3)–(5), Eq. (11), Lemmas, Theorem 1
