#!/usr/bin/env python3
"""Counts single test cases of ctest runs and prints `N passed, N failed`; exit status 1 if any failed.

ctest knows programs; the cases inside them are in the reports that GoogleTest (one file a program, named after it) and
lit leave beside ctest's. A program that crashed leaves no report and counts as one failure. Each failed case is named,
with the end of what it said: a fault that shows on another machine alone can be told from that.
"""
import pathlib
import sys
import xml.etree.ElementTree as xml


LINES_OF_A_FAILURE = 30


def tell(program, root):
    """Names every failed case of a report, with the end of what it said."""
    for case in root.iter("testcase"):
        for failure in case.findall("failure") + case.findall("error"):
            print(f"FAILED: {program}: {case.get('classname')}: {case.get('name')}", file=sys.stderr)
            said = (failure.text or failure.get("message") or "").strip().splitlines()
            print("\n".join(said[-LINES_OF_A_FAILURE:]), file=sys.stderr)


def cases(report):
    """(passed, failed) of a GoogleTest or lit report, or None if it cannot be read."""
    try:
        root = xml.parse(report).getroot()
    except (OSError, xml.ParseError):
        return None
    tell(report.stem, root)
    suites = [root] if "tests" in root.attrib else root.findall("testsuite")
    count = lambda name: sum(int(suite.get(name, 0)) for suite in suites)
    failed = count("failures") + count("errors")
    return count("tests") - count("skipped") - count("disabled") - failed, failed


def tally(folder):
    passed = failed = 0
    report = xml.parse(folder / "ctest.xml").getroot()
    for case in report.iter("testcase"):
        name = case.get("name")
        broken = case.get("status") not in ("run", "notrun", "disabled")
        if case.get("status") != "run" and not broken:
            continue
        inside = cases(folder / f"{name}.xml")
        if inside is None or (broken and inside[1] == 0):
            inside = (0, 1) if broken else (1, 0)
        passed += inside[0]
        failed += inside[1]
        if inside[1]:
            print(f"FAILED: {name}", file=sys.stderr)
    return passed, failed


def main():
    passed = failed = 0
    for folder in sys.argv[1:]:
        try:
            more = tally(pathlib.Path(folder))
        except (OSError, xml.ParseError) as error:
            print(f"FAILED: no test report in {folder}: {error}", file=sys.stderr)
            more = (0, 1)
        passed += more[0]
        failed += more[1]
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
