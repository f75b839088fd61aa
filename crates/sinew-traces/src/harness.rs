//! Tools by which an agent keeps itself in order: they are no steps of the work.
//!
//! Looking for a tool, keeping a list of what is to be done and changing modes happen in every session
//! and say nothing about a task. A run that counted them would differ from the same run without them, and
//! a turn whose last call was one would have ended well.

use crate::readers::snake_case;

/// The tools, in the words of each agent, in snake case.
const HARNESS_TOOLS: &[&str] = &[
    "bash_output",
    "enter_plan_mode",
    "exit_plan_mode",
    "get_goal",
    "list_mcp_resources",
    "save_memory",
    "send_user_message",
    "task_create",
    "task_get",
    "task_list",
    "task_output",
    "task_update",
    "todo_read",
    "todo_write",
    "tool_search",
    "update_plan",
    "write_todos",
];

/// Whether a tool is the agent's own housekeeping, by its name in a transcript or a hook.
///
/// ```
/// assert!(sinew_traces::is_harness_tool("ToolSearch"));
/// assert!(!sinew_traces::is_harness_tool("Bash"));
/// ```
pub fn is_harness_tool(tool: &str) -> bool {
    is_harness_action(&snake_case(tool))
}

/// The same by the kind of an action.
pub(crate) fn is_harness_action(kind: &str) -> bool {
    HARNESS_TOOLS.contains(&kind)
}
