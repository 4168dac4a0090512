"""One document against one address: schemathesis calls its operations, and what came of it is counted."""

import collections
import contextlib
import dataclasses
import io
import json
import re
import time

import requests.auth
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.core.file_samples import MEDIA_TYPE_FILE_SAMPLES
from schemathesis.core.jsonschema import make_validator
from schemathesis.core.parameters import ParameterLocation
from schemathesis.engine import Status, events, from_schema
from schemathesis.generation.meta import negated_parameters
from schemathesis.openapi.checks import (
    AllowHeaderMismatch, EnsureResourceAvailability, RejectedPositiveData, UnsupportedMethodResponse,
)

from edit import HEADER
from recipes import Recipes, set_clock_right
from suite import anchor_signature, approval, svix_signature

# Lines, one event each.
LINES = "application/jsonl"
METHODS = ("get", "put", "post", "delete", "patch")
# What may be answered to a request that keeps the rules of its schema: also the noes of the business.
GOOD = ["2xx", "304", "401", "403", "404", "409", "410", "422", "429"]
# What may be answered to one that breaks them.
BAD = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422"]

# RFC 9562 asks for lower case.
UPPER_CASE = re.compile(rb'"(?=[^"]*[A-F])[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}"')


@schemathesis.deserializer(LINES)
def read_lines(context, response):
    return response.text


@schemathesis.serializer(LINES)
def write_lines(context, value):
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


@dataclasses.dataclass
class Order:
    """What is to be called, how long, and where."""

    source: str
    document: dict
    service: str
    url: str
    examples: int
    steps: int
    seed: int


@dataclasses.dataclass
class Outcome:
    order: Order
    # operationId -> status -> how often
    statuses: dict = dataclasses.field(default_factory=dict)
    # (operation, check, what is wrong) -> the first time it was seen
    findings: dict = dataclasses.field(default_factory=dict)
    seconds: float = 0


def settings(order):
    examples = {"max-examples": order.examples, "no-shrink": True, "deterministic": True, "database": "none"}
    return SchemathesisConfig.from_dict(
        {
            "seed": order.seed,
            "cache": {"enabled": False},
            "base-url": order.url,
            "workers": 1,
            "continue-on-failure": True,
            # A stream has no end: its first event is its answer.
            "max-stream-events": 1,
            "request-timeout": 20,
            # The character U+0000 is refused everywhere, which schemas need not say.
            "generation": {**examples, "allow-x00": False},
            "checks": {
                "positive_data_acceptance": {"expected-statuses": GOOD},
                "negative_data_rejection": {"expected-statuses": BAD},
            },
            "phases": {"stateful": {"max-steps": order.steps}},
        }
    )


class Signer(requests.auth.AuthBase):
    """Signs what is sent, byte by byte: approvals of devices, webhooks of the outside world; first puts a file in."""

    def __init__(self, suite, person, unsigned, names, file):
        self.suite, self.person, self.unsigned, self.names, self.file = suite, person, unsigned, names, file

    def __call__(self, request):
        if self.file is not None:
            request.body = self.file
        body = request.body or b""
        body = body.encode() if isinstance(body, str) else body
        path = request.path_url.split("?")[0]
        if "Transfa-Approval" in self.names and self.person and self.person.get("device"):
            self.set(request, "Transfa-Approval", approval(self.person, request.method, path, body))
        if "x-anchor-signature" in self.names:
            self.set(request, "x-anchor-signature", anchor_signature(self.suite.webhook_token, body))
        if "svix-signature" in self.names:
            self.svix(request, body)
        return request

    def svix(self, request, body):
        seconds = str(int(time.time()))
        self.set(request, "svix-timestamp", seconds)
        message = request.headers.get("svix-id", "")
        message = message.decode("latin-1") if isinstance(message, bytes) else message
        self.set(request, "svix-signature", svix_signature(self.suite.clerk_secret, message, seconds, body))

    def set(self, request, name, value):
        if name not in self.unsigned:
            request.headers[name] = value


def without_nulls(value):
    if not isinstance(value, dict):
        return value
    return {name: without_nulls(inner) for name, inner in value.items() if inner is not None}


def is_good_without_nulls(case):
    """Whether the body keeps its schema without the members that are null, and the rest of the request is good."""
    locations = (location for location in case._meta.components if location != ParameterLocation.BODY)
    alternative = case.operation.get_body_for_media_type(case.media_type) if case.media_type else None
    if alternative is None or any(case._meta.is_negative_at(location) for location in locations):
        return False
    bare = without_nulls(case.body)
    checker = make_validator(alternative.optimized_schema, case.operation.schema.adapter.jsonschema_validator_cls)
    return bare != case.body and checker.is_valid(bare)


