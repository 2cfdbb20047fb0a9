#!/usr/bin/env python3
"""What the trained models beside gpt reach, each in a few seconds.

Usage: learns.py CHECK. ctest runs each check by itself; MEKIK_SOURCE_DIR and MEKIK_BINARY_DIR say where things are.
"""
import hashlib
import json
import sys

from programs import BINARY, MEKIK, PROVERBS, SOURCE, below, equal, folder, log, run


def trained(name, data, *options, settings=()):
    out = folder(f"learns-{name}")
    run(MEKIK, "compile", SOURCE / f"models/{name}/{name}.mekik", "--data", data, *settings, "-o", out / name)
    run(out / name, "train", "--data", data, "--out", out / "run", "--log", out / "log.jsonl", *options)
    return out, log(out / "log.jsonl")


def proverbs(name, parameters, limit):
    plan = json.loads(run(MEKIK, "plan", SOURCE / f"models/{name}/{name}.mekik", "-D", "vocab=30", "--json"))
    equal(plan["parameters"], parameters, "parameters")
    out, lines = trained(name, PROVERBS, "--steps", "1000", "--seed", "1")
    below(min(line["validation_loss"] for line in lines), limit, f"best validation loss of {name} after 1000 steps")
    sample = run(out / name, "sample", "--checkpoint", out / "run", "--count", "3", "--seed", "1")
    equal(len(sample.splitlines()), 3, "lines of the sample")


def modern():
    proverbs("modern", 26208, 2.30)


def gru():
    proverbs("gru", 28638, 2.30)


def digits():
    out = folder("digits-data")
    run(BINARY / "bin/mekik-digits", out / "digits.safetensors", "2000")
    run(BINARY / "bin/mekik-digits", out / "again.safetensors", "2000")
    digest = hashlib.sha256((out / "digits.safetensors").read_bytes()).hexdigest()
    equal(hashlib.sha256((out / "again.safetensors").read_bytes()).hexdigest(), digest, "the same data drawn again")
    equal(digest, "7ac9965d0bf58d18f818209ec1144cae789b9bf3afde755e1cbd7ce32e607815", "digest of the drawn digits")
    _, lines = trained("digits", out / "digits.safetensors", "--steps", "400", "--eval-every", "100")
    below(min(line["validation_loss"] for line in lines), 0.2, "best validation loss of digits after 400 steps")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
