# Text tests: every .mlir and .test file below tests/ says in its RUN lines how it is run and in its CHECK lines what comes out.
# mekik-opt and FileCheck are found by name; %S and %s are lit's own. A pipe fails if any part of it does, so what reads
# must read to the end: `... | grep -q` now and then fails what writes.
import os

import lit.formats

config.name = "mekik"
# A compiler that runs away must not take the machine with it.
config.test_format = lit.formats.ShTest(execute_external=True, preamble_commands=["ulimit -v 8000000"])
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)
# ctest says where things are; by hand, `lit tests` takes the usual places.
build = os.environ.get("MEKIK_BINARY_DIR", os.path.join(os.path.dirname(__file__), "..", "build"))
tools = os.environ.get("MEKIK_LLVM_TOOLS", "/usr/lib/llvm-22/bin")
config.test_exec_root = os.path.join(build, "lit")
config.environment["PATH"] = os.pathsep.join([os.path.join(build, "bin"), tools, config.environment["PATH"]])
