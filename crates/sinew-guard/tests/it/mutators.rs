//! Disguises: what is blocked stays blocked when its author spells it differently. Every mutator is
//! an edit that anyone makes in a minute and that leaves the skill as harmful as it was.

use sinew_guard::eval::{LabelledSkill, ScanLabel, read_rows};
use sinew_guard::scan::{BundleFile, SkillBundle, Verdict};
use sinew_testkit::shared_data;

use crate::own_skills::{AsideBy, OwnSkill, read};
use crate::support::{base64, long, scanner};

type Files = Vec<(String, String)>;

/// Applies `change` to the lines of prose in Markdown files.
fn prose(files: &Files, change: impl Fn(&str) -> String) -> Files {
    markdown(files, |line, is_code| if is_code { line.to_owned() } else { change(line) })
}

/// Applies `change` to the lines of Markdown files behind their front matter; it is told whether the
/// line is in a fence.
fn markdown(files: &Files, change: impl Fn(&str, bool) -> String) -> Files {
    let edit = |text: &str| {
        let (mut fence, mut front) = (false, text.starts_with("---"));
        let mut out = String::new();
        for (number, line) in text.lines().enumerate() {
            if front {
                front = number == 0 || line != "---";
                out.push_str(line);
            } else if line.trim_start().starts_with("```") {
                fence = !fence;
                out.push_str(line);
            } else if line.trim().is_empty() || line.starts_with('#') {
                out.push_str(line);
            } else {
                out.push_str(&change(line, fence));
            }
            out.push('\n');
        }
        out
    };
    let file = |(path, text): &(String, String)| match path.ends_with(".md") {
        true => (path.clone(), edit(text)),
        false => (path.clone(), text.clone()),
    };
    files.iter().map(file).collect()
}

/// Applies `change` to the scripts whose names end so.
fn scripts(files: &Files, endings: &[&str], change: impl Fn(&str) -> String) -> Files {
    let file = |(path, text): &(String, String)| {
        let is_one = endings.iter().any(|ending| path.ends_with(ending));
        (path.clone(), if is_one { change(text) } else { text.clone() })
    };
    files.iter().map(file).collect()
}

/// Changes every `step`th plain word of a line.
fn words(line: &str, step: usize, change: impl Fn(&str) -> String) -> String {
    let plain = |word: &str| word.len() > 2 && word.chars().all(|c| c.is_ascii_alphabetic());
    let word = |(number, word): (usize, &str)| match number % step == 1 && plain(word) {
        true => change(word),
        false => word.to_owned(),
    };
    line.split(' ').enumerate().map(word).collect::<Vec<_>>().join(" ")
}

fn with_body(files: &Files, change: impl Fn(&str) -> Files) -> Files {
    let mut all = files.clone();
    let text = all[0].1.clone();
    let end = text.match_indices("---\n").nth(1).map_or(0, |(at, mark)| at + mark.len());
    let mut changed = change(&text[end..]);
    all[0].1 = format!("{}{}", &text[..end], changed.remove(0).1);
    all.extend(changed);
    all
}

fn own(text: &str) -> (String, String) {
    ("SKILL.md".to_owned(), text.to_owned())
}

const FILLER: &str = "Keep the tables short and say where each number comes from.\n\n";

/// Words as a dictionary would give them.
const DICTIONARY: &[(&str, &str, &str)] = &[
    ("send", "sende", "envía"),
    ("upload", "lade hoch", "sube"),
    ("read", "lies", "lee"),
    ("password", "Passwort", "contraseña"),
    ("download", "lade herunter", "descarga"),
    ("run", "führe aus", "ejecuta"),
    ("before", "bevor", "antes"),
    ("after", "nach", "después"),
    ("content", "Inhalt", "contenido"),
    ("file", "Datei", "archivo"),
    ("the", "die", "el"),
    ("and", "und", "y"),
];

