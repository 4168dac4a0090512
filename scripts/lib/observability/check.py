"""Checks what is under deploy/prometheus, grafana, loki and runbooks; see scripts/observability.

    check.py check [<root>]    prints each check and what it found; the last line counts
    check.py write [<root>]    writes the dashboards
"""

import collections
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import dashboards
import metrics
import promql
import yaml

SEVERITIES = ("page", "ticket")
SECTIONS = ("## What it means", "## Look", "## Do", "## It is over when")
# Of a procedure, which people begin without an alert.
PROCEDURE_SECTIONS = ("## What it is for", *SECTIONS[1:])
ANNOTATIONS = ("summary", "description", "runbook_url")
# Labels of log streams: few, with few values. Anything else would make a stream per value, or name a person.
STREAM_LABELS = {"service", "level"}
# Only made where spans are sent.
BY_SETTING = {"transfa_spans_dropped_total"}
# The loader in C takes a tenth of the time, where it is there.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load(text):
    return yaml.load(text, LOADER)


class Deployment:
    """The files, read once."""

    def __init__(self, root):
        self.root = root
        self.prometheus = root / "deploy/prometheus"
        self.configuration = load((self.prometheus / "prometheus.yml").read_text())
        self.rules = [
            rule
            for file in sorted((self.prometheus / "rules").glob("*.yaml"))
            for group in load(file.read_text())["groups"]
            for rule in group["rules"]
        ]
        self.alerts = {rule["alert"]: rule for rule in self.rules if "alert" in rule}
        self.recorded = {rule["record"]: rule["expr"] for rule in self.rules if "record" in rule}
        self.tests = {
            file.name: load(file.read_text()) for file in sorted((self.prometheus / "tests").glob("*.yaml"))
        }
        boards = sorted((root / "deploy/grafana/dashboards").glob("*.json"))
        self.dashboards = {file.name: json.loads(file.read_text()) for file in boards}
        self.runbooks = {file.stem: file.read_text() for file in sorted((root / "deploy/runbooks").glob("[A-Z]*.md"))}
        self.runbooks.pop("README", None)
        self.sources = metrics.of_sources(root)
        self.series = metrics.series(self.sources)
        for name, expression in self.recorded.items():
            self.series[name] = promql.parse(expression).grouped or set.union(
                set(), *(self.series.get(used, set()) for used in promql.parse(expression).metrics)
            )

    @functools.cached_property
    def swift(self):
        """The text of all services and modules."""
        files = [file for folder in ("Shared", "Services") for file in sorted((self.root / folder).glob("**/*.swift"))]
        return "\n".join(file.read_text() for file in files)

    def services(self):
        text = (self.root / "Shared/Contracts/Sources/Contracts/ServiceName.swift").read_text()
        return re.findall(r"^    case (\w+)$", text, re.M)

    def panels(self):
        for file, board in self.dashboards.items():
            for panel in board["panels"]:
                yield file, board, panel

    def queries(self):
        """Place and text of each query to Prometheus, in rules and dashboards."""
        for rule in self.rules:
            yield rule.get("alert") or rule["record"], rule["expr"]
        for file, _, panel in self.panels():
            for target in panel.get("targets", []):
                if target["datasource"]["type"] == "prometheus":
                    yield f"{file}: {panel['title']}", target["expr"]


# promtool


def promtool(*arguments, folder=None):
    result = subprocess.run(
        ["promtool", *map(str, arguments)], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return [] if result.returncode == 0 else [line for line in result.stdout.splitlines() if line.strip()]


def configuration_is_good(deployment):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        text = (deployment.prometheus / "prometheus.yml").read_text()
        # promtool wants the file to be there; where it runs it is a secret.
        text = text.replace("/run/secrets/metrics-token", str(folder / "token"))
        (folder / "token").write_text("token\n")
        (folder / "prometheus.yml").write_text(text)
        (folder / "rules").symlink_to(deployment.prometheus / "rules")
        return promtool("check", "config", folder / "prometheus.yml")


def rules_are_good(deployment):
    return promtool("check", "rules", *sorted((deployment.prometheus / "rules").glob("*.yaml")))


def tests_pass(deployment):
    return promtool("test", "rules", *sorted((deployment.prometheus / "tests").glob("*.yaml")))


def dashboards_ask_in_promql(deployment):
    queries = [(place, text) for place, text in deployment.queries() if ".json" in place]
    rules = [{"record": f"query:{number}", "expr": promql.plain(text)} for number, (_, text) in enumerate(queries)]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}, file)
        file.flush()
        problems = promtool("check", "rules", file.name)
    return [re.sub(r'"query:(\d+)"', lambda match: queries[int(match[1])][0], line) for line in problems]


