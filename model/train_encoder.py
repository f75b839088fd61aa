"""Fine-tune MiniLM-L6 on message → skill pairs.

    python train_encoder.py [--data ../shared/data/routing] [--work work] --steps 420

Each batch holds SKILLS skills with their messages (three each). Batches are grown from nearest
neighbours, so that most negatives are hard; a queue of recent document embeddings adds easy ones.
Documents closer to the right one than DUPLICATE may be right too and are masked. Some documents are shown
without their body (--bare), as in catalogs of one-liners. Word and position embeddings stay frozen, and with
--freeze N so do the first N layers, whose outputs are then computed once per text. Every step pulls the
weights a little towards the published ones. Checkpoints: WORK/encoder-<step>.pt; --resume continues from one.

Speed: a step is cut into chunks of texts of like length, which worker threads (one core each) take from
a queue, forward and later backward; so a busy core slows one chunk, not the step.
"""
import argparse
import random
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

import minilm
from text import (DATA, Lexicon, bridge_fields, bridged, encoder_document, fields_of,
                  is_validation, rows)

SKILLS, NEIGHBOURS, PICKED = 64, 8, 2
TEMPERATURE, DUPLICATE, QUEUE, PULL = 0.05, 0.88, 16, 0.001
WARM_UP, CHUNK_TOKENS, MESSAGE_TOKENS = 20, 1024, 64


def load(data):
    """Token ids of the training documents, of the same without body, and of each one's messages."""
    lexicon, tok = Lexicon(data / "lexicon"), minilm.tokenizer()
    skills = [r for r in rows(data / "train-skills.jsonl.gz") if not is_validation(r["id"])]
    index = {r["id"]: i for i, r in enumerate(skills)}
    fields = [bridge_fields(fields_of(r), lexicon) for r in skills]
    documents, short = [encoder_document(f) for f in fields], [encoder_document(f, 0) for f in fields]
    messages = [[] for _ in skills]
    for row in rows(data / "train-messages.jsonl.gz"):
        if row["skill"] in index:
            messages[index[row["skill"]]].append(bridged(row["message"], lexicon))
    flat = minilm.token_ids(tok, [m for ms in messages for m in ms], MESSAGE_TOKENS)
    flat = iter(flat)
    return (minilm.token_ids(tok, documents, minilm.DOCUMENT_TOKENS),
            minilm.token_ids(tok, short, minilm.DOCUMENT_TOKENS),
            [[next(flat) for _ in ms] for ms in messages])


def start_vectors(model, documents, work):
    """Document embeddings of the published model (cached: they do not change)."""
    path = work / "documents-start.npy"
    if not path.exists():
        np.save(path, minilm.embed_numpy(model, documents))
    return torch.from_numpy(np.load(path))


def epoch(similar, near, rng, size=SKILLS):
    """Batches of `size` skill indices that cover every skill once, grown along near neighbours."""
    free = set(range(len(near)))
    seeds = list(free)
    rng.shuffle(seeds)
    batches = []
    while free:
        batch = []
        while len(batch) < size and free:
            while seeds and seeds[-1] not in free:
                seeds.pop()
            batch.append(seeds.pop())
            free.discard(batch[-1])
            close = [j for j in near[batch[-1]] if j in free and similar[batch[-1], j] < DUPLICATE]
            for j in rng.sample(close, min(PICKED, len(close), size - len(batch))):
                batch.append(j)
                free.discard(j)
        batches.append(batch)
    if len(batches[-1]) < size // 2:
        batches.pop()
    rng.shuffle(batches)
    return batches


class Chunks:
    """Texts through the model in chunks on worker threads, forward and backward."""

    def __init__(self, model, depth, threads, half=False):
        """`half`: matrix products in bfloat16 (processors with AVX-512 BF16; the weights stay in floats)."""
        self.model, self.depth, self.cache, self.half = model, depth, {}, half
        self.pool = ThreadPoolExecutor(threads)

    def hidden(self, keys, ids, mask):
        """Outputs of the frozen layers, kept as half floats per text; a text of key None comes only once."""
        if self.depth == 0:
            return self.model.lower(ids, mask, 0)
        out = torch.zeros(*ids.shape, minilm.HIDDEN)
        missing = [row for row, k in enumerate(keys) if k not in self.cache]
        if missing:
            with torch.no_grad():
                out[missing] = self.model.lower(ids[missing], mask[missing], self.depth)
        for row in missing:
            if keys[row] is not None:
                self.cache[keys[row]] = out[row, :int(mask[row].sum())].half()
        for row in set(range(len(keys))) - set(missing):
            kept = self.cache[keys[row]]
            out[row, :len(kept)] = kept
        return out

    def forward(self, texts, tokens):
        """`texts`: [(key, ids)]. Embeddings as a leaf tensor; `backward` carries its gradient on."""
        order = sorted(range(len(texts)), key=lambda i: -len(texts[i][1]))
        cuts, cut, room = [], [], 0
        for i in order:  # longest first, about `tokens` tokens a chunk
            if cut and room < len(texts[i][1]):
                cuts.append(cut)
                cut = []
            if not cut:
                room = tokens
            cut.append(i)
            room -= len(texts[cut[0]][1])
        cuts.append(cut)

        def one(rows_):
            ids, mask = minilm.padded([texts[i][1] for i in rows_])
            with torch.autocast("cpu", torch.bfloat16, enabled=self.half):
                return self.model.upper(self.hidden([texts[i][0] for i in rows_], ids, mask), mask, self.depth).float()

        self.cuts, self.outputs = cuts, list(self.pool.map(one, cuts))
        leaf = torch.empty(len(texts), minilm.HIDDEN)
        for rows_, out in zip(cuts, self.outputs):
            leaf[rows_] = out.detach()
        return leaf.requires_grad_(True)

    def backward(self, gradient):
        list(self.pool.map(lambda pair: pair[1].backward(gradient[pair[0]]), zip(self.cuts, self.outputs)))
        self.outputs = None


