"""A client by openapi-python-client: modules of operations, and types of attrs."""

import importlib
import os
import pathlib
import re
import subprocess
import sys

import yaml

from answer import Answer

CONFIGURATION = pathlib.Path(__file__).parents[2] / "deploy/gateway/python-client.yaml"
PACKAGE = "transfa_client"


class AttrsClient:
    NAME, GENERATOR = "attrs", "openapi-python-client"

    def __init__(self, document, folder, address):
        self.address = address
        # It formats what it makes with a program beside it.
        path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
        made = subprocess.run(
            [sys.executable, "-m", "openapi_python_client", "generate", "--path", document, "--config", CONFIGURATION,
             "--output-path", folder / "client", "--fail-on-warning"],
            capture_output=True, text=True, timeout=120, env={**os.environ, "PATH": path},
        )
        if made.returncode:
            raise RuntimeError(f"{self.GENERATOR} objects: {(made.stdout + made.stderr)[-800:]}")
        sys.path.insert(0, str(folder / "client"))
        self.package = importlib.import_module(f"{PACKAGE}.client")
        self.models = importlib.import_module(f"{PACKAGE}.models")
        self.tags = {
            operation["operationId"]: operation["tags"][0]
            for item in yaml.load(document.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))["paths"].values()
            for operation in item.values()
            if isinstance(operation, dict)
        }

    def type(self, name):
        return getattr(self.models, name)

    def call(self, phone, operation, **parameters):
        """One operation in somebody's name; in nobody's without a phone."""
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", operation).lower()
        module = importlib.import_module(f"{PACKAGE}.api.{self.tags[operation]}.{name}")
        client = self.package.Client(
            base_url=self.address, httpx_args={"auth": phone}, raise_on_unexpected_status=True, timeout=30,
        )
        with client:
            answer = module.sync_detailed(client=client, **parameters)
        return Answer(answer.status_code.value, answer.headers, answer.parsed)
