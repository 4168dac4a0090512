"""What must hold in every overlay: each rule gives sentences about what does not."""

import re

import network
import workloads
from cluster import name_of, selects, title
from workloads import service_pods

PRODUCTION = "production"
MIGRATION = "MIGRATION_DATABASE_URL"


def every_service_is_whole(suite, cluster):
    kinds = ("Deployment", "Service", "ServiceAccount", "PodDisruptionBudget", "NetworkPolicy", "ExternalSecret")
    for service in suite.services:
        yield from (f"{service} has no {kind}" for kind in kinds if not cluster.get(kind, service))
        if not cluster.get("Job", f"{service}-migration"):
            yield f"{service} has no Job {service}-migration"
        # A service is rolled out by these labels.
        for item in cluster.objects:
            component = {service: "service", f"{service}-migration": "migration"}.get(name_of(item))
            labels = {"app.kubernetes.io/name": service, "app.kubernetes.io/component": component}
            if component and not labels.items() <= item["metadata"].get("labels", {}).items():
                yield f"{title(item)} is not labelled as the {component} of {service}, and is left out of a rollout"
    for item in cluster.of("Deployment"):
        if (
            item["metadata"]["labels"].get("app.kubernetes.io/component") == "service"
            and name_of(item) not in suite.services
        ):
            yield f"{title(item)} is no service of ours"


def names_are_one(suite, cluster):
    seen, spaces = set(), {name_of(item) for item in cluster.of("Namespace")}
    if len(spaces) != 1:
        yield f"there is not one Namespace but {len(spaces)}"
    for item in cluster.objects:
        key = title(item)
        if key in seen:
            yield f"{key} stands twice"
        seen.add(key)
        if item["kind"] != "Namespace" and item["metadata"].get("namespace") not in spaces:
            yield f"{key} is in the namespace {item['metadata'].get('namespace')}"
        labels = item["metadata"].get("labels", {})
        for label in ("component", "part-of") if item["kind"] == "ConfigMap" else ("name", "component", "part-of"):
            if f"app.kubernetes.io/{label}" not in labels:
                yield f"{key} has no label app.kubernetes.io/{label}"


def settings_are_given(suite, cluster):
    for service, container, _ in service_pods(suite, cluster):
        known = suite.settings(service)
        rows = list(cluster.environment(container))
        given = {name: value for name, value, _ in rows}
        yield from _twice(service, rows)
        for name, setting in known.items():
            if name == MIGRATION:
                continue
            if name not in given and (setting.is_required or setting.is_secret):
                yield f"{service} is not given {name}"
            elif setting.is_required and given.get(name) == "":
                yield f"{service} is given an empty {name}"
        for name, value, source in rows:
            if name not in known:
                yield f"{service} is given {name}, which it does not read"
            elif source != "Secret" and known[name].is_secret:
                yield f"{service} is given {name}, a secret, in the open"
            elif value and (objection := known[name].objection(value)):
                yield f"{service}: {name} {objection}"


def _twice(service, rows):
    names = [name for name, _, _ in rows]
    yield from (
        f"{service} is given {name} twice" for name in sorted({name for name in names if names.count(name) > 1})
    )


def migrations_are_apart(suite, cluster):
    for service, container, _ in service_pods(suite, cluster):
        if MIGRATION in cluster.values(container):
            yield f"{service} runs with the owner's password"
        job = cluster.get("Job", f"{service}-migration")
        if not job:
            continue
        migration = job["spec"]["template"]["spec"]["containers"][0]
        given = cluster.values(migration)
        if set(given) != {MIGRATION}:
            yield f"{title(job)} is given {', '.join(sorted(given)) or 'nothing'} and needs {MIGRATION}"
        if migration.get("args") != ["--migrate-only"]:
            yield f"{title(job)} does not run --migrate-only"
        if migration["image"] != container["image"]:
            yield f"{title(job)} has another image than its service"
        if job["spec"]["template"]["metadata"]["labels"].get("app.kubernetes.io/component") != "migration":
            yield f"{title(job)} has pods that are not labelled as a migration"


def _url_host(value):
    match = re.fullmatch(r"https?://([a-z0-9-]+):(\d+)(?:/.*)?", value)
    return match and (match.group(1), int(match.group(2)))


def ports_agree(suite, cluster):
    for service, container, pods in service_pods(suite, cluster):
        given = cluster.values(container)
        for setting, port in (("PORT", "http"), ("INTERNAL_PORT", "internal")):
            if given.get(setting) != str(pods.ports.get(port)):
                yield f"{service} listens on {setting}={given.get(setting)}; its port {port} is {pods.ports.get(port)}"
        for setting in ("HOST", "INTERNAL_HOST"):
            if given.get(setting) != "0.0.0.0":
                yield f"{service} listens on {setting}={given.get(setting)}, where no probe reaches it"
        wanted = {8080: pods.ports.get("http"), 9080: pods.ports.get("internal")}
        if cluster.service_addresses.get(service) != wanted:
            yield f"Service {service} leads to {cluster.service_addresses.get(service)}, not to {wanted}"
    for pods in cluster.pods:
        for container in pods.containers if pods.spec else []:
            yield from _addresses_lead_somewhere(pods.owner, cluster, cluster.values(container))


