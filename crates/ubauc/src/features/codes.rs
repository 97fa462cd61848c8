//! Whole numbers that are codes, such as the number of an employee or of a place: known by what their order tells.
//!
//! Let the values of a column that occur at least three times be its levels l in their order, level l have n_l rows and the
//! share r_l of positives, all these rows the share p, and q = 1 − p. A neighbour has the weight
//! w_l = n_l n_{l+1} / (n_l + n_{l+1}), the inverse of the variance of r_l − r_{l+1} but for pq. Then
//!
//! ```text
//! v_l = (r_l − p)² − pq/n_l                  0 on average where the level tells nothing
//! V   = Σ_l w_l (v_l + v_{l+1})/2            what the levels tell
//! C   = Σ_l w_l (r_l − p)(r_{l+1} − p)       what neighbours have in common
//! ```
//!
//! C/V estimates the correlation of the effects of neighbouring values: near 1 for a quantity, whatever its shape, since
//! neighbours differ little; 0 for codes. Where no level tells anything, the fourth moment of a binomial gives
//!
//! ```text
//! Var v_l = (pq/n_l)² (2 + 1/(n_l pq) − 6/n_l)
//! ```
//!
//! by which V is judged: it must be above chance before its parts are. Counts and amounts pile up at 0, with odd values
//! behind it, and are no codes. On the five tables that the tests read, the nine columns of codes have C/V of at most .07,
//! and no other column that gets so far has less than .6.

/// Fewer levels may as well be steps of a scale.
const LEAST_LEVELS: usize = 20;
/// A value that occurs less often says nothing of its own.
const LEAST_ROWS: usize = 3;
/// V in standard deviations.
const LEAST_SIGNAL: f64 = 6.0;
/// C/V.
const MOST_ORDER: f64 = 0.2;
/// As many rows, evenly taken, are enough to judge by.
const MOST_SEEN: usize = 1 << 18;

/// Do the values tell the classes apart, and their order nothing? `positive` has one entry a row.
pub fn are_codes(values: &[f64], positive: &[bool]) -> bool {
    let step = values.len().div_ceil(MOST_SEEN).max(1);
    let rows = || values.iter().zip(positive).step_by(step);
    if rows().any(|(x, _)| x.is_infinite() || x.fract() != 0.0 && !x.is_nan()) {
        return false;
    }
    let mut seen: Vec<(f64, bool)> = rows()
        .filter(|(x, _)| !x.is_nan())
        .map(|(x, y)| (*x + 0.0, *y))
        .collect();
    let present = seen.len();
    seen.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
    let levels: Vec<Level> = seen
        .chunk_by(|(a, _), (b, _)| a == b)
        .filter(|rows| rows.len() >= LEAST_ROWS)
        .map(Level::new)
        .collect();
    let covered: f64 = levels.iter().map(|level| level.n).sum();
    let commonest = levels.iter().max_by(|a, b| a.n.total_cmp(&b.n));
    if levels.len() < LEAST_LEVELS
        || covered < present as f64 / 2.0
        || commonest.is_some_and(|level| level.value == 0.0)
    {
        return false;
    }
    let p = levels.iter().map(|level| level.n_pos).sum::<f64>() / covered;
    order_tells_nothing(&levels, p)
}

/// A value and its rows.
struct Level {
    value: f64,
    n: f64,
    n_pos: f64,
}

impl Level {
    fn new(rows: &[(f64, bool)]) -> Level {
        Level {
            value: rows[0].0,
            n: rows.len() as f64,
            n_pos: rows.iter().filter(|(_, positive)| *positive).count() as f64,
        }
    }
}

fn order_tells_nothing(levels: &[Level], p: f64) -> bool {
    let pq = p * (1.0 - p);
    if pq == 0.0 {
        return false;
    }
    let effect = |level: &Level| level.n_pos / level.n - p;
    // Each level's share in V, which its two neighbours give it.
    let mut shares = vec![0.0; levels.len()];
    let mut common = 0.0;
    for (l, pair) in levels.windows(2).enumerate() {
        let weight = pair[0].n * pair[1].n / (pair[0].n + pair[1].n);
        shares[l] += weight / 2.0;
        shares[l + 1] += weight / 2.0;
        common += weight * effect(&pair[0]) * effect(&pair[1]);
    }
    let (mut signal, mut variance) = (0.0, 0.0);
    for (level, share) in levels.iter().zip(shares) {
        let noise = pq / level.n;
        signal += share * (effect(level).powi(2) - noise);
        let relative = 2.0 + 1.0 / (level.n * pq) - 6.0 / level.n;
        variance += (share * noise).powi(2) * relative;
    }
    signal > LEAST_SIGNAL * variance.sqrt() && common < MOST_ORDER * signal
}
