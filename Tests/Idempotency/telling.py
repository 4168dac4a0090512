"""Makers of orders about messages, plans and categories; and of all orders, by the name of their operation."""

import random

from identity import ProfileMakers
from money import MoneyMakers
from operations import with_key
from orders import Order
from people import PLAN
from supplies import Ripening, Turns, data

TOKENS = 8
CATEGORIES = ("groceries", "transport", "housing", "health")
MUTED = ("account", "requests", "drops", "subscription")


class TellingMakers:
    def begin_telling(self):
        people = self.people
        self.reading, self.skimming = people.readers[0], Turns([{"person": people.readers[1], "position": 0}])
        self.unread, self.seen = [], 0
        self.wishes = Turns({"person": person} for person in people.setters)
        self.pushed = Turns({"person": person, "tokens": []} for person in people.setters)
        self.plans = Turns({"person": person, "state": "free"} for person in people.subscribers)
        self.ripening.kind("plan", "subscription", "SELECT user_id FROM subscriptions WHERE user_id::text = ANY (%s)"
                           " AND plan <> 'free' AND pending_charge IS NULL")

    # notification

    def setPreferences(self, operation):
        item = self.wishes.take()
        if item is None:
            return None
        heard = {name: self.chance.random() < 0.5 for name in MUTED}

        def then(answer):
            if answer.is_good:
                item["last"] = sorted(f"{name}.push" for name, is_heard in heard.items() if not is_heard)
            self.wishes.give(item)

        body = data({"categories": {name: {"push": is_heard} for name, is_heard in heard.items()}})
        return Order(operation, item["person"], body=body, then=then)

    def markNotificationRead(self, operation):
        if not self.unread:
            found = self.world.rows(
                "notification", "SELECT id::text, position FROM notifications WHERE user_id = %s AND position > %s"
                " AND read_at IS NULL ORDER BY position LIMIT 100", self.reading.id, self.seen)
            self.unread = [row[0] for row in found]
            self.seen = max([self.seen, *(row[1] for row in found)])
        if not self.unread:
            return None
        return Order(operation, self.reading, operation.path.format(id=self.unread.pop(0)))

    def markAllNotificationsRead(self, operation):
        item = self.skimming.take()
        if item is None:
            return None
        newest = self.world.rows("notification", "SELECT id::text, position FROM notifications WHERE user_id = %s"
                                 " AND position IS NOT NULL ORDER BY position DESC LIMIT 1", item["person"].id)
        if not newest:
            self.skimming.give(item)
            return None

        def then(answer):
            if answer.is_good:
                item["position"] = newest[0][1]
            self.skimming.give(item)

        return Order(operation, item["person"], body=data({"up_to": newest[0][0]}), then=then)

    def registerPushToken(self, operation):
        item = self.pushed.take(lambda one: len(one["tokens"]) < TOKENS)
        if item is None:
            return None

        def then(answer):
            if answer.is_good:
                item["tokens"].append(answer.json()["id"])
            self.pushed.give(item)

        # Not `dead` or `bad0`, which the sandbox's push service refuses.
        token = f"ca{self.chance.randrange(16**62):062x}"
        return Order(operation, item["person"], body=data({"token": token}), then=then)

    def removePushToken(self, operation):
        item = self.pushed.take(lambda one: one["tokens"])
        if item is None:
            return None
        path = operation.path.format(id=item["tokens"].pop(0))
        return Order(operation, item["person"], path, effects=-1, then=lambda _: self.pushed.give(item))

    # subscription

    def subscribe(self, operation):
        item = self.plans.take(lambda one: one["state"] in ("free", "cancelled"))
        if item is None:
            return None
        person = item["person"]

        def then(answer):
            if not answer.is_good:
                self.plans.give(item)
                return
            item["state"] = "active"
            self.ripening.add("plan", person.id, lambda: self.plans.give(item))

        return Order(operation, person, body=data({"plan": PLAN}), then=then)

    def cancelSubscription(self, operation):
        item = self.plans.take(lambda one: one["state"] == "active")
        if item is None:
            return None

        def then(answer):
            if answer.is_good:
                item["state"] = "cancelled"
            self.plans.give(item)

        return Order(operation, item["person"], then=then)

    # analytics

    def setCategory(self, operation):
        item = self.to_categorise.take(lambda one: one["chosen"] is None)
        return item and self.category_order(operation, item, self.chance.choice(CATEGORIES))

    def resetCategory(self, operation):
        item = self.to_categorise.take(lambda one: one["chosen"])
        return item and self.category_order(operation, item, None)

    def category_order(self, operation, item, category):
        def then(answer):
            if answer.is_good:
                item["chosen"] = category
            self.to_categorise.give(item)

        body = data({"category": category}) if category else b""
        return Order(operation, item["person"], operation.path.format(id=item["id"]), body, 1 if category else -1, then=then)

    def final_telling(self):
        for item in self.wishes.all:
            if "last" in item:
                yield ("wishes", "notification", "SELECT muted::text[] FROM inboxes WHERE user_id = %s", (item["person"].id,),
                       [(item["last"],)])
        for item in self.skimming.all:
            yield ("messages that were read together", "notification", "SELECT coalesce(max(read_up_to), 0) FROM inboxes"
                   " WHERE user_id = %s", (item["person"].id,), [(item["position"],)])
        for item in self.to_categorise.all:
            yield ("categories", "analytics", "SELECT category FROM chosen_categories WHERE transaction_id = %s AND"
                   " user_id = %s", (item["id"], item["person"].id), [(item["chosen"],)] if item["chosen"] else [])


class Makers(MoneyMakers, ProfileMakers, TellingMakers):
    """A method for each operation; with the same seed they choose the same."""

    def __init__(self, world, people, root, seed):
        self.world, self.people, self.chance = world, people, random.Random(seed)
        self.operations = with_key(root)
        self.ripening = Ripening(world)
        self.begin_money()
        self.begin_profile()
        self.begin_telling()

    def make(self, name):
        """An order of this operation, or of the one that makes what it lacks; None when neither can be had now."""
        seen = set()
        while name in self.operations and name not in seen:
            order = getattr(self, name)(self.operations[name])
            if order:
                return order
            seen.add(name)
            name = self.operations[name].known.after
        return None

    def final(self):
        """(title, service, SQL, values, rows that are wanted) of what orders say last."""
        yield from self.final_money()
        yield from self.final_profile()
        yield from self.final_telling()
