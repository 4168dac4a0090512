"""Breaks what scripts/observability checks, one thing at a time, and wants the check that is for it to notice."""

import os
import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lib/observability"))

import check  # noqa: E402

PROMETHEUS = "deploy/prometheus/"
BOARDS = "deploy/grafana/dashboards/"
RUNBOOKS = "deploy/runbooks/"
METRICS = "Shared/ServiceKit/Metrics/"
SCRAPE = "scrape.txt"

# The check, the file, what stands in it, what is put there instead; None in place of a text takes the file away.
BREAKAGES = [
    ("promtool check config", PROMETHEUS + "prometheus.yml", "scrape_timeout: 5s", "scrape_timeout: 50s"),
    ("promtool check config", PROMETHEUS + "prometheus.yml", "refresh_interval: 10s", "refresh: 10s"),
    ("promtool check rules", PROMETHEUS + "rules/money.yaml", "> 900", "> > 900"),
    ("promtool check rules", PROMETHEUS + "rules/money.yaml", "for: 5m", "for: soon"),
    ("promtool test rules", PROMETHEUS + "rules/money.yaml", "> 900", "> 9000"),
    ("promtool test rules", PROMETHEUS + "rules/messaging.yaml", "transfa_outbox_oldest_seconds) > 60",
     "transfa_outbox_oldest_seconds) >= 0"),
    ("promtool test rules", PROMETHEUS + "rules/recording.yaml",
     "sum by (state) (max by (state, route) (transfa_transfers_held",
     "sum by (state) (sum by (state, route) (transfa_transfers_held"),
    ("promtool test rules", PROMETHEUS + "rules/services.yaml", "No instance of {{ $labels.service }} answers",
     "No instance of {{ $labels.servce }} answers"),
    ("dashboards ask in PromQL", BOARDS + "money.json", "max(transfa_disputes_open)", "max(transfa_disputes_open"),
    ("queries ask for metrics that exist", PROMETHEUS + "rules/messaging.yaml", "(transfa_parked_events)",
     "(transfa_parked_event)"),
    ("queries ask for metrics that exist", BOARDS + "overview.json", "service:messaging_sent:rate5m",
     "service:messaging_sent:rate1m"),
    ("queries ask for metrics that exist", METRICS + "WorkMetrics.swift", '"transfa_parked_events"',
     '"transfa_parked"'),
    ("queries use labels that exist", PROMETHEUS + "rules/services.yaml", '{check="postgres"}', '{checks="postgres"}'),
    ("queries use labels that exist", METRICS + "WorkMetrics.swift", '("state", state)', '("status", state)'),
    ("queries use labels that exist", BOARDS + "money.json", "max by (kind)", "max by (sort)"),
    ("queries name values that exist", PROMETHEUS + "rules/money.yaml", 'state="unknown"', 'state="unkown"'),
    ("queries name values that exist", PROMETHEUS + "rules/services.yaml", 'job="transfa",service="auth"',
     'job="transfa",service="oauth"'),
    ("queries name values that exist", PROMETHEUS + "rules/broker.yaml", 'job="rabbitmq"', 'job="rabbit"'),
    ("every metric is in a rule or on a dashboard", METRICS + "OutboxMetrics.swift", '"transfa_outbox_unsent"',
     '"transfa_outbox_waiting"'),
    ("the metrics of a scrape are those of the sources", SCRAPE, 'state="queued"', 'status="queued"'),
    ("the metrics of a scrape are those of the sources", SCRAPE, "# TYPE transfa_ready gauge\ntransfa_ready 1\n", ""),
    ("the metrics of a scrape are those of the sources", SCRAPE, "# TYPE transfa_jobs gauge",
     "# TYPE transfa_jobs counter"),
    ("the metrics of a scrape are those of the sources", SCRAPE, "transfa_parked_subjects", "transfa_parked_people"),
    ("alerts have severity, summary, description and runbook", PROMETHEUS + "rules/broker.yaml", "severity: page",
     "severity: urgent"),
    ("alerts have severity, summary, description and runbook", PROMETHEUS + "rules/broker.yaml",
     "runbook_url: deploy/runbooks/BrokerDown.md", "runbook_url: deploy/runbooks/BrokerAlarm.md"),
    ("alerts have severity, summary, description and runbook", PROMETHEUS + "rules/broker.yaml",
     "alert: BrokerNodeDown",
     "alert: BrokerDown"),
    ("each alert fires in a test, and not in the healthy case", PROMETHEUS + "tests/broker.yaml",
     "alertname: BrokerAlarm\n        eval_time: 3m", "alertname: BrokerDown\n        eval_time: 3m"),
    ("each alert fires in a test, and not in the healthy case", PROMETHEUS + "tests/healthy.yaml",
     "alertname: BrokerAlarm", "alertname: BrokerDown"),
    ("the healthy case has what alerts ask for", PROMETHEUS + "tests/healthy.yaml", "transfa_disputes_overdue",
     "transfa_disputes_open"),
    ("each alert has a runbook, and each other runbook is a procedure", RUNBOOKS + "OutboxLag.md", None, None),
    ("each alert has a runbook, and each other runbook is a procedure", RUNBOOKS + "OutboxLag.md", "## Do", "## Then"),
    ("each alert has a runbook, and each other runbook is a procedure", PROMETHEUS + "rules/broker.yaml", "alert: BrokerAlarm",
     "alert: BrokerAlarms"),
    ("each alert has a runbook, and each other runbook is a procedure", RUNBOOKS + "README.md", "(OutboxLag.md)",
     "(DeadLetters.md)"),
    ("each alert has a runbook, and each other runbook is a procedure", RUNBOOKS + "README.md", "(Restore.md)", "(Backup.md)"),
    ("each alert has a runbook, and each other runbook is a procedure", RUNBOOKS + "README.md", "## Procedures", "## More"),
    ("each alert has a runbook, and each other runbook is a procedure", RUNBOOKS + "Restore.md", "## What it is for",
     "## What it means"),
    ("runbooks name commands and views that exist", RUNBOOKS + "Restore.md", "--trial", "--rehearsal"),
    ("runbooks name commands and views that exist", RUNBOOKS + "Restore.md", "scripts/backup check",
     "scripts/backup look"),
    ("runbooks name commands and views that exist", RUNBOOKS + "Backup.md", "scripts/backup", "scripts/back-up"),
    ("runbooks name commands and views that exist", RUNBOOKS + "OutboxLag.md", "`transfactl outbox status`",
     "`transfactl outbox state`"),
    ("runbooks name commands and views that exist", RUNBOOKS + "JobsFailed.md", "--state failed", "--only failed"),
    ("runbooks name commands and views that exist", RUNBOOKS + "JobsFailed.md", "`#/jobs`", "`#/work`"),
    ("runbooks name commands and views that exist", "Services/Transfactl/Commands/OutboxCommand.swift",
     'commandName: "outbox"', 'commandName: "unsent"'),
    ("dashboards are up to date", BOARDS + "auth.json", '"title": "Ready"', '"title": "Is ready"'),
    ("dashboards are up to date", BOARDS + "auth.json", None, None),
    ("dashboards fit each other and the data sources", BOARDS + "auth.json", '"uid": "transfa-auth"',
     '"uid": "transfa-money"'),
    ("dashboards fit each other and the data sources", "deploy/grafana/provisioning/datasources/datasources.yaml",
     "uid: loki", "uid: logs"),
    ("every service is scraped, shown and missed", PROMETHEUS + "prometheus.yml", "analytics, console]", "analytics]"),
    ("every service is scraped, shown and missed", PROMETHEUS + "prometheus.yml", "port: 9080", "port: 8080"),
    ("every service is scraped, shown and missed", PROMETHEUS + "rules/services.yaml",
     'absent(up{job="transfa",service="console"})', 'absent(up{job="transfa",service="auth"})'),
    ("every service is scraped, shown and missed", "Shared/Contracts/Sources/Contracts/ServiceName.swift",
     "    case console\n", "    case console\n    case ledger\n"),
    ("logs fit the fields of a line, and no label is about a person", "deploy/loki/promtail.yaml",
     "      - labels:\n          level:", "      - labels:\n          level:\n          request_id:"),
    ("logs fit the fields of a line, and no label is about a person", "deploy/loki/promtail.yaml", "time: time",
     "time: ts"),
    ("logs fit the fields of a line, and no label is about a person", "deploy/loki/promtail.yaml", "loki:3100",
     "loki:3101"),
    ("logs fit the fields of a line, and no label is about a person", "deploy/loki/loki.yaml",
     "retention_enabled: true",
     "retention_enabled: false"),
    ("logs fit the fields of a line, and no label is about a person", "deploy/loki/loki.yaml",
     "allow_structured_metadata: true", "allow_structured_metadata: false"),
    ("logs fit the fields of a line, and no label is about a person", "Shared/ServiceKit/Logging/JSONLogHandler.swift",
     'line.member("level"', 'line.member("severity"'),
    ("traces are found in logs",
     "deploy/grafana/provisioning/datasources/datasources.yaml", '"trace_id":"(', '"trace":"('),
]


