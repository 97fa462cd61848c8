//! η₀ by trial.

/// η₀ where there is nothing to try it on.
pub const FALLBACK: f64 = 0.5;
