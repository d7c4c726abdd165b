#!/usr/bin/env python3
"""A real Label Studio as client: 300 tasks, 8 simulated annotators of mixed skill, kills, lost webhooks, the seven traps.

    tests/service/label_studio_test.py [--install]

--install brings label-studio 1.23.2 (about 1 GB) into a virtual environment of its own, $WISECROWD_VENVS/label-studio
(default: build/venvs). Without it the test skips itself. It listens on loopback alone.
"""
import csv
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
PLACE = Path(os.environ.get("WISECROWD_VENVS", ROOT / "build" / "venvs")) / "label-studio"
BOSS = "0123456789abcdef0123456789abcdef01234567"
CLASSES = ["cat", "dog", "owl"]
SKILL = [0.95, 0.9, 0.9, 0.85, 0.85, 0.8, 0.7, 0.5]
TASKS = int(os.environ.get("WISECROWD_STUDIO_TASKS", 300))
CONFIG = ('<View><Text name="t" value="$text"/><Choices name="c" toName="t" choice="single">'
          + "".join(f'<Choice value="{name}"/>' for name in CLASSES) + "</Choices></View>")
PEOPLE = """
import os, sys, django
import label_studio
sys.path.insert(0, os.path.dirname(label_studio.__file__))
os.environ["DJANGO_SETTINGS_MODULE"] = "label_studio.core.settings.label_studio"
django.setup()
from django.db import transaction
from organizations.models import Organization
from rest_framework.authtoken.models import Token
from users.models import User
organisation = Organization.objects.first()
organisation.jwt.legacy_api_tokens_enabled = True
organisation.jwt.save()
for n in range(int(sys.argv[1])):
    user = User.objects.create_user(email=f"worker{n}@example.org", password="secret123", username=f"worker{n}")
    organisation.add_user(user)
    user.active_organization = organisation
    user.save()
    token, _ = Token.objects.get_or_create(user=user)
    print("TOKEN", user.id, token.key)
"""


def free_port():
    with socket.socket() as link:
        link.bind(("127.0.0.1", 0))
        return link.getsockname()[1]


class Studio:
    """A Label Studio with its own data, and calls of its API."""

    def __init__(self, folder):
        self.port = free_port()
        self.environment = {**os.environ, "SSRF_PROTECTION_ENABLED": "false", "ML_BLOCK_LOCAL_IP": "false", "SENTRY_DSN": "",
                            "COLLECT_ANALYTICS": "false", "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
                            "LATEST_VERSION_CHECK": "false", "LABEL_STUDIO_BASE_DATA_DIR": str(folder)}
        self.log = open(folder / "studio.log", "wb")
        self.process = subprocess.Popen(
            [PLACE / "bin" / "label-studio", "start", "--no-browser", "--port", str(self.port), "--internal-host", "127.0.0.1",
             "--username", "boss@example.org", "--password", "secret123", "--user-token", BOSS],
            env=self.environment, stdout=self.log, stderr=subprocess.STDOUT)
        end = time.monotonic() + 900
        while True:
            try:
                if self.ask("GET", "/api/projects/")[0] == 200:
                    break
            except OSError:
                pass
            assert self.process.poll() is None and time.monotonic() < end, "Label Studio does not start"
            time.sleep(1)
        made = subprocess.run([PLACE / "bin" / "python", "-c", PEOPLE, str(len(SKILL))], env=self.environment, capture_output=True, text=True)
        self.people = [tuple(line.split()[1:]) for line in made.stdout.splitlines() if line.startswith("TOKEN ")]
        assert len(self.people) == len(SKILL), made.stderr[-3000:]

    def ask(self, method, path, body=None, token=BOSS):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Authorization": "Token " + token, "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def must(self, *arguments, **options):
        status, answer = self.ask(*arguments, **options)
        assert status < 300, (arguments[:2], status, answer)
        return answer

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()

    def export(self, project):
        return self.must("GET", f"/api/projects/{project}/export?exportType=JSON&download_all_tasks=true")

    def tasks(self, project):
        return [task["id"] for task in self.export(project)]

    def answers(self, project):
        """(task, worker) → label by the export; ground truths are gold, not answers."""
        found = {}
        for task in self.export(project):
            for one in sorted(task["annotations"], key=lambda a: a["id"]):
                worker = one["completed_by"]["id"] if isinstance(one["completed_by"], dict) else one["completed_by"]
                if not one["was_cancelled"] and not one["ground_truth"] and one["result"]:
                    found[str(task["id"]), str(worker)] = one["result"][0]["value"]["choices"][0]
        return found


