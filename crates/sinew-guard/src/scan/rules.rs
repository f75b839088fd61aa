//! The interpreter: facts within a window become findings, and mitigating context lowers their
//! severity.

use std::collections::BTreeMap;

use super::facts::ScanFact;
use super::finding::{FactRef, Finding, FindingSeverity};
use super::hosts::HostClass;
use super::inventory::ScannedFile;
use super::lines::floor_char_boundary;
use super::pattern::MatchZone;
use super::role::TextRole;
use super::table::{FactWindow, RuleClause, RuleTable, RuleTerm, ScanRule};
use crate::Untrusted;
use crate::secrets;

/// Findings listed per rule and file; further ones are only counted.
const MAX_PER_RULE: usize = 32;
/// Ranks within which facts of a long line count as on one line.
const LINE: u32 = 4;
/// Characters of evidence.
const MAX_EVIDENCE: usize = 120;

/// Applies every rule to the facts of a skill; `facts` are sorted by file and line.
pub(crate) fn evaluate(
    table: &RuleTable,
    files: &[ScannedFile],
    facts: &[ScanFact],
) -> Vec<Finding> {
    let mut by_kind: Vec<Vec<usize>> = vec![Vec::new(); table.kinds.len()];
    for (at, fact) in facts.iter().enumerate() {
        by_kind[usize::from(fact.kind)].push(at);
    }
    let about_security = is_about_security(facts);
    let mut findings = Vec::new();
    for rule in &table.rules {
        let mut best: BTreeMap<(usize, usize, u32), PendingFinding<'_>> = BTreeMap::new();
        for clause in &rule.clauses {
            for chosen in combinations(clause, facts, &by_kind, files) {
                let draft = PendingFinding::new(rule, clause, files, facts, chosen, about_security);
                let anchor = &facts[draft.chosen[0]];
                let key = (anchor.file, anchor.line, anchor.rank);
                let weaker = best.get(&key).is_none_or(|old| old.severity < draft.severity);
                if weaker {
                    best.insert(key, draft);
                }
            }
        }
        // Findings that are only counted need no evidence.
        let mut drafts: Vec<PendingFinding<'_>> = best.into_values().collect();
        drafts.sort_by_key(|draft| {
            let anchor = &facts[draft.chosen[0]];
            (anchor.file, std::cmp::Reverse(draft.severity), anchor.line, anchor.column)
        });
        for group in drafts.chunk_by(|a, b| facts[a.chosen[0]].file == facts[b.chosen[0]].file) {
            let findings_of = |(number, draft): (usize, &PendingFinding<'_>)| {
                draft.finding(table, rule, files, facts, number < MAX_PER_RULE)
            };
            findings.extend(group.iter().enumerate().map(findings_of));
        }
    }
    findings
}

/// A finding before its evidence is rendered.
struct PendingFinding<'a> {
    clause: &'a RuleClause,
    severity: FindingSeverity,
    /// The facts that satisfy the clause, the anchor first.
    chosen: Vec<usize>,
    demotions: Vec<String>,
}

/// For each window in which the clause holds, the facts that satisfy it, the anchor first.
///
/// Facts are sorted by file and line, so a window is a range of each group. Anchors that share a
/// window are judged together, because their surroundings are the same.
fn combinations(
    clause: &RuleClause,
    facts: &[ScanFact],
    by_kind: &[Vec<usize>],
    files: &[ScannedFile],
) -> Vec<Vec<usize>> {
    let groups: Vec<Vec<usize>> =
        clause.all.iter().map(|terms| matching(terms, facts, by_kind, files)).collect();
    if groups.iter().any(Vec::is_empty) {
        return Vec::new();
    }
    let none = matching(&clause.none, facts, by_kind, files);
    let same_window = |a: &usize, b: &usize| {
        let (a, b) = (&facts[*a], &facts[*b]);
        a.file == b.file && window_key(a, clause.window) == window_key(b, clause.window)
    };
    let mut found: BTreeMap<(usize, u64), (u8, Vec<usize>)> = BTreeMap::new();
    for anchors in groups[0].chunk_by(same_window) {
        let Some((weight, chosen)) = judge(clause, facts, &groups, &none, anchors) else {
            continue;
        };
        let here = &facts[anchors[0]];
        let key = (here.file, finding_key(here, clause.window));
        match found.get(&key) {
            Some((old, _)) if *old <= weight => {}
            _ => {
                found.insert(key, (weight, chosen));
            }
        }
    }
    found.into_values().map(|(_, chosen)| chosen).collect()
}