# Metrics


def metrics_exist(deployment):
    for place, text in deployment.queries():
        for name in promql.parse(text).metrics:
            if name not in deployment.series:
                yield f"{place}: there is no metric {name}"


def labels_exist(deployment):
    for place, text in deployment.queries():
        query = promql.parse(text)
        for name, label, _, _ in query.matchers:
            if name in deployment.series and label not in deployment.series[name]:
                yield f"{place}: {name} has no label {label}"
        known = set.union(set(), *(deployment.series.get(name, set()) for name in query.metrics))
        for label in sorted(query.grouped - known):
            yield f"{place}: nothing it asks for has a label {label}"


def values_exist(deployment):
    """A word that is misspelt makes an alert that never fires; each stands somewhere in what makes the series."""
    literals = set(re.findall(r'"([^"\\\n]+)"', deployment.swift))
    for line in re.findall(r"\bcase ([a-z][^\n:{]*)", deployment.swift):
        literals |= set(re.findall(r"`?([a-z]\w*)`?", line))
    own = {
        "service": {*deployment.services()},
        "job": {job["job_name"] for job in deployment.configuration["scrape_configs"]},
        "severity": set(SEVERITIES),
        "alertstate": {"firing", "pending"},
    }
    for place, text in deployment.queries():
        for name, label, operator, value in promql.parse(text).matchers:
            for word in promql.values(operator, value):
                if word not in own.get(label, literals):
                    yield f'{place}: no series of {name} has {label}="{word}"'


def every_metric_is_shown(deployment):
    asked = {re.sub(r"_(bucket|sum|count)$", "", name) for _, text in deployment.queries()
             for name in promql.parse(text).metrics} | {name for _, text in deployment.queries()
                                                        for name in promql.parse(text).metrics}
    for name, metric in sorted(deployment.sources.items()):
        if name not in asked:
            yield f"{name} ({metric.file}) is in no rule and on no dashboard"


def scrape_agrees(deployment):
    """What processes really answered: the same metrics, with the same labels, and all that must be there."""
    path = os.environ.get("TRANSFA_METRICS")
    if not path:
        return
    found = metrics.of_scrape(pathlib.Path(path).read_text())
    broker = {name: metrics.Metric(*about) for name, about in metrics.BROKER.items()}
    for name, metric in sorted(found.items()):
        if name in metrics.BROKER or name in deployment.sources:
            wanted = broker.get(name) or deployment.sources[name]
            if metric.labels != wanted.labels:
                yield f"{name} has the labels {sorted(metric.labels)}, the sources say {sorted(wanted.labels)}"
            if metric.kind != wanted.kind:
                yield f"{name} is a {metric.kind}, the sources say {wanted.kind}"
        elif name.startswith(("transfa_", "http_", "db_", "messaging_", "rate_limit_", "idempotency_", "process_")):
            yield f"{name} was answered, and no source makes it"
    must = {name: metric for name, metric in deployment.sources.items() if not metric.late and name not in BY_SETTING}
    # The broker's answer may be in another file.
    if any(name.startswith("rabbitmq_") for name in found):
        must |= broker
    for name in sorted(must.keys() - found.keys()):
        yield f"{name} was not answered"


# Alerts


def alerts_are_whole(deployment):
    names = collections.Counter(rule["alert"] for rule in deployment.rules if "alert" in rule)
    for name, rule in deployment.alerts.items():
        if names[name] > 1:
            yield f"{name} stands twice"
        if rule.get("labels", {}).get("severity") not in SEVERITIES:
            yield f"{name}: the severity is none of {', '.join(SEVERITIES)}"
        for annotation in ANNOTATIONS:
            if not rule.get("annotations", {}).get(annotation):
                yield f"{name} has no {annotation}"
        if rule.get("annotations", {}).get("runbook_url") != f"deploy/runbooks/{name}.md":
            yield f"{name}: runbook_url does not name its runbook"


def alerts_are_tried(deployment):
    fired, silent = set(), set()
    for file, document in deployment.tests.items():
        for test in document["tests"]:
            for case in test.get("alert_rule_test", []):
                if case["alertname"] not in deployment.alerts:
                    yield f"{file}: there is no alert {case['alertname']}"
                if case["exp_alerts"]:
                    fired.add(case["alertname"])
                elif file == "healthy.yaml":
                    silent.add(case["alertname"])
    for name in deployment.alerts:
        if name not in fired:
            yield f"{name} fires in no test"
        if name not in silent:
            yield f"{name} is not asked for in healthy.yaml"


