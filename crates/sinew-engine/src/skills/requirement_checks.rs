//! What a skill asks for, piece by piece, with what was found on this machine.

use serde::Serialize;
use sinew_catalog::{CatalogEntry, tools};
use sinew_exec::{EnvState, EnvValueSource};
use sinew_settings::platform_alias;

use crate::SkillsHandle;

/// One thing that a skill asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RequirementCheck {
    /// What kind of thing: `program`, `variable`, `setting` or `system`.
    pub kind: &'static str,
    /// What is asked for.
    pub asked: String,
    /// What was found.
    pub found: String,
    /// Whether that is enough.
    pub met: bool,
}

impl SkillsHandle<'_> {
    /// What a skill asks for and what was found; nothing where it asks for nothing. No value of a
    /// variable is in it.
    pub fn requirement_checks(&self, entry: &CatalogEntry) -> Vec<RequirementCheck> {
        let (needs, missing) = (&entry.requirements, &entry.missing);
        let mut all = Vec::new();
        if !needs.os.is_empty() {
            all.push(RequirementCheck {
                kind: "system",
                asked: needs.os.join(" or "),
                found: self.found_system(entry),
                met: missing.os.is_empty(),
            });
        }
        let group = |any: &[String]| match any.len() {
            0 | 1 => String::new(),
            _ => format!(" (one of {})", any.join(", ")),
        };
        let one_of = group(&needs.any_bins);
        let bins = needs.bins.iter().map(|bin| (bin, "", !missing.bins.contains(bin)));
        let any =
            needs.any_bins.iter().map(|bin| (bin, one_of.as_str(), missing.any_bins.is_empty()));
        for (bin, note, met) in bins.chain(any) {
            let here = sinew_catalog::find_program(&self.engine.env, bin);
            let here =
                here.or_else(|| tools::find_skill_tool(&self.engine.env, &entry.skill_key, bin));
            let found = match here {
                Some(path) => path.display().to_string(),
                None => match place_elsewhere(entry).filter(|_| met) {
                    Some(place) => place,
                    None => "not installed".to_owned(),
                },
            };
            all.push(RequirementCheck {
                kind: "program",
                asked: format!("{bin}{note}"),
                found,
                met,
            });
        }
        let states = self.engine.exec().env_states(entry);
        let one_of = group(&needs.any_env);
        let vars = needs.env.iter().map(|name| (name, "", !missing.env.contains(name)));
        let any =
            needs.any_env.iter().map(|name| (name, one_of.as_str(), missing.any_env.is_empty()));
        for (name, note, met) in vars.chain(any) {
            let state = states.iter().find(|state| state.name == *name);
            let found = state.map_or("not set", variable_origin).to_owned();
            all.push(RequirementCheck {
                kind: "variable",
                asked: format!("{name}{note}"),
                found,
                met,
            });
        }
        for check in &entry.config_checks {
            let found = if check.satisfied { "set" } else { "not set" };
            all.push(RequirementCheck {
                kind: "setting",
                asked: check.path.clone(),
                found: found.to_owned(),
                met: check.satisfied,
            });
        }
        all
    }

    /// This machine's system, and where another one is that the skill asks for.
    fn found_system(&self, entry: &CatalogEntry) -> String {
        let here = &self.engine.env.os;
        let alias = platform_alias(here);
        let fits = entry.requirements.os.iter().any(|wanted| platform_alias(wanted) == alias);
        match place_elsewhere(entry).filter(|_| !fits) {
            Some(place) => format!("{} {place}", entry.requirements.os.join(" or ")),
            None => here.clone(),
        }
    }
}

/// Where what a skill needs was found, if that is not this machine.
pub(crate) fn place_elsewhere(entry: &CatalogEntry) -> Option<String> {
    entry.via?;
    Some(match &entry.via_machine {
        Some(name) => format!("on {name}, a connected machine"),
        None => "on a connected machine".to_owned(),
    })
}

/// Where a variable's value comes from, in words.
pub fn variable_origin(state: &EnvState) -> &'static str {
    match state.from {
        EnvValueSource::Host if state.blank => "set on this machine, but blank",
        EnvValueSource::Host => "set on this machine",
        EnvValueSource::Config => "set in the configuration",
        EnvValueSource::Missing => "not set",
    }
}
