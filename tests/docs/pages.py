#!/usr/bin/env python3
"""Runs the commands of a page of documentation, in order and as printed, and holds the page to what they print.

Usage: pages.py [--write] PAGE [TRANSLATION]

The commands run in one shell whose folder looks like a fresh clone: a copy of models/, and build/bin. Numbers are equal on
every machine, so lines are compared as they are; only the time of a run and its number of threads may differ (MASKS in
page.py). A command fails if and only if the page shows a line with "error: ". A translation must show the same commands in
the same order, and is held to the same output. --write puts the output into the pages instead.

MEKIK_SOURCE_DIR and MEKIK_BINARY_DIR say where things are; without them, this clone and its build/.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import page as pages

SOURCE = pathlib.Path(os.environ.get("MEKIK_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BINARY = pathlib.Path(os.environ.get("MEKIK_BINARY_DIR", SOURCE / "build"))
SECONDS = 600


def clone(name):
    """A folder for the commands of a page, without what an earlier run left in it."""
    path = BINARY / "tests" / "docs" / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    shutil.copytree(SOURCE / "models", path / "models")
    (path / "build").mkdir()
    (path / "build/bin").symlink_to(BINARY / "bin")
    return path


def run(commands, folder):
    """Of each command, the lines it prints and its exit status."""
    script = "".join(f"printf '\\036'\n{command}\nprintf '\\036%s\\n' $?\n" for command in commands)
    environment = {**os.environ, "MEKIK_CACHE": str(folder / "build/cache"), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
    results = re.findall(r"\036(.*?)\036(\d+)\n", done.stdout.decode(), re.DOTALL)
    if len(results) != len(commands):
        sys.exit(f"the shell ended in {commands[len(results)]!r}:\n{done.stdout.decode()}")
    return [(pages.trimmed(text.removesuffix("\n").split("\n")), int(status)) for text, status in results]


def same_commands(page, translation):
    """What a translation does not do as the page does."""
    for one, other in zip(page.commands, translation.commands):
        if one.text != other.text:
            return [f"{translation.name}:{other.line}: expected the command of {page.name}:{one.line}: {one.text!r}\n"
                    f"  found: {other.text!r}"]
    if len(page.commands) != len(translation.commands):
        return [f"{translation.name}: expected the {len(page.commands)} commands of {page.name}, "
                f"found {len(translation.commands)}"]
    return []


def differences(page, results):
    """What a page shows otherwise than it is."""
    told = []
    for command, (found, status) in zip(page.commands, results):
        _, difference = pages.places(command.shown, found)
        if difference:
            at, line = difference
            expected = repr(command.shown[at]) if at < len(command.shown) else "nothing more"
            told.append(f"{page.name}:{command.first + at + 1}: $ {command.text.splitlines()[0]}\n  expected: {expected}\n"
                        f"  found:    {'nothing more' if line is None else repr(line)}")
        fails = any("error: " in line for line in command.shown)
        if fails != (status != 0):
            told.append(f"{page.name}:{command.line}: $ {command.text.splitlines()[0]}\n  expected "
                        f"{'a failure' if fails else 'exit status 0'}, found exit status {status}")
    for line, number, chapter in page.quotes:
        if not re.search(rf"(?<![\d.,-]){re.escape(number)}(?![.,]?\d)", "\n".join(page.chapters[:chapter + 1])):
            told.append(f"{page.name}:{line}: `{number}` is in no output up to the end of this chapter")
    return told


def write(page, results):
    """The text of the page with what its commands print, and what could not be placed."""
    lines, told = list(page.lines), []
    for command, (found, _) in reversed(list(zip(page.commands, results))):
        shown = pages.refreshed(command.shown, found)
        if shown is None:
            told.append(f"{page.name}:{command.first + 1}: what stands between elisions is no longer printed")
            continue
        lines[command.first:command.first + len(command.shown)] = [
            command.indent + line if line else "" for line in shown]
    return "\n".join(lines), told


def main(arguments):
    writing = "--write" in arguments
    paths = [pathlib.Path(name) for name in arguments if name != "--write"]
    read = [pages.read(str(path), path.read_text()) for path in paths]
    if not read or not read[0].commands:
        return ["no commands to run"]
    told = [message for translation in read[1:] for message in same_commands(read[0], translation)]
    if told:
        return told
    results = run([command.text for command in read[0].commands], clone(paths[0].stem))
    for path, page in zip(paths, read):
        if writing:
            text, messages = write(page, results)
            told += messages
            path.write_text(text)
        else:
            told += differences(page, results)
    return told


if __name__ == "__main__":
    messages = main(sys.argv[1:])
    print("\n".join(messages), file=sys.stderr)
    sys.exit(1 if messages else 0)
