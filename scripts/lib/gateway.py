"""The routes of the gateway: made from the services' openapi.yaml, and compared with them; see scripts/gateway.

    gateway.py write     writes deploy/gateway/routes.map
    gateway.py check     checks the routes and the configuration; the last line counts
"""

import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import openapi

ROOT = openapi.ROOT
GATEWAY = ROOT / "deploy/gateway"
SERVICES = ("account", "analytics", "auth", "console", "customer", "notification", "subscription", "transaction")
# What can stand for a parameter of a path: ids, names and keys. Nothing encoded, and no dots.
SEGMENT = "[A-Za-z0-9_-]+"
# Bodies in bytes: what the services take (RawBody, WebhookController, ImageLimits).
JSON_BODY = 64 * 1024
WEBHOOK_BODY = 256 * 1024
FILE_BODY = 5 * 1024 * 1024
# What no document describes, by the path for logs: pages of console with their files, and what the operators' page asks
# for. Those whose path haproxy.cfg names are for networks of ours.
PAGES = {
    "/": ("^/$", ("GET",)),
    "/asyncapi.json": ("^/asyncapi[.]json$", ("GET",)),
    "/console": (
        "^/console(/assets/[a-z]+[.][a-z]+|(/api(/[A-Za-z0-9_.-]*[A-Za-z0-9_-])+))?$", ("GET", "POST", "DELETE"),
    ),
    "/docs": ("^/docs(/|/first-payment|/(assets|reference)/[a-z-]+[.][a-z]+)?$", ("GET",)),
    "/docs/sandbox": ("^/docs/sandbox/(tokens|money)$", ("POST",)),
}
HEADER = """\
# Made by scripts/gateway from the services' openapi.yaml. Do not edit.
# <path> <service>|<methods>|<who may come>|<bytes of a body>|<path for logs>
"""


class Route:
    """A path of one service, with everything that the gateway knows about it."""

    def __init__(self, pattern, service, methods, access, body, path):
        self.pattern, self.service, self.methods = pattern, service, tuple(methods)
        self.access, self.body, self.path = access, int(body), path

    def line(self):
        return f"{self.pattern} {self.service}|{', '.join(self.methods)}|{self.access}|{self.body}|{self.path}"

    @staticmethod
    def parsed(line):
        pattern, value = line.split(" ", 1)
        service, methods, access, body, path = value.split("|")
        return Route(pattern, service, methods.split(", "), access, body, path)

    def fits(self, path):
        return re.search(self.pattern, path) is not None


def pattern(path):
    return "^" + re.sub(r"\{\w+\}", SEGMENT, path) + "$"


def body_limit(path, operations):
    if path.startswith("/webhooks/"):
        return WEBHOOK_BODY
    kinds = {kind for operation in operations for kind in operation.get("requestBody", {}).get("content", {})}
    return FILE_BODY if kinds - {"application/json"} else JSON_BODY


def access(document, path, operations):
    if path.startswith("/webhooks/"):
        return "webhook"
    open_to_all = {not operation.get("security", document.get("security")) for operation in operations}
    if len(open_to_all) != 1:
        raise SystemExit(f"{path}: its methods differ in who may call them, which the gateway cannot tell apart")
    return "open" if open_to_all.pop() else "token"


def described_routes(root=ROOT):
    """One route per public path of each document; what is fixed comes before what has parameters."""
    routes = []
    for name, document in openapi.documents(root).items():
        service = pathlib.Path(name).parent.name.lower()
        for path, item in document["paths"].items():
            if service not in SERVICES or path.startswith(openapi.INTERNAL):
                continue
            methods = [method.upper() for method in openapi.METHODS if method in item]
            operations = [openapi.resolved(document, item[method.lower()]) for method in methods]
            routes.append(
                Route(
                    pattern(path), service, methods, access(document, path, operations),
                    body_limit(path, operations), path,
                )
            )
    routes += [Route(form, "console", methods, "open", JSON_BODY, path) for path, (form, methods) in PAGES.items()]
    return sorted(routes, key=lambda route: [("{" in part, part) for part in route.path.split("/")])


def text(routes):
    return HEADER + "".join(route.line() + "\n" for route in routes)


def read_routes(path=GATEWAY / "routes.map"):
    lines = path.read_text().splitlines() if path.exists() else []
    return [Route.parsed(line) for line in lines if line and not line.startswith("#")]


def route_of(routes, path):
    """What HAProxy finds: the first that fits."""
    return next((route for route in routes if route.fits(path)), None)


def example_path(document, path, item, operation):
    """The path with values for its parameters: their examples, or what their schemas ask for."""
    parameters = [openapi.resolved(document, p) for p in item.get("parameters", []) + operation.get("parameters", [])]
    for parameter in parameters:
        if parameter["in"] == "path":
            path = path.replace("{%s}" % parameter["name"], str(example_value(document, parameter)))
    return path


