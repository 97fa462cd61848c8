//! OPAUC with both covariances in full.
//!
//! Of each class n, m = Σ z and S = Σ zzᵀ are kept, z = x − o. Then, with z̄ = m/n, Γ = S/n − z̄z̄ᵀ and a step is
//!
//! ```text
//! e = (z − z̄)·w − y,   w ← (1 − ηλ)w − ηe z + η(e + z̄·w) z̄ − (η/n) S w
//! ```
//!
//! o is the first example if rows are dense: however far the features are from 0, z̄ is then no larger than their
//! spread, and nothing cancels in Γ. Sparse rows have o = 0, so that z is sparse as well; a feature that is mostly
//! absent has a spread of the size of its mean or more, and one that is always there, with mean μ and deviation s, costs the
//! share ε(μ/s)² of its variance (1e-8 at μ = 10⁴ s).
//!
//! Cost: S + zzᵀ takes O(nnz(z)²), Sw takes d²: the upper triangle is read once, from memory where it does not fit the
//! cache, four rows at a time.

use serde::{Deserialize, Serialize};

use super::sign;
use crate::Result;
use crate::data::rows::{Row, add_to, dot};
use crate::solver::stream::reserve;

/// Moments of a class, about o.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Moments {
    n: f64,
    /// Σ z.
    sum: Vec<f64>,
    /// Σ zzᵀ, row-major; what stands below the diagonal is not looked at.
    squares: Vec<f64>,
}

