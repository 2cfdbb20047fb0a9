#!/usr/bin/env python3
"""Proves that check.py sees each kind of breach: plants one at a time in a small house of its own."""
import pathlib
import sys
import tempfile

import check

ODS = 'def Graph_TanhOp : Graph_Op<"tanh">;\n'
PLANTS = {
    "runtime/model/Model.cpp": '#include "compiler/graph/Graph.h"',
    "runtime/base/File.cpp": "#include <llvm/ADT/ArrayRef.h>",
    "compiler/emit/Object.cpp": '#include "runtime/base/Status.h"',
    "compiler/syntax/Lexer.cpp": '#include "mlir/IR/Builders.h"',
    "compiler/fusion/FormKernels.cpp": '#include "compiler/memory/PlanArena.h"',
    "compiler/autodiff/Gradient.cpp": "if (auto tanh = dyn_cast<graph::TanhOp>(op))",
    "compiler/lowering/EmitLoops.cpp": "return isa<mekik::graph::TanhOp>(op);",
}
ALLOWED = {
    "runtime/model/Model.cpp": '#include "runtime/abi/MekikAbi.h"',
    "compiler/emit/Object.cpp": '#include "runtime/abi/MekikAbi.h"',
    "compiler/fusion/FormKernels.cpp": '#include "compiler/fusion/Access.h"',
    "compiler/lowering/EmitLoops.cpp": "// as for graph::TanhOp",
}


def findings(path, line):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in (("compiler/graph/Graph.td", ODS), (path, line + "\n")):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        (root / "runtime").mkdir(exist_ok=True)
        return check.check(root)


missed = [path for path, line in PLANTS.items() if len(findings(path, line)) != 1]
wrong = [path for path, line in ALLOWED.items() if findings(path, line)]
for path in missed:
    print(f"not seen: {path}: {PLANTS[path]}")
for path in wrong:
    print(f"wrongly seen: {path}: {ALLOWED[path]}")
sys.exit(1 if missed or wrong else 0)
