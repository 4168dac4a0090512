"""Each check of manifests notices what it is for: they are broken in one way after another.

Run: scripts/manifests test
"""

import dataclasses
import pathlib
import shutil
import sys
import tempfile

ROOT, SCHEMAS, KUBECTL = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
sys.path.insert(0, str(ROOT / "scripts/lib/manifests"))
import rendering  # noqa: E402
import rules  # noqa: E402
import suite  # noqa: E402
import validation  # noqa: E402
from cluster import Cluster  # noqa: E402

BASE, OVERLAYS = "deploy/kubernetes/base", "deploy/kubernetes/overlays"
# What a checkout has beyond these is not looked at.
PARTS = ("deploy", "Services", "Shared")


@dataclasses.dataclass(frozen=True)
class Break:
    """One text of one file, replaced by another, and what the check has to say about it."""

    file: str
    old: str
    new: str
    check: str
    says: str
    overlay: str = "production"


def base(file, old, new, check, says, **more):
    return Break(f"{BASE}/{file}", old, new, check, says, **more)


def overlay(file, old, new, check, says):
    return Break(f"{OVERLAYS}/{file}", old, new, check, says, file.partition("/")[0])


BREAKS = (
    # kubectl
    base("auth/kustomization.yaml", "  - network.yaml\n", "  - networks.yaml\n", "render", "networks.yaml"),
    base("kustomization.yaml", "  - rabbitmq\n", "  - rabbitmq\n  - nowhere\n", "render", "nowhere"),
    overlay(
        "production/kustomization.yaml",
        "  - name: provider\n    behavior: merge",
        "  - name: supplier\n    behavior: merge",
        "render",
        "supplier",
    ),
    # Schemas
    base(
        "auth/deployment.yaml",
        "terminationGracePeriodSeconds: 45",
        "terminationGracePeriod: 45",
        "schemas",
        "terminationGracePeriod",
    ),
    base("auth/deployment.yaml", "containerPort: 8080", "containerPort: http", "schemas", "'http' is not of type"),
    base(
        "auth/network.yaml", "policyTypes: [Ingress, Egress]", "policyType: [Ingress, Egress]", "schemas", "policyType"
    ),
    base("auth/scaling.yaml", "apiVersion: policy/v1", "apiVersion: policy/v1beta1", "schemas", "Couldn't find schema"),
    base("auth/scaling.yaml", "maxReplicaCount: 6", "maxReplicas: 6", "custom schemas", "maxReplicas"),
    base("auth/scaling.yaml", 'value: "5000"', "value: 5000", "custom schemas", "5000 is not of type"),
    base("auth/secrets.yaml", "kind: ExternalSecret", "kind: ExternalSecrets", "custom schemas", "there is no schema"),
    base("rabbitmq/cluster.yaml", "  tls:\n    secretName", "  tls:\n    secret", "custom schemas", "secret"),
    base("metrics.yaml", "      path: /metrics", "      paths: /metrics", "custom schemas", "paths"),
    overlay(
        "staging/postgres/cluster.yaml",
        "  instances: 3",
        "  instances: three",
        "custom schemas",
        "'three' is not of type",
    ),
    # Services
    base("kustomization.yaml", "  - analytics\n", "", "every_service_is_whole", "analytics has no Deployment"),
    base(
        "console/kustomization.yaml",
        "  - scaling.yaml\n",
        "",
        "every_service_is_whole",
        "console has no PodDisruptionBudget",
    ),
    base(
        "auth/kustomization.yaml",
        "  - migration.yaml\n",
        "",
        "every_service_is_whole",
        "auth has no Job auth-migration",
    ),
    base("auth/kustomization.yaml", "  - network.yaml\n", "", "every_service_is_whole", "auth has no NetworkPolicy"),
    base("redis/redis.yaml", "component: cache", "component: service", "every_service_is_whole", "redis is no service"),
    base(
        "auth/secrets.yaml",
        "    app.kubernetes.io/component: migration",
        "    app.kubernetes.io/component: secrets",
        "every_service_is_whole",
        "left out of a rollout",
    ),
    base("auth/service.yaml", "    app.kubernetes.io/part-of: transfa\n", "", "names_are_one", "no label"),
    overlay("production/kustomization.yaml", "namespace: transfa\n", "", "names_are_one", "is in the namespace None"),
    # Settings
    base(
        "auth/secrets.yaml",
        "    - secretKey: MASTER_KEYS",
        "    - secretKey: MASTER_KEY",
        "settings_are_given",
        "auth is not given MASTER_KEYS",
    ),
    base(
        "auth/secrets.yaml",
        "    - secretKey: MASTER_KEYS",
        "    - secretKey: MASTER_KEY",
        "settings_are_given",
        "auth is given MASTER_KEY, which it does not read",
    ),
    base(
        "auth/secrets.yaml",
        "    - secretKey: OTEL_EXPORTER_OTLP_HEADERS",
        "    - secretKey: PIN_SALT",
        "settings_are_given",
        "not given OTEL_EXPORTER_OTLP_HEADERS",
    ),
    base("kustomization.yaml", "      - PORT=8080\n", "", "settings_are_given", "auth is not given PORT"),
    base(
        "kustomization.yaml",
        "SHUTDOWN_GRACE_SECONDS=20",
        "SHUTDOWN_GRACE_SECONDS=20s",
        "settings_are_given",
        "is not within 1...600",
    ),
    base(
        "kustomization.yaml",
        "TRANSFA_PROFILE=production",
        "TRANSFA_PROFILE=staging",
        "settings_are_given",
        "is not one of",
    ),
    base(
        "kustomization.yaml",
        "CLERK_REQUIRE_AZP=false",
        "CLERK_REQUIRE_AZP=no",
        "settings_are_given",
        "neither true nor",
    ),
    base(
        "kustomization.yaml",
        "      - LOG_LEVEL=info\n",
        "      - LOG_LEVEL=info\n      - INTERNAL_TOKEN=0123456789abcdef\n",
        "settings_are_given",
        "a secret, in the open",
    ),
    base(
        "kustomization.yaml",
        "      - LOG_LEVEL=info\n",
        "      - LOG_LEVEL=info\n      - INTERNAL_TOKEN=0123456789abcdef\n",
        "settings_are_given",
        "INTERNAL_TOKEN twice",
    ),
    base(
        "account/deployment.yaml",
        "            - configMapRef:\n                name: provider\n",
        "",
        "settings_are_given",
        "account is not given ANCHOR_BASE_URL",
    ),
    overlay(
        "production/kustomization.yaml",
        "CLERK_ISSUER=https",
        "CLERK_ISSUER=ftp",
        "settings_are_given",
        "is not a URL of",
    ),
    overlay(
        "production/kustomization.yaml",
        "ANCHOR_POOL_ACCOUNT_ID=17000000000001-anc_acc",
        "ANCHOR_POOL_ACCOUNT_ID=",
        "settings_are_given",
        "an empty ANCHOR_POOL_ACCOUNT_ID",
    ),
    Break(
        "Services/Auth/Configuration.swift",
        '"MASTER_KEYS"',
        '"WRAPPING_KEYS"',
        "settings_are_given",
        "auth is not given WRAPPING_KEYS",
    ),
    Break(
        "Services/Account/AccountService+build.swift",
        "needs: [.database, .broker, .redis, .clerk, .dataKeys, .exports]",
        "needs: [.database, .broker, .redis, .clerk, .exports]",
        "settings_are_given",
        "account is given AUTH_INTERNAL_URL, which",
    ),
    # Migrations
    base(
        "auth/secrets.yaml",
        "    - secretKey: WORKER_DATABASE_URL",
        "    - secretKey: MIGRATION_DATABASE_URL",
        "migrations_are_apart",
        "auth runs with the owner's password",
    ),
    base(
        "auth/migration.yaml",
        "                name: auth-migration",
        "                name: auth",
        "migrations_are_apart",
        "auth-migration is given",
    ),
    base(
        "auth/migration.yaml", "[--migrate-only]", "[--migrate]", "migrations_are_apart", "does not run --migrate-only"
    ),
    base(
        "auth/migration.yaml", "image: transfa/auth", "image: transfa/customer", "migrations_are_apart", "another image"
    ),
    base(
        "auth/migration.yaml",
        "        app.kubernetes.io/component: migration",
        "        app.kubernetes.io/component: service",
        "migrations_are_apart",
        "not labelled",
    ),
    # Ports
    base("kustomization.yaml", "INTERNAL_PORT=9080", "INTERNAL_PORT=9081", "ports_agree", "INTERNAL_PORT=9081"),
    base("kustomization.yaml", "INTERNAL_HOST=0.0.0.0", "INTERNAL_HOST=127.0.0.1", "ports_agree", "no probe reaches"),
    base("auth/service.yaml", "targetPort: internal", "targetPort: http", "ports_agree", "Service auth leads to"),
    base(
        "kustomization.yaml",
        "  - name: keys\n    literals:\n      - AUTH_INTERNAL_URL=http://auth:9080",
        "  - name: keys\n    literals:\n      - AUTH_INTERNAL_URL=http://auth:9090",
        "ports_agree",
        "names auth:9090",
    ),
    base(
        "kustomization.yaml",
        "ACCOUNT_INTERNAL_URL=http://account:9080",
        "ACCOUNT_INTERNAL_URL=http://customer:9080",
        "ports_agree",
        "is not the internal port of account",
    ),
    overlay(
        "sandbox/kustomization.yaml",
        "ANCHOR_BASE_URL=http://sandbox:8080",
        "ANCHOR_BASE_URL=http://anchor:8080",
        "ports_agree",
        "names anchor:8080",
    ),
    # Selectors
    base(
        "auth/service.yaml",
        "  selector:\n    app.kubernetes.io/name: auth\n    app.kubernetes.io/component: service",
        "  selector:\n    app.kubernetes.io/name: auth",
        "selectors_select",
        "Service auth selects Deployment auth, Job auth",
    ),
    base(
        "auth/scaling.yaml",
        "    matchLabels:\n      app.kubernetes.io/name: auth",
        "    matchLabels:\n      app.kubernetes.io/name: author",
        "selectors_select",
        "PodDisruptionBudget auth selects nothing",
    ),
    base(
        "auth/deployment.yaml",
        "              app.kubernetes.io/name: auth",
        "              app.kubernetes.io/name: customer",
        "selectors_select",
        "Deployment auth selects Deployment customer",
    ),
    base(
        "metrics.yaml",
        "    - port: internal",
        "    - port: metrics",
        "selectors_select",
        "which Deployment auth does not have",
    ),
    base(
        "auth/network.yaml",
        "app.kubernetes.io/name: redis",
        "app.kubernetes.io/name: valkey",
        "selectors_select",
        "not there",
    ),
    # References
    base(
        "auth/deployment.yaml",
        "          name: common",
        "          name: commons",
        "references_lead_somewhere",
        "commons",
    ),
    base(
        "auth/deployment.yaml",
        "serviceAccountName: auth",
        "serviceAccountName: author",
        "references_lead_somewhere",
        "no ServiceAccount",
    ),
    base(
        "auth/deployment.yaml",
        "name: rabbitmq-ca",
        "name: rabbit-ca",
        "references_lead_somewhere",
        "rabbit-ca, which nothing",
    ),
    base("auth/deployment.yaml", "- key: ca.crt", "- key: ca.pem", "references_lead_somewhere", "ca.pem of the secret"),
    base(
        "auth/secrets.yaml",
        "    name: secrets",
        "    name: vault",
        "references_lead_somewhere",
        "a store that is not there",
    ),
    base(
        "rabbitmq/cluster.yaml",
        "name: rabbitmq-queues",
        "name: rabbitmq-lengths",
        "references_lead_somewhere",
        "nothing makes",
    ),
    base(
        "metrics.yaml",
        "          key: METRICS_TOKEN",
        "          key: TOKEN",
        "references_lead_somewhere",
        "TOKEN of the secret",
    ),
    overlay(
        "staging/postgres/cluster.yaml",
        "enableSuperuserAccess: true",
        "enableSuperuserAccess: false",
        "references_lead_somewhere",
        "postgres-superuser",
    ),
    # Probes
    base("auth/deployment.yaml", "path: /health/ready", "path: /ready", "probes_ask_what_is_there", "/ready"),
    base(
        "auth/deployment.yaml",
        "              port: internal",
        "              port: http",
        "probes_ask_what_is_there",
        "asks http",
    ),
    Break(
        "Shared/ServiceKit/openapi.yaml",
        "  /health/ready:",
        "  /health/readiness:",
        "probes_ask_what_is_there",
        "not open",
    ),
    base(
        "redis/redis.yaml",
        "          livenessProbe:",
        "          startupProbe:",
        "probes_ask_what_is_there",
        "no livenessProbe",
    ),
    # Stopping
    base(
        "auth/deployment.yaml",
        "terminationGracePeriodSeconds: 45",
        "terminationGracePeriodSeconds: 35",
        "stops_are_long_enough",
        "killed after 35",
    ),
    base(
        "kustomization.yaml",
        "SHUTDOWN_GRACE_SECONDS=20",
        "SHUTDOWN_GRACE_SECONDS=60",
        "stops_are_long_enough",
        "killed after 45",
    ),
    base("auth/deployment.yaml", "seconds: 10\n", "seconds: 1\n", "stops_are_long_enough", "stops listening before"),
    Break(
        "Shared/ServiceKit/Lifecycle/ServiceHost+run.swift",
        "maximumCancellationDuration = .seconds(5)",
        "maximumCancellationDuration = .seconds(30)",
        "stops_are_long_enough",
        "10 + 50 s",
    ),
    # Locked down
    base(
        "auth/deployment.yaml",
        "readOnlyRootFilesystem: true",
        "readOnlyRootFilesystem: false",
        "pods_are_locked_down",
        "can write to its image",
    ),
    base("auth/deployment.yaml", "runAsUser: 10001", "runAsUser: 0", "pods_are_locked_down", "may run as root"),
    base("auth/migration.yaml", "drop: [ALL]", "drop: [NET_RAW]", "pods_are_locked_down", "keeps capabilities"),
    base("auth/deployment.yaml", "              memory: 512Mi\n", "", "pods_are_locked_down", "no limit of memory"),
    base(
        "auth/deployment.yaml",
        "              memory: 512Mi\n",
        "              memory: 64Mi\n",
        "pods_are_locked_down",
        "asks for more memory",
    ),
    base(
        "auth/deployment.yaml",
        "enableServiceLinks: false",
        "enableServiceLinks: true",
        "pods_are_locked_down",
        "nobody asked",
    ),
    base(
        "auth/deployment.yaml",
        "      automountServiceAccountToken: false\n",
        "",
        "pods_are_locked_down",
        "gets a token",
    ),
    base(
        "auth/deployment.yaml",
        "          type: RuntimeDefault",
        "          type: Unconfined",
        "pods_are_locked_down",
        "seccomp",
    ),
    # Images
    overlay(
        "production/kustomization.yaml",
        "transfa/auth\n    newTag: 0.1.0",
        "transfa/auth\n    newTag: latest",
        "images_are_fixed",
        "the image of the day",
    ),
    overlay(
        "production/kustomization.yaml",
        "transfa/auth\n    newTag: 0.1.0",
        "transfa/auth",
        "images_are_fixed",
        "without a tag",
    ),
    base("redis/redis.yaml", "image: redis:7.2.5-bookworm", "image: redis", "images_are_fixed", "without a tag: redis"),
    base(
        "auth/deployment.yaml",
        "image: transfa/auth",
        "image: transfa/customer",
        "images_are_fixed",
        "auth has the image",
    ),
    # Scaling
    base(
        "auth/scaling.yaml",
        "apiVersion: keda.sh/v1alpha1\n",
        "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n"
        "metadata:\n  name: auth\n  labels: {}\nspec:\n  scaleTargetRef:\n    name: auth\n    kind: Deployment\n"
        "  minReplicas: 2\n  maxReplicas: 3\n---\napiVersion: keda.sh/v1alpha1\n",
        "scaling_is_one",
        "or they fight",
    ),
    base("auth/scaling.yaml", "queueName: auth.p0", "queueName: auth", "scaling_is_one", "and the queues are"),
    base("auth/scaling.yaml", "vhostName: transfa", "vhostName: /", "scaling_is_one", "virtual host"),
    base(
        "auth/scaling.yaml",
        "minReplicaCount: 2",
        "minReplicaCount: 1",
        "scaling_is_one",
        "run alone",
        overlay="staging",
    ),
    base("auth/scaling.yaml", "    - type: cpu", "    - type: memory", "scaling_is_one", "no trigger on CPU"),
    base(
        "auth/deployment.yaml",
        "  revisionHistoryLimit: 5",
        "  revisionHistoryLimit: 5\n  replicas: 2",
        "scaling_is_one",
        "which its autoscaler decides",
    ),
    base("auth/scaling.yaml", "        name: rabbitmq", "        name: broker", "scaling_is_one", "no way to log in"),
    Break("Shared/Messaging/Topology.swift", "count: Int = 1)", "count: Int = 2)", "scaling_is_one", "auth.p1"),
    # Network
    base(
        "network.yaml",
        "  podSelector: {}\n  policyTypes: [Ingress, Egress]",
        "  podSelector:\n    matchLabels:\n      app.kubernetes.io/name: auth\n  policyTypes: [Ingress, Egress]",
        "problems",
        "stranger lets Prometheus in",
    ),
    base(
        "account/network.yaml",
        "              app.kubernetes.io/name: auth\n",
        "              app.kubernetes.io/name: customer\n",
        "problems",
        "Deployment account cannot reach port 9080 of Deployment auth",
    ),
    base(
        "auth/network.yaml",
        "              app.kubernetes.io/name: account\n",
        "              app.kubernetes.io/name: redis\n",
        "problems",
        "Deployment account cannot reach port 9080 of Deployment auth",
    ),
    base(
        "transaction/network.yaml",
        "        - port: 5671",
        "        - port: 5671\n        - port: 15672",
        "problems",
        "Deployment transaction may call port 15672 of RabbitmqCluster rabbitmq",
    ),
    base(
        "redis/network.yaml",
        "              app.kubernetes.io/name: auth\n",
        "              app.kubernetes.io/name: console\n",
        "problems",
        "Deployment auth cannot reach port 6379 of Deployment redis",
    ),
    base(
        "console/network.yaml",
        "  egress:\n",
        "  egress:\n    - ports:\n        - port: 443\n",
        "problems",
        "Deployment console may call port 443 of the internet",
    ),
    base(
        "auth/network.yaml",
        "        - port: 443",
        "        - port: 80",
        "problems",
        "cannot reach port 443 of the internet",
    ),
    base(
        "rabbitmq/network.yaml",
        "kubernetes.io/metadata.name: keda",
        "kubernetes.io/metadata.name: elsewhere",
        "problems",
        "KEDA cannot reach port 15672",
    ),
    base(
        "rabbitmq/network.yaml",
        "        - port: 25672",
        "        - port: 25673",
        "problems",
        "RabbitmqCluster rabbitmq cannot reach",
    ),
    base(
        "gateway/network.yaml",
        "    # Everybody.\n    - ports:",
        "    # Everybody.\n    - from:\n        - podSelector: {}\n      ports:",
        "problems",
        "the internet cannot reach port 8443",
    ),
    overlay(
        "production/postgres.yaml",
        "values: [service, migration]",
        "values: [service]",
        "problems",
        "Job auth-migration cannot reach port 5432",
    ),
    overlay(
        "staging/postgres/network.yaml",
        "    # The bucket of its backups.\n    - to:\n        - ipBlock:\n            cidr: 0.0.0.0/0",
        "    # The bucket of its backups.\n    - to:\n        - ipBlock:\n            cidr: 8.8.8.8/32",
        "problems",
        "Cluster postgres cannot reach port 443 of the internet",
    ),
    overlay(
        "staging/postgres/network.yaml",
        "values: [service, migration, roles]",
        "values: [service, migration, roles, cache]",
        "problems",
        "Deployment redis may call port 5432 of Cluster postgres",
    ),
    overlay(
        "sandbox/network.yaml",
        "values: [auth, notification]",
        "values: [auth]",
        "problems",
        "Deployment sandbox cannot reach port 8080 of Deployment notification",
    ),
    # Secrets, broker, environments, gateway
    base(
        "redis/redis.yaml",
        "apiVersion: v1\nkind: ServiceAccount",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: plain\n"
        "stringData:\n  password: x\n---\napiVersion: v1\nkind: ServiceAccount",
        "secrets_stay_outside",
        "Secret plain holds",
    ),
    overlay(
        "production/kustomization.yaml",
        "ANCHOR_BASE_URL=https://",
        "ANCHOR_BASE_URL=https://me:word@",
        "secrets_stay_outside",
        "a password in ANCHOR_BASE_URL",
    ),
    base("rabbitmq/cluster.yaml", "replicas: 3", "replicas: 2", "the_broker_is_a_cluster", "has 2 nodes"),
    base("rabbitmq/cluster.yaml", "pause_minority", "autoheal", "the_broker_is_a_cluster", "lets a node answer"),
    overlay(
        "production/kustomization.yaml",
        "https://api.getanchor.co",
        "https://api.sandbox.getanchor.co",
        "environments_are_apart",
        "runs in production with ANCHOR_BASE_URL",
    ),
    overlay(
        "production/kustomization.yaml",
        "PUBLIC_LINK_URL=https://",
        "PUBLIC_LINK_URL=https://staging.",
        "environments_are_apart",
        "runs in production with PUBLIC_LINK_URL",
    ),
    overlay(
        "staging/postgres/roles.yaml",
        "value: auth customer account",
        "value: auth customer",
        "environments_are_apart",
        "makes the databases of",
    ),
    base("metrics.yaml", "replacement: transfa", "replacement: suite", "metrics_have_their_names", "the job transfa"),
    base("metrics.yaml", "targetLabel: service", "targetLabel: app", "metrics_have_their_names", "with the service"),
    base(
        "metrics.yaml",
        "replacement: rabbitmq-queues",
        "replacement: queues",
        "metrics_have_their_names",
        "the job rabbitmq-queues",
    ),
    base(
        "kustomization.yaml",
        "TRANSACTION_ADDRESS=transaction:8080",
        "TRANSACTION_ADDRESS=account:8080",
        "the_gateway_knows_its_way",
        "looks for transaction",
    ),
    base(
        "kustomization.yaml",
        "GATEWAY_HTTPS_BIND=:8443",
        "GATEWAY_HTTPS_BIND=:443",
        "the_gateway_knows_its_way",
        "listens on",
    ),
    base(
        "kustomization.yaml",
        "GATEWAY_HTTPS_BIND=:8443",
        "GATEWAY_PLAIN_BIND=:8081\n      - GATEWAY_HTTPS_BIND=:8443",
        "the_gateway_knows_its_way",
        "speaks TLS",
    ),
    base(
        "kustomization.yaml",
        "GATEWAY_TLS_CERTIFICATE=",
        "GATEWAY_CERTIFICATE=",
        "the_gateway_knows_its_way",
        "not given GATEWAY_TLS_CERTIFICATE",
    ),
)


