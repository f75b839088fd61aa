//! The SKILL.md format: what a skill file says, and what is wrong with it.
//!
//! A skill is a folder with a `SKILL.md`: YAML front matter between `---` lines, then Markdown.
//! Real authors write front matter that no YAML parser accepts, so reading happens in two steps: a
//! strict parse, then a bounded repair of single top-level fields. Everything that was repaired,
//! dropped or is doubtful is returned as [`Reason`](sinew_settings::Reason)s beside the value.
//!
//! ```
//! use sinew_skill::{ReadOptions, read};
//!
//! let file = b"---\nname: mail\ndescription: Send mail: list, read\n---\n# Mail\n";
//! let outcome = read(file, &ReadOptions::openclaw("mail"));
//! let skill = outcome.skill.expect("the unquoted colon is repaired");
//! assert_eq!(skill.description, "Send mail: list, read");
//! assert_eq!(outcome.reasons[0].code.as_str(), "frontmatter-repaired");
//! ```
//!
//! **Promise:** no input makes this crate panic, and no input is dropped without a reason.
//! **Left out on purpose:** files, folders and the machine. Bytes come in, values go out.

pub mod ecmascript;
mod fence;
mod header;
mod layout;
mod metadata;
pub mod names;
mod plain_yaml;
mod read;
mod repair;
mod sections;
mod text;
pub mod validate;
mod value;
mod yaml;

pub use header::{InvocationPolicy, ToolDispatch};
pub use metadata::{
    DeclaredRequirements, InstallSpec, MetadataHealth, SkillMetadata, TriggerHints,
    required_skill_name,
};
pub use read::{
    ParsedSkillFile, ReadOptions, RepairRecord, Skill, SkillDialect, content_hash, content_hash_of,
    read,
};
pub use repair::FieldRepair;
pub use sections::{BodySection, first_heading, first_text_line, sections};
pub use value::{YamlMapping, YamlNumber, YamlValue};

/// The front matter of `text` and where the body starts, without judging either.
///
/// This is the step below [`read`], for validators and tools that need the typed map.
pub use fence::{FrontMatterSplit, split_front_matter};
pub use repair::{FrontMatter, parse_front_matter};
