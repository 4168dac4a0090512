"""The dashboards: deploy/grafana/dashboards/*.json, made from what stands here; see scripts/observability write.

Gauges that a service reads from its database are the same in all its replicas: panels take their maximum, and add up
only what each process counts by itself.
"""

import json

PROMETHEUS = {"type": "prometheus", "uid": "prometheus"}
LOKI = {"type": "loki", "uid": "loki"}
SERVICES = ("auth", "customer", "account", "transaction", "subscription", "notification", "analytics", "console")
ROUTES = 'route!~"/health/.*|/metrics|/internal/.*"'
WIDTH = 24


def panel(title, unit, *queries, kind="timeseries", width=8, height=7, limits=(), description=""):
    """One panel; a query is (expression, legend), a limit (value, color) from which on it is drawn so."""
    steps = [{"color": "green", "value": None}] + [{"color": color, "value": value} for value, color in limits]
    made = {
        "type": kind,
        "title": title,
        "datasource": PROMETHEUS,
        "gridPos": {"w": width, "h": height},
        "fieldConfig": {
            "defaults": {"unit": unit, "min": 0, "thresholds": {"mode": "absolute", "steps": steps}},
            "overrides": [],
        },
        "options": {},
        "targets": [
            {"refId": chr(ord("A") + index), "datasource": PROMETHEUS, "expr": expression, "legendFormat": legend}
            for index, (expression, legend) in enumerate(queries)
        ],
    }
    if description:
        made["description"] = description
    if kind == "timeseries":
        made["options"] = {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}}
        if limits:
            made["fieldConfig"]["defaults"]["custom"] = {"thresholdsStyle": {"mode": "line"}}
    if kind == "stat":
        made["options"] = {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "background"}
    return made


def stat(title, unit, query, limits=(), width=4):
    return panel(title, unit, (query, ""), kind="stat", width=width, height=4, limits=limits)


def logs(title, query):
    return {
        "type": "logs", "title": title, "datasource": LOKI, "gridPos": {"w": WIDTH, "h": 9},
        "options": {"showTime": True, "wrapLogMessage": True, "enableLogDetails": True, "sortOrder": "Descending"},
        "targets": [{"refId": "A", "datasource": LOKI, "expr": query}],
    }


def row(title):
    return {"type": "row", "title": title, "collapsed": False, "gridPos": {"w": WIDTH, "h": 1}, "panels": []}


def dashboard(uid, title, panels, tags=()):
    x = y = tallest = 0
    for number, each in enumerate(panels, start=1):
        place = each["gridPos"]
        if x + place["w"] > WIDTH:
            x, y, tallest = 0, y + tallest, 0
        place["x"], place["y"] = x, y
        x, tallest = x + place["w"], max(tallest, place["h"])
        each["id"] = number
    return {
        "uid": uid, "title": title, "tags": ["transfa", *tags], "schemaVersion": 39, "version": 1, "editable": False,
        "timezone": "browser", "refresh": "30s", "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": []}, "annotations": {"list": []}, "panels": panels,
        "links": [
            {"type": "dashboards", "title": "Transfa", "tags": ["transfa"], "asDropdown": True, "icon": "dashboard"}
        ],
    }


