"""The objects of one overlay, and what a cluster would make of them: pods, settings, secrets."""

import dataclasses
import functools

WORKLOADS = ("Deployment", "Job", "StatefulSet", "DaemonSet")


def name_of(item):
    return item["metadata"]["name"]


def title(item):
    return f"{item['kind']} {name_of(item)}"


def selects(selector, labels):
    """Whether a LabelSelector takes these labels; an empty one takes all."""
    for name, value in (selector.get("matchLabels") or {}).items():
        if labels.get(name) != value:
            return False
    for rule in selector.get("matchExpressions") or []:
        value, operator = labels.get(rule["key"]), rule["operator"]
        good = {
            "In": lambda: value in rule["values"],
            "NotIn": lambda: value not in rule["values"],
            "Exists": lambda: value is not None,
            "DoesNotExist": lambda: value is None,
        }[operator]()
        if not good:
            return False
    return True


@dataclasses.dataclass(frozen=True)
class Pods:
    """The pods that one object brings about: one kind of them, however many."""

    owner: str
    labels: dict
    # Name -> number.
    ports: dict
    # What the object says of them; None for those that an operator makes.
    spec: dict | None
    namespace: str | None = None
    address: str | None = None

    @property
    def is_inside(self):
        """Whether it is in our namespace, where our policies count."""
        return self.namespace is None and self.address is None

    @property
    def containers(self):
        return [*self.spec.get("initContainers", []), *self.spec["containers"]]


class Cluster:
    def __init__(self, overlay, objects):
        self.overlay = overlay
        self.objects = objects

    def of(self, *kinds):
        return [item for item in self.objects if item["kind"] in kinds]

    def get(self, kind, name):
        return next((item for item in self.of(kind) if name_of(item) == name), None)

    @functools.cached_property
    def pods(self):
        """Ours, then those of operators."""
        own = []
        for item in self.of(*WORKLOADS):
            template = item["spec"]["template"]
            ports = {
                port.get("name", str(port["containerPort"])): port["containerPort"]
                for container in template["spec"]["containers"]
                for port in container.get("ports", [])
            }
            own.append(Pods(title(item), template["metadata"]["labels"], ports, template["spec"]))
        return own + [*self._rabbitmq(), *self._postgres()]

    def _rabbitmq(self):
        for item in self.of("RabbitmqCluster"):
            labels = {
                "app.kubernetes.io/name": name_of(item),
                "app.kubernetes.io/component": "rabbitmq",
                "app.kubernetes.io/part-of": "rabbitmq",
            }
            ports = {
                "amqp": 5672,
                "amqps": 5671,
                "management": 15672,
                "prometheus": 15692,
                "epmd": 4369,
                "distribution": 25672,
            }
            yield Pods(title(item), labels, ports, None)

    def _postgres(self):
        for item in self.of("Cluster"):
            ports = {"postgresql": 5432, "status": 8000, "metrics": 9187}
            yield Pods(title(item), {"cnpg.io/cluster": name_of(item)}, ports, None)

    def selected(self, selector):
        return [pods for pods in self.pods if selects(selector, pods.labels)]

    @functools.cached_property
    def secrets(self):
        """Name -> its keys, or None when only the secret store knows them."""
        found = {}
        for item in self.of("ExternalSecret"):
            target = item["spec"].get("target", {})
            keys = {row["secretKey"] for row in item["spec"].get("data", [])}
            if target.get("template", {}).get("data"):
                keys = set(target["template"]["data"])
            found[target.get("name", name_of(item))] = None if item["spec"].get("dataFrom") else keys
        for item in self.of("Cluster"):
            found[f"{name_of(item)}-ca"] = {"ca.crt", "ca.key"}
            if item["spec"].get("enableSuperuserAccess"):
                found[f"{name_of(item)}-superuser"] = {"username", "password"}
        return found

    def environment(self, container):
        """Every variable of a container and where it is from: (name, value or None, source), in the order of reading.

        What comes from a secret has no value; a secret whose keys are not known is left out.
        """
        for source in container.get("envFrom", []):
            if "configMapRef" in source:
                item = self.get("ConfigMap", source["configMapRef"]["name"])
                yield from ((name, value, "ConfigMap") for name, value in ((item or {}).get("data") or {}).items())
            else:
                keys = self.secrets.get(source["secretRef"]["name"]) or ()
                yield from ((name, None, "Secret") for name in sorted(keys))
        for row in container.get("env", []):
            yield row["name"], row.get("value"), (
                "Secret" if "secretKeyRef" in row.get("valueFrom", {}) else "Deployment"
            )

    def values(self, container):
        return {name: value for name, value, _ in self.environment(container)}

    @functools.cached_property
    def service_addresses(self):
        """Name of a Service -> {port: number that pods listen on}."""
        found = {}
        for item in self.of("Service"):
            pods = self.selected({"matchLabels": item["spec"].get("selector", {})})
            found[name_of(item)] = {
                port["port"]: pods[0].ports.get(port["targetPort"], port["targetPort"]) if pods else None
                for port in item["spec"]["ports"]
            }
        for item in self.of("RabbitmqCluster"):
            found[name_of(item)] = {5671: 5671, 5672: 5672, 15672: 15672}
        for item in self.of("Cluster"):
            found[f"{name_of(item)}-rw"] = {5432: 5432}
        return found
