//! The day, as data: steps of one screen each; in a step what is thought before each command, the
//! command, and how it ends.

/// One screen of the day.
pub(super) struct DemoStep {
    /// What it shows.
    pub(super) title: &'static str,
    /// What is typed.
    pub(super) scenes: &'static [DemoScene],
}

/// One command of the day.
pub(super) struct DemoScene {
    /// What a person would think before typing it.
    pub(super) thought: &'static str,
    /// What follows `sinew`.
    pub(super) args: &'static [&'static str],
    /// How it ends: not every good answer is a yes.
    pub(super) exit: i32,
}

const fn step(title: &'static str, scenes: &'static [DemoScene]) -> DemoStep {
    DemoStep { title, scenes }
}

const fn scene(thought: &'static str, args: &'static [&'static str]) -> DemoScene {
    DemoScene { thought, args, exit: 0 }
}

const fn no(thought: &'static str, args: &'static [&'static str]) -> DemoScene {
    DemoScene { thought, args, exit: 1 }
}

/// The files of the throw-away machine, below its root.
pub(super) const FILES: &[(&str, &str)] = &[
    ("work/skills/photo-shrink/SKILL.md", include_str!("samples/photo-shrink.md")),
    ("work/skills/standup-notes/SKILL.md", include_str!("samples/standup-notes.md")),
    ("work/skills/invoice-chaser/SKILL.md", include_str!("samples/invoice-chaser.md")),
    ("work/skills/forge-deploy/SKILL.md", include_str!("samples/forge-deploy.md")),
    ("work/skills/coupon-finder/SKILL.md", include_str!("samples/coupon-finder.md")),
    ("work/drafts/tide-tables/SKILL.md", include_str!("samples/tide-tables.md")),
    ("work/drafts/tide-tables/tables/harbours.csv", include_str!("samples/harbours.csv")),
    ("work/run.jsonl", include_str!("samples/run.jsonl")),
];

/// What a person reads in a minute and a half: seven screens.
pub(super) const DAY: &[DemoStep] = &[
    step(
        "the skills of this machine",
        &[scene("Which skills are there, and which can be used?", &["list"])],
    ),
    step(
        "the right skill for a message, or none",
        &[
            scene(
                "A user writes; which skill fits? No word of the message is in the skill's name.",
                &["find", "these pictures are too heavy for an e-mail"],
            ),
            no(
                "And where nothing fits, nothing is offered.",
                &["find", "what is the capital of Peru?"],
            ),
        ],
    ),
    step(
        "why a skill is out",
        &[
            no("One of them is not ready. Why?", &["why", "forge-deploy"]),
            no("One of them was blocked. What is in it?", &["scan", "skills/coupon-finder"]),
        ],
    ),
    step(
        "a skill from the team's registry",
        &[
            scene(
                "A colleague publishes a skill to the team's registry.",
                &[
                    "registry",
                    "publish",
                    "drafts/tide-tables",
                    "--version",
                    "1.0.0",
                    "--changelog",
                    "first",
                ],
            ),
            scene("The others find it there,", &["search", "tides", "--source", "clawhub"]),
            scene(
                "and install it: fetched, verified, scanned, locked.",
                &["install", "tide-tables", "--yes"],
            ),
            scene("Is it still what was installed?", &["verify"]),
        ],
    ),
    step(
        "what worked is remembered",
        &[
            scene(
                "It worked. That is worth remembering.",
                &[
                    "report",
                    "--region",
                    "tides",
                    "--skill",
                    "tide-tables",
                    "--version",
                    "1.0.0",
                    "--result",
                    "ok",
                ],
            ),
            scene("What was learned so far?", &["cortex", "show"]),
        ],
    ),
    step(
        "corrections and finished runs become skills",
        &[
            scene(
                "The agent is corrected; the correction becomes a proposal.",
                &[
                    "workshop",
                    "capture",
                    "--text",
                    "next time, check the frames before you post a GIF",
                ],
            ),
            scene("A finished run becomes one, too.", &["learn", "run.jsonl"]),
            scene("What waits for a person?", &["workshop", "list"]),
        ],
    ),
    step("the whole picture", &[scene("And at a glance:", &["status"])]),
];
