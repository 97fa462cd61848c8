//! One integration binary.

mod paper;
