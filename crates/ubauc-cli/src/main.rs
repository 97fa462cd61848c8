//! The program `ubauc`.
fn main() {}
