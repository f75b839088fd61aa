"""Trains the classifier of corrections: logistic regression over what `capture_features` prints.

    cargo build -p sinew-workshop --example capture_features
    python3 model/capture/train.py --features target/debug/examples/capture_features [--shared ../shared]

Reads `turns.tsv` (ours: label, language, what was asked before, what was said) and, where the folder of
shared data is there, its turns for development and messages that are no corrections. Prints ten-fold
cross-validation over the turns for development, and writes `capture-weights.bin`: the bias and the
weights as little-endian floats.
"""
import argparse
import json
import subprocess
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

HERE = Path(__file__).parent
OUT = HERE / "../../crates/sinew-workshop/data/capture-weights.bin"
STRENGTH = 8.0


def own_turns():
    rows = []
    for line in (HERE / "turns.tsv").read_text(encoding="utf-8").splitlines():
        label, _, previous, said = line.split("\t")
        rows.append((label == "+", previous, said.replace("\\n", "\n")))
    return rows


def shared_turns(folder):
    rows = []
    for name in ("capture-dev.jsonl", "capture-dev2.jsonl"):
        path = folder / "data" / name
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                rows.append((row["capture"], row.get("previous", ""), row["text"]))
    none = folder / "data/routing/train-none.jsonl"
    quiet = []
    if none.exists():
        quiet = [(False, "", json.loads(line)["message"]) for line in none.read_text(encoding="utf-8").splitlines()]
    taught = folder / "data/taught-dev.jsonl"
    told = []
    if taught.exists():
        for line in taught.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            told.append((True, row["before"], row["correction"]))
            told += [(False, row["before"], text) for text in row["later"] + row["not"]]
    return rows, quiet, told


def numbers(program, rows):
    lines = "".join(json.dumps({"text": t, "previous": p or None}) + "\n" for _, p, t in rows)
    out = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout
    vetoed = np.array([line.endswith(" vetoed") for line in out.splitlines()])
    lines = [line.removesuffix(" vetoed").split() for line in out.splitlines()]
    cells = [[cell.split(":") for cell in line] for line in lines]
    width = 1 + max(int(at) for row in cells for at, _ in row)
    return cells, width, vetoed


def dense(cells, width):
    x = np.zeros((len(cells), width), np.float32)
    for row, pairs in enumerate(cells):
        for at, value in pairs:
            x[row, int(at)] = float(value)
    return x


def fit(x, y, weights):
    return LogisticRegression(C=STRENGTH, max_iter=5000).fit(x, y, sample_weight=weights)


def report(name, p, y):
    for threshold in (0.5, 0.55, 0.6, 0.65, 0.7):
        print(f"{name}: at {threshold} captured {(p[y] >= threshold).mean():.3f} of {y.sum()}, "
              f"wrong {(p[~y] >= threshold).mean():.3f} of {(~y).sum()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", type=Path, required=True)
    parser.add_argument("--shared", type=Path, default=HERE / "../../../shared")
    args = parser.parse_args()
    dev, quiet, told = shared_turns(args.shared)
    own = own_turns()
    sets = [own, quiet, told, dev]
    read = [numbers(args.features, rows) if rows else ([], 0, None) for rows in sets]
    width = max(width for _, width, _ in read)
    x_own, x_quiet, x_told, x_dev = (dense(cells, width) for cells, _, _ in read)
    y_own, y_quiet, y_told, y_dev = (np.array([r[0] for r in rows], bool) for rows in sets)
    # Messages from elsewhere count less: there are many of them, and they are easy.
    w = lambda y, weight: np.full(len(y), weight)
    base_x, base_y = np.vstack([x_own, x_quiet]), np.concatenate([y_own, y_quiet])
    base_w = np.concatenate([w(y_own, 1.0), w(y_quiet, 0.15)])
    if len(dev):
        alone = fit(base_x, base_y, base_w)
        report("ours alone on dev", alone.predict_proba(x_dev)[:, 1], y_dev)
        report("ours alone on taught", alone.predict_proba(x_told)[:, 1], y_told)
        vetoed = read[3][2]
        # Once without the bench's messages, and once by the recipe as shipped.
        told_w = w(y_told, 0.5)
        recipes = {
            "our turns": (base_x, base_y, base_w),
            "as shipped": (np.vstack([base_x, x_told]), np.concatenate([base_y, y_told]),
                           np.concatenate([base_w, told_w])),
        }
        for name, (some_x, some_y, some_w) in recipes.items():
            p = np.zeros(len(dev))
            for seed in range(2):
                folds = StratifiedKFold(10, shuffle=True, random_state=seed)
                for train, test in folds.split(x_dev, y_dev):
                    model = fit(np.vstack([some_x, x_dev[train]]), np.concatenate([some_y, y_dev[train]]),
                                np.concatenate([some_w, w(train, 1.0)]))
                    p[test] += model.predict_proba(x_dev[test])[:, 1] / 2
            report(f"cross-validation on dev, {name}, without vetoes", p, y_dev)
            report(f"cross-validation on dev, {name}", np.where(vetoed, 0.0, p), y_dev)
    x = np.vstack([base_x, x_told, x_dev])
    y = np.concatenate([base_y, y_told, y_dev])
    weights = np.concatenate([base_w, w(y_told, 0.5), w(y_dev, 1.0)])
    model = fit(x, y, weights)
    if len(dev):
        report("shipped on dev (seen in training)", model.predict_proba(x_dev)[:, 1], y_dev)
    row = np.concatenate([[model.intercept_[0]], model.coef_[0]]).astype("<f4")
    OUT.write_bytes(row.tobytes())
    print(OUT.resolve().name, len(row), "numbers")


if __name__ == "__main__":
    main()
