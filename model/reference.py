"""Write reference.json: texts with the token ids and vectors a runtime must reproduce.

    python reference.py [--static static.bin] [--encoder encoder.bin] [--out reference.json]

Vectors come from the quantised files. `ids` are with [CLS] and [SEP], cut to 64; `static_ids` and
`static_weights` are the distinct tokens that enter the static sum (mapped words included). The encoder
reads `encoder_text`. The texts are ours.
"""
import argparse
import json
from pathlib import Path

import numpy as np
import torch

import minilm
import static_table
from export import read, read_encoder
from text import REFERENCE, WEIGHTS, bridged

# (text, mapped English words given by the caller; none means no bridge)
TEXTS = [
    ("Can you schedule reminders?", ""),
    ("something is wrong with my session, can you diagnose it?", ""),
    ("convert these pictures to smaller files", ""),
    ("scheduleReminder set_reminder set-reminder k8s 3d", ""),
    ("Café naïve façade — résumé über Ångström", ""),
    ("don't use C++17's std::variant<int, char*> here!!! (see #42, v2.0.1-rc.1)", ""),
    ("wandle diese Bilder in kleinere Dateien um", "convert images smaller files"),
    ("convierte estas imágenes en archivos más pequeños", "convert images files small"),
    ("convertis ces images en fichiers plus petits", "convert images files small"),
    ("converta estas imagens em arquivos menores", "convert images files smaller"),
    ("converti queste immagini in file più piccoli", "convert images small"),
    ("преобразуй эти картинки в файлы поменьше", "convert pictures images files"),
    ("把这些图片转换成更小的文件", "image picture convert file"),
    ("これらの画像を小さいファイルに変換して", "image file convert small"),
    ("이 사진들을 더 작은 파일로 변환해 줘", "photo file convert small"),
    ("🚀 deploy to prod 🎉", ""),
    ("ﬁle ① ＦＵＬＬＷＩＤＴＨ", ""),
    ("https://example.org/a?b=c&d=e user@example.org", ""),
    ("tab\tand\nnew line\u00a0and\u200bzero width", ""),
    ("supercalifragilisticexpialidocious antidisestablishmentarianism", ""),
    ("The quarterly report is due on Friday and I still have to collect the figures from four regional "
     "spreadsheets, put them into one table, draw a chart of the trend over the last eight quarters, write "
     "two paragraphs about what changed, check every number against the ledger, and send the whole thing "
     "as a PDF to the finance team before noon; where should I begin and what can you take over?", ""),
    ("image tools: Shrink, crop and convert pictures. Use when someone wants smaller photos.", ""),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--static", type=Path, default=WEIGHTS / "static.bin")
    parser.add_argument("--encoder", type=Path, default=WEIGHTS / "encoder.bin")
    parser.add_argument("--out", type=Path, default=REFERENCE)
    args = parser.parse_args()
    torch.set_num_threads(1)
    tok = minilm.tokenizer()
    static_header, static = read(args.static)
    encoder_header, model = read(args.encoder)[0], read_encoder(args.encoder)

    class Given:
        def __init__(self, words):
            self.words = words.split()

        def english(self, _):
            return self.words

    rows = []
    for text, words in TEXTS:
        given = Given(words)
        (ids, weights), = static_table.message_bags(tok, [text], given)
        vector = np.asarray(weights, np.float32) @ static["table"][ids] if ids else np.zeros(256, np.float32)
        norm = float(np.linalg.norm(vector))
        encoder_text = bridged(text, given)
        encoder_ids = minilm.token_ids(tok, [encoder_text], minilm.MESSAGE_TOKENS)
        rows.append({"text": text, "bridge": given.words, "ids": minilm.token_ids(tok, [text], minilm.MESSAGE_TOKENS)[0],
                     "static_ids": ids, "static_weights": [round(w, 7) for w in weights], "static_norm": norm,
                     "static_first8": [float(x) for x in (vector / max(norm, 1e-9))[:8]],
                     "encoder_text": encoder_text, "encoder_ids": encoder_ids[0],
                     "encoder": [float(f"{x:.7g}") for x in minilm.embed_numpy(model, encoder_ids)[0]]})
    out = {"static": static_header["id"], "encoder": encoder_header["id"],
           "note": "static_norm is the length before normalising; static_first8 after. Encoder in f32 with "
                   "dequantised weights: allow 1e-4 for f32 kernels, cosine >= 0.995 for int8 activations.",
           "texts": rows}
    args.out.write_text(json.dumps(out, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(len(rows), "texts ->", args.out)


if __name__ == "__main__":
    main()
