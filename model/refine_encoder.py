"""Go on from a trained encoder: harder negatives, hard rows, noisy views, averaged weights.

    python refine_encoder.py --start ../crates/sinew-weights/encoder.bin --minutes 75 --freeze 2

What is new against train_encoder.py:
- Training documents outside the batch are negatives too, as they were when last seen (a bank of vectors), for
  --fresh steps: an older vector is one that the model has turned away from since, and the loss then falls by turning.
- Batches are grown along documents that look alike and along what the model confuses now: after every pass the
  bank's vectors say which wrong documents each message likes best. A document that beats the right one by more than
  DOUBT may be right too: it is not picked, and outside the batch it is not a negative.
- train-hard's messages take part; their `not` ids are negatives even where documents look alike, and the rest of
  their cluster counts neither way. Clusters in HELD_OUT are left out, for measuring.
- With --words, a share of the loss is that of the sum with BM25F (it did not help, see the card).
- Messages of up to 128 tokens, some in noisy views (noise.py), some without their mapped English words.
- Documents in several views: whole, without body, a passage of the body under the name (what a second vector of
  the body reads), the description with a sentence left out. --drop is the usual dropout, off in every earlier step.
- An exponential average of the weights is what checkpoints hold; OUT-now.pt has the last weights themselves.

No step has ever trained the word table, so it is the published one, whatever --start's packing left of it. Set OMP_NUM_THREADS=1. Checkpoints: WORK/refined-<step>.pt.
"""
import argparse
import math
import random
import re
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import evaluate
import minilm
from lexical import Bm25f, load_background
from noise import chatter_rows, noisy, wall
from text import (BACKGROUND, DATA, Lexicon, bridge_fields, bridged, encoder_document, fields_of,
                  is_validation, plain_body, rows, spoken)
from train_encoder import CHUNK_TOKENS, DUPLICATE, PULL, SKILLS, TEMPERATURE, Chunks, epoch

CONFUSED, ALIKE, MESSAGES = 3, 4, 3
DOUBT = 0.1  # a document that beats the right one by more may be right as well
HELD_OUT = 10  # one in so many clusters of hard rows is for measuring


class Message:
    """A training message of skill `owner`; `wrong` and `fine` are other skills that are or are not negatives."""

    def __init__(self, text, owner, hard=False, wrong=(), fine=()):
        self.text, self.owner, self.hard, self.wrong, self.fine = text, owner, hard, list(wrong), list(fine)


def clusters(hard):
    """{skill id: (number, ids)} of the clusters of confusable skills that the hard rows were written over."""
    of = {}
    for row in hard:
        ids = {row["skill"], *row["not"]}
        for other in list(ids):
            ids |= of.get(other, set())
        for one in ids:
            of[one] = ids
    numbers = {min(ids): n for n, ids in enumerate(sorted({id(s): s for s in of.values()}.values(), key=min))}
    return {one: (numbers[min(ids)], ids) for one, ids in of.items()}


def held_out(hard):
    """The hard rows that no training step sees."""
    of = clusters(hard)
    return [r for r in hard if of[r["skill"]][0] % HELD_OUT == 0]


def load(data):
    """(skills, field dicts, messages); the skills of the validation set and their messages are not among them."""
    lexicon = Lexicon(data / "lexicon")
    skills = [r for r in rows(data / "train-skills.jsonl.gz") if not is_validation(r["id"])]
    index = {r["id"]: i for i, r in enumerate(skills)}
    fields = [bridge_fields(fields_of(r), lexicon) for r in skills]
    messages = [Message(r["message"], index[r["skill"]]) for r in rows(data / "train-messages.jsonl.gz")
                if r["skill"] in index]
    hard = list(rows(data / "train-hard.jsonl.gz"))
    of = clusters(hard)
    for r in hard:
        number, ids = of[r["skill"]]
        if r["skill"] in index and number % HELD_OUT:
            wrong = [index[i] for i in r["not"] if i in index]
            fine = [index[i] for i in ids - {r["skill"], *r["not"]} if i in index]
            messages.append(Message(r["message"], index[r["skill"]], True, wrong, fine))
    return lexicon, skills, fields, messages


