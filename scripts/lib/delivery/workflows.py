"""Checks the workflows of a repository as far as that is possible without the service that runs them.

usage: workflows.py <root>
"""

import os
import pathlib
import re
import subprocess
import sys

import yaml

TOP = {"name", "on", "permissions", "concurrency", "defaults", "env", "jobs", "run-name"}
JOB = {"name", "needs", "if", "permissions", "runs-on", "container", "timeout-minutes", "outputs", "strategy",
       "environment", "concurrency", "env", "steps", "defaults", "services", "continue-on-error"}
CALLER = {"name", "needs", "if", "permissions", "uses", "with", "secrets", "strategy", "concurrency"}
STEP = {"id", "name", "if", "uses", "run", "with", "env", "shell", "working-directory", "continue-on-error",
        "timeout-minutes"}
SCOPES = {"actions", "attestations", "checks", "contents", "deployments", "id-token", "issues", "packages", "pages",
          "pull-requests", "security-events", "statuses"}
CONTEXTS = {"github", "env", "vars", "job", "jobs", "steps", "runner", "secrets", "strategy", "matrix", "needs",
            "inputs"}
FUNCTIONS = {"always", "cancelled", "contains", "endsWith", "failure", "format", "fromJSON", "hashFiles", "join",
             "startsWith", "success", "toJSON"}
# What comes from outside is text of others: in a shell it would be run.
UNTRUSTED = re.compile(r"\$\{\{[^}]*\}\}")
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.S)
TOKEN = re.compile(r"""'(?:[^']|'')*'|[A-Za-z_][\w-]*(?:\.[\w*-]+)*|\d+(?:\.\d+)?|==|!=|<=|>=|&&|\|\||[()\[\],!<>]|\s+""")


# Variables that a step has only when it is given them.
GIVEN = "BASE|SERVICE|SERVICES|TAG|REGISTRY|CLUSTER|TOKEN|ENVIRONMENT|IMAGE_REGISTRY"


