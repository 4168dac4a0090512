"""Which metrics there are: those that the sources make, those of a real scrape, and those of the broker that we use."""

import dataclasses
import re

MAKERS = {
    "makeCounter": "counter", "makeFloatingPointCounter": "counter", "makeMeter": "gauge", "makeTimer": "histogram",
    "makeRecorder": "histogram", "histogram": "histogram", "Counter": "counter", "FloatingPointCounter": "counter",
    "Gauge": "gauge", "Meter": "gauge", "Timer": "histogram", "Recorder": "histogram", "HistogramsByKey": "histogram",
}
CALL = re.compile(
    r"(?:\.|\b)(?P<maker>" + "|".join(MAKERS) + r")\(\s*(?:label:\s*)?\"(?P<name>[^\"]+)\"", re.S
)
# Prometheus itself adds these to everything, or makes them.
TARGET = {"job", "instance"}
OWN = {
    "up": ("gauge", {"service"}), "ALERTS": ("gauge", {"alertname", "alertstate", "severity", "service"}),
}
# RabbitMQ 3.10 and later: totals of a node (/metrics), and what is told of each queue (/metrics/detailed).
BROKER = {
    "rabbitmq_detailed_queue_messages": ("gauge", {"vhost", "queue"}),
    "rabbitmq_detailed_queue_messages_ready": ("gauge", {"vhost", "queue"}),
    "rabbitmq_detailed_queue_messages_unacked": ("gauge", {"vhost", "queue"}),
    "rabbitmq_detailed_queue_consumers": ("gauge", {"vhost", "queue"}),
    "rabbitmq_alarms_memory_used_watermark": ("untyped", set()),
    "rabbitmq_alarms_free_disk_space_watermark": ("untyped", set()),
    "rabbitmq_alarms_file_descriptor_limit": ("untyped", set()),
    "rabbitmq_global_messages_received_total": ("counter", {"protocol"}),
    "rabbitmq_global_messages_acknowledged_total": ("counter", {"protocol", "queue_type"}),
    "rabbitmq_global_messages_redelivered_total": ("counter", {"protocol", "queue_type"}),
    "rabbitmq_connections": ("gauge", set()),
    "rabbitmq_process_resident_memory_bytes": ("gauge", set()),
    "rabbitmq_resident_memory_limit_bytes": ("gauge", set()),
    "rabbitmq_disk_space_available_bytes": ("gauge", set()),
    "rabbitmq_disk_space_available_limit_bytes": ("gauge", set()),
    "rabbitmq_raft_entry_commit_latency_seconds": ("gauge", set()),
}


@dataclasses.dataclass
class Metric:
    """A family of series."""

    kind: str
    labels: set
    # Made when it is first needed: it may be missing in the answer of a process that has just begun.
    late: bool = False
    file: str = ""


def _arguments(text, start):
    """What stands between a call's first argument and its closing parenthesis."""
    depth, place, quoted = 1, start, False
    while depth and place < len(text):
        character = text[place]
        if character == '"' and text[place - 1] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += {"(": 1, ")": -1}.get(character, 0)
        place += 1
    return text[start:place - 1]


def _labels(arguments, text):
    """The names in a list of dimensions, also of those that the file gives a name."""
    found = set(re.findall(r'\(\s*"([a-z_]+)",', arguments))
    for name in set(re.findall(r"\b[a-z]\w*\b", re.sub(r'"[^"]*"', "", arguments))):
        for definition in re.findall(rf"let {name} = (\[?\(\"[^\n]*)", text):
            found |= set(re.findall(r'\("([a-z_]+)",', definition))
    return found


def of_sources(root):
    """Metric name -> Metric, as the services answer it."""
    found = {}
    files = sorted([*root.glob("Shared/**/*.swift"), *root.glob("Services/**/*.swift")])
    for file in (file for file in files if "Sandbox" not in file.parts):
        text = file.read_text()
        for match in CALL.finditer(text):
            kind, name = MAKERS[match["maker"]], re.sub(r"\W", "_", match["name"])
            if kind == "counter" and not name.endswith("_total"):
                name += "_total"
            labels = _labels(_arguments(text, match.end()), text)
            late = match["maker"][0].isupper() or match["maker"] == "histogram"
            found[name] = Metric(kind, labels, late, str(file.relative_to(root)))
    process = root / "Shared/ServiceKit/Metrics/ProcessMetrics.swift"
    for name, kind in re.findall(r"# TYPE (\w+) (\w+)", process.read_text()):
        found[name] = Metric(kind, set(), file=str(process.relative_to(root)))
    return found


def of_scrape(text):
    """Metric name -> Metric, of answers in the text format."""
    found = {}
    for name, kind in re.findall(r"^# TYPE (\w+) (\w+)", text, re.M):
        found.setdefault(name, Metric(kind, set()))
    for series, labels in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$", text, re.M):
        family = re.sub(r"_(bucket|sum|count)$", "", series)
        metric = found.get(series) or found.get(family)
        if metric:
            metric.labels |= set(re.findall(r'(?:^|,)(\w+)="', labels)) - {"le", "overflow"}
    return found


def series(metrics):
    """Series name -> its labels, as queries see them: with those of the target, and a histogram's three series."""
    found = {name: labels | TARGET for name, (_, labels) in OWN.items()}
    found |= {name: labels | TARGET for name, (_, labels) in BROKER.items()}
    for name, metric in metrics.items():
        labels = metric.labels | TARGET | {"service"}
        if metric.kind == "histogram":
            found |= {f"{name}_bucket": labels | {"le"}, f"{name}_sum": labels, f"{name}_count": labels}
        else:
            found[name] = labels
    return found
