"""The service as its users meet it: the program, real sockets, kills, hostile clients."""
import base64
import hmac
import http.client
import http.server
import json
import os
import random
import signal
import stat
import subprocess
import threading
import time
import unittest
from pathlib import Path

from program import PROGRAM, ProgramTest, environment
from service import Service, ndjson

KILLS = 300 if os.environ.get("WISECROWD_SLOW") else 4


class ServiceTest(ProgramTest):
    def service(self, *arguments, **options):
        return Service(self.folder / "data", *arguments, **options)

    def token(self, name, *arguments):
        return self.run_program("token", "tokens", name, *arguments).stdout.strip()


class Commands(ServiceTest):
    def test_answers_in_labels_out(self):
        with self.service() as service:
            self.assertEqual(service.ask("POST", "/v1/projects", {"name": "birds"}).status, 201)
            rows = [(f"t{t}", f"w{w}", "ab"[(t + (w == 4 and t % 3 == 0)) % 2]) for t in range(40) for w in range(5)]
            told = service.ask("POST", "/v1/projects/birds/answers", ndjson(rows), Content_Type="application/x-ndjson")
            self.assertEqual((told.status, told.json["accepted"]), (202, 200))
            after = told.json["position"]
            labels = service.ask("GET", f"/v1/projects/birds/labels?after={after}").json["labels"]
            self.assertEqual({row["task"]: row["label"] for row in labels}, {f"t{t}": "ab"[t % 2] for t in range(40)})
            table = service.ask("GET", "/v1/projects/birds/labels?format=csv&below=2")
            self.assertEqual(table.body.decode().splitlines()[0], "task,label,probability,answers")
            self.assertEqual(len(table.body.decode().splitlines()), 41)
            # A worker thinks better of it, and one answer is taken back.
            more = ndjson([("t0", "w0", "b"), ("t1", "w0", None)])
            after = service.ask("POST", "/v1/projects/birds/answers", more, Content_Type="application/x-ndjson").json["position"]
            task = service.ask("GET", f"/v1/projects/birds/tasks/t0?after={after}").json
            self.assertIn({"worker": "w0", "label": "b"}, task["answers"])
            self.assertEqual(len(service.ask("GET", "/v1/projects/birds/tasks/t1").json["answers"]), 4)
            changed = service.ask("GET", "/v1/projects/birds/labels?changed_since=200").json
            self.assertLessEqual({"t0", "t1"}, {row["task"] for row in changed["labels"]})
            service.ask("POST", "/v1/projects/birds/refit")
            self.wait_for(lambda: service.ask("GET", "/v1/projects/birds/workers/w4").json["study"])
            worker = service.ask("GET", "/v1/projects/birds/workers/w4").json
            self.assertLess(worker["accuracy"]["value"], 0.8)
            self.assertEqual(worker["study"]["advice"] != "", True)
            report = service.ask("GET", "/v1/projects/birds/report?format=json").json
            self.assertEqual(report["schema"], 1)
            self.assertEqual(service.ask("GET", "/openapi.json").json["openapi"], "3.1.0")
            metrics = service.ask("GET", "/metrics").body.decode()
            self.assertIn("wisecrowd_entries_accepted_total 202\n", metrics)
            self.assertEqual(service.stop(), 0)
            self.assertEqual([line["event"] for line in service.lines()][-1], "stopped")
        # The state is an ordinary one.
        shown = json.loads(self.run_program("state", "show", "data/projects/birds/crowd.state", "--json").stdout)
        self.assertEqual(shown["answers"], 199)
        self.run_program("state", "check", "data/projects/birds/crowd.state")

    def wait_for(self, true, seconds=20):
        end = time.monotonic() + seconds
        while not true():
            self.assertLess(time.monotonic(), end, "it does not happen")
            time.sleep(0.05)

    def test_events_come_as_things_happen_and_again_after_a_break(self):
        with self.service() as service:
            service.ask("POST", "/v1/projects", {"name": "p", "classes": ["a", "b"]})
            link = service.raw()
            link.sendall(b"GET /v1/projects/p/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            file = link.makefile("rb")
            self.assertIn(b"200", file.readline())
            while file.readline().strip():
                pass
            service.ask("POST", "/v1/projects/p/answers", [{"task": "t", "worker": "w", "label": "a"}])
            text = b""
            while b"event: answers" not in text:
                text += file.readline()
            while b"data: " not in text:
                text += file.readline()
            self.assertIn(b'"answers":1', text.replace(b" ", b""))
            link.close()
            link = service.raw()
            link.sendall(b"GET /v1/projects/p/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 0\r\n\r\n")
            file = link.makefile("rb")
            while b"event: answers" not in file.readline():
                pass
            link.close()

    def test_a_folder_has_one_service_and_ctrl_c_ends_it(self):
        with self.service() as service:
            second = subprocess.run([PROGRAM, "serve", "--data", str(service.data), "--listen", "0"], capture_output=True,
                                    text=True, env=environment(), timeout=60)
            self.assertNotEqual(second.returncode, 0)
            self.assertIn("is in use by another service", second.stderr)
            self.assertEqual(service.stop(signal.SIGINT), 0)

    def test_other_addresses_need_tokens_and_addresses_must_be_some(self):
        self.fails_with(64, "serve", "--data", "d", "--listen", "0.0.0.0:0", message="must show a token")
        self.fails_with(64, "serve", "--data", "d", "--listen", "nowhere:0", message="is no address")
        self.fails_with(64, "serve", "--data", "d", "--listen", "127.0.0.1:99999", message="is no port")

    def fails_with(self, code, *arguments, message):
        ended = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=environment(), cwd=self.folder, timeout=60)
        self.assertEqual(ended.returncode, code, ended.stderr)
        self.assertIn(message, ended.stderr.replace("\n         ", " "))


