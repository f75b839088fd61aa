"""Write the shipped files: static.bin, encoder.bin, vocab.txt (int8; the encoder's word table in four bits with --words i4).

    python export.py [--work work] [--out ../crates/sinew-weights] [--static WORK/static.npy] [--encoder WORK/encoder.pt]

`--encoder` may also be an exported file, which is then laid out anew. The layout is in README.md ("File formats"). `read` and `read_encoder` load the files back, dequantised:
every published figure is measured on what they return.
"""
import argparse
import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import torch

import minilm
from static_table import BRIDGE_WEIGHT, DOCUMENT_LIMIT, MESSAGE_LIMIT
from text import ENCODER_TEMPLATE, STATIC_TEMPLATE, VOCABULARY, WEIGHTS

STATIC_MAGIC, ENCODER_MAGIC, ALIGN = b"SNWSTAT1", b"SNWENC02", 64
POSITIONS = 128  # longest text the exported encoder reads
GROUP = 16  # columns of a four-bit matrix that share a scale


def quantise(x):
    """int8 rows and their f32 scales: x ≈ q * scale[:, None]."""
    scale = np.abs(x).max(1) / 127
    q = np.rint(x / np.maximum(scale, 1e-12)[:, None]).clip(-127, 127)
    return q.astype(np.int8), scale.astype(np.float32)


def quantise_half(x):
    """Four bits per value: (packed rows, shares of the row's scale per group, row scales).

    Each group of columns takes, of all scales that a byte can say, the one with the least squared error.
    """
    groups = x.reshape(len(x), -1, GROUP)
    peak = np.abs(groups).max(2)
    scale = (peak.max(1) / 7).astype(np.float32)
    row = np.maximum(scale, 1e-12)[:, None]
    best_error = np.full(peak.shape, np.inf)
    best_share, best_q = np.zeros(peak.shape, np.uint8), np.zeros(groups.shape, np.int8)
    for part in np.linspace(0.6, 1.0, 17):
        share = np.rint(255 * part * peak / (7 * row)).clip(1, 255)
        size = (share / 255 * row)[..., None]
        q = np.rint(groups / size).clip(-7, 7)
        error = ((q * size - groups) ** 2).sum(2)
        better = error < best_error
        best_error[better], best_share[better] = error[better], share[better]
        best_q[better] = q[better]
    q = best_q.reshape(x.shape).astype(np.uint8) & 15
    return q[:, ::2] | q[:, 1::2] << 4, best_share, scale


def halves(packed, shares, scale):
    """What `quantise_half` packed, in floats."""
    q = np.stack([packed & 15, packed >> 4], 2).reshape(len(packed), -1).astype(np.int8)
    q = np.where(q > 7, q - 16, q).astype(np.float32)
    sizes = shares.astype(np.float32) / 255 * scale[:, None]
    return q * np.repeat(sizes, GROUP, 1)


def write(path, magic, header, tensors):
    """Magic, u32 header length, JSON header padded with spaces to 64, tensors each aligned to 64."""
    blobs, listed, at = [], [], 0

    def place(array):
        nonlocal at
        raw = np.ascontiguousarray(array).tobytes()
        offset = at
        blobs.append(raw + b"\0" * (-len(raw) % ALIGN))
        at += len(blobs[-1])
        return offset, len(raw)

    for name, array, dtype in tensors:
        entry = {"name": name, "dtype": dtype, "shape": list(array.shape)}
        if dtype == "i8":
            q, scale = quantise(array)
            entry["offset"], entry["bytes"] = place(q)
            entry["scale_offset"], entry["scale_bytes"] = place(scale)
        elif dtype == "i4":
            packed, shares, scale = quantise_half(array)
            entry["offset"], entry["bytes"] = place(packed)
            entry["scale_offset"], entry["scale_bytes"] = place(scale)
            entry["share_offset"], entry["share_bytes"] = place(shares)
        else:
            entry["offset"], entry["bytes"] = place(array.astype("<f4"))
        listed.append(entry)
    body = b"".join(blobs)
    digest = hashlib.sha256(body).hexdigest()
    header = {**header, "id": f"{header['id']}-{digest[:12]}", "sha256": digest, "tensors": listed}
    text = json.dumps(header, ensure_ascii=True).encode()
    text += b" " * (-(len(magic) + 4 + len(text)) % ALIGN)
    Path(path).write_bytes(magic + len(text).to_bytes(4, "little") + text + body)
    print(path, Path(path).stat().st_size, "bytes", header["id"])