class Loader(yaml.SafeLoader):
    """`on` is a word here, not a truth; the same key twice is a mistake."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"the key {key} is there twice")
        return super().construct_mapping(node, deep)


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool" or first not in "oOyYnN"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}


class Workflow:
    def __init__(self, root, path):
        self.root, self.path = root, path
        self.text = path.read_text()

    def problems(self):
        try:
            self.tree = yaml.load(self.text, Loader)
        except yaml.YAMLError as error:
            yield f"is no YAML: {error}"
            return
        if not isinstance(self.tree, dict) or not isinstance(self.tree.get("jobs"), dict):
            yield "has no jobs"
            return
        yield from self.top()
        yield from self.cycles()
        for name, job in self.tree["jobs"].items():
            for problem in self.job(name, job):
                yield f"job {name} {problem}"
        for problem in self.expressions(self.tree, None):
            yield problem

    def top(self):
        yield from (f"has an unknown key {key}" for key in self.tree.keys() - TOP)
        for key in ("name", "on", "permissions"):
            if key not in self.tree:
                yield f"has no {key}"
        if self.tree.get("permissions") != {"contents": "read"}:
            yield "may more than read by itself: let single jobs ask for more"
        events = self.tree.get("on")
        if not isinstance(events, dict):
            events = dict.fromkeys([events] if isinstance(events, str) else events or ())
        if "pull_request_target" in events or "workflow_run" in events:
            yield "runs what others wrote with rights of its own"
        if "workflow_call" not in events and "group" not in (self.tree.get("concurrency") or {}):
            yield "has no concurrency group"

    def cycles(self):
        jobs = self.tree["jobs"]
        seen = {}

        def visit(name):
            if seen.get(name) == "open":
                return True
            if name in seen or not isinstance(jobs.get(name), dict):
                return False
            seen[name] = "open"
            found = any(visit(need) for need in needs(jobs[name]))
            seen[name] = "done"
            return found

        if any([visit(name) for name in jobs]):
            yield "has jobs that wait for each other"

    def job(self, name, job):
        if not isinstance(job, dict):
            yield "is empty"
            return
        yield from (f"needs {need}, which does not exist" for need in needs(job) if need not in self.tree["jobs"])
        permissions = job.get("permissions", {})
        if not isinstance(permissions, dict):
            yield f"asks for {permissions}: name each right"
        else:
            for scope, right in permissions.items():
                if scope not in SCOPES or right not in ("read", "write", "none"):
                    yield f"asks for {scope}: {right}, which does not exist"
            yield from self.rights(name, job, permissions)
        matrix = (job.get("strategy") or {}).get("matrix")
        if matrix:
            yield from self.matrix(job, matrix)
        if "uses" in job:
            yield from self.caller(job)
            return
        yield from (f"has an unknown key {key}" for key in job.keys() - JOB)
        if "runs-on" not in job:
            yield "does not say where it runs"
        if not isinstance(job.get("timeout-minutes"), int):
            yield "has no timeout"
        if not isinstance(job.get("steps"), list) or not job["steps"]:
            yield "has no steps"
            return
        for number, step in enumerate(job["steps"], 1):
            for problem in self.step(job, step):
                yield f"step {number} {problem}"

    def rights(self, name, job, permissions):
        uses = [step.get("uses", "") for step in job.get("steps", []) if isinstance(step, dict)]
        runs = " ".join(str(step.get("run", "")) for step in job.get("steps", []) if isinstance(step, dict))
        called = job.get("uses", "")
        if "id-token" in permissions and not called and not any(use.startswith("aws-actions/") for use in uses):
            yield "may ask for tokens of an identity and has no use for them"
        if permissions.get("contents") == "write" and not called and "git push" not in runs:
            yield "may write to the repository and does not"
        for scope, right in permissions.items():
            if right == "write" and scope not in ("contents", "id-token"):
                yield f"may write {scope}"
        if any(use.startswith("aws-actions/") for use in uses) and permissions.get("id-token") != "write":
            yield "signs in at Amazon without the right to a token"

    def matrix(self, job, matrix):
        for value in matrix.values():
            found = re.fullmatch(r"\$\{\{ fromJSON\(needs\.([\w-]+)\.outputs\.([\w-]+)\) \}\}", str(value))
            source = self.tree["jobs"].get(found[1]) if found else None
            if not source or "scripts/changed-services" not in str(source.get("steps")):
                yield "has a matrix that does not come from scripts/changed-services"
            elif found[2] not in source.get("outputs", {}):
                yield f"has a matrix of {found[1]}.{found[2]}, which is no output"

    def caller(self, job):
        yield from (f"has an unknown key {key} beside uses" for key in job.keys() - CALLER)
        path = self.root / job["uses"]
        if not job["uses"].startswith("./") or not path.exists():
            yield f"calls {job['uses']}, which is no workflow of this repository"
            return
        called = yaml.load(path.read_text(), Loader)
        inputs = ((called.get("on") or {}).get("workflow_call") or {}).get("inputs", {})
        given = job.get("with", {})
        yield from (f"gives {key}, which {path.name} does not take" for key in given.keys() - inputs.keys())
        yield from (f"does not give {key}" for key, value in inputs.items()
                    if value.get("required") and key not in given)
        for inner in called["jobs"].values():
            for scope, right in (inner.get("permissions") or {}).items():
                if right == "write" and job.get("permissions", {}).get(scope) != "write":
                    yield f"does not pass on the right {scope}"

    def step(self, job, step):
        if not isinstance(step, dict):
            yield "is no step"
            return
        yield from (f"has an unknown key {key}" for key in step.keys() - STEP)
        if ("uses" in step) == ("run" in step):
            yield "has not one of uses and run"
        if "uses" in step:
            if not re.fullmatch(r"[\w.-]+/[\w.-]+(/[\w.-]+)*@[0-9a-f]{40}", step["uses"]):
                yield f"uses {step['uses']}, which is not pinned to a commit"
            elif not re.search(re.escape(step["uses"]) + r" # v\d", self.text):
                yield f"does not say which version {step['uses']} is"
            kept = (step.get("with") or {}).get("persist-credentials")
            if step["uses"].startswith("actions/checkout@") and kept is not False:
                yield "leaves the token in the clone"
            for key in step.get("with") or {}:
                if "access-key" in key:
                    yield "signs in with a key that stays"
        if "run" in step:
            yield from self.shell(step)

    def shell(self, step):
        text = step["run"]
        if UNTRUSTED.search(text):
            yield "has an expression in its shell: give it by env"
        for called in re.findall(r"(?<![\w./-])(scripts/[\w-]+|\.ci/\w+)", text):
            path = self.root / called
            if not path.is_file():
                yield f"calls {called}, which does not exist"
            elif not os.access(path, os.X_OK):
                yield f"calls {called}, which cannot be executed"
        for variable in re.findall(rf"\$\{{?({GIVEN})\b", text):
            if variable not in (step.get("env") or {}):
                yield f"reads {variable}, which it is not given"
        done = subprocess.run(["shellcheck", "--shell=bash", "--exclude=SC1091", "--format=gcc", "-"],
                              input=f"set -euo pipefail\n{text}", capture_output=True, text=True, check=False)
        if done.returncode != 0:
            yield f"has shell that shellcheck refuses: {(done.stdout or done.stderr).splitlines()[0]}"

    # Expressions

    def expressions(self, node, job):
        if isinstance(node, dict):
            for key, value in node.items():
                inner = value if node is self.tree.get("jobs") and isinstance(value, dict) else job
                if key == "if" and isinstance(value, str) and "${{" not in value:
                    value = f"${{{{ {value} }}}}"
                yield from self.expressions(value, inner)
        elif isinstance(node, list):
            for value in node:
                yield from self.expressions(value, job)
        elif isinstance(node, str):
            if node.count("${{") != len(EXPRESSION.findall(node)):
                yield f"has an expression without an end: {node.splitlines()[0]}"
            for text in EXPRESSION.findall(node):
                for problem in self.expression(text, job):
                    yield f"expression {text.strip()}: {problem}"

    def expression(self, text, job):
        position, depth = 0, 0
        while position < len(text):
            found = TOKEN.match(text, position)
            if not found:
                yield f"{text[position]} has no place there"
                return
            token, position = found[0], found.end()
            depth += token in ("(", "[")
            depth -= token in (")", "]")
            if depth < 0:
                break
            if token[0].isalpha():
                yield from self.name(token, text[position:position + 1] == "(", job)
        if depth != 0:
            yield "brackets do not match"

    def name(self, token, called, job):
        head, *rest = token.split(".")
        if called:
            if token not in FUNCTIONS:
                yield f"{token} is no function"
        elif token in ("true", "false", "null"):
            return
        elif head not in CONTEXTS:
            yield f"{head} is nothing that is known there"
        elif head == "needs" and job is not None:
            if rest[0] not in needs(job):
                yield f"the job does not need {rest[0]}"
            elif rest[1:2] == ["outputs"] and rest[2] not in (self.tree["jobs"].get(rest[0]) or {}).get("outputs", {}):
                yield f"{rest[0]} has no output {rest[2]}"
        elif head == "steps" and job is not None:
            if rest[0] not in [step.get("id") for step in job.get("steps", []) if isinstance(step, dict)]:
                yield f"there is no step {rest[0]}"
        elif head == "matrix" and "matrix" not in ((job or {}).get("strategy") or {}):
            yield "the job has no matrix"
        elif head == "inputs":
            call = (self.tree.get("on") or {})
            if rest[0] not in ((call.get("workflow_call") or {}).get("inputs", {}) if isinstance(call, dict) else {}):
                yield f"there is no input {rest[0]}"


def needs(job):
    value = job.get("needs", []) if isinstance(job, dict) else []
    return [value] if isinstance(value, str) else value


def problems(root):
    """For each workflow its problems."""
    folder = root / ".github/workflows"
    return {path.name: list(Workflow(root, path).problems()) for path in sorted(folder.glob("*.y*ml"))}


def main():
    found = problems(pathlib.Path(sys.argv[1]))
    failed = sum(map(bool, found.values()))
    for name, wrong in found.items():
        print(f"{'FAILED ' if wrong else 'ok     '} {name}")
        for problem in wrong:
            print(f"        {problem}")
    if not found:
        failed = 1
        print("FAILED  there are no workflows")
    print(f"{len(found) - sum(map(bool, found.values()))} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