def lexical(fields, messages, lexicon, path):
    """z-scores of the root of BM25F, messages × documents, in half floats."""
    if not path.exists():
        index = Bm25f(fields, load_background(BACKGROUND))
        out = np.empty((len(messages), len(fields)), np.float16)
        for n, m in enumerate(messages):
            out[n] = evaluate.z(np.sqrt(index.scores(m.text, lexicon.english(m.text)))[None])[0]
        np.save(path, out)
    return torch.from_numpy(np.load(path))


def passage(fields, body, rng, words=70):
    """A passage of the body under the skill's name; None where there is no body to speak of."""
    if len(body) < 30:
        return None
    at = rng.randrange(max(1, len(body) - words + 1))
    return f"{spoken(fields['name'])}: {' '.join(body[at:at + words])}"


def shorter(fields, rng):
    """The document with one sentence of its description left out; None where there is one only."""
    sentences = re.split(r"(?<=[.;!?])\s+", fields["description"])
    if len(sentences) < 2:
        return None
    del sentences[rng.randrange(len(sentences))]
    return encoder_document({**fields, "description": " ".join(sentences)})


def embed_all(chunks, ids, limit=256):
    """Vectors of id lists on the worker threads, nothing kept for gradients."""
    out = torch.empty(len(ids), minilm.HIDDEN)
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    with torch.inference_mode():
        parts = [order[at:at + limit] for at in range(0, len(order), limit)]

        def one(part):
            with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=chunks.half):
                return minilm.embed(chunks.model, [ids[i] for i in part], 16)

        for part, got in zip(parts, chunks.pool.map(one, parts)):
            out[part] = got.float()
    return out.clone()


