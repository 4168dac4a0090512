"""What happens to the broker and to Postgres, and how it is mended."""

import dataclasses
import time

from suite import eventually
from suite_on_cluster import NODES


class Fault:
    """`strike` returns the moment it began; the load goes on for `seconds`; then `mend`."""

    title = ""
    seconds = 20
    limit = None
    # What the figures should be read with: who led what.
    shown = ""

    def strike(self, suite):
        raise NotImplementedError

    def mend(self, suite):
        """Leaves things as they were before."""

    # The title of its own check, if it has one.
    check = None

    def look(self, results, payments):
        """Checks the payments that were asked for during it."""


def await_whole(suite):
    """Until every queue has its three members again: the next node must not be the second that is missing."""
    eventually("every queue to have three members", lambda: not suite.incomplete_queues(), 300, 1)


class KilledNode(Fault):
    def __init__(self, node, limit):
        self.node, self.limit = node, limit
        self.title = f"node {node} of the broker is killed"

    def strike(self, suite):
        await_whole(suite)
        self.shown = f"it led {suite.leaders()[self.node]} of {len(suite.queues())} queues"
        return suite.act("broker-cluster", "kill", self.node)

    def mend(self, suite):
        suite.act("broker-cluster", "start-node", self.node)
        await_whole(suite)


class CutOffLeader(Fault):
    """The node that leads most is cut off from the others; clients still reach it, and it does not know at first."""

    title = "the leader is cut off from the other nodes"
    check = f"{title}: payments are accepted throughout"

    def __init__(self, limit):
        self.limit = limit
        self.seconds = limit + 30

    def strike(self, suite):
        await_whole(suite)
        leaders = suite.leaders()
        self.node = max(NODES, key=leaders.get)
        self.shown = f"node {self.node}, which led {leaders[self.node]} of {len(suite.queues())} queues"
        return suite.act("broker-cluster", "partition", self.node)

    def mend(self, suite):
        suite.act("broker-cluster", "heal", self.node)
        await_whole(suite)

    def look(self, results, payments):
        refused = [payment for payment in payments if payment.status != 202]
        results.check(self.check, not refused, f"{len(refused)} of {len(payments)} were not" if refused else "")


class LostPrimary(Fault):
    """transaction's primary is killed, the standby is promoted, the old primary comes back as the standby."""

    title = "transaction's Postgres is killed and its standby promoted"
    check = f"{title}: payments are accepted again"
    seconds = 30

    def strike(self, suite):
        began = suite.act("postgres-replica", "kill")
        suite.act("postgres-replica", "promote")
        self.promoted = time.time()
        self.shown = f"promoted {self.promoted - began:.1f} s after the kill"
        return began

    def mend(self, suite):
        suite.act("postgres-replica", "rejoin")

    def look(self, results, payments):
        asked = [payment.asked_at - self.promoted for payment in payments if payment.status == 202]
        after = min((seconds for seconds in asked if seconds > 0), default=None)
        shown = "never" if after is None else f"the first was asked for {after:.1f} s after the promotion"
        results.check(self.check, after is not None, shown)


class FrozenStandby(Fault):
    """Commits wait for a standby that says nothing; then the primary is killed, and what was answered must be there."""

    title = "transaction's standby hangs, and then the primary is killed"
    check = f"{title}: nothing is acknowledged that only one server has"
    seconds = 20
    frozen = 15

    def strike(self, suite):
        began = suite.act("postgres-replica", "pause")
        self.frozen_at = time.time()
        time.sleep(self.frozen)
        suite.act("postgres-replica", "kill")
        self.killed_at = time.time()
        suite.act("postgres-replica", "resume")
        suite.act("postgres-replica", "promote")
        self.shown = f"it hung for {self.frozen} s"
        return began

    def mend(self, suite):
        suite.act("postgres-replica", "rejoin")

    def look(self, results, payments):
        # Half a second: what was under way when the standby froze may still have had its confirmation.
        early = [
            payment for payment in payments
            if payment.status == 202 and payment.asked_at > self.frozen_at + 0.5
            and payment.answered_at < self.killed_at
        ]
        shown = f"{len(early)} payments were acknowledged while the standby hung" if early else ""
        results.check(self.check, not early, shown)


def examples(payment):
    """Each fault that has a check of its own, with payments that it must not be content with."""
    cut_off, lost, frozen = CutOffLeader(0), LostPrimary(), FrozenStandby()
    lost.promoted = payment.asked_at + 1
    frozen.frozen_at, frozen.killed_at = payment.asked_at - 1, payment.answered_at + 1
    return (cut_off, [dataclasses.replace(payment, status=503)]), (lost, [payment]), (frozen, [payment])


NAMES = ("nodes", "partition", "postgres", "standby")


def chosen(names, kill_limit, partition_limit):
    made = {
        "nodes": [KilledNode(node, kill_limit) for node in NODES],
        "partition": [CutOffLeader(partition_limit)],
        "postgres": [LostPrimary()],
        "standby": [FrozenStandby()],
    }
    for name in names:
        if name not in made:
            raise SystemExit(f"there is no part {name}; there are {', '.join(NAMES)}")
    return [fault for name in NAMES if name in names for fault in made[name]]
