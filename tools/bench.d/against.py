"""Compares two builds of Mekik kernel by kernel: both run the same step in turn, so what changes the machine's pace
changes it for both."""
import statistics

import rows

# A kernel is named if its time differs by so much, and if it is that share of the step.
NOTABLE_DIFFERENCE = 0.02
NOTABLE_SHARE = 0.005
SMALLEST_US = 0.1  # what a profile shows, but for nothing


def times(bench, library, function):
    """Microseconds of a call by kernel and line: the sum of the least times of its dispatches."""
    table = bench.profile(library, function, bench.threads[0])
    return {(kernel["kernel"], kernel["line"]): kernel["least_us"] for kernel in rows.profile(table)}


def compare(bench, other, row):
    """One row, on the first number of threads: lines for a terminal, or None if its model is not in this tree. Ratios
    are times of `bench` as a part of those of `other`, the median over rounds."""
    if not bench.model(row.model):
        return None
    libraries = [(each, each.shared_library(row.model, row.defines)) for each in (bench, other)]
    rounds = [[times(each, library, row.function) for each, library in libraries] for _ in range(bench.rounds)]
    for each, _ in libraries:
        each.tidy()

    def median(of, kernel):
        return statistics.median(one[of].get(kernel, 0) for one in rounds)

    def ratio(kernel):
        return statistics.median(own[kernel] / max(theirs[kernel], SMALLEST_US) for own, theirs in rounds)

    own, theirs = (set(one) for one in rounds[0])
    whole = statistics.median(sum(one[0].values()) for one in rounds)
    together = statistics.median(sum(one[0].values()) / sum(one[1].values()) for one in rounds)
    lines = [f"{row.title}, {bench.threads[0]} thread{'s' if bench.threads[0] > 1 else ''}: "
             f"{whole:,.1f} us, {together:.3f} of the time of {other.build}"]
    for kernel in sorted(own & theirs, key=lambda kernel: -median(0, kernel)):
        if median(0, kernel) >= NOTABLE_SHARE * whole and abs(ratio(kernel) - 1) >= NOTABLE_DIFFERENCE:
            lines.append(f"  {kernel[0]} line {kernel[1]}: {median(0, kernel):,.1f} us, {ratio(kernel):.3f}")
    for of, name, kernels in ((0, bench.build, own - theirs), (1, other.build, theirs - own)):
        for kernel in sorted(kernels, key=lambda kernel: -median(of, kernel)):
            lines.append(f"  {kernel[0]} line {kernel[1]}: {median(of, kernel):,.1f} us, only in {name}")
    return "\n".join(lines)
