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
//! behind it, and are no codes. Of many classes V and C are the sums over the classes, each against the rest, and the standard
//! deviation of V is at most the sum of theirs; for two classes all three double. On the five tables that the tests read, the nine columns of codes have C/V of at most .07,
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
    let levels = levels_of(values, positive);
    levels.is_some_and(|levels| Order::of(&levels, |positive| *positive).tells_nothing())
}

/// The same of many classes; `codes` has one entry a row, below `classes`.
pub fn are_codes_of_classes(values: &[f64], codes: &[u32], classes: u32) -> bool {
    levels_of(values, codes).is_some_and(|levels| {
        let mut all = Order::default();
        for class in 0..classes {
            all = all.and(Order::of(&levels, |code| *code == class));
        }
        all.tells_nothing()
    })
}

/// The labels of the rows of every level, in the order of the values; none where these are no whole numbers, few, or mostly rare.
fn levels_of<T: Copy>(values: &[f64], labels: &[T]) -> Option<Vec<Vec<T>>> {
    let step = values.len().div_ceil(MOST_SEEN).max(1);
    let rows = || values.iter().zip(labels).step_by(step);
    if rows().any(|(x, _)| x.is_infinite() || x.fract() != 0.0 && !x.is_nan()) {
        return None;
    }
    let mut seen: Vec<(f64, T)> = rows()
        .filter(|(x, _)| !x.is_nan())
        .map(|(x, y)| (*x + 0.0, *y))
        .collect();
    let present = seen.len();
    seen.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
    let levels: Vec<&[(f64, T)]> = seen
        .chunk_by(|(a, _), (b, _)| a == b)
        .filter(|rows| rows.len() >= LEAST_ROWS)
        .collect();
    let covered: usize = levels.iter().map(|rows| rows.len()).sum();
    let commonest = levels.iter().max_by_key(|rows| rows.len());
    if levels.len() < LEAST_LEVELS
        || 2 * covered < present
        || commonest.is_some_and(|rows| rows[0].0 == 0.0)
    {
        return None;
    }
    let labels = |rows: &[(f64, T)]| rows.iter().map(|(_, label)| *label).collect();
    Some(levels.into_iter().map(labels).collect())
}

/// V with a bound of its standard deviation, and C.
#[derive(Default)]
struct Order {
    signal: f64,
    deviation: f64,
    common: f64,
}

impl Order {
    /// Of one class against the rest.
    fn of<T>(levels: &[Vec<T>], is_positive: impl Fn(&T) -> bool) -> Order {
        let n_pos = |rows: &Vec<T>| rows.iter().filter(|label| is_positive(label)).count() as f64;
        let levels: Vec<[f64; 2]> = (levels.iter())
            .map(|rows| [rows.len() as f64, n_pos(rows)])
            .collect();
        let total = |at: usize| levels.iter().map(|level| level[at]).sum::<f64>();
        let p = total(1) / total(0);
        let pq = p * (1.0 - p);
        if pq == 0.0 {
            return Order::default();
        }
        let effect = |[n, n_pos]: &[f64; 2]| n_pos / n - p;
        // Each level's share in V, which its two neighbours give it.
        let mut shares = vec![0.0; levels.len()];
        let mut common = 0.0;
        for (l, pair) in levels.windows(2).enumerate() {
            let weight = pair[0][0] * pair[1][0] / (pair[0][0] + pair[1][0]);
            shares[l] += weight / 2.0;
            shares[l + 1] += weight / 2.0;
            common += weight * effect(&pair[0]) * effect(&pair[1]);
        }
        let (mut signal, mut variance) = (0.0, 0.0);
        for (level, share) in levels.iter().zip(shares) {
            let n = level[0];
            let noise = pq / n;
            signal += share * (effect(level).powi(2) - noise);
            let relative = 2.0 + 1.0 / (n * pq) - 6.0 / n;
            variance += (share * noise).powi(2) * relative;
        }
        Order {
            signal,
            deviation: variance.sqrt(),
            common,
        }
    }

    fn and(self, other: Order) -> Order {
        Order {
            signal: self.signal + other.signal,
            deviation: self.deviation + other.deviation,
            common: self.common + other.common,
        }
    }

    fn tells_nothing(&self) -> bool {
        self.signal > LEAST_SIGNAL * self.deviation && self.common < MOST_ORDER * self.signal
    }
}