impl Moments {
    fn new(d: usize) -> Moments {
        Moments {
            n: 0.0,
            sum: vec![0.0; d],
            squares: vec![0.0; d * d],
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Full {
    eta: f64,
    lambda: f64,
    w: Vec<f64>,
    /// Of the negatives and of the positives.
    classes: [Moments; 2],
    /// o, once a dense row has come first.
    origin: Option<Vec<f64>>,
    /// An example has come.
    begun: bool,
    /// Room for z and for Sw.
    #[serde(skip)]
    z: Vec<f64>,
    #[serde(skip)]
    product: Vec<f64>,
}

impl Full {
    /// The caller has seen that 2d² numbers are not too many.
    pub(super) fn new(d: usize, eta: f64, lambda: f64) -> Full {
        Full {
            eta,
            lambda,
            w: vec![0.0; d],
            classes: [Moments::new(d), Moments::new(d)],
            origin: None,
            begun: false,
            z: vec![0.0; d],
            product: vec![0.0; d],
        }
    }

    pub(super) fn weights(&self) -> &[f64] {
        &self.w
    }

    /// η and λ.
    pub(super) fn steps(&self) -> [f64; 2] {
        [self.eta, self.lambda]
    }

    /// Room for d features; a step costs as much.
    pub(super) fn grow(&mut self, d: usize) -> Result<()> {
        let old = self.w.len();
        for Moments { sum, squares, .. } in &mut self.classes {
            reserve(squares, d * d)?;
            reserve(sum, d)?;
        }
        for vector in [&mut self.w, &mut self.z, &mut self.product] {
            reserve(vector, d)?;
        }
        if let Some(origin) = &mut self.origin {
            reserve(origin, d)?;
            origin.resize(d, 0.0);
        }
        for Moments { sum, squares, .. } in &mut self.classes {
            sum.resize(d, 0.0);
            squares.resize(d * d, 0.0);
            if d > old {
                // From the last row on, none is written over before it has moved.
                for i in (1..old).rev() {
                    squares.copy_within(i * old..(i + 1) * old, i * d);
                    squares[i * old..((i + 1) * old).min(i * d)].fill(0.0);
                }
            }
        }
        for vector in [&mut self.w, &mut self.z, &mut self.product] {
            vector.resize(d, 0.0);
        }
        Ok(())
    }

    pub(super) fn is_sound(&self, d: usize) -> bool {
        let fits =
            |class: &Moments| class.sum.len() == d && Some(class.squares.len()) == d.checked_mul(d);
        self.w.len() == d
            && self.classes.iter().all(fits)
            && (self.origin.as_ref()).is_none_or(|origin| origin.len() == d && self.begun)
    }

    pub(super) fn learn(&mut self, x: Row<'_>, positive: bool) {
        if let (false, Row::Dense(x)) = (self.begun, x) {
            self.origin = Some(x.to_vec());
        }
        self.begun = true;
        let z = match &self.origin {
            None => x,
            Some(origin) => {
                self.z.iter_mut().zip(origin).for_each(|(z, o)| *z = -o);
                x.add_to(1.0, &mut self.z);
                Row::Dense(&self.z)
            }
        };
        let [negatives, positives] = &mut self.classes;
        let (own, other) = if positive {
            (positives, negatives)
        } else {
            (negatives, positives)
        };
        if other.n > 0.0 {
            let (eta, w) = (self.eta, &mut self.w);
            multiply(&other.squares, w, &mut self.product);
            let centre = dot(&other.sum, w) / other.n;
            let e = z.dot(w) - centre - sign(positive);
            let keep = 1.0 - eta * self.lambda;
            let mean = eta * (e + centre) / other.n;
            let spread = eta / other.n;
            for ((w, m), s) in w.iter_mut().zip(&other.sum).zip(&self.product) {
                *w = keep * *w + (mean * m - spread * s);
            }
            z.add_to(-eta * e, w);
        }
        own.n += 1.0;
        z.add_to(1.0, &mut own.sum);
        z.add_outer(1.0, own.sum.len(), &mut own.squares);
    }
}

/// y ← Sw, S symmetric and given by its upper triangle.
fn multiply(s: &[f64], w: &[f64], y: &mut [f64]) {
    let d = w.len();
    y.fill(0.0);
    let mut first = 0;
    while first + 4 <= d {
        // The triangle on the diagonal, then four rows beyond it.
        let end = first + 4;
        for i in first..end {
            y[i] += s[i * d + i] * w[i];
            for j in i + 1..end {
                y[i] += s[i * d + j] * w[j];
                y[j] += s[i * d + j] * w[i];
            }
        }
        let row = |k: usize| &s[(first + k) * d + end..(first + k + 1) * d];
        let (own, beyond) = y[first..].split_at_mut(4);
        let rows = [row(0), row(1), row(2), row(3)];
        let sums = four_rows(rows, &w[first..end], &w[end..], beyond);
        own.iter_mut().zip(sums).for_each(|(y, sum)| *y += sum);
        first = end;
    }
    for i in first..d {
        let row = &s[i * d + i..(i + 1) * d];
        let (own, beyond) = y[i..].split_at_mut(1);
        own[0] += dot(row, &w[i..]);
        add_to(w[i], &row[1..], beyond);
    }
}

/// y ← y + Σ_k v_k r_k, and r_k·w of the four.
#[inline]
fn four_rows<'a>(rows: [&'a [f64]; 4], v: &[f64], w: &'a [f64], y: &mut [f64]) -> [f64; 4] {
    const LANES: usize = 4;
    let n = w.len();
    let v = [v[0], v[1], v[2], v[3]];
    let [a, b, c, e] = rows;
    let mut sums = [[0.0; LANES]; 4];
    let whole = n - n % LANES;
    let (near, far) = y[..n].split_at_mut(whole);
    let chunks = |row: &'a [f64]| row[..whole].chunks_exact(LANES);
    let ab = chunks(a).zip(chunks(b));
    let ce = chunks(c).zip(chunks(e));
    let wy = chunks(w).zip(near.chunks_exact_mut(LANES));
    for (((a, b), (c, e)), (w, y)) in ab.zip(ce).zip(wy) {
        for lane in 0..LANES {
            let column = [a[lane], b[lane], c[lane], e[lane]];
            y[lane] +=
                (v[0] * column[0] + v[1] * column[1]) + (v[2] * column[2] + v[3] * column[3]);
            for k in 0..4 {
                sums[k][lane] += column[k] * w[lane];
            }
        }
    }
    let mut sums = sums.map(|s| (s[0] + s[1]) + (s[2] + s[3]));
    for (j, y) in (whole..n).zip(far) {
        for k in 0..4 {
            sums[k] += rows[k][j] * w[j];
            *y += v[k] * rows[k][j];
        }
    }
    sums
}