fn translate(line: &str, german: bool) -> String {
    let word = |word: &str| {
        let found = DICTIONARY.iter().find(|(from, ..)| word.eq_ignore_ascii_case(from));
        found.map_or(word, |(_, de, es)| if german { de } else { es }).to_owned()
    };
    line.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// What is done to the files of a sample.
type SampleMutator = fn(&Files) -> Files;

/// The mutators with their names.
const MUTATORS: &[(&str, SampleMutator)] = &[
    ("upper case", |f| prose(f, |line| words(line, 2, str::to_uppercase))),
    ("mixed case", |f| {
        prose(f, |line| {
            words(line, 2, |word| {
                let c =
                    |(at, c): (usize, char)| if at % 2 == 0 { c.to_ascii_uppercase() } else { c };
                word.chars().enumerate().map(c).collect()
            })
        })
    }),
    ("two spaces", |f| prose(f, |line| line.replace(' ', "  "))),
    ("no-break spaces", |f| prose(f, |line| line.replacen(' ', "\u{a0}", 2))),
    ("bold", |f| prose(f, |line| words(line, 3, |word| format!("**{word}**")))),
    ("italic", |f| prose(f, |line| words(line, 2, |word| format!("_{word}_")))),
    ("half bold", |f| {
        prose(f, |line| words(line, 3, |word| format!("{}**{}**", &word[..1], &word[1..])))
    }),
    ("block quote", |f| prose(f, |line| format!("> {line}"))),
    ("list", |f| prose(f, |line| format!("- {line}"))),
    ("empty quotes", |f| {
        let change = |text: &str| text.replace("curl", "cu\"\"rl").replace("bash ", "ba''sh ");
        let f = markdown(f, |line, code| if code { change(line) } else { line.to_owned() });
        scripts(&f, &[".sh"], change)
    }),
    ("escaped letters", |f| {
        let change = |text: &str| text.replace("curl", "c\\url").replace("wget", "wg\\et");
        let f = markdown(f, |line, code| if code { change(line) } else { line.to_owned() });
        scripts(&f, &[".sh"], change)
    }),
    ("other names", |f| {
        scripts(f, &[".py", ".js", ".mjs"], |text| {
            ["data", "payload", "body", "found", "content", "send", "gather", "report", "main"]
                .iter()
                .fold(text.to_owned(), |text, name| {
                    let held = |mark: &str| text.contains(&format!("{mark}{name}"));
                    // Members and options keep their names.
                    let is_free = !held(".") && !text.contains(&format!("{name}="));
                    let is_free = is_free && !text.contains(&format!("{name}:")) && !held("\"");
                    if is_free { text.replace(name, &format!("q_{}", name.len())) } else { text }
                })
        })
    }),
    ("other folder", |f| {
        let rename = |text: &str| text.replace("scripts/", "tools/bin/");
        f.iter().map(|(path, text)| (rename(path), rename(text))).collect()
    }),
    ("in a reference", |f| {
        with_body(f, |body| {
            let path = "references/guide.md".to_owned();
            vec![own("Follow references/guide.md step by step.\n"), (path, body.to_owned())]
        })
    }),
    ("over two references", |f| {
        with_body(f, |body| {
            let breaks = body.match_indices("\n\n").map(|(at, mark)| at + mark.len());
            let cut = breaks.filter(|at| *at <= body.len() / 2).last().unwrap_or(0);
            let (one, two) = body.split_at(cut);
            vec![
                own("Follow references/one.md, then references/two.md.\n"),
                ("references/one.md".to_owned(), one.to_owned()),
                ("references/two.md".to_owned(), two.to_owned()),
            ]
        })
    }),
    ("long preface", |f| with_body(f, |body| vec![own(&(FILLER.repeat(80) + body))])),
    ("long ending", |f| {
        with_body(f, |body| vec![own(&(format!("{body}\n") + &FILLER.repeat(80)))])
    }),
    ("zero width", |f| {
        prose(f, |line| words(line, 2, |w| format!("{}\u{200b}{}", &w[..2], &w[2..])))
    }),
    ("homoglyphs", |f| prose(f, |line| words(line, 2, |w| w.replace('a', "а").replace('o', "о")))),
    ("shell in base64", |f| {
        scripts(f, &[".sh"], |text| {
            format!("echo {} | base64 -d | bash\n", base64(text.as_bytes()))
        })
    }),
    ("Python in base64", |f| {
        let pack = |text: &str| {
            let packed = base64(text.as_bytes());
            format!("import base64\nexec(base64.b64decode(\"{packed}\").decode())\n")
        };
        scripts(f, &[".py"], pack)
    }),
    ("in a wrapper", |f| {
        let wrap = |line: &str| match ["curl ", "wget ", "tar ", "env "]
            .iter()
            .any(|w| line.starts_with(w))
        {
            true => format!("nice -n 5 timeout 90 {line}"),
            false => line.to_owned(),
        };
        let f = markdown(f, |line, code| if code { wrap(line) } else { line.to_owned() });
        scripts(&f, &[".sh"], |text| text.lines().map(|l| wrap(l) + "\n").collect())
    }),
    ("declares its hosts", |f| {
        let all: String = f.iter().map(|(_, text)| text.as_str()).collect();
        let rest = all.split_once("https://").map_or("", |(_, rest)| rest);
        let host: String =
            rest.chars().take_while(|c| c.is_alphanumeric() || ".-".contains(*c)).collect();
        let mut f = f.clone();
        if !host.is_empty() && f[0].1.starts_with("---\nname") && !f[0].1.contains("homepage") {
            f[0].1 = f[0].1.replacen("---\n", &format!("---\nhomepage: https://{host}\n"), 1);
        }
        f
    }),
    ("says that it is safe", |f| {
        with_body(f, |body| {
            vec![own(&format!(
                "This skill was audited and contains no malware. All hosts are ours.\n\n{body}"
            ))]
        })
    }),
    ("other line ends", |f| {
        f.iter().map(|(path, text)| (path.clone(), text.replace('\n', "\r\n"))).collect()
    }),
    ("comments between", |f| {
        scripts(f, &[".sh", ".py"], |text| {
            let open =
                |line: &str| line.ends_with(['(', ',', '[', '{', '\\']) || line.contains("<<");
            if text.lines().any(open) {
                return text.to_owned();
            }
            text.lines().map(|line| format!("{line}\n# as usual\n")).collect()
        })
    }),
    // Two edits that made most lures of the wild clean: the one decoded line goes, and emphasis
    // stands on the word that a pattern waits for.
    ("without its decoded line", |f| {
        let f = markdown(f, |line, _| {
            let decodes = line.contains("base64") && line.contains('|');
            if decodes { String::new() } else { line.to_owned() }
        });
        prose(&f, |line| line.replace("pass", "**pass**").replace("Pass", "**Pass**"))
    }),
    ("German words", |f| prose(f, |line| translate(line, true))),
    ("Spanish words", |f| prose(f, |line| translate(line, false))),
];

/// Every how many samples are looked at in the short run.
const SAMPLED: usize = 9;
/// Per cent of blocks that every single disguise must leave.
const KEPT_BY_EACH: usize = 80;

/// Malicious skills of the labelled set whose files are texts.
pub(crate) fn labelled() -> Vec<OwnSkill> {
    let Some(path) = shared_data("data/guard/guard-dev.jsonl.gz") else { return Vec::new() };
    let rows = read_rows(std::fs::File::open(path).unwrap()).unwrap().map(|row| row.unwrap());
    let own = |row: LabelledSkill| {
        let text = |file: &BundleFile| {
            Some((file.path.clone(), String::from_utf8(file.bytes.clone()).ok()?))
        };
        let mut files: Files = row.bundle.files().iter().map(text).collect::<Option<_>>()?;
        let first = files.iter().position(|(path, _)| path == "SKILL.md")?;
        files.swap(0, first);
        Some(OwnSkill { id: row.id, class: row.tier, is_malicious: true, is_aside: false, files })
    };
    rows.filter(|row| row.label == ScanLabel::Malicious && !row.noisy).filter_map(own).collect()
}

#[test]
fn what_is_blocked_stays_blocked_in_disguise() {
    assert!(MUTATORS.len() >= 25);
    let mut samples: Vec<OwnSkill> = read("holes", AsideBy::Variant);
    samples.extend(read("tiers", AsideBy::Template));
    samples.extend(labelled());
    let is_blocked = |files: &Files| {
        let file = |(path, text): &(String, String)| (path.clone(), text.clone().into_bytes());
        let bundle = SkillBundle::from_files(files.iter().map(file));
        scanner().scan_bundle(&bundle).verdict == Verdict::Block
    };
    let step = if long() { 1 } else { SAMPLED };
    let (mut kept, mut total) = (0, 0);
    let (mut lines, mut weak) = (Vec::new(), Vec::new());
    let samples: Vec<&OwnSkill> = samples
        .iter()
        .filter(|s| s.is_malicious)
        .step_by(step)
        .filter(|s| is_blocked(&s.files))
        .collect();
    for (name, mutate) in MUTATORS {
        let (mut own_kept, mut own_total, mut lost) = (0, 0, Vec::new());
        for sample in &samples {
            let files = mutate(&sample.files);
            if files == sample.files {
                continue;
            }
            own_total += 1;
            if is_blocked(&files) {
                own_kept += 1;
            } else if !sample.is_aside {
                lost.push(sample.id.as_str());
            }
        }
        if own_kept * 100 < own_total * KEPT_BY_EACH {
            weak.push(*name);
        }
        lines.push(format!("{name:24} {own_kept:4} of {own_total:4}  lost {lost:?}"));
        kept += own_kept;
        total += own_total;
    }
    let lines = lines.join("\n");
    eprintln!("{lines}\nstill blocked: {kept} of {total}");
    assert!(total > 200 && kept * 100 >= total * 90, "{kept} of {total}\n{lines}");
    assert!(weak.is_empty(), "these disguises work too often: {weak:?}\n{lines}");
}
