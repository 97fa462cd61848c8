//! Work on several threads, each piece on one of its own.
//!
//! Not rayon's: its threads, waiting for a piece of a fit, begin other fits on top, each with its own copy of the rows.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// f of every item, in their order; as many at a time as `--threads` allows, and what f does stays on its thread.
pub(crate) fn side_by_side<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let answers: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        // One thread that no other work can be put on; without it, the pool of all.
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().ok();
        while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|i| *i < items.len())
        {
            let answer = match &alone {
                Some(pool) => pool.install(|| f(&items[at])),
                None => f(&items[at]),
            };
            if let Ok(mut place) = answers[at].lock() {
                *place = Some(answer);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..rayon::current_num_threads().min(items.len()) {
            scope.spawn(work);
        }
    });
    let answers = answers.into_iter().map(|place| place.into_inner());
    answers
        .map(|answer| answer.ok().flatten().expect("every item is worked on"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_in_order() {
        let items: Vec<usize> = (0..100).collect();
        let squares = side_by_side(&items, |i| i * i);
        assert!(squares.iter().enumerate().all(|(i, s)| *s == i * i));
        assert!(side_by_side(&[], |i: &usize| *i).is_empty());
    }

    #[test]
    fn a_piece_has_one_thread() {
        let threads = side_by_side(&[(); 3], |()| rayon::current_num_threads());
        assert_eq!(threads, [1; 3]);
    }
}
