"""Results as text for people, as tables of docs/performance.md, and as pictures beside it."""
import math
import os
import re
import textwrap

import plot
from measure import Failure


def ms(value):
    """Three digits that mean something."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def with_spread(one, scale=1.0):
    return f"{ms(one['median'] * scale)} ({ms(one['least'] * scale)}..{ms(one['most'] * scale)})"


def size(count):
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def table(head, body):
    aligned = "|" + "|".join("---" if index == 0 else "---:" for index in range(len(head))) + "|"
    lines = ["| " + " | ".join(head) + " |", aligned]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in body])


def chosen(results, kind):
    return [row for row in results.values() if row["kind"] == kind]


def machine(results):
    best, name, cores = {}, "", 0
    for row in results.values():
        name, cores = row["machine"]["processor"], row["machine"]["cores"]
        for threads, limit in row["machine"]["limits"].items():
            known = best.setdefault(threads, dict(limit))
            for key in ("operations_per_second", "bytes_per_second"):
                known[key] = max(known[key], limit[key])
    body = [[threads, f"{limit['operations_per_second'] / 1e9:.0f} GFLOP/s",
             f"{limit['bytes_per_second'] / 1e9:.1f} GB/s"]
            for threads, limit in sorted(best.items(), key=lambda item: int(item[0]))]
    busy = max((row["machine"].get("load", 0) for row in results.values()), default=0)
    text = f"{name}, {cores} cores."
    if busy > 0.5:
        text += (f" **It was busy with other work: a load of up to {busy:.0f} before a row began.** That makes every "
                 "time longer, those of several threads most, of Mekik and peers alike, and the shares of the limit "
                 "smaller.")
    return textwrap.fill(text, 120) + "\n\n" + table(["threads", "multiply-adds", "memory, updates"], body)


def calls(results):
    body = []
    for row in chosen(results, "calls"):
        for entry in row["threads"]:
            share = entry["limit_ms"] / entry["mekik"]["median"]
            goal = "-"
            if "goal" in entry:
                wanted = entry["limit_ms"] / entry["goal"]
                goal = f"{ms(wanted)}, {'reached' if entry['mekik']['median'] <= wanted else 'not reached'}"
            # Whoever has more threads may still use fewer: some peers are faster that way.
            peers = [(peer["median"], other["threads"], peer) for other in row["threads"]
                     if other["threads"] <= entry["threads"] for peer in other["peers"]]
            best, ratio = "-", "-"
            if peers:
                median, threads, peer = min(peers, key=lambda one: one[:2])
                same = threads == entry["threads"]
                best = f"{peer['name']}{'' if same else f', {threads} thr.'}: {with_spread(peer)}"
                ratio = f"{peer['ratio'] if same else median / entry['mekik']['median']:.1f}"
            body.append([row["title"], entry["threads"], ms(entry["limit_ms"]), with_spread(entry["mekik"]),
                         f"{100 * share:.0f} %", goal, best, ratio])
    return table(["work", "threads", "limit", "Mekik", "of the limit", "goal", "best peer", "peer / Mekik"], body)


def estimates(results):
    body = []
    for row in chosen(results, "calls"):
        for entry in row["threads"] if row.get("estimate") else []:
            key = {1: "one_core_seconds", os.cpu_count(): "all_cores_seconds"}.get(entry["threads"])
            if key:
                expected = 1e3 * row["estimate"][key]
                body.append([row["title"], entry["threads"], ms(expected), with_spread(entry["mekik"]),
                             f"{100 * (expected / entry['mekik']['median'] - 1):+.0f} %"])
    return table(["work", "threads", "`mekik plan`", "measured", "difference"], body)


def training(results):
    body = [[row["title"], entry["threads"], with_spread(entry["mekik"]),
             with_spread(entry["numpy"]) if entry["numpy"] else "-"]
            for row in chosen(results, "training") for entry in row["threads"]]
    return table(["work", "threads", "Mekik, s", "numpy, s: start and steps alone"], body)


def compiling(results):
    body, cases = [], [case for row in chosen(results, "compile") for case in row["cases"]]
    for case in cases:
        body.append([case["name"], with_spread(case["seconds"]), f"{case['bytes'] / 1024:,.0f} KiB"])
    text = table(["model, all functions", "seconds", "object file"], body)
    by_name = {case["name"]: case for case in cases}
    deep, shallow = by_name.get("gpt2, 48 layers"), by_name.get("gpt2, 12 layers")
    if deep and shallow:
        longer = deep["seconds"]["median"] / shallow["seconds"]["median"]
        larger = deep["bytes"] / shallow["bytes"]
        text += f"\n\n48 layers take {longer:.2f} times as long as 12; their object is {larger:.2f} times as large."
    firsts = [f"{peer['name']} {peer['first_step_seconds']:.1f} s ({row['title']})"
              for row in chosen(results, "calls") if row["function"] == "train_step"
              for peer in row["threads"][0]["peers"]]
    if firsts:
        text += "\n\n" + textwrap.fill("What peers take from their start to the end of the first step, where Mekik "
                                       "compiles: " + ", ".join(firsts) + ".", 120)
    return text


def memory(results):
    body = []
    for row in chosen(results, "calls"):
        if row["function"] != "train_step":
            continue
        for entry in row["threads"]:
            difference = entry["peak_bytes"] - entry["planned_bytes"]
            peers = ", ".join(f"{peer['name']}: {size(peer['peak_bytes'])}" for peer in entry["peers"]) or "-"
            body.append([row["title"], entry["threads"], size(entry["planned_bytes"]), size(entry["peak_bytes"]),
                         f"{difference / 1e6:+.1f} MB", peers])
    return table(["work", "threads", "`mekik plan`", "resident, at most", "difference", "peers"], body)


def profiles(results):
    body = []
    for row in chosen(results, "calls"):
        kernels = row.get("profile") or []
        total = sum(kernel["least_us"] for kernel in kernels)
        if not total:
            continue
        share = sum(kernel["least_us"] for kernel in kernels if kernel["kernel"].startswith("contraction")) / total
        slowest = sorted(kernels, key=lambda kernel: -kernel["least_us"])[:3]
        text = "; ".join(f"`{kernel['kernel']}` line {kernel['line']}: {100 * kernel['least_us'] / total:.0f} %, "
                         f"{kernel['gflops']:.0f} GFLOP/s" for kernel in slowest)
        body.append([row["title"], f"{100 * share:.0f} %", text])
    return table(["work, one thread", "in contractions", "three slowest kernels: share of the step, speed"], body)


def matrices(results):
    """Per shape: share of the peak, and the ratio to the better of the others."""
    parts = []
    for row in chosen(results, "matrices"):
        for entry in row["threads"]:
            peak, body, ratios = entry["operations_per_second"] / 1e9, [], []
            for shape in entry["shapes"]:
                own = shape["mekik"]
                others = {name: shape[name] for name in ("onednn", "openblas") if shape.get(name)}
                cells = [f"{shape[name]['median']:.0f}" if shape.get(name) else "-" for name in ("onednn", "openblas")]
                ratio = "-"
                if others:
                    best = max(other["median"] for other in others.values())
                    ratios.append(own["median"] / best)
                    ratio = f"{ratios[-1]:.2f}"
                body.append([shape["name"], f"{own['median']:.0f} ({own['least']:.0f}..{own['most']:.0f})",
                             f"{100 * own['median'] / peak:.0f} %", *cells, ratio])
            text = f"{entry['threads']} thread{'s' if entry['threads'] > 1 else ''}, peak {peak:.0f} GFLOP/s:\n\n"
            text += table(["M x N x K", "Mekik, GFLOP/s", "of the peak", "oneDNN", "OpenBLAS", "Mekik / better"], body)
            if ratios:
                mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
                text += (f"\n\nGeometric mean of the last column: {mean:.2f}; "
                         f"{sum(ratio >= 0.97 for ratio in ratios)} of {len(ratios)} at 0.97 or above.")
            parts.append(text)
    return "\n\n".join(parts)


AXES = {"width": "channels", "layers": "layers", "context": "symbols of context", "threads": "threads"}


def pictures(results):
    """File name and text of every plot."""
    for row in chosen(results, "scaling"):
        for axis, points in row["axes"].items():
            lines = {}
            for point in points:
                for entry in point["series"]:
                    threads = entry["threads"]
                    suffix = "" if axis == "threads" else f", {threads} thread{'s' if threads > 1 else ''}"
                    for key, name, dashed in (("ms", "Mekik", False), ("torch_ms", "PyTorch", False),
                                              ("limit_ms", "limit", True)):
                        if key in entry:
                            lines.setdefault((name + suffix, dashed), []).append((point["value"], entry[key]))
            series = [(name, places, dashed) for (name, dashed), places in lines.items()]
            yield f"{axis}.svg", plot.loglog(f"A training step of shakespeare against {AXES[axis]}", AXES[axis],
                                             "milliseconds a step", series, [point["value"] for point in points])


def scaling(results):
    return "\n".join(f"![milliseconds a step against {AXES[name[:-4]]}](performance/{name})"
                     for name, _ in pictures(results))


BLOCKS = {"machine": machine, "calls": calls, "training": training, "compile": compiling, "memory": memory, "estimates": estimates,
          "profile": profiles, "matrices": matrices, "scaling": scaling}


def text(name, row):
    """One row for a terminal."""
    kind = {"calls": "calls", "scaling": "scaling"}.get(row["kind"], row["kind"])
    if kind == "scaling":
        return "\n".join(f"{axis} {point['value']}: " + ", ".join(
            f"{entry['threads']} thr {ms(entry['ms'])} ms (limit {ms(entry['limit_ms'])})" for entry in point["series"])
            for axis, points in row["axes"].items() for point in points)
    return plain(BLOCKS[kind]({name: row}))


def plain(markdown):
    """A Markdown table with its columns in line."""
    lines = [line for line in markdown.splitlines() if not re.fullmatch(r"\|[-:|]+\|", line)]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else None for line in lines]
    widths = {}
    for row in filter(None, cells):
        for column, cell in enumerate(row):
            widths[column] = max(widths.get(column, 0), len(cell))
    return "\n".join(line if row is None else "  ".join(
        cell.ljust(widths[column]) if column == 0 else cell.rjust(widths[column]) for column, cell in enumerate(row))
        for line, row in zip(lines, cells))


def write(root, results):
    """Puts every block for which there are results between its markers, and the pictures beside the page."""
    page = root / "docs" / "performance.md"
    content = page.read_text(encoding="utf-8")
    for name, block in BLOCKS.items():
        pattern = re.compile(rf"(<!-- bench: {name} -->\n).*?(<!-- bench: end -->)", re.DOTALL)
        if not pattern.search(content):
            raise Failure(f"{page}: expected the lines '<!-- bench: {name} -->' and '<!-- bench: end -->'; put them "
                          "where the table belongs")
        if results and (name == "machine" or chosen(results, name)
                        or (name in ("memory", "profile", "estimates") and chosen(results, "calls"))):
            made = block(results)
            content = pattern.sub(lambda match: match[1] + "\n" + made + "\n\n" + match[2], content)
    written = []
    for name, drawing in pictures(results):
        path = root / "docs" / "performance" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(drawing, encoding="utf-8")
        written.append(path)
    page.write_text(content, encoding="utf-8")
    return [page, *written]