class Tokens(ServiceTest):
    def test_scopes_projects_and_sessions(self):
        admin, writer, reader = self.token("boss", "--scope", "admin"), self.token("anna", "--scope", "write", "--project", "p"), self.token("eve")
        self.assertEqual(stat.S_IMODE(os.stat(self.folder / "tokens").st_mode), 0o600)
        self.assertNotIn(admin, (self.folder / "tokens").read_text())
        row = [{"task": "t", "worker": "w", "label": "a"}]
        with self.service("--token-file", str(self.folder / "tokens"), token=admin) as service:
            for name in "pq":
                self.assertEqual(service.ask("POST", "/v1/projects", {"name": name}).status, 201)
            service.token = None
            self.assertEqual(service.ask("GET", "/healthz").status, 200)
            self.assertEqual(service.ask("GET", "/v1/projects").status, 401)
            self.assertEqual(service.ask("GET", "/v1/projects", Authorization="Bearer wc_wrong").status, 401)
            service.token = writer
            self.assertEqual(service.ask("POST", "/v1/projects/p/answers", row).status, 202)
            self.assertEqual(service.ask("POST", "/v1/projects/q/answers", row).status, 403)
            self.assertEqual([p["name"] for p in service.ask("GET", "/v1/projects").json["projects"]], ["p"])
            self.assertEqual(service.ask("DELETE", "/v1/projects/p").status, 403)
            service.token = reader
            self.assertEqual(service.ask("GET", "/v1/projects/p/labels").status, 200)
            self.assertEqual(service.ask("POST", "/v1/projects/p/answers", row).status, 403)
            # A browser: a cookie that scripts cannot read, and a proof for every change.
            service.token = None
            opened = service.ask("POST", "/session", {"token": writer})
            cookie = opened.headers["Set-Cookie"]
            self.assertIn("HttpOnly; SameSite=Strict", cookie)
            cookie = cookie.split(";")[0]
            self.assertEqual(service.ask("GET", "/v1/projects/p", Cookie=cookie).status, 200)
            self.assertEqual(service.ask("POST", "/v1/projects/p/answers", row, Cookie=cookie).status, 403)
            proof = opened.json["csrf_token"]
            self.assertEqual(service.ask("POST", "/v1/projects/p/answers", row, Cookie=cookie, X_CSRF_Token=proof).status, 202)
            self.assertEqual(service.ask("DELETE", "/session", Cookie=cookie, X_CSRF_Token=proof).status, 204)
            self.assertEqual(service.ask("GET", "/v1/projects/p", Cookie=cookie).status, 401)
            # A line that is taken out locks its owner out.
            lines = (self.folder / "tokens").read_text().splitlines()
            (self.folder / "tokens").write_text("\n".join(lines[:2]) + "\n")
            service.token = reader
            end = time.monotonic() + 10
            while service.ask("GET", "/v1/projects").status != 401:
                self.assertLess(time.monotonic(), end)
                time.sleep(0.1)

    def test_who_guesses_tokens_has_to_wait(self):
        self.token("boss", "--scope", "admin")
        with self.service("--token-file", str(self.folder / "tokens")) as service:
            statuses = [service.ask("GET", "/v1/projects", Authorization="Bearer guess").status for _ in range(200)]
            self.assertEqual(statuses[0], 401)
            self.assertEqual(statuses[-1], 429)
            self.assertEqual(service.ask("GET", "/healthz").status, 200)