# What is not in every checkout.
NEEDS = {"not given GATEWAY_TLS_CERTIFICATE": suite.GATEWAY, "the job rabbitmq-queues": suite.PROMETHEUS}


def problems_of(root, overlay_name):
    """Name of the check -> what it says, of one overlay of a checkout."""
    try:
        objects = rendering.render(KUBECTL, root / OVERLAYS / overlay_name)
    except rendering.Unrenderable as error:
        return {"render": [str(error)]}
    found = {"render": [], "schemas": [], "custom schemas": []}
    for item in objects:
        if validation.is_built_in(item):
            found["schemas"] += validation.built_in_problems(item, validation.OLDEST)
        elif SCHEMAS.is_dir():
            found["custom schemas"] += validation.custom_problems(item, SCHEMAS)
    code, cluster = suite.Suite(root), Cluster(overlay_name, objects)
    for rule, _ in rules.RULES:
        found[rule.__name__] = rules.apply(rule, code, cluster)
    return found


def outcome(root, one):
    """Why the break was not noticed, or None."""
    file = root / one.file
    text = file.read_text()
    if one.old not in text:
        return f"{one.file} does not have {one.old!r}: the break has to follow it"
    try:
        file.write_text(text.replace(one.old, one.new, 1))
        said = problems_of(root, one.overlay).get(one.check, [])
    finally:
        file.write_text(text)
    if not any(one.says in problem for problem in said):
        return f"the check {one.check} said {said[:3] or 'nothing'} and not {one.says!r}"
    return None


def copy(root):
    for part in PARTS:
        shutil.copytree(
            ROOT / part,
            root / part,
            symlinks=True,
            ignore=shutil.ignore_patterns("*.sql") if part == "Services" else None,
        )


def main():
    passed = failed = 0

    def count(title, problem):
        nonlocal passed, failed
        print(f"{'FAILED' if problem else 'ok    '}  {title}", flush=True)
        if problem:
            print(f"            {problem}")
        passed, failed = passed + (not problem), failed + bool(problem)

    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        copy(root)
        for name in ("production", "sandbox", "staging"):
            said = [problem for problems in problems_of(root, name).values() for problem in problems]
            count(f"{name}, unbroken: no check says anything", "; ".join(said[:3]))
        for one in BREAKS:
            title = f"{one.check}: {one.says} ({one.file.removeprefix('deploy/kubernetes/')}, {one.overlay})"
            if one.check == "custom schemas" and not SCHEMAS.is_dir():
                print(f"skipped {title}: there is no folder {SCHEMAS}")
            elif not (ROOT / NEEDS.get(one.says, "")).exists():
                print(f"skipped {title}: there is no {NEEDS[one.says]}")
            else:
                count(title, outcome(root, one))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
