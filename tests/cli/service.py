"""A running `wisecrowd serve` for tests and benchmarks, and a client of it. Standard library alone."""
import http.client
import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from program import PROGRAM, environment


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)


class Service:
    """Starts the program on a free port; use as a context."""

    def __init__(self, data, *arguments, token=None):
        self.data, self.arguments, self.token = Path(data), arguments, token
        self.port, self.process = None, None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.kill()

    def start(self, port=0):
        self.log = open(str(self.data) + ".log", "ab")
        begin = self.log.tell()
        self.process = subprocess.Popen([PROGRAM, "serve", "--data", str(self.data), "--listen", str(port), *self.arguments],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log, env=environment())
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for line in self.lines(begin):
                if line.get("event") == "ready":
                    self.port = line["port"]
                    return self
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        raise AssertionError("the service does not start: " + Path(str(self.data) + ".log").read_text()[-2000:])

    def lines(self, begin=0):
        """The log so far; its last line may be half written."""
        text = Path(str(self.data) + ".log").read_bytes()[begin:].decode()
        for line in text.splitlines():
            if line.startswith("{") and line.endswith("}"):
                yield json.loads(line)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        code = self.process.wait(timeout=30)
        self.log.close()
        return code

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, method, target, body=None, connection=None, **headers):
        """`body`: a JSON value, or bytes as they are. Names of headers have _ for -."""
        link = connection or self.connect()
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if body is not None:
            fields.setdefault("Content-Type", "application/json")
        if self.token:
            fields.setdefault("Authorization", "Bearer " + self.token)
        link.request(method, target, body, fields)
        response = link.getresponse()
        answer = Answer(response.status, response.headers, response.read())
        if connection is None:
            link.close()
        return answer

    def raw(self):
        link = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        return link

    def memory(self):
        """Resident, in bytes."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE")


def ndjson(rows):
    return "".join(json.dumps(dict(zip(("task", "worker", "label"), row))) + "\n" for row in rows).encode()
