//! The table of well-known programs, as it is read from `data/effects.tsv`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{Effect, EffectSet};

const TABLE: &str = include_str!("../../data/effects.tsv");

/// What a row says of a program before its options are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaseEffect {
    /// These effects, whatever its operands are.
    Fixed(EffectSet),
    /// Statements of a database decide.
    Sql,
    /// A script of sed decides.
    Sed,
    /// A program of awk decides.
    Awk,
    /// A request as HTTPie writes it decides.
    Http,
    /// A list; a name behind it makes a new one.
    Listing,
}

/// What an option does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionEffect {
    /// It has this effect.
    Adds(Effect),
    /// It makes the program one that only reads.
    Reads,
    /// The method of a request follows.
    Method,
    /// Data of a request follows.
    Data,
    /// A file follows, of which `-` is the output.
    Stdout,
    /// A statement of a database follows.
    Sql,
    /// The next word is its value.
    TakesValue,
    /// It is harmless.
    Harmless,
}

/// One row.
#[derive(Debug)]
pub(super) struct ProgramRow {
    /// Verbs, each as a path of words.
    verbs: Vec<Vec<&'static str>>,
    pub(super) base: BaseEffect,
    options: Vec<(&'static str, OptionEffect)>,
    /// Whether every long option that is not listed counts as a shell.
    pub(super) is_strict: bool,
}

impl ProgramRow {
    /// What an option does, by its whole name.
    pub(super) fn option(&self, name: &str) -> Option<OptionEffect> {
        self.options.iter().find(|(known, _)| *known == name).map(|(_, effect)| *effect)
    }

    /// How well the row fits these operands: words of its path, and how many of them are exact.
    fn fit(&self, operands: &[&str]) -> Option<(usize, usize)> {
        let fits = self.verbs.iter().filter_map(|path| {
            if path.as_slice() == ["*"] {
                return Some((0, 0));
            }
            let long_enough = path.len() <= operands.len();
            let matches = |(known, word): (&&str, &&str)| match known.strip_suffix('*') {
                Some(start) => word.starts_with(start),
                None => known == word,
            };
            let fits = long_enough && path.iter().zip(operands).all(matches);
            fits.then(|| (path.len(), path.iter().filter(|word| !word.contains('*')).count()))
        });
        fits.max()
    }

    fn read(line: &'static str) -> Option<(&'static str, Self)> {
        let mut cells = line.split('\t');
        let (programs, verbs, effects) = (cells.next()?, cells.next()?, cells.next()?);
        let verbs = verbs.split('|').map(|path| path.split(' ').collect()).collect();
        let base = match effects {
            "sql" => BaseEffect::Sql,
            "sed" => BaseEffect::Sed,
            "awk" => BaseEffect::Awk,
            "http" => BaseEffect::Http,
            "listing" => BaseEffect::Listing,
            named => BaseEffect::Fixed(
                named
                    .split(',')
                    .filter(|name| *name != "read")
                    .fold(EffectSet::NONE, |set, name| set.with(EffectSet::of(effect(name)))),
            ),
        };
        let mut is_strict = false;
        let options = cells.next().unwrap_or_default().split(' ').filter(|word| !word.is_empty());
        let options = options.map(|word| {
            if let Some(harmless) = word.strip_prefix('?') {
                is_strict = true;
                return (harmless, OptionEffect::Harmless);
            }
            if let Some(name) = word.strip_suffix(':') {
                return (name, OptionEffect::TakesValue);
            }
            let (name, what) = word.rsplit_once('=').unwrap_or((word, "shell"));
            let effect = match what {
                "read" => OptionEffect::Reads,
                "method" => OptionEffect::Method,
                "data" => OptionEffect::Data,
                "stdout" => OptionEffect::Stdout,
                "sql" => OptionEffect::Sql,
                named => OptionEffect::Adds(effect(named)),
            };
            (name, effect)
        });
        let options = options.collect();
        Some((programs, Self { verbs, base, options, is_strict }))
    }
}

/// An effect by its name; a name that is none is the strictest.
fn effect(name: &str) -> Effect {
    match name {
        "write" => Effect::Write,
        "delete" => Effect::Delete,
        "credentials" => Effect::Credentials,
        _ => Effect::Shell,
    }
}

/// Every row, and which of them are about a program.
struct ProgramTable {
    rows: Vec<ProgramRow>,
    by_program: HashMap<&'static str, Vec<usize>>,
}

static PROGRAMS: LazyLock<ProgramTable> = LazyLock::new(|| {
    let mut table = ProgramTable { rows: Vec::new(), by_program: HashMap::new() };
    let lines = TABLE.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    for (programs, row) in lines.filter_map(ProgramRow::read) {
        let place = table.rows.len();
        table.rows.push(row);
        for program in programs.split(' ') {
            table.by_program.entry(program).or_default().push(place);
        }
    }
    table
});

/// Whether a program is in the table.
pub(super) fn is_known(program: &str) -> bool {
    PROGRAMS.by_program.contains_key(program)
}

/// The row that fits a program and its operands best.
pub(super) fn row(program: &str, operands: &[&str]) -> Option<&'static ProgramRow> {
    let places = PROGRAMS.by_program.get(program)?;
    let fitting = places.iter().filter_map(|place| {
        let row = &PROGRAMS.rows[*place];
        row.fit(operands).map(|fit| (fit, row))
    });
    // Of two that fit alike the first counts.
    fitting.rev().max_by_key(|(fit, _)| *fit).map(|(_, row)| row)
}

/// Options of any row of a program that take the next word, so that verbs are found behind them.
pub(super) fn takes_value(program: &str, option: &str) -> bool {
    let Some(places) = PROGRAMS.by_program.get(program) else { return false };
    places.iter().any(|place| {
        use OptionEffect::{Sql, TakesValue};
        matches!(PROGRAMS.rows[*place].option(option), Some(TakesValue | Sql))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_understood() {
        let known = ["read", "write", "delete", "shell", "credentials"];
        let checks = ["sql", "sed", "awk", "http", "listing"];
        for line in TABLE.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let cells: Vec<&str> = line.split('\t').collect();
            assert!((3..=4).contains(&cells.len()), "{line}");
            assert!(cells[..3].iter().all(|cell| !cell.is_empty()), "{line}");
            assert!(
                checks.contains(&cells[2])
                    || cells[2].split(',').all(|effect| known.contains(&effect)),
                "{line}"
            );
            for option in cells.get(3).unwrap_or(&"").split(' ').filter(|word| !word.is_empty()) {
                let what = option.rsplit_once('=').map(|(_, what)| what);
                assert!(
                    option.starts_with('?')
                        || option.ends_with(':')
                        || what.is_some_and(|what| known.contains(&what)
                            || ["method", "data", "stdout", "sql"].contains(&what)),
                    "{option} in {line}"
                );
            }
        }
        assert!(PROGRAMS.by_program.len() > 400, "{}", PROGRAMS.by_program.len());
    }
}
