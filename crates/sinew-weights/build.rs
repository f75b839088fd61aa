//! Tells the crate whether the encoder's file is there: it is in the repository, and in no package.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=encoder.bin");
    println!("cargo:rustc-check-cfg=cfg(has_encoder)");
    if Path::new("encoder.bin").is_file() {
        println!("cargo:rustc-cfg=has_encoder");
    }
}
