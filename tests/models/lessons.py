#!/usr/bin/env python3
"""What the book's programs show, chapter by chapter, shown by the models of models/.

Usage: lessons.py CHECK. ctest runs each check by itself, with the variables that programs.py reads.
"""
import collections
import json
import math
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree

from programs import MEKIK, PROVERBS, SOURCE, WORK, below, equal, folder, log, run

MODELS = SOURCE / "models"


def compiled(model, name, *options, data=PROVERBS):
    path = folder(name) / model
    run(MEKIK, "compile", MODELS / model / f"{model}.mekik", "--data", data, "-o", path, *options)
    return path


def train(program, out, *options, data=PROVERBS):
    run(program, "train", "--data", data, "--out", out, "--log", out / "log.jsonl", *options)
    return log(out / "log.jsonl")


def tensors(path):
    """The tensors of a checkpoint, without its account of how they came to be."""
    content = path.read_bytes()
    size, = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + size])
    return {name: content[8 + size:][slice(*entry["data_offsets"])] for name, entry in header.items()
            if name != "__metadata__"}


def shown(model, *options):
    """Results of `mekik run` by name: nested lists, and the shape."""
    results = json.loads(run(MEKIK, "run", MODELS / model, "--json", *options))
    for result in results.values():
        values = result["data"]
        for size in reversed(result["shape"][1:]):
            values = [values[at:at + size] for at in range(0, len(values), size)]
        result["values"] = values if result["shape"] else values[0]
    return results


