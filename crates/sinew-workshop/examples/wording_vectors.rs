//! Writes the encoder's vectors of the wordings of all activities anew:
//!
//!     cargo run -p sinew-workshop --example wording_vectors

use sinew_route::TextEncoder;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let encoder = TextEncoder::embedded().ok_or("this build has no encoder")??;
    let file = sinew_workshop::write_wording_vectors(&encoder).ok_or("the encoder failed")?;
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("data/activity-vectors.bin");
    std::fs::write(path, file)?;
    Ok(())
}