def _addresses_lead_somewhere(owner, cluster, given):
    for name, value in given.items():
        place = _url_host(value or "")
        if place and place[1] not in cluster.service_addresses.get(place[0], {}):
            yield f"{owner}: {name} names {place[0]}:{place[1]}, where nothing is"
        peer = re.fullmatch(r"(\w+)_INTERNAL_URL", name)
        if peer and value != f"http://{peer.group(1).lower()}:9080":
            yield f"{owner}: {name} is not the internal port of {peer.group(1).lower()}"


def selectors_select(suite, cluster):
    for item in cluster.of("Deployment"):
        if not selects(item["spec"]["selector"], item["spec"]["template"]["metadata"]["labels"]):
            yield f"{title(item)} does not select its own pods"
        yield from _takes_only(item["spec"]["selector"], item, cluster, f"Deployment {name_of(item)}")
        for spread in item["spec"]["template"]["spec"].get("topologySpreadConstraints", []):
            yield from _takes_only(spread["labelSelector"], item, cluster, f"Deployment {name_of(item)}")
    for item in cluster.of("Service"):
        selector = {"matchLabels": item["spec"]["selector"]}
        yield from _takes_only(selector, item, cluster, f"Deployment {name_of(item)}")
        for pods in cluster.selected(selector):
            for port in item["spec"]["ports"]:
                if port["targetPort"] not in {*pods.ports, *pods.ports.values()}:
                    yield f"{title(item)} leads to {port['targetPort']}, which {pods.owner} does not have"
    for item in cluster.of("PodDisruptionBudget"):
        owner = "RabbitmqCluster" if cluster.get("RabbitmqCluster", name_of(item)) else "Deployment"
        yield from _takes_only(item["spec"]["selector"], item, cluster, f"{owner} {name_of(item)}")
    for item in cluster.of("PodMonitor"):
        selected = cluster.selected(item["spec"]["selector"])
        if not selected:
            yield f"{title(item)} selects nothing"
        for endpoint in item["spec"]["podMetricsEndpoints"]:
            yield from (
                f"{title(item)} reads {endpoint['port']}, which {pods.owner} does not have"
                for pods in selected
                if endpoint["port"] not in pods.ports
            )
    yield from _policies_select(cluster)


def _takes_only(selector, item, cluster, owner):
    taken = [pods.owner for pods in cluster.selected(selector)]
    if taken != [owner]:
        yield f"{title(item)} selects {', '.join(taken) or 'nothing'} where it should select {owner}"


def _policies_select(cluster):
    for item in cluster.of("NetworkPolicy"):
        if not cluster.selected(item["spec"]["podSelector"]):
            yield f"{title(item)} is about nothing"
        rules = [*(item["spec"].get("ingress") or []), *(item["spec"].get("egress") or [])]
        for peer in [peer for rule in rules for peer in rule.get("from", rule.get("to", []))]:
            if "podSelector" in peer and "namespaceSelector" not in peer and not cluster.selected(peer["podSelector"]):
                yield f"{title(item)} names pods that are not there: {peer['podSelector']}"


def references_lead_somewhere(suite, cluster):
    for pods in cluster.pods:
        if not pods.spec:
            continue
        if not cluster.get("ServiceAccount", pods.spec.get("serviceAccountName", "")):
            yield f"{pods.owner} has no ServiceAccount of its own"
        for container in pods.containers:
            for source in container.get("envFrom", []):
                if "configMapRef" in source and not cluster.get("ConfigMap", source["configMapRef"]["name"]):
                    yield f"{pods.owner} reads the ConfigMap {source['configMapRef']['name']}, which is not there"
                if "secretRef" in source:
                    yield from _secret_is_there(pods.owner, cluster, source["secretRef"]["name"])
            for row in container.get("env", []):
                key = row.get("valueFrom", {}).get("secretKeyRef")
                if key:
                    yield from _secret_is_there(pods.owner, cluster, key["name"], key["key"])
        for volume in pods.spec.get("volumes", []):
            yield from _volume_is_there(pods.owner, cluster, volume)
    for item in cluster.of("ExternalSecret"):
        store = item["spec"].get("secretStoreRef", {})
        if not cluster.get(store.get("kind", "SecretStore"), store.get("name", "")):
            yield f"{title(item)} reads from a store that is not there"
    for item in cluster.of("TriggerAuthentication"):
        for row in item["spec"].get("secretTargetRef", []):
            yield from _secret_is_there(title(item), cluster, row["name"], row["key"])
    for item in cluster.of("RabbitmqCluster"):
        yield from _secret_is_there(title(item), cluster, item["spec"]["tls"]["secretName"], "tls.crt")
        user = item["spec"]["secretBackend"]["externalSecret"]["name"]
        yield from _secret_is_there(title(item), cluster, user, "default_user.conf")
    for item in cluster.of("PodMonitor"):
        for endpoint in item["spec"]["podMetricsEndpoints"]:
            if credentials := endpoint.get("authorization", {}).get("credentials"):
                yield from _secret_is_there(title(item), cluster, credentials["name"], credentials["key"])


