//! Lets plain `cargo build` link the module, as maturin does: on macOS the symbols of Python are found when it is loaded.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
