"""Measure BM25F, static table, encoder, their pairs and all three.

    python evaluate.py [--data ../shared/data/routing] [--static FILE] [--encoder FILE]

Sets: dev (queries-dev over skills.jsonl.gz), validation (training messages whose skill id begins
with 0 or 1, over those skills), trigger (authors' should-trigger messages over the 35 trigger skills)
and trigger+dev (the same over 35 + 1,864). Figures are hit@1 / hit@5 / NDCG@10 in percent; a hit is in
`expected` or `also`; NDCG counts the best-ranked right skill. A fusion is the weighted sum of per-query
z-scores over the whole pool, BM25F's after a square root. For trigger, AUC says how often a should-trigger message scores its skill
higher than a should-not-trigger message scores its own. FILE may be a .npy / .pt of training or an
exported .bin.
"""
import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import torch

import minilm
import static_table
from lexical import Bm25f, load_background
from text import (BACKGROUND, CRATES, DATA, Lexicon, bridge_fields, bridged, encoder_document, encoder_passage,
                  fields_of, guess_language, is_validation, rows)

SYSTEMS = {"BM25F": (1, 0, 0), "static": (0, 1, 0), "encoder": (0, 0, 1),
           "BM25F + static (1:1)": (1, 1, 0), "BM25F + static (1:1.5)": (1, 1.5, 0), "BM25F + static (1:2)": (1, 2, 0),
           "BM25F + encoder (1:1)": (1, 0, 1), "BM25F + encoder (1:2)": (1, 0, 2),
           "static + encoder (1:1)": (0, 1, 1), "static + encoder (1:2)": (0, 1, 2),
           "all (1:1:1)": (1, 1, 1), "all (1:1:2)": (1, 1, 2), "all (1:1.5:2)": (1, 1.5, 2), "all (1:1.5:3)": (1, 1.5, 3)}


class Set:
    """Messages over a pool of documents; `right[i]` holds the pool indices that count as hits."""

    def __init__(self, name, skills, messages, wanted, lexicon):
        self.name, self.messages, self.lexicon = name, messages, lexicon
        self.documents = [bridge_fields(fields_of(s), lexicon) for s in skills]
        index = {s["id"]: i for i, s in enumerate(skills)}
        self.right = [[index[w] for w in ws if w in index] for ws in wanted]


def corpus_noisy(documents, ids, lexicon):
    """Our own long noisy messages, over the skills of dev."""
    asked = list(rows(CRATES / "sinew-route/tests/corpus/noisy.jsonl"))
    s = Set("noisy", [], [q["query"] for q in asked], [], lexicon)
    s.documents, index = documents, {one: at for at, one in enumerate(ids)}
    s.right = [[index[w] for w in q["expected"] + q["also"] if w in index] for q in asked]
    return s


def hard_rows(data, lexicon):
    """The hard rows that refine_encoder.py leaves out, over the skills of their clusters and of validation."""
    from refine_encoder import clusters, held_out
    hard = list(rows(data / "train-hard.jsonl.gz"))
    of, left_out = clusters(hard), held_out(hard)
    ids = {one for r in left_out for one in of[r["skill"]][1]}
    skills = [s for s in rows(data / "train-skills.jsonl.gz") if is_validation(s["id"]) or s["id"] in ids]
    wanted = [[one for one in of[r["skill"]][1] if one not in r["not"]] for r in left_out]
    return Set("hard", skills, [r["message"] for r in left_out], wanted, lexicon)


def load_sets(data, lexicon):
    dev_skills = list(rows(data.parent / "skills.jsonl.gz"))
    dev = [q for q in rows(data / "queries-dev.jsonl") if q["kind"] != "none"]
    val_skills = [s for s in rows(data / "train-skills.jsonl.gz") if is_validation(s["id"])]
    val = [m for m in rows(data / "train-messages.jsonl.gz") if is_validation(m["skill"])]
    trig_skills = list(rows(data / "trigger-skills.jsonl"))
    trig = list(rows(data / "trigger-queries-dev.jsonl"))
    trig_args = ([t["query"] for t in trig], [[t["skill"]] for t in trig], lexicon)
    sets = [Set("dev", dev_skills, [q["query"] for q in dev],
                [q["expected"] + q["also"] for q in dev], lexicon),
            Set("validation", val_skills, [m["message"] for m in val], [[m["skill"]] for m in val], lexicon),
            Set("trigger", trig_skills, *trig_args),
            Set("trigger+dev", trig_skills + dev_skills, *trig_args)]
    sets += [corpus_noisy(sets[0].documents, [one["id"] for one in dev_skills], lexicon), hard_rows(data, lexicon)]
    for s in sets[2:4]:
        s.positive = np.array([t["should_trigger"] for t in trig])
    return sets


# ---------------------------------------------------------------- signals

def lexical_scores(s, background, cache):
    key = hashlib.sha256(json.dumps([s.name, s.messages, [sorted(d.items()) for d in s.documents],
                                     bool(s.lexicon), background is not None,
                                     Path(__file__).with_name("lexical.py").read_text(),
                                     Path(__file__).with_name("text.py").read_text()]).encode()).hexdigest()[:16]
    path = cache / f"lexical-{key}.npy"
    if not path.exists():
        index = Bm25f(s.documents, background)
        np.save(path, np.stack([index.scores(m, s.lexicon.english(m) if s.lexicon else ()) for m in s.messages]))
    return np.sqrt(np.load(path))  # the root tames the long tail of BM25 before the z-score


def static_scores(s, table, tok):
    return static_table.scores(table, static_table.message_bags(tok, s.messages, s.lexicon),
                               static_table.document_bags(tok, s.documents))