def health_is_no_silence(deployment):
    """An alert that finds no series does not fire either: the healthy case has all that alerts ask for."""
    given = {
        name
        for test in deployment.tests["healthy.yaml"]["tests"]
        for series in test["input_series"]
        for name in promql.parse(series["series"]).metrics
    }
    for name, rule in deployment.alerts.items():
        for used in promql.parse(rule["expr"]).metrics:
            wanted = promql.parse(deployment.recorded[used]).metrics if used in deployment.recorded else [used]
            for metric in wanted:
                if metric not in given and metric not in deployment.recorded:
                    yield f"{name} asks for {metric}, which the healthy case does not have"


# Runbooks


def runbooks_belong_to_alerts(deployment):
    for name in deployment.alerts:
        if name not in deployment.runbooks:
            yield f"{name} has no runbook"
    listed, _, procedures = (deployment.root / "deploy/runbooks/README.md").read_text().partition("## Procedures")
    for name, text in deployment.runbooks.items():
        is_alert = name in deployment.alerts
        if f"({name}.md)" not in (listed if is_alert else procedures):
            kind = "an alert" if is_alert else "a procedure, and belongs to no alert"
            yield f"{name}.md is not in README.md as {kind}"
        if not text.startswith(f"# {name}: "):
            yield f"{name}.md does not begin with its name"
        sections = SECTIONS if is_alert else PROCEDURE_SECTIONS
        places = [text.find(section) for section in sections]
        if min(places) < 0 or places != sorted(places):
            yield f"{name}.md does not have the sections {', '.join(sections)}"


def commands(root):
    """Each command of transfactl with its subcommands: {"jobs": {"list", ...}, "health": set()}."""
    found = {}
    parents = {}
    for file in sorted((root / "Services/Transfactl/Commands").glob("**/*.swift")):
        text = file.read_text()
        for match in re.finditer(r"CommandConfiguration\(", text):
            part = text[match.end():match.end() + 1500].split("CommandConfiguration(")[0]
            name = re.search(r'commandName: "([\w-]+)"', part)
            below = re.search(r"subcommands: \[([^\]]*)\]", part)
            struct = re.findall(r"struct (\w+)", text[:match.start()])[-1]
            if name:
                found[(file.name, struct)] = name[1]
                parents[(file.name, name[1])] = re.findall(r"(\w+)\.self", below[1]) if below else []
    tree = {}
    for (file, name), structs in parents.items():
        # One without a name of its own is called as its type.
        children = {
            found.get((file, struct))
            or next((known for (_, other), known in found.items() if other == struct), struct.lower())
            for struct in structs
        }
        tree[name] = tree.get(name, set()) | children
    return tree


def unknown_to_script(root, span):
    """What a line that calls a script says and the script's usage does not."""
    words = span.split()
    script = root / words[0]
    if not script.is_file():
        yield f"there is no {words[0]}"
        return
    usage = script.read_text().partition("usage() {")[2].partition("\nUSAGE\n")[0]
    said = [word for word in words[1:] if word.startswith("--")]
    # A verb is what comes first.
    said += [word for word in words[1:2] if re.fullmatch("[a-z]+", word)]
    for word in said:
        if not re.search(rf"(?<![\w-]){word}(?![\w-])", usage):
            yield f"{words[0]} knows no {word}"


def runbooks_name_real_commands(deployment):
    tree = commands(deployment.root)
    sources = "\n".join(file.read_text() for file in (deployment.root / "Services/Transfactl").glob("**/*.swift"))
    page = (deployment.root / "Services/Console/Page/main.js").read_text()
    views = set(re.findall(r'^  \["(\w+)", "', page, re.M))
    for name, text in deployment.runbooks.items():
        text = re.sub(r"\s+", " ", text)
        for view in re.findall(r"`#/(\w+)", text):
            if view not in views:
                yield f"{name}.md: the page has no view {view}"
        for span in re.findall(r"`transfactl ([^`]+)`", text):
            words = re.findall(r"(?<!\S)[a-z]+(?:-[a-z]+)*(?!\S)", span)
            if words[0] not in tree:
                yield f"{name}.md: transfactl has no command {words[0]}"
            elif tree[words[0]] and (len(words) < 2 or words[1] not in tree[words[0]]) and words[0] != "reconcile":
                yield f"{name}.md: transfactl {words[0]} has no command {words[1] if len(words) > 1 else ''}"
            elif words[0] == "reconcile" and len(words) > 1 and words[1] not in tree["reconcile"]:
                yield f"{name}.md: transfactl reconcile has no command {words[1]}"
        spans = re.findall(r"`([^`]+)`", text)
        for span in filter(lambda span: span.startswith("scripts/"), spans):
            yield from (f"{name}.md: {problem}" for problem in unknown_to_script(deployment.root, span))
        of_tool = [span for span in spans if not span.startswith("scripts/")]
        for option in {option for span in of_tool for option in re.findall(r"--([a-z-]+)", span)}:
            variable = re.sub(r"-(\w)", lambda match: match[1].upper(), option)
            if f"var {variable}" not in sources and f'customLong("{option}")' not in sources:
                yield f"{name}.md: transfactl has no option --{option}"


