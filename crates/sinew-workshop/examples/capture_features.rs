//! What the classifier of corrections sees of turns: a line of JSON (`text`, `previous`) in, a line of
//! numbers out, with the word `vetoed` where no probability makes a correction of it. The training script
//! reads it.

use std::io::{BufRead as _, Write as _};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let row: serde_json::Value = serde_json::from_str(&line?)?;
        let text = row["text"].as_str().unwrap_or_default();
        let numbers = sinew_workshop::capture_features(text, row["previous"].as_str());
        // The last number is printed in any case: it says how many there are.
        let last = numbers.len().saturating_sub(1);
        let numbers = numbers.iter().enumerate();
        let numbers = numbers.filter(|(at, number)| **number != 0.0 || *at == last);
        let cells: Vec<String> = numbers.map(|(at, number)| format!("{at}:{number}")).collect();
        let vetoed = if sinew_workshop::capture_vetoed(text) { " vetoed" } else { "" };
        writeln!(out, "{}{vetoed}", cells.join(" "))?;
    }
    Ok(())
}
