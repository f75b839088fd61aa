"""Extra training pairs for the static table, mined from the training skills themselves.

Each pair is (query-like text, document text) of one skill, with no sentence in both: headings →
description, first paragraph → description, "use when …" clause → name and the rest of the description.
"""
import re

from text import plain_body, spoken

USE_WHEN = re.compile(r"(?:use|trigger|activate)[^.]{0,40}?\b(?:when|whenever|for|if)\b[^.]*\.?", re.I)


def pairs(fields):
    """Yield (query, document) texts of one skill."""
    name, description = spoken(fields["name"]), fields["description"]
    if len(description) < 20:
        return
    headings = [h for h in fields["headings"].split("\n") if 4 < len(h) < 80]
    if len(headings) >= 2:
        yield " ".join(headings[:8]), f"{name}. {description}"
    body = plain_body(re.sub(r"^#.*$", " ", fields["body"], flags=re.M), 120).split()
    if len(body) >= 15:
        yield " ".join(body[:40]), f"{name}. {description}"
    if len(body) >= 80:
        yield " ".join(body[40:80]), f"{name}. {description}"
    clause = USE_WHEN.search(description)
    if clause and len(clause.group(0)) > 25:
        rest = description.replace(clause.group(0), " ")
        yield clause.group(0), f"{name}. {rest}"
