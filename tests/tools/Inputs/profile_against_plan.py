#!/usr/bin/env python3
"""The times that `train --profile` calls expected are those of `mekik plan --json`, for the step and for each kernel.

Usage: profile_against_plan.py PLAN.json PROFILE.txt one_core_seconds|all_cores_seconds
"""
import json
import re
import sys

plan = json.load(open(sys.argv[1]))["step"]
text, key = open(sys.argv[2], encoding="utf-8").read(), sys.argv[3]
rounding = 0.051  # microseconds have one digit behind the point

rows = {}
for kernel, expected, line in re.findall(
        r"^(\S+) +[\d.]+ +[\d.]+ +([\d.]+) +[\d.]+ +[\d.]+% +\d+ +\d+ +[\d.]+ +(\d+)$", text, re.MULTILINE):
    rows[kernel, int(line)] = float(expected)
assert len(rows) == len(plan["kernels"]), (len(rows), len(plan["kernels"]))

together = float(re.search(r"^together +[\d.]+ +[\d.]+ +([\d.]+) +[\d.]+$", text, re.MULTILINE)[1])
assert abs(together - 1e6 * plan[key]) < rounding, (together, plan[key])
assert abs(sum(rows.values()) - together) < rounding * len(rows), (rows, together)
if key == "one_core_seconds":
    for kernel in plan["kernels"]:
        shown = rows[kernel["name"], kernel["line"]]
        assert abs(shown - 1e6 * kernel["one_core_seconds"]) < rounding, (shown, kernel)
assert re.search(r"^(far from what is expected:|no kernel is far from what is expected)$", text, re.MULTILINE), text
