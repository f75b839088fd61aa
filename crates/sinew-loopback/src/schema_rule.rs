//! The providers' rule about the schemas of tools: an object at the root, and no choice there.

use serde_json::Value;

use crate::agent_request::OfferedTool;

/// Whether schemas of tools are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaRule {
    /// Any schema is accepted.
    Lenient,
    /// A schema that OpenAI or Anthropic would refuse is refused, and with it the whole request.
    Strict,
}

/// Keywords that must not stand at the root of a tool's schema.
const REFUSED: [&str; 6] = ["oneOf", "anyOf", "allOf", "not", "enum", "if"];

impl SchemaRule {
    /// What is wrong with the first tool that breaks the rule.
    pub(crate) fn broken_by(self, tools: &[OfferedTool]) -> Option<String> {
        if self == Self::Lenient {
            return None;
        }
        tools.iter().find_map(|tool| {
            let why = SchemaRule::violation(&tool.schema)?;
            Some(format!("invalid schema for the function '{}': {why}", tool.full_name()))
        })
    }

    /// What the providers do not accept about a tool's schema.
    pub fn violation(schema: &Value) -> Option<String> {
        // Tools of the provider itself, such as a web search, have none.
        let root = match schema {
            Value::Null => return None,
            Value::Object(root) => root,
            _ => return Some("it must be an object".to_owned()),
        };
        if let Some(keyword) = REFUSED.iter().find(|keyword| root.contains_key(**keyword)) {
            return Some(format!("`{keyword}` must not stand at its root"));
        }
        let is_object = root.get("type").is_none_or(|kind| {
            // Google writes the same word in capitals.
            kind.as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("object"))
        });
        (!is_object).then(|| "its type must be `object`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_choice_at_the_root_is_refused_and_one_below_it_is_not() {
        for keyword in REFUSED {
            let schema = json!({"type": "object", keyword: []});
            let why = SchemaRule::violation(&schema).expect("a violation");
            assert!(why.contains(keyword), "{why}");
            let below = json!({"type": "object", "properties": {"a": {keyword: []}}});
            assert_eq!(SchemaRule::violation(&below), None, "{keyword}");
        }
        assert_eq!(SchemaRule::violation(&json!({"type": "OBJECT"})), None);
        assert_eq!(SchemaRule::violation(&json!({})), None);
        assert_eq!(SchemaRule::violation(&Value::Null), None);
        assert!(SchemaRule::violation(&json!({"type": "string"})).is_some());
        assert!(SchemaRule::violation(&json!([])).is_some());
    }
}
