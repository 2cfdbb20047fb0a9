#!/usr/bin/env python3
"""Starting a run with the parameters of another: what comes over, what is refused, and what the small GPT learns of it.

Usage: chat.py CHECK. ctest runs each check by itself; MEKIK_SOURCE_DIR and MEKIK_BINARY_DIR say where things are.
"""
import json
import os
import re
import struct
import subprocess
import sys

from programs import MEKIK, PROVERBS, SOURCE, WORK, below, equal, folder, log, run, same

MODEL = SOURCE / "models/gpt/gpt.mekik"
CHAT = SOURCE / "models/chat/chat.mekik"
QUESTIONS = SOURCE / "models/chat/sorular.txt"
# Proverbs that are no question in sorular.txt.
HELD = ["damlaya damlaya", "tatlı dil", "keskin sirke", "güneş girmeyen eve", "aç tavuk kendini", "bin dost az",
        "veren el", "ateş olmayan yerden", "üzüm üzüme", "taş yerinde"]
WIDTH = 32


def failing(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode == 0:
        sys.exit(f"{' '.join(str(p) for p in command)}: succeeded, expected a failure")
    return done.stderr


def parameters(path):
    data = path.read_bytes()
    size, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    characters = json.loads(header.pop("__metadata__")["mekik.tokenizer"])
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = struct.unpack(f"<{(end - begin) // 4}f", data[8 + size + begin:8 + size + end])
        tensors[name] = (entry["shape"], values)
    return characters["end"] + characters["characters"], tensors


def trained(name, *options):
    """The book's GPT, trained on the proverbs."""
    os.environ["MEKIK_CACHE"] = str(WORK / name / "cache")
    out = folder(name) / "base"
    run(MEKIK, "train", MODEL, "--data", PROVERBS, "--out", out, *options)
    return out


def evaluations_weigh_lines_by_their_symbols():
    base = trained("weighed", "--steps", "20")
    chat = WORK / "weighed/chat"
    run(MEKIK, "train", CHAT, "--data", QUESTIONS, "--out", chat, "--steps", "1", "--from", base)

    def loss(*lines):
        text = WORK / "weighed/lines.txt"
        text.write_text("".join(line + "\n" for line in lines))
        found = json.loads(run(MEKIK, "eval", CHAT, "--data", text, "--checkpoint", chat, "--eval-symbols", "0",
                               "--validation", "0", "--json"))
        return found["train_loss"]

    # The end symbol on both sides of a line makes one prediction more than it has symbols; the long one has two windows.
    short, long = "S: ab", "S: damlaya damlaya C: göl olur gider"
    weights = len(short) + 1, len(long) + 1
    wanted = (weights[0] * loss(short) + weights[1] * loss(long)) / sum(weights)
    below(abs(loss(short, long) - wanted), 1e-5, "distance from the mean by symbols")


def parameters_come_over_by_symbol():
    base = trained("by_symbol", "--steps", "20")
    both = WORK / "by_symbol/both.txt"
    both.write_text(PROVERBS.read_text() + QUESTIONS.read_text())
    # At rate 0 a step changes nothing.
    for name, options in (("fresh", []), ("moved", ["--from", base])):
        run(MEKIK, "train", CHAT, "--data", both, "--out", WORK / "by_symbol" / name, "--steps", "1",
            "-D", "rate=0.0", *options)
    old, before = parameters(base / "best.safetensors")
    new, moved = parameters(WORK / "by_symbol/moved/best.safetensors")
    _, fresh = parameters(WORK / "by_symbol/fresh/best.safetensors")
    equal(sorted(set(new) - set(old)), [":", "?", "C", "S"], "new symbols")
    equal(len(new), len(old) + 4, "symbols")
    for name, (shape, values) in moved.items():
        if name not in ("wte", "head", "head_bias"):
            equal((shape, values), before[name], name)
            continue
        rows = WIDTH if name == "wte" else 1  # elements of a symbol that lie together
        for position, symbol in enumerate(new):
            for channel in range(1 if name == "head_bias" else WIDTH):
                at = position * WIDTH + channel if name == "wte" else channel * len(new) + position
                if symbol in old:
                    index = old.index(symbol)
                    wanted = before[name][1][index * WIDTH + channel if rows > 1 else channel * len(old) + index]
                else:
                    wanted = fresh[name][1][at]
                equal(values[at], wanted, f"{name} of {symbol}, {channel}")


def resumed_equals_uninterrupted():
    base = trained("chat_resume", "--steps", "20")
    start = [MEKIK, "train", CHAT, "--data", QUESTIONS, "--from", base, "--eval-every", "5", "-D", "dropout=0.1"]
    go_on = [MEKIK, "train", CHAT, "--data", QUESTIONS, "--resume"]
    for out, steps in ((WORK / "chat_resume/whole", [20]), (WORK / "chat_resume/parts", [7, 20])):
        out.mkdir()
        for first, count in zip([True, False], steps):
            run(*(start if first else go_on), "--out", out, "--log", out / "log.jsonl", "--steps", count)
    one, other = WORK / "chat_resume/whole", WORK / "chat_resume/parts"
    same(one, other, "last.safetensors", "best.safetensors", "curve.svg")
    equal(log(one / "log.jsonl"), log(other / "log.jsonl"), "log")


def what_does_not_fit_is_refused():
    base = trained("refused", "--steps", "1")
    out = ["--out", WORK / "refused/out"]
    for options, expected in (
            (["-D", "width=64"], r'tensor "\w+": expected F32 \[.*\], found F32 \[.*\]; configure the model'),
            (["--from", "nowhere"], r"nowhere: .*no such file"),
            (["--from", PROVERBS], r"atasozleri.txt: byte 0"),
            (["-D", "layout=poems"], r"expected lines, stream or examples, found \"poems\""),
            (["--layout", "stream"], r"--layout: .* was trained on lines, not on a stream"),
            (["--layout", "lines", "-D", "layout=stream"], r"contradict each other")):
        if "--from" not in options:
            options = ["--from", base] + options
        found = failing(MEKIK, "train", CHAT, "--data", QUESTIONS, *out, *options)
        if not re.search(expected, found):
            sys.exit(f"{options}: expected {expected}, found {found}")
    if (WORK / "refused/out").exists() and list((WORK / "refused/out").iterdir()):
        sys.exit("a refused run wrote files")
    # The program knows its own symbols only.
    chat = WORK / "refused/chat"
    few = WORK / "refused/few.txt"
    few.write_text("S: ab? C: ba\n" * 20)
    run(MEKIK, "compile", CHAT, "--data", few, "-o", chat)
    found = failing(chat, "train", "--data", few, "--from", base, *out)
    if not re.search(r'knows the symbol "\w+", which is not among the', found):
        sys.exit(f"a missing symbol: {found}")
    # A model that counts every position takes no lines of different lengths.
    found = failing(MEKIK, "train", MODEL, "--data", PROVERBS, "--layout", "examples", *out)
    if "has no `config layout`" not in found:
        sys.exit(f"--layout examples of a model without it: {found}")
    counting = WORK / "refused/counting.mekik"
    counting.write_text(CHAT.read_text().replace(", ignore = -1", ""))
    found = failing(MEKIK, "train", counting, "--data", QUESTIONS, *out)
    if "its loss must leave out targets of -1" not in found:
        sys.exit(f"a loss over everything: {found}")


def answered(model, checkpoint, prompt):
    """The answer, if it has the form asked for: a blank, some words, and an end that the model sets itself."""
    text = run(MEKIK, "sample", model, "--checkpoint", checkpoint, "--greedy", "--count", "1", "--length", "41",
               "--prompt", f"S: {prompt}? C:")[:-1]
    answer = text.removeprefix(f"S: {prompt}? C:")
    print(text)
    return re.fullmatch(r"( [a-zçğıöşü]+){1,6}", answer) is not None and len(answer) <= 40


def learns_the_form_of_answers():
    for seed in ("1", "2", "3"):
        base = trained(f"answers-{seed}", "--seed", seed)
        found = failing(MEKIK, "sample", MODEL, "--checkpoint", base, "--prompt", f"S: {HELD[0]}? C:")
        if "--prompt:1:1: the character \"S\" (U+0053) is not in the vocabulary" not in found:
            sys.exit(f"the base was asked with symbols it does not know: {found}")
        counts = {}
        for name, options in (("before", ["--steps", "1", "-D", "rate=0.0"]), ("after", [])):
            out = WORK / f"answers-{seed}/{name}"
            run(MEKIK, "train", CHAT, "--data", QUESTIONS, "--from", base, "--out", out, "--seed", seed, *options)
            counts[name] = sum(answered(CHAT, out, prompt) for prompt in HELD)
        print(f"seed {seed}: {counts}")
        equal(counts["before"], 0, "answers in the form asked for, before")
        if counts["after"] < 8:
            sys.exit(f"answers in the form asked for, after: expected at least 8 of 10, found {counts['after']}")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
