//! Charts as SVG, drawn here: they need no script, follow the theme by their classes, and say in
//! words what they show. Only our own numbers and escaped labels are written into them.

use std::fmt::Write as _;

/// A label, escaped for SVG.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    super::text::escape(&super::text::line(text), &mut out);
    out
}

/// A label that is cut to a width.
fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((at, _)) => escaped(&format!("{}…", &text[..at])),
        None => escaped(text),
    }
}

fn open(text: &mut String, width: f64, height: f64, says: &str) {
    let says = escaped(says);
    let _ = write!(
        text,
        "<svg class=\"chart\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{says}\">"
    );
}

/// The same for a bar whose height does not grow with its width.
fn open_thin(text: &mut String, width: f64, height: f64, says: &str) {
    let says = escaped(says);
    let _ = write!(
        text,
        "<svg class=\"chart thin\" viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{says}\">"
    );
}

/// Shares of a whole, side by side; each has a class and a name.
pub(super) fn shares(parts: &[(&str, &'static str, usize)]) -> String {
    let total: usize = parts.iter().map(|(_, _, count)| count).sum();
    let says: Vec<String> =
        parts.iter().map(|(name, _, count)| format!("{count} {name}")).collect();
    let mut text = String::new();
    open(&mut text, 600.0, 14.0, &says.join(", "));
    text.push_str("<rect class=\"track\" width=\"600\" height=\"14\" rx=\"7\"/>");
    let mut at = 0.0;
    for (name, class, count) in parts.iter().filter(|(_, _, count)| *count > 0) {
        let width = 600.0 * *count as f64 / total.max(1) as f64;
        let _ = write!(
            text,
            "<rect class=\"{class}\" x=\"{at:.1}\" width=\"{:.1}\" height=\"14\" rx=\"3\"><title>{count} {}</title></rect>",
            (width - 2.0).max(2.0),
            escaped(name)
        );
        at += width;
    }
    text.push_str("</svg>");
    text
}

/// A probability, with the threshold that a match must reach.
pub(super) fn probability(value: f64, threshold: f64) -> String {
    let mut text = String::new();
    let says = format!("{:.0} % sure; a match needs {:.0} %", 100.0 * value, 100.0 * threshold);
    open_thin(&mut text, 600.0, 12.0, &says);
    let (width, line) = (600.0 * value.clamp(0.0, 1.0), 600.0 * threshold.clamp(0.0, 1.0));
    let _ = write!(
        text,
        "<rect class=\"track\" width=\"600\" height=\"8\" y=\"2\" rx=\"4\"/>\
         <rect class=\"fill\" width=\"{width:.1}\" height=\"8\" y=\"2\" rx=\"4\"/>\
         <line class=\"limit\" x1=\"{line:.1}\" x2=\"{line:.1}\" y1=\"0\" y2=\"12\"/></svg>"
    );
    text
}

/// A signal's part of a score, relative to the largest part.
pub(super) fn part(value: f64, largest: f64) -> String {
    let mut text = String::new();
    open_thin(&mut text, 120.0, 6.0, &format!("{value:+.2}"));
    let width = if largest > 0.0 { 120.0 * (value.abs() / largest).min(1.0) } else { 0.0 };
    let class = if value < 0.0 { "s-bad" } else { "fill" };
    let _ = write!(
        text,
        "<rect class=\"track\" width=\"120\" height=\"6\" rx=\"3\"/>\
         <rect class=\"{class}\" width=\"{width:.1}\" height=\"6\" rx=\"3\"/></svg>"
    );
    text
}

/// A weight as it counts today, what decay has taken off, and the lower bound of its reliability.
pub(super) fn weight(weight: f64, effective: f64, at_least: f64) -> String {
    let mut text = String::new();
    let says = format!(
        "counts {effective:.2} of {weight:.2}; reliable in at least {:.0} % of cases",
        100.0 * at_least
    );
    open_thin(&mut text, 200.0, 12.0, &says);
    let at = |share: f64| 200.0 * share.clamp(0.0, 1.0);
    let _ = write!(
        text,
        "<rect class=\"track\" width=\"200\" height=\"8\" y=\"2\" rx=\"4\"/>\
         <rect class=\"ghost\" width=\"{:.1}\" height=\"8\" y=\"2\" rx=\"4\"/>\
         <rect class=\"fill\" width=\"{:.1}\" height=\"8\" y=\"2\" rx=\"4\"/>\
         <line class=\"limit\" x1=\"{2:.1}\" x2=\"{2:.1}\" y1=\"0\" y2=\"12\"/></svg>",
        at(weight),
        at(effective),
        at(at_least)
    );
    text
}

/// The decay of a weight without use, with the lines below which it is not offered and above which a
/// reflex is possible.
pub(super) fn decay(name: &str, points: &[(u32, f64)], days: u32) -> String {
    let mut text = String::new();
    let last = points.last().map_or(0.0, |(_, value)| *value);
    let first = points.first().map_or(0.0, |(_, value)| *value);
    let says = format!("{name}: {first:.2} today, {last:.2} in {days} days without use");
    open(&mut text, 260.0, 110.0, &says);
    let x = |day: u32| 28.0 + 224.0 * f64::from(day) / f64::from(days.max(1));
    let y = |value: f64| 8.0 + 80.0 * (1.0 - value.clamp(0.0, 1.0));
    for (value, class, label) in [(0.9, "limit", "0.9"), (0.3, "limit limit-warn", "0.3")] {
        let at = y(value);
        let _ = write!(
            text,
            "<line class=\"{class}\" x1=\"28\" x2=\"252\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"24\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            at + 4.0
        );
    }
    let _ = write!(text, "<line class=\"axis\" x1=\"28\" x2=\"252\" y1=\"88\" y2=\"88\"/>");
    for (day, anchor) in [(0, "start"), (90, "middle"), (180, "end")] {
        let label = if day == 0 { "today".to_owned() } else { format!("{day} d") };
        let at = x(day);
        let _ =
            write!(text, "<text x=\"{at:.1}\" y=\"104\" text-anchor=\"{anchor}\">{label}</text>");
    }
    text.push_str("<path class=\"curve\" d=\"");
    for (at, (day, value)) in points.iter().enumerate() {
        let _ = write!(text, "{}{:.1} {:.1} ", if at == 0 { 'M' } else { 'L' }, x(*day), y(*value));
    }
    text.push_str("\"/></svg>");
    text
}

/// A skill in a region: its name, the weight as it counts, and whether its reflex fires.
pub(super) struct GraphEdge<'a> {
    pub(super) region: &'a str,
    pub(super) skill: &'a str,
    pub(super) weight: f64,
    pub(super) reflex: bool,
}

/// Regions on the left, skills on the right, and between them how well each did.
pub(super) fn graph(edges: &[GraphEdge<'_>]) -> String {
    let mut regions: Vec<&str> = Vec::new();
    let mut skills: Vec<&str> = Vec::new();
    for edge in edges {
        if !regions.contains(&edge.region) {
            regions.push(edge.region);
        }
        if !skills.contains(&edge.skill) {
            skills.push(edge.skill);
        }
    }
    let rows = regions.len().max(skills.len()).max(1);
    let height = 34.0 * rows as f64 + 20.0;
    let place = |at: usize, count: usize| {
        let step = (height - 20.0) / count.max(1) as f64;
        10.0 + step * (at as f64 + 0.5)
    };
    let mut text = String::new();
    let says = format!(
        "{} regions and {} skills; the table below says the same",
        regions.len(),
        skills.len()
    );
    open(&mut text, 720.0, height, &says);
    let at_of =
        |list: &[&str], name: &str| list.iter().position(|known| *known == name).unwrap_or(0);
    for edge in edges {
        let (from, to) = (
            place(at_of(&regions, edge.region), regions.len()),
            place(at_of(&skills, edge.skill), skills.len()),
        );
        let _ = write!(
            text,
            "<path class=\"edge\" stroke-width=\"{:.1}\" d=\"M230 {from:.1} C360 {from:.1} 360 {to:.1} 490 {to:.1}\"><title>{} in {}: {:.2}</title></path>",
            1.0 + 9.0 * edge.weight.clamp(0.0, 1.0),
            escaped(edge.skill),
            escaped(edge.region),
            edge.weight
        );
    }
    for (at, region) in regions.iter().enumerate() {
        let y = place(at, regions.len());
        let _ = write!(
            text,
            "<circle class=\"node\" cx=\"230\" cy=\"{y:.1}\" r=\"6\"/>\
             <text class=\"strong\" x=\"216\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            y + 4.0,
            cut(region, 28)
        );
    }
    for (at, skill) in skills.iter().enumerate() {
        let y = place(at, skills.len());
        let reflex = edges.iter().any(|edge| edge.skill == *skill && edge.reflex);
        let class = if reflex { "node reflex" } else { "node" };
        let _ = write!(
            text,
            "<circle class=\"{class}\" cx=\"490\" cy=\"{y:.1}\" r=\"6\"/>\
             <text class=\"strong\" x=\"504\" y=\"{:.1}\">{}</text>",
            y + 4.0,
            cut(skill, 28)
        );
    }
    text.push_str("</svg>");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_label_becomes_markup() {
        let evil = "<script>\"'&";
        let drawn = [
            graph(&[GraphEdge { region: evil, skill: evil, weight: 2.0, reflex: true }]),
            decay(evil, &[(0, f64::NAN), (180, 3.0)], 180),
            shares(&[(evil, "s-good", 1)]),
        ];
        for svg in drawn {
            assert!(!svg.contains("<script"), "{svg}");
            assert!(svg.ends_with("</svg>"));
        }
    }

    #[test]
    fn nothing_is_drawn_without_words_for_it() {
        assert!(shares(&[]).contains("aria-label"));
        assert!(graph(&[]).contains("0 regions"));
        assert!(probability(1.5, 0.75).contains("width=\"600.0\""), "never beyond the end");
        assert!(part(-1.0, 2.0).contains("s-bad"));
        assert!(weight(0.9, 0.5, 0.4).contains("counts 0.50 of 0.90"));
    }
}
