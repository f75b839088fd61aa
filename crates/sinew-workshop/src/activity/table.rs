//! The table of activities: data in two files, read once.

use std::sync::LazyLock;

/// One kind of task with its wordings.
#[derive(Debug)]
pub(super) struct TaskActivity {
    pub(super) id: &'static str,
    /// Whether asking a question is a way to give this task.
    pub(super) answers: bool,
    /// What it is, after "when".
    pub(super) when: &'static str,
    /// How people ask for it; the last one is `when`.
    pub(super) wordings: Vec<&'static str>,
    /// Words of other languages that mean it: whole words or their beginnings, and parts of texts
    /// without spaces.
    pub(super) words: Vec<&'static str>,
    /// Its place in the list of groups.
    pub(super) group: usize,
}

/// Activities that one learned skill is for: people do not tell them apart when they ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivityGroup {
    /// The id that a skill's front matter keeps.
    pub id: &'static str,
    /// What it is, after "when".
    pub when: &'static str,
}

static ACTIVITIES_FILE: &str = include_str!("../../data/activities.tsv");
static WORDS_FILE: &str = include_str!("../../data/activity-words.tsv");
static GROUPS_FILE: &str = include_str!("../../data/activity-groups.tsv");

pub(super) struct ActivityTable {
    pub(super) activities: Vec<TaskActivity>,
    pub(super) groups: Vec<ActivityGroup>,
}

pub(super) static TABLE: LazyLock<ActivityTable> = LazyLock::new(|| {
    let mut groups: Vec<ActivityGroup> = Vec::new();
    let mut members: Vec<(&str, usize)> = Vec::new();
    for [id, when, ids] in rows::<3>(GROUPS_FILE) {
        members.extend(ids.split(',').map(|member| (member.trim(), groups.len())));
        groups.push(ActivityGroup { id, when });
    }
    let mut activities = Vec::new();
    for [id, flags, when, wordings] in rows::<4>(ACTIVITIES_FILE) {
        let group = members.iter().find(|(member, _)| *member == id).map(|(_, group)| *group);
        let group = group.unwrap_or_else(|| {
            groups.push(ActivityGroup { id, when });
            groups.len() - 1
        });
        let words = rows::<2>(WORDS_FILE).find(|[of, _]| *of == id);
        let words = words.map(|[_, words]| words.split(',').map(str::trim).collect());
        let mut wordings: Vec<&str> = wordings.split(';').map(str::trim).collect();
        wordings.push(when);
        activities.push(TaskActivity {
            id,
            answers: flags.split(' ').any(|flag| flag == "asks"),
            when,
            wordings,
            words: words.unwrap_or_default(),
            group,
        });
    }
    ActivityTable { activities, groups }
});

/// The groups there are.
pub fn activity_groups() -> &'static [ActivityGroup] {
    &TABLE.groups
}

/// Which table this is: what was computed with another one does not count.
pub(super) fn table_digest() -> String {
    let whole = [ACTIVITIES_FILE, WORDS_FILE, GROUPS_FILE].concat();
    sinew_skill::content_hash(whole.as_bytes()).chars().take(16).collect()
}

/// The rows of a table: `N` cells each, comments left out.
fn rows<const N: usize>(file: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    let lines = file.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.filter_map(|line| line.split('\t').collect::<Vec<_>>().try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_files_is_read() {
        let count = |file: &str| {
            file.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).count()
        };
        assert_eq!(TABLE.activities.len(), count(ACTIVITIES_FILE));
        for [id, _] in rows::<2>(WORDS_FILE) {
            assert!(TABLE.activities.iter().any(|activity| activity.id == id), "{id}");
        }
        for [group, _, ids] in rows::<3>(GROUPS_FILE) {
            for id in ids.split(',') {
                let known = TABLE.activities.iter().any(|activity| activity.id == id.trim());
                assert!(known, "{group}: {id}");
            }
        }
        assert!(TABLE.activities.iter().all(|activity| activity.wordings.len() >= 4));
    }
}
