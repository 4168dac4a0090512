"""Bugs that are put into answers on purpose: each must be found, and named with its operation."""

import dataclasses
import json
from collections.abc import Callable

from calls import call
from proxy import spoiled


@dataclasses.dataclass
class Bug:
    what: str
    service: str
    operation: str
    # Which check is to find it; empty when there is nothing to find.
    check: str
    spoil: Callable = lambda answer: None
    # May change the headers of a request, given a good token.
    ask: Callable = lambda headers, token: None


def changed(name, value):
    """A bug that gives one member of a good answer another value."""

    def spoil(answer):
        if answer.status == 200:
            answer.body = json.dumps({**json.loads(answer.body), name: value}).encode()

    return spoil


def without(name):
    def spoil(answer):
        if answer.status == 200:
            answer.set_header(name, None)

    return spoil


def status(good, bad):
    def spoil(answer):
        if answer.status == good:
            answer.status = bad

    return spoil


def typed(kind):
    def spoil(answer):
        if answer.status == 200:
            answer.set_header("Content-Type", kind)

    return spoil


def takes_anything(answer):
    """Bad input is answered like good input."""
    if answer.status == 400:
        answer.status = 200
        answer.set_header("Content-Type", "application/json")
        answer.body = b'{"show_amounts":true,"categories":{%s}}' % b",".join(
            b'"%s":{"in_app":true,"push":true,"locked":true}' % kind
            for kind in (b"money", b"security", b"account", b"requests", b"drops", b"subscription")
        )


def lets_everybody_in(headers, token):
    headers["Authorization"] = f"Bearer {token}"


BUGS = (
    Bug("an amount as a text", "transaction", "getWallet", "response_schema_conformance", changed("available", "12")),
    Bug("a word of no list", "account", "getAccount", "response_schema_conformance", changed("status", "closed")),
    Bug("a status that is not described", "transaction", "getLimits", "status_code_conformance", status(200, 206)),
    Bug("an error of the server", "customer", "getSettings", "not_a_server_error", status(200, 500)),
    Bug("a header that is missing", "account", "getAccount", "response_headers_conformance", without("ETag")),
    Bug("another content type", "subscription", "listPlans", "content_type_conformance", typed("text/html")),
    Bug("bad input that is taken", "notification", "setPreferences", "negative_data_rejection", takes_anything),
    Bug("a token that nobody looks at", "transaction", "getWallet", "ignored_auth", ask=lets_everybody_in),
)


def with_one(document, operation):
    """The document with one of its operations alone."""
    paths = {
        path: {name: item[name]}
        for path, item in document["paths"].items()
        for name in item
        if isinstance(item[name], dict) and item[name].get("operationId") == operation
    }
    return {**document, "paths": paths}


def search(suite, world, orders):
    """Yields each bug with what was found, and the same operation without a bug first."""
    token = suite.token(world["people"]["main"]["subject"])
    for bug in (Bug("nothing", "transaction", "getWallet", ""), *BUGS):
        order = next(order for order in orders if order.service == bug.service and order.url == suite.address)
        with spoiled(order.url, lambda headers, bug=bug: bug.ask(headers, token), bug.spoil) as url:
            one = dataclasses.replace(order, url=url, document=with_one(order.document, bug.operation))
            outcome = call(suite, world, one)
        yield bug, sorted(outcome.findings)
