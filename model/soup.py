"""Average weights: several checkpoints, and a share of the published weights against forgetting.

    python soup.py --out work/encoder.pt --published 0.1 work/encoder-500.pt work/encoder-550.pt
"""
import argparse
from pathlib import Path

import torch

import minilm


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoints", type=Path, nargs="+")
    parser.add_argument("--published", type=float, default=0.0, help="share of the published weights, 0 to 1")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    states = [torch.load(p, weights_only=False)["model"] for p in args.checkpoints]
    start = minilm.published().state_dict()
    mixed = {k: args.published * start[k] + (1 - args.published) * sum(s[k] for s in states) / len(states)
             for k in start}
    torch.save({"model": mixed, "from": [str(p) for p in args.checkpoints], "published": args.published}, args.out)
    print(args.out)


if __name__ == "__main__":
    main()
