"""Runs the programs that are measured: compiles models, calls product and peers in turn, asks the machine what it can
do at most, keeps results."""
import functools
import importlib.util
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import time


class Failure(Exception):
    """What the user is told."""


def usual_threads():
    cores = len(os.sched_getaffinity(0))
    return [1] if cores == 1 else [1, cores]


def load(path):
    if not path.exists():
        return {}
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Failure(f"{path}: expected JSON, found something else ({error}); remove the file to begin anew") from None


def save(path, kept):
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    beside.replace(path)


def spread(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


class Bench:
    def __init__(self, root, build, folder, threads, rounds, seconds, peers):
        self.root, self.build, self.folder = root, build, folder
        self.threads, self.rounds, self.seconds, self.peers = threads, rounds, seconds, peers
        self.mekik = build / "bin" / "mekik"
        self.limits = {}
        self.load = os.getloadavg()[0]  # of others: nothing has been measured yet

    def say(self, text):
        print(text, file=sys.stderr, flush=True)

    def program(self, name):
        path = self.build / "bin" / name
        if not path.exists():
            raise Failure(f"{path} is missing; build it with: cmake --preset default && ninja -C build {name}")
        return path

    def run(self, *command, timed=False, **more):
        """Standard output of a program; with `timed` the seconds it took, and the output. None if it failed, which is
        said."""
        begun = time.perf_counter()
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, encoding="utf-8", **more)
        seconds = time.perf_counter() - begun
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise Failure(f"{' '.join(str(word) for word in command)}: exit status {done.returncode}: {last}")
        return (seconds, done.stdout) if timed else (done.stdout, done.stderr)

    def model(self, name):
        """The source of a model of models/, or None if this tree has none of that name."""
        path = self.root / "models" / name / f"{name}.mekik"
        if not path.exists():
            self.say(f"models/{name} is not there; left out")
            return None
        return path

    def shared_library(self, name, defines):
        """The compiled model as a shared library."""
        self.folder.mkdir(parents=True, exist_ok=True)
        stem = "-".join([name, *(f"{key}{value}" for key, value in defines.items())])
        made, library = self.folder / f"{stem}.o", self.folder / f"{stem}.so"
        self.run(self.program("mekik"), "compile", self.model(name), "--emit=obj", "-o", made, *define_words(defines))
        self.run("cc", "-shared", made, "-o", library)
        return library

    def call(self, library, function, threads, seconds=None, least=3):
        out, _ = self.run(self.program("mekik-bench-calls"), library, function, "--threads", threads, "--seconds",
                          self.seconds if seconds is None else seconds, "--least-calls", least)
        return json.loads(out)

    def estimate(self, name, defines):
        """What `mekik plan` expects of a training step on this machine, which it measures anew, as it does once for a
        user: {"one_core_seconds": S, "all_cores_seconds": S, ...}."""
        cache = self.fresh("cache")
        cache.mkdir(parents=True)
        out, _ = self.run(self.program("mekik"), "plan", self.model(name), "--json", *define_words(defines),
                          env=dict(os.environ, MEKIK_CACHE=str(cache)))
        return json.loads(out)["step"]

    def profile(self, library, function, threads):
        _, table = self.run(self.program("mekik-bench-calls"), library, function, "--threads", threads, "--seconds",
                            self.seconds, "--profile")
        return table

    @functools.cached_property
    def python(self):
        """Interpreters by the package they can import."""
        found = {}
        for package in ("torch", "numpy"):
            if importlib.util.find_spec(package):
                found[package] = sys.executable
            elif os.path.exists("/usr/bin/python3"):
                looks = f"import importlib.util as u, sys; sys.exit(u.find_spec('{package}') is None)"
                if subprocess.run(["/usr/bin/python3", "-c", looks], check=False).returncode == 0:
                    found[package] = "/usr/bin/python3"
        return found

    def peer(self, words, threads, seconds=None, least=3):
        """One run of a peer such as ("torch", "gpt", "train_step", "--trace"), or None if its package is missing."""
        package, *rest = words
        if not self.peers or package not in self.python:
            return None
        script = pathlib.Path(__file__).parent / "peers" / f"{package}_peer.py"
        out, _ = self.run(self.python[package], "-B", script, *rest, "--threads", threads, "--seconds",
                          self.seconds if seconds is None else seconds, "--least-calls", least)
        return json.loads(out)

    def limit(self, threads):
        """Operations and bytes a second that this machine can do at most with so many threads. Measured once more with
        every row; the best so far counts, for nothing but disturbance makes it smaller."""
        out, _ = self.run(self.program("mekik-bench-peak"), threads, min(0.5, self.seconds))
        found = json.loads(out)
        known = self.limits.setdefault(threads, found)
        for key in ("operations_per_second", "bytes_per_second"):
            known[key] = max(known[key], found[key])
        return known

    def machine(self):
        name = platform.processor() or platform.machine()
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    name = line.split(":", 1)[1].strip()
                    break
        return {"processor": name, "cores": os.cpu_count(), "limits": {str(t): v for t, v in self.limits.items()},
                "load": self.load}

    def tidy(self):
        for path in self.folder.glob("*.o"):
            path.unlink()

    def fresh(self, name):
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        return path


def define_words(defines):
    return [word for key, value in defines.items() for word in ("-D", f"{key}={value}")]
