"""BM25F over skill fields: the lexical baseline that every model is judged beside."""
import math
from collections import Counter, defaultdict

import numpy as np

from text import GENERIC, stem, tokens

WEIGHTS = {"name": 3.0, "triggers": 2.5, "description": 2.5, "headings": 0.8, "body": 0.5}
LENGTH = {"name": 0.3, "triggers": 0.5, "description": 0.5, "headings": 0.6, "body": 0.9}
K1 = 3.0
BRIDGE_WEIGHT = 0.8
GENERIC_STEMS = frozenset(stem(word) for word in GENERIC)


def load_background(path):
    """(document count, {term: document frequency}) of background.tsv."""
    with open(path, encoding="utf-8") as lines:
        total = int(next(lines).split("\t")[1])
        return total, {t: int(n) for t, n in (line.rstrip("\n").split("\t") for line in lines)}


class Bm25f:
    def __init__(self, documents, background=None):
        """`documents`: a list of field dicts (see text.fields_of)."""
        self.count = len(documents)
        counted = [{f: Counter(tokens(d[f])) for f in WEIGHTS} for d in documents]
        mean = {f: max(1e-9, sum(sum(c[f].values()) for c in counted) / max(1, self.count))
                for f in WEIGHTS}
        postings = defaultdict(lambda: ([], []))
        for i, fields in enumerate(counted):
            weight = defaultdict(float)
            for f, counts in fields.items():
                norm = 1 - LENGTH[f] + LENGTH[f] * sum(counts.values()) / mean[f]
                for term, n in counts.items():
                    weight[term] += WEIGHTS[f] * n / norm
            for term, w in weight.items():
                ids, values = postings[term]
                ids.append(i)
                values.append(w / (K1 + w))
        extra_total, extra = background or (0, {})
        self.postings = {}
        for term, (ids, values) in postings.items():
            df, total = len(ids) + extra.get(term, 0), self.count + extra_total
            idf = math.log(1 + (total - df + 0.5) / (df + 0.5))
            self.postings[term] = (np.array(ids), idf * np.array(values, dtype=np.float32))

    def scores(self, message, bridge=()):
        """One score per document; `bridge` are mapped English words."""
        out = np.zeros(self.count, dtype=np.float32)
        wanted = Counter()
        for term in tokens(message):
            wanted[term] = max(wanted[term], 0.5 if term in GENERIC_STEMS else 1.0)
        for term in tokens(" ".join(bridge)):
            wanted[term] = max(wanted[term], BRIDGE_WEIGHT)
        for term, weight in wanted.items():
            if term in self.postings:
                ids, values = self.postings[term]
                out[ids] += weight * values
        return out