/// The facts that satisfy a clause around the anchors of one window, and how doubtful they are: the
/// anchor with the least doubt, and for each other group the fact nearest to it.
fn judge(
    clause: &RuleClause,
    facts: &[ScanFact],
    groups: &[Vec<usize>],
    none: &[usize],
    anchors: &[usize],
) -> Option<(u8, Vec<usize>)> {
    let here = &facts[anchors[0]];
    let around = |group: &[usize]| -> Vec<usize> {
        within(group, facts, here, clause.window).copied().collect()
    };
    if within(none, facts, here, clause.window).next().is_some() {
        return None;
    }
    if clause.min > 1 {
        let mut lines: Vec<usize> =
            within(&groups[0], facts, here, clause.window).map(|at| facts[*at].line).collect();
        lines.sort_unstable();
        lines.dedup();
        if lines.len() < clause.min {
            return None;
        }
    }
    let others: Vec<Vec<usize>> = groups[1..].iter().map(|group| around(group)).collect();
    if others.iter().any(Vec::is_empty) {
        return None;
    }
    let least = |group: &Vec<usize>| group.iter().map(|at| doubt(&facts[*at])).min().unwrap_or(0);
    let floor = others.iter().map(least).max().unwrap_or(0);
    if clause.same_target {
        let choices = anchors.iter().filter_map(|anchor| {
            choose(facts, *anchor, &others, |at| same_target(&facts[*anchor], &facts[at]))
        });
        return choices.min_by_key(|(weight, _)| *weight);
    }
    let anchor = anchors.iter().min_by_key(|at| doubt(&facts[**at]).max(floor))?;
    choose(facts, *anchor, &others, |_| true)
}

/// An anchor, with the least doubtful and nearest fact of each group.
fn choose(
    facts: &[ScanFact],
    anchor: usize,
    others: &[Vec<usize>],
    fits: impl Fn(usize) -> bool,
) -> Option<(u8, Vec<usize>)> {
    let here = &facts[anchor];
    let mut chosen = vec![anchor];
    for group in others {
        let nearest = group.iter().copied().filter(|at| fits(*at)).min_by_key(|at| {
            let fact = &facts[*at];
            (doubt(fact), fact.line.abs_diff(here.line), *at)
        });
        chosen.push(nearest?);
    }
    let weight = chosen.iter().map(|at| doubt(&facts[*at])).max().unwrap_or(0);
    Some((weight, chosen))
}

fn doubt(fact: &ScanFact) -> u8 {
    u8::from(fact.negated) * 2
        + u8::from(fact.quoted || matches!(fact.role, TextRole::Pattern | TextRole::Quoted))
        + u8::from(matches!(
            fact.role,
            TextRole::Comment | TextRole::Test | TextRole::Reference | TextRole::Data
        ))
}

fn same_target(a: &ScanFact, b: &ScanFact) -> bool {
    match (a.target.as_deref(), b.target.as_deref()) {
        (Some(a), Some(b)) => !matches!(a, "" | "." | "-") && a == b,
        _ => false,
    }
}

/// Facts with the same key share a window. On a long line the rank advances with the column.
fn window_key(fact: &ScanFact, window: FactWindow) -> (u64, usize, usize) {
    let line = (fact.line as u64) << 32 | u64::from(fact.rank);
    match window {
        FactWindow::Line => (line, fact.layer, fact.layer_line),
        FactWindow::Near(_) => (line, 0, 0),
        FactWindow::Program if fact.script => (0, 0, 0),
        FactWindow::Block | FactWindow::Program => {
            (u64::from(fact.block) << 32 | u64::from(fact.section), 0, 0)
        }
        FactWindow::Section => (u64::from(fact.section), 0, 0),
        FactWindow::File | FactWindow::Skill => (0, 0, 0),
    }
}

/// Windows with the same key give one finding.
fn finding_key(fact: &ScanFact, window: FactWindow) -> u64 {
    window_key(fact, window).0
}

/// The facts of `group` in the window around `here`.
fn within<'a>(
    group: &'a [usize],
    facts: &'a [ScanFact],
    here: &'a ScanFact,
    window: FactWindow,
) -> impl Iterator<Item = &'a usize> {
    let file = |at: &usize| facts[*at].file;
    let from = |bound: &dyn Fn(&ScanFact) -> bool| {
        group.partition_point(|at| {
            file(at) < here.file || file(at) == here.file && bound(&facts[*at])
        })
    };
    let range = match window {
        FactWindow::Skill => 0..group.len(),
        FactWindow::Program if here.script => from(&|_| false)..from(&|_| true),
        FactWindow::File => from(&|_| false)..from(&|_| true),
        FactWindow::Line => {
            let low = |f: &ScanFact| (f.line, f.rank.saturating_add(LINE)) < (here.line, here.rank);
            let high =
                |f: &ScanFact| (f.line, f.rank) <= (here.line, here.rank.saturating_add(LINE));
            from(&low)..from(&high)
        }
        FactWindow::Near(lines) => {
            from(&|f| f.rank.saturating_add(lines) < here.rank)..from(&|f| {
                f.rank <= here.rank.saturating_add(lines)
            })
        }
        FactWindow::Block | FactWindow::Program | FactWindow::Section => {
            from(&|f| f.section < here.section)..from(&|f| f.section <= here.section)
        }
    };
    group[range].iter().filter(move |at| {
        let fact = &facts[**at];
        match window {
            FactWindow::Line => {
                fact.layer == here.layer && fact.layer_line == here.layer_line
                    || fact.depth == here.depth
            }
            FactWindow::Program if here.script => true,
            FactWindow::Block | FactWindow::Program => {
                fact.block == here.block && (fact.block != 0 || fact.rank.abs_diff(here.rank) <= 12)
            }
            _ => true,
        }
    })
}