def overview():
    return dashboard("transfa-overview", "Transfa: overview", [
        stat("Services ready", "none", "sum(max by (service) (transfa_ready))", [(0, "red"), (8, "green")]),
        stat("Alerts that page", "none",
             'count(ALERTS{alertstate="firing",severity="page"}) or vector(0)', [(1, "red")]),
        stat("Tickets", "none", 'count(ALERTS{alertstate="firing",severity="ticket"}) or vector(0)', [(1, "orange")]),
        stat("Money in flight", "currency:₦", "sum(state:transfa_transfers_held_kobo:sum) / 100"),
        stat("Oldest open transfer", "s", "max(state:transfa_transfers_oldest_seconds:max)", [(900, "red")]),
        stat("Parked events", "none", "sum(max by (service) (transfa_parked_events))", [(1, "red")]),
        row("Requests of people"),
        panel("Requests", "reqps", ("service:http_server_requests:rate5m", "{{service}}")),
        panel("Answered 5xx", "percentunit",
              ("service:http_server_errors:ratio5m", "{{service}}"), limits=[(0.02, "red")]),
        panel("Slowest of a hundred", "s", ("service:http_server_request_duration_seconds:p99_5m", "{{service}}"),
              limits=[(0.5, "red")]),
        row("Events and jobs"),
        panel("Oldest unsent event", "s", ("max by (service) (transfa_outbox_oldest_seconds)", "{{service}}"),
              limits=[(60, "red")]),
        panel("Events in queues", "short",
              ("max by (queue) (rabbitmq_detailed_queue_messages_ready{queue=~\".+[.]p[0-9]+\"})",
              "{{queue}}"), limits=[(5000, "red")]),
        panel("Longest due job", "s", ("max by (service) (transfa_jobs_oldest_due_seconds)", "{{service}}"),
              limits=[(300, "red")]),
        panel("Failed jobs", "short", ('service:transfa_jobs:max{state="failed"}', "{{service}}"), limits=[(1, "red")]),
        panel("Events sent", "cps", ("service:messaging_sent:rate5m", "{{service}}")),
        panel("Events consumed", "cps", ("service:messaging_consumed:rate5m", "{{service}}")),
        row("Processes"),
        panel("Not ready", "none", ("transfa_ready_check == 0", "{{service}} {{instance}} {{check}}"),
              description="A line for each check of an instance that fails; usually none."),
        panel("Memory", "bytes", ('process_resident_memory_bytes{job="transfa"}', "{{service}} {{instance}}")),
        panel("Started", "dateTimeAsIso",
              ('1000 * process_start_time_seconds{job="transfa"}', "{{service}} {{instance}}"),
              kind="table"),
        logs("Errors of all services", '{level=~"error|critical"}'),
    ])


