//! The algorithms that the paper compares with.

mod data; // small and real
mod oam;
mod opauc;
mod solam;
mod stream;
mod svm;
mod svm_or; // the hinge of all pairs