def example_value(document, parameter):
    schema = openapi.resolved(document, parameter["schema"])
    if "example" in parameter:
        return parameter["example"]
    if schema.get("format") == "uuid":
        return "019aa36c-5d5c-7cc5-a5a9-5f3a2f1f0b11"
    size = re.search(r"\{(\d+)", schema.get("pattern", ""))
    return "Ab3"[: 3] * 20 if size is None else ("Ab3-" if "-" in schema["pattern"] else "Ab3") * 20


def documented(root=ROOT):
    """(method, a path with values, the service that owns it, whether it needs a token), of every public operation."""
    for name, document in openapi.documents(root).items():
        service = pathlib.Path(name).parent.name.lower()
        for path, method, operation in openapi.operations(document):
            if service in SERVICES and not path.startswith(openapi.INTERNAL):
                needs = bool(operation.get("security", document.get("security")))
                size = re.compile(r"(Ab3-?){20}")
                filled = size.sub(lambda found: found.group()[: 43 if "images" in path else 12],
                                  example_path(document, path, document["paths"][path], operation))
                yield method.upper(), filled, service, needs


# Checks: each gives sentences about what is wrong


def map_is_current():
    if (GATEWAY / "routes.map").read_text() != text(described_routes()):
        yield "deploy/gateway/routes.map is out of date: run scripts/gateway"


def owners_agree():
    """The merged document says who owns a path by its tag; the services' documents say it by where they are."""
    merged = openapi.load(openapi.MERGED)
    routes = read_routes()
    for path, method, operation in openapi.operations(merged):
        route = next((route for route in routes if route.path == path), None)
        if route is None:
            yield f"{method.upper()} {path} has no route"
        elif [route.service] != operation["tags"]:
            yield f"{path} goes to {route.service} and belongs to {operation['tags']}"
        elif method.upper() not in route.methods:
            yield f"{method.upper()} {path} is refused: its route takes {', '.join(route.methods)}"
        elif (route.access == "token") != bool(operation["security"]):
            yield f"{method.upper()} {path} is {route.access}, and the document says security {operation['security']}"


def each_operation_is_routed():
    routes = read_routes()
    for method, path, service, needs in documented():
        route = route_of(routes, path)
        if route is None or route.service != service or method not in route.methods:
            found = f"{route.service}, {', '.join(route.methods)}" if route else "nobody"
            yield f"{method} {path} of {service} goes to {found}"
        elif (route.access == "token") != needs:
            yield f"{method} {path} is {route.access}"


def nothing_else_is_routed():
    described = {(path, method.upper()) for path, method, _ in openapi.operations(openapi.load(openapi.MERGED))}
    pages = {(path, method) for path, (_, methods) in PAGES.items() for method in methods}
    for route in read_routes():
        for method in set(route.methods) - {method for path, method in described | pages if path == route.path}:
            yield f"{method} {route.path} is routed and no document describes it"
        if route.pattern != (PAGES[route.path][0] if route.path in PAGES else pattern(route.path)):
            yield f"{route.path} has the pattern {route.pattern}: it takes more, or less, than its path"
        if route.service not in SERVICES:
            yield f"{route.path} goes to {route.service}, which is no service"


def spellings(path):
    """Ways to write a path that some server might take for the same."""
    first = path[1]
    yield from (path, path.upper(), path.title(), "/" + path, "//" + path, "/." + path, "/users/.." + path)
    yield from (f"/%{ord(first):02x}{path[2:]}", f"/%{ord(first):02X}{path[2:]}", path.replace("/", "%2f", 1))
    yield from (f"/console{path}", f"/console/..{path}", f"/console/api/..{path}", f"/users/me/..;{path}", path + "/")
    yield from (f"/console/api/%2e%2e{path}", f"/banks/..%2f{path[1:]}", "/banks\\.." + path)
    yield "/" + path.replace("/", "\\")
    yield from (f"/%25{ord(first):02x}{path[2:]}", f"{path};a=b", f"{path}#", f"/banks/%2e%2e{path}", path + "/.")


INSIDE = ("/internal/users", "/internal/ops/status", "/metrics", "/health/live", "/health/ready", "/internal")


def inside_stays_inside():
    routes = read_routes()
    inner = itertools.chain(INSIDE, (path for _, document in openapi.documents().items() for path in document["paths"]
                                     if path.startswith(openapi.INTERNAL)))
    for path in sorted(set(inner)):
        for spelling in spellings(re.sub(r"\{\w+\}", "x1", path)):
            route = route_of(routes, spelling)
            if route is not None:
                yield f"{spelling} goes to {route.service} by {route.pattern}"