def service(name):
    """The dashboard of a service: the same for all, and what only it has."""
    own = f'service="{name}"'
    requests = f"http_server_request_duration_seconds_count{{{own},{ROUTES}}}"
    buckets = f'http_server_request_duration_seconds_bucket{{{own},route!~"/health/.*|/metrics|/internal/.*|/stream"}}'

    def quantile(part, series, by="le"):
        return f"histogram_quantile({part}, sum by ({by}) (rate({series}[$__rate_interval])))"

    def answers(outcomes=None):
        among = f',outcome=~"{outcomes}"' if outcomes else ""
        return f"rate(idempotency_answers_total{{{own}{among}}}[$__rate_interval])"

    return dashboard(f"transfa-{name}", f"Transfa: {name}", [
        stat("Instances up", "none", f'sum(up{{job="transfa",{own}}})', [(0, "red"), (1, "green")]),
        stat("Ready", "none", f"sum(transfa_ready{{{own}}})", [(0, "red"), (1, "green")]),
        stat("Unsent events", "none", f"max(transfa_outbox_unsent{{{own}}})"),
        stat("Failed jobs", "none", f'max(transfa_jobs{{{own},state="failed"}})', [(1, "red")]),
        stat("Parked subjects", "none", f"max(transfa_parked_subjects{{{own}}})", [(1, "red")]),
        stat("Oldest of them", "s", f"max(transfa_parked_oldest_seconds{{{own}}})", [(1, "red")]),
        row("Requests"),
        panel("By status", "reqps", (f"sum by (status) (rate({requests}[$__rate_interval]))", "{{status}}")),
        panel("By route", "reqps", (f"sum by (route) (rate({requests}[$__rate_interval]))", "{{route}}")),
        panel("Time to the answer", "s", (quantile(0.5, buckets), "half"), (quantile(0.95, buckets), "95 of 100"),
              (quantile(0.99, buckets), "99 of 100"), limits=[(0.5, "red")]),
        panel("Slowest routes (95 of 100)", "s", (f"topk(5, {quantile(0.95, buckets, 'le, route')})", "{{route}}")),
        panel("Refused as too many", "reqps",
              (f"sum by (policy) (rate(rate_limit_refusals_total{{{own}}}[$__rate_interval]))",
              "{{policy}}")),
        panel("Counted without Redis", "reqps",
              (f"sum(rate(rate_limit_counted_alone_total{{{own}}}[$__rate_interval]))", "")),
        panel("Failed commands of Redis", "ops",
              (f"sum by (kind) (rate(redis_errors_total{{{own}}}[$__rate_interval]))", "{{kind}}")),
        row("Came twice"),
        panel("By place and outcome", "cps", (f"sum by (place, outcome) ({answers()})", "{{place}} {{outcome}}"),
              width=16, description="What came under a key or an id: for the first time, or again, and who knew that."),
        panel("Known to Redis", "percentunit",
              (f"sum by (place) ({answers('repeat_redis|waited')})"
               f" / sum by (place) ({answers('repeat_redis|repeat_postgres|waited')})", "{{place}}"),
              description="Of what came again. Postgres knows the rest: nothing is wrong, and all of it is slower."),
        row("Calls to others"),
        panel("By host and result", "reqps",
              (f"sum by (host, result) (rate(http_client_request_duration_seconds_count{{{own}}}[$__rate_interval]))",
               "{{host}} {{result}}")),
        panel("Time of a call (95 of 100)", "s",
              (quantile(0.95, f"http_client_request_duration_seconds_bucket{{{own}}}", "le, host"), "{{host}}")),
        row("Events"),
        panel("Sent", "cps",
              (f"sum by (event_type) (rate(messaging_client_sent_messages_total{{{own}}}[$__rate_interval]))",
              "{{event_type}}")),
        panel("Consumed", "cps", ("sum by (event_type, outcome) "
              f"(rate(messaging_client_consumed_messages_total{{{own}}}[$__rate_interval]))",
               "{{event_type}} {{outcome}}")),
        panel("Handlers (95 of 100)", "s",
              (quantile(0.95, f"messaging_process_duration_seconds_bucket{{{own}}}", "le, event_type"),
               "{{event_type}}")),
        panel("Oldest unsent", "s", (f"max(transfa_outbox_oldest_seconds{{{own}}})", "oldest"), limits=[(60, "red")]),
        panel("In its queues", "short",
              (f'max by (queue) (rabbitmq_detailed_queue_messages_ready{{queue=~"{name}[.]p[0-9]+"}})',
              "{{queue}}"), limits=[(5000, "red")]),
        panel("Parked", "short", (f"max(transfa_parked_events{{{own}}})", "events"), limits=[(1, "red")]),
        row("Jobs"),
        panel("By state", "short", (f"max by (state) (transfa_jobs{{{own}}})", "{{state}}")),
        panel("Runs", "cps", (f"sum by (kind, outcome) (rate(transfa_job_runs_total{{{own}}}[$__rate_interval]))",
              "{{kind}} {{outcome}}")),
        panel("Runs (95 of 100)", "s",
              (quantile(0.95, f"transfa_job_run_duration_seconds_bucket{{{own}}}", "le, kind"), "{{kind}}")),
        panel("Longest due", "s", (f"max(transfa_jobs_oldest_due_seconds{{{own}}})", "longest"), limits=[(300, "red")]),
        *OWN_PANELS.get(name, lambda: [])(),
        row("Process"),
        panel("Connections to Postgres", "short",
              (f"sum by (pool, state) (db_client_connection_count{{{own}}})", "{{pool}} {{state}}")),
        panel("Waiting for a connection", "short",
              (f"sum by (pool) (db_client_connection_pending_requests{{{own}}})", "{{pool}}"), limits=[(10, "red")]),
        panel("Readiness", "none", (f"min by (check) (transfa_ready_check{{{own}}})", "{{check}}")),
        panel("Memory", "bytes", (f"process_resident_memory_bytes{{{own}}}", "{{instance}}")),
        panel("Open files", "short", (f"process_open_fds{{{own}}}", "{{instance}}")),
        panel("Not kept for traces", "cps",
              (f"sum(rate(transfa_requests_not_recorded_total{{{own}}}[$__rate_interval]))", "requests"),
              (f"sum by (reason) (rate(transfa_spans_dropped_total{{{own}}}[$__rate_interval]))", "spans: {{reason}}")),
        logs("Log", f'{{service="{name}"}} | json | level!="info"'),
    ], tags=["service"])