def scrape(root):
    """What processes that have all metrics would answer."""
    lines = []
    for name, metric in check.Deployment(root).sources.items():
        labels = ",".join(f'{label}="{"queued" if label == "state" else "x"}"' for label in sorted(metric.labels))
        ending = "_count" if metric.kind == "histogram" else ""
        lines += [f"# TYPE {name} {metric.kind}", f"{name}{ending}{'{' + labels + '}' if labels else ''} 1"]
    return "\n".join(lines) + "\n"


def copy(root):
    for folder in ("deploy", "Services", "Shared"):
        shutil.copytree(ROOT / folder, root / folder)
    (root / "scripts").mkdir()
    # What runbooks call.
    for script in ("backup", "compose-roll", "compose-test", "restore"):
        shutil.copy(ROOT / "scripts" / script, root / "scripts")
    shutil.copy(ROOT / ".env.example", root)
    (root / SCRAPE).write_text(scrape(root))
    os.environ["TRANSFA_METRICS"] = str(root / SCRAPE)


def notices(root, title, path, old, new):
    """Why the check does not notice; nothing when it does."""
    text = (root / path).read_text()
    try:
        if old is None:
            (root / path).unlink()
        elif old not in text:
            return "there is nothing to break"
        else:
            (root / path).write_text(text.replace(old, new))
        return "" if list(dict(check.CHECKS)[title](check.Deployment(root))) else "it did not notice"
    finally:
        (root / path).write_text(text)


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        copy(root)
        cases = [("nothing is wrong before", "; ".join(f"{t}: {p}" for t, p in check.run(root).items() if p))]
        cases += [(f"{title}: {path}: {old!r:.60}", notices(root, title, path, old, new))
                  for title, path, old, new in BREAKAGES]
        tried = {title for title, *_ in BREAKAGES}
        cases.append(("each check is tried", ", ".join(title for title, _ in check.CHECKS if title not in tried)))
    for title, problem in cases:
        passed, failed = passed + (not problem), failed + bool(problem)
        if problem:
            print(f"FAILED  {title}: {problem}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
