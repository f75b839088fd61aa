use std::fmt::Write as _;

use sinew_cortex::record::LessonOp;
use sinew_engine::{Cortex, Engine};
use sinew_settings::config::UnattendedAct;

use crate::commands::approve::deciding_actor;
use crate::exit::{CommandResult, Exit};
use crate::printer::Printer;
use crate::render;

/// List the lessons, or confirm, contradict or forget one
///
/// Examples:
///   sinew cortex lessons
///   sinew cortex lessons --contradict 2
///   sinew cortex lessons --forget 1
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CortexLessonsArgs {
    /// The lesson with this number was right
    #[arg(long, value_name = "N", group = "judgement")]
    confirm: Option<usize>,
    /// The lesson with this number was wrong
    #[arg(long, value_name = "N", group = "judgement")]
    contradict: Option<usize>,
    /// Forget the lesson with this number
    #[arg(long, value_name = "N", group = "judgement")]
    forget: Option<usize>,
}

impl CortexLessonsArgs {
    /// Whether a lesson is judged, and not only shown.
    pub(super) fn judges(&self) -> bool {
        self.confirm.or(self.contradict).or(self.forget).is_some()
    }
}

pub(super) fn run(
    args: &CortexLessonsArgs,
    engine: &Engine,
    cortex: &Cortex<'_>,
    out: &mut Printer,
) -> CommandResult {
    let judged = [
        (args.confirm, LessonOp::Validate),
        (args.contradict, LessonOp::Contradict),
        (args.forget, LessonOp::Remove),
    ];
    let by = deciding_actor(engine, out, UnattendedAct::Uninstall);
    for (number, op) in judged {
        if let Some(number) = number {
            cortex.judge_lesson(number, op, &by)?;
        }
    }
    let lessons = cortex.lessons()?;
    out.beginning(&lessons, "sinew cortex lessons", |text| {
        if lessons.is_empty() {
            return writeln!(text, "no lesson was learned yet");
        }
        for row in &lessons {
            let sure = format!("{:>3.0} of 100", 100.0 * row.lesson.confidence);
            let what = render::safe(&super::lesson(&row.lesson.lesson));
            writeln!(text, "{:>3}  {sure}  {what}", row.number)?;
            let stale = if row.lesson.stale { ", to be looked at again" } else { "" };
            let more =
                format!("learned {}, wrong {} times{stale}", row.lesson.created, row.contradicted);
            writeln!(text, "     {}", render::dim(&more))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