def _webhooks():
    return [row("Webhooks"), panel("Webhooks of the provider", "reqps",
            ('sum by (result) (rate(transfa_webhooks_total{service="notification"}[$__rate_interval]))',
             "{{result}}"), width=WIDTH)]


def _archive():
    return [
        row("Archive of events"),
        panel("Behind the event log", "s", ("max(transfa_archive_lag_seconds)", "lag"), limits=[(60, "red")]),
        panel("Stored", "cps", ("sum(rate(transfa_archive_events_total[$__rate_interval]))", "new"),
              ("sum(rate(transfa_archive_repeated_total[$__rate_interval]))", "known already")),
        panel("What should not be", "short", ("sum(increase(transfa_archive_gaps_total[1h]))", "gaps"),
              ("sum(increase(transfa_archive_malformed_messages_total[1h]))", "no events"), limits=[(1, "red")]),
    ]


OWN_PANELS = {"notification": _webhooks, "console": _archive}


def money():
    ends = 'messaging_client_sent_messages_total{service="transaction",event_type=~"%s"}'
    transfers = "transaction.created|transaction.completed|transaction.failed|transaction.reversed"
    products = "|".join([
        "money_drop.opened", "money_drop.claimed", "money_drop.refunded", "payment_request.created",
        "payment_request.fulfilled",
    ])
    routes = "transfer.rerouted.internal|external_slot.taken|external_slot.released"
    return dashboard("transfa-money", "Transfa: money", [
        *(stat(f"Held: {state}", "currency:₦", f'state:transfa_transfers_held_kobo:sum{{state="{state}"}} / 100')
          for state in ("accepted", "submitted", "unknown")),
        *(stat(f"Oldest: {state}", "s", f'state:transfa_transfers_oldest_seconds:max{{state="{state}"}}',
        [(limit, "red")])
          for state, limit in (("accepted", 900), ("submitted", 900), ("unknown", 1800))),
        row("Transfers"),
        panel("Open, by state and route", "short",
              ("max by (state, route) (transfa_transfers_open)", "{{state}} {{route}}")),
        panel("Held, by state and route", "currency:₦",
              ("max by (state, route) (transfa_transfers_held_kobo) / 100", "{{state}} {{route}}")),
        panel("Oldest, by state and route", "s",
              ("max by (state, route) (transfa_transfers_oldest_seconds)",
               "{{state}} {{route}}"), limits=[(900, "red")]),
        panel("Begun and ended", "cpm",
              (f"60 * sum by (event_type) (rate({ends % transfers}[$__rate_interval]))", "{{event_type}}")),
        panel("Routes decided by free transfers", "cpm",
              (f"60 * sum by (event_type) (rate({ends % routes}[$__rate_interval]))", "{{event_type}}")),
        panel("Money drops and requests", "cpm",
              (f"60 * sum by (event_type) (rate({ends % products}[$__rate_interval]))", "{{event_type}}")),
        panel("Submissions", "cps", ('sum by (outcome) (rate(transfa_job_runs_total{service="transaction",'
              'kind="submit_transfer"}[$__rate_interval]))', "{{outcome}}")),
        panel("Open transfers", "short", ("state:transfa_transfers_open:sum", "{{state}}")),
        panel("Webhooks", "reqps",
              ("sum by (service, result) (rate(transfa_webhooks_total[$__rate_interval]))", "{{service}} {{result}}")),
        row("The provider's books and ours"),
        panel("Differences", "short",
              ("max by (kind) (transfa_reconciliation_breaks)", "{{kind}}"), limits=[(1, "red")]),
        panel("Oldest difference", "s", ("max by (kind) (transfa_reconciliation_oldest_break_seconds)", "{{kind}}")),
        panel("Explained", "short",
              ("max(transfa_reconciliation_listed_kobo) / 100", "listed, naira"),
              ("max(transfa_reconciliation_matched_kobo) / 100", "matched, naira")),
        panel("Oldest unmatched", "s", ("max(transfa_reconciliation_oldest_unmatched_seconds)", "oldest"),
              limits=[(900, "red")]),
        panel("Recovery open", "short", ("max(transfa_recovery_open)", "open"), limits=[(1, "red")]),
        panel("Bills of kinds that nobody foresaw", "short",
              ("max(transfa_provider_bills_unforeseen)", "bills"), limits=[(1, "red")]),
        panel("Reported problems", "short",
              ("max(transfa_disputes_open)", "open"), ("max(transfa_disputes_overdue)", "overdue")),
        panel("Copies of one's data that failed", "short",
              ("max(transfa_exports_failed)", "failed within a day"), limits=[(1, "red")]),
        logs("What transaction tells", '{service="transaction"} | json | level!="info"'),
    ])