def confused(bank, seen, messages, masked, count):
    """For every skill, the wrong skills its messages like best, without those that may well be right."""
    best = [{} for _ in range(count)]
    for at in range(0, len(messages), 512):
        some = range(at, min(at + 512, len(messages)))
        cosines = seen[some] @ bank.T
        own = cosines[torch.arange(len(some)), [messages[n].owner for n in some]]
        top = cosines.masked_fill(masked(some) | (cosines > own[:, None] + DOUBT), -1).topk(CONFUSED)
        for n, mine, values, others in zip(some, own, top.values, top.indices.tolist()):
            found = best[messages[n].owner]
            for value, j in zip((values - mine).tolist(), others):
                found[j] = max(found.get(j, -1.0), value)
    return [sorted(found, key=lambda j: -found[j])[:CONFUSED] for found in best]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, default=Path("work"))
    parser.add_argument("--start", required=True, help="an exported file, a checkpoint, or 'published'")
    parser.add_argument("--out", default="refined", help="checkpoints are WORK/OUT-<step>.pt")
    parser.add_argument("--minutes", type=float, default=75)
    parser.add_argument("--cooldown", type=float, default=0.4, help="last share of the time, lr falls to a tenth")
    parser.add_argument("--rate", type=float, default=4e-5)
    parser.add_argument("--freeze", type=int, default=2)
    parser.add_argument("--bare", type=float, default=0.3, help="share of documents shown without their body")
    parser.add_argument("--passage", type=float, default=0.12, help="share of documents shown as a passage of their body")
    parser.add_argument("--shorter", type=float, default=0.12, help="share of documents with a sentence left out")
    parser.add_argument("--noisy", type=float, default=0.2, help="share of plain messages in a noisy view")
    parser.add_argument("--wall", type=float, default=0.1, help="share of plain messages inside a wall of chatter")
    parser.add_argument("--drop", type=float, default=0.1, help="dropout")
    parser.add_argument("--half", action="store_true", help="matrix products in bfloat16")
    parser.add_argument("--plain", type=float, default=0.25, help="share of foreign messages without mapped words")
    parser.add_argument("--words", type=float, default=0.0, help="share of the loss of the sum with BM25F")
    parser.add_argument("--average", type=float, default=0.99)
    parser.add_argument("--save-every", type=int, default=50)
    parser.add_argument("--fresh", type=int, default=16, help="steps for which a vector of the bank is a negative")
    parser.add_argument("--skills", type=int, default=SKILLS, help="skills in a batch")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    args.work.mkdir(parents=True, exist_ok=True)

    lexicon, skills, fields, messages = load(args.data)
    tok = minilm.tokenizer()
    chatter = chatter_rows(list(rows(args.data / "train-none.jsonl")))
    bodies = [plain_body(f["body"], 500).split() for f in fields]
    documents = minilm.token_ids(tok, [encoder_document(f) for f in fields], minilm.DOCUMENT_TOKENS)
    short = minilm.token_ids(tok, [encoder_document(f, 0) for f in fields], minilm.DOCUMENT_TOKENS)
    text_ids = minilm.token_ids(tok, [bridged(m.text, lexicon) for m in messages], minilm.MESSAGE_TOKENS)
    of_skill = [[] for _ in skills]
    for n, m in enumerate(messages):
        of_skill[m.owner].append(n)
    print(len(skills), "skills", len(messages), "messages", sum(m.hard for m in messages), "hard", flush=True)
    words = lexical(fields, messages, lexicon, args.work / "lexical-train.npy") if args.words else None

    published, model = minilm.published(), evaluate.load_encoder(args.start)
    model.word.load_state_dict(published.word.state_dict())
    near = args.work / "documents-start.npy"
    if not near.exists():
        np.save(near, minilm.embed_numpy(published, documents))
    vectors = torch.from_numpy(np.load(near))
    similar = (vectors @ vectors.T).half()

    alike = similar.float().masked_fill(similar >= DUPLICATE, -1).topk(ALIKE).indices.tolist()
    mates = [set() for _ in skills]
    for m in messages:
        mates[m.owner].update(m.wrong)

    def masked(some):
        """Documents that are no negatives of these messages: their own, twins of it, fine ones."""
        out = similar[[messages[n].owner for n in some]] >= DUPLICATE
        for row, n in enumerate(some):
            out[row, messages[n].wrong] = False
            out[row, messages[n].fine] = True
            out[row, messages[n].owner] = True
        return out

    for frozen in (model.word, model.position):
        frozen.weight.requires_grad_(False)
    model.kind.requires_grad_(False)
    for frozen in [model.norm, *model.layers[:args.freeze]] if args.freeze else []:
        frozen.requires_grad_(False)
    names = [name for name, p in model.named_parameters() if p.requires_grad]
    trained = [p for p in model.parameters() if p.requires_grad]
    pull_to = [dict(published.named_parameters())[name].detach() for name in names]
    mean_weights = [p.detach().clone() for p in trained]
    optimizer = torch.optim.AdamW(trained, lr=args.rate, betas=(0.9, 0.98), weight_decay=0.0)
    chunks, rng, clock = Chunks(model, args.freeze, args.threads, args.half), random.Random(args.seed), time.time()
    bank, seen = embed_all(chunks, documents), embed_all(chunks, text_ids)
    print(f"start vectors {time.time() - clock:.0f}s", flush=True)

    def view(n):
        """(cache key, token ids) of a message as it is shown this time."""
        m, luck = messages[n], rng.random()
        if not m.hard and luck < args.noisy + args.wall:
            text = noisy(m.text, chatter, rng) if luck < args.noisy else wall(m.text, chatter, rng)
            return None, minilm.token_ids(tok, [bridged(text, lexicon)], minilm.MESSAGE_TOKENS)[0]
        if rng.random() < args.plain and lexicon.english(m.text):
            return None, minilm.token_ids(tok, [m.text], minilm.MESSAGE_TOKENS)[0]
        return ("message", n), text_ids[n]

    def document(i):
        """(cache key, token ids, whole) of a document as it is shown this time."""
        luck = rng.random()
        if luck < args.bare:
            return (i, True), short[i], False
        luck -= args.bare
        text = None
        if luck < args.passage:
            text = passage(fields[i], bodies[i], rng)
        elif luck < args.passage + args.shorter:
            text = shorter(fields[i], rng)
        if text:
            return None, minilm.token_ids(tok, [text], minilm.DOCUMENT_TOKENS)[0], False
        return (i, False), documents[i], True

    def save(step):
        averaged = dict(model.state_dict())
        averaged.update(zip(names, (w.clone() for w in mean_weights)))
        torch.save({"model": averaged, "step": step, "seconds": time.time() - clock},
                   args.work / f"{args.out}-{step}.pt")
        torch.save({"model": model.state_dict(), "step": step}, args.work / f"{args.out}-now.pt")

    minilm.Layer.drop = args.drop
    step, batches, turn, clock = 0, [], 0, time.time()
    touched = torch.zeros(len(skills))  # the step of each vector of the bank
    losses = np.zeros(3)
    while (part := (time.time() - clock) / (60 * args.minutes)) < 1:
        if not batches:
            close = confused(bank, seen, messages, masked, len(skills))
            close = [list(dict.fromkeys([*mates[i], *alike[i], *close[i]])) for i in range(len(skills))]
            batches, turn = epoch(similar.float().masked_fill(similar >= DUPLICATE, 0.0), close, rng, args.skills), turn + 1
        batch = batches.pop()
        rate = args.rate * min(1, (step + 1) / 20, max(0.1, (1 - part) / args.cooldown))
        for group in optimizer.param_groups:
            group["lr"] = rate
        chosen = []
        for i in batch:
            plain = [n for n in of_skill[i] if not messages[n].hard]
            hard = [n for n in of_skill[i] if messages[n].hard]
            chosen += rng.sample(plain, min(MESSAGES, len(plain))) + rng.sample(hard, min(2, len(hard)))
        views = [view(n) for n in chosen]
        shown = [document(i) for i in batch]
        texts = views + [(key, ids) for key, ids, _ in shown]
        out = chunks.forward(texts, CHUNK_TOKENS)
        msg, doc = out[:len(chosen)], out[len(chosen):]

        row_of = {i: row for row, i in enumerate(batch)}
        owner = torch.tensor([row_of[messages[n].owner] for n in chosen])
        hidden = masked(chosen)
        own = F.one_hot(owner, len(batch)).bool()
        index = torch.tensor(batch)
        cosines = torch.cat([msg @ doc.T, msg @ bank.T], 1) / TEMPERATURE
        away = torch.cat([hidden[:, index] & ~own, hidden.index_fill(1, index, True)], 1)
        with torch.no_grad():
            doubt = cosines > cosines.gather(1, owner[:, None]) + DOUBT / TEMPERATURE
            doubt[:, :len(batch)] = False
            for row, n in enumerate(chosen):
                doubt[row, [len(batch) + j for j in messages[n].wrong]] = False
        away |= doubt
        away[:, len(batch):] |= touched < step - args.fresh
        alone = F.cross_entropy(cosines.masked_fill(away, -1e4), owner)
        if args.words:
            said = words[chosen].float()
            said = torch.cat([said[:, index], said], 1)
            summed = F.cross_entropy((cosines + said).masked_fill(away, -1e4), owner)
        else:
            summed = alone
        # a document against all messages: each of its own in turn, its other ones masked
        logits = cosines[:, :len(batch)].masked_fill(away[:, :len(batch)], -1e4)
        others = logits.T[owner].masked_fill(own.T[owner], -1e4)
        others = others.scatter(1, torch.arange(len(owner))[:, None], logits.gather(1, owner[:, None]))
        back = F.cross_entropy(others, torch.arange(len(owner)))
        loss = ((1 - args.words) * alone + args.words * summed + back) / 2
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        chunks.backward(out.grad)
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        step += 1
        with torch.no_grad():
            for p, p0, average in zip(trained, pull_to, mean_weights):
                p.lerp_(p0, PULL * rate / args.rate)
                average.lerp_(p, 1 - min(args.average, (1 + step) / (10 + step)))
            full = [row for row, (_, _, whole) in enumerate(shown) if whole]
            bank[[batch[row] for row in full]] = doc.detach()[full]
            touched[[batch[row] for row in full]] = step
            seen[chosen] = msg.detach()
        now = np.array([alone.item(), summed.item(), back.item()])
        losses = now if step == 1 else losses + 0.05 * (now - losses)
        if not math.isfinite(now.sum()):
            raise SystemExit("the loss is not a number")
        if step % 10 == 0:
            print(f"step {step} pass {turn} alone {losses[0]:.3f} sum {losses[1]:.3f} back {losses[2]:.3f} "
                  f"lr {rate:.1e} {time.time() - clock:.0f}s", flush=True)
        if step % args.save_every == 0:
            save(step)
    save(step)


if __name__ == "__main__":
    main()
