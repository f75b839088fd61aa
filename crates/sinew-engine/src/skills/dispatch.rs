//! Slash commands for hosts: resolved here, called there, and written down.

use serde::Serialize;
use sinew_catalog::Catalog;
use sinew_catalog::dispatch::{MessageResolution, resolve_message};
use sinew_guard::scan_records;

use crate::{EngineError, SkillsHandle};

/// What is written down of a dispatch: who, where to, how much. Never the arguments.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DispatchRecord<'a> {
    at: u64,
    skill: &'a str,
    content_hash: &'a str,
    tool: &'a str,
    arguments_bytes: usize,
    outcome: &'a str,
}

impl SkillsHandle<'_> {
    /// What a message asks for, for a caller who may use these tools. A command that is sent to a
    /// tool, or refused, is written to the audit before the answer goes out.
    pub fn resolve_command(
        &self,
        catalog: &Catalog,
        message: &str,
        tools: &[String],
    ) -> Result<MessageResolution, EngineError> {
        let resolution = resolve_message(message, &catalog.commands, tools);
        let (command, tool, bytes, outcome) = match &resolution {
            MessageResolution::Dispatch { command, dispatch } => {
                (command, dispatch.tool.as_str(), dispatch.payload.command.len(), "resolved")
            }
            MessageResolution::Refused { command, reason } => {
                (command, reason.key.as_deref().unwrap_or_default(), 0, reason.code.as_str())
            }
            _ => return Ok(resolution),
        };
        let file = std::path::Path::new(&command.skill_file);
        let entry = catalog.entries.iter().find(|entry| entry.file_path == file);
        let path = self.engine.env.sinew_home().join("audit").join("dispatch.jsonl");
        let written = DispatchRecord {
            at: self.engine.env.clock.now_ms(),
            skill: &command.skill_name,
            content_hash: entry.map(|entry| entry.content_hash.as_str()).unwrap_or_default(),
            tool,
            arguments_bytes: bytes,
            outcome,
        };
        // A dispatch that cannot be accounted for does not happen.
        scan_records::append_audit_record(&path, &written)
            .map_err(|error| EngineError::file("write", &path, error))?;
        Ok(resolution)
    }
}
