"""A page of documentation: the commands it shows, the lines it shows behind them, and the numbers it quotes.

A block with commands is a fence of kind `console`, or text indented by four blanks that has a line beginning with `$ `.
A command begins with `$ ` and goes on in the next line behind a backslash. What follows, up to the next command or the
end of the block, is what it prints; a line `...` stands for any lines. Blank lines at the end do not count.

A number in backticks outside of blocks quotes Mekik, so it must stand in a block of the same chapter (`## `) or of one
before it.
"""
import dataclasses
import re

NUMBER = re.compile(r"`(-?\d[\d.,]*)`")
ELISION = "..."


@dataclasses.dataclass
class Command:
    text: str
    line: int          # of the page, from 1
    shown: list        # lines of output
    first: int         # index into the lines of the page at which they stand
    indent: str


@dataclasses.dataclass
class Page:
    name: str          # for messages
    lines: list
    commands: list
    quotes: list       # (line, number, chapter)
    chapters: list     # of each chapter, the text of its blocks


def read(name, text):
    page = Page(name, text.split("\n"), [], [], [""])
    fence, at = None, 0
    while at < len(page.lines):
        line = page.lines[at]
        if fence is None and line.startswith("## "):
            page.chapters.append("")
        if fence is None and line.startswith("```"):
            fence, begin = line[3:], at + 1
        elif fence is not None and line == "```":
            block(page, begin, at, "", fence == "console")
            fence = None
        elif fence is None and line.startswith("    "):
            end = at
            while end < len(page.lines) and (not page.lines[end] or page.lines[end].startswith("    ")):
                end += 1
            block(page, at, end, "    ", any(text.startswith("    $ ") for text in page.lines[at:end]))
            at = end - 1
        elif fence is None:
            page.quotes += [(at + 1, number, len(page.chapters) - 1) for number in NUMBER.findall(line)]
        at += 1
    return page


def block(page, begin, end, indent, is_console):
    """Adds the commands of the lines from `begin` to before `end`."""
    lines = [line[len(indent):] for line in page.lines[begin:end]]
    page.chapters[-1] += "\n".join(lines) + "\n"
    at = 0
    while is_console and at < len(lines):
        if not lines[at].startswith("$ "):
            raise SystemExit(f"{page.name}:{begin + at + 1}: expected a command behind `$ `, found {lines[at]!r}")
        line, text = begin + at + 1, lines[at][2:]
        while text.endswith("\\") and at + 1 < len(lines):
            at += 1
            text += "\n" + lines[at]
        first = at = at + 1
        while at < len(lines) and not lines[at].startswith("$ "):
            at += 1
        page.commands.append(Command(text, line, trimmed(lines[first:at]), begin + first, indent))


def trimmed(lines):
    while lines and not lines[-1]:
        lines = lines[:-1]
    return lines


# What may differ between equal runs, and nothing else: the time of a run, and how many threads it had.
MASKS = [(re.compile(r"^(Model .*; )\d+ threads?$"), r"\1N threads"),
         (re.compile(r"^(Done: .* steps? in )\d+(\.\d+)? (ms|s|min|h)( \d\d (s|min))?\. "), r"\1TIME. ")]


def masked(line):
    for mask, text in MASKS:
        line = mask.sub(text, line)
    return line


def segments(shown):
    """What stands between elisions: (index of its first line, its lines)."""
    parts, first = [], 0
    for at, line in enumerate(shown + [ELISION]):
        if line == ELISION:
            parts.append((first, shown[first:at]))
            first = at + 1
    return parts


def agreeing(lines, found):
    """How many of the lines agree before the first that does not."""
    for at, line in enumerate(lines):
        if at >= len(found) or masked(line) != masked(found[at]):
            return at
    return len(lines)


def places(shown, found):
    """Where the segments stand in `found`, or None; and the first disagreement (index into shown, found line)."""
    parts, begin, where = segments(shown), 0, []
    for number, (first, lines) in enumerate(parts):
        last_place = len(found) - len(lines)
        if number == 0:
            tries = [0]
        elif number == len(parts) - 1:
            tries = [max(begin, last_place)]
        else:
            tries = range(begin, max(begin, last_place) + 1)
        best = max(tries, key=lambda place: agreeing(lines, found[place:]))
        agreed = agreeing(lines, found[best:])
        if agreed < len(lines):
            line = found[best + agreed] if best + agreed < len(found) else None
            return None, (first + agreed, line)
        where.append(best)
        begin = best + len(lines)
    if begin < len(found) and len(parts) == 1:
        return None, (len(shown), found[begin])
    return where, None


def refreshed(shown, found):
    """`shown` with the lines of `found`, elided in the same places; None if they are no longer to be found."""
    parts, begin, result = segments(shown), 0, []
    if len(parts) == 1:
        return [old if masked(old) == masked(new) else new for old, new in zip(shown + [""] * len(found), found)]
    digits = lambda lines: [re.sub(r"[\d.,]+", "0", line) for line in lines]
    for number, (_, lines) in enumerate(parts):
        place = 0 if number == 0 else len(found) - len(lines) if number == len(parts) - 1 else None
        if place is None:
            alike = [at for at in range(begin, len(found) - len(lines) + 1)
                     if digits(found[at:at + len(lines)]) == digits(lines)]
            place = max(alike, key=lambda at: agreeing(lines, found[at:]), default=-1)
        if place < begin or place + len(lines) > len(found):
            return None
        new = found[place:place + len(lines)]
        result += [ELISION] * (number > 0) + [a if masked(a) == masked(b) else b for a, b in zip(lines, new)]
        begin = place + len(lines)
    return result