def _secret_is_there(owner, cluster, name, key=None):
    if name not in cluster.secrets:
        yield f"{owner} reads the secret {name}, which nothing makes"
    elif key and cluster.secrets[name] is not None and key not in cluster.secrets[name]:
        yield f"{owner} reads {key} of the secret {name}, which does not have it"


def _volume_is_there(owner, cluster, volume):
    sources = volume.get("projected", {}).get("sources", [volume])
    for source in sources:
        secret = source.get("secret")
        if secret:
            name = secret.get("name", secret.get("secretName"))
            for row in secret.get("items", [{}]):
                yield from _secret_is_there(owner, cluster, name, row.get("key"))
        if "configMap" in source and not cluster.get("ConfigMap", source["configMap"]["name"]):
            yield f"{owner} mounts the ConfigMap {source['configMap']['name']}, which is not there"
        claim = source.get("persistentVolumeClaim")
        if claim and not cluster.get("PersistentVolumeClaim", claim["claimName"]):
            yield f"{owner} mounts {claim['claimName']}, which is not there"


def scaling_is_one(suite, cluster):
    for service in [*suite.services, "gateway"]:
        plain, keda = (
            [item for item in cluster.of(kind) if item["spec"]["scaleTargetRef"]["name"] == service]
            for kind in ("HorizontalPodAutoscaler", "ScaledObject")
        )
        queues = suite.queues.get(service, [])
        if len(plain) + len(keda) != 1:
            yield f"{service} is scaled by {len(plain) + len(keda)} objects: one, or they fight"
        elif bool(keda) != bool(queues):
            yield f"{service} has {len(queues)} queues and is scaled by {title((plain + keda)[0])}"
        deployment = cluster.get("Deployment", service)
        if deployment and "replicas" in deployment["spec"]:
            yield f"{title(deployment)} says how many replicas there are, which its autoscaler decides"
        for item in plain:
            yield from _bounds(item, item["spec"].get("minReplicas", 1), item["spec"]["maxReplicas"])
        for item in keda:
            yield from _bounds(item, item["spec"].get("minReplicaCount", 0), item["spec"].get("maxReplicaCount", 100))
            yield from _triggers(item, queues, cluster)


def _bounds(item, low, high):
    if low < 2:
        yield f"{title(item)} lets a service run alone"
    if high < low:
        yield f"{title(item)} has bounds that exclude each other"


def _triggers(item, queues, cluster):
    triggers = item["spec"]["triggers"]
    if "cpu" not in [trigger["type"] for trigger in triggers]:
        yield f"{title(item)} does not look at requests: it has no trigger on CPU"
    watched = [trigger["metadata"] for trigger in triggers if trigger["type"] == "rabbitmq"]
    if sorted(one.get("queueName") for one in watched) != sorted(queues):
        yield f"{title(item)} looks at {[one.get('queueName') for one in watched]} and the queues are {queues}"
    for broker in cluster.of("RabbitmqCluster"):
        host = re.search(r"^default_vhost = (\S+)$", broker["spec"]["rabbitmq"]["additionalConfig"], re.M)
        yield from (
            f"{title(item)} looks into the virtual host {one.get('vhostName')}"
            for one in watched
            if not host or one.get("vhostName") != host.group(1)
        )
    for trigger in triggers:
        name = trigger.get("authenticationRef", {}).get("name")
        if trigger["type"] == "rabbitmq" and not cluster.get("TriggerAuthentication", name or ""):
            yield f"{title(item)} has no way to log in to RabbitMQ"


def secrets_stay_outside(suite, cluster):
    yield from (f"{title(item)} holds a secret" for item in cluster.of("Secret"))
    for item in cluster.of("ConfigMap"):
        for name, value in (item.get("data") or {}).items():
            if re.search(r"://[^/\s:@]+:[^/\s@]+@", value or "") and "$" not in value:
                yield f"{title(item)} has a password in {name}"