def read(path):
    """(header, {name: float32 array}) of an exported file."""
    data = Path(path).read_bytes()
    size = int.from_bytes(data[8:12], "little")
    header, base, out = json.loads(data[12:12 + size]), 12 + size, {}
    assert hashlib.sha256(data[base:]).hexdigest() == header["sha256"], "damaged file"
    for t in header["tensors"]:
        def part(name, dtype, shape):
            at = base + t[f"{name}offset"]
            return np.frombuffer(data[at:at + t[f"{name}bytes"]], dtype).reshape(shape)

        rows, columns = t["shape"][0], t["shape"][-1]
        if t["dtype"] == "i4":
            shares = part("share_", np.uint8, (rows, columns // GROUP))
            x = halves(part("", np.uint8, (rows, columns // 2)), shares, part("scale_", "<f4", rows))
        elif t["dtype"] == "i8":
            x = part("", np.int8, t["shape"]).astype(np.float32) * part("scale_", "<f4", rows)[:, None]
        else:
            x = part("", "<f4", t["shape"])
        out[t["name"]] = x
    return header, out


def read_encoder(path):
    """The exported encoder as a MiniLM with dequantised weights."""
    tensors = read(path)[1]
    model = minilm.MiniLM(positions=tensors["position.weight"].shape[0])
    model.load_state_dict({k: torch.from_numpy(v.copy()) for k, v in tensors.items()})
    return model


def export_static(source, out, date):
    table = np.load(source)
    header = {"id": "sinew-static", "date": date, "dims": table.shape[1], "vocab": table.shape[0],
              "pooling": "sum of rows (SIF folded in) x sqrt(token count in the text), L2-normalised; "
                         "[CLS], [SEP], [UNK] skipped",
              "bridge_weight": BRIDGE_WEIGHT, "max_message_tokens": MESSAGE_LIMIT,
              "max_document_tokens": DOCUMENT_LIMIT, "template": STATIC_TEMPLATE, "template_version": 1}
    write(out / "static.bin", STATIC_MAGIC, header, [("table", table, "i8")])


def export_encoder(source, out, date, words="i8"):
    """`words` is the type of the word table: i4 saves 5 MB and costs a little (see the card)."""
    if source.suffix == ".bin":
        state = read(source)[1]
    else:
        loaded = torch.load(source, weights_only=False)["model"]
        state = {name: value.float().numpy() for name, value in loaded.items()}
    # No step trains the table, so it is the published one, whatever packing left of it in `source`.
    state["word.weight"] = minilm.published().state_dict()["word.weight"].numpy()
    tensors = []
    for name, x in state.items():
        if name == "position.weight":
            x = x[:POSITIONS]
        if name == "word.weight":
            dtype = words
        else:
            dtype = "i8" if x.ndim == 2 and name != "position.weight" else "f32"
        tensors.append((name, x, dtype))
    header = {"id": "sinew-encoder", "date": date, "vocab": state["word.weight"].shape[0], "dims": minilm.HIDDEN,
              "hidden": minilm.HIDDEN, "layers": minilm.LAYERS, "heads": minilm.HEADS,
              "intermediate": minilm.INNER, "activation": "gelu (erf)", "layer_norm_eps": minilm.EPS,
              "max_tokens": POSITIONS, "max_message_tokens": minilm.MESSAGE_TOKENS,
              "max_document_tokens": minilm.DOCUMENT_TOKENS,
              "pooling": "mean over all tokens with [CLS] and [SEP], L2-normalised",
              "message": "'{message} | {mapped English words}' when the bridge lexicon maps any, else the message",
              "template": ENCODER_TEMPLATE, "template_version": 1}
    write(out / "encoder.bin", ENCODER_MAGIC, header, tensors)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("work"))
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--static", type=Path)
    parser.add_argument("--encoder", type=Path)
    parser.add_argument("--words", choices=("i8", "i4"), default="i8", help="the type of the word table; i4 is 5 MB less and a little worse")
    parser.add_argument("--only", choices=("static", "encoder"))
    parser.add_argument("--date", required=True, help="YYYY-MM-DD, recorded in the headers")
    args = parser.parse_args()
    if args.only != "encoder":
        export_static(args.static or args.work / "static.npy", args.out, args.date)
    if args.only != "static":
        export_encoder(args.encoder or args.work / "encoder.pt", args.out, args.date, args.words)
    shutil.copyfile(minilm.base_folder() / "vocab.txt", VOCABULARY)


if __name__ == "__main__":
    main()
