#!/usr/bin/env python3
"""The walls of the house, checked on the #include lines and words of the sources.

  runtime/            includes nothing of compiler/, LLVM, MLIR
  compiler/           includes of runtime/ only runtime/abi/
  compiler/syntax/    includes neither MLIR, LLVM nor runtime/
  passes              do not include each other (autodiff, fusion, memory, lowering meet in driver/Pipeline.cpp)
  autodiff/, lowering/ name no op of the graph dialect

Usage: check.py SOURCE_ROOT. Prints every breach as file:line: message; exit status 1 if there is one.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
FOREIGN = re.compile(r"^(mlir|llvm|lld|clang)(-c)?/")
# Folders whose libraries are passes: each may include itself and what is below all of them.
PASS_FOLDERS = ("autodiff", "fusion", "memory", "lowering")
SOURCES = {".h", ".cpp", ".c", ".td", ".inc", ".S", ".in"}


def opNames(root):
    """C++ class names of every op that computes something, from the ODS: a schedule and its dispatches do not."""
    names = set()
    for path in (root / "compiler/graph").rglob("*.td"):
        if path.name == "Schedule.td":
            continue
        names |= set(re.findall(r"\bdef\s+Graph_(\w+Op)\b", path.read_text()))
    return names


def breaches(path, folder, text, ops, exempt):
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line) or re.match(r'^include\s+"([^"]+)"', line)
        if match:
            target = match[1]
            if folder[0] == "runtime" and (target.startswith("compiler/") or FOREIGN.match(target)):
                yield number, f"the runtime includes {target}"
            if folder[0] == "compiler" and target.startswith("runtime/") and not target.startswith("runtime/abi/"):
                yield number, f"the compiler includes {target}; of the runtime it may see runtime/abi/ alone"
            if folder[:2] == ("compiler", "syntax") and (FOREIGN.match(target) or target.startswith("runtime/")):
                yield number, f"the syntax includes {target}"
            if folder[0] == "compiler" and len(folder) > 1 and folder[1] in PASS_FOLDERS:
                other = re.match(r"compiler/(\w+)/", target)
                if other and other[1] in PASS_FOLDERS and other[1] != folder[1] and target not in exempt:
                    yield number, f"pass folder {folder[1]}/ includes {target}"
        if folder[0] == "compiler" and len(folder) > 1 and folder[1] in ("autodiff", "lowering"):
            if path.as_posix() not in exempt:
                for word in re.findall(r"\bgraph::(\w+Op)\b|\b(\w+Op)\b", line.split("//")[0]):
                    name = word[0] or word[1]
                    if name in ops and (word[0] or "graph::" in line):
                        yield number, f"names the op {name}; engines see interfaces only"


# What stands outside of a wall on purpose, each with its reason.
EXEMPT = {
    # Formulas of the model's own functions, written as graph ops: initializers, optimizers, schedules. The engine, the
    # reverse walk over whatever ops a model holds, is Gradient.cpp.
    "compiler/autodiff/DeriveFunctions.cpp",
    "compiler/autodiff/Optimizer.cpp",
    "compiler/autodiff/Schedule.cpp",
    "compiler/fusion/Access.h",  # how ops read their operands: an analysis, no pass
}


def check(root):
    ops = opNames(root)
    found = []
    for top in ("runtime", "compiler"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SOURCES or not path.is_file():
                continue
            relative = path.relative_to(root)
            for number, message in breaches(relative, relative.parts[:-1], path.read_text(), ops, EXEMPT):
                found.append(f"{relative}:{number}: {message}")
    return found


def main():
    found = check(pathlib.Path(sys.argv[1]))
    print("\n".join(found) if found else "all walls stand")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
