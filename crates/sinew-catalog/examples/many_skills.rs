//! Writes a folder of many made-up skills, the same ones every time, for the figures of large catalogs.
//!
//!     cargo run --release -p sinew-catalog --example many_skills -- 100000 <folder>
#![allow(clippy::print_stderr, reason = "a program that says how it is called")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::{fs, io};

const VERBS: &[&str] = &[
    "convert",
    "resize",
    "deploy",
    "analyse",
    "summarise",
    "translate",
    "schedule",
    "query",
    "export",
    "import",
    "validate",
    "format",
    "compress",
    "encrypt",
    "restore",
    "migrate",
    "monitor",
    "render",
    "annotate",
    "cluster",
    "forecast",
    "reconcile",
    "publish",
    "archive",
];
const THINGS: &[&str] = &[
    "images",
    "invoices",
    "databases",
    "calendars",
    "spreadsheets",
    "tickets",
    "emails",
    "contracts",
    "podcasts",
    "videos",
    "logs",
    "metrics",
    "branches",
    "containers",
    "certificates",
    "recipes",
    "flights",
    "maps",
    "sensors",
    "patents",
    "citations",
    "budgets",
    "surveys",
    "slides",
    "diagrams",
    "fonts",
    "robots",
    "genomes",
    "molecules",
    "galaxies",
];
const TOOLS: &[&str] = &[
    "ffmpeg",
    "pandas",
    "sqlite",
    "postgres",
    "redis",
    "terraform",
    "ansible",
    "jira",
    "notion",
    "github",
    "figma",
    "stripe",
    "shopify",
    "latex",
    "pandoc",
    "spark",
    "kafka",
    "grafana",
];

/// Numbers without a pattern that a catalog would notice, the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn pick(&mut self, words: &[&'static str]) -> &'static str {
        words[self.below(words.len())]
    }
}

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let count = args.next().and_then(|count| count.parse().ok());
    let (Some(count), Some(folder)) = (count, args.next()) else {
        eprintln!("usage: many_skills <count> <folder>");
        return ExitCode::from(2);
    };
    match write_all(count, Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn write_all(count: usize, folder: &Path) -> io::Result<()> {
    let mut dice = Dice(7);
    for number in 0..count {
        let (verb, things, tool) = (dice.pick(VERBS), dice.pick(THINGS), dice.pick(TOOLS));
        let name = format!("{verb}-{things}-{tool}-{number}");
        // Rare words, as names of products and projects are.
        let rare = [dice.below(4_000), dice.below(4_000), dice.below(4_000)];
        let mut text = format!(
            "---\nname: {name}\ndescription: Use when the user wants to {verb} {things} with {tool}, \
             or mentions zz{:04} zz{:04} zz{:04}.\n---\n\n# {name}\n\n",
            rare[0], rare[1], rare[2]
        );
        for step in 1..=8 {
            let (verb, things, tool) = (dice.pick(VERBS), dice.pick(THINGS), dice.pick(TOOLS));
            let rare = dice.below(4_000);
            let _ = writeln!(text, "{step}. {verb} the {things} with {tool} and zz{rare:04}.");
        }
        let place = folder.join(&name);
        fs::create_dir_all(&place)?;
        fs::write(place.join("SKILL.md"), text)?;
    }
    Ok(())
}