# Dashboards


def dashboards_are_fresh(deployment):
    made = dashboards.all_dashboards()
    folder = deployment.root / "deploy/grafana/dashboards"
    for name in sorted(made.keys() | deployment.dashboards.keys()):
        if name not in made:
            yield f"{name} is made by nothing"
        elif not (folder / name).exists() or (folder / name).read_text() != made[name]:
            yield f"{name} is out of date: run scripts/observability write"


def dashboards_fit(deployment):
    provisioning = deployment.root / "deploy/grafana/provisioning"
    sources = load((provisioning / "datasources/datasources.yaml").read_text())["datasources"]
    known = {source["uid"]: source["type"] for source in sources}
    for field in ("uid", "title"):
        for value, count in collections.Counter(board[field] for board in deployment.dashboards.values()).items():
            if count > 1:
                yield f"{count} dashboards have the {field} {value}"
    for file, board in deployment.dashboards.items():
        ids = [panel["id"] for panel in board["panels"]]
        if len(ids) != len(set(ids)):
            yield f"{file}: two panels have one id"
        places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]]
        if len(places) != len(set(places)):
            yield f"{file}: two panels have one place"
    for file, _, panel in deployment.panels():
        for asked in [part["datasource"] for part in (panel, *panel.get("targets", [])) if "datasource" in part]:
            if known.get(asked["uid"]) != asked["type"]:
                yield f"{file}: {panel['title']}: there is no data source {asked['uid']} of type {asked['type']}"
    provider = load((provisioning / "dashboards/dashboards.yaml").read_text())["providers"][0]
    if not provider["options"]["path"].startswith("/"):
        yield "the provider of dashboards names no folder"


def every_service_is_watched(deployment):
    targets = {
        name for job in deployment.configuration["scrape_configs"] if job["job_name"] == "transfa"
        for found in job["dns_sd_configs"] for name in found["names"]
    }
    for service in deployment.services():
        if service not in targets:
            yield f"prometheus.yml does not scrape {service}"
        if f"{service}.json" not in deployment.dashboards:
            yield f"{service} has no dashboard"
        if f'service="{service}"' not in deployment.alerts.get("ServiceDown", {}).get("expr", ""):
            yield f"ServiceDown does not miss {service}"
    for service in targets - set(deployment.services()):
        yield f"prometheus.yml scrapes {service}, which is no service"
    port = re.search(r"^INTERNAL_PORT=(\d+)", (deployment.root / ".env.example").read_text(), re.M)[1]
    job = next(job for job in deployment.configuration["scrape_configs"] if job["job_name"] == "transfa")
    if any(str(found["port"]) != port for found in job["dns_sd_configs"]):
        yield f"prometheus.yml does not scrape the internal port {port}"


# Logs


def log_fields(root):
    """What a line of a log may hold: what every line has, and the keys that are never about a person."""
    handler = (root / "Shared/ServiceKit/Logging/JSONLogHandler.swift").read_text()
    redaction = (root / "Shared/ServiceKit/Logging/LogRedaction.swift").read_text()
    allowed = re.search(r"allowedKeys: Set<String> = \[(.*?)\n    \]", redaction, re.S)[1]
    return set(re.findall(r'line\.member\("(\w+)"', handler)) | set(re.findall(r'"([\w.-]+)"', allowed))