class Crowd:
    """Annotators who answer through Label Studio's API what it hands out to them."""

    def __init__(self, studio, project, truth, seed):
        self.studio, self.project, self.truth, self.given = studio, project, truth, 0
        self.chance = [random.Random(f"{seed} {n}") for n in range(len(SKILL))]

    def turn(self, n):
        """One answer of annotator n; False when there is nothing for it."""
        status, task = self.studio.ask("GET", f"/api/projects/{self.project}/next/", token=self.studio.people[n][1])
        if status != 200:
            return False
        chance = self.chance[n]
        right = self.truth[task["id"]]
        label = right if chance.random() < SKILL[n] else chance.choice([name for name in CLASSES if name != right])
        self.studio.must("POST", f"/api/tasks/{task['id']}/annotations/", {"result": result_of(label), "lead_time": 1 + chance.random()},
                         token=self.studio.people[n][1])
        self.given += 1
        return True

    def work(self, until, patience=25, more=lambda: False):
        """Everybody in turn, until so many answers were given, or nobody has been asked for a while and nothing is to be
        asked: `more` says whether the service wants answers that Label Studio was not told of yet. It gets ten minutes."""
        quiet_since = None
        while self.given < until:
            some = False
            for n in range(len(SKILL)):
                some = (self.given < until and self.turn(n)) or some
            if some:
                quiet_since = None
                continue
            quiet_since = quiet_since or time.monotonic()
            quiet = time.monotonic() - quiet_since
            if quiet > patience and (quiet > 600 or not more()):
                return
            time.sleep(0.3)


def result_of(label):
    return [{"from_name": "c", "to_name": "t", "type": "choices", "value": {"choices": [label]}}]


def service_answers(service, name):
    found = {}
    for row in pages(service, f"/v1/projects/{name}/labels"):
        for answer in service.ask("GET", f"/v1/projects/{name}/tasks/{row['task']}").json["answers"]:
            found[row["task"], answer["worker"]] = answer["label"]
    return found


def pages(service, path):
    cursor, mark = None, "&" if "?" in path else "?"
    while True:
        page = service.ask("GET", path + (f"{mark}cursor={cursor}" if cursor else "")).json
        yield from page["labels"]
        cursor = page["next"]
        if not cursor:
            return


