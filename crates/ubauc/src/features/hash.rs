//! Features hashed into 2^b columns, for streams whose number of features is unknown.
//!
//!   h(j) = the leading b bits of mix(j),   x'_k = Σ_{j: h(j) = k} x_j
//!
//! `mix` is splitmix64 (`data/hash.rs`); models depend on it, so it never changes. Features that collide are added, in
//! the order of the row. Cost O(nnz log nnz) a row.

use super::Buffer;
use crate::checksum::xxh3;
use crate::data::hash::mix;
use crate::data::rows::Row;
use crate::{Error, Result};

/// The most bits; 2²⁸ weights are 2 GiB.
pub const MAX_BITS: u32 = 28;

/// Refuses a number of bits that cannot be used.
pub(super) fn check(bits: u32) -> Result<()> {
    if (1..=MAX_BITS).contains(&bits) {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "hash_bits",
        value: bits.to_string(),
        must: "from 1 to 28",
    })
}

/// The column that a feature, counted from 0, is hashed to.
#[inline]
fn column(feature: usize, bits: u32) -> u32 {
    (mix(feature as u64) >> (u64::BITS - bits)) as u32
}

/// The cell of a level of a category among 2^bits: the leading bits of XXH3 of `column=level`.
pub(super) fn level(column: &str, level: &str, bits: u32) -> u32 {
    let text = format!("{column}={level}");
    (xxh3(text.as_bytes()) >> (u64::BITS - bits)) as u32
}

/// A row with its features hashed, in the buffer. Zeros are left out, so dense and sparse rows give the same. `bits` as
/// [`check`] has them; `number` is that of the row, for an error.
pub(super) fn row<'a>(
    row: Row<'_>,
    bits: u32,
    number: usize,
    buffer: &'a mut Buffer,
) -> Result<Row<'a>> {
    let Buffer {
        entries,
        indices,
        values,
    } = buffer;
    let nonzero = row.entries().filter(|(_, x)| *x != 0.0);
    entries.clear();
    entries.extend(nonzero.map(|(j, x)| (column(j, bits), x)));
    // Stable: collisions are added in the order of the row.
    entries.sort_by_key(|(column, _)| *column);
    indices.clear();
    values.clear();
    for &(column, x) in &*entries {
        match values.last_mut() {
            Some(sum) if indices.last() == Some(&column) => {
                *sum += x;
                if !sum.is_finite() {
                    return Err(Error::NotFinite {
                        what: "sum of hashed features",
                        row: number,
                        value: *sum,
                        must: "finite",
                    });
                }
            }
            _ => {
                indices.push(column);
                values.push(x);
            }
        }
    }
    Ok(Row::Sparse(indices, values))
}

#[cfg(test)]
mod tests {
    use super::super::FeatureMap;
    use super::*;
    use crate::data::rows::{Csr, Dense, Rows};

    fn hashed(rows: &Rows, bits: u32) -> Result<Rows> {
        Ok(FeatureMap::Hash { bits }.apply(rows)?.into_owned())
    }

    #[test]
    fn columns_are_the_leading_bits_of_splitmix64() {
        assert_eq!(column(0, 28), 0x0e22_0a83);
        assert_eq!([0, 1, 2].map(|j| column(j, 1)), [1, 0, 0]);
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
                expected[column(j, bits) as usize] += x;
            }
            let found: Vec<f64> = (0..1 << bits).map(|k| rows.row(0).get(k)).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn what_cannot_be_hashed_is_refused() {
        let huge = Rows::Dense(
            Dense::new(vec![0.0, 0.0, 0.0, 0.0, 1e308, 1e308, 1e308, 1e308], 2, 4).unwrap(),
        );
        assert!(matches!(
            hashed(&huge, 1),
            Err(Error::NotFinite { row: 1, .. })
        ));
        for bits in [0, 29, 64] {
            assert!(matches!(hashed(&huge, bits), Err(Error::Parameter { .. })));
        }
    }
}
