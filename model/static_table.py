"""The static model: a token table; a text is the normalised weighted sum of its token rows.

A token's weight is the square root of its count in the text (mapped words count 0.8 each): a word said
nine times in a body weighs three, not nine.
"""
import numpy as np

import minilm
from text import document_parts

UNKNOWN, BRIDGE_WEIGHT = 100, 0.8
MESSAGE_LIMIT, DOCUMENT_LIMIT = 256, 320


def bags(tok, texts, limit):
    """Token ids without [CLS], [SEP] and [UNK], cut to `limit`."""
    encoded = tok.encode_batch([t[:12_000] for t in texts], add_special_tokens=False)
    return [[i for i in e.ids if i != UNKNOWN][:limit] for e in encoded]


def damped(counted):
    """[(id, count)] → (distinct ids, square roots of their summed counts)."""
    sums = {}
    for i, count in counted:
        sums[i] = sums.get(i, 0.0) + count
    return list(sums), [c ** 0.5 for c in sums.values()]


def message_bags(tok, messages, lexicon):
    """[(ids, weights)]: the message's tokens count 1, those of its mapped English words BRIDGE_WEIGHT."""
    own = bags(tok, messages, MESSAGE_LIMIT)
    extra = bags(tok, [" ".join(lexicon.english(m)) if lexicon else "" for m in messages], MESSAGE_LIMIT)
    return [damped([(i, 1.0) for i in a] + [(i, BRIDGE_WEIGHT) for i in b]) for a, b in zip(own, extra)]


def text_bags(tok, texts, limit=DOCUMENT_LIMIT):
    """[(ids, weights)] of plain texts."""
    return [damped([(i, 1.0) for i in ids]) for ids in bags(tok, texts, limit)]


def document_bags(tok, documents):
    """Two bag lists: parts A and B of every document (field dicts)."""
    return [text_bags(tok, texts) for texts in zip(*map(document_parts, documents))]


def vectors(table, weighted_bags):
    """Normalised sums, one row per bag; an empty bag is the zero vector."""
    out = np.zeros((len(weighted_bags), table.shape[1]), dtype=np.float32)
    for row, (ids, weights) in enumerate(weighted_bags):
        if ids:
            out[row] = np.asarray(weights, dtype=np.float32) @ table[ids]
    return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)


def scores(table, messages, documents):
    """messages × documents: the better cosine of the two parts."""
    m = vectors(table, messages)
    return np.maximum(*(m @ vectors(table, part).T for part in documents))
