"""What is measured: each row with its model, its peers, and the share of the machine's limit it is meant to reach."""
import json
import re
import statistics

from measure import define_words, spread

# Gradient, parameter and both moments are read, parameter and both moments written: seven times four bytes.
OPTIMIZER_BYTES = 28
# Below this the optimizer's arrays stay in cache, and their traffic is not held against memory.
LARGE_MODEL = 10_000_000


def limit_ms(call, limit, function):
    ms = 1e3 * call["operations"] / limit["operations_per_second"]
    if function == "train_step" and call["parameters"] > LARGE_MODEL:
        ms += 1e3 * OPTIMIZER_BYTES * call["parameters"] / limit["bytes_per_second"]
    return ms


class Calls:
    """Time of one call of a function, product and peers in turn."""

    def __init__(self, title, model, defines, function, peers, goal=None):
        self.title, self.model, self.defines, self.function = title, model, defines, function
        self.peers = peers  # as Bench.peer takes them
        self.goal = goal    # share of the limit, by number of threads; the last holds for more

    def measure(self, bench):
        if not bench.model(self.model):
            return None
        bench.say(f"{self.title}: compiling")
        library = bench.shared_library(self.model, self.defines)
        found = {"kind": "calls", "title": self.title, "function": self.function, "threads": []}
        if self.function == "train_step":
            found["estimate"] = bench.estimate(self.model, self.defines)
        for threads in bench.threads:
            bench.say(f"{self.title}: {threads} thread{'s' if threads > 1 else ''}")
            limit = bench.limit(threads)
            rounds = []
            for _ in range(bench.rounds):
                rounds.append([bench.call(library, self.function, threads)])
                rounds[-1] += filter(None, (bench.peer(peer, threads) for peer in self.peers))
            limit = bench.limit(threads)
            product = [one[0] for one in rounds]
            entry = {"threads": threads, "limit_ms": limit_ms(product[0], limit, self.function),
                     "operations": product[0]["operations"], "planned_bytes": product[0]["planned_bytes"],
                     "peak_bytes": max(call["peak_bytes"] for call in product),
                     "mekik": spread([call["ms"] for call in product]),
                     "fastest_ms": min(call["least_ms"] for call in product), "peers": []}
            if self.goal:
                entry["goal"] = self.goal[min(threads, len(self.goal)) - 1]
            for index in range(1, len(rounds[0])):
                peer = [one[index] for one in rounds]
                entry["peers"].append({
                    "name": peer[0]["peer"], **spread([call["ms"] for call in peer]),
                    "fastest_ms": min(call["least_ms"] for call in peer),
                    "first_step_seconds": statistics.median(call["first_step_seconds"] for call in peer),
                    "peak_bytes": max(call["peak_bytes"] for call in peer),
                    "ratio": statistics.median(other["ms"] / own["ms"] for own, other in zip(product, peer))})
            found["threads"].append(entry)
        if self.function == "train_step":
            found["profile"] = profile(bench.profile(library, self.function, bench.threads[0]))
        bench.tidy()
        return found


ROW = re.compile(r"^(\S+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)%\s+(\d+)\s+(\d+)\s+([\d.]+)\s+(\S+)")


def profile(table):
    """Kernels by the sum of their least times."""
    kernels = []
    for line in table.splitlines():
        if match := ROW.match(line):
            kernels.append({"kernel": match[1], "least_us": float(match[3]), "gflops": float(match[7]),
                            "line": match[8]})
    return kernels


class Training:
    """The whole of a training run: data, steps, evaluations, checkpoints."""
    title = "the book's GPT, 3,000 steps with evaluations and checkpoints"
    steps = 3000

    def measure(self, bench):
        source = bench.model("gpt")
        data = source.parent / "atasozleri.txt"
        program = bench.folder / "gpt-program"
        bench.folder.mkdir(parents=True, exist_ok=True)
        bench.say(f"{self.title}: compiling")
        bench.run(bench.program("mekik"), "compile", source, "--data", data, "-o", program)
        found = {"kind": "training", "title": self.title, "threads": []}
        for threads in bench.threads:
            own, numpy = [], []
            for _ in range(bench.rounds):
                seconds, _ = bench.run(program, "train", "--data", data, "--out", bench.fresh("run"), "--threads",
                                       threads, "--steps", self.steps, timed=True)
                own.append(seconds)
                peer = bench.peer(("numpy", "gpt", "train_step"), threads, seconds=0, least=self.steps)
                if peer:
                    numpy.append(peer["mean_ms"] * self.steps / 1e3 + peer["first_step_seconds"])
            found["threads"].append({"threads": threads, "mekik": spread(own),
                                     "numpy": spread(numpy) if numpy else None})
        return found


