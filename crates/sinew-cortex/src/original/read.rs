//! From a file on disk to its normal form.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use super::schema::{
    CandidatePart, CortexJson, CortexPart, ExtraFields, LastFailurePart, LessonPart, MotorPart,
    PatternPart, PrefrontalPart, RunsPart, SensoryPart, StatsPart,
};
use crate::failure::FailureKind;
use crate::memory::UNKNOWN_TAG;
use crate::prune::{MAX_CANDIDATES, MAX_LESSONS, MAX_REGIONS, MAX_SIGNALS};
use crate::signals::{MAX_DETAIL, is_region};
use crate::time::UtcDay;
use crate::{signals, weight};

/// A larger file is not a memory: a full one is about 200 kB.
pub const MAX_FILE: usize = 8 * 1024 * 1024;
/// The longest slug, version, source, word or name that is imported.
const MAX_TEXT: usize = 200;
/// Side effects imported per candidate.
const MAX_TAGS: usize = 32;

/// A repair, and its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CortexJsonRepair {
    /// The JSON path.
    pub path: String,
    /// What was done.
    pub what: String,
}

impl fmt::Display for CortexJsonRepair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.what)
    }
}

/// The text is not a `cortex.json` at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableCortexJson(pub String);

impl fmt::Display for UnreadableCortexJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnreadableCortexJson {}

/// Reads a file. Everything in it that can be used is used.
pub fn read_cortex_json(
    text: &str,
    today: UtcDay,
) -> Result<(CortexJson, Vec<CortexJsonRepair>), UnreadableCortexJson> {
    if text.len() > MAX_FILE {
        return Err(UnreadableCortexJson(format!("it is larger than {MAX_FILE} bytes")));
    }
    let value: Value = serde_json::from_str(text)
        .map_err(|error| UnreadableCortexJson(format!("it is not JSON: {error}")))?;
    let Value::Object(mut root) = value else {
        return Err(UnreadableCortexJson("it is not an object".to_owned()));
    };
    if !root.get("cortex").is_some_and(Value::is_object) {
        return Err(UnreadableCortexJson("it has no `cortex` object".to_owned()));
    }
    let mut reader = CortexJsonReader { today, repaired: Vec::new() };
    match root.remove("version").and_then(|version| version.as_u64()) {
        Some(1) => {}
        Some(other) => {
            return Err(UnreadableCortexJson(format!(
                "it has version {other}; only 1 is supported"
            )));
        }
        None => reader.note("$.version", "was missing; 1 is assumed"),
    }
    let cortex = reader.object(root.remove("cortex"), "$.cortex");
    let cortex = reader.cortex(cortex);
    let blacklist = reader.texts(root.remove("blacklist"), "$.blacklist", usize::MAX);
    let stats = reader.object(root.remove("stats"), "$.stats");
    let stats = reader.stats(stats);
    let mut original = CortexJson { version: 1, cortex, blacklist, stats, extra: root };
    reader.cut(&mut original);
    Ok((original, reader.repaired))
}

struct CortexJsonReader {
    today: UtcDay,
    repaired: Vec<CortexJsonRepair>,
}

impl CortexJsonReader {
    fn note(&mut self, path: &str, what: impl Into<String>) {
        self.repaired.push(CortexJsonRepair { path: path.to_owned(), what: what.into() });
    }

    /// An object; a missing one is empty, and another type is reported.
    fn object(&mut self, value: Option<Value>, path: &str) -> Map<String, Value> {
        match value {
            Some(Value::Object(map)) => map,
            None | Some(Value::Null) => Map::new(),
            Some(_) => {
                self.note(path, "is not an object; dropped");
                Map::new()
            }
        }
    }

    fn list(&mut self, value: Option<Value>, path: &str) -> Vec<Value> {
        match value {
            Some(Value::Array(items)) => items,
            None | Some(Value::Null) => Vec::new(),
            Some(_) => {
                self.note(path, "is not a list; dropped");
                Vec::new()
            }
        }
    }

