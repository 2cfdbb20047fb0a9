#!/usr/bin/env python3
"""A plot is well-formed XML, has three lines and labels on both axes, and nothing of it lies outside."""
import re
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
_, _, width, height = map(float, root.get("viewBox").split())
lines = [node.get("d") for node in root.iter(SVG + "path") if node.get("stroke-width") == "2"]
marks = [(float(node.get("cx")), float(node.get("cy"))) for node in root.iter(SVG + "circle")]
upright = [node for node in root.iter(SVG + "text") if node.get("transform") is None]
texts = [(float(node.get("x")), float(node.get("y"))) for node in upright]
points = [tuple(map(float, pair)) for line in lines for pair in re.findall(r"([\d.-]+) ([\d.-]+)", line)]
words = ["".join(node.itertext()) for node in root.iter(SVG + "text")]
if len(lines) != 3 or len(marks) != 6:
    sys.exit(f"expected 3 lines with 6 marks, found {len(lines)} with {len(marks)}")
if "channels" not in words or "milliseconds a step" not in words or "limit, 1 thread" not in words:
    sys.exit(f"labels are missing: {words}")
for x, y in points + marks + texts:
    if not (0 <= x <= width and 0 <= y <= height):
        sys.exit(f"({x}, {y}) lies outside of {width} x {height}")
