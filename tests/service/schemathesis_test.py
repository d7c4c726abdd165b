#!/usr/bin/env python3
"""schemathesis (PyPI) makes up requests from the OpenAPI document: no 5xx, and every answer is as documented.

    tests/service/schemathesis_test.py [--install]

--install brings it into a virtual environment of its own, $WISECROWD_VENVS/schemathesis (default: build/venvs). Without it
the test skips itself.
"""
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
PLACE = Path(os.environ.get("WISECROWD_VENVS", ROOT / "build" / "venvs")) / "schemathesis"
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance"


def main():
    tool = PLACE / "bin" / "schemathesis"
    if "--install" in sys.argv:
        venv.create(PLACE, with_pip=True)
        return subprocess.call([PLACE / "bin" / "pip", "install", "--quiet", "schemathesis==4.32.5"])
    if not tool.exists():
        print(f"schemathesis is not installed: {sys.argv[0]} --install")
        return 77
    from service import Service, ndjson

    with tempfile.TemporaryDirectory(prefix="wisecrowd-schemathesis-") as folder, Service(Path(folder) / "data") as service:
        service.ask("POST", "/v1/projects", {"name": "p", "classes": ["a", "b"]})
        rows = [(f"t{t}", f"w{w}", "ab"[(t + (w > 2)) % 2]) for t in range(20) for w in range(4)]
        service.ask("POST", "/v1/projects/p/answers", ndjson(rows), Content_Type="application/x-ndjson")
        command = [tool, "run", f"http://127.0.0.1:{service.port}/openapi.json", "--checks", CHECKS, "--max-examples", "60",
                   "--seed", "1", "--workers", "1", "--request-timeout", "20", "--exclude-path-regex", "/events$",
                   "--suppress-health-check", "all"]
        code = subprocess.call(command, cwd=folder)
        if service.process.poll() is not None:
            sys.exit("the service ended")
        return code


if __name__ == "__main__":
    sys.exit(main())
