"""What the peers share: their environment, set before numpy or torch is imported, and how a step is timed.

Each setting below was measured to make the peer faster; a comparison with an untuned peer says nothing.
"""
import ctypes
import json
import os
import sys
import time

OPENBLAS = "/usr/lib/x86_64-linux-gnu/openblas-openmp/libblas.so.3"


def _cpu_flags():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("flags"):
                return set(line.split(":", 1)[1].split())
    return set()


def prepare(threads):
    """One thread count for every pool, the right kernels, memory that stays in the process. Returns the name of the
    kernels OpenBLAS uses."""
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(threads)
    flags = _cpu_flags()
    # Debian's PyTorch takes its AVX2 loops unless told otherwise.
    os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx512" if "avx512f" in flags else "default")
    # glibc gives large blocks back to the system after every step, and each step pays for the page faults again: more
    # than half the time of a large model. M_MMAP_MAX = 0 and no trimming keep the memory.
    libc = ctypes.CDLL("libc.so.6")
    libc.mallopt(-4, 0)
    libc.mallopt(-1, -1)
    if not os.path.exists(OPENBLAS):
        return "default"
    # PyTorch's OpenMP pool and OpenBLAS's own pthread pool would fight for the cores; the OpenMP build shares one pool.
    # Loaded first, it is the one that libblas.so.3 means.
    library = ctypes.CDLL(OPENBLAS, ctypes.RTLD_GLOBAL)
    library.openblas_get_corename.restype = ctypes.c_char_p
    core = library.openblas_get_corename().decode()
    # A processor newer than the library is taken for the oldest there is, at an eighth of the speed. The choice is made
    # when the library is loaded, so the program starts again.
    better = "SKYLAKEX" if "avx512f" in flags else "HASWELL" if "avx2" in flags else None
    unknown = core in ("Prescott", "Core2", "generic", "Katmai", "Banias")
    if unknown and better and not os.environ.get("BENCH_RESTARTED"):
        os.environ.update(OPENBLAS_CORETYPE=better, BENCH_RESTARTED="1")
        os.execv(sys.executable, [sys.executable, *sys.argv])
    return f"OpenBLAS {core}"


def peak_bytes():
    with open("/proc/self/status", encoding="utf-8") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def seconds_since_start():
    """Seconds since this process began, to 10 ms."""
    with open("/proc/self/stat", encoding="utf-8") as file:
        start = int(file.read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
    with open("/proc/uptime", encoding="utf-8") as file:
        return float(file.read().split()[0]) - start


def measure(step, seconds, least_calls):
    """Milliseconds of single calls of `step`, sorted, after calls that count for nothing; and when the first one was
    done, counted from the start of the process."""
    step()
    first = seconds_since_start()
    begun = time.perf_counter()
    for _ in range(min(20, least_calls) - 1):
        if time.perf_counter() - begun > 0.3 * max(seconds, 0.1):
            break
        step()
    times = []
    begun = time.perf_counter()
    while len(times) < least_calls or time.perf_counter() - begun < seconds:
        start = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - start))
    return sorted(times), first


def report(peer, threads, times, first, **more):
    print(json.dumps(dict(peer=peer, threads=threads, calls=len(times), ms=round(times[len(times) // 2], 5),
                          mean_ms=round(sum(times) / len(times), 5), least_ms=round(times[0], 5),
                          most_ms=round(times[-1], 5), first_step_seconds=round(first, 2), peak_bytes=peak_bytes(),
                          **more)), flush=True)


def arguments(parser):
    parser.add_argument("model", choices=["gpt", "shakespeare", "gpt2"])
    parser.add_argument("function", choices=["train_step", "forward"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--least-calls", type=int, default=3)
    for name in ("batch", "context", "width", "layers"):
        parser.add_argument(f"--{name}", type=int, help="in place of the model's own")
    return parser


# The models of models/, by the same names as their configuration.
MODELS = {
    "gpt": dict(vocab=30, batch=8, context=16, width=32, heads=4, layers=2, drop=0.2),
    "shakespeare": dict(vocab=65, batch=12, context=64, width=128, heads=4, layers=4, drop=0.0),
    "gpt2": dict(vocab=50257, batch=4, context=1024, width=768, heads=12, layers=12, drop=0.0),
}


def configuration(options):
    found = dict(MODELS[options.model])
    for name in ("batch", "context", "width", "layers"):
        if getattr(options, name):
            found[name] = getattr(options, name)
    return found