fn matching(
    terms: &[RuleTerm],
    facts: &[ScanFact],
    by_kind: &[Vec<usize>],
    files: &[ScannedFile],
) -> Vec<usize> {
    let mut found: Vec<usize> = terms
        .iter()
        .flat_map(|term| {
            by_kind[usize::from(term.kind)]
                .iter()
                .filter(move |at| holds(term, &facts[**at], files))
        })
        .copied()
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn holds(term: &RuleTerm, fact: &ScanFact, files: &[ScannedFile]) -> bool {
    let place = match term.place {
        MatchZone::Any => true,
        // Commented-out code does not run; decoded text is not a comment.
        MatchZone::Code => fact.code && fact.role != TextRole::Comment || fact.depth > 0,
        MatchZone::Prose => !fact.code || fact.role == TextRole::Frontmatter,
    };
    let acting = !term.acting
        || fact.depth > 0
        || matches!(
            fact.role,
            TextRole::Instruction
                | TextRole::Command
                | TextRole::Frontmatter
                | TextRole::HiddenComment
        )
        || fact.role == TextRole::Code
            && (files[fact.file].is_skill_md()
                || files[fact.file].linked
                || files[fact.file].kind.is_code());
    place
        && acting
        && (!term.hidden || fact.role == TextRole::HiddenComment)
        && term.class.holds(fact.class)
        && (!term.decoded || fact.depth > 0)
}

/// A text is about security if it quotes and forbids attacks, not because of its name.
fn is_about_security(facts: &[ScanFact]) -> bool {
    facts
        .iter()
        .filter(|fact| {
            fact.kind != super::facts::URL
                && (fact.negated || fact.quoted || fact.role == TextRole::Pattern)
        })
        .count()
        >= 3
}

impl<'a> PendingFinding<'a> {
    fn new(
        rule: &ScanRule,
        clause: &'a RuleClause,
        files: &[ScannedFile],
        facts: &[ScanFact],
        chosen: Vec<usize>,
        about_security: bool,
    ) -> Self {
        let all: Vec<&ScanFact> = chosen.iter().map(|at| &facts[*at]).collect();
        let demotions = demotions(rule, all[0], &all, files, about_security);
        let steps = u8::try_from(demotions.len()).unwrap_or(2).min(2);
        // What a request-catcher takes is worth a look, whatever the text around it says.
        let caught = all.iter().any(|fact| fact.class == Some(HostClass::Sink) && !fact.negated);
        let floor =
            if caught { clause.severity.min(FindingSeverity::Warn) } else { FindingSeverity::Info };
        let severity = clause.severity.lowered(steps).max(floor);
        Self { clause, severity, chosen, demotions }
    }

    /// The finding, with its evidence if it will be shown.
    fn finding(
        &self,
        table: &RuleTable,
        rule: &ScanRule,
        files: &[ScannedFile],
        facts: &[ScanFact],
        is_shown: bool,
    ) -> Finding {
        let anchor = &facts[self.chosen[0]];
        let file = &files[anchor.file];
        let own = self.chosen.iter().map(|at| &facts[*at]).filter(|fact| fact.file == anchor.file);
        let column = if anchor.depth > 0 { 0 } else { anchor.column };
        let reference = |at: &usize| FactRef {
            kind: table.kinds[usize::from(facts[*at].kind)].clone(),
            file: files[facts[*at].file].path.clone(),
            line: facts[*at].line + 1,
        };
        Finding {
            rule: rule.id.clone(),
            severity: self.severity,
            base_severity: self.clause.severity,
            variant: rule.base.is_some(),
            role: anchor.role.as_str().to_owned(),
            file: file.path.clone(),
            line: anchor.line + 1,
            column: anchor.column + 1,
            end_line: own.map(|fact| fact.line + 1).max().unwrap_or(0),
            message: rule.message.clone(),
            evidence: if is_shown { evidence(file, anchor.line, column) } else { String::new() },
            decoded: if is_shown { decoded(file, anchor) } else { None },
            reason: rule.reason.clone(),
            remedy: rule.remedy.clone(),
            demotions: self.demotions.clone(),
            facts: if is_shown { self.chosen.iter().map(reference).collect() } else { Vec::new() },
            ast: rule.ast.clone(),
        }
    }
}

/// The decoded form of a fact.
fn decoded(file: &ScannedFile, fact: &ScanFact) -> Option<String> {
    let layer = &file.layers.list[fact.layer];
    if fact.depth == 0 && layer.codec.is_empty() {
        // The decoding command is visible; a person must see what it decodes.
        return file.layers.revealed_on(fact.line).map(|text| shorten(text, 0));
    }
    let line = layer.text.split('\n').nth(fact.layer_line).unwrap_or("");
    let text = layer.display.as_deref().filter(|text| text.len() <= MAX_EVIDENCE).unwrap_or(line);
    Some(shorten(text, 0))
}

fn demotions(
    rule: &ScanRule,
    anchor: &ScanFact,
    chosen: &[&ScanFact],
    files: &[ScannedFile],
    about_security: bool,
) -> Vec<String> {
    // Hidden text cannot claim to be a quotation.
    if anchor.depth > 0 || matches!(anchor.role, TextRole::Frontmatter | TextRole::HiddenComment) {
        return Vec::new();
    }
    let mut down = Vec::new();
    let quoted = chosen
        .iter()
        .any(|fact| fact.quoted || matches!(fact.role, TextRole::Quoted | TextRole::Pattern));
    if chosen.iter().any(|fact| fact.negated && fact.depth == 0) {
        down.push("the sentence forbids it".to_owned());
    }
    if quoted {
        down.push("it is quoted or a search pattern".to_owned());
    }
    if down.len() < 2 && chosen.iter().any(|fact| fact.own) {
        down.push("the secret belongs to the host beside it".to_owned());
    }
    let aside = matches!(
        anchor.role,
        TextRole::Comment | TextRole::Test | TextRole::Reference | TextRole::Data
    ) && !files[anchor.file].linked;
    if aside && down.len() < 2 {
        down.push(format!("it is in a {} that no instruction refers to", anchor.role.as_str()));
    }
    if about_security
        && down.len() < 2
        && rule.id.starts_with("prompt-injection")
        && (quoted || anchor.role == TextRole::Reference)
    {
        down.push("the skill is about such attacks".to_owned());
    }
    down
}

/// A line as it may be shown: one line, safe for a terminal, no secrets, at most 120 characters.
pub(crate) fn evidence(file: &ScannedFile, line: usize, column: usize) -> String {
    shorten(file.line_up_to(line, column + 16 * MAX_EVIDENCE), column)
}

pub(crate) fn shorten(line: &str, column: usize) -> String {
    let start = if line.len() > 4 * MAX_EVIDENCE {
        floor_char_boundary(line, column.saturating_sub(20))
    } else {
        0
    };
    let end = floor_char_boundary(line, start + 8 * MAX_EVIDENCE);
    let masked = secrets::mask(line[start..end].trim());
    let shown = Untrusted::new(&masked).for_terminal();
    if shown.chars().count() <= MAX_EVIDENCE {
        return shown;
    }
    let mut cut: String = shown.chars().take(MAX_EVIDENCE - 1).collect();
    cut.push('…');
    cut
}

/// Lists the first findings of each rule and file, and states how many more there were.
pub(crate) fn truncate(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| {
        (&a.file, &a.rule, b.severity, a.line, a.column)
            .cmp(&(&b.file, &b.rule, a.severity, b.line, b.column))
    });
    let mut listed: Vec<Finding> = Vec::with_capacity(findings.len().min(1024));
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut rest: BTreeMap<(String, String), (FindingSeverity, usize)> = BTreeMap::new();
    for finding in findings {
        let key = (finding.file.clone(), finding.rule.clone());
        let count = counts.entry(key.clone()).or_default();
        *count += 1;
        if *count <= MAX_PER_RULE {
            listed.push(finding);
        } else {
            let entry = rest.entry(key).or_insert((finding.severity, 0));
            entry.0 = entry.0.max(finding.severity);
            entry.1 += 1;
        }
    }
    for ((file, rule), (severity, count)) in rest {
        if let Some(like) = listed.iter().find(|f| f.file == file && f.rule == rule).cloned() {
            listed.push(Finding {
                rule: format!("{rule}-truncated"),
                severity,
                message: format!("{count} more findings of {rule} in this file"),
                evidence: String::new(),
                decoded: None,
                facts: Vec::new(),
                line: 0,
                column: 0,
                end_line: 0,
                ..like
            });
        }
    }
    listed
}
