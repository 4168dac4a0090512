"""The operations that take a key, from the description, and what is known of each here.

A new operation with a key needs a line in TABLE and a method of its name in `Makers`; without them every run fails.
"""

import dataclasses
import pathlib

import yaml

METHODS = ("get", "post", "put", "patch", "delete")


@dataclasses.dataclass(frozen=True)
class Known:
    """What is counted after it (names of effects.py), how often it is chosen, and what it needs first."""

    effects: tuple = ()
    weight: float = 2
    # Which operation makes the things that it uses up.
    after: str = ""
    # Whether the description promises 202 first and another answer later.
    goes_on: bool = False


TABLE = {
    # transaction
    "payUser": Known(("payments", "approvals"), 8),
    "withdraw": Known(("withdrawals", "approvals"), 3),
    "createMoneyDrop": Known(("drops", "approvals"), 2),
    "claimMoneyDrop": Known(("claims",), 3, after="createMoneyDrop"),
    "endMoneyDrop": Known(("ended drops",), 1, after="createMoneyDrop"),
    "createPaymentRequest": Known(("requests",), 3),
    "cancelPaymentRequest": Known(("cancelled requests",), 2, after="createPaymentRequest"),
    "declinePaymentRequest": Known(("declined requests",), 1, after="createPaymentRequest"),
    "payPaymentRequest": Known(("paid requests", "approvals"), 3, after="createPaymentRequest"),
    "setPaymentRequestImage": Known(("replaced request images",), 1, after="createPaymentRequest"),
    "removePaymentRequestImage": Known(("replaced request images",), 1, after="setPaymentRequestImage"),
    "reportProblem": Known(("disputes",), 1, after="payUser"),
    "setLimits": Known(("approvals",), 2),
    # auth
    "signUp": Known(("users",), 1.5),
    "provideDetails": Known(("details",), 1),
    "registerDevice": Known(("devices",), 1),
    "revokeDevice": Known(("revoked devices",), 1, after="registerDevice"),
    "setPIN": Known(("changed PINs",), 1),
    "resetPIN": Known(("reset PINs",), 1),
    # An approval token is stored nowhere: that the answers are one is all that can be seen.
    "issueApproval": Known((), 1),
    # customer
    "addBeneficiary": Known(("bank accounts",), 1.5, goes_on=True),
    "removeBeneficiary": Known(("removed bank accounts",), 1, after="addBeneficiary"),
    "chooseDefaultBeneficiary": Known(("chosen bank accounts",), 1),
    "enquireName": Known(("enquiries",), 1, goes_on=True),
    "handInDocument": Known(("documents",), 1, after="signUp", goes_on=True),
    "setProfileImage": Known(("replaced profile images",), 1),
    "removeProfileImage": Known(("replaced profile images",), 1, after="setProfileImage"),
    "changeSettings": Known(("settings",), 2),
    "blockUser": Known(("blocks",), 1, after="unblockUser"),
    "unblockUser": Known(("blocks",), 1, after="blockUser"),
    # notification
    # What a person wants to hear is compared with what was said last, as are all `final` states.
    "setPreferences": Known((), 2),
    "markNotificationRead": Known(("read messages",), 2, after="payUser"),
    "markAllNotificationsRead": Known((), 1, after="payUser"),
    "registerPushToken": Known(("push tokens",), 2),
    "removePushToken": Known(("push tokens",), 1, after="registerPushToken"),
    # subscription
    "subscribe": Known(("plan orders",), 1, after="cancelSubscription"),
    "cancelSubscription": Known(("cancelled plans",), 1, after="subscribe"),
    # analytics
    "setCategory": Known(("categories",), 2, after="payUser"),
    "resetCategory": Known(("categories",), 1, after="setCategory"),
}


@dataclasses.dataclass(frozen=True)
class Operation:
    name: str
    service: str
    method: str
    path: str
    is_approved: bool
    known: Known

    @property
    def goes_on(self):
        return self.known.goes_on


def with_key(root):
    """All operations of the description that take a key, by name."""
    document = yaml.load((pathlib.Path(root) / "deploy/gateway/openapi.yaml").read_text(), Loader=yaml.CSafeLoader)
    found = {}
    for path, item in document["paths"].items():
        for method in METHODS:
            if method not in item:
                continue
            operation = item[method]
            listed = [resolved(document, p) for p in (*item.get("parameters", ()), *operation.get("parameters", ()))]
            headers = {parameter["name"] for parameter in listed if parameter["in"] == "header"}
            if "Idempotency-Key" in headers:
                name = operation["operationId"]
                found[name] = Operation(name, operation["tags"][0], method.upper(), path, "Transfa-Approval" in headers,
                                        TABLE.get(name, Known()))
    return found


def resolved(document, node):
    while "$ref" in node:
        place = document
        for part in node["$ref"].removeprefix("#/").split("/"):
            place = place[part.replace("~1", "/").replace("~0", "~")]
        node = place
    return node


def unknown(operations, makers):
    """The operations that nobody here can call."""
    return sorted(name for name in operations if name not in TABLE or not hasattr(makers, name))
