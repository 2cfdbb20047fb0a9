"""What the tests of trained models share: running programs, folders to work in, comparing bytes, tensor files.

MEKIK_SOURCE_DIR and MEKIK_BINARY_DIR say where things are.
"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

SOURCE = pathlib.Path(os.environ["MEKIK_SOURCE_DIR"])
BINARY = pathlib.Path(os.environ["MEKIK_BINARY_DIR"])
MEKIK = BINARY / "bin" / "mekik"
PROVERBS = SOURCE / "models/gpt/atasozleri.txt"
WORK = BINARY / "tests" / "models"
LLVM = pathlib.Path(os.environ.get("MEKIK_LLVM_TOOLS", "/usr/lib/llvm-22/bin"))


def finished(*command, status=0):
    """Output and errors of a command that ends with `status`."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != status:
        sys.exit(f"{' '.join(str(p) for p in command)}\nexit status {done.returncode}, expected {status}\n{done.stderr}")
    return done


def run(*command):
    return finished(*command).stdout


def folder(name):
    path = WORK / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def log(path):
    """The lines of a training log without what may differ between equal runs."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        del line["seconds"]
    return lines


def same(one, other, *names):
    """A name is that of a file in both folders, or a pair of names."""
    for name in names:
        first, second = (name, name) if isinstance(name, str) else name
        if (one / first).read_bytes() != (other / second).read_bytes():
            sys.exit(f"{one / first} and {other / second} differ")


def equal(found, expected, what):
    if found != expected:
        sys.exit(f"{what}: expected {expected}, found {found}")


def below(found, limit, what):
    if not found < limit:
        sys.exit(f"{what}: expected less than {limit}, found {found}")
    print(f"{what}: {found}")


def safetensors(path, tensors):
    """Writes {name: (type, shape, values)}; the type is I32, F32, F64 or BOOL."""
    header, data = {}, b""
    for name, (type_, shape, values) in tensors.items():
        bytes_ = struct.pack(f"<{len(values)}{dict(I32='i', F32='f', F64='d', BOOL='?')[type_]}", *values)
        header[name] = {"dtype": type_, "shape": shape, "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