def refused(status, words, *command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    equal(done.returncode, status, f"exit status of {' '.join(map(str, command))}\n{done.stderr}")
    if words not in done.stderr:
        sys.exit(f"expected {words!r} in the message, found {done.stderr!r}")


def near(found, expected, tolerance, what):
    below(abs(found - expected), tolerance, f"{what} {found} from {expected}")


# Chapter 4.

def pairs():
    """How often one symbol follows another in the proverbs; "." stands before and behind each of them."""
    counts = collections.defaultdict(collections.Counter)
    for line in PROVERBS.read_text().splitlines():
        text = f".{line}."
        for before, after in zip(text, text[1:]):
            counts[before][after] += 1
    return counts


def bigram_arrives_where_counting_does():
    counts = pairs()
    total = sum(sum(row.values()) for row in counts.values())
    equal(total, 5282, "pairs")
    best = -sum(n * math.log(n / sum(row.values())) for row in counts.values() for n in row.values()) / total
    near(best, 2.3224, 0.00005, "loss of counting")
    program = compiled("bigram", "bigram")
    out = WORK / "bigram/run"
    lines = train(program, out, "--validation", "0", "--eval-symbols", "0", "--eval-every", "50")
    equal([line["step"] for line in lines], [1, 50, 100, 150, 200, 250, 300], "steps")
    near(lines[0]["train_loss"], math.log(len(counts)), 0.2, "loss at the beginning")
    near(lines[-1]["train_loss"], best, 0.002, "loss after 300 steps")

    # The exercise: what follows "ş" most often, and how probable it is.
    table = json.loads(run(program, "sample", "--checkpoint", out, "--prompt", "ş", "--next", "0", "--json"))["next"]
    learnt, after = {entry["symbol"]: entry["probability"] for entry in table}, counts["ş"]
    for symbol, n in after.most_common(5):
        near(learnt[symbol], n / sum(after.values()), 0.01, f"probability of {symbol!r} behind 'ş',")


def bigram_sees_the_whole_text_in_every_step():
    # Nothing is drawn from the data, so the seed decides only where training begins: at rate 0 all losses are equal.
    program = compiled("bigram", "bigram-full", "-D", "rate=0.0")
    for seed in "12":
        out = WORK / "bigram-full" / seed
        done = subprocess.run([program, "train", "--data", PROVERBS, "--validation", "0", "--eval-symbols", "0",
                               "--seed", seed, "--steps", "3", "--out", out], capture_output=True, text=True)
        if "5,283 training and 0 validation symbols, all in every step" not in done.stderr:
            sys.exit(f"expected to be told that every step takes all, found {done.stderr}")
    # A part of the text, and the batch is drawn again.
    done = subprocess.run([program, "train", "--data", PROVERBS, "--steps", "3", "--out", WORK / "bigram-full/part"],
                          capture_output=True, text=True)
    if "all in every step" in done.stderr:
        sys.exit(f"4,724 pairs cannot be a batch of 5,282 in order: {done.stderr}")


# Chapter 5.

def mlp_overfits_as_in_the_book():
    plan = json.loads(run(MEKIK, "plan", MODELS / "mlp/mlp.mekik", "-D", "vocab=30", "--json"))
    equal(plan["parameters"], 6186, "parameters")
    program = compiled("mlp", "mlp")
    whole, early = WORK / "mlp/whole", WORK / "mlp/early"
    options = ["--eval-symbols", "0", "--eval-every", "100", "--threads", "1"]
    lines = train(program, whole, *options, "--curve", WORK / "mlp/loss.svg")
    best = min((line for line in lines), key=lambda line: line["validation_loss"])
    print("best:", best, "last:", lines[-1])
    if not 2.2 < best["validation_loss"] < 2.5:
        sys.exit(f"best validation loss: expected 2.2 to 2.5, found {best['validation_loss']}")
    if not 300 <= best["step"] <= 700:
        sys.exit(f"best step: expected about 500, found {best['step']}")
    last = lines[-1]
    equal(last["step"], 3000, "last step")
    below(best["validation_loss"] + 0.2, last["validation_loss"], "best validation loss and a fifth")
    below(last["train_loss"] + 0.2, best["train_loss"], "last training loss and a fifth")

    # Stopped early, the same parameters are kept.
    lines = train(program, early, *options, "--patience", "4")
    equal(lines[-1]["step"], best["step"] + 400, "step at which it stopped")
    equal(tensors(early / "best.safetensors"), tensors(whole / "best.safetensors"), "parameters kept by both")

    # The picture: the curve of validation turns upwards, that of training does not.
    picture = xml.etree.ElementTree.parse(WORK / "mlp/loss.svg").getroot()
    curves = [[float(point.split(",")[1]) for point in line.get("points").split()]
              for line in picture.iter("{http://www.w3.org/2000/svg}polyline")]
    equal([len(curve) for curve in curves], [31, 31], "points of the two curves")
    training, validation = curves  # y grows downwards
    if not (max(validation) > validation[-1] + 20 and training[-1] > training[6] + 20):
        sys.exit(f"expected validation to rise and training to fall in the picture, found {curves}")


# Chapter 6 and the page on attention.

def masked_attention_averages():
    results = shown("attention/averages.mekik", "--set", "x=[[1, 0], [3, 2], [5, 4], [7, 2]]")
    equal(results["averages"]["values"], [[1, 0], [2, 1], [3, 2], [4, 2]], "averages")
    for row, weights in enumerate(results["weights"]["values"]):
        for column, weight in enumerate(weights):
            near(weight, 1 / (row + 1) if column <= row else 0, 1e-7, f"weight {row}, {column},")
    (folder("averages") / "x.txt").write_text("[[1, 0],\n [3, 2],\n [5, 4],\n [7, 2]]\n")
    equal(shown("attention/averages.mekik", "--set", f"x=@{WORK}/averages/x.txt"), results, "the same from a file")


def symbols_ask_and_answer():
    results = shown("attention/attention.mekik", "--text", "gönül", "--seed", 3)
    equal({name: result["shape"] for name, result in results.items()},
          {"result": [5, 4], "last": [4], "queries": [5, 4], "keys": [5, 4], "values": [5, 4], "weights": [5, 5]},
          "shapes")
    weights = results["weights"]["values"]
    for row, line in enumerate(weights):
        near(sum(line), 1, 1e-6, f"sum of row {row},")
        equal(line[row + 1:], [0] * (4 - row), "weights of symbols to come")
    equal(results["last"]["values"], results["result"]["values"][-1], "last row")
    mixed = [sum(w * v[i] for w, v in zip(weights[4], results["values"]["values"])) for i in range(4)]
    for found, expected in zip(results["last"]["values"], mixed):
        near(found, expected, 1e-6, "last row and the values mixed by hand,")
    # The exercise: larger scores that nothing divides put nearly all weight on one symbol.
    def strongest(*options):
        rows = shown("attention/attention.mekik", "--text", "gönül", "--seed", 3, *options)["weights"]["values"]
        return [max(row) for row in rows]

    calm, sharp = strongest(), strongest("-D", "scaled=false", "-D", "spread=2.0")
    print("strongest weight of each row:", calm, sharp)
    below(max(calm[1:]), 0.7, "strongest weight as written")
    below(0.9, sorted(sharp)[2], "strongest weights without the division, the third weakest")


def attention_alone_knows_no_order():
    def both(model, word, positions):
        return shown(model, "--text", word, "--seed", 3, "-D", f"positions={positions}")

    words = {(word, positions): both("attention/order.mekik", word, positions)
             for word in ("elma", "lema") for positions in ("false", "true")}
    one, other = words["elma", "false"], words["lema", "false"]
    equal(one["last"]["values"], other["last"]["values"], "last symbol of elma and of lema, to the last bit,")
    weights, swapped = one["weights"]["values"], other["weights"]["values"]
    equal([weights[1], weights[0], *weights[2:]], swapped, "weights of the same symbols")
    one, other = words["elma", "true"]["last"]["values"], words["lema", "true"]["last"]["values"]
    below(0.1, min(abs(a - b) for a, b in zip(one, other)), "with positions each number differs by")
    # In the order of the word it is the same attention, but for the last bits.
    for (word, positions), result in words.items():
        plain = both("attention/attention.mekik", word, positions)
        for a, b in zip(result["last"]["values"], plain["last"]["values"]):
            near(a, b, 5e-6, f"{word}, positions {positions}: both sums,")


def five_tokens_in_under_ten_lines():
    lines = (MODELS / "attention/five.mekik").read_text().splitlines()
    below(len(lines), 10, "lines of five.mekik")
    results = shown("attention/five.mekik")
    equal(results["attention"]["shape"], [5, 16], "shape")
    for row in results["weights"]["values"]:
        near(sum(row), 1, 1e-6, "sum of a row,")


def inputs_are_read_as_written():
    model = MODELS / "attention/averages.mekik"
    equal(shown("attention/averages.mekik", "--set", "x= 1,0 ,3,2,5,4,7,2"),
          shown("attention/averages.mekik", "--set", "x=[[1,0],[3,2],[5,4],[7,2]]"), "lists and plain numbers")
    for value, words in (("[[1,0],[3,2],[5,4]]", "which takes 8 numbers, got 6"),
                         ("[[1,0,3,2],[5,4,7,2]]", "got lists of shape [2, 4]"),
                         ("[[1,0],[3,2],[5,4],[7]]", "lists of equal length, found one of 2 and one of 1"),
                         ("[[1,0],[3,2],[5,4],[7,2]", "expected , or ], found the end"),
                         ("[[1,0],[3,2],[5,4],[7,2]]]", "nothing behind the list"),
                         ("[[1,0],3,2]", "expected [, found \"3,2]\""),
                         ("[[1,0],[[3],2]]", "number"),
                         ("[[]]", "number"),
                         ("1,,2", "number")):
        refused(2, words, MEKIK, "run", model, "--set", f"x={value}")
    refused(1, "/no/such/file", MEKIK, "run", model, "--set", "x=@/no/such/file")
    refused(2, "--set y=1: expected NAME=NUMBERS, where NAME is one of x (f32[4, 2])", MEKIK, "run", model, "--set", "y=1")
    refused(2, "expected a whole number as element 1, got 1.5", MEKIK, "run", MODELS / "attention/attention.mekik",
            "-D", "vocab=9", "--set", "word=1,1.5,2,3,4")
    refused(2, "context", MEKIK, "run", MODELS / "attention/attention.mekik", "--text", "damlaya damlaya")


# Chapter 7.

def normalization_levels_rows():
    results = shown("gpt/normalize.mekik", "--set", "x=[[2, 4, 6, 8], [100, 101, 99, 100], [-3, 0, 0, 3]]")
    book = [[-1.34, -0.45, 0.45, 1.34], [0.0, 1.41, -1.41, 0.0], [-1.41, 0.0, 0.0, 1.41]]
    equal([[round(x, 2) + 0.0 for x in row] for row in results["normalized"]["values"]], book, "normalized rows")
    for mean, deviation in zip(results["means"]["values"], results["deviations"]["values"]):
        near(mean, 0, 0.005, "mean")
        near(deviation, 1, 0.005, "deviation")


def removing_residuals_slows_memorizing():
    # The book's exercise: the same model, the sum with what came before taken out of both sublayers.
    out = folder("residual")
    source = (MODELS / "gpt/gpt.mekik").read_text()
    equal(source.count("x = x + drop("), 2, "residual connections")
    (out / "plain.mekik").write_text(source.replace("x = x + drop(", "x = drop("))
    (out / "two.txt").write_text("acele işe şeytan\n")  # 18 symbols: two windows of 16 with what follows
    options = ["-D", "batch=2", "-D", "dropout=0", "-D", "rate=0.01"]
    last = {}
    for name, model in (("with", MODELS / "gpt/gpt.mekik"), ("without", out / "plain.mekik")):
        run(MEKIK, "compile", model, "--data", out / "two.txt", "-o", out / name, *options)
        lines = train(out / name, out / f"{name}-run", "--validation", "0", "--eval-symbols", "0", "--eval-every", "15",
                      "--steps", "60", data=out / "two.txt")
        print(name, [round(line["train_loss"], 4) for line in lines])
        last[name] = lines[-1]["train_loss"]
    below(last["with"], 0.01, "loss with residual connections")
    below(10 * last["with"], last["without"], "ten times that")


# The heads of a trained model.

def attention_of_the_trained_gpt():
    program = compiled("gpt", "attention-command")
    out, picture = WORK / "attention-command/run", WORK / "attention-command/gönül.svg"
    train(program, out, "--steps", "250")
    common = ["--checkpoint", out, "--prompt", "gönül", "--svg", picture]
    found = json.loads(run(program, "attention", *common, "--json"))
    equal(found["symbols"], [".", "g", "ö", "n", "ü", "l"], "symbols")
    names = [f"layer.{layer}.attention.weights" for layer in range(2)]
    equal([(head["probe"], head["head"]) for head in found["heads"]],
          [(name, head) for name in names for head in range(4)], "heads")
    for head in found["heads"]:
        for row, weights in enumerate(head["weights"]):
            near(sum(weights), 1, 1e-6, "sum of a row,")
            equal(weights[row + 1:], [0] * (5 - row), "weights of symbols to come")

    # The evaluator gives the same numbers for the same symbols.
    probes = shown("gpt/gpt.mekik", "--checkpoint", out, "--text", ".gönül")
    for head in found["heads"]:
        matrix = probes[head["probe"]]["values"][0][head["head"]]
        equal(head["weights"], [row[:6] for row in matrix[:6]], f"{head['probe']}, head {head['head']}, evaluated")

    root = xml.etree.ElementTree.parse(picture).getroot()
    svg = "{http://www.w3.org/2000/svg}"
    equal(len([rect for rect in root.iter(svg + "rect") if rect.find(svg + "title") is not None]), 8 * 36, "cells")
    texts = [text.text for text in root.iter(svg + "text")]
    equal([text for text in texts if text.startswith("layer")], names, "probes in the picture")
    equal(texts.count("ö"), 16, "labels of one symbol")
    if "http" in picture.read_text().replace("http://www.w3.org/2000/svg", ""):
        sys.exit("the picture needs something from outside")

    tables = run(program, "attention", *common)
    equal(len(re.findall(r"^layer\.\d\.attention\.weights, head \d$", tables, re.M)), 8, "tables")
    equal(tables.splitlines()[1].split(), found["symbols"], "columns")
    row = tables.splitlines()[4].split()
    equal(row, ["ö"] + [f"{weight:.2f}" for weight in found["heads"][0]["weights"][2]], "a row")
    equal(run(MEKIK, "attention", MODELS / "gpt/gpt.mekik", *common), tables, "the same by mekik")
    one = run(program, "attention", *common, "--probe", names[1])
    equal(one, tables[tables.index(names[1]):], "one probe")

    refused(2, "--prompt TEXT is missing", program, "attention", "--checkpoint", out)
    refused(1, "has no attention weights x; it has layer.0.attention.weights",
            program, "attention", *common, "--probe", "x")
    refused(1, "U+0078", program, "attention", "--checkpoint", out, "--prompt", "x")
    long = subprocess.run([program, "attention", "--checkpoint", out, "--prompt", "damlaya damlaya göl",
                           "--svg", picture], capture_output=True, text=True)
    equal(long.returncode, 0, "exit status for a long prompt")
    if "sees 16 symbols; 4 at the start" not in long.stderr:
        sys.exit(f"expected to be told what is left out, found {long.stderr}")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
