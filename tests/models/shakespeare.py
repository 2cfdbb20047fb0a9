#!/usr/bin/env python3
"""nanoGPT's small setting: its size, its split, and that it learns.

Usage: shakespeare.py CHECK. ctest runs each check by itself; MEKIK_SOURCE_DIR and MEKIK_BINARY_DIR say where things are.
"""
import json
import os
import sys

from programs import MEKIK, SOURCE, WORK, below, equal, folder, log, run

MODEL = SOURCE / "models/shakespeare/shakespeare.mekik"


def learns_shakespeare():
    equal(json.loads(run(MEKIK, "plan", MODEL, "--json", "--flops", "1e12"))["parameters"], 804096, "parameters")
    out = folder("shakespeare")
    os.environ["MEKIK_CACHE"] = str(out / "cache")
    run(MEKIK, "train", MODEL, "--out", out / "run", "--log", out / "log.jsonl", "--steps", "250", "--eval-symbols",
        "4096")
    lines = log(out / "log.jsonl")
    below(abs(lines[0]["validation_loss"] - 4.17), 0.1, "first loss from ln 65")
    # The whole run of 2,000 steps reaches what models/shakespeare/README.md says.
    below(lines[-1]["validation_loss"], 2.5, "validation loss after 250 steps")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