class Platforms(ServiceTest):
    """Webhooks as they were recorded, and a pretended server that labels go back to."""

    def pretend(self, answers):
        """A server that answers by method and path; what it was asked is kept."""
        asked = []

        class Pretender(http.server.BaseHTTPRequestHandler):
            def reply(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                asked.append((self.command, self.path, json.loads(body) if body else None, dict(self.headers)))
                known = answers(self.command, self.path)
                text = json.dumps(known).encode()
                self.send_response(200 if known is not None else 404)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = reply

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pretender)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}", asked

    def test_argilla(self):
        url, asked = self.pretend(lambda method, path: {"items": [{"id": "q-1", "name": "topic"}]} if path.endswith("/questions") else {})
        secret = b"0123456789abcdef"
        with self.service() as service:
            service.ask("POST", "/v1/projects", {"name": "p", "classes": ["owl", "hawk"]})
            self.assertEqual(service.ask("POST", "/argilla/p/webhook", {}).status, 404)
            self.assertEqual(service.ask("PUT", "/v1/projects/p/argilla", {"secret": secret.decode(), "question": "topic", "dataset": "ds",
                                                                          "url": url, "api_key": "k"}).status, 200)

            def hook(number, kind, label, user="anna", key=secret):
                body = json.dumps({"type": kind, "data": {"values": {"topic": {"value": label}}, "status": "submitted",
                                                          "record": {"id": "rec/1", "dataset": {"id": "ds"}}, "user": {"username": user}}}).encode()
                now = str(int(time.time()))
                sign = base64.b64encode(hmac.new(key, f"{number}.{now}.".encode() + body, "sha256").digest()).decode()
                return service.ask("POST", "/argilla/p/webhook", body, webhook_id=str(number), webhook_timestamp=now, webhook_signature="v1," + sign)

            self.assertEqual(hook(1, "response.created", "owl", key=b"wrong").status, 401)
            self.assertEqual(hook(2, "response.created", "owl").json, {"accepted": 1})
            self.assertEqual(hook(2, "response.created", "owl").json, {"accepted": 0}, "sent again after a timeout")
            self.assertEqual(hook(3, "response.created", "owl", "ben").status, 200)
            self.assertEqual(hook(4, "response.updated", "hawk").status, 200)
            self.assertEqual(hook(5, "response.deleted", "owl", "ben").status, 200)
            self.assertEqual(hook(6, "response.created", "cow").status, 422)
            task = service.ask("GET", "/v1/projects/p/tasks/rec%2F1?after=4").json
            self.assertEqual(task["answers"], [{"worker": "anna", "label": "hawk"}])
            self.assertEqual(service.ask("POST", "/v1/projects/p/argilla/suggestions").json, {"sent": 1})
            method, path, body, headers = asked[-1]
            self.assertEqual((method, path, body["question_id"], body["value"]), ("PUT", "/api/v1/records/rec%2F1/suggestions", "q-1", "hawk"))
            self.assertEqual(headers["X-Argilla-Api-Key"], "k")

    def test_label_studio_as_recorded(self):
        """What a Label Studio 1.23.2 really sent, and its API as far as connecting needs it."""
        recorded = [json.loads(line) for line in (Path(__file__).parents[1] / "service" / "label_studio_requests.jsonl").read_text().splitlines()]
        config = json.loads(next(one["body"] for one in recorded if one["path"] == "/setup"))["schema"]
        tasks = [{"id": n, "annotations": []} for n in range(1, 7)]

        def answers(method, path):
            if path.startswith("/api/projects/1/export"):
                return tasks
            if path.startswith("/api/ml?") or path.startswith("/api/webhooks/?"):
                return []
            return {"id": 1, "title": "pets", "label_config": config}

        url, asked = self.pretend(answers)
        with self.service() as service:
            said = self.run_program("connect", "label-studio", url, "--project", "1", "--token", "t", "--service", f"http://127.0.0.1:{service.port}", "--name", "pets")
            self.assertIn("cat", said.stdout)
            backend = next(body for method, path, body, _ in asked if (method, path) == ("POST", "/api/ml/"))
            hook = next(body for method, path, body, _ in asked if (method, path) == ("POST", "/api/webhooks/"))
            secret = backend["basic_auth_pass"]
            self.assertEqual(hook["headers"], {"Authorization": "Bearer " + secret})
            self.assertTrue(backend["url"].endswith("/label-studio/pets"))
            self.assertIn(("PATCH", "/api/projects/1/"), {(method, path) for method, path, _, _ in asked})
            basic = "Basic " + base64.b64encode(f"wisecrowd:{secret}".encode()).decode()
            for one in recorded:  # in the order in which they came
                method = "GET" if one["path"] in ("/health", "/versions") else "POST"
                body = one["body"].encode() if one["body"] else None
                self.assertEqual(service.ask(method, "/label-studio/pets" + one["path"], body, Authorization="Bearer guess").status, 401)
                answer = service.ask(method, "/label-studio/pets" + one["path"], body, Authorization=basic)
                self.assertIn(answer.status, (200, 201), answer.body)
                if one["path"] == "/predict":
                    self.assertEqual(len(answer.json["results"]), len(json.loads(one["body"])["tasks"]))
                if one["path"] == "/webhook":
                    self.assertEqual(answer.status, 201)
            # Annotation 1 was made, changed and deleted; 2 to 7 stay.
            position = service.ask("GET", "/v1/projects/pets").json["accepted_position"]
            self.assertEqual(service.ask("GET", f"/v1/projects/pets?after={position}").json["answers"], 6)
            # The export knows of none of them: webhooks may lie, the export does not.
            done = service.ask("POST", "/v1/projects/pets/label-studio/reconcile").json
            self.assertLessEqual(done["gone"], 6)
            tasks[0]["annotations"] = [{"id": 50, "completed_by": 3, "ground_truth": True, "result": [{"from_name": "c", "value": {"choices": ["dog"]}}]},
                                       {"id": 51, "completed_by": 4, "was_cancelled": True, "result": []},
                                       {"id": 52, "completed_by": 5, "result": [{"from_name": "c", "value": {"choices": ["cat"]}}]}]
            position = service.ask("POST", "/v1/projects/pets/label-studio/reconcile").json["position"]
            self.assertEqual(service.ask("GET", f"/v1/projects/pets?after={position}").json["answers"], 1)
            task = service.ask("GET", "/v1/projects/pets/tasks/1").json
            self.assertEqual((task["truth"], task["answers"]), ("dog", [{"worker": "5", "label": "cat"}]))
            self.assertEqual(service.ask("DELETE", "/v1/projects/pets/label-studio").status, 204)
            self.assertEqual(service.ask("GET", "/label-studio/pets/health", Authorization=basic).status, 401)

    def test_what_cannot_be_connected_is_said(self):
        with self.service() as service:
            place = f"http://127.0.0.1:{service.port}"
            for url, message in (("http://127.0.0.1:1", "cannot be reached"), (f"https://127.0.0.1:{service.port}", "TLS: |no plugin for https")):
                ended = self.run_program("connect", "label-studio", url, "--token", "t", "--project", "1", "--service", place, code=65)
                self.assertRegex(ended.stderr.replace("\n         ", " "), message)
            self.run_program("connect", "label-studio", "http://127.0.0.1:1", "--project", "1", code=64)