    fn texts(&mut self, value: Option<Value>, path: &str, most: usize) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for (at, item) in self.list(value, path).into_iter().enumerate() {
            let path = format!("{path}[{at}]");
            match item {
                Value::String(text) if is_sound(&text) => {
                    if found.contains(&text) {
                        self.note(&path, "occurs twice; dropped");
                    } else {
                        found.push(text);
                    }
                }
                _ => self.note(&path, "is not a short text; dropped"),
            }
        }
        if found.len() > most {
            self.note(path, format!("has {} items; {most} are kept", found.len()));
            found.truncate(most);
        }
        found
    }

    fn text(
        &mut self,
        map: &mut Map<String, Value>,
        key: &str,
        path: &str,
        default: &str,
    ) -> String {
        match map.remove(key) {
            Some(Value::String(text)) if is_sound(&text) => text,
            _ => {
                self.note(
                    &format!("{path}.{key}"),
                    format!("is not a short text; `{default}` is assumed"),
                );
                default.to_owned()
            }
        }
    }

    fn count(&mut self, map: &mut Map<String, Value>, key: &str, path: &str) -> u64 {
        let value = map.remove(key);
        let read = value.as_ref().and_then(|value| {
            let whole = |n: &f64| n.fract() == 0.0 && (0.0..9e15).contains(n);
            value.as_u64().or_else(|| value.as_f64().filter(whole).map(|n| n as u64))
        });
        // A count that cannot be reached in a lifetime is a mistake.
        match read.filter(|count| *count <= 1_000_000_000_000) {
            Some(count) => count,
            None if value.is_none() => 0,
            None => {
                self.note(&format!("{path}.{key}"), "is not a count; 0 is assumed");
                0
            }
        }
    }

    fn share(&mut self, map: &mut Map<String, Value>, key: &str, path: &str, default: f64) -> f64 {
        let path = format!("{path}.{key}");
        match map.remove(key).as_ref().and_then(Value::as_f64) {
            Some(share) if (0.0..=1.0).contains(&share) => share,
            Some(share) => {
                let clamped = share.clamp(0.0, 1.0);
                self.note(&path, format!("is {share}; {clamped} is used"));
                clamped
            }
            None => {
                self.note(&path, format!("is not a number; {default} is assumed"));
                default
            }
        }
    }

    fn day(&mut self, map: &mut Map<String, Value>, key: &str, path: &str) -> UtcDay {
        let path = format!("{path}.{key}");
        let read = map.remove(key).as_ref().and_then(Value::as_str).map(str::parse::<UtcDay>);
        match read {
            Some(Ok(day)) if day <= self.today => day,
            Some(Ok(day)) => {
                self.note(&path, format!("{day} is in the future; today is assumed"));
                self.today
            }
            _ => {
                self.note(&path, "is not a date; today is assumed");
                self.today
            }
        }
    }

    /// A secret in an imported file is not copied into the log.
    fn masked(&mut self, text: &str, path: &str) -> String {
        let masked = sinew_guard::secrets::mask_strict(text);
        if masked != text {
            self.note(path, "contained a secret; masked");
        }
        masked
    }

    fn region(&mut self, name: &str, path: &str) -> Option<String> {
        if is_region(name) {
            return Some(name.to_owned());
        }
        let clean = signals::clean_region(name);
        match &clean {
            Some(clean) => {
                self.note(path, format!("is not a valid region name; `{clean}` is used"));
            }
            None => self.note(path, "is not a valid region name; dropped"),
        }
        clean
    }

    fn cortex(&mut self, mut map: Map<String, Value>) -> CortexPart {
        let mut sensory = self.object(map.remove("sensory"), "$.cortex.sensory");
        let patterns = self.patterns(sensory.remove("patterns"));
        let motor = self.object(map.remove("motor"), "$.cortex.motor");
        let motor = self.motor(motor);
        let mut prefrontal = self.object(map.remove("prefrontal"), "$.cortex.prefrontal");
        let lessons = self.lessons(prefrontal.remove("lessons"));
        CortexPart {
            sensory: SensoryPart { patterns, extra: sensory },
            motor,
            prefrontal: PrefrontalPart { lessons, extra: prefrontal },
            extra: map,
        }
    }

    fn patterns(&mut self, value: Option<Value>) -> Vec<PatternPart> {
        let mut found: Vec<PatternPart> = Vec::new();
        for (at, item) in self.list(value, "$.cortex.sensory.patterns").into_iter().enumerate() {
            let path = format!("$.cortex.sensory.patterns[{at}]");
            let mut map = self.object(Some(item), &path);
            let name = map.remove("region").as_ref().and_then(Value::as_str).map(str::to_owned);
            let Some(name) = name else {
                self.note(&path, "does not name a region; dropped");
                continue;
            };
            let Some(region) = self.region(&name, &format!("{path}.region")) else { continue };
            let signal = self.texts(map.remove("signal"), &format!("{path}.signal"), usize::MAX);
            match found.iter_mut().find(|pattern| pattern.region == region) {
                Some(pattern) => {
                    self.note(&path, format!("is a second pattern for {region}; merged"));
                    let fresh: Vec<String> =
                        signal.into_iter().filter(|word| !pattern.signal.contains(word)).collect();
                    pattern.signal.extend(fresh);
                }
                None => found.push(PatternPart { signal, region, extra: map }),
            }
        }
        for (at, pattern) in found.iter_mut().enumerate() {
            let over = pattern.signal.len().saturating_sub(MAX_SIGNALS);
            if over > 0 {
                let path = format!("$.cortex.sensory.patterns[{at}].signal");
                self.note(
                    &path,
                    format!("the {over} oldest words are removed; {MAX_SIGNALS} are kept"),
                );
                pattern.signal.drain(..over);
            }
        }
        found
    }

    fn motor(&mut self, map: Map<String, Value>) -> Vec<(String, MotorPart)> {
        let mut found: Vec<(String, MotorPart)> = Vec::new();
        for (name, value) in map {
            let path = format!("$.cortex.motor[{:?}]", short(&name));
            let Some(region) = self.region(&name, &path) else { continue };
            if !value.is_object() {
                self.note(&path, "is not an object; dropped");
                continue;
            }
            if found.iter().any(|(known, _)| *known == region) {
                self.note(&path, format!("is a second region {region}; dropped"));
                continue;
            }
            let mut map = self.object(Some(value), &path);
            let last_used = self.day(&mut map, "last_used", &path);
            let candidates = self.candidates(map.remove("candidates"), &path, last_used);
            found.push((region, MotorPart { candidates, last_used, extra: map }));
        }
        found
    }

    fn candidates(
        &mut self,
        value: Option<Value>,
        path: &str,
        last_used: UtcDay,
    ) -> Vec<CandidatePart> {
        let mut found: Vec<CandidatePart> = Vec::new();
        let path = format!("{path}.candidates");
        for (at, item) in self.list(value, &path).into_iter().enumerate() {
            let path = format!("{path}[{at}]");
            let mut map = self.object(Some(item), &path);
            let slug = match map.remove("slug") {
                Some(Value::String(slug)) if is_sound(&slug) => slug,
                _ => {
                    self.note(&path, "does not name a skill; dropped");
                    continue;
                }
            };
            if found.iter().any(|candidate| candidate.slug == slug) {
                self.note(&path, format!("is a second record of {slug}; dropped"));
                continue;
            }
            found.push(self.candidate(slug, map, &path));
        }
        let idle = self.today.days_since(last_used);
        while found.len() > MAX_CANDIDATES {
            let effective = |candidate: &CandidatePart| weight::effective(candidate.weight, idle);
            let weakest = (0..found.len())
                .min_by(|a, b| effective(&found[*a]).total_cmp(&effective(&found[*b])))
                .unwrap_or(0);
            let gone = found.remove(weakest);
            self.note(&path, format!("{} is removed; {MAX_CANDIDATES} are kept", gone.slug));
        }
        found
    }

    fn candidate(
        &mut self,
        slug: String,
        mut map: Map<String, Value>,
        path: &str,
    ) -> CandidatePart {
        let source = self.text(&mut map, "source", path, "clawhub");
        let version = self.text(&mut map, "version", path, "0.0.0");
        let weight = self.share(&mut map, "weight", path, weight::NEW_WEIGHT);
        let mut runs = self.object(map.remove("runs"), &format!("{path}.runs"));
        let runs_path = format!("{path}.runs");
        let success = self.count(&mut runs, "success", &runs_path);
        let fail = self.count(&mut runs, "fail", &runs_path);
        let recent = self.count(&mut runs, "recent_successes_7d", &runs_path);
        if recent > success {
            let note = format!("is {recent}, with {success} successes in all; {success} is used");
            self.note(&format!("{runs_path}.recent_successes_7d"), note);
        }
        let recent = u32::try_from(recent.min(success)).unwrap_or(u32::MAX);
        let last_fail = self.last_fail(map.remove("last_fail"), &format!("{path}.last_fail"));
        let side_effects = match map.remove("side_effects") {
            None | Some(Value::Null) => {
                let note = format!("is missing; it counts as `{UNKNOWN_TAG}`");
                self.note(&format!("{path}.side_effects"), note);
                vec![UNKNOWN_TAG.to_owned()]
            }
            some => self.texts(some, &format!("{path}.side_effects"), MAX_TAGS),
        };
        let skill_md_chars = self.count(&mut map, "skill_md_chars", path);
        let reflex = match map.remove("reflex") {
            Some(Value::Bool(reflex)) => reflex,
            None => false,
            Some(_) => {
                self.note(&format!("{path}.reflex"), "is neither true nor false; false is assumed");
                false
            }
        };
        CandidatePart {
            slug,
            source,
            version,
            weight,
            runs: RunsPart { success, fail, recent_successes_7d: recent, extra: runs },
            last_fail,
            side_effects,
            skill_md_chars,
            reflex,
            extra: map,
        }
    }

    fn last_fail(&mut self, value: Option<Value>, path: &str) -> Option<LastFailurePart> {
        let value = value.filter(|value| !value.is_null())?;
        if !value.is_object() {
            self.note(path, "is not an object; dropped");
            return None;
        }
        let mut map = self.object(Some(value), path);
        let kind = map.remove("type").as_ref().and_then(Value::as_str).map(str::parse);
        let kind = match kind {
            Some(Ok(kind)) => kind,
            _ => {
                self.note(
                    &format!("{path}.type"),
                    "is not a kind of failure; runtime_error is assumed",
                );
                FailureKind::RuntimeError
            }
        };
        let detail = match map.remove("detail") {
            Some(Value::String(detail)) => self.masked(&detail, &format!("{path}.detail")),
            _ => String::new(),
        };
        if detail.chars().count() > MAX_DETAIL {
            self.note(&format!("{path}.detail"), format!("is cut to {MAX_DETAIL} characters"));
        }
        let detail = detail.chars().filter(|c| !c.is_control()).take(MAX_DETAIL).collect();
        let date = self.day(&mut map, "date", path);
        Some(LastFailurePart { kind, detail, date, extra: map })
    }

    fn lessons(&mut self, value: Option<Value>) -> Vec<LessonPart> {
        let mut found: Vec<LessonPart> = Vec::new();
        for (at, item) in self.list(value, "$.cortex.prefrontal.lessons").into_iter().enumerate() {
            let path = format!("$.cortex.prefrontal.lessons[{at}]");
            let mut map = self.object(Some(item), &path);
            let field = |map: &mut ExtraFields, key: &str| match map.remove(key) {
                Some(Value::String(text)) if is_sound(&text) => Some(text),
                _ => None,
            };
            let kind = field(&mut map, "type").unwrap_or_default();
            let (region, slug) = (field(&mut map, "region"), field(&mut map, "slug"));
            let (key, detail) = (field(&mut map, "key"), field(&mut map, "detail"));
            let action = field(&mut map, "action");
            let detail = detail.map(|detail| self.masked(&detail, &format!("{path}.detail")));
            let is_known = match kind.as_str() {
                "dependency_warning" | "env_ready" => region.is_some() && key.is_some(),
                "skill_quality_warning" => slug.is_some() && detail.is_some(),
                _ => false,
            };
            if !is_known {
                self.note(&path, "is none of the three kinds of lesson; dropped");
                continue;
            }
            let region = match region {
                Some(region) => self.region(&region, &format!("{path}.region")),
                None => None,
            };
            let confidence = self.share(&mut map, "confidence", &path, 0.6);
            let whole = (confidence * 100.0).round() / 100.0;
            if (whole - confidence).abs() > 1e-9 {
                self.note(&format!("{path}.confidence"), "is rounded to hundredths");
            }
            let created = self.day(&mut map, "created", &path);
            found.push(LessonPart {
                kind,
                region,
                slug,
                key,
                detail,
                action,
                confidence,
                created,
                extra: map,
            });
        }
        found
    }

    fn stats(&mut self, mut map: Map<String, Value>) -> StatsPart {
        StatsPart {
            searches: self.count(&mut map, "searches", "$.stats"),
            installs: self.count(&mut map, "installs", "$.stats"),
            cache_hits: self.count(&mut map, "cache_hits", "$.stats"),
            reflexes_fired: self.count(&mut map, "reflexes_fired", "$.stats"),
            extra: map,
        }
    }

    /// Lists that are too long are cut by the rules of pruning.
    fn cut(&mut self, original: &mut CortexJson) {
        let motor = &mut original.cortex.motor;
        while motor.len() > MAX_REGIONS {
            let oldest = motor.iter().map(|(name, region)| (region.last_used, name)).min();
            let Some(name) = oldest.map(|(_, name)| name.clone()) else { break };
            motor.retain(|(known, _)| *known != name);
            original.cortex.sensory.patterns.retain(|pattern| pattern.region != name);
            original
                .cortex
                .prefrontal
                .lessons
                .retain(|lesson| lesson.region.as_ref() != Some(&name));
            let note = format!("{name} is removed; {MAX_REGIONS} regions are kept");
            self.note("$.cortex.motor", note);
        }
        let lessons = &mut original.cortex.prefrontal.lessons;
        while lessons.len() > MAX_LESSONS {
            let weakest = (0..lessons.len()).min_by(|a, b| {
                let (a, b) = (&lessons[*a], &lessons[*b]);
                a.confidence.total_cmp(&b.confidence).then(a.created.cmp(&b.created))
            });
            lessons.remove(weakest.unwrap_or(0));
            self.note(
                "$.cortex.prefrontal.lessons",
                format!("the least certain is removed; {MAX_LESSONS} are kept"),
            );
        }
    }
}

/// Whether a text is short and contains no control characters.
fn is_sound(text: &str) -> bool {
    !text.trim().is_empty()
        && text.chars().count() <= MAX_TEXT
        && !text.chars().any(char::is_control)
}

fn short(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}
