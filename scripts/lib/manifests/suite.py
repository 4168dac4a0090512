"""What the code of the services wants of whoever runs them: settings, queues, paths of health, times of a stop."""

import dataclasses
import functools
import json
import pathlib
import re
import subprocess

COMMON = "Shared/ServiceKit/Configuration/SettingKey+common.swift"
REDIS = "Shared/ServiceKit/Configuration/RedisSettings.swift"
RATES = "Shared/ServiceKit/RateLimits/RatePolicy.swift"
PICTURES = "Shared/ServiceKit/Images/ImageStoreSettings.swift"
NAMES = "Shared/Contracts/Sources/Contracts/ServiceName.swift"
TOPOLOGY = "Shared/Messaging/Topology.swift"
RUNNING = "Shared/ServiceKit/Lifecycle/ServiceHost+run.swift"
HEALTH = "Shared/ServiceKit/openapi.yaml"
EVENTS = "deploy/events/asyncapi.json"
GATEWAY = "deploy/gateway/haproxy.cfg"
PROMETHEUS = "deploy/prometheus/prometheus.yml"


class Unreadable(Exception):
    """The code is not written as this reader knows it: the reader has to learn, nothing is checked."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """A documented environment variable; the kind is Swift's, such as `.integer(1...600)`."""

    name: str
    kind: str
    is_required: bool
    is_secret: bool

    def objection(self, text):
        """Why the service would refuse this value, or None."""
        kind, *rest = re.match(r"\.(\w+)(?:\((.*)\))?$", self.kind, re.S).groups()
        inside = rest[0] or ""
        if kind == "integer":
            low, high = (int(number.replace("_", "")) for number in inside.split("..."))
            return None if re.fullmatch(r"-?\d+", text) and low <= int(text) <= high else f"is not within {inside}"
        if kind == "flag":
            return None if text in ("true", "false") else "is neither true nor false"
        if kind == "word":
            words = re.findall(r'"([^"]+)"', inside)
            return None if text in words else f"is not one of {', '.join(words)}"
        if kind == "url":
            schemes = re.findall(r'"([^"]+)"', inside)
            good = any(text.startswith(scheme + "://") and len(text) > len(scheme) + 3 for scheme in schemes)
            return None if good else f"is not a URL of {', '.join(schemes)}"
        if kind == "rate":
            return None if text == "off" or re.fullmatch(r"\d+/\d+", text) else "is not requests/seconds"
        return None


def _calls(text, name):
    """The insides of every call of a function: up to the parenthesis that closes it."""
    for match in re.finditer(rf"\b{name}\(", text):
        depth, quoted = 1, False
        for index in range(match.end(), len(text)):
            char = text[index]
            if char == '"' and text[index - 1] != "\\":
                quoted = not quoted
            elif not quoted and char in "()":
                depth += 1 if char == "(" else -1
                if depth == 0:
                    yield match.start(), text[match.end() : index]
                    break


def _settings_in(text):
    """Every `SettingKey(...)` of a file: the Swift name it is kept under, and the setting."""
    for start, inside in _calls(text, "SettingKey"):
        match = re.match(r'\s*"((?:[^"\\]|\\\(.*?\))+)",\s*(\.\w+(?:\((?:[^()]|\([^()]*\))*\))?)', inside, re.S)
        if not match:
            continue
        before = re.search(r"static let (\w+) = $", text[:start])
        yield before and before.group(1), Setting(
            name=match.group(1),
            kind=match.group(2),
            is_required="default:" not in inside and "optional: true" not in inside,
            is_secret="secret: true" in inside,
        )


