//! Turns the vocabulary into a hash table that is used in place, so that start-up costs nothing.

use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "src/fnv.rs"]
mod fnv;

/// Slots of the word-piece hash table: twice the vocabulary, so that probes stay short.
const SLOTS: usize = 1 << 16;

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/fnv.rs");
    println!("cargo:rerun-if-changed=data/vocab.txt");
    word_pieces(Path::new("data/vocab.txt"), &out.join("wordpiece.bin"));
}

/// count, offsets, hash table of `u16` (0xffff is free), pieces.
fn word_pieces(file: &Path, out: &Path) {
    let text = fs::read_to_string(file).expect("data/vocab.txt is part of the crate");
    let pieces: Vec<&str> = text.lines().collect();
    let mut slots = vec![u16::MAX; SLOTS];
    let mut offsets = number(0).to_vec();
    let mut bytes = Vec::new();
    for (id, piece) in pieces.iter().enumerate() {
        bytes.extend_from_slice(piece.as_bytes());
        offsets.extend(number(bytes.len()));
        let mut slot = fnv::extend(fnv::START, piece.as_bytes()) as usize % SLOTS;
        while slots[slot] != u16::MAX {
            slot = (slot + 1) % SLOTS;
        }
        slots[slot] = u16::try_from(id).expect("a vocabulary of at most 65,534 pieces");
    }
    let mut table = number(pieces.len()).to_vec();
    table.extend(offsets);
    slots.iter().for_each(|slot| table.extend(slot.to_le_bytes()));
    table.extend(bytes);
    fs::write(out, table).expect("OUT_DIR is writable");
}

fn number(value: usize) -> [u8; 4] {
    u32::try_from(value).expect("tables are small").to_le_bytes()
}