class Compiling:
    """Seconds of the compiler, all functions of a model to one object, and the size of the code."""
    title = "compile times and sizes"
    cases = (("gpt", {"vocab": 30}, "the book's GPT"), ("shakespeare", {"vocab": 65}, "shakespeare"),
             ("gpt2", {"batch": 1, "layers": 12}, "gpt2, 12 layers"),
             ("gpt2", {"batch": 1, "layers": 48}, "gpt2, 48 layers"))

    def measure(self, bench):
        found = {"kind": "compile", "title": self.title, "cases": []}
        bench.folder.mkdir(parents=True, exist_ok=True)
        for model, defines, name in self.cases:
            if not bench.model(model):
                continue
            bench.say(f"compiling {name}")
            made = bench.folder / "compiled.o"
            times = [bench.run(bench.program("mekik"), "compile", bench.model(model), "--emit=obj", "-o", made,
                               *define_words(defines), timed=True)[0] for _ in range(min(3, bench.rounds))]
            found["cases"].append({"name": name, "seconds": spread(times), "bytes": made.stat().st_size})
        bench.tidy()
        return found


class Scaling:
    """Time of a step while one size of the model grows."""
    title = "time against width, depth, context, threads"
    axes = {"width": (32, 64, 128, 256, 512), "layers": (1, 2, 4, 8, 16), "context": (16, 32, 64, 128, 256, 512)}

    def measure(self, bench):
        if not bench.model("shakespeare"):
            return None
        found = {"kind": "scaling", "title": self.title, "axes": {}}
        cores = bench.threads[-1]
        for axis, values in self.axes.items():
            points = []
            for value in values:
                bench.say(f"shakespeare with {axis} = {value}")
                library = bench.shared_library("shakespeare", {"vocab": 65, axis: value})
                points.append(self.point(bench, library, value, sorted({1, cores}), (f"--{axis}", str(value))))
            found["axes"][axis] = points
        library = bench.shared_library("shakespeare", {"vocab": 65})
        found["axes"]["threads"] = [self.point(bench, library, threads, (threads,), None)
                                    for threads in range(1, cores + 1)]
        bench.tidy()
        return found

    def point(self, bench, library, value, counts, peer_words):
        point = {"value": value, "series": []}
        for threads in counts:
            call = min((bench.call(library, "train_step", threads, seconds=bench.seconds / 2)
                        for _ in range(min(3, bench.rounds))), key=lambda one: one["ms"])
            entry = {"threads": threads, "ms": call["ms"],
                     "limit_ms": limit_ms(call, bench.limit(threads), "train_step")}
            if threads == max(counts):
                words = ("torch", "shakespeare", "train_step", "--foreach", *(peer_words or ()))
                if peer := bench.peer(words, threads, seconds=bench.seconds / 2):
                    entry["torch_ms"] = peer["ms"]
            point["series"].append(entry)
        return point


class Matrices:
    """Single contractions beside oneDNN and OpenBLAS: the program does the pairs itself."""
    title = "single contractions beside oneDNN and OpenBLAS"

    def measure(self, bench):
        program = bench.build / "bin" / "mekik-bench-contractions"
        if not program.exists():
            bench.say(f"{program} is not built (ninja -C build mekik-bench-contractions); left out")
            return None
        found = {"kind": "matrices", "title": self.title, "threads": []}
        for threads in bench.threads:
            limit = bench.limit(threads)
            bench.say(f"{self.title}: {threads} thread{'s' if threads > 1 else ''}")
            out, _ = bench.run(program, "--threads", threads, "--rounds", bench.rounds)
            limit = bench.limit(threads)
            found["threads"].append({"threads": threads, "operations_per_second": limit["operations_per_second"],
                                     "shapes": [json.loads(line) for line in out.splitlines()]})
        return found


TORCH, NUMPY = "torch", "numpy"
ROWS = {
    "gpt": Calls("the book's GPT, batch 8x16", "gpt", {"vocab": 30}, "train_step",
                 ((NUMPY, "gpt", "train_step"), (TORCH, "gpt", "train_step", "--foreach")), goal=(0.82, 0.41)),
    "shakespeare": Calls("shakespeare, batch 12x64", "shakespeare", {"vocab": 65}, "train_step",
                         ((TORCH, "shakespeare", "train_step", "--foreach"), (NUMPY, "shakespeare", "train_step")),
                         goal=(0.84, 0.76)),
    "gpt2-4x64": Calls("gpt2 124M, batch 4x64", "gpt2", {"batch": 4, "context": 64}, "train_step",
                       ((TORCH, "gpt2", "train_step", "--context", "64"),), goal=(0.885, 0.845)),
    "gpt2-1x1024": Calls("gpt2 124M, batch 1x1024", "gpt2", {"batch": 1, "context": 1024}, "train_step",
                         ((TORCH, "gpt2", "train_step", "--batch", "1"),), goal=(0.82, 0.81)),
    "forward": Calls("the book's GPT, forward pass of one full window", "gpt", {"vocab": 30}, "forward",
                     ((NUMPY, "gpt", "forward", "--batch", "1"),
                      (TORCH, "gpt", "forward", "--batch", "1", "--trace")), goal=(0.12, 0.12)),
    "training": Training(),
    "compile": Compiling(),
    "matrices": Matrices(),
    "scaling": Scaling(),
}
