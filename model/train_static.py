"""Fine-tune the static table on message → skill pairs (in-batch contrastive).

    python train_static.py [--data ../shared/data/routing] [--work work]

Reads WORK/static-start.npy, writes WORK/static.npy. A document scores with the better of its two
parts, as at run time. Tokens are dropped at random against over-fitting; the pull to the start table is
scaled with the learning rate. Every EVERY steps the validation messages are measured.
"""
import argparse
import random
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import minilm
import static_table
from evaluate import Set, figures, fuse, lexical_scores, ranks
from lexical import load_background
from mine import pairs
from text import BACKGROUND, DATA, Lexicon, bridge_fields, fields_of, is_validation, rows

BATCH, DUPLICATE = 1024, 0.88


class Bags:
    """Token bags that can be embedded in batches, with tokens dropped at random."""

    def __init__(self, weighted, seed):
        self.ids = [np.array(i, dtype=np.int64) for i, _ in weighted]
        self.weights = [np.array(w, dtype=np.float32) for _, w in weighted]
        self.rng = np.random.default_rng(seed)

    def embed(self, table, rows_, drop):
        ids, weights, offsets, at = [], [], [], 0
        for r in rows_:
            keep = self.rng.random(len(self.ids[r])) >= drop
            ids.append(self.ids[r][keep])
            weights.append(self.weights[r][keep])
            offsets.append(at)
            at += len(ids[-1])
        out = F.embedding_bag(torch.from_numpy(np.concatenate(ids)), table, torch.tensor(offsets), mode="sum",
                              per_sample_weights=torch.from_numpy(np.concatenate(weights)))
        return F.normalize(out, dim=1, eps=1e-6)


def both_ways(logits, twins, temperature):
    """Contrastive loss of a square logit matrix, near-duplicates masked."""
    logits = (logits / temperature).masked_fill(twins, -1e4)
    target = torch.arange(len(logits))
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, default=Path("work"))
    parser.add_argument("--out", default="static.npy")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--every", type=int, default=75)
    parser.add_argument("--rate", type=float, default=0.006)
    parser.add_argument("--pull", type=float, default=2e-3)
    parser.add_argument("--temperature", type=float, default=0.05)
    parser.add_argument("--mined", type=float, default=0.5, help="weight of the mined pairs")
    parser.add_argument("--drop", type=float, nargs=3, default=(0.1, 0.15, 0.5),
                        help="share of tokens dropped: messages, part A, part B")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)

    lexicon, tok = Lexicon(args.data / "lexicon"), minilm.tokenizer()
    skills = list(rows(args.data / "train-skills.jsonl.gz"))
    train = [s for s in skills if not is_validation(s["id"])]
    index = {s["id"]: i for i, s in enumerate(train)}
    fields = [bridge_fields(fields_of(s), lexicon) for s in train]
    rows_ = list(rows(args.data / "train-messages.jsonl.gz"))
    mine_rows = [m for m in rows_ if m["skill"] in index]
    owner = np.array([index[m["skill"]] for m in mine_rows])
    messages = Bags(static_table.message_bags(tok, [m["message"] for m in mine_rows], lexicon), args.seed)
    part_a, part_b = (Bags(p, args.seed + 1) for p in static_table.document_bags(tok, fields))
    mined = [(i, q, d) for i, f in enumerate(fields) for q, d in pairs(f)]
    mined_owner = np.array([i for i, _, _ in mined])
    mined_q = Bags(static_table.text_bags(tok, [q for _, q, _ in mined]), 3)
    mined_d = Bags(static_table.text_bags(tok, [d for _, _, d in mined]), 4)
    print(len(mine_rows), "messages,", len(mined), "mined pairs", flush=True)

    by_skill, mined_by_skill = {}, {}
    for k, o in enumerate(owner):
        by_skill.setdefault(o, []).append(k)
    for k, o in enumerate(mined_owner):
        mined_by_skill.setdefault(o, []).append(k)
    near = torch.from_numpy(np.load(args.work / "documents-start.npy"))  # same order as `train`
    assert len(near) == len(train)

    val_messages = [m for m in rows_ if is_validation(m["skill"])]
    val = Set("validation", [s for s in skills if is_validation(s["id"])],
              [m["message"] for m in val_messages], [[m["skill"]] for m in val_messages], lexicon)
    lexical = lexical_scores(val, load_background(BACKGROUND) if BACKGROUND.exists() else None, args.work)
    val_bags = (static_table.message_bags(tok, val.messages, lexicon), static_table.document_bags(tok, val.documents))

    start = torch.from_numpy(np.load(args.work / "static-start.npy"))
    table = start.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([table], lr=args.rate, betas=(0.9, 0.99))
    clock = time.time()

    def masked(chosen):
        twins = near[chosen] @ near[chosen].T >= DUPLICATE
        return twins.fill_diagonal_(False)

    for step in range(args.steps + 1):
        if step % args.every == 0 or step == args.steps:
            s = static_table.scores(table.detach().numpy(), *val_bags)
            alone, fused = (figures(ranks(x, val.right)) for x in (s, fuse((lexical, s), (1, 1.5))))
            print(f"step {step} {time.time() - clock:.0f}s  validation alone {alone[0]:.1f}/{alone[1]:.1f}/{alone[2]:.1f}"
                  f"  with BM25F {fused[0]:.1f}/{fused[1]:.1f}/{fused[2]:.1f}", flush=True)
            if step == args.steps:
                break
        rate = args.rate * (1 - step / args.steps)
        optimizer.param_groups[0]["lr"] = rate
        chosen = rng.sample(list(by_skill), BATCH)
        picks = [rng.choice(by_skill[i]) for i in chosen]
        m = messages.embed(table, picks, args.drop[0])
        a, b = part_a.embed(table, chosen, args.drop[1]), part_b.embed(table, chosen, args.drop[2])
        loss = both_ways(torch.maximum(m @ a.T, m @ b.T), masked(chosen), args.temperature)
        if args.mined:
            chosen = rng.sample(list(mined_by_skill), BATCH)
            picks = [rng.choice(mined_by_skill[i]) for i in chosen]
            q, d = mined_q.embed(table, picks, args.drop[0]), mined_d.embed(table, picks, args.drop[1])
            loss = loss + args.mined * both_ways(q @ d.T, masked(chosen), args.temperature)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            table.lerp_(start, args.pull * rate / args.rate)
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)
    np.save(args.work / args.out, table.detach().numpy())


if __name__ == "__main__":
    main()
