#!/usr/bin/env python3
"""What the trained GPT of models/gpt must be: sizes, known losses, and bytes that nothing may change.

Usage: gpt.py CHECK. ctest runs each check by itself; MEKIK_SOURCE_DIR and MEKIK_BINARY_DIR say where things are.
"""
import json
import os
import pathlib
import random
import re
import subprocess
import sys

from programs import LLVM, MEKIK, PROVERBS, SOURCE, WORK, below, equal, finished, folder, log, run, safetensors, same

MODEL = SOURCE / "models/gpt/gpt.mekik"


def compiled(name, *options, data=PROVERBS):
    path = folder(name) / "gpt"
    run(MEKIK, "compile", MODEL, "--data", data, "-o", path, *options)
    return path


def train(program, out, *options, data=PROVERBS):
    run(program, "train", "--data", data, "--out", out, "--log", out / "log.jsonl", *options)
    return log(out / "log.jsonl")


def counts_of_parameters():
    plan = json.loads(run(MEKIK, "plan", MODEL, "-D", "vocab=30", "--json"))
    equal(plan["parameters"], 27678, "parameters")
    groups = {group["name"]: group["parameters"] for group in plan["groups"]}
    equal(groups, {"wte, wpe": 1472, "norm": 320, "attention": 8192, "mlp": 16704, "head, head_bias": 990}, "groups")
    trainer = json.loads(run(compiled("counts"), "info", "--json"))
    equal(trainer["parameters"], 27678, "parameters in the program")
    for arena, size in plan["arenas"].items():
        equal(trainer["arenas"][arena], size, f"arena {arena}, planned and compiled")


def untrained_loss():
    # At rate 0 the step before the first evaluation changes nothing.
    first = train(compiled("untrained", "-D", "rate=0.0"), WORK / "untrained", "--steps", "1")[0]
    for part in ("train_loss", "validation_loss"):
        below(abs(first[part] - 3.40), 0.1, f"{part} {first[part]} from 3.40")


def memorizes_two_windows():
    out = folder("memorize")
    generator = random.Random(1)
    windows = [[generator.randrange(30) for _ in range(17)] for _ in range(2)]
    data = out / "windows.safetensors"
    safetensors(data, {"tokens": ("I32", [2, 16], [i for w in windows for i in w[:16]]),
                       "next": ("I32", [2, 16], [i for w in windows for i in w[1:]])})
    # Along 3000 steps of the cosine, the first sixty are at the full rate.
    program = compiled("memorize/program", "-D", "vocab=30", "-D", "dropout=0", "-D", "rate=0.01", data=data)
    lines = train(program, out / "run", "--steps", "60", "--validation", "0", "--eval-every", "60", data=data)
    equal(lines[-1]["step"], 60, "last step")
    below(lines[-1]["train_loss"], 0.01, "loss of the two windows")


def resumed_equals_uninterrupted():
    program = compiled("resume")
    options = ["--eval-every", "5", "--seed", "3"]
    train(program, WORK / "resume/whole", "--steps", "20", *options)
    for parts in ([7], [1], [19], [2, 4, 6, 8, 10, 12, 14, 16, 18]):
        out = WORK / f"resume/parts-{len(parts)}-{parts[0]}"
        train(program, out, "--steps", parts[0], *options)
        for steps in parts[1:] + [20]:
            train(program, out, "--steps", steps, "--resume")
        same(WORK / "resume/whole", out, "last.safetensors", "best.safetensors", "curve.svg")
        equal(log(out / "log.jsonl"), log(WORK / "resume/whole/log.jsonl"), "log")


def same_seed_same_bytes():
    program = compiled("seed")
    for name, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        train(program, WORK / "seed" / name, "--steps", "30", "--seed", seed)
    same(WORK / "seed/a", WORK / "seed/b", "last.safetensors", "best.safetensors", "curve.svg")
    equal(log(WORK / "seed/a/log.jsonl"), log(WORK / "seed/b/log.jsonl"), "log")
    if (WORK / "seed/a/last.safetensors").read_bytes() == (WORK / "seed/c/last.safetensors").read_bytes():
        sys.exit("another seed gave the same weights")
    samples = [run(program, "sample", "--checkpoint", WORK / "seed" / name, "--seed", "9") for name in "ab"]
    equal(samples[0], samples[1], "samples")


def memory_layout_changes_nothing():
    if subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode != 0:
        print("SKIPPED: this machine does not let a process choose its memory layout")
        return
    out = folder("layout")
    for name, prefix in (("moving", []), ("fixed", ["setarch", "-R"])):
        run(*prefix, MEKIK, "compile", MODEL, "-D", "vocab=30", "--emit=obj", "-o", out / f"{name}.o")
        run(*prefix, MEKIK, "compile", MODEL, "--data", PROVERBS, "-o", out / f"{name}-gpt")
        run(*prefix, out / f"{name}-gpt", "train", "--data", PROVERBS, "--out", out / name, "--steps", "10",
            "--log", out / name / "log.jsonl")
    same(out, out, ("moving.o", "fixed.o"), ("moving-gpt", "fixed-gpt"))
    same(out / "moving", out / "fixed", "last.safetensors", "best.safetensors")
    equal(log(out / "moving/log.jsonl"), log(out / "fixed/log.jsonl"), "log")


