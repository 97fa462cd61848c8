//! `--features` of `train` and `tune`, and `explain`.

mod features;
mod monotone;
mod terms;

use std::fmt::Write as _;

/// A table of numbers and a category whose classes are told by `a` and `b` together, and by nothing alone.
pub(crate) fn exclusive_or(n: u64) -> String {
    let mut text = "a,b,c,colour,y\n".to_string();
    let mut state = 11_u64;
    let mut random = move |below: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for i in 0..n {
        let (a, b, c) = (random(100), random(100), random(100));
        let is_odd = (a < 50) != (b < 50);
        let y = if random(10) == 0 { !is_odd } else { is_odd };
        let colour = ["red", "green", "blue"][random(3) as usize];
        let c = if i % 11 == 3 {
            String::new()
        } else {
            c.to_string()
        };
        let y = if y { "yes" } else { "no" };
        writeln!(text, "{a},{b},{c},{colour},{y}").unwrap();
    }
    text
}

/// The same without what is no complete number.
pub(crate) fn numbers(n: u64) -> String {
    let text = exclusive_or(n);
    let lines = text.lines().map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        format!("{},{},{}\n", fields[0], fields[1], fields[4])
    });
    lines.collect()
}