def encoder_scores(s, model, tok, passage=0.0, message_tokens=minilm.MESSAGE_TOKENS,
                   document_tokens=minilm.DOCUMENT_TOKENS):
    docs = minilm.embed_numpy(model, minilm.token_ids(tok, [encoder_document(d) for d in s.documents], document_tokens))
    behind = {at: text for at, d in enumerate(s.documents) if (text := encoder_passage(d))}
    if passage and behind:
        lean = minilm.embed_numpy(model, minilm.token_ids(tok, list(behind.values()), document_tokens))
        docs[list(behind)] += passage * lean
        docs /= np.linalg.norm(docs, axis=1, keepdims=True)
    msgs = minilm.embed_numpy(model, minilm.token_ids(tok, [bridged(m, s.lexicon) for m in s.messages], message_tokens))
    return msgs @ docs.T


def cached(path, compute):
    """`compute()` once; its array is kept at `path`."""
    if not path.exists():
        np.save(path, compute())
    return np.load(path)


def load_static(path):
    if Path(path).suffix == ".npy":
        return np.load(path)
    from export import read
    return read(path)[1]["table"]


def load_encoder(path):
    if str(path) == "published":
        return minilm.published()
    if Path(path).suffix == ".pt":
        saved = torch.load(path, weights_only=False)
        model = minilm.MiniLM(positions=len(saved["model"]["position.weight"]))
        model.load_state_dict(saved["model"])
        return model
    from export import read_encoder
    return read_encoder(path)


# ---------------------------------------------------------------- figures

def z(scores):
    return (scores - scores.mean(1, keepdims=True)) / np.maximum(scores.std(1, keepdims=True), 1e-6)


def fuse(signals, weights):
    return sum(w * z(s) for s, w in zip(signals, weights) if w)


def ranks(scores, right):
    """1-based rank of the best right document per message (ties count against it)."""
    out = []
    for row, good in zip(scores, right):
        best = row[good].max()
        bad = np.delete(row, good)
        out.append(1 + int((bad >= best).sum()))
    return np.array(out)


def figures(r):
    return 100 * (r == 1).mean(), 100 * (r <= 5).mean(), 100 * np.where(r <= 10, 1 / np.log2(r + 1), 0).mean()


def interval(r, column, rounds=2000, seed=1):
    """95 % bootstrap interval of one figure."""
    rng = np.random.default_rng(seed)
    draws = [figures(r[rng.integers(0, len(r), len(r))])[column] for _ in range(rounds)]
    return np.percentile(draws, [2.5, 97.5])


def auc(scores, s):
    own = np.array([row[good[0]] for row, good in zip(scores, s.right)])
    yes, no = own[s.positive], own[~s.positive]
    return (yes[:, None] > no[None, :]).mean() + 0.5 * (yes[:, None] == no[None, :]).mean()


def measure(s, signals, weights):
    """(hit@1, hit@5, NDCG@10), AUC or None, ranks."""
    scores = fuse(signals, weights)
    keep = getattr(s, "positive", np.ones(len(s.messages), bool))
    r = ranks(scores[keep], [g for g, k in zip(s.right, keep) if k])
    return figures(r), (auc(scores, s) if hasattr(s, "positive") else None), r


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, default=Path("work"))
    parser.add_argument("--static", type=Path)
    parser.add_argument("--encoder", help="a file, or 'published'")
    parser.add_argument("--background", type=Path, default=BACKGROUND)
    parser.add_argument("--sets", default="dev,validation,trigger,trigger+dev", help="also: noisy, hard")
    parser.add_argument("--passage", type=float, default=0.0, help="share that the next words of a body have in a document's vector")
    parser.add_argument("--message-tokens", type=int, default=minilm.MESSAGE_TOKENS)
    parser.add_argument("--no-lexicon", action="store_true")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(2)
    args.work.mkdir(parents=True, exist_ok=True)
    tok, lexicon = minilm.tokenizer(), None if args.no_lexicon else Lexicon(args.data / "lexicon")
    background = load_background(args.background) if args.background.exists() else None
    table = load_static(args.static) if args.static else None
    model = load_encoder(args.encoder) if args.encoder else None
    model_key = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())
                               if model else b"").hexdigest()[:12]
    report = {}
    for s in load_sets(args.data, lexicon):
        if s.name not in args.sets.split(","):
            continue
        signals = [lexical_scores(s, background, args.work),
                   static_scores(s, table, tok) if table is not None else None,
                   cached(args.work / f"encoder-scores-{model_key}-{s.name}{'-plain' if args.no_lexicon else ''}"
                          f"-{args.passage}-{args.message_tokens}.npy",
                          lambda: encoder_scores(s, model, tok, args.passage, args.message_tokens)) if model is not None else None]
        foreign = np.array([guess_language(m) != "en" for m in s.messages])
        print(f"\n{s.name}: {len(s.messages)} messages, {len(s.documents)} skills")
        for name, weights in SYSTEMS.items():
            if any(w and sig is None for w, sig in zip(weights, signals)):
                continue
            f, area, r = measure(s, signals, weights)
            line = f"  {name:26} {f[0]:5.1f} / {f[1]:5.1f} / {f[2]:5.1f}"
            low, high = interval(r, 0)
            line += f"   hit@1 [{low:.1f}, {high:.1f}]"
            if area is not None:
                line += f"   AUC {area:.3f}"
            elif s.name == "validation":
                g = figures(r[foreign])
                line += f"   not English ({foreign.sum()}): {g[0]:.1f} / {g[1]:.1f} / {g[2]:.1f}"
            print(line, flush=True)
            report.setdefault(s.name, {})[name] = {"hit@1": f[0], "hit@5": f[1], "ndcg@10": f[2],
                                                   "hit@1_95": [low, high], "auc": area}
    if args.json:
        args.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