def a_diverging_run_keeps_what_was_good():
    out = folder("diverging")
    run(MEKIK, "compile", SOURCE / "tests/models/diverging.mekik", "--data", PROVERBS, "-o", out / "program")
    for every in ("1", "2", "250"):
        done = finished(out / "program", "train", "--data", PROVERBS, "--out", out / every, "--steps", "20",
                        "--eval-every", every, status=1)
        told = re.search(r"training diverged: the .*loss (after|of) step (\d+)", done.stderr)
        if not told:
            sys.exit(f"expected the step in the message, found\n{done.stderr}")
        below(2, int(told[2]), "step that is told")
        for file in ("best.safetensors", "last.safetensors"):
            kept = json.loads(run(MEKIK, "inspect", out / every / file, "--json"))
            below(kept["step"], int(told[2]), f"step of {file}")
            for tensor in kept["tensors"]:
                equal(tensor.get("not_finite", 0), 0, f"numbers of {tensor['name']} that are not finite")


def threads_change_nothing():
    program = compiled("threads")
    for threads in "123":
        out = WORK / "threads" / threads
        train(program, out, "--steps", "40", "--threads", threads)
        same(WORK / "threads/1", out, "last.safetensors", "best.safetensors")
        equal(log(out / "log.jsonl"), log(WORK / "threads/1/log.jsonl"), f"log with {threads} threads")


def targets_change_nothing():
    if "avx512vl" not in pathlib.Path("/proc/cpuinfo").read_text():
        print("this machine has no AVX-512; nothing to compare")
        return
    for cpu in ("x86-64-v3", "x86-64-v4"):
        train(compiled(f"targets-{cpu}", "--cpu", cpu), WORK / f"targets-{cpu}", "--steps", "40")
    same(WORK / "targets-x86-64-v3", WORK / "targets-x86-64-v4", "last.safetensors", "best.safetensors")


def garbage_in_memory_changes_nothing():
    program = compiled("garbage")
    train(program, WORK / "garbage/clean", "--steps", "20")
    os.environ["MEKIK_FILL_WORK"] = "1"
    train(program, WORK / "garbage/dirty", "--steps", "20")
    same(WORK / "garbage/clean", WORK / "garbage/dirty", "last.safetensors", "best.safetensors")


def learns_the_proverbs():
    program = compiled("proverbs")
    losses = []
    for seed in range(1, 6):
        lines = train(program, WORK / f"proverbs/{seed}", "--seed", seed)
        equal(lines[-1]["step"], 3000, "last step")
        losses.append(min(line["validation_loss"] for line in lines))
    print("best validation losses:", losses)
    below(sum(losses) / len(losses), 2.28, "mean validation loss of seeds 1 to 5")


def train_of_mekik_equals_train_of_the_program():
    settings = ["-D", "width=16", "-D", "heads=2"]  # sample and eval must find them in the checkpoint
    program = compiled("commands", *settings)
    train(program, WORK / "commands/program", "--steps", "10")
    os.environ["MEKIK_CACHE"] = str(WORK / "commands/cache")
    for _ in range(2):  # compiled, then found compiled
        run(MEKIK, "train", MODEL, "--data", PROVERBS, "--out", WORK / "commands/mekik", "--steps", "10", *settings)
        same(WORK / "commands/program", WORK / "commands/mekik", "last.safetensors", "best.safetensors")
    checkpoint = ["--checkpoint", WORK / "commands/mekik"]
    equal(run(MEKIK, "sample", MODEL, *checkpoint), run(program, "sample", *checkpoint), "samples")
    equal(json.loads(run(MEKIK, "eval", MODEL, "--data", PROVERBS, "--json", *checkpoint)),
          json.loads(run(program, "eval", "--data", PROVERBS, "--json", *checkpoint)), "eval")
    equal(len(list((WORK / "commands/cache").iterdir())), 1, "programs in the cache")


def objects_need_three_functions_at_most():
    out = folder("object")
    run(MEKIK, "compile", MODEL, "-D", "vocab=30", "--emit=obj", "-o", out / "gpt.o")
    undefined = {line.split()[-1] for line in run(LLVM / "llvm-nm", "-u", out / "gpt.o").splitlines() if line.strip()}
    equal(undefined - {"memcpy", "memset", "memmove"}, set(), "undefined symbols")
    run(MEKIK, "compile", MODEL, "-D", "vocab=30", "--emit=lib", "-o", out / "libgpt.a")
    # Libraries of two models, whose kernels are called alike, meet in one program.
    run(MEKIK, "compile", MODEL, "-D", "vocab=40", "--emit=lib", "-o", out / "libgpt-40.a")
    (out / "use.c").write_text("""
        #include "libgpt.h"
        #include "libgpt-40.h"
        static int good(const MekikModel *model, int vocab) {
          return model->magic == MEKIK_ABI_MAGIC && model->tensors[0].shape[0] == vocab;
        }
        int main(void) { return !good(&mekik_model_gpt, 30) || !good(&mekik_model_gpt_40, 40); }
    """)
    run("clang-22", "-std=c11", "-Wall", "-Werror", "-o", out / "use", out / "use.c", out / "libgpt.a", out / "libgpt-40.a")
    run(out / "use")


def programs_are_small():
    for name, limit, options in (("dynamic", 1_000_000, []), ("static", 3_000_000, ["--static"])):
        program = compiled(f"size-{name}", *options)
        run(LLVM / "llvm-strip", program)
        below(program.stat().st_size, limit, f"bytes of a stripped {name} program")
        run(program, "info", "--json")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
