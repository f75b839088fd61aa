//! A skill as the router reads it.

use sinew_skill::{ReadOptions, Skill, YamlValue, content_hash, read, sections};

use crate::stuffing::{self, StuffingReason};
use crate::text::language::{Language, guess, is_foreign};
use crate::text::negative::without_negatives;
use crate::text::{head, lexicon, normalised, plain};

/// The indexed length of a body: the longest of 1,864 real ones has 300 KiB, and text that far down
/// does not matter for routing.
const MAX_BODY: usize = 256 * 1024;

/// Words of the body in the second static text and in the encoder's text: the models were trained
/// with this.
const BODY_WORDS_STATIC: usize = 200;
const BODY_WORDS_ENCODER: usize = 60;

/// The encoder reads 96 tokens; this much text always has as many.
const MAX_ENCODER_TEXT: usize = 1_200;

/// A skill as the router reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RouteDocument {
    /// Unique in a catalog.
    pub id: String,
    /// The skill's name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Phrases, tags and keywords that suggest it.
    pub triggers: Vec<String>,
    /// Phrases that rule it out.
    pub negative: Vec<String>,
    /// The headings of its body.
    pub headings: Vec<String>,
    /// Its body.
    pub body: String,
    /// The hash of its content: an unchanged document is not read again.
    pub hash: String,
}

impl RouteDocument {
    /// A document from a parsed skill; `hash` is that of the file. Text that is there to be found, and
    /// not to be read, is left out.
    pub fn from_skill(id: &str, skill: &Skill, body: &str, hash: &str) -> Self {
        stuffing::counted(Self::whole(id, skill, body, hash)).0
    }

    /// Why parts of a skill's text do not count for routing.
    pub fn discounts(skill: &Skill, body: &str) -> Vec<StuffingReason> {
        stuffing::counted(Self::whole("", skill, body, "")).1
    }

    fn whole(id: &str, skill: &Skill, body: &str, hash: &str) -> Self {
        let mut triggers = skill.triggers.any.clone();
        triggers.extend(skill.triggers.all.iter().cloned());
        for key in ["when_to_use", "when-to-use"] {
            if let Some(YamlValue::String(text)) = skill.frontmatter.get(key) {
                triggers.push(text.clone());
            }
        }
        Self {
            id: id.to_owned(),
            name: skill.name.clone(),
            description: skill.description.clone(),
            triggers,
            negative: skill.triggers.none.clone(),
            headings: titles(body),
            body: body.to_owned(),
            hash: hash.to_owned(),
        }
    }

    /// A document from the text of a SKILL.md. A text that is not a skill is still a document: its
    /// name is `name`, its description the first text of its body.
    pub fn from_text(id: &str, name: &str, text: &str) -> Self {
        let outcome = read(text.as_bytes(), &ReadOptions::openpocket(name));
        let hash = content_hash(text.as_bytes());
        match &outcome.skill {
            Some(skill) => Self::from_skill(id, skill, &outcome.body, &hash),
            None => Self {
                id: id.to_owned(),
                name: name.to_owned(),
                description: sinew_skill::first_text_line(&outcome.body).unwrap_or("").to_owned(),
                headings: titles(&outcome.body),
                body: outcome.body.into_owned(),
                hash,
                ..Self::default()
            },
        }
    }

    /// A document with only a name and a description; its hash is made from them.
    pub fn from_description(id: &str, name: &str, description: &str) -> Self {
        let hash = content_hash(format!("{name}\n{description}").as_bytes());
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            description: description.to_owned(),
            hash,
            ..Self::default()
        }
    }
}

fn titles(body: &str) -> Vec<String> {
    let fitting = sections(body).into_iter().filter(|section| section.level <= 4);
    fitting.map(|section| section.title.to_owned()).filter(|title| !title.is_empty()).collect()
}

/// The texts of a document, as fields and models read them.
pub(crate) struct DocumentTexts {
    pub(crate) language: Language,
    /// In the order of [`crate::lexical::Field`].
    pub(crate) fields: [String; 5],
    pub(crate) static_head: String,
    pub(crate) static_body: String,
    pub(crate) encoder: String,
}

impl DocumentTexts {
    /// Cleans and normalises a document's texts, and adds English words from the bridge lexicon.
    pub(crate) fn of(document: &RouteDocument) -> Self {
        let positive = without_negatives(&document.description);
        let mut description = normalised(&positive).into_owned();
        let foreign = is_foreign(&description);
        let language = if foreign { guess(&description) } else { Language::En };
        if foreign {
            for word in lexicon::english(&description) {
                description.push(' ');
                description.push_str(word);
            }
        }
        let triggers = normalised(&document.triggers.join(" ")).into_owned();
        let body = normalised(head(&document.body, MAX_BODY)).into_owned();
        let spoken = plain::spaced_name(&normalised(&document.name));
        let static_head = format!("{spoken}. {description} {triggers}").trim().to_owned();
        let words = plain::plain_body(&body, BODY_WORDS_STATIC);
        let static_body = format!("{spoken}. {words}");
        let encoder = format!("{spoken}: {description} {triggers}");
        let encoder =
            format!("{} {}", encoder.trim(), plain::first_words(&words, BODY_WORDS_ENCODER));
        // The name as separate words and, after them, as one: `pdf-tools` is also found as
        // `pdftools`.
        let mut name = normalised(&document.name).into_owned();
        if name.contains(['-', '.', ' ']) {
            let whole: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
            name = format!("{name} {}", whole.to_lowercase());
        }
        Self {
            language,
            fields: [
                name,
                triggers,
                description,
                normalised(&document.headings.join("\n")).into_owned(),
                body,
            ],
            static_head,
            static_body,
            encoder: head(encoder.trim(), MAX_ENCODER_TEXT).to_owned(),
        }
    }
}