def logs_fit(deployment):
    fields = log_fields(deployment.root)
    promtail = load((deployment.root / "deploy/loki/promtail.yaml").read_text())
    loki = load((deployment.root / "deploy/loki/loki.yaml").read_text())
    port = loki["server"]["http_listen_port"]
    for client in promtail["clients"]:
        if client["url"] != f"http://loki:{port}/loki/api/v1/push":
            yield f"promtail sends to {client['url']}, and Loki listens on port {port}"
    if not loki["compactor"].get("retention_enabled") or "retention_period" not in loki["limits_config"]:
        yield "Loki keeps logs for ever"
    stages = {kind for job in promtail["scrape_configs"] for stage in job["pipeline_stages"] for kind in stage}
    if "structured_metadata" in stages and not (
        loki["limits_config"].get("allow_structured_metadata")
        and all(int(period["schema"][1:]) >= 13 for period in loki["schema_config"]["configs"])
    ):
        yield "promtail sends fields that Loki refuses"
    labels = set()
    for job in promtail["scrape_configs"]:
        labels |= {rule["target_label"] for rule in job["relabel_configs"] if "target_label" in rule}
        extracted = {}
        for stage in job["pipeline_stages"]:
            (kind, settings), = stage.items()
            if kind == "json":
                extracted |= settings["expressions"]
            if kind in ("labels", "structured_metadata"):
                labels |= set(settings) if kind == "labels" else set()
                for name, source in settings.items():
                    if (source or name) not in extracted:
                        yield f"promtail: {kind} has {name}, which is not taken from the line"
            if kind == "timestamp" and settings["source"] not in extracted:
                yield "promtail: the time is not taken from the line"
        for field in extracted.values():
            if field not in fields:
                yield f"promtail takes {field} from lines that have no such field"
    for label in sorted(labels - STREAM_LABELS):
        yield f"promtail makes streams of {label}"
    for file, _, panel in deployment.panels():
        for target in panel.get("targets", []):
            if target["datasource"]["type"] == "loki":
                for label in re.findall(r"[{,]\s*(\w+)\s*(?:=|!)", target["expr"].split("}")[0]):
                    if label not in labels:
                        yield f"{file}: {panel['title']}: logs have no label {label}"


def traces_are_found(deployment):
    """The field that Grafana makes a link of is one that lines have, as they are written."""
    sources = load(
        (deployment.root / "deploy/grafana/provisioning/datasources/datasources.yaml").read_text()
    )["datasources"]
    sample = '{"time":"2026-01-01T00:00:00.000Z","level":"info","trace_id":"%s"}' % ("0af7" * 8)
    derived = [field for source in sources for field in source.get("jsonData", {}).get("derivedFields", [])]
    if not derived:
        yield "no field of a log line leads anywhere"
    for field in derived:
        if field["name"] not in log_fields(deployment.root):
            yield f"lines have no field {field['name']}"
        if not re.search(field["matcherRegex"], sample):
            yield f"{field['matcherRegex']} does not find the field in a line"
        if field["datasourceUid"] not in {source["uid"] for source in sources}:
            yield f"there is no data source {field['datasourceUid']}"


CHECKS = [
    ("promtool check config", configuration_is_good),
    ("promtool check rules", rules_are_good),
    ("promtool test rules", tests_pass),
    ("dashboards ask in PromQL", dashboards_ask_in_promql),
    ("queries ask for metrics that exist", metrics_exist),
    ("queries use labels that exist", labels_exist),
    ("queries name values that exist", values_exist),
    ("every metric is in a rule or on a dashboard", every_metric_is_shown),
    ("the metrics of a scrape are those of the sources", scrape_agrees),
    ("alerts have severity, summary, description and runbook", alerts_are_whole),
    ("each alert fires in a test, and not in the healthy case", alerts_are_tried),
    ("the healthy case has what alerts ask for", health_is_no_silence),
    ("each alert has a runbook, and each other runbook is a procedure", runbooks_belong_to_alerts),
    ("runbooks name commands and views that exist", runbooks_name_real_commands),
    ("dashboards are up to date", dashboards_are_fresh),
    ("dashboards fit each other and the data sources", dashboards_fit),
    ("every service is scraped, shown and missed", every_service_is_watched),
    ("logs fit the fields of a line, and no label is about a person", logs_fit),
    ("traces are found in logs", traces_are_found),
]


def run(root):
    """Title -> problems, of all checks."""
    deployment = Deployment(root)
    return {title: list(check(deployment)) for title, check in CHECKS}


def tell(results):
    """Prints what checks found, counts them, and ends."""
    for title, problems in results.items():
        print(f"{'FAILED ' if problems else 'ok     '} {title}")
        for problem in problems[:20]:
            print(f"        {problem}")
        if len(problems) > 20:
            print(f"        and {len(problems) - 20} more")
    failed = sum(1 for problems in results.values() if problems)
    print(f"{len(results) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


def main(action, root):
    if action == "write":
        for name, text in dashboards.all_dashboards().items():
            (root / "deploy/grafana/dashboards" / name).write_text(text)
        return
    results = run(root)
    if not os.environ.get("TRANSFA_METRICS"):
        del results["the metrics of a scrape are those of the sources"]
    tell(results)


if __name__ == "__main__":
    if sys.argv[1:2] not in (["check"], ["write"]):
        sys.exit(__doc__)
    main(sys.argv[1], pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else pathlib.Path(__file__).parents[3]).resolve())