def errors_are_documents():
    """Every refusal is a JSON:API document of the status that its file is named after."""
    for file in sorted((GATEWAY / "errors").iterdir()):
        try:
            (error,) = json.loads(re.sub(r"%\[[^]]*\]", "x", file.read_text()))["errors"]
        except (ValueError, KeyError) as problem:
            yield f"{file.name}: {problem!r}"
            continue
        if error["status"] != file.stem or not {"id", "code", "title", "detail"} <= set(error):
            yield f"{file.name} says {error}"
        if error["title"] != error["code"].replace("_", " ").capitalize():
            yield f"{file.name}: the title of {error['code']} is {error['title']}"


def settings_are_described():
    used = set(re.findall(r"\$\{([A-Z][A-Z0-9_]*)", (GATEWAY / "haproxy.cfg").read_text()))
    readme = (GATEWAY / "README.md").read_text()
    described = set(re.findall(r"`(GATEWAY_[A-Z_]+)`", readme))
    described |= {readable.replace("<SERVICE>", service.upper())
                  for readable in re.findall(r"`(<SERVICE>_[A-Z_]+)`", readme) for service in SERVICES}
    yield from (f"{name} is a setting that README.md does not describe" for name in sorted(used - described))
    yield from (f"{name} is described and no setting" for name in sorted(described - used))


def backends_are_there():
    found = set(re.findall(r"^backend (\w+) from services$", (GATEWAY / "haproxy.cfg").read_text(), re.M))
    if found != set(SERVICES):
        yield f"the configuration has back ends for {sorted(found)}"


def settings(certificate, **others):
    """Everything that has no default."""
    own = {"GATEWAY_TLS_CERTIFICATE": str(certificate), "GATEWAY_PUBLIC_URL": "https://localhost:8443"}
    for number, service in enumerate(SERVICES):
        own[f"{service.upper()}_ADDRESS"] = f"127.0.0.1:{20000 + number}"
        own[f"{service.upper()}_HEALTH_PORT"] = str(21000 + number)
    return own | others


def haproxy_takes_it(**others):
    """HAProxy's own check, which counts warnings as errors."""
    with tempfile.TemporaryDirectory() as folder:
        certificate = pathlib.Path(folder) / "gateway.pem"
        make_certificate(certificate)
        asked = subprocess.run(
            ["haproxy", "-c", "-dW", "-W", "-f", str(GATEWAY / "haproxy.cfg")],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **settings(certificate, **others)},
            capture_output=True, text=True, timeout=60, check=False,
        )
    if asked.returncode != 0:
        yield from (asked.stdout + asked.stderr).splitlines()


def make_certificate(file):
    """A key and a certificate that it signs itself, in one file."""
    key = file.with_suffix(".key")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", str(key), "-out", str(file)],
        check=True, capture_output=True, timeout=60,
    )
    file.write_text(file.read_text() + key.read_text())
    file.chmod(0o600)


CHECKS = (
    ("HAProxy takes the configuration", haproxy_takes_it),
    ("with a second address of each kind, a proxy in front and an admin socket", lambda: haproxy_takes_it(
        GATEWAY_HTTPS_BIND=":8443,[::]:8443", GATEWAY_HTTP_BIND=":8080,[::]:8080",
        GATEWAY_PROXY_NETWORKS="10.0.0.0/8 fd00::/8", GATEWAY_ADMIN_SOCKET="/tmp/gateway.sock")),
    ("with services that are found by DNS", lambda: haproxy_takes_it(GATEWAY_DISCOVERY="dns")),
    ("every service has a back end", backends_are_there),
    ("routes.map is what the documents say", map_is_current),
    ("every path of deploy/gateway/openapi.yaml is routed to its owner, by its methods", owners_agree),
    ("every operation of the services is routed to them, with values in its path", each_operation_is_routed),
    ("nothing else is routed", nothing_else_is_routed),
    ("no spelling of an internal path is routed", inside_stays_inside),
    ("refusals are JSON:API documents", errors_are_documents),
    ("README.md describes every setting", settings_are_described),
)


def check():
    passed = failed = 0
    for title, problems in CHECKS:
        found = list(problems())
        print(f"{'FAILED' if found else 'ok':<7} {title}")
        for problem in found[:20]:
            print(f"        {problem}")
        failed += bool(found)
        passed += not found
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def write():
    routes = described_routes()
    (GATEWAY / "routes.map").write_text(text(routes))
    print(f"deploy/gateway/routes.map: {len(routes)} paths")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] not in (["check"], ["write"]):
        sys.exit(__doc__)
    sys.exit(write() if sys.argv[1] == "write" else check())
