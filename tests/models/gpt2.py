#!/usr/bin/env python3
"""GPT-2: its four sizes to the digit, the names of the public checkpoints, planned without memory for a single weight.

Usage: gpt2.py CHECK. ctest runs each check by itself; MEKIK_SOURCE_DIR and MEKIK_BINARY_DIR say where things are.
"""
import json
import re
import resource
import subprocess
import sys

from programs import MEKIK, SOURCE, below, equal

MODEL = SOURCE / "models/gpt2/gpt2.mekik"
SIZES = {"small": (768, 12, "124.4"), "medium": (1024, 24, "354.8"), "large": (1280, 36, "774.0"),
         "xl": (1600, 48, "1557.6")}
VOCAB, CONTEXT = 50257, 1024


def plan(*options, megabytes=2000):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    done = subprocess.run([str(MEKIK), "plan", str(MODEL), "--flops", "1e12", *options], capture_output=True, text=True,
                          preexec_fn=limit)
    if done.returncode != 0 or done.stderr:
        sys.exit(f"plan {options}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def public_names(width, layers):
    """Names and shapes as published."""
    shapes = {"wte.weight": [VOCAB, width], "wpe.weight": [CONTEXT, width], "ln_f.weight": [width],
              "ln_f.bias": [width]}
    for layer in range(layers):
        for name, shape in (("ln_1", [width]), ("ln_2", [width]), ("attn.c_attn", [width, 3 * width]),
                            ("attn.c_proj", [width, width]), ("mlp.c_fc", [width, 4 * width]),
                            ("mlp.c_proj", [4 * width, width])):
            shapes[f"h.{layer}.{name}.weight"] = shape
            shapes[f"h.{layer}.{name}.bias"] = shape[-1:]
    return shapes


def four_sizes():
    for size, (width, layers, millions) in SIZES.items():
        text = plan("-D", f"size={size}")
        if f"\n{millions} million parameters\n" not in text:
            sys.exit(f"{size}: expected {millions} million parameters in\n{text}")
        print(size, millions)
        found = json.loads(plan("-D", f"size={size}", "--json"))
        count = layers * (12 * width * width + 13 * width) + VOCAB * width + CONTEXT * width + 2 * width
        equal(found["parameters"], count, f"parameters of {size}")
        groups = {group["name"]: group["parameters"] for group in found["groups"]}
        equal(groups, {"wte.weight, wpe.weight": (VOCAB + CONTEXT) * width, "norm": (4 * layers + 2) * width,
                       "attention": layers * (4 * width * width + 4 * width),
                       "mlp": layers * (8 * width * width + 5 * width)}, f"groups of {size}")
        equal({tensor["name"]: tensor["shape"] for tensor in found["tensors"]}, public_names(width, layers),
              f"names and shapes of {size}")


def training_arithmetic():
    text = plan("-D", "batch=1")
    for expected in (r"20 symbols for each parameter +2\.5 × 10\^9 +1\.9 × 10\^18 .* 23 days",
                     r"at 1\.00 trillion operations a second, as given by --flops"):
        if not re.search(expected, text):
            sys.exit(f"expected {expected} in\n{text}")
    training = json.loads(plan("-D", "batch=1", "--json"))["training"]
    equal(training["rule_operations_per_unit"], 6 * 124439808, "operations a symbol by the rule")
    equal(training["deserved_units"], 20 * 124439808, "symbols")
    equal(training["units_per_step"], 1024, "symbols a step")
    # Counted: 6 for each parameter of a matrix, the tied head once more but not the looked-up rows, and attention, of
    # which the causal mask leaves half.
    attention = 12 * 12 * 768 * 1024 / 2
    below(abs(training["operations_per_unit"] / (6 * 124439808 + attention) - 1), 0.05, "counted against estimated")


def memory_of_a_training_step():
    # Parameters, two moments and the gradients, which all wait for their norm, are 1.98 GB of it.
    for options, most in ((("context=64", "batch=4"), 2.1e9), (("context=1024", "batch=1"), 2.9e9)):
        arenas = json.loads(plan("-D", options[0], "-D", options[1], "--json"))["arenas"]
        below(sum(arenas.values()), most, f"bytes with {options[0]} and {options[1]}")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