def the_broker_is_a_cluster(suite, cluster):
    brokers = cluster.of("RabbitmqCluster")
    if len(brokers) != 1:
        yield f"there are {len(brokers)} clusters of RabbitMQ"
    for item in brokers:
        if item["spec"].get("replicas", 1) < 3 or item["spec"]["replicas"] % 2 == 0:
            yield f"{title(item)} has {item['spec'].get('replicas', 1)} nodes: quorum queues want three or five"
        if "pause_minority" not in item["spec"]["rabbitmq"]["additionalConfig"]:
            yield f"{title(item)} lets a node answer that sees no others"


def environments_are_apart(suite, cluster):
    job = cluster.get("Job", "postgres-roles")
    if job:
        names = cluster.values(job["spec"]["template"]["spec"]["containers"][0]).get("SERVICES", "").split()
        if sorted(names) != sorted(suite.services):
            yield f"{title(job)} makes the databases of {' '.join(names)}"
    if cluster.overlay != PRODUCTION:
        return
    yield from (f"{title(item)} is in production" for item in cluster.objects if name_of(item).startswith("sandbox"))
    for service, container, _ in service_pods(suite, cluster):
        for name, value in cluster.values(container).items():
            if re.search(r"sandbox|staging", value or ""):
                yield f"{service} runs in production with {name}={value}"


def metrics_have_their_names(suite, cluster):
    jobs = set()
    for item in cluster.of("PodMonitor"):
        for endpoint in item["spec"]["podMetricsEndpoints"]:
            labels = {row.get("targetLabel"): row for row in endpoint.get("relabelings", [])}
            jobs.add(labels.get("job", {}).get("replacement"))
            if name_of(item) == "services" and "service" not in labels:
                yield f"{title(item)} does not label what it reads with the service"
    if "transfa" not in jobs:
        yield "no metrics have the job transfa"
    yield from (
        f"no metrics have the job {job}, which Prometheus has elsewhere" for job in (suite.jobs or set()) - jobs
    )


def the_gateway_knows_its_way(suite, cluster):
    pods = next((pods for pods in cluster.pods if pods.owner == "Deployment gateway"), None)
    if pods is None:
        yield "there is no gateway"
        return
    given = cluster.values(pods.containers[0])
    for service in suite.services:
        if given.get(f"{service.upper()}_ADDRESS") != f"{service}:8080":
            yield f"the gateway looks for {service} at {given.get(f'{service.upper()}_ADDRESS')}"
        if given.get(f"{service.upper()}_HEALTH_PORT") != "9080":
            yield f"the gateway asks {service} for its health at port {given.get(f'{service.upper()}_HEALTH_PORT')}"
    for name, port in (("HTTPS", "https"), ("HTTP", "http"), ("INTERNAL", "internal")):
        if given.get(f"GATEWAY_{name}_BIND", "").rpartition(":")[2] != str(pods.ports.get(port)):
            bind = given.get(f"GATEWAY_{name}_BIND")
            yield f"the gateway listens on {bind} and its port {port} is {pods.ports.get(port)}"
    if "GATEWAY_PLAIN_BIND" in given:
        yield "the gateway of a cluster speaks TLS, and is given GATEWAY_PLAIN_BIND"
    if suite.gateway_variables:
        needed, known = suite.gateway_variables
        yield from (f"the gateway is not given {name}" for name in sorted(needed - given.keys()))
        yield from (
            f"the gateway is given {name}, which it does not read" for name in sorted(given.keys() - needed - known)
        )


RULES = (
    (every_service_is_whole, "every service has all it needs"),
    (names_are_one, "names, namespaces and labels"),
    (settings_are_given, "settings are those that the code reads"),
    (migrations_are_apart, "migrations run apart, with the owner's password"),
    (ports_agree, "ports and addresses agree"),
    (selectors_select, "selectors select"),
    (references_lead_somewhere, "references lead somewhere"),
    (workloads.probes_ask_what_is_there, "probes ask what the internal port answers"),
    (workloads.stops_are_long_enough, "who stops has the time"),
    (workloads.pods_are_locked_down, "pods are locked down and bounded"),
    (workloads.images_are_fixed, "images have versions"),
    (scaling_is_one, "one autoscaler each, on the queues that there are"),
    (network.problems, "the network lets through what the architecture draws"),
    (secrets_stay_outside, "no secret stands in the open"),
    (the_broker_is_a_cluster, "the broker is a cluster"),
    (environments_are_apart, "environments are apart"),
    (metrics_have_their_names, "metrics have the names that rules look for"),
    (the_gateway_knows_its_way, "the gateway knows its way"),
)


def apply(rule, suite, cluster):
    """What a rule says; what keeps no schema may be nothing that a rule can read, and that is a problem too."""
    try:
        return list(rule(suite, cluster))
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        return [f"the objects are not as they should be: {error!r}"]
