"""Runs Prometheus with the rules of the repository against a suite that runs; see scripts/observability live.

    live.py <folder of scripts/run>
"""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import check
import promql
import yaml

# Seconds until all targets answer, and then until gauges and rules have been looked at: every 15 s at most.
PATIENCE = 30
SETTLING = 20
SCRAPES = "2s"


class Suite:
    """Where the processes of a run answer."""

    def __init__(self, folder, services):
        ports = folder / "ports"
        self.targets = {
            service: f"127.0.0.1:{(ports / f'{service}-internal').read_text().strip()}" for service in services
        }
        self.broker = f"127.0.0.1:{(folder / 'servers/ports/rabbitmq-prometheus').read_text().strip()}"
        self.token = (folder / "secrets/metrics-token").read_text().strip()


class Prometheus:
    """A server of its own, on a free port of this machine, that is gone afterwards."""

    def __init__(self, deployment, suite):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="transfa-prometheus-"))
        self.port = self._free_port()
        self._configure(deployment, suite)
        self.log = open(self.folder / "log", "w")
        self.process = subprocess.Popen(
            [
                "prometheus", f"--config.file={self.folder}/prometheus.yml", f"--storage.tsdb.path={self.folder}/data",
                f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn",
            ],
            stdout=self.log, stderr=subprocess.STDOUT,
        )

    @staticmethod
    def _free_port():
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            return listener.getsockname()[1]

    def _configure(self, deployment, suite):
        configuration = json.loads(json.dumps(deployment.configuration))
        often = ("scrape_interval", "scrape_timeout", "evaluation_interval")
        configuration["global"] |= dict.fromkeys(often, SCRAPES)
        configuration["rule_files"] = [str(deployment.prometheus / "rules/*.yaml")]
        for job in configuration["scrape_configs"]:
            job.pop("dns_sd_configs", None)
            job.pop("relabel_configs", None)
            if job["job_name"] == "transfa":
                job["authorization"]["credentials_file"] = str(self.folder / "token")
                job["static_configs"] = [
                    {"targets": [target], "labels": {"service": service}} for service, target in suite.targets.items()
                ]
            elif job["job_name"].startswith("rabbitmq"):
                job["static_configs"] = [{"targets": [suite.broker]}]
            else:
                job["static_configs"] = [{"targets": [f"127.0.0.1:{self.port}"]}]
        (self.folder / "token").touch(mode=0o600)
        (self.folder / "token").write_text(suite.token)
        (self.folder / "prometheus.yml").write_text(yaml.safe_dump(configuration))

    def ask(self, path, **parameters):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            # One that is starting says so in plain text.
            text = error.read().decode()
            return json.loads(text) if text.startswith("{") else {"status": "error", "error": text.strip()}
        except OSError as error:
            return {"status": "error", "error": str(error)}

    def values(self, query):
        """What a query answers, or the reason why it does not."""
        answer = self.ask("query", query=query)
        return (answer["data"]["result"], None) if answer["status"] == "success" else (None, answer["error"])

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.log.close()
        shutil.rmtree(self.folder)


def down(prometheus, expected):
    answer = prometheus.ask("targets", state="active")
    if answer["status"] != "success":
        return [answer["error"]]
    targets = answer["data"]["activeTargets"]
    # A server that has just begun knows none.
    if len(targets) != expected:
        return [f"{len(targets)} targets are known, there are {expected}"]
    return [f"{target['scrapeUrl']}: {target['lastError']}" for target in targets if target["health"] != "up"]


def broken_rules(prometheus):
    answer = prometheus.ask("rules")
    if answer["status"] != "success":
        return [answer["error"]]
    groups = answer["data"]["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    return [f"{rule['name']}: {rule.get('lastError') or rule['health']}" for rule in rules if rule["health"] != "ok"]


def alerts(prometheus):
    answer = prometheus.ask("alerts")
    if answer["status"] != "success":
        return [answer["error"]]
    found = answer["data"]["alerts"]
    return [f"{alert['labels']['alertname']} {alert['labels']}" for alert in found if alert["state"] == "firing"]


def unanswered(deployment, prometheus):
    for place, text in deployment.queries():
        _, error = prometheus.values(promql.plain(text))
        if error:
            yield f"{place}: {error}"


def missing(deployment, prometheus):
    """Metrics that are asked for, must be there from the start, and are not; and labels that they do not have."""
    asked = {name for _, text in deployment.queries() for name in promql.parse(text).metrics}
    for name in sorted(asked - {"ALERTS"}):
        family = deployment.sources.get(re.sub(r"_(bucket|sum|count)$", "", name)) or deployment.sources.get(name)
        result, _ = prometheus.values(f"group by (job, service) ({name})")
        # What begins with the first event may be missing, and what is computed from such.
        late = family and family.late or family and name in check.BY_SETTING or name in deployment.recorded
        if not result and not late:
            yield f"no process has told {name}"
    matched = {matcher[:2]: place for place, text in deployment.queries() for matcher in promql.parse(text).matchers}
    for (name, label), place in matched.items():
        result, _ = prometheus.values(f'count({name}) == count({name}{{{label}=""}})')
        if result:
            yield f"{place}: no series of {name} has the label {label}"


def main(folder):
    deployment = check.Deployment(pathlib.Path(__file__).parents[3].resolve())
    prometheus = Prometheus(deployment, Suite(folder, deployment.services()))
    try:
        # Each service, the broker's totals and its queues, and Prometheus itself.
        expected = len(deployment.services()) + 3
        deadline = time.monotonic() + PATIENCE
        while down(prometheus, expected) and time.monotonic() < deadline and prometheus.process.poll() is None:
            time.sleep(1)
        # Gauges come with the first look, rates with the second scrape, rules with their first evaluation.
        time.sleep(SETTLING)
        results = {"Prometheus takes the configuration and every target answers": down(prometheus, expected)}
        results["every rule is evaluated"] = broken_rules(prometheus)
        results["every query of rules and dashboards is answered"] = list(unanswered(deployment, prometheus))
        results["metrics and labels that are asked for are there"] = list(missing(deployment, prometheus))
        results["no alert fires"] = alerts(prometheus)
        series, _ = prometheus.values('count({job=~"transfa|rabbitmq.*"}) or vector(0)')
        count = series[0]["value"][1] if series else "no"
        print(f"{count} series of {len(deployment.services())} services and the broker")
    finally:
        prometheus.stop()
    check.tell(results)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]).resolve())
