"""Text preparation shared by every step: data files, SKILL.md fields, words, the bridge lexicon.

Nothing here is learned. The Rust runtime has its own version of the same ideas; small differences
in word splitting do not matter to the models, which only see what `message_text`,
`document_parts` and `encoder_document` return.
"""
import functools
import gzip
import json
import re
import unicodedata
from pathlib import Path

import snowballstemmer

DATA = Path("../shared/data/routing")

# Where the shipped files lie: inside the crates that use them.
CRATES = Path(__file__).resolve().parent.parent / "crates"
WEIGHTS = CRATES / "sinew-weights"
VOCABULARY = CRATES / "sinew-models/data/vocab.txt"
BACKGROUND = CRATES / "sinew-route/data/background.tsv"
REFERENCE = CRATES / "sinew-models/tests/data/reference.json"

LANGUAGES = {"de": "german", "es": "spanish", "fr": "french", "pt": "portuguese",
             "it": "italian", "ru": "russian"}

# Function words that tell the Latin-script languages apart (words shared by several are harmless:
# the language with most hits wins, English first on a tie).
STOP = {
    "en": "the a an and or of to in for with on my i you me it is are this that can please how what "
          "do we our from at be have need want not but so if when into your as by there all",
    "de": "der die das und oder ein eine einen einem einer mit für auf mein meine meinen ich du mir "
          "ist sind dieser diese dieses kann bitte wie was wir unser unsere von bei nicht aber wenn "
          "zu zum zur den dem des im auch es soll mach kannst habe als aus nach brauche",
    "es": "el la los las y o un una de en para con mi mis yo tú me es son este esta que puedes por "
          "favor cómo qué quiero necesito del al no pero si cuando se lo su sus como más hay sin",
    "fr": "le la les et ou un une de en pour avec mon ma mes je tu moi est sont ce cette que peux "
          "peut comment quoi veux du des au aux ne pas mais si quand se il sur dans nous notre nos "
          "qui plus sans vous à puis par quel quels quelle faire fait y",
    "pt": "o a os as e ou um uma de em para com meu minha meus eu você me é são este esta que pode "
          "por favor como quero preciso do da dos das no na nos nas não mas se quando ao isso esse "
          "essa mais sem",
    "it": "il lo la i gli le e o un una di in per con mio mia miei io tu mi è sono questo questa che "
          "puoi come cosa voglio del della dei delle al alla nel nella non ma se quando da ho più "
          "sul sulla senza vorrei",
}
STOP = {language: frozenset(words.split()) for language, words in STOP.items()}

GENERIC = frozenset(
    "check status help use run show find look issue problem make get give tell try thing something "
    "need want please can could would let work time new good way lot".split())


# ---------------------------------------------------------------- files

def rows(path):
    """Yield the objects of a JSONL file, gzipped or not."""
    path = Path(path)
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def is_validation(skill_id):
    """The part of the training messages that no step may train on."""
    return skill_id[0] in "01"


# ---------------------------------------------------------------- SKILL.md

def split_front_matter(text):
    """(front matter, body) of a SKILL.md."""
    match = re.match(r"\ufeff?\s*---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)", text, re.S)
    return (match.group(1), text[match.end():]) if match else ("", text)


def front_matter(block):
    """Enough YAML for routing: top-level scalars, block scalars and lists as plain strings."""
    fields, key, lines = {}, None, []

    def close():
        if key is not None:
            value = " ".join(line.strip() for line in lines).strip()
            value = re.sub(r"^[|>][+-]?\s*", "", value)
            value = re.sub(r"(^|\s)-\s+", " ", value) if value.startswith("- ") else value
            fields[key] = value.strip().strip("\"'[]").strip()

    for line in block.splitlines():
        match = re.match(r"([A-Za-z_][\w-]*)\s*:(?:\s+(.*)|$)", line)
        if match:
            close()
            key, lines = match.group(1).lower(), [match.group(2) or ""]
        else:
            lines.append(line)
    close()
    return fields


NEGATIVE = re.compile(
    r"(?:^|(?<=[.!?;)\n—–-]\s)|(?<=[.!?;]))\s*(?:\*\*)?(?:do not|don['’]t|never) (?:use|trigger|activate|invoke)\b"
    r"[^.!?]*[.!?]?|(?:^|(?<=[.!?;]\s))not for [^.!?]*[.!?]?", re.I)


