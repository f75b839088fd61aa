//! What was learned moves the router a little, and only when there is enough of it.

use sinew_engine::{NewOutcome, RouteRequest};
use sinew_settings::config::ModelChoice;

use crate::cortex::support::{World, used};

fn skills() -> World {
    let world = World::new();
    for (name, description) in [
        ("shrink-images", "Compress photos and pictures to a smaller size"),
        ("photo-squeeze", "Compress photos and pictures to a smaller size"),
    ] {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n# {name}\n");
        world.write(&format!("work/skills/{name}/SKILL.md"), text);
    }
    world
}

#[test]
fn a_skill_that_works_is_a_little_likelier() {
    let world = skills();
    let prior_of = |name: &str| {
        let engine = world.engine();
        let answer = engine.route(&RouteRequest {
            models: ModelChoice::Static,
            ..RouteRequest::new("compress these photos")
        });
        let found = answer.matches.iter().find(|found| found.name == name).expect("the skill");
        found.parts.prior.normalised
    };
    assert_eq!(prior_of("shrink-images"), 0.0);
    assert!(!world.path("home/.sinew/sinew.db").exists(), "routing makes no database");
    let engine = world.engine();
    let cortex = engine.cortex().expect("a cortex");
    for number in 0..5 {
        assert_eq!(prior_of("shrink-images"), 0.0, "{number} outcomes say nothing");
        let task = Some("compress these photos".to_owned());
        cortex
            .record(&NewOutcome { task, ..used("photo-compress", "shrink-images") })
            .expect("a record");
    }
    let learned = prior_of("shrink-images");
    assert!(learned > 0.1 && learned <= 0.5, "{learned}");
    assert_eq!(prior_of("photo-squeeze"), 0.0);
}
