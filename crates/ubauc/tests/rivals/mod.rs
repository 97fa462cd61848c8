//! The rivals: each against its own definition.

mod oam; // steps by hand, the long way, real data
mod svm; // against an interior-point solver, by hand, real data