class Suite:
    """The services of a checkout, read from their sources."""

    def __init__(self, root):
        self.root = pathlib.Path(root)

    def _text(self, path):
        return (self.root / path).read_text()

    def _one(self, path, pattern):
        match = re.search(pattern, self._text(path), re.S)
        if not match:
            raise Unreadable(f"{path} has no {pattern}")
        return match.group(1)

    @functools.cached_property
    def services(self):
        return re.findall(r"^    case (\w+)$", self._text(NAMES), re.M)

    @functools.cached_property
    def _common(self):
        known = dict(_settings_in(self._text(COMMON))) | dict(_settings_in(self._text(RATES)))
        known |= {f"redis {name}": setting for name, setting in _settings_in(self._text(REDIS))}
        groups = {
            group: re.findall(r"\.(\w+)", names)
            for group, names in re.findall(r"let (\w+): \[SettingKey\] = \[(.*?)\]", self._text(COMMON), re.S)
        }
        if not {"always", "database", "clerk"} <= groups.keys():
            raise Unreadable(f"{COMMON} has other groups of settings: {', '.join(groups)}")
        return known, groups

    def needs(self, service):
        """Such as {"database", "broker"}."""
        build = f"Services/{service.title()}/{service.title()}Service+build.swift"
        return set(re.findall(r"\.(\w+)", self._one(build, r"needs: \[(.*?)\]")))

    @functools.cached_property
    def _shared_by_need(self):
        known, groups = self._common
        rates = [setting for _, setting in _settings_in(self._text(RATES))]
        redis = [f"redis {name}" for name in re.findall(r"Self\.(\w+)", self._one(REDIS, r"static let more = \[(.*?)\]"))]
        names = {
            "database": groups["database"],
            "clerk": groups["clerk"],
            "broker": ["rabbitmqURL", "rabbitmqTopologyURL"],
            "policies": ["rabbitmqManagementURL"],
            "redis": ["redis url", *redis],
            "auth": ["authInternalURL"],
            "dataKeys": ["authInternalURL", "dataKeysToken"],
            "exports": ["exportsToken"],
        }
        try:
            shared = {need: [known[name] for name in those] for need, those in names.items()}
            return [known[name] for name in groups["always"]] + rates, shared
        except KeyError as error:
            raise Unreadable(f"{COMMON} does not have {error}") from error

    @functools.cache
    def settings(self, service):
        """Name -> Setting, everything that a service reads."""
        always, shared = self._shared_by_need
        needs = self.needs(service)
        found = list(always)
        for need in needs & shared.keys():
            found += shared[need]
        found += self._own(service)
        return {setting.name: setting for setting in found}

    def _own(self, service):
        text = "\n".join(
            file.read_text() for file in sorted((self.root / "Services" / service.title()).rglob("*.swift"))
        )
        for _, setting in _settings_in(text):
            if "\\(" in setting.name:
                # One for each service, named after it.
                tail = setting.name.rpartition(")")[2]
                yield from (dataclasses.replace(setting, name=name.upper() + tail) for name in self.services)
            else:
                yield setting
        for name in ("publicLink", "anchorKey", "dataKeysToken"):
            if re.search(rf"[\[,] ?\.{name}\b", text):
                yield self._common[0][name]
        if "ImageStoreSettings.keys" in text:
            yield from (setting for _, setting in _settings_in(self._text(PICTURES)))

    @functools.cached_property
    def queues(self):
        """Service -> names of its queues; none for who hears no events."""
        listening = {
            operation["x-service"]
            for operation in json.loads(self._text(EVENTS))["operations"].values()
            if operation["action"] == "receive"
        }
        count = int(self._one(TOPOLOGY, r"func queues\(of service: ServiceName, count: Int = (\d+)\)"))
        return {
            service: [f"{service}.p{number}" for number in range(count)] if service in listening else []
            for service in self.services
        }

    @functools.cached_property
    def open_paths(self):
        """Paths of the internal port that need no token."""
        import yaml

        paths = yaml.safe_load(self._text(HEALTH))["paths"]
        return {path for path, item in paths.items() if item.get("get", {}).get("security") == []}

    @functools.cached_property
    def cancellation_seconds(self):
        """How long, after the grace, what still runs may take to be cancelled."""
        return int(self._one(RUNNING, r"maximumCancellationDuration = \.seconds\((\d+)\)"))

    @functools.cached_property
    def jobs(self):
        """What Prometheus calls its jobs, and so rules and dashboards; None where it has no configuration."""
        if not (self.root / PROMETHEUS).exists():
            return None
        return set(re.findall(r"^\s*- job_name: (\S+)", self._text(PROMETHEUS), re.M)) - {"prometheus"}

    @functools.cached_property
    def gateway_variables(self):
        """Variables that the gateway must be given, and those that it may be given; None where there is no gateway."""
        if not (self.root / GATEWAY).exists():
            return None
        text = re.sub(r"^\s*#.*$", "", self._text(GATEWAY), flags=re.M)
        own = set(re.findall(r"^\s*(?:setenv|presetenv) (\w+)", text, re.M))
        used = re.findall(r"\$\{(\w+)(\[\*\])?(-)?", text)
        # Lists stand in conditions alone. What a condition looks at, with a fallback, may be needed all the same.
        needed = {name for name, is_list, fallback in used if not is_list and not fallback} - own
        return needed, own | {name for name, _, _ in used}


def documented(binary):
    """What a built service says of its settings: name -> (is required, is secret)."""
    printed = subprocess.run([binary, "--settings"], check=True, capture_output=True, text=True, timeout=60).stdout
    lines = re.findall(r"^(\w+) \((.*)\): ", re.sub(r"(?<=\)): .*$", ": ", printed, flags=re.M), re.M)
    return {
        name: (bool(re.search(r"\brequired\b", about)), bool(re.search(r"\bsecret$", about))) for name, about in lines
    }