def random_assignment(truth, answers_each, folder, seed):
    """Accuracy of the default on as many answers per task from annotators drawn at random, same skills."""
    chance = random.Random(f"random {seed}")
    with open(folder / "random.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["task", "worker", "label"])
        for task, right in truth.items():
            for n in chance.sample(range(len(SKILL)), answers_each):
                said = right if chance.random() < SKILL[n] else chance.choice([name for name in CLASSES if name != right])
                writer.writerow([task, n, said])
    program = os.environ["WISECROWD_PROGRAM"]
    subprocess.run([program, "aggregate", folder / "random.csv", "--out", folder / f"random{seed}", "--quiet"], check=True,
                   stderr=subprocess.DEVNULL)
    with open(folder / f"random{seed}" / "labels.csv", newline="") as file:
        return sum(truth[int(row["task"])] == row["label"] for row in csv.DictReader(file)) / len(truth)


def settle(service, name):
    position = service.ask("GET", f"/v1/projects/{name}").json["accepted_position"]
    service.ask("GET", f"/v1/projects/{name}?after={position}")


def check_traps(studio, service, project, name):
    """The seven traps of the protocol, each as it would bite."""
    backend = [one for one in studio.must("GET", f"/api/ml?project={project}") if one["title"] == "wisecrowd"]
    hooks = [one for one in studio.must("GET", f"/api/webhooks/?project={project}") if one["url"].endswith("/webhook")]
    assert len(backend) == 1 and len(hooks) == 1, (backend, hooks)
    assert hooks[0]["headers"]["Authorization"].startswith("Bearer wcls_"), "1: the webhook carries its secret"
    wrong = service.ask("POST", f"/label-studio/{name}/webhook", {"action": "ANNOTATION_CREATED"}, Authorization="Bearer guess")
    assert wrong.status == 401, "1: and nobody gets in without"
    secret = hooks[0]["headers"]["Authorization"]
    begin = time.monotonic()
    said = service.ask("POST", f"/label-studio/{name}/webhook", {"action": "SOMETHING_NEW", "surprise": [1]}, Authorization=secret)
    assert said.status == 201 and time.monotonic() - begin < 1, "2 and 6: answered at once, unknown events are no error"
    settings = studio.must("GET", f"/api/projects/{project}/")
    shown = service.ask("GET", f"/v1/projects/{name}/label-studio").json
    assert settings["model_version"] == shown["model_version"], "4: the project's version is that of our predictions"
    assert settings["sampling"] == "Uncertainty sampling" and not settings["show_collab_predictions"]
    tasks = [{"id": 1, "data": {}}, {"id": 99999999, "data": {}}, {"data": {}}]
    predicted = service.ask("POST", f"/label-studio/{name}/predict", {"tasks": tasks, "project": "1.1", "label_config": CONFIG,
                                                                     "params": {"login": None, "password": None, "context": None}},
                            Authorization=secret)
    assert predicted.status == 200 and len(predicted.json["results"]) == 3, "6: as many results as tasks"
    assert all(0 <= one["score"] <= 1 for one in predicted.json["results"])


def main():
    if "--install" in sys.argv:
        venv.create(PLACE, with_pip=True)
        return subprocess.call([PLACE / "bin" / "pip", "install", "--quiet", "label-studio==1.23.2"])
    if not (PLACE / "bin" / "label-studio").exists():
        print(f"Label Studio is not installed: {sys.argv[0]} --install")
        return 77
    from service import Service

    with tempfile.TemporaryDirectory(prefix="wisecrowd-studio-") as folder:
        folder = Path(folder)
        (folder / "studio").mkdir()
        studio = Studio(folder / "studio")
        try:
            with Service(folder / "data") as service:
                return play(studio, service, folder)
        finally:
            studio.stop()


def check_breadth_first(studio, project, first):
    """7: Label Studio hands out tasks that somebody began before those with lower scores, so a third answer has to wait."""
    counts = {number: 0 for number in studio.tasks(project)}
    for task, _ in studio.answers(project):
        counts[int(task)] += 1
    begun = sum(0 < count < first for count in counts.values())
    assert min(counts.values()) == 0 and begun <= len(SKILL), f"7: begun tasks come first: {begun} wait for their second answer"
    assert max(counts.values()) <= first, "7: nobody is asked more often while other tasks wait for their first answers"


def check_doubtful_got_more(studio, project, first):
    """7: what the first answers disagreed on got more of them than what they agreed on."""
    said = {}
    for task in studio.export(project):
        made = sorted((one for one in task["annotations"] if one["result"] and not one["ground_truth"]), key=lambda one: one["id"])
        said[task["id"]] = [one["result"][0]["value"]["choices"][0] for one in made]
    agreed = [len(labels) for labels in said.values() if len(labels) >= first and len(set(labels[:first])) == 1]
    differed = [len(labels) for labels in said.values() if len(labels) >= first and len(set(labels[:first])) > 1]
    means = [sum(counts) / len(counts) for counts in (agreed, differed)]
    print(f"answers to {len(agreed)} tasks whose first {first} agree: {means[0]:.2f} each; to {len(differed)} others: {means[1]:.2f}")
    assert means[1] > means[0] + 0.5, "7: doubtful tasks got more answers than sure ones"


def play(studio, service, folder):
    project = studio.must("POST", "/api/projects/", {"title": "pets", "label_config": CONFIG})["id"]
    studio.must("POST", f"/api/projects/{project}/import", [{"text": f"item {i}"} for i in range(TASKS)])
    numbers = studio.tasks(project)
    chance = random.Random(11)
    truth = {number: chance.choice(CLASSES) for number in sorted(numbers)}
    program = os.environ["WISECROWD_PROGRAM"]
    connected = subprocess.run([program, "connect", "label-studio", f"http://127.0.0.1:{studio.port}", "--project", str(project), "--token", BOSS,
                                "--service", f"http://127.0.0.1:{service.port}", "--name", "pets", "--json"], capture_output=True, text=True)
    assert connected.returncode == 0, connected.stderr
    assert json.loads(connected.stdout)["choices"] == CLASSES
    service.ask("PATCH", "/v1/projects/pets", {"sure": 0.99})
    check_traps(studio, service, project, "pets")
    crowd = Crowd(studio, project, truth, 5)
    budget = int(0.6 * 5 * TASKS)
    crowd.work(until=int(0.3 * budget))
    check_breadth_first(studio, project, 2)

    # Killed, and webhooks get lost meanwhile; annotations are changed and deleted (3: by their ids alone).
    port = service.port
    service.kill()
    crowd.work(until=int(0.35 * budget), patience=3)
    made = [(task["id"], one["id"]) for task in studio.must("GET", f"/api/projects/{project}/export?exportType=JSON") for one in task["annotations"]]
    for _, number in made[:3]:
        studio.must("DELETE", f"/api/annotations/{number}/")
    for _, number in made[3:5]:
        studio.must("PATCH", f"/api/annotations/{number}/", {"result": result_of("owl")})
    service.start(port)
    done = service.ask("POST", "/v1/projects/pets/label-studio/reconcile")
    assert done.status == 200, done.body
    settle(service, "pets")
    assert service_answers(service, "pets") == studio.answers(project), "after reconciling both have the same answers"
    # Alive again, deletions and ground truths arrive by webhooks.
    gold_task, gold = made[5]
    studio.must("PATCH", f"/api/annotations/{gold}/", {"ground_truth": True})
    studio.must("DELETE", f"/api/annotations/{made[6][1]}/")
    time.sleep(2)
    settle(service, "pets")
    assert service_answers(service, "pets") == studio.answers(project), "3: a deletion names ids alone"
    assert service.ask("GET", f"/v1/projects/pets/tasks/{gold_task}").json["truth"] is not None, "ground truth is gold"

    most = service.ask("GET", "/v1/projects/pets/label-studio").json["most"]
    crowd.work(until=budget, more=lambda: any(row["answers"] < most for row in pages(service, "/v1/projects/pets/labels?below=0.99")))
    settle(service, "pets")
    service.ask("POST", "/v1/projects/pets/label-studio/reconcile")
    settle(service, "pets")
    assert service_answers(service, "pets") == studio.answers(project)
    labels = {int(row["task"]): row["label"] for row in pages(service, "/v1/projects/pets/labels")}
    reached = sum(labels[number] == right for number, right in truth.items()) / len(truth)
    random5 = [random_assignment(truth, 5, folder, seed) for seed in range(10)]
    print(f"accuracy {reached:.4f} with {crowd.given} answers ({crowd.given / TASKS:.2f} per task); random assignment of {5 * TASKS} answers: "
          f"mean {sum(random5) / len(random5):.4f}, {min(random5):.4f} to {max(random5):.4f}")
    for _ in range(60):  # a push may be under way: the new version comes first, then the old one goes
        versions = studio.must("GET", f"/api/projects/{project}/model-versions/")
        if len(versions) == 1:
            break
        time.sleep(1)
    assert len(versions) == 1, f"5: predictions of old versions are gone: {versions}"
    check_doubtful_got_more(studio, project, 2)
    assert crowd.given <= budget
    assert reached >= sum(random5) / len(random5), "the bar: accuracy of random assignment with 60 % of its answers"
    return 0


if __name__ == "__main__":
    sys.exit(main())