class Caller:
    """Calls the operations of a document."""

    def __init__(self, suite, world, order):
        self.suite = suite
        self.order = order
        self.recipes = Recipes(suite, world)
        self.outcome = Outcome(order)

    def run(self):
        begun = time.monotonic()
        document = {**self.order.document, "x-service": self.order.service}
        schema = schemathesis.openapi.from_dict(document, config=settings(self.order))
        self.listen(schema)
        # What the library prints for people who watch it is not ours.
        with contextlib.redirect_stdout(io.StringIO()):
            for event in from_schema(schema).execute():
                self.take(event)
        self.outcome.seconds = time.monotonic() - begun
        return self.outcome

    def listen(self, schema):
        recipes = self.recipes
        schemathesis.hooks.unregister_all()
        schemathesis.auths.unregister()

        @schema.auth(refresh_interval=None)
        class People:
            def get(self, case, context):
                return recipes.token(case)

            def set(self, case, token, context):
                case.headers["Authorization"] = f"Bearer {token}"

        # Hooks carry notes of the library, which methods cannot.
        schemathesis.hook("before_call")(lambda context, case, kwargs: self.before_call(case, kwargs))
        schemathesis.hook("after_call")(lambda context, case, response: self.after_call(case, response))
        schemathesis.hook("filter_failure")(
            lambda context, failure, case, response: self.is_finding(failure, case, response)
        )

    def before_call(self, case, kwargs):
        self.recipes.complete(case)
        names = {parameter.name for parameter in case.operation.headers}
        unsigned = {name for name, place in negated_parameters(case._meta) if place == HEADER}
        if case._meta.is_negative_at(HEADER):
            # What was left out stays out.
            unsigned |= {name for name in names if name not in case.headers}
        # Of a picture the schema says no more than that it is one.
        is_good = not case._meta.is_negative_at(ParameterLocation.BODY)
        file = MEDIA_TYPE_FILE_SAMPLES.get(case.media_type) if is_good else None
        kwargs["auth"] = Signer(self.suite, self.recipes.person(case), unsigned, names, file)

    def after_call(self, case, response):
        name = case.operation.definition.raw["operationId"]
        if case.method.lower() == case.operation.method.lower():
            counts = self.outcome.statuses.setdefault(name, collections.Counter())
            counts[response.status_code] += 1
            self.recipes.answered(case, response)
        if UPPER_CASE.search(response.content):
            self.find(case.operation.label, "ids", "An id is written in upper case", response.text[:400])
        if name == "moveClock" and response.status_code == 200:
            set_clock_right(self.suite, self.order.service)

    def is_finding(self, failure, case, response):
        """A path such as /transactions/quote is also one of /transactions/{id}: what that has is no surprise here.

        And null is as good as absent, and what is no HTTP gets no answer of ours.
        """
        if not response.request.headers.get("Content-Length", "0").isdigit():
            return False
        if isinstance(failure, EnsureResourceAvailability):
            # A chain may take up an id of an earlier chain, which has removed it.
            return case.formatted_path not in self.recipes.removed
        if isinstance(failure, RejectedPositiveData) and response.status_code == 415:
            # Whether a document is a text or a file, no schema can say.
            return case.operation.definition.raw["operationId"] != "handInDocument"
        if isinstance(failure, AcceptedNegativeData):
            return not is_good_without_nulls(case)
        also = self.methods_of(response.request.path_url.split("?")[0])
        if isinstance(failure, UnsupportedMethodResponse):
            return failure.method not in also
        if isinstance(failure, AllowHeaderMismatch):
            return bool(failure.missing_methods) or not also.issuperset(failure.undocumented_methods)
        return True

    def methods_of(self, path):
        found = set()
        for template, item in self.order.document["paths"].items():
            pattern = "[^/]+".join(map(re.escape, re.split(r"\{[^}]*\}", template)))
            if re.fullmatch(pattern, path):
                found |= {method.upper() for method in item if method in METHODS}
        return found

    # What came of it

    def take(self, event):
        if isinstance(event, events.NonFatalError):
            message = event.info.message
            self.find(event.label, "error", f"{event.info.title}: {message.strip().splitlines()[-1:]}", message)
        elif isinstance(event, events.FatalError):
            self.find("the run", "error", "It ended early", repr(event.exception))
        elif isinstance(event, events.ScenarioFinished):
            self.take_scenario(event)

    def take_scenario(self, event):
        for case_id, checks in event.recorder.checks.items():
            for check in checks:
                if check.status is Status.SUCCESS:
                    continue
                case = event.recorder.cases[case_id].value
                info = check.failure_info
                if info is None:
                    self.find(case.operation.label, check.name, "The check could not be made", "")
                    continue
                answer = event.recorder.find_response(case_id=info.failure.case_id or case_id)
                text = f"{answer.status_code} {answer.content[:300]!r}" if answer is not None else "nothing"
                detail = f"{event.phase.value}: {info.failure.message}\nanswered: {text}\n{info.code_sample}"
                title = f"{info.failure.title}: {info.failure.message}".splitlines()[0]
                self.find(case.operation.label, check.name, title, detail)

    def find(self, operation, check, title, detail):
        self.outcome.findings.setdefault((operation, check, title), detail)


def call(suite, world, order):
    return Caller(suite, world, order).run()
