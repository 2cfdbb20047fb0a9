#!/usr/bin/env python3
"""Proves that pages.py sees each kind of change: plants one at a time in a page of its own and in its translation."""
import os
import pathlib
import sys
import tempfile

PAGE = """# A page

## One

```console
$ export WORD=abc
$ printf 'one 1.25\\ntwo\\n\\nthree\\nfour\\n'; echo $WORD >&2
one 1.25
two
...
three
...
abc
$ echo \\
  again
again
$ echo 'Model x; 2 threads'; echo 'Done: 3 steps in 1.5 s. Best 7'
Model x; 9 threads
Done: 3 steps in 2 min 05 s. Best 7
```

It is `1.25`.

## Two

    $ ls models; echo 4.5
    small.mekik
    4.5

From one `1.25` to another `4.5`.

    $ (echo 'x: error: no'; exit 1)
    x: error: no
"""

# What is changed into what, in the page (0) or in its translation (1), and where and as what it must be told.
PLANTS = [
    (0, "\none 1.25\n", "\none 1.26\n", "page.md:8:", "'one 1.26'\n  found:    'one 1.25'"),
    (1, "\none 1.25\n", "\none 1.26\n", "translation.md:8:", "'one 1.26'\n  found:    'one 1.25'"),
    (0, "\none 1.25\ntwo\n", "\ntwo\none 1.25\n", "page.md:8:", "'two'\n  found:    'one 1.25'"),
    (0, "\ntwo\n...\n", "\ntwo\n", "page.md:10:", "'three'\n  found:    ''"),
    (0, "\nthree\n", "\nfive\n", "page.md:11:", "'five'"),
    (0, "\nabc\n", "\nabd\n", "page.md:13:", "'abd'\n  found:    'abc'"),
    (0, "\n...\nabc\n", "\nfour\n", "page.md:11:", "'three'\n  found:    'four'"),
    (0, "\nagain\n", "\n", "page.md:16:", "nothing more\n  found:    'again'"),
    (0, "\nagain\n", "\nagain\nagain\n", "page.md:17:", "'again'\n  found:    nothing more"),
    (0, "Best 7\n```", "Best 8\n```", "page.md:19:", "in 2 min 05 s. Best 8'"),
    (0, "is `1.25`", "is `1.2`", "page.md:22:", "`1.2` is in no output"),
    (0, "is `1.25`", "is `25`", "page.md:22:", "`25` is in no output"),
    (1, "is `1.25`", "is `1,25`", "translation.md:22:", "`1,25` is in no output"),
    (0, "is `1.25`", "is `4.5`", "page.md:22:", "`4.5` is in no output"),
    (1, "echo $WORD", "echo  $WORD", "translation.md:7:", "expected the command of page.md:7"),
    (1, "$ export WORD=abc\n", "", "translation.md:6:", "expected the command of page.md:6"),
    (1, "    $ (echo 'x: error: no'; exit 1)\n    x: error: no\n", "", "translation.md:", "the 6 commands of page.md, found 5"),
    (2, "exit 1", "exit 0", "page.md:32:", "expected a failure, found exit status 0"),
    (2, "echo 4.5", "echo 4.5; false", "page.md:26:", "expected exit status 0, found exit status 1"),
]


def findings(pages, *options):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "models").mkdir()
        (root / "models/small.mekik").touch()
        os.environ["MEKIK_SOURCE_DIR"] = os.environ["MEKIK_BINARY_DIR"] = folder
        os.chdir(folder)
        sys.modules.pop("pages", None)
        import pages as program
        for name, text in pages.items():
            pathlib.Path(name).write_text(text)
        messages = program.main([*options, *pages])
        return messages, {name: pathlib.Path(name).read_text() for name in pages}


failures = []
messages, _ = findings({"page.md": PAGE, "translation.md": PAGE})
if messages:
    failures.append(f"told without a reason: {messages}")
for which, old, new, place, words in PLANTS:
    assert PAGE.count(old) == 1, old
    changed = PAGE.replace(old, new)
    pair = {"page.md": changed if which != 1 else PAGE, "translation.md": changed if which != 0 else PAGE}
    messages, _ = findings(pair)
    if not any(message.startswith(place) and words in message for message in messages):
        failures.append(f"not seen: {old!r} as {new!r}; expected {place} ... {words!r}, found {messages}")

# What --write writes is right, and a page that is right stays as it is.
stale = PAGE.replace("\none 1.25\ntwo\n", "\none 3\n2\n").replace("\nagain\n", "\n").replace("is `1.25`", "is it")
_, written = findings({"page.md": stale, "translation.md": PAGE}, "--write")
if written != {"page.md": PAGE.replace("is `1.25`", "is it"), "translation.md": PAGE}:
    failures.append(f"--write wrote {written}")
messages, written = findings({"page.md": PAGE.replace("\nthree\n", "\nfive\n")}, "--write")
if "page.md:8: what stands between elisions is no longer printed" not in messages:
    failures.append(f"--write placed what is not there: {messages} {written}")

print("\n".join(failures) or f"{len(PLANTS)} changes seen")
sys.exit(1 if failures else 0)
