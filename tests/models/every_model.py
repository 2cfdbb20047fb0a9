#!/usr/bin/env python3
"""What holds for every model in models/: right gradients, and a stopped and resumed run that nothing tells from a whole one.

Usage: every_model.py CHECK MODEL.mekik. A new folder in models/ is tested without being named anywhere. Models that are
large get small settings in small.json, which may also name other data ("data", from the top of the sources).
"""
import json
import math
import pathlib
import random
import re
import sys

from programs import MEKIK, PROVERBS, SOURCE, equal, folder, log, run, safetensors, same

EXAMPLES = 40


class Model:
    def __init__(self, path):
        self.path, self.name = path, path.stem
        text = path.read_text()
        self.has_loss = bool(re.search(r"^loss\b", text, re.M))
        self.has_train = bool(re.search(r"^train\b", text, re.M))
        self.reads_text = bool(re.search(r"^config\s+vocab\b", text, re.M))
        table = json.loads((SOURCE / "tests/models/small.json").read_text()).get(self.name, {})
        self.options = [part for name, value in table.get("settings", {}).items() for part in ("-D", f"{name}={value}")]
        self.given = table.get("data")

    def data(self, out):
        """The text or tensors to train on: those of small.json, those beside the model, proverbs, random tensors."""
        if self.given:
            return SOURCE / self.given
        beside = sorted(self.path.parent.glob("*.txt")) + sorted(self.path.parent.glob("*.safetensors"))
        if len(beside) == 1:
            return beside[0]
        return PROVERBS if self.reads_text else self.random_tensors(out / "random.safetensors")

    def random_tensors(self, path):
        graph = run(MEKIK, "compile", self.path, *self.options, "--emit=graph")
        train = next(line for line in graph.splitlines() if "func.func @train" in line)
        generator, tensors = random.Random(1), {}
        for argument in re.split(r"%arg\d+: ", train.split(") -> (")[0])[1:]:
            name, role = (re.search(rf'mekik.{key} = "([^"]*)"', argument) for key in ("name", "role"))
            if role.group(1) not in ("input", "target"):
                continue
            *sizes, element = re.match(r"tensor<(\w+)>", argument).group(1).split("x")
            shape = [EXAMPLES] + [int(size) for size in sizes[1:]]
            classes = re.search(r"mekik.classes = (\d+)", argument)
            count = math.prod(shape)
            if element == "i32":
                limit = int(classes.group(1)) if classes else 2
                tensors[name.group(1)] = ("I32", shape, [generator.randrange(limit) for _ in range(count)])
            elif element == "i1":
                tensors[name.group(1)] = ("BOOL", shape, [generator.random() < 0.5 for _ in range(count)])
            else:
                tensors[name.group(1)] = (element.upper(), shape, [generator.random() for _ in range(count)])
        safetensors(path, tensors)
        return path


def gradients(model):
    if not model.has_loss:
        return print(f"{model.name} has no loss; there is no gradient")
    data = ["--data", model.data(folder(f"every/{model.name}-gradients"))] if model.reads_text else []
    checked = json.loads(run(MEKIK, "check", model.path, *data, *model.options, "--json"))
    if not checked["parameters"]:
        sys.exit(f"{model.name}: no gradient was checked")
    print("largest difference:", max(parameter["difference"] for parameter in checked["parameters"]))


def resumes(model):
    if not model.has_train:
        return print(f"{model.name} is not trained")
    out = folder(f"every/{model.name}")
    data, program = model.data(out), out / "program"
    run(MEKIK, "compile", model.path, "--data", data, *model.options, "-o", program)

    def train(to, steps, *options):
        run(program, "train", "--data", data, "--out", out / to, "--log", out / to / "log.jsonl", "--steps", steps, *options)

    options = ["--eval-every", "5", "--seed", "3"]
    train("whole", 20, *options)
    train("parts", 7, *options)
    train("parts", 20, "--resume")
    same(out / "whole", out / "parts", "last.safetensors", "best.safetensors", "curve.svg")
    equal(log(out / "parts/log.jsonl"), log(out / "whole/log.jsonl"), "log")


if __name__ == "__main__":
    globals()[sys.argv[1]](Model(pathlib.Path(sys.argv[2])))
