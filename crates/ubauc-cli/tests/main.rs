//! The program as a user runs it: real processes, real files, exit codes.

#![allow(clippy::unwrap_used)] // also in the helpers of tests

mod bad_files;
mod bound;
mod columns;
mod compare;
mod data;
mod demo;
mod evaluate;
mod every_command;
mod explain;
mod help_files;
mod killed;
mod learn;
mod many_classes; // a scorer for each
mod optimum;
mod passes;
mod predict;
mod process;
mod report;
mod reproduce;
mod rivals;
mod tables;
mod train;
mod tune;
mod weights;
