//! The report of `sinew eval route` as one page that needs nothing else.

use std::fmt::{self, Write as _};

use sinew_guard::Untrusted;
use sinew_route::eval::{RankingFigures, RouteEvalReport};

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8884;--bar:#3b82f6}\
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}\
table{border-collapse:collapse;width:100%}\
th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}\
td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
.bar{background:var(--bar);height:.6rem;border-radius:.3rem}\
.dim{opacity:.7}";

/// The page. Text from data files is escaped wherever it stands.
pub(super) fn page(report: &RouteEvalReport) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_page(&mut text, report);
    text
}

fn write_page(out: &mut String, report: &RouteEvalReport) -> fmt::Result {
    let title =
        format!("Routing: {} messages over {} skills", report.figures.messages, report.skills);
    writeln!(out, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">")?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width\">")?;
    writeln!(out, "<title>{title}</title>\n<style>{STYLE}</style>\n<h1>{title}</h1>")?;
    let (model, calibration) = (safe(&report.model), safe(&report.calibration));
    writeln!(out, "<p class=\"dim\">model {model}, calibration {calibration}</p>")?;
    write_figures(out, report)?;
    write_decisions(out, report)?;
    write_latency(out, report)?;
    write_problems(out, report)?;
    write_misses(out, report)
}

fn write_figures(out: &mut String, report: &RouteEvalReport) -> fmt::Result {
    table(
        out,
        "Ranks",
        &["kind", "messages", "hit@1", "", "hit@5", "recall@10", "NDCG@10", "MRR"],
    )?;
    let row = |out: &mut String, kind: &str, figures: &RankingFigures| {
        let percent = |share: f64| format!("<td class=\"n\">{:.1}", 100.0 * share);
        writeln!(
            out,
            "<tr><td>{}<td class=\"n\">{}{}<td><div class=\"bar\" style=\"width:{:.0}%\"></div>{}{}{}{}",
            safe(kind),
            figures.messages,
            percent(figures.hit1),
            100.0 * figures.hit1,
            percent(figures.hit5),
            percent(figures.recall10),
            percent(figures.ndcg10),
            percent(figures.mrr)
        )
    };
    row(out, "all", &report.figures)?;
    for (kind, figures) in &report.by_kind {
        row(out, kind, figures)?;
    }
    writeln!(out, "</table>")?;
    let intervals: Vec<String> = report
        .intervals
        .iter()
        .map(|(name, one)| format!("{name} {:.1}–{:.1}", 100.0 * one.low, 100.0 * one.high))
        .collect();
    writeln!(out, "<p class=\"dim\">95 % intervals: {}</p>", intervals.join(", "))
}

fn write_decisions(out: &mut String, report: &RouteEvalReport) -> fmt::Result {
    let (decision, abstain) = (&report.decision, &report.abstain);
    table(out, "Decisions", &["", "right", "wrong", "where no skill fits"])?;
    for (name, right, wrong, for_none) in [
        ("match", decision.match_right, decision.match_wrong, decision.match_for_none),
        (
            "shortlist",
            decision.shortlist_right,
            decision.shortlist_wrong,
            decision.shortlist_for_none,
        ),
        ("none", 0, decision.none_wrong, decision.none_right),
    ] {
        writeln!(
            out,
            "<tr><td>{name}<td class=\"n\">{right}<td class=\"n\">{wrong}<td class=\"n\">{for_none}"
        )?;
    }
    writeln!(out, "</table>")?;
    writeln!(
        out,
        "<p>A match is right {:.1} % of the time. Of the messages that need no skill {:.1} % get none; \
         of the others {:.1} % get none by mistake.</p>",
        100.0 * decision.match_precision,
        100.0 * abstain.recall,
        100.0 * abstain.wrong_abstentions
    )?;
    match &report.should_not {
        Some(should_not) => writeln!(
            out,
            "<p>Of {} messages that must not match a skill {:.1} % matched it.</p>",
            should_not.messages,
            100.0 * should_not.false_matches
        ),
        None => Ok(()),
    }
}

fn write_latency(out: &mut String, report: &RouteEvalReport) -> fmt::Result {
    let latency = &report.latency;
    table(out, "Microseconds", &["stage", "p50", "p99"])?;
    for (name, stage) in [
        ("reading the message", latency.text),
        ("words and static vectors", latency.first),
        ("encoder", latency.encoder),
        ("ranking and deciding", latency.decide),
        ("all", latency.total),
    ] {
        let (p50, p99) = (stage.p50, stage.p99);
        writeln!(out, "<tr><td>{name}<td class=\"n\">{p50}<td class=\"n\">{p99}")?;
    }
    writeln!(out, "</table>")
}

fn write_problems(out: &mut String, report: &RouteEvalReport) -> fmt::Result {
    if report.problems.is_empty() {
        return Ok(());
    }
    table(out, "Rows that could not be read", &["line", "why"])?;
    for bad in &report.problems {
        writeln!(out, "<tr><td class=\"n\">{}<td>{}", bad.line, safe(&bad.message))?;
    }
    writeln!(out, "</table>")
}

fn write_misses(out: &mut String, report: &RouteEvalReport) -> fmt::Result {
    if report.misses.is_empty() {
        return Ok(());
    }
    let name = |wanted: &[String]| match wanted {
        [] => "none".to_owned(),
        wanted => safe(&wanted.join(", ")),
    };
    table(out, "What went wrong", &["message", "wanted", "place", "came first"])?;
    for miss in &report.misses {
        let place = miss.rank.map_or("–".to_owned(), |rank| rank.to_string());
        writeln!(
            out,
            "<tr><td>{}<td>{}<td class=\"n\">{place}<td>{}",
            safe(&miss.query),
            name(&miss.expected),
            safe(&miss.first.join(", "))
        )?;
    }
    writeln!(out, "</table>")
}

fn table(out: &mut String, title: &str, columns: &[&str]) -> fmt::Result {
    write!(out, "<h2>{title}</h2>\n<table><tr>")?;
    columns.iter().try_for_each(|column| write!(out, "<th>{column}"))?;
    writeln!(out)
}

fn safe(text: &str) -> String {
    Untrusted::new(text).for_prompt_xml()
}
