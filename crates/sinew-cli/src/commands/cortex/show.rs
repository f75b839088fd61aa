use std::fmt::Write as _;

use sinew_cortex::UtcDay;
use sinew_cortex::explain::{CandidateView, FilterReason};
use sinew_engine::{Cortex, CortexOverview, RegionRow};

use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// Show the regions, and how each skill does in them
///
/// A bar shows a weight: full blocks count today, shaded ones were lost to disuse.
///
/// Examples:
///   sinew cortex show
///   sinew cortex show task-management --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CortexShowArgs {
    /// One region
    region: Option<String>,
}

pub(super) fn run(args: &CortexShowArgs, cortex: &Cortex<'_>, out: &mut Printer) -> CommandResult {
    let overview = cortex.overview(args.region.as_deref())?;
    let today = cortex.now().day();
    out.beginning(&overview, "sinew cortex show", |text| write_overview(text, &overview, today))?;
    if overview.regions.is_empty() {
        out.hint("`sinew report` tells the cortex how the use of a skill went");
    }
    Ok(Exit::Done)
}

fn write_overview(text: &mut String, overview: &CortexOverview, today: UtcDay) -> std::fmt::Result {
    if overview.regions.is_empty() {
        writeln!(text, "nothing was learned yet")?;
    }
    for region in &overview.regions {
        write_region(text, region, today)?;
    }
    let stats = overview.stats;
    let counters = format!(
        "{}; searches {}, installs {}, cache hits {}, reflexes {}; {}",
        super::many(overview.records, "record"),
        stats.searches,
        stats.installs,
        stats.cache_hits,
        stats.reflexes_fired,
        super::many(overview.lessons as u64, "lesson")
    );
    writeln!(text, "{}", render::dim(&counters))?;
    if !overview.blacklist.is_empty() {
        let listed = format!("never offered: {}", overview.blacklist.join(", "));
        writeln!(text, "{}", render::dim(&listed))?;
    }
    if !overview.retained.is_empty() {
        let kept = format!("kept for good: {}", overview.retained.join(", "));
        writeln!(text, "{}", render::dim(&kept))?;
    }
    Ok(())
}

fn write_region(text: &mut String, region: &RegionRow, today: UtcDay) -> std::fmt::Result {
    let idle = match today.days_since(region.last_used) {
        0 => "used today".to_owned(),
        1 => "used yesterday".to_owned(),
        days => format!("used {days} days ago"),
    };
    render::heading(text, &format!("{} ({idle})", render::safe(&region.region)))?;
    if !region.signals.is_empty() {
        let words = format!("words: {}", region.signals.join(", "));
        writeln!(text, "  {}", render::dim(&words))?;
    }
    for candidate in &region.candidates {
        write_candidate(text, candidate)?;
    }
    Ok(())
}

pub(super) fn write_candidate(text: &mut String, view: &CandidateView) -> std::fmt::Result {
    let mark = match (view.filtered, view.reflex.fires) {
        (Some(_), _) => render::dim("○"),
        (None, true) => render::good("⚡"),
        (None, false) => render::good("●"),
    };
    let bar = super::bar(view.weight, view.effective_weight);
    let name = format!("{} {}", render::safe(&view.slug), render::safe(&view.version));
    let weights = format!("{:.2} of {:.2}", view.effective_weight, view.weight);
    writeln!(text, "  {mark} {bar} {weights}  {name}  streak {}", view.streak)?;
    writeln!(text, "      {}", super::worked(view))?;
    if let Some(filtered) = view.filtered {
        let why = match filtered {
            FilterReason::Blacklisted => "never offered: it is blacklisted",
            FilterReason::Vanished => {
                "not offered: it is gone from where it came from, until a search finds it again"
            }
            FilterReason::Weak => "not offered: its effective weight is below 0.3",
            FilterReason::Unfit => "not offered: it was learned for other tasks of the region",
            FilterReason::LastResort => "not offered: a last resort, shown within the last 30 days",
        };
        writeln!(text, "      {}", render::warning(why))?;
    }
    if let Some(fail) = &view.last_fail {
        let detail = if fail.detail.is_empty() { "" } else { ": " };
        let last = format!("last failure {} {}{detail}{}", fail.date, fail.kind, fail.detail);
        writeln!(text, "      {}", render::dim(&last))?;
    }
    if !view.reflex.fires {
        let missing = format!("no reflex: {}", view.reflex.missing.join("; "));
        writeln!(text, "      {}", render::dim(&missing))?;
    }
    for lesson in &view.lessons {
        writeln!(text, "      {}", render::warning(&super::lesson(&lesson.lesson)))?;
    }
    for note in &view.notes {
        writeln!(text, "      {}", render::dim(note))?;
    }
    Ok(())
}