def loss_of(msg, doc, owner, batch, similar, queue):
    """Both directions of the contrastive loss; `owner` is each message's row in the batch."""
    index = torch.tensor(batch)
    own = F.one_hot(owner, len(batch)).bool()
    twins = similar[index[owner]][:, index] >= DUPLICATE
    logits = (msg @ doc.T / TEMPERATURE).masked_fill(twins & ~own, -1e4)
    wide = [logits]
    if queue:
        old = torch.cat([v for v, _ in queue])
        old_index = torch.cat([i for _, i in queue])
        same = similar[index[owner]][:, old_index] >= DUPLICATE
        wide.append((msg @ old.T / TEMPERATURE).masked_fill(same, -1e4))
    forward = F.cross_entropy(torch.cat(wide, 1), owner)
    # a document against all messages: each of its own in turn, its other ones masked
    others = logits.T[owner].masked_fill(own.T[owner], -1e4)
    others = others.scatter(1, torch.arange(len(owner))[:, None], logits.gather(1, owner[:, None]))
    backward = F.cross_entropy(others, torch.arange(len(owner)))
    return (forward + backward) / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, default=Path("work"))
    parser.add_argument("--steps", type=int, default=420)
    parser.add_argument("--cooldown", type=int, default=160, help="last steps, lr falls to 0")
    parser.add_argument("--rate", type=float, default=5e-5)
    parser.add_argument("--save-every", type=int, default=50)
    parser.add_argument("--resume", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bare", type=float, default=0.4, help="share of documents shown without their body")
    parser.add_argument("--freeze", type=int, default=0, help="layers kept as they are at the start or at --resume")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    args.work.mkdir(parents=True, exist_ok=True)

    documents, short, messages = load(args.data)
    print(len(documents), "skills", sum(map(len, messages)), "messages", flush=True)
    model = minilm.published()
    vectors = start_vectors(model, documents, args.work)
    similar = (vectors @ vectors.T).half()
    near = similar.float().fill_diagonal_(-1).topk(NEIGHBOURS).indices.tolist()

    for frozen in (model.word, model.position):
        frozen.weight.requires_grad_(False)
    model.kind.requires_grad_(False)
    for frozen in [model.norm, *model.layers[:args.freeze]] if args.freeze else []:
        frozen.requires_grad_(False)
    trained = [p for p in model.parameters() if p.requires_grad]
    start = [p.detach().clone() for p in trained]
    chunks = Chunks(model, args.freeze, args.threads)
    optimizer = torch.optim.AdamW(trained, lr=args.rate, betas=(0.9, 0.98), weight_decay=0.0)
    step, spent = 0, 0.0
    if args.resume:
        saved = torch.load(args.resume, weights_only=False)
        model.load_state_dict(saved["model"])
        if len(saved["optimizer"]["state"]) == len(trained):
            optimizer.load_state_dict(saved["optimizer"])
        step, spent = saved["step"], saved["seconds"]

    queue, batches, clock, mean = deque(maxlen=QUEUE), [], time.time(), None
    rng = random.Random(args.seed + step)
    while step < args.steps:
        batches = batches or epoch(similar, near, rng)
        batch = batches.pop()
        rate = args.rate * min(1, (step + 1) / WARM_UP, (args.steps - step) / max(1, args.cooldown))
        for group in optimizer.param_groups:
            group["lr"] = rate
        owner = torch.tensor([row for row, i in enumerate(batch) for _ in messages[i]])
        texts = [((i, f"message {n}"), m) for i in batch for n, m in enumerate(messages[i])]
        bare = {i for i in batch if rng.random() < args.bare}
        texts += [((i, i in bare), (short if i in bare else documents)[i]) for i in batch]
        vectors = chunks.forward(texts, CHUNK_TOKENS)
        msg, doc = vectors[:len(owner)], vectors[len(owner):]
        loss = loss_of(msg, doc, owner, batch, similar, queue)
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        chunks.backward(vectors.grad)
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        with torch.no_grad():  # pull to the published weights, scaled with the learning rate
            for p, p0 in zip(trained, start):
                p.lerp_(p0, PULL * rate / args.rate)
        step += 1
        if step > WARM_UP:
            queue.append((doc.detach(), torch.tensor(batch)))
        mean = loss.item() if mean is None else 0.95 * mean + 0.05 * loss.item()
        if step % 5 == 0:
            print(f"step {step} loss {mean:.4f} lr {rate:.2e} {spent + time.time() - clock:.0f}s", flush=True)
        if step % args.save_every == 0 or step == args.steps:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step,
                        "seconds": spent + time.time() - clock}, args.work / f"encoder-{step}.pt")


if __name__ == "__main__":
    main()
