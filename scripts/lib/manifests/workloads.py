"""What must hold of every pod: what is asked of it, how it stops, what it may do, which image it has."""

import re

from cluster import title


def service_pods(suite, cluster):
    """Each service that has a Deployment, its container, and its pods."""
    for service in suite.services:
        pods = next((pods for pods in cluster.pods if pods.owner == f"Deployment {service}"), None)
        if pods:
            yield service, pods.containers[0], pods


def probes_ask_what_is_there(suite, cluster):
    for service, container, pods in service_pods(suite, cluster):
        for probe, path in (
            ("startupProbe", "/health/live"),
            ("livenessProbe", "/health/live"),
            ("readinessProbe", "/health/ready"),
        ):
            asked = container.get(probe, {}).get("httpGet", {})
            if asked.get("port") != "internal" or asked.get("path") != path:
                yield f"{service}: its {probe} asks {asked.get('port')} for {asked.get('path')}, not for {path}"
            if asked.get("path") not in suite.open_paths:
                yield f"{service}: its {probe} asks for {asked.get('path')}, which is not open on the internal port"
    for pods in cluster.pods:
        if pods.spec and pods.labels.get("app.kubernetes.io/component") not in ("migration", "roles"):
            for container in pods.containers:
                yield from (
                    f"{pods.owner} has no {probe}"
                    for probe in ("readinessProbe", "livenessProbe")
                    if probe not in container
                )


def stops_are_long_enough(suite, cluster):
    for service, container, pods in service_pods(suite, cluster):
        grace = int(cluster.values(container).get("SHUTDOWN_GRACE_SECONDS", "0"))
        yield from _stop(service, pods, container, grace + suite.cancellation_seconds)
    for pods in cluster.pods:
        if pods.owner == "Deployment gateway":
            given = cluster.values(pods.containers[0])
            yield from _stop("gateway", pods, pods.containers[0], int(given.get("GATEWAY_STOP_SECONDS", "60")))


def _stop(name, pods, container, needed):
    pause = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    if pause < 5:
        yield f"{name} stops listening before others know that it is going"
    limit = pods.spec.get("terminationGracePeriodSeconds", 30)
    if limit <= pause + needed:
        yield f"{name} may take {pause} + {needed} s to stop and is killed after {limit}"


def pods_are_locked_down(suite, cluster):
    for pods in cluster.pods:
        if not pods.spec:
            continue
        security = pods.spec.get("securityContext", {})
        if security.get("runAsNonRoot") is not True or not security.get("runAsUser"):
            yield f"{pods.owner} may run as root"
        if security.get("seccompProfile", {}).get("type") != "RuntimeDefault":
            yield f"{pods.owner} has no seccomp profile"
        if pods.spec.get("automountServiceAccountToken") is not False:
            yield f"{pods.owner} gets a token for the API server"
        if pods.spec.get("enableServiceLinks") is not False:
            yield f"{pods.owner} gets variables that nobody asked for"
        yield from (f"{pods.owner} has {name}" for name in ("hostNetwork", "hostPID", "hostIPC") if pods.spec.get(name))
        yield from (
            f"{pods.owner} mounts a folder of its node" for one in pods.spec.get("volumes", []) if "hostPath" in one
        )
        for container in pods.containers:
            yield from _container_is_locked_down(pods.owner, container)


def _container_is_locked_down(owner, container):
    security = container.get("securityContext", {})
    if security.get("readOnlyRootFilesystem") is not True:
        yield f"{owner} can write to its image"
    if security.get("allowPrivilegeEscalation") is not False or security.get("privileged"):
        yield f"{owner} may gain rights"
    if security.get("capabilities") != {"drop": ["ALL"]}:
        yield f"{owner} keeps capabilities"
    resources = container.get("resources", {})
    for name in ("cpu", "memory"):
        request, limit = (quantity(resources.get(side, {}).get(name)) for side in ("requests", "limits"))
        if not request or not limit:
            yield f"{owner} has no request or no limit of {name}"
        elif request > limit:
            yield f"{owner} asks for more {name} than it may have"


def quantity(text):
    """Such as 250m, 2, 128Mi; None when there is none."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(m|Ki|Mi|Gi)?", str(text or ""))
    factors = {None: 1, "m": 0.001, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}
    return float(match.group(1)) * factors[match.group(2)] if match else None


def images_are_fixed(suite, cluster):
    images = [(pods.owner, container["image"]) for pods in cluster.pods if pods.spec for container in pods.containers]
    images += [(title(item), item["spec"].get("image", "")) for item in cluster.of("RabbitmqCluster")]
    images += [(title(item), item["spec"].get("imageName", "")) for item in cluster.of("Cluster")]
    for owner, image in images:
        tag = re.search(r":([\w.-]+)$", image)
        if not tag and "@sha256:" not in image:
            yield f"{owner} has an image without a tag: {image}"
        elif tag and tag.group(1) == "latest":
            yield f"{owner} has the image of the day: {image}"
    for service, container, _ in service_pods(suite, cluster):
        if not re.search(rf"(^|/)transfa/{service}[:@]", container["image"]):
            yield f"{service} has the image {container['image']}"
