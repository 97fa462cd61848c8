//! Answers, taken apart again: [`Query::answer_len`] alone says where one ends.

use super::message::Query;
use crate::{Error, Result};

/// The answers to some queries, taken one after the other.
pub(super) struct Answers {
    numbers: Vec<f64>,
    lengths: std::vec::IntoIter<usize>,
    taken: usize,
}

impl Answers {
    /// Refuses numbers that cannot be the summed answers to these queries of shards with d columns.
    pub(super) fn new(numbers: Vec<f64>, queries: &[Query], d: usize) -> Result<Answers> {
        let lengths: Vec<usize> = queries
            .iter()
            .map(|query| query.answer_len(d).unwrap_or(0))
            .collect();
        check_len(&numbers, lengths.iter().sum())?;
        Ok(Answers {
            numbers,
            lengths: lengths.into_iter(),
            taken: 0,
        })
    }

    /// The answer to the next query.
    pub(super) fn next(&mut self) -> &[f64] {
        let start = self.taken;
        self.taken += self.lengths.next().unwrap_or(0);
        &self.numbers[start..self.taken]
    }

    /// The same where it is of N numbers.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[f64; N]> {
        let (array, rest) = self.array_and_rest()?;
        check_len(&rest, 0)?;
        Ok(array)
    }

    /// The same where N numbers begin it.
    pub(super) fn array_and_rest<const N: usize>(&mut self) -> Result<([f64; N], Vec<f64>)> {
        let next = self.next();
        match next.split_first_chunk() {
            Some((array, rest)) => Ok((*array, rest.to_vec())),
            None => Err(other_length(N, next.len())),
        }
    }
}

/// Answers that crossed the wire may be of any length.
pub(super) fn check_len(numbers: &[f64], expected: usize) -> Result<()> {
    match numbers.len() == expected {
        true => Ok(()),
        false => Err(other_length(expected, numbers.len())),
    }
}

fn other_length(expected: usize, got: usize) -> Error {
    let what = "answers of the shards";
    Error::Length {
        what,
        expected,
        got,
    }
}