def broker():
    rates = "[$__rate_interval]"
    return dashboard("transfa-broker", "Transfa: broker", [
        stat("Nodes up", "none", 'sum(up{job="rabbitmq"})', [(0, "red"), (1, "green")]),
        stat("Alarms", "none", "sum(rabbitmq_alarms_memory_used_watermark + rabbitmq_alarms_free_disk_space_watermark"
             " + rabbitmq_alarms_file_descriptor_limit)", [(1, "red")]),
        stat("Dead letters", "none",
             'max(rabbitmq_detailed_queue_messages{queue="transfa.dead-letters"})', [(1, "red")]),
        stat("Connections", "none", "sum(rabbitmq_connections)"),
        stat("Unsent events", "none", "sum(max by (service) (transfa_outbox_unsent))"),
        stat("Event log", "none", 'max(rabbitmq_detailed_queue_messages{queue="transfa.event-log"})'),
        row("Queues"),
        panel("Ready", "short",
              ('max by (queue) (rabbitmq_detailed_queue_messages_ready{queue=~".+[.]p[0-9]+"})', "{{queue}}"),
              limits=[(5000, "red")]),
        panel("Delivered, not acknowledged", "short",
              ('max by (queue) (rabbitmq_detailed_queue_messages_unacked{queue=~".+[.]p[0-9]+"})', "{{queue}}")),
        panel("Consumers", "short", ("max by (queue) (rabbitmq_detailed_queue_consumers)", "{{queue}}")),
        row("Messages"),
        panel("Received", "cps",
              (f"sum by (instance) (rate(rabbitmq_global_messages_received_total{rates}))", "{{instance}}")),
        panel("Acknowledged", "cps",
              (f"sum by (queue_type) (rate(rabbitmq_global_messages_acknowledged_total{rates}))", "{{queue_type}}")),
        panel("Delivered again", "cps",
              (f"sum by (queue_type) (rate(rabbitmq_global_messages_redelivered_total{rates}))", "{{queue_type}}")),
        row("Nodes"),
        panel("Memory", "percentunit", ("rabbitmq_process_resident_memory_bytes / rabbitmq_resident_memory_limit_bytes",
              "{{instance}}"), limits=[(1, "red")]),
        panel("Free disk", "bytes", ("rabbitmq_disk_space_available_bytes", "{{instance}}"),
              ("rabbitmq_disk_space_available_limit_bytes", "limit of {{instance}}")),
        panel("Commits of quorum queues", "s", ("rabbitmq_raft_entry_commit_latency_seconds", "{{instance}}")),
        logs("Log of the broker", '{service="rabbitmq"}'),
    ])


def all_dashboards():
    """File name -> text."""
    made = {"overview": overview(), "money": money(), "broker": broker()} | {name: service(name) for name in SERVICES}
    return {f"{name}.json": json.dumps(value, indent=1, ensure_ascii=False) + "\n" for name, value in made.items()}
