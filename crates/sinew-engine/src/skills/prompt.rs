//! The block that an agent's system prompt gets.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use sinew_catalog::prompt::{
    OPENPOCKET_MAX_CHARS, PromptBlock, PromptEscapes, PromptLimits, PromptMode, PromptRequest,
    PromptSkill, PromptWording, build, trigger_hints,
};
use sinew_catalog::{Catalog, CatalogEntry, Tier, references};
use sinew_settings::config::{PromptOrder, PromptPlanner};
use sinew_settings::path_text;

use crate::SkillsHandle;

/// How a prompt block is wanted.
#[derive(Debug, Clone, Default)]
pub struct PromptOptions {
    /// The message it is for.
    pub message: Option<String>,
    /// How much of a prompt this agent gets.
    pub mode: PromptMode,
    /// The planner; the configuration's where absent.
    pub planner: Option<PromptPlanner>,
    /// The budget in UTF-16 code units; the configuration's where absent.
    pub max_chars: Option<usize>,
    /// The tools the agent has; `None` when that is not known.
    pub tools: Option<Vec<String>>,
    /// The tokens that the model's context leaves.
    pub context_tokens: Option<u64>,
    /// The host's tool that finds skills which are not shown.
    pub search_tool: Option<String>,
    /// How well skills fit the message, by name, where the router was asked.
    pub scores: BTreeMap<String, f64>,
    /// Skills that stay out of it, because the host lists them itself.
    pub left_out: BTreeSet<String>,
}

/// A skill of the workspace that is not there yet, or that would say something else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HypotheticalSkill<'s> {
    pub(crate) name: &'s str,
    pub(crate) description: &'s str,
    pub(crate) path: &'s str,
}

/// A skill that a block names, as OpenClaw's snapshots resolve it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ResolvedSkill {
    /// Its name.
    pub name: String,
    /// The full description.
    pub description: String,
    /// Its SKILL.md.
    pub file_path: String,
    /// Its folder.
    pub base_dir: String,
    /// Where it comes from.
    pub source: String,
}