def without_negatives(description):
    """Drop "do not use for …" sentences: they are evidence against, never for."""
    return NEGATIVE.sub(" ", description).strip() or description


def fields_of(row):
    """Routing fields of a skill row: name, description, triggers, headings, body."""
    if "text" not in row:  # trigger-skills.jsonl: an id and a description
        name = row["id"].rsplit("#", 1)[-1]
        return {"name": name, "description": without_negatives(row["description"]),
                "triggers": "", "headings": "", "body": ""}
    head, body = split_front_matter(row["text"])
    meta = front_matter(head)
    headings = "\n".join(re.findall(r"^#{1,4}\s+(.+)$", body, re.M))
    triggers = " ".join(meta.get(k, "") for k in ("triggers", "tags", "keywords", "when_to_use"))
    description = meta.get("description", "")
    if not description:
        paragraph = re.search(r"^(?![#\s`>|-]).{20,}$", body, re.M)
        description = paragraph.group(0) if paragraph else ""
    return {"name": meta.get("name") or row.get("name") or "",
            "description": without_negatives(description),
            "triggers": triggers.strip(), "headings": headings, "body": body}


def plain_body(body, words):
    """The first `words` words of a body: fenced code, links, tables and markers removed."""
    body = re.sub(r"```.*?(```|$)", " ", body[:40_000], flags=re.S)
    body = re.sub(r"<!--.*?-->|https?://\S+", " ", body, flags=re.S)
    body = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", body)
    body = re.sub(r"[#*`|>_=]+|^\s*[-+]\s|-{3,}", " ", body, flags=re.M)
    return " ".join(body.split()[:words])


