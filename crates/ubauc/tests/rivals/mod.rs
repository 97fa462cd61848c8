//! The algorithms UBAUC is compared with.

mod data; // small and real
mod opauc;
mod solam;
