//! The model file: its page in the documents, and files of earlier versions.

mod format_1;
mod page;
