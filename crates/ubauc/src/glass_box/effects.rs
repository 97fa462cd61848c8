//! What a model says of each column and pair.