class Killed(ServiceTest):
    def test_nothing_that_was_acknowledged_is_lost_and_nothing_comes_twice(self):
        """Clients send rows with keys, and again with the same key when they do not know; meanwhile the service is killed."""
        chance = random.Random(7)
        acknowledged, sent = {}, 0
        with self.service() as service:
            service.ask("POST", "/v1/projects", {"name": "p", "classes": ["a", "b"]})
            waiting = []
            for kill in range(KILLS):
                until = time.monotonic() + chance.uniform(0.02, 0.25)
                killer = threading.Timer(max(0, until - time.monotonic()), service.process.kill)
                killer.start()
                link = service.connect()
                while service.process.poll() is None:
                    if not waiting:
                        rows = [(f"t{chance.randrange(500)}", f"w{sent}_{i}", chance.choice("ab")) for i in range(chance.randrange(1, 30))]
                        waiting.append((f"key{sent}", rows))
                        sent += 1
                    key, rows = waiting[0]
                    try:
                        answer = service.ask("POST", "/v1/projects/p/answers", ndjson(rows), connection=link,
                                             Content_Type="application/x-ndjson", Idempotency_Key=key)
                    except (OSError, http.client.HTTPException):
                        break
                    self.assertEqual(answer.status, 202, answer.body)
                    acknowledged.update({(task, worker): label for task, worker, label in rows})
                    waiting.pop(0)
                killer.join()
                service.process.wait()
                service.log.close()
                link.close()
                service.start()
            for key, rows in waiting:
                answer = service.ask("POST", "/v1/projects/p/answers", ndjson(rows), Content_Type="application/x-ndjson", Idempotency_Key=key)
                acknowledged.update({(task, worker): label for task, worker, label in rows})
            position = service.ask("GET", "/v1/projects/p").json["accepted_position"]
            self.assertEqual(position, len(acknowledged), "an entry per row, none twice")
            project = service.ask("GET", f"/v1/projects/p?after={position}").json
            self.assertEqual(project["answers"], len(acknowledged))
            found = {}
            for task in {task for task, _ in acknowledged}:
                for answer in service.ask("GET", f"/v1/projects/p/tasks/{task}").json["answers"]:
                    found[task, answer["worker"]] = answer["label"]
            self.assertEqual(found, acknowledged)
            self.assertGreater(len(acknowledged), KILLS)


