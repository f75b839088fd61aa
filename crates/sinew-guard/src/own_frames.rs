//! The frames in which sinew adds text to an agent's messages, and how that text is taken out again.
//!
//! Agents hand text back: one puts what a hook said before the user's first message and asks the hook
//! about all of it. Text of our own must not be routed, taken for a correction or learned from, so it is
//! removed wherever a message comes in. Skill text inside a frame cannot hold its tags: see
//! [`Untrusted::for_prompt_block`](crate::Untrusted::for_prompt_block).

use std::borrow::Cow;

/// The frame of what a session begins with.
pub const SESSION_FRAME: &str = "sinew_context";

/// The frame of what comes along with a message.
pub const MESSAGE_FRAME: &str = "matching_skills";

/// Frames that are removed: ours, the index of skills, and the one in which Gemini CLI hands hooks' text
/// back.
const FRAMES: &[&str] = &[SESSION_FRAME, MESSAGE_FRAME, "available_skills", "hook_context"];

/// Text inside its frame.
pub fn framed(frame: &str, text: &str) -> String {
    format!("<{frame}>\n{text}\n</{frame}>")
}

/// A frame as it stands in a text: with its own brackets, or with brackets that an agent has escaped.
struct FrameMark {
    open: String,
    close: String,
    /// Where the next one opens, as far as that is known.
    next: NextMark,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NextMark {
    At(usize),
    /// There is none, or none that ends.
    Gone,
}

impl FrameMark {
    /// Looks for the next one from `at` on; what opens and never closes is not a frame.
    fn look(&mut self, text: &str, at: usize) {
        if self.next == NextMark::Gone || matches!(self.next, NextMark::At(next) if next >= at) {
            return;
        }
        self.next = match text[at..].find(&self.open) {
            Some(open) if text[at + open..].contains(&self.close) => NextMark::At(at + open),
            _ => NextMark::Gone,
        };
    }
}

/// A message without what sinew added to it.
///
/// ```
/// # use sinew_guard::own_frames::without_own_frames;
/// let heard = "<matching_skills>\nread this\n</matching_skills>\n\nresize my photo";
/// assert_eq!(without_own_frames(heard), "resize my photo");
/// ```
pub fn without_own_frames(text: &str) -> Cow<'_, str> {
    let tags = FRAMES.iter().flat_map(|frame| {
        [("<", ">"), ("&lt;", "&gt;")].map(|(left, right)| FrameMark {
            open: format!("{left}{frame}{right}"),
            close: format!("{left}/{frame}{right}"),
            next: NextMark::At(0),
        })
    });
    let mut marks: Vec<FrameMark> = tags.collect();
    // The first look is from the beginning: nothing is known yet.
    for mark in &mut marks {
        mark.next = match text.find(&mark.open) {
            Some(open) if text[open..].contains(&mark.close) => NextMark::At(open),
            _ => NextMark::Gone,
        };
    }
    let (mut kept, mut at) = (String::new(), 0);
    let mut found = false;
    loop {
        marks.iter_mut().for_each(|mark| mark.look(text, at));
        let open = marks.iter().filter_map(|mark| match mark.next {
            NextMark::At(open) => Some((open, mark)),
            NextMark::Gone => None,
        });
        let Some((open, mark)) = open.min_by_key(|(open, _)| *open) else { break };
        let Some(end) = text[open..].find(&mark.close) else { break };
        kept.push_str(&text[at..open]);
        at = open + end + mark.close.len();
        found = true;
    }
    if !found {
        return Cow::Borrowed(text);
    }
    kept.push_str(&text[at..]);
    Cow::Owned(kept.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(heard: &str, expected: &str) {
        assert_eq!(without_own_frames(heard), expected, "{heard}");
    }

    #[test]
    fn what_sinew_added_is_taken_out_however_it_comes_back() {
        check("resize my photo", "resize my photo");
        check("<matching_skills>\na\n</matching_skills>\nresize", "resize");
        check(&format!("{}\n\nresize", framed(SESSION_FRAME, "an index")), "resize");
        check("before <available_skills><skill/></available_skills> after", "before  after");
        // Gemini CLI escapes brackets, and has a frame of its own around all hooks.
        let theirs =
            "<hook_context>&lt;sinew_context&gt;\nx\n&lt;/sinew_context&gt;</hook_context>";
        check(&format!("{theirs}\n\nresize my photo"), "resize my photo");
        check("&lt;matching_skills&gt;x&lt;/matching_skills&gt; go on", "go on");
        let two = framed(MESSAGE_FRAME, "x");
        check(&format!("{two}one{two}two"), "onetwo");
    }

    #[test]
    fn what_is_not_a_whole_frame_stays() {
        check("what is <matching_skills> for?", "what is <matching_skills> for?");
        check("</matching_skills> a <matching_skills>", "</matching_skills> a <matching_skills>");
        check("<matching_skill>x</matching_skill>", "<matching_skill>x</matching_skill>");
    }

    /// Many openings without an end are looked through once.
    #[test]
    fn a_hostile_message_takes_linear_time() {
        let many = "<matching_skills>".repeat(200_000);
        assert_eq!(without_own_frames(&many), many);
        let closed = format!("{many}</matching_skills>end");
        assert_eq!(without_own_frames(&closed), "end");
    }

    proptest! {
        #[test]
        fn text_around_a_frame_stays(before in "[a-z ]{0,20}", inside in any::<String>(), after in "[a-z ]{0,20}") {
            let inside = crate::Untrusted::new(&inside).for_prompt_block();
            let heard = format!("{before}{}{after}", framed(MESSAGE_FRAME, &inside));
            let around = format!("{before}{after}");
            prop_assert_eq!(without_own_frames(&heard), around.trim());
        }
    }
}
