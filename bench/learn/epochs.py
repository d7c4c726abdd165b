#!/usr/bin/python3
"""Training speed against plain loops in Python's torch: same method, network, size of data, BLAS and number of threads.

    bench/learn/epochs.py [--micro build/release/wisecrowd_micro] [--threads N] [--repeat N]

Takes turns with the peer and keeps the fastest of each. Rates are samples per second; "processor" counts the time of all
threads and is the one to look at while other programs run.

Both see batches of 64, dropout 0.5 before the last layer, and Adam for all parameters. Where it is not even, it is in the
peer's favour: ours is the mean over a whole fit of 30 epochs, with scaling the features, input dropout, decoupled decay and
averaged weights, and predicting at the end (max_mig predicts all rows after every epoch, too); the peer's is its fastest
epoch of 30 and does none of that.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import harness  # noqa: E402

# Our benchmark, and what the peer is asked for.
PAIRS = [
    ("fit/crowd_layer", ["--method", "crowd_layer"]),
    ("fit/ccem", ["--method", "ccem"]),
    ("fit/max_mig", ["--method", "max_mig"]),
    ("mlp_512_128_8", ["--method", "step", "--net", "mlp"]),
    ("mlp_8192_128_8", ["--method", "step", "--net", "mlp_8192"]),
    ("mlp_1248_100_2", ["--method", "step", "--net", "mlp_1248"]),
    ("cnn_28_28", ["--method", "step", "--net", "cnn_28", "--epochs", "3"]),
    ("cnn_32_32_3", ["--method", "step", "--net", "cnn_32", "--epochs", "3"]),
]


def ours(micro, name, threads):
    """Samples per second of time and of processor time, or nothing when this build has no such benchmark."""
    output = harness.run([micro, f"--benchmark_filter=^{name}/threads:{threads}/", "--benchmark_format=json"]).output
    found = json.loads(output)["benchmarks"]
    if not found or found[0].get("error_occurred"):
        return None
    rate = found[0]["items_per_second"]
    return rate, rate * found[0]["real_time"] / found[0]["cpu_time"]


def peer(arguments, threads):
    script = Path(__file__).resolve().parent / "peer_loops.py"
    found = json.loads(harness.run(["/usr/bin/python3", script, *arguments, "--threads", threads]).output)
    return found["samples_per_second"], found["samples"] / found["processor_seconds"]


def main():
    parser = harness.parser(__doc__.partition("\n")[0])
    parser.add_argument("--micro", type=Path, default=harness.ROOT / "build/release/wisecrowd_micro",
                        help="the micro benchmarks (-DWISECROWD_BUILD_BENCHMARKS=ON)")
    parser.add_argument("--repeat", type=int, default=3, help="turns")
    parser.add_argument("--only", default="", help="names that contain this")
    arguments = parser.parse_args()
    if not arguments.micro.is_file():
        harness.stop(f"there is no {arguments.micro}: configure with -DWISECROWD_BUILD_BENCHMARKS=ON and build it")
    rows, figures = [], []
    for name, asked in PAIRS:
        if arguments.only not in name:
            continue
        harness.progress(f"measuring {name}")
        mine, theirs = [], []
        for _ in range(arguments.repeat):
            mine.append(ours(arguments.micro, name, arguments.threads))
            if mine[-1] is None:
                break
            theirs.append(peer(asked, arguments.threads))
        if mine[-1] is None:
            harness.progress(f"  not in this build: {name}")
            continue
        best = [max(column) for column in (*zip(*mine), *zip(*theirs))]
        figures.append(dict(zip(("name", "ours", "ours_processor", "peer", "peer_processor"), (name, *best))))
        rows.append([name, f"{best[0]:,.0f}", f"{best[2]:,.0f}", f"{best[0] / best[2]:.2f}", f"{best[1]:,.0f}",
                     f"{best[3]:,.0f}", f"{best[1] / best[3]:.2f}"])
    headers = ["what", "wisecrowd", "Python torch", "ratio", "wisecrowd, processor", "Python torch, processor", "ratio "]
    harness.deliver(arguments, {"threads": arguments.threads, "rates": figures}, harness.table(headers, rows))


if __name__ == "__main__":
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")  # also for the peer: spinning threads hurt it more than us
    main()