class Hostile(ServiceTest):
    def test_others_are_served_meanwhile_and_memory_is_bounded(self):
        with self.service("--body-megabytes", "1") as service:
            service.ask("POST", "/v1/projects", {"name": "p"})
            before = service.memory()
            links = [service.raw() for _ in range(200)]
            for link in links:  # slow senders: a header that never ends
                link.sendall(b"POST /v1/projects/p/answers HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            flood = [service.raw() for _ in range(20)]  # bodies that never end
            for link in flood:
                link.sendall(b"POST /v1/projects/p/answers HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                             b"Transfer-Encoding: chunked\r\n\r\n")
            chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
            for _ in range(40):
                for link in flood:
                    try:
                        link.sendall(chunk)
                    except OSError:
                        pass
            for _ in range(20):
                self.assertEqual(service.ask("GET", "/healthz").status, 200)
            self.assertLess(service.memory() - before, 100 << 20)
            for link in flood:
                link.settimeout(5)
                try:
                    first = link.recv(100)
                except OSError:
                    first = b""  # reset while it was still sending
                self.assertTrue(first == b"" or b" 413 " in first, first)
            self.assertIn('reason="body_size"', service.ask("GET", "/metrics").body.decode())
            for link in links + flood:
                link.close()

    def test_what_is_too_large_or_wrong_is_refused_in_words(self):
        with self.service("--body-megabytes", "1") as service:
            service.ask("POST", "/v1/projects", {"name": "p"})
            for sent, status in (
                (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 40_000 + b"\r\n\r\n", b"431"),
                (b"POST /v1/projects/p/answers HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n", b"413"),
                (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b"431"),
                (b"BREW /v1/projects HTTP/1.1\r\nHost: localhost\r\n\r\n", b"405"),
                (b"GET /v1/projects/p/labels?limit=0 HTTP/1.1\r\nHost: localhost\r\n\r\n", b"400"),
                (b"GET /v1/projects/p/labels?cursor=x HTTP/1.1\r\nHost: localhost\r\n\r\n", b"400"),
                (b"GET /v1/projects/p/labels?after=99 HTTP/1.1\r\nHost: localhost\r\n\r\n", b"400"),
            ):
                link = service.raw()
                link.sendall(sent)
                self.assertIn(b" " + status + b" ", link.recv(1000).splitlines()[0], sent[:80])
                link.close()
            answers = "/v1/projects/p/answers"
            for body, kind, status in (
                (b"\xff\xfe", "application/json", 400),
                (b"[" * 200_000, "application/json", 400),
                (b"[" * 200_000, "application/x-ndjson", 422),
                (b'{"task":"\xff","worker":"w","label":"a"}', "application/x-ndjson", 422),
                (b'{"task":"a\\u0000b","worker":"w","label":"a"}', "application/x-ndjson", 422),
                (b'{"task":"t","worker":"w","label":"a"}', "text/plain", 415),
                (b'{"task":"t","worker":"w","label":' + b"9" * 400 + b"}", "application/json", 400),
                (b"[]", "application/json", 422),
                (b"{}", "application/json", 422),
            ):
                answer = service.ask("POST", answers, body, Content_Type=kind)
                self.assertEqual(answer.status, status, (body[:60], answer.body[:300]))
                self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
                self.assertTrue(answer.json["detail"])
            self.assertEqual(service.ask("GET", "/v1/projects/p").json["answers"], 0)
            for name in ("..", "../x", "a/b", ".unfinished-1", "", "x" * 65, "é"):
                self.assertEqual(service.ask("POST", "/v1/projects", {"name": name}).status, 422, name)
            for name in ("<script>", "a\nb: c", "=cmd()", "\u202e"):  # names are data, wherever they are shown
                row = [{"task": name, "worker": name, "label": "a"}, {"task": name, "worker": "w", "label": "b"}]
                self.assertEqual(service.ask("POST", answers, row).status, 202)
            self.assertEqual(service.stop(), 0)
            for line in service.lines():
                self.assertIn("time", line)

    def test_requests_and_connections_are_limited(self):
        with self.service("--connections", "20", "--requests-per-second", "50") as service:
            links = [service.raw() for _ in range(20)]
            for link in links:
                link.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                self.assertIn(b"200", link.recv(1000))
            extra = service.raw()
            self.assertIn(b"503", extra.recv(1000))
            extra.close()
            statuses = set()
            for _ in range(200):
                links[0].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                statuses.add(links[0].recv(2000)[9:12])
            self.assertIn(b"429", statuses)
            for link in links:
                link.close()


if __name__ == "__main__":
    unittest.main()
