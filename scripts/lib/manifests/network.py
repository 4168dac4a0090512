"""Who may talk to whom by the network policies, compared with who has to by the architecture: no less and no more."""

import ipaddress
import itertools

from cluster import Pods, name_of, selects

PUBLIC = "203.0.113.10"
API_SERVER = "10.0.0.1"
# What stands outside of the namespace, or has no business in it.
OUTSIDE = (
    Pods("Prometheus", {"app.kubernetes.io/name": "prometheus"}, {}, None, "monitoring"),
    Pods(
        "collector of spans", {"app.kubernetes.io/name": "opentelemetry-collector"}, {"otlp": 4318}, None, "monitoring"
    ),
    Pods("KEDA", {"app": "keda-operator"}, {}, None, "keda"),
    Pods("operator of Postgres", {"app.kubernetes.io/name": "cloudnative-pg"}, {}, None, "cnpg-system"),
    Pods("name server", {"k8s-app": "kube-dns"}, {"dns": 53}, None, "kube-system"),
    Pods("stranger of another namespace", {"app.kubernetes.io/name": "gateway"}, {"http": 8080}, None, "elsewhere"),
    Pods("the internet", {}, {"https": 443, "http": 80, "postgres": 5432}, None, None, PUBLIC),
    Pods("API server", {}, {"https": 443}, None, None, API_SERVER),
)
# Open to everybody, whoever that is.
OPEN = {("Deployment gateway", 8443), ("Deployment gateway", 8080)}
STRANGER = Pods("stranger", {"app.kubernetes.io/name": "stranger"}, {"http": 8080}, None)


def _is_peer(rule, peer):
    if "ipBlock" in rule:
        block = rule["ipBlock"]
        if peer.address is None:
            return False
        address = ipaddress.ip_address(peer.address)
        return address in ipaddress.ip_network(block["cidr"]) and not any(
            address in ipaddress.ip_network(hole) for hole in block.get("except", [])
        )
    if peer.address is not None:
        return False
    if "namespaceSelector" in rule:
        labels = {"kubernetes.io/metadata.name": peer.namespace} if peer.namespace else {}
        if not selects(rule["namespaceSelector"], labels):
            return False
    elif peer.namespace is not None:
        return False
    return selects(rule.get("podSelector") or {}, peer.labels)


def _is_port(rules, number, ports):
    if not rules:
        return True
    for rule in rules:
        first = rule.get("port")
        first = ports.get(first, first) if isinstance(first, str) else first
        if first is None or first <= number <= rule.get("endPort", first):
            return True
    return False


class Policies:
    def __init__(self, cluster):
        self.policies = cluster.of("NetworkPolicy")

    def _lets(self, pods, direction, peer, number, ports):
        """What no policy is about is free; else one rule has to allow it."""
        if not pods.is_inside:
            return True
        about = [
            policy["spec"]
            for policy in self.policies
            if direction in policy["spec"]["policyTypes"] and selects(policy["spec"]["podSelector"], pods.labels)
        ]
        if not about:
            return True
        key, peers = ("ingress", "from") if direction == "Ingress" else ("egress", "to")
        return any(
            _is_port(rule.get("ports"), number, ports)
            and (not rule.get(peers) or any(_is_peer(one, peer) for one in rule[peers]))
            for spec in about
            for rule in spec.get(key) or []
        )

    def let_out(self, source, target, number):
        return self._lets(source, "Egress", target, number, target.ports)

    def let_in(self, source, target, number):
        return self._lets(target, "Ingress", source, number, target.ports)


def managed_postgres(cluster):
    """An address in the subnets of a Postgres outside; None where the cluster has one of its own."""
    policy = cluster.get("NetworkPolicy", "postgres-clients")
    for rule in (policy or {"spec": {}})["spec"].get("egress", []):
        for peer in rule.get("to", []):
            if "ipBlock" in peer:
                address = str(ipaddress.ip_network(peer["ipBlock"]["cidr"])[10])
                return Pods("Postgres", {}, {"postgresql": 5432}, None, None, address)
    return None


def wanted(suite, cluster, postgres):
    """(source, target, port): what the architecture draws."""
    services = {service: f"Deployment {service}" for service in suite.services}
    gateway, rabbitmq, redis = "Deployment gateway", "RabbitmqCluster rabbitmq", "Deployment redis"
    for outside in (*(pods.owner for pods in OUTSIDE), postgres):
        if outside not in [pods.owner for pods in cluster.pods]:
            yield from ((outside, gateway, port) for port in (8443, 8080))
    yield from (("Prometheus", gateway, 8404), ("Prometheus", rabbitmq, 15692), ("KEDA", rabbitmq, 15672))
    yield from ((rabbitmq, rabbitmq, port) for port in (4369, 25672))
    yield rabbitmq, "API server", 443
    for pods in (*cluster.pods, STRANGER):
        yield pods.owner, "name server", 53
    for service, pods in services.items():
        settings, needs = suite.settings(service), suite.needs(service)
        yield from ((gateway, pods, 8080), (gateway, pods, 9080), ("Prometheus", pods, 9080))
        yield services["console"], pods, 9080
        if "exports" in needs:
            # Who collects what is held about a person.
            yield services["customer"], pods, 9080
        yield from ((pods, postgres, 5432), (f"Job {service}-migration", postgres, 5432))
        yield pods, "collector of spans", 4318
        if "broker" in needs:
            yield pods, rabbitmq, 5671
        if "policies" in needs:
            yield pods, rabbitmq, 15672
        if "REDIS_URL" in settings:
            yield pods, redis, 6379
        if {"auth", "dataKeys"} & needs:
            yield pods, services["auth"], 9080
        if settings.keys() & {"CLERK_JWKS_URL", "ANCHOR_BASE_URL", "IMAGE_STORE_URL", "APNS_BASE_URL"}:
            yield pods, "the internet", 443
        if cluster.get("Deployment", "sandbox"):
            yield pods, "Deployment sandbox", 8080
    if cluster.get("Deployment", "sandbox"):
        yield from (("Deployment sandbox", services[service], 8080) for service in ("auth", "notification"))
    if cluster.of("Cluster"):
        yield from ((postgres, postgres, 5432), (postgres, postgres, 8000), ("operator of Postgres", postgres, 8000))
        yield from (
            ("Prometheus", postgres, 9187),
            ("Job postgres-roles", postgres, 5432),
            (postgres, "API server", 443),
        )
        if "backup" in cluster.of("Cluster")[0]["spec"]:
            yield postgres, "the internet", 443


def problems(suite, cluster):
    """Both ends of each flow, so that neither is wide open and trusts in the other."""
    own = managed_postgres(cluster)
    clusters = cluster.of("Cluster")
    postgres = own.owner if own else f"Cluster {name_of(clusters[0])}" if clusters else "Postgres"
    actors = [*cluster.pods, STRANGER, *OUTSIDE, *([own] if own else [])]
    policies = Policies(cluster)
    expected = set(wanted(suite, cluster, postgres))
    for source, target in itertools.product(actors, actors):
        for number in sorted(set(target.ports.values())) if source.is_inside or target.is_inside else ():
            let_out, let_in = policies.let_out(source, target, number), policies.let_in(source, target, number)
            if (source.owner, target.owner, number) in expected:
                if not (let_out and let_in):
                    yield f"{source.owner} cannot reach port {number} of {target.owner}"
            elif source.is_inside and let_out:
                yield f"{source.owner} may call port {number} of {target.owner} and has no business there"
            elif target.is_inside and let_in and (target.owner, number) not in OPEN:
                yield f"{target.owner} lets {source.owner} in at port {number} and should not"
