"""The service at work with others: handed-out tasks, payments, what a refit changed, webhooks to others, https."""
import base64
import hashlib
import hmac
import http.server
import json
import os
import random
import shutil
import ssl
import subprocess
import threading
import time
import unittest
from pathlib import Path

from program import PROGRAM, ProgramTest
from service import Service

HAS_TLS = (Path(PROGRAM).parent / "libwisecrowd_tls.so").exists()


def crowd(tasks, seed=1):
    """Answers of five decent workers and of one who does not look."""
    chance = random.Random(seed)
    for t in range(tasks):
        truth = "ab"[t % 2]
        for w in range(5):
            yield {"task": f"t{t}", "worker": f"w{w}", "label": truth if chance.random() < 0.9 else "ab"[1 - t % 2]}
        yield {"task": f"t{t}", "worker": "blind", "label": chance.choice("ab"), "assignment": f"A{t}"}


class Receiver(http.server.ThreadingHTTPServer):
    """Takes webhooks; `say` are the statuses of the first answers, the later ones are 200."""

    def __init__(self, say=(), certificate=None):
        self.got, self.say = [], list(say)
        super().__init__(("127.0.0.1", 0), Handler)
        scheme = "http"
        if certificate:
            scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"{scheme}://localhost:{self.server_port}/hook"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        pass  # a client that does not like the certificate


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((dict(self.headers), body))
        self.send_response(self.server.say.pop(0) if self.server.say else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class WorkTest(ProgramTest):
    def service(self, *arguments, **options):
        return Service(self.folder / "data", *arguments, **options)

    def wait_for(self, true, seconds=30):
        end = time.monotonic() + seconds
        while not (found := true()):
            self.assertLess(time.monotonic(), end, "it does not happen")
            time.sleep(0.05)
        return found

    def tell(self, service, rows, project="p"):
        told = service.ask("POST", f"/v1/projects/{project}/answers", list(rows))
        self.assertEqual(told.status, 202, told.body)
        service.ask("GET", f"/v1/projects/{project}?after={told.json['position']}")
        return told.json["position"]


class Leases(WorkTest):
    def test_a_task_that_was_handed_out_is_for_its_worker_alone_until_it_answers_or_the_time_is_over(self):
        with self.service() as service:
            service.ask("POST", "/v1/projects", {"name": "p", "classes": ["a", "b"]})
            service.ask("POST", "/v1/projects/p/tasks", [{"task": f"new{n}"} for n in range(6)])
            self.tell(service, crowd(10))

            def next_for(worker, reserve=None, count=3):
                body = {"worker": worker, "count": count, **({"reserve": reserve} if reserve else {})}
                answer = service.ask("POST", "/v1/projects/p/next", body)
                self.assertEqual(answer.status, 200, answer.body)
                return [choice["task"] for choice in answer.json["choices"]]

            anna = next_for("anna", reserve=3600)
            self.assertEqual(len(anna), 3)
            ben = next_for("ben", reserve=3600)
            self.assertEqual((len(ben), set(anna) & set(ben)), (3, set()))
            self.assertEqual(set(next_for("anna", reserve=3600)), set(anna))  # asked again, the same
            self.assertEqual(set(next_for("carl", count=6)) & set(anna + ben), set())
            self.tell(service, [{"task": anna[0], "worker": "anna", "label": "a"}])
            self.assertIn(anna[0], next_for("carl", count=20))
            self.assertNotIn(anna[1], next_for("carl", count=20))
            short = next_for("dora", reserve=1, count=1)
            self.assertNotIn(short[0], next_for("carl", count=20))
            time.sleep(1.1)
            self.assertIn(short[0], next_for("carl", count=20))
            choice = service.ask("POST", "/v1/projects/p/next", {"worker": "anna", "reserve": 60}).json["choices"][0]
            self.assertRegex(choice["reserved_until"], r"^20\d\d-\d\d-\d\dT")
            for wrong in (0, -1, "60", 1e9):
                self.assertEqual(service.ask("POST", "/v1/projects/p/next", {"worker": "anna", "reserve": wrong}).status, 422)

    def test_two_who_ask_at_once_get_different_tasks_and_who_may_only_read_reserves_nothing(self):
        reader = self.run_program("token", "tokens", "eye", "--scope", "read").stdout.strip()
        writer = self.run_program("token", "tokens", "hand", "--scope", "admin").stdout.strip()
        with self.service("--token-file", self.folder / "tokens", token=writer) as service:
            service.ask("POST", "/v1/projects", {"name": "p", "classes": ["a", "b"]})
            service.ask("POST", "/v1/projects/p/tasks", [{"task": f"new{n}"} for n in range(40)])
            self.tell(service, crowd(10))
            body = {"worker": "x", "reserve": 60}
            self.assertEqual(service.ask("POST", "/v1/projects/p/next", body, Authorization="Bearer " + reader).status, 403)
            got = {}

            def ask(worker):
                answer = service.ask("POST", "/v1/projects/p/next", {"worker": worker, "count": 4, "reserve": 600}).json
                got[worker] = [choice["task"] for choice in answer["choices"]]

            threads = [threading.Thread(target=ask, args=(f"v{n}",)) for n in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            handed = [task for tasks in got.values() for task in tasks]
            self.assertEqual(len(handed), len(set(handed)), got)
            self.assertEqual(len(handed), 32)


class Payments(WorkTest):
    def test_every_answer_that_stands_is_paid_unless_its_worker_should_stop(self):
        with self.service() as service:
            service.ask("POST", "/v1/projects", {"name": "p", "price": 0.05})
            rows = list(crowd(120))
            self.tell(service, rows)
            self.tell(service, [{"task": "t0", "worker": "w0", "label": None}, {"task": "t1", "worker": "w0", "label": "b"},
                                {"task": "t0", "worker": "bot", "label": "a"}])
            service.ask("PATCH", "/v1/projects/p/workers/bot", {"kind": "machine"})
            service.ask("PATCH", "/v1/projects/p/workers/w1", {"cost": 2})
            service.ask("POST", "/v1/projects/p/refit")
            self.wait_for(lambda: service.ask("GET", "/v1/projects/p/workers/blind").json["study"]["advice"] == "stop")
            paid = {one["worker"]: one for one in service.ask("GET", "/v1/projects/p/payments").json["workers"]}
            self.assertEqual(set(paid), {"w0", "w1", "w2", "w3", "w4", "blind"})
            self.assertEqual((paid["w0"]["answers"], paid["w1"]["answers"]), (119, 120))
            self.assertAlmostEqual(paid["w0"]["amount"], 119 * 0.05)
            self.assertAlmostEqual(paid["w1"]["amount"], 120 * 0.1)
            self.assertEqual((paid["blind"]["verdict"], paid["blind"]["amount"]), ("reject", 0))
            self.assertNotEqual(paid["blind"]["reason"], "")
            lines = []
            cursor = ""
            while True:
                page = service.ask("GET", f"/v1/projects/p/payments?format=csv&limit=100{cursor}")
                lines += page.body.decode().splitlines()[1:]
                if not page.headers["Wisecrowd-Next"]:
                    break
                cursor = f"&cursor={page.headers['Wisecrowd-Next']}"
            self.assertEqual(len(lines), 6 * 120 - 1)
            self.assertEqual(sum(",reject," in line for line in lines), 120)
            self.assertTrue(any(line.startswith("t3,w1,,") and line.endswith(",approve,,0.1") for line in lines))
            mturk = service.ask("GET", "/v1/projects/p/payments?format=mturk").body.decode().splitlines()
            self.assertEqual(mturk[0], "AssignmentId,WorkerId,Approve,Reject")
            self.assertEqual(len(mturk), 121)
            self.assertRegex(mturk[1], r"^A0,blind,,\S")
            toloka = service.ask("GET", "/v1/projects/p/payments?format=toloka").body.decode().splitlines()
            self.assertRegex(toloka[1], r"^A0\t-\t\S")
            self.assertEqual(service.ask("GET", "/v1/projects/p/payments?format=xml").status, 400)


class Refits(WorkTest):
    def labels(self, service, query=""):
        found, cursor = {}, ""
        while True:
            page = service.ask("GET", f"/v1/projects/p/labels?limit=50{query}{cursor}").json
            found.update({row["task"]: (row["label"], row["probability"]) for row in page["labels"]})
            if not page["next"]:
                return found
            cursor, query = f"&cursor={page['next']}", ""

    def refits(self, service):
        text = service.ask("GET", "/metrics").body.decode()
        return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith("wisecrowd_refits_total"))

    def test_changed_since_has_what_a_refit_changed_and_not_everything(self):
        rows = list(crowd(300))
        chance = random.Random(2)
        rows = [row for row in rows if row["task"] < "t2" or chance.random() < 0.4]
        with self.service() as service:
            service.ask("POST", "/v1/projects", {"name": "p", "classes": ["a", "b"]})
            for begin in range(0, len(rows), 60):
                position = self.tell(service, rows[begin:begin + 60])
            before, done = self.labels(service), self.refits(service)
            service.ask("POST", "/v1/projects/p/refit")
            self.wait_for(lambda: self.refits(service) > done)
            after = self.labels(service)
            moved = {task for task in after if after[task][0] != before[task][0] or abs(after[task][1] - before[task][1]) >= 0.0101}
            self.assertGreater(len(moved), 0)
            changed = self.labels(service, f"&changed_since={position}")
            self.assertLessEqual(moved, set(changed))
            self.assertLess(len(changed), len(after))
            self.assertEqual({task: after[task] for task in changed}, changed)
            # An answer after it comes on top; and all of it outlives a kill.
            self.tell(service, [{"task": "fresh", "worker": "w0", "label": "a"}])
            again = set(self.labels(service, f"&changed_since={position}"))
            self.assertLessEqual(set(changed) | {"fresh"}, again)
            port = service.port
            service.kill()
            service.start(port)
            self.assertEqual(set(self.labels(service, f"&changed_since={position}")), again)
            self.assertEqual(service.ask("GET", "/v1/projects/p/labels?cursor=r1.x").status, 400)
            # Whoever removes the state gets everything.
            service.stop()
            for file in (self.folder / "data/projects/p").glob("crowd.state*"):
                file.unlink()
            service.start(port)
            service.ask("GET", f"/v1/projects/p?after={position + 1}")
            self.assertEqual(len(self.labels(service, f"&changed_since={position}")), len(after) + 1)


class Webhooks(WorkTest):
    def add(self, service, url, events=("refit",)):
        made = service.ask("POST", "/v1/projects/p/webhooks", {"url": url, "events": list(events)})
        self.assertEqual(made.status, 201, made.body)
        return made.json

    def state(self, service):
        return service.ask("GET", "/v1/projects/p/webhooks").json["webhooks"][0]

    def assert_genuine(self, secret, headers, body):
        key = base64.b64decode(secret.removeprefix("whsec_"))
        message = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        expected = "v1," + base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode()
        self.assertEqual(headers["webhook-signature"], expected)
        self.assertLess(abs(int(headers["webhook-timestamp"]) - time.time()), 60)

    def test_events_go_out_signed_in_order_and_again_after_a_failure(self):
        receiver = Receiver(say=[500])
        with self.service("--private-webhooks") as service:
            service.ask("POST", "/v1/projects", {"name": "p", "classes": ["a", "b"]})
            made = self.add(service, receiver.url, ["worker", "settings"])
            self.assertNotIn("secret", self.state(service))
            service.ask("PATCH", "/v1/projects/p/workers/w1", {"paused": True})
            service.ask("PATCH", "/v1/projects/p", {"title": "Pears"})
            self.wait_for(lambda: len(receiver.got) == 3)  # the first one twice, five seconds apart
            for headers, body in receiver.got:
                self.assert_genuine(made["secret"], headers, body)
            first, again, second = (json.loads(body) for _, body in receiver.got)
            self.assertEqual(first, again)
            self.assertEqual(receiver.got[0][0]["webhook-id"], receiver.got[1][0]["webhook-id"])
            self.assertEqual((first["type"], first["data"]), ("worker", {"worker": "w1", "paused": True, "project": "p"}))
            self.assertEqual((second["type"], second["data"]["title"]), ("settings", "Pears"))
            self.wait_for(lambda: self.state(service)["delivered"] == 2)
            self.assertEqual(self.state(service)["trouble"], "")
            # It is remembered, and forgotten when told so.
            port = service.port
            service.kill()
            service.start(port)
            service.ask("PATCH", "/v1/projects/p/workers/w1", {"paused": False})
            self.wait_for(lambda: len(receiver.got) == 4)
            self.assertEqual(service.ask("DELETE", f"/v1/projects/p/webhooks/{made['id']}").status, 204)
            self.assertEqual(service.ask("DELETE", f"/v1/projects/p/webhooks/{made['id']}").status, 404)
            service.ask("PATCH", "/v1/projects/p/workers/w1", {"paused": True})
            time.sleep(0.5)
            self.assertEqual(len(receiver.got), 4)
        receiver.stop()

    def test_addresses_of_this_machine_are_not_called_unless_that_is_allowed(self):
        receiver = Receiver()
        with self.service() as service:
            service.ask("POST", "/v1/projects", {"name": "p"})
            for url in (receiver.url, receiver.url.replace("localhost", "127.0.0.1"), receiver.url.replace("localhost", "[::ffff:127.0.0.1]"),
                        "http://169.254.169.254/latest", "http://10.0.0.1"):
                made = self.add(service, url, ["worker"])
                service.ask("PATCH", "/v1/projects/p/workers/w1", {"paused": True})
                self.wait_for(lambda: "of this machine or its network" in self.state(service)["trouble"])
                service.ask("DELETE", f"/v1/projects/p/webhooks/{made['id']}")
            self.assertEqual(receiver.got, [])
            for body in ({}, {"url": "ftp://x", "events": ["refit"]}, {"url": "http://x", "events": []}, {"url": "http://x", "events": ["rain"]},
                         {"url": "http://u:p@x", "events": ["refit"]}):
                self.assertEqual(service.ask("POST", "/v1/projects/p/webhooks", body).status, 422, body)
        receiver.stop()

    @unittest.skipUnless(HAS_TLS and shutil.which("openssl"), "no plugin for https, or no openssl to make a certificate with")
    def test_https_is_for_hosts_whose_certificate_is_right(self):
        good, other = self.certificate("localhost"), self.certificate("elsewhere.example")
        known = "".join((self.folder / f"{name}.crt").read_text() for name in ("localhost", "elsewhere.example"))
        os.environ["SSL_CERT_FILE"] = str(self.folder / self.write("authorities.pem", known))
        self.addCleanup(os.environ.pop, "SSL_CERT_FILE")
        stranger = self.certificate("localhost", "stranger")
        with self.service("--private-webhooks") as service:
            service.ask("POST", "/v1/projects", {"name": "p"})
            for certificate, trouble in ((good, ""), (other, "hostname mismatch"), (stranger, "self-signed certificate")):
                receiver = Receiver(certificate=certificate)
                made = self.add(service, receiver.url, ["worker"])
                service.ask("PATCH", "/v1/projects/p/workers/w1", {"paused": True})
                if trouble:
                    self.wait_for(lambda: trouble in self.state(service)["trouble"])
                    self.assertEqual(receiver.got, [])
                else:
                    self.wait_for(lambda: self.state(service)["delivered"] == 1)
                    self.assert_genuine(made["secret"], *receiver.got[0])
                service.ask("DELETE", f"/v1/projects/p/webhooks/{made['id']}")
                receiver.stop()

    def certificate(self, host, name=None):
        """A file with a key and a certificate that it signed itself."""
        name = name or host
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.crt",
                        "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{host}"],
                       cwd=self.folder, check=True, capture_output=True)
        both = (self.folder / f"{name}.key").read_text() + (self.folder / f"{name}.crt").read_text()
        return self.folder / self.write(f"{name}.pem", both)


if __name__ == "__main__":
    unittest.main()
