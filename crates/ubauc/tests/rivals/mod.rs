//! The algorithms that the paper compares with.

mod svm_or; // the hinge of all pairs