impl SkillsHandle<'_> {
    /// The skills that a block names, in the catalog's order.
    pub fn resolved_skills(&self, catalog: &Catalog, block: &PromptBlock) -> Vec<ResolvedSkill> {
        if block.report.included == 0 {
            return Vec::new();
        }
        let omitted: BTreeSet<&str> =
            block.report.omitted.iter().map(|skill| skill.name.as_str()).collect();
        let named =
            |entry: &&CatalogEntry| entry.model_visible && !omitted.contains(entry.name.as_str());
        let resolved = catalog.unshadowed().filter(named).map(|entry| ResolvedSkill {
            name: entry.name.clone(),
            description: entry.description.clone(),
            file_path: path_text(&entry.file_path),
            base_dir: path_text(&entry.base_dir),
            source: entry.source.clone(),
        });
        resolved.collect()
    }

    /// Builds the block from the skills that the model may see.
    pub fn prompt(&self, catalog: &Catalog, options: &PromptOptions) -> PromptBlock {
        self.prompt_with(catalog, options, None)
    }

    /// The same, as if one more skill were there.
    pub(crate) fn prompt_with(
        &self,
        catalog: &Catalog,
        options: &PromptOptions,
        imagined: Option<HypotheticalSkill<'_>>,
    ) -> PromptBlock {
        let config = &self.engine.config.prompt;
        let openpocket = self.engine.profile.is_openpocket();
        let replaced =
            |entry: &&CatalogEntry| imagined.is_some_and(|skill| skill.name == entry.name);
        let visible: Vec<&CatalogEntry> = catalog
            .unshadowed()
            .filter(|entry| entry.model_visible && !replaced(entry))
            .filter(|entry| !options.left_out.contains(&entry.name))
            .collect();
        let note = self.engine.options.remote.note.clone().or_else(|| remote_note(&visible));
        let homes = self.homes();
        let paths: Vec<String> = visible.iter().map(|entry| path_text(&entry.file_path)).collect();
        let locations: Vec<_> = paths.iter().map(|path| homes.compact(path)).collect();
        let referenced = options
            .message
            .as_deref()
            .map(|message| references::expand_references(message, &catalog.commands).skill_names)
            .unwrap_or_default();
        let mut skills: Vec<PromptSkill<'_>> = visible
            .iter()
            .zip(&paths)
            .zip(&locations)
            .map(|((entry, path), location)| PromptSkill {
                name: &entry.name,
                description: &entry.description,
                hints: match &entry.skill {
                    Some(skill) if openpocket => skill
                        .metadata
                        .as_ref()
                        .map(|metadata| {
                            trigger_hints(&metadata.triggers.any, &metadata.triggers.all)
                        })
                        .unwrap_or_default(),
                    _ => Vec::new(),
                },
                location,
                source: &entry.source,
                path,
                tier: entry.tier,
                pinned: config.pin.contains(&entry.name) || config.pin.contains(&entry.skill_key),
                referenced: referenced.contains(&entry.name),
                score: options.scores.get(&entry.name).copied(),
                ..PromptSkill::default()
            })
            .collect();
        skills.extend(imagined.map(|skill| PromptSkill {
            name: skill.name,
            description: skill.description,
            location: skill.path,
            path: skill.path,
            tier: Tier::Workspace,
            ..PromptSkill::default()
        }));
        let configured = self.engine.config.prompt_chars(self.engine.agent.as_deref());
        let budget = if openpocket { configured.min(OPENPOCKET_MAX_CHARS) } else { configured };
        let planner = options.planner.unwrap_or(config.planner);
        let wording = match &config.template {
            Some(template) => PromptWording::with_introduction(template.clone()),
            None => PromptWording::default(),
        };
        let follows_reference = openpocket
            || self.engine.profile.name == "openclaw"
            || planner == PromptPlanner::Openclaw;
        let request = PromptRequest {
            planner,
            limits: PromptLimits {
                max_skills: self.engine.config.limits.max_skills_in_prompt,
                max_chars: options.max_chars.unwrap_or(budget),
            },
            order: config.order,
            mode: options.mode,
            read_tool: options
                .tools
                .as_ref()
                .is_none_or(|tools| tools.iter().any(|tool| tool == "read")),
            context_tokens: options.context_tokens,
            full_descriptions: config.full_descriptions,
            message_known: options.message.is_some(),
            escapes: if openpocket { PromptEscapes::KeepApostrophe } else { PromptEscapes::All },
            search_tool: options.search_tool.as_deref(),
            wording: match follows_reference {
                true => wording.with_reference_notice(),
                false => wording,
            },
            keep_first: openpocket,
            remote_note: note.as_deref(),
            ..PromptRequest::new(&skills)
        };
        let block = build(&request);
        if config.order == PromptOrder::Name && block.report.shows_everything() {
            return block;
        }
        // What worked lately matters only where something has to give way, so the database is not
        // asked before.
        let recent = self.engine.last_successes();
        if recent.is_empty() {
            return block;
        }
        let skills: Vec<PromptSkill<'_>> = skills
            .iter()
            .map(|skill| PromptSkill {
                last_success: recent.get(skill.name).map(|day| day.start().ms()),
                ..skill.clone()
            })
            .collect();
        build(&PromptRequest { skills: &skills, ..request.clone() })
    }
}

/// Skills of one machine that a note names; the prompt itself lists them all.
const MAX_NOTED: usize = 8;

/// Which skills are used on which connected machine, for the model that is to run their commands.
fn remote_note(visible: &[&CatalogEntry]) -> Option<String> {
    let mut by_machine: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entry in visible {
        if let Some(machine) = &entry.via_machine {
            by_machine.entry(machine).or_default().push(&entry.name);
        }
    }
    if by_machine.is_empty() {
        return None;
    }
    let machines = by_machine.iter().map(|(machine, skills)| {
        let more = if skills.len() > MAX_NOTED { " and others" } else { "" };
        let named = skills.iter().take(MAX_NOTED).copied().collect::<Vec<_>>().join(", ");
        format!("{machine} ({named}{more})")
    });
    let machines = machines.collect::<Vec<_>>().join("; ");
    Some(format!("Commands of these skills run on a connected machine, not here: {machines}."))
}