def spoken(name):
    """`set_reminder`, `setReminder`, `set-reminder` → `set reminder`."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.sub(r"[-_/.:]+", " ", name).strip()


# Document templates. The version is part of every model header: change one, change the other.
STATIC_TEMPLATE = ("A = '{spoken name}. {description} {triggers}'; "
                   "B = '{spoken name}. {first 200 plain body words}'; score = max(cos A, cos B)")
ENCODER_TEMPLATE = "'{spoken name}: {description} {triggers} {first 60 plain body words}'"
BODY_WORDS_STATIC = 200
BODY_WORDS_ENCODER = 60
# The words behind these may be a second text of the encoder (`evaluate.py --passage`); the program does not read it.
PASSAGE_WORDS, LEAST_PASSAGE = 80, 15


def document_parts(fields):
    """The two texts of a document for the static table (template A and B)."""
    name = spoken(fields["name"])
    head = f"{name}. {fields['description']} {fields['triggers']}".strip()
    return head, f"{name}. {plain_body(fields['body'], BODY_WORDS_STATIC)}"


def encoder_document(fields, body_words=BODY_WORDS_ENCODER):
    """The text of a document for the encoder."""
    text = f"{spoken(fields['name'])}: {fields['description']} {fields['triggers']}"
    return f"{text.strip()} {plain_body(fields['body'], body_words)}".strip()


def encoder_passage(fields):
    """What the body says behind the encoder's text, under the skill's name; empty where that is little."""
    words = plain_body(fields["body"], BODY_WORDS_ENCODER + PASSAGE_WORDS).split()[BODY_WORDS_ENCODER:]
    return f"{spoken(fields['name'])}: {' '.join(words)}" if len(words) >= LEAST_PASSAGE else ""


# ---------------------------------------------------------------- words

@functools.lru_cache(maxsize=None)
def stemmer(language="english"):
    return snowballstemmer.stemmer(language)


@functools.lru_cache(maxsize=1_000_000)
def stem(word, language="english"):
    return stemmer(language).stemWord(word)


CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
WORD = re.compile(rf"[{CJK}]+|[^\W{CJK}]+(?:['’][^\W{CJK}]+)*", re.U)


@functools.lru_cache(maxsize=500_000)
def _pieces(raw):
    """Stemmed search tokens of one raw word (identifiers split, the whole kept)."""
    if re.match(f"[{CJK}]", raw):
        return tuple(raw[i:i + 2] for i in range(max(1, len(raw) - 1)))
    word = re.sub(r"['’](s|S)$", "", raw).replace("'", "").replace("’", "")
    parts = [p for p in re.split(r"_+|(?<=[a-z])(?=[A-Z])", word) if p]
    whole = word.lower().strip("_")
    out = [stem(p.lower()) for p in parts]
    if len(parts) > 1:
        out.append(whole.replace("_", ""))
    return tuple(t for t in out if t and t not in STOP["en"] and len(t) < 40)


def tokens(text):
    """Search tokens of a text (lower case, stemmed, stop words dropped)."""
    out = []
    for raw in WORD.findall(unicodedata.normalize("NFKC", text)):
        out.extend(_pieces(raw))
    return out


# ---------------------------------------------------------------- bridge lexicon

def guess_language(text):
    """Language by script, then by stop words; English when in doubt."""
    if re.search(r"[\u3040-\u30ff]", text):
        return "ja"
    if re.search(r"[\uac00-\ud7af]", text):
        return "ko"
    if re.search(r"[\u4e00-\u9fff]", text):
        return "zh"
    if len(re.findall(r"[\u0400-\u04ff]", text)) >= 3:
        return "ru"
    words = set(re.findall(r"[^\W_]+", text.lower()))
    counts = {lang: sum(w in stop for w in words) for lang, stop in STOP.items()}
    best = max(counts, key=lambda lang: (counts[lang], lang == "en"))
    return best if best != "en" and counts[best] >= 2 else "en"


class Lexicon:
    """term → English routing words, per language (`lexicon/*.tsv`)."""

    def __init__(self, folder):
        self.exact, self.stemmed, self.longest = {}, {}, {}
        for path in sorted(Path(folder).glob("*.tsv")):
            language = path.stem
            table = {}
            for line in path.read_text(encoding="utf-8").splitlines():
                term, _, english = line.partition("\t")
                if term and english:
                    table[term.lower()] = english.split()
            self.exact[language] = table
            if language in LANGUAGES:
                stems = {}
                for term, english in table.items():
                    key = " ".join(stem(w, LANGUAGES[language]) for w in term.split())
                    stems.setdefault(key, english)
                self.stemmed[language] = stems
            self.longest[language] = max(
                (len(t.split()) if language in LANGUAGES else len(t) for t in table), default=0)

    def english(self, text):
        """English words for a non-English text, in order, without repeats."""
        language = guess_language(text)
        if language not in self.exact:
            return []
        found = self._spaced(text, language) if language in LANGUAGES else self._dense(text, language)
        present = set(re.findall(r"[a-z0-9]+", text.lower()))
        return [w for w in dict.fromkeys(found) if w not in present]

    def _spaced(self, text, language):
        words = re.findall(r"[^\W_]+", text.lower())
        stems = [stem(w, LANGUAGES[language]) for w in words]
        stop = STOP.get(language, ())
        table, by_stem, out, i = self.exact[language], self.stemmed[language], [], 0
        while i < len(words):
            for n in range(min(self.longest[language], len(words) - i), 0, -1):
                if n == 1 and words[i] in stop:
                    continue
                hit = table.get(" ".join(words[i:i + n])) or by_stem.get(" ".join(stems[i:i + n]))
                if hit:
                    out += hit
                    i += n
                    break
            else:
                i += 1
        return out

    def _dense(self, text, language):
        text, table, out, i = text.lower(), self.exact[language], [], 0
        while i < len(text):
            for n in range(min(self.longest[language], len(text) - i), 0, -1):
                if text[i:i + n] in table:
                    out += table[text[i:i + n]]
                    i += n
                    break
            else:
                i += 1
        return out


def foreign(text):
    """True when at least three letters in ten are not ASCII, or stop words say so."""
    letters = [c for c in text if c.isalpha()]
    outside = sum(not c.isascii() for c in letters)
    return bool(letters) and (outside >= 0.3 * len(letters)
                              or (outside > 0 and guess_language(text) in LANGUAGES))


def bridge_fields(fields, lexicon):
    """Documents in other languages get mapped English words after their description."""
    if lexicon and foreign(fields["description"]):
        words = " ".join(lexicon.english(fields["description"]))
        return {**fields, "description": f"{fields['description']} {words}".strip()}
    return fields


def bridged(message, lexicon):
    """What the encoder reads: the message, then its mapped English words after ' | '."""
    words = lexicon.english(message) if lexicon else []
    return f"{message} | {' '.join(words)}" if words else message
