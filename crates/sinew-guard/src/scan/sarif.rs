//! Reports in SARIF 2.1.0, for code hosts and editors.

use serde_json::{Value, json};

use super::{FindingSeverity, ScanReport, ScanRuleInfo};

/// A report as a SARIF log with one run.
pub fn to_sarif(report: &ScanReport, rules: &[ScanRuleInfo]) -> Value {
    let level = |severity: FindingSeverity| match severity {
        FindingSeverity::Critical => "error",
        FindingSeverity::Warn => "warning",
        FindingSeverity::Info => "note",
    };
    let rules: Vec<Value> = rules
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": { "text": rule.message },
                "fullDescription": { "text": rule.reason },
                "help": { "text": rule.remedy },
                "defaultConfiguration": { "level": level(rule.severity) },
                "properties": { "tags": [rule.ast] },
            })
        })
        .collect();
    let results: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            json!({
                "ruleId": finding.rule,
                "level": level(finding.severity),
                "message": { "text": format!("{} {}", finding.message, finding.reason) },
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": { "uri": finding.file },
                        "region": {
                            "startLine": finding.line.max(1),
                            "startColumn": finding.column.max(1),
                            "endLine": finding.end_line.max(finding.line).max(1),
                        },
                    },
                }],
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "sinew scan",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "properties": { "verdict": report.verdict.as_str(), "digest": report.digest, "ruleset": report.ruleset },
            "results": results,
        }],
    })
}
