"""Write background.tsv: document frequencies of stemmed terms over the training skills.

    python background.py [--data ../shared/data/routing] [--out ../crates/sinew-route/data/background.tsv]

Only counts leave this step, no text. First line: `#documents<TAB>n`; then `term<TAB>df`, most
frequent first. Terms are alphanumeric, at least two characters, with a letter, df >= 4.
"""
import argparse
from collections import Counter
from pathlib import Path

from text import BACKGROUND, DATA, fields_of, rows, tokens

LIMIT = 8000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=BACKGROUND)
    args = parser.parse_args()
    total, frequency = 0, Counter()
    for row in rows(args.data / "train-skills.jsonl.gz"):
        fields = fields_of(row)
        frequency.update(set(tokens(" ".join(fields.values()))))
        total += 1
    kept = [(t, n) for t, n in frequency.items()
            if n >= 4 and 2 <= len(t) <= 24 and t.isalnum() and t.isascii() and not t.isdigit()]
    kept.sort(key=lambda item: (-item[1], item[0]))
    with open(args.out, "w", encoding="utf-8") as out:
        out.write(f"#documents\t{total}\n")
        out.writelines(f"{t}\t{n}\n" for t, n in kept[:LIMIT])
    print(f"{min(LIMIT, len(kept))} of {len(kept)} terms, {total} documents -> {args.out}")


if __name__ == "__main__":
    main()
