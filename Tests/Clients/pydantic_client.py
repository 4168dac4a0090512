"""A client by datamodel-code-generator: types of pydantic; which one an answer has, the description says."""

import importlib.util
import subprocess
import sys

import httpx
import yaml

from answer import Answer

METHODS = ("get", "put", "post", "delete")


class PydanticClient:
    NAME, GENERATOR = "pydantic", "datamodel-code-generator"

    def __init__(self, document, folder, address):
        models = folder / "models.py"
        made = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "datamodel_code_generator", "--input", document, "--input-file-type",
             "openapi", "--output", models],
            capture_output=True, text=True, timeout=120,
        )
        if made.returncode or made.stderr:
            raise RuntimeError(f"{self.GENERATOR} objects: {(made.stdout + made.stderr)[-800:]}")
        specification = importlib.util.spec_from_file_location("transfa_models", models)
        self.models = importlib.util.module_from_spec(specification)
        sys.modules[specification.name] = self.models
        specification.loader.exec_module(self.models)
        self.document = yaml.load(document.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        self.operations = {
            item[method]["operationId"]: (method, path, item[method])
            for path, item in self.document["paths"].items() for method in METHODS if method in item
        }
        self.address = address

    def type(self, name):
        return getattr(self.models, name)

    def call(self, phone, operation, body=None, idempotency_key=None, limit=None, **places):
        """One operation in somebody's name; in nobody's without a phone."""
        method, path, described = self.operations[operation]
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if idempotency_key:
            headers["Idempotency-Key"] = idempotency_key
        with httpx.Client(base_url=self.address, auth=phone, timeout=30) as client:
            answer = client.request(
                method, path.format(**places), headers=headers, params={"limit": limit} if limit else None,
                content=body.model_dump_json(exclude_none=True) if body is not None else None,
            )
        return Answer(answer.status_code, answer.headers, self.read(described, answer))

    def read(self, described, answer):
        """The answer as the type that the description names for its status and its kind."""
        found = self.resolved(described["responses"][str(answer.status_code)])
        kind = answer.headers["Content-Type"].split(";")[0]
        name = found["content"][kind]["schema"]["$ref"].rsplit("/", 1)[1]
        return self.type(name).model_validate_json(answer.content)

    def resolved(self, node):
        while "$ref" in node:
            _, _, kind, name = node["$ref"].split("/")
            node = self.document["components"][kind][name]
        return node
