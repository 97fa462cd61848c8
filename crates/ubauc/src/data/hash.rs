//! Features hashed into 2^b columns, for streams whose features nobody has counted.
//!
//!   h(j) = the leading b bits of mix(j),   x'_k = Σ_{j: h(j) = k} x_j
//!
//! `mix` is the finaliser of splitmix64 (Steele, Lea, Flood 2014), a bijection of 64-bit words, of
//! j + 1 times its odd constant: it is fixed for ever, for models depend on it. Features that
//! collide are added, in the order of the row. Cost O(nnz log nnz) a row.

use super::rows::{Csr, Row, Rows};
use crate::{Error, Result};

/// The most bits; 2²⁸ weights are 2 GiB.
pub const MAX_BITS: u32 = 28;

/// Refuses a number of bits that cannot be used.
pub fn check_bits(bits: u32) -> Result<()> {
    if (1..=MAX_BITS).contains(&bits) {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "hash_bits",
        value: bits.to_string(),
        must: "from 1 to 28",
    })
}

/// The column that a feature, counted from 0, is hashed to; `bits` as [`check_bits`] has them.
#[inline]
pub fn hashed_column(feature: usize, bits: u32) -> u32 {
    (mix(feature as u64) >> (u64::BITS - bits)) as u32
}

/// Output j of splitmix64 from seed 0: bits that look random.
#[inline]
pub(crate) fn mix(j: u64) -> u64 {
    let mut z = j.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The rows with their features hashed. Zeros are left out, so dense and sparse rows give the same.
pub fn hashed(rows: &Rows, bits: u32) -> Result<Rows> {
    check_bits(bits)?;
    let mut indptr = Vec::with_capacity(rows.len() + 1);
    let (mut indices, mut values) = (Vec::new(), Vec::new());
    let mut entries: Vec<(u32, f64)> = Vec::new();
    indptr.push(0);
    for i in 0..rows.len() {
        entries.clear();
        let row: Row<'_> = rows.row(i);
        let nonzero = row.entries().filter(|(_, x)| *x != 0.0);
        entries.extend(nonzero.map(|(j, x)| (hashed_column(j, bits), x)));
        // Stable: collisions are added in the order of the row.
        entries.sort_by_key(|(column, _)| *column);
        let start = indices.len();
        for &(column, x) in &entries {
            if indices.len() > start && indices.last() == Some(&column) {
                let at = values.len() - 1;
                values[at] += x;
                if !f64::is_finite(values[at]) {
                    return Err(Error::NotFinite {
                        what: "sum of hashed features",
                        row: i,
                        value: values[at],
                        must: "finite",
                    });
                }
            } else {
                indices.push(column);
                values.push(x);
            }
        }
        indptr.push(indices.len());
    }
    let csr = Csr::from_checked(indptr, indices, values, 1 << bits);
    Ok(Rows::Csr(csr))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::rows::Dense;

    #[test]
    fn columns_are_those_of_splitmix64() {
        // The published first outputs of splitmix64 from seed 0.
        let published = [
            0xe220_a839_7b1d_cdaf_u64,
            0x6e78_9e6a_a1b9_65f4,
            0x06c4_5d18_8009_454f,
        ];
        for (j, word) in published.into_iter().enumerate() {
            assert_eq!(hashed_column(j, 28), (word >> 36) as u32);
            assert_eq!(hashed_column(j, 1), (word >> 63) as u32);
        }
    }

    #[test]
    fn collisions_add_and_dense_rows_are_hashed_as_sparse_ones() {
        let values = vec![1.0, 2.0, 0.0, 4.0, 8.0, 0.5];
        let dense = Rows::Dense(Dense::new(values.clone(), 1, 6).unwrap());
        let csr = Csr::new(
            vec![0, 5],
            vec![0, 1, 3, 4, 5],
            vec![1.0, 2.0, 4.0, 8.0, 0.5],
            6,
        );
        let sparse = Rows::Csr(csr.unwrap());
        for bits in [1, 2, 20] {
            let rows = hashed(&dense, bits).unwrap();
            assert_eq!(rows, hashed(&sparse, bits).unwrap());
            let mut expected = vec![0.0; 1 << bits];
            for (j, x) in values.iter().enumerate() {
                expected[hashed_column(j, bits) as usize] += x;
            }
            let found: Vec<f64> = (0..1 << bits).map(|k| rows.row(0).get(k)).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn what_cannot_be_hashed_is_refused() {
        let huge = Rows::Dense(Dense::new(vec![1e308; 4], 1, 4).unwrap());
        assert!(matches!(hashed(&huge, 1), Err(Error::NotFinite { .. })));
        for bits in [0, 29, 64] {
            assert!(matches!(hashed(&huge, bits), Err(Error::Parameter { .. })));
        }
    }
}
