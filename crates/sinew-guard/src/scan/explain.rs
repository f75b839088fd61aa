//! One finding, explained in at most twelve lines.

use super::finding::Finding;

/// The location, the decoded text, the severity and why, what lowered it, and what to do.
pub fn explain(finding: &Finding) -> String {
    let mut lines =
        vec![format!("{} [{}] {}", finding.severity.as_str(), finding.rule, finding.message)];
    let place = if finding.line > 0 {
        format!("{}:{}:{}", finding.file, finding.line, finding.column.max(1))
    } else {
        finding.file.clone()
    };
    lines.push(format!("  at       {place} ({})", finding.role));
    if !finding.evidence.is_empty() {
        lines.push(format!("  text     {}", finding.evidence));
    }
    if let Some(decoded) = &finding.decoded {
        lines.push(format!("  decodes  {decoded}"));
    }
    lines.push(format!("  why      {}", finding.reason));
    if !finding.facts.is_empty() {
        let facts: Vec<String> = finding
            .facts
            .iter()
            .take(5)
            .map(|fact| format!("{} (line {})", fact.kind, fact.line))
            .collect();
        lines.push(format!("  facts    {}", facts.join(", ")));
    }
    if finding.demotions.is_empty() {
        lines.push(format!("  severity {}; no mitigating context", finding.base_severity.as_str()));
    } else {
        lines.push(format!(
            "  severity {} lowered to {}: {}",
            finding.base_severity.as_str(),
            finding.severity.as_str(),
            finding.demotions.join("; ")
        ));
    }
    if finding.variant {
        lines.push("  note     a wider form of Skill Workshop's rule".to_owned());
    }
    lines.push(format!("  remedy   {}", finding.remedy));
    lines.push(format!(
        "  accept   a person may accept `{}` for this digest, with a reason",
        finding.rule
    ));
    lines.push(format!("  ast      {}", finding.ast));
    lines.truncate(12);
    lines.join("\n")
}
