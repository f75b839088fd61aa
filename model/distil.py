"""Distil a static table: MiniLM's vocabulary through MiniLM, PCA to 256, SIF weights.

    python distil.py [--data ../shared/data/routing] [--work work]

Writes WORK/static-start.npy (30,522 × 256, float32). SIF: row × a / (a + p), a = 1e-3, p the
token's share of the training skills' descriptions and body heads.
"""
import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import torch

import minilm
from static_table import bags
from text import DATA, document_parts, fields_of, is_validation, rows

DIMENSIONS, SIF = 256, 1e-3


def token_vectors(model, vocab, size=512):
    """Every token alone through the model: [CLS] token [SEP], mean-pooled without the ends."""
    out = []
    with torch.no_grad():
        for at in range(0, vocab, size):
            ids = torch.arange(at, min(vocab, at + size))
            ids = torch.stack([torch.full_like(ids, 101), ids, torch.full_like(ids, 102)], 1)
            out.append(model(ids, torch.ones_like(ids, dtype=torch.bool)).numpy())
    return np.concatenate(out)


def principal(x, dimensions):
    """Centred PCA projection, largest variance first."""
    x = x - x.mean(0)
    _, basis = np.linalg.eigh(x.T @ x)
    return (x @ basis[:, ::-1][:, :dimensions]).astype(np.float32)


def shares(data, tok, vocab):
    """Share of each token in the training skills' texts."""
    counts = Counter()
    skills = [fields_of(r) for r in rows(data / "train-skills.jsonl.gz") if not is_validation(r["id"])]
    for texts in zip(*map(document_parts, skills)):
        for ids in bags(tok, texts, 320):
            counts.update(ids)
    p = np.array([counts[i] for i in range(vocab)], dtype=np.float64)
    return p / p.sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, default=Path("work"))
    args = parser.parse_args()
    torch.set_num_threads(2)
    args.work.mkdir(parents=True, exist_ok=True)
    tok = minilm.tokenizer()
    vocab = tok.get_vocab_size()
    table = principal(token_vectors(minilm.published(), vocab), DIMENSIONS)
    p = shares(args.data, tok, vocab)
    table *= (SIF / (SIF + p))[:, None]
    np.save(args.work / "static-start.npy", table.astype(np.float32))
    print("static-start.npy", table.shape, "mean row norm", np.linalg.norm(table, axis=1).mean())


if __name__ == "__main__":
    main()
