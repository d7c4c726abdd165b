#!/usr/bin/env python3
"""How much `wisecrowd serve` takes: batches, single answers, `next` on a large project, idle connections, memory.

    bench/service/load.py PROGRAM [--answers N] [--seconds S] [--check]

The client runs beside the service on the same machine. With --check it fails when a bar of docs/SERVICE.md does not hold.
"""
import argparse
import json
import os
import random
import selectors
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "cli"))


def post(target, body, kind="application/x-ndjson"):
    return (f"POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body


def row(chance, tasks, workers, serial):
    task = chance.randrange(tasks)
    truth = task % 4
    label = truth if chance.random() < 0.7 else chance.randrange(4)
    return f'{{"task":"task{task}","worker":"worker{(serial * 7919 + task) % workers}","label":"{label}"}}\n'


class Pump:
    """Keeps so many connections busy with one request each, from one thread; counts answers and their times."""

    def __init__(self, port, connections):
        self.links = []
        for _ in range(connections):
            link = socket.create_connection(("127.0.0.1", port))
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            link.setblocking(False)
            self.links.append(link)

    def run(self, seconds, next_request, expected=b"202"):
        selector = selectors.DefaultSelector()
        done, times, bad = 0, [], 0
        start = time.perf_counter()
        begun = {}
        for link in self.links:
            selector.register(link, selectors.EVENT_READ)
            begun[link] = time.perf_counter()
            link.sendall(next_request())
        while time.perf_counter() - start < seconds:
            for key, _ in selector.select(timeout=1):
                link = key.fileobj
                answer = link.recv(1 << 16)
                while b"\r\n\r\n" not in answer or not complete(answer):
                    link.setblocking(True)
                    answer += link.recv(1 << 16)
                    link.setblocking(False)
                now = time.perf_counter()
                times.append(now - begun[link])
                done += 1
                bad += answer[9:12] != expected
                begun[link] = time.perf_counter()
                link.sendall(next_request())
        took = time.perf_counter() - start
        selector.close()
        time.sleep(0.3)
        for link in self.links:
            link.close()
        return done / took, sorted(times), bad


def complete(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            return len(body) >= int(line.split(b":")[1])
    return True


def percentile(times, share):
    return times[min(len(times) - 1, int(share * len(times)))] if times else float("nan")


def fill(service, answers, tasks, workers):
    """A project of so many answers, and the wait until the estimates know of them."""
    chance = random.Random(1)
    service.ask("POST", "/v1/projects", {"name": "large", "classes": ["0", "1", "2", "3"]})
    position = 0
    link = service.connect()
    for begin in range(0, answers, 20_000):
        body = "".join(row(chance, tasks, workers, begin + i) for i in range(min(20_000, answers - begin))).encode()
        position = service.ask("POST", "/v1/projects/large/answers", body, connection=link, Content_Type="application/x-ndjson").json["position"]
    while service.ask("GET", "/v1/projects/large").json["position"] < position:
        time.sleep(0.5)
    service.ask("POST", "/v1/projects/large/refit")
    end = time.monotonic() + 300
    while time.monotonic() < end and "wisecrowd_refits_total 0" in service.ask("GET", "/metrics").body.decode():
        time.sleep(0.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--answers", type=int, default=1_000_000, help="of the large project")
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    os.environ["WISECROWD_PROGRAM"] = str(Path(options.program).resolve())
    from service import Service  # needs the variable

    failed = []

    def bar(what, value, holds, limit):
        print(f"{what:<58} {value:>12} (bar {limit})", flush=True)
        if not holds:
            failed.append(what)

    with tempfile.TemporaryDirectory(prefix="wisecrowd-load-") as folder, Service(Path(folder) / "data") as service:
        chance = random.Random(2)
        tasks, workers = max(10, options.answers // 10), 1000
        serial = iter(range(1 << 60))
        service.ask("POST", "/v1/projects", {"name": "p", "classes": ["0", "1", "2", "3"]})
        batches = [post("/v1/projects/p/answers", "".join(row(chance, 20_000, workers, next(serial)) for _ in range(100)).encode()) for _ in range(2000)]
        turn = iter(range(1 << 60))
        rate, times, bad = Pump(service.port, 8).run(options.seconds, lambda: batches[next(turn) % len(batches)])
        bar("answers/s in batches of 100, 8 connections", f"{100 * rate:,.0f}", 100 * rate >= 10_000 and not bad, "10,000")
        print(f"  median {1000 * percentile(times, 0.5):.1f} ms, p99 {1000 * percentile(times, 0.99):.1f} ms")
        singles = [post("/v1/projects/p/answers", row(chance, 20_000, workers, next(serial)).encode()) for _ in range(5000)]
        rate, times, bad = Pump(service.port, 64).run(options.seconds, lambda: singles[next(turn) % len(singles)])
        bar("requests/s with one answer each, 64 connections", f"{rate:,.0f}", rate >= 1500 and not bad, "1,500")
        print(f"  median {1000 * percentile(times, 0.5):.1f} ms, p99 {1000 * percentile(times, 0.99):.1f} ms")

        fill(service, options.answers, tasks, workers)
        ask = [post("/v1/projects/large/next", json.dumps({"worker": f"worker{i}", "count": 5}).encode(), "application/json") for i in range(100)]
        rate, times, bad = Pump(service.port, 1).run(options.seconds, lambda: ask[next(turn) % 100], b"200")
        p99 = 1000 * percentile(times, 0.99)
        bar(f"p99 of next with {options.answers:,} answers, ms", f"{p99:.1f}", p99 <= 50 and not bad, "50")
        print(f"  {rate:,.0f} requests/s, median {1000 * percentile(times, 0.5):.1f} ms")
        # The same while answers keep coming to it.
        ending = threading.Event()

        def trickle():
            link = service.connect()
            while not ending.is_set():
                body = "".join(row(chance, tasks, workers, next(serial)) for _ in range(20)).encode()
                service.ask("POST", "/v1/projects/large/answers", body, connection=link, Content_Type="application/x-ndjson")
                time.sleep(0.05)

        thread = threading.Thread(target=trickle)
        thread.start()
        rate, times, bad = Pump(service.port, 1).run(options.seconds, lambda: ask[next(turn) % 100], b"200")
        ending.set()
        thread.join()
        p99 = 1000 * percentile(times, 0.99)
        bar("the same while 400 answers/s come in, ms", f"{p99:.1f}", p99 <= 50 and not bad, "50")

        before = service.memory()
        idle = [service.raw() for _ in range(1000)]
        for link in idle:
            link.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            link.recv(1000)
        held = service.ask("GET", "/healthz").status == 200
        after = service.memory()
        alive = 0
        for link in idle:
            link.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            alive += b"200" in link.recv(1000)
            link.close()
        bar("idle connections held and answered", f"{alive}", held and alive == 1000, "1,000")
        print(f"  {(after - before) / 1000 / 1024:.1f} KB each")

        # An hour of a busy project is some 10,000 requests; the same answers again change nothing, so memory must not grow.
        first = None
        for part in range(4):
            Pump(service.port, 64).run(options.seconds, lambda: singles[next(turn) % len(singles)])
            time.sleep(2)
            if part == 1:
                first = service.memory()
        growth = service.memory() - first
        bar("growth of memory in the second half of the load, MB", f"{growth / 2**20:.1f}", growth < 20 << 20, "20")
    if options.check and failed:
        sys.exit("does not hold: " + ", ".join(failed))


if __name__ == "__main__":
    main()
