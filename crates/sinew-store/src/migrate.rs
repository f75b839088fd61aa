//! Migrations: forward only, numbered from 1, and never changed once released.
//!
//! Both back ends record which migrations ran, with a checksum. What is left to do follows from
//! that record alone.

use sinew_skill::content_hash;

use crate::StoreError;

/// One step of the schema. Each runs in its own transaction, together with its entry in the record
/// of migrations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SchemaMigration {
    pub(crate) version: u32,
    pub(crate) sql: &'static str,
}

impl SchemaMigration {
    /// The same on every system, regardless of the line ends of a check-out.
    pub(crate) fn checksum(&self) -> String {
        content_hash(self.sql.replace('\r', "").as_bytes())
    }
}

/// A migration that ran, as recorded in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AppliedMigration {
    pub(crate) version: u32,
    pub(crate) checksum: String,
}

/// The next migration to run, if any is left.
pub(crate) fn next<'m>(
    applied: &[AppliedMigration],
    known: &'m [SchemaMigration],
    place: &str,
) -> Result<Option<&'m SchemaMigration>, StoreError> {
    for (index, applied) in applied.iter().enumerate() {
        let Some(migration) = known.get(index) else {
            let newest = known.last().map_or(0, |migration| migration.version);
            let found = applied.version.max(newest + 1);
            return Err(StoreError::Newer { place: place.to_owned(), found, known: newest });
        };
        if applied.version != migration.version || applied.checksum != migration.checksum() {
            return Err(StoreError::Altered {
                place: place.to_owned(),
                version: migration.version,
            });
        }
    }
    Ok(known.get(applied.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[SchemaMigration] =
        &[SchemaMigration { version: 1, sql: "one" }, SchemaMigration { version: 2, sql: "two\n" }];

    fn applied(count: usize) -> Vec<AppliedMigration> {
        let all = KNOWN.iter().chain(&[SchemaMigration { version: 3, sql: "three" }]);
        all.take(count)
            .map(|m| AppliedMigration { version: m.version, checksum: m.checksum() })
            .collect()
    }

    #[test]
    fn migrations_run_in_order_until_none_is_left() {
        let left = |count| next(&applied(count), KNOWN, "x").unwrap().map(|m| m.version);
        assert_eq!((left(0), left(1), left(2)), (Some(1), Some(2), None));
    }

    #[test]
    fn a_database_of_a_newer_sinew_is_refused() {
        let error = next(&applied(3), KNOWN, "x.db").unwrap_err();
        assert_eq!(error.to_string(), "the database x.db has schema 3; this sinew knows 2");
    }

    #[test]
    fn an_edited_migration_is_noticed() {
        let mut other = applied(2);
        other[0].checksum = "0".repeat(64);
        assert!(matches!(next(&other, KNOWN, "x"), Err(StoreError::Altered { version: 1, .. })));
    }

    #[test]
    fn line_ends_do_not_change_a_checksum() {
        let dos = SchemaMigration { version: 2, sql: "two\r\n" };
        assert_eq!(dos.checksum(), KNOWN[1].checksum());
    }
}
