"""The rules of the ledger as one would explain them: one thing after the other, plain dictionaries, no database.

The differential test replays everything the database did on this model and compares every answer and every row. A rule
that is wrong in both places would have to be wrong in two different languages in the same way.
"""
import datetime as dt

import ledger as L

LAGOS = dt.timezone(dt.timedelta(hours=1))
OPEN = ("accepted", "submitted", "unknown")
SYSTEM = dict(provider_clearing=16, fees=32, stamp_duty=48, receivable=80, suspense=96)
# Refusals that pass by themselves: nothing is kept, the approval is good for another try. Those that never end otherwise.
PASSING, LASTING = ("sender_unknown", "recipient_not_ready"), ("amount_invalid", "recipient_self")
FIRST = dt.date(2000, 1, 1)


def system(kind, id):
    return SYSTEM[kind] + (id.bytes[15] & 15)


class Model:
    def __init__(self, users, limits, fees, minimums, slot_minimum, room):
        self.users = {u["id"]: u for u in users}
        self.names = {u["username"]: u for u in users}
        self.accounts = {u["account"]: u for u in users if u["account"]}
        self.limits, self.fees, self.minimums, self.slot_minimum, self.room = limits, fees, minimums, slot_minimum, room
        self.balances = {}                                      # account: posted, held, entries, debits blocked, owed
        self.spending = {u["id"]: [FIRST, 0, FIRST, 0] for u in users}
        self.receiving = {u["id"]: [FIRST, 0, 0, 0] for u in users}     # month, slots, events, incoming
        self.first_day = {d: 0 for u in users for d in u["devices"]}
        self.keys, self.nonces, self.transfers, self.entries, self.outbox = {}, set(), {}, [], []
        self.payments, self.breaks = {}, set()
        self.full = {}                                          # sender, recipient: day, times that something did not fit

    # Acceptance

    def place(self, batch, now):
        answers = []
        for q in batch:
            if q["sender"] not in self.users:
                answers.append(refused("sender_unknown"))
                continue
            key = (q["sender"], q["route"], q["key"])
            known = self.keys.get(key)
            if known and known[0] != q["hash"]:
                answers.append(refused("idempotency_key_reused"))
            elif known and (known[1] in ("accepted", *LASTING) or known[2] == q["nonce"]):
                answers.append(L.Placed("idempotent_replay", known[3], None, known[1], None, None))
            else:
                answer = self.decide(q, now)
                if answer.code not in PASSING:
                    self.nonces.add((q["sender"], q["nonce"]))
                    if answer.code != "approval_used":          # that is about another order
                        self.keys[key] = (q["hash"], answer.code, q["nonce"], answer.id)
                answers.append(answer)
        return answers

    def decide(self, q, now):
        sender = self.users[q["sender"]]
        balance = self.balances[sender["wallet"]]
        used = (q["sender"], q["nonce"]) in self.nonces
        if sender["status"] != "active" or sender["debits_blocked"] or balance[3]: return refused("sender_restricted")
        if not sender["sending_allowed"]: return refused("receive_only")
        if used: return refused("approval_used")
        device = q["device"]
        if device and device not in sender["devices"]: return refused("device_unknown")
        if device and sender["devices"][device]["revoked"]: return refused("device_revoked")
        amount = q["amount"]
        if amount <= 0: return refused("amount_invalid")
        to = self.names.get(q["recipient"])
        if to is None: return refused("recipient_unknown")
        if to is sender: return refused("recipient_self")
        if to["status"] != "active" or to["credits_blocked"]: return refused("recipient_unavailable")
        if not to["account"]: return refused("recipient_not_ready")

        day = now.astimezone(LAGOS).date()
        month = day.replace(day=1)
        spent = self.spending[q["sender"]]
        today = [day, 0] if spent[0] < day else spent[0:2]
        this_month = [month, 0] if spent[2] < month else spent[2:4]
        for name, limit, so_far in zip(("transfer", "day", "month"), self.limits[sender["tier"]], (0, today[1], this_month[1])):
            own = sender["limits"].get(name)
            if amount + so_far > min(limit, limit if own is None else own): return refused("limit_per_" + name)
        capped = self.capped_device(sender, device, now)
        if capped and amount + self.first_day[capped] > 20000: return refused("limit_new_device")

        slots = self.receiving[to["id"]]
        taken = 0 if slots[0] < month else slots[1]
        bank = to["bank"]
        if to["preference"] == "wallet": reason = "prefers_wallet"
        elif to["kyc"] != "approved": reason = "not_verified"
        elif not bank or not bank["verified"] or bank["deleted"]: reason = "no_beneficiary"
        elif amount < self.minimum(now): reason = "below_minimum"
        elif to["active_until"] and to["active_until"] > now: reason = "plan"
        elif amount < self.slot_minimum: reason = "below_minimum"
        elif taken < 5: reason = "free_slot"
        else: reason = "no_slot"
        route = "external" if reason in ("plan", "free_slot") else "internal"
        fee, duty = self.fee(route, amount)
        ceiling = self.limits[to["tier"]][3]
        counted = route == "internal" and ceiling is not None
        if amount + fee + duty > balance[0] - balance[1]: return refused("insufficient_funds")
        if counted and not self.fits(sender, to, ceiling - self.balances[to["wallet"]][0] - slots[3], amount, day):
            return refused("recipient_limit")

        balance[1] += amount + fee + duty
        self.spending[q["sender"]] = [today[0], today[1] + amount, this_month[0], this_month[1] + amount]
        if capped: self.first_day[capped] += amount
        if counted: slots[3] += amount
        external = route == "external"
        t = self.transfers[q["id"]] = dict(
            id=q["id"], type="p2p", state="accepted", sender=q["sender"], recipient=to["id"], debit=sender["wallet"],
            credit=system("provider_clearing", q["id"]) if external else to["wallet"], amount=amount, fee=fee, duty=duty,
            route=route, reason=reason, bank=bank["id"] if external else None,
            destination=bank["counterparty"] if external else to["account"], source=sender["account"], slot=None,
            counted=counted, day=today[0], month=this_month[0], device=device, capped=capped, hold="active", created=now,
            failure=None, sequence=0, history=["accepted"], description=q["description"], first=(route, fee, duty))
        self.publish(t, "transaction.created", q["created"], **way(t), route_reason=reason)
        if reason == "free_slot":
            if slots[0] < month: slots[0:2] = [month, 0]
            slots[1] += 1
            t["slot"] = slots[0]
            self.publish_slot(t, "external_slot.taken", slots[1], q["slot"])
        if reason == "no_slot":
            self.publish(t, "transfer.rerouted.internal", q["rerouted"], reason="no_slot")
        return L.Placed("accepted", q["id"], route, "accepted", fee, duty)

    def fits(self, sender, to, room, amount, day):
        """Whether an amount fits into a wallet, as far as this payer is told."""
        step, tries = self.room
        known = self.full.get((sender["id"], to["id"]), [FIRST, 0])
        so_far = 0 if known[0] < day else known[1]
        if amount <= room // step * step and so_far < tries: return True
        self.full[sender["id"], to["id"]] = [max(known[0], day), so_far + 1]
        return False

    def capped_device(self, sender, device, now):
        """The device whose first day limits the payment: the approving one, or for a PIN the newest that is not revoked."""
        if device is None:
            mine = [(d["activated"], i) for i, d in sender["devices"].items() if not d["revoked"]]
            if not mine: return None
            device = max(mine)[1]
        return device if sender["devices"][device]["activated"] > now - dt.timedelta(hours=24) else None

    def fee(self, route, amount):
        return max(band for band in self.fees[route] if band[0] <= amount)[1:]

    def minimum(self, now):
        """The least that a bank takes: the newest that has begun."""
        return max(version for version in self.minimums if version[0] <= now)[1]

    # After acceptance

    def submit(self, ids, now):
        refusals = {i: self.refusal(self.transfers[i], now) for i in sorted(set(ids)) if i in self.transfers
                and self.transfers[i]["state"] == "accepted"}
        verdicts, failed = {}, []
        for i, refusal in refusals.items():
            t = self.transfers[i]
            if refusal == "beneficiary_gone": refusal = self.switch(t, now)
            if refusal: failed.append((t, refusal))
            else:
                verdicts[i] = "send"
                self.move(t, "submitted")
        for t, refusal in sorted(failed, key=lambda f: f[1] in ("recipient_not_ready", "recipient_limit")):
            verdicts[t["id"]] = "failed"
        self.fail([t for t, _ in failed], {t["id"]: refusal for t, refusal in failed}, {})
        answers, seen = [], set()
        for i in ids:
            t = self.transfers.get(i)
            if t is None: answers.append("missing")
            elif i in verdicts and i not in seen: answers.append(verdicts[i])
            else: answers.append("query" if t["state"] in ("submitted", "unknown") else "ended")
            seen.add(i)
        return answers

    def refusal(self, t, now):
        sender, to = self.users[t["sender"]], self.users[t["recipient"]]
        if t["created"] < now - dt.timedelta(hours=24): return "expired"
        if sender["status"] != "active" or sender["debits_blocked"] or not sender["sending_allowed"]: return "sender_restricted"
        if self.balances[t["debit"]][3]: return "sender_restricted"
        if not t["source"]: return "sender_not_ready"
        if t["device"] and sender["devices"][t["device"]]["revoked"]: return "device_revoked"
        if to["status"] != "active" or to["credits_blocked"]: return "recipient_unavailable"
        bank = to["banks"].get(t["bank"])
        if t["route"] == "external" and (not bank["verified"] or bank["deleted"]): return "beneficiary_gone"

    def switch(self, t, now):
        to = self.users[t["recipient"]]
        counters, ceiling = self.receiving[to["id"]], self.limits[to["tier"]][3]
        if not to["account"]: return "recipient_not_ready"
        if ceiling is not None and self.balances[to["wallet"]][0] + counters[3] + t["amount"] > ceiling: return "recipient_limit"
        self.release_slots([t])
        before = t["fee"] + t["duty"]
        fee, duty = self.fee("internal", t["amount"])
        t.update(fee=min(fee, t["fee"]), duty=min(duty, t["duty"]), route="internal", reason="beneficiary_gone", bank=None,
                 credit=to["wallet"], destination=to["account"], slot=None, counted=ceiling is not None)
        self.balances[t["debit"]][1] -= before - t["fee"] - t["duty"]
        if t["counted"]: counters[3] += t["amount"]
        t["history"].append("accepted")

    def settle(self, items):
        """items: (transaction id, outcome, event id). Outcomes of one transfer take effect one after the other."""
        for id, outcome, _ in items:
            if outcome in ("completed", "reversed") and id in self.transfers: self.divert(self.transfers[id])
        results, waiting, done = [None] * len(items), list(enumerate(items)), set()
        while waiting:
            now, later, seen = [], [], set()
            for item in waiting:
                (later if item[1][0] in seen else now).append(item)
                seen.add(item[1][0])
            groups = {}
            for at, (id, outcome, event) in now:
                state = self.transfers[id]["state"] if id in self.transfers else None
                results[at] = MOVES.get((state, outcome), "ignored") if state else "missing"
                groups.setdefault((results[at], state or ""), []).append((id, event, outcome))
            for (result, state), members in sorted(groups.items()): self.apply(result, state, members)
            waiting = later
        return results

    def divert(self, t):
        """What reaches a wallet that was frozen meanwhile waits in suspense."""
        to = self.users[t["recipient"]]
        if t["state"] in ("submitted", "unknown") and t["route"] == "internal" and t["credit"] == to["wallet"] and (
                to["status"] != "active" or to["credits_blocked"]):
            t.update(credit=system("suspense", t["id"]), reason="suspense")

    def apply(self, result, state, members):
        moved = [self.transfers[id] for id, _, _ in members] if result != "missing" else []
        events = {id: event for id, event, _ in members}
        if result == "failed": self.fail(moved, {t["id"]: "because" for t in moved}, events)
        if result == "completed" or result == "reversed" and state != "completed":
            for t in moved:
                t["hold"] = "posted"
                self.balances[t["debit"]][1] -= t["amount"] + t["fee"] + t["duty"]
            for t in moved:
                self.post(t, "amount", (t["debit"], -t["amount"]), (t["credit"], t["amount"]))
                self.post(t, "fee", (t["debit"], -t["fee"]), (system("fees", t["id"]), t["fee"]))
                self.post(t, "duty", (t["debit"], -t["duty"]), (system("stamp_duty", t["id"]), t["duty"]))
            for t in moved: self.collect(t, t["credit"], t["amount"])
            for t in moved:
                if t["counted"]: self.receiving[t["recipient"]][3] -= t["amount"]
                self.move(t, "completed")
                words = {} if t["description"] is None else dict(description=t["description"])
                self.publish(t, "transaction.completed", events[t["id"]] if result == "completed" else None,
                             **way(t), route_reason=t["reason"], recipient_type="personal", **words)
        if result in ("unknown", "submitted"):
            for t in moved: self.move(t, result)
        if result == "break":
            self.breaks |= {(id, "provider_says_" + outcome) for id, _, outcome in members}
        if result == "reversed":
            owed = {t["id"]: self.reverse(t) for t in moved}
            for t in moved: self.give_back(t)
            self.release_slots(moved)
            for t in moved:
                self.move(t, "reversed")
                self.publish(t, "transaction.reversed", events[t["id"]], **way(t), receivable=owed[t["id"]])

    def reverse(self, t):
        payee = self.balances[t["credit"]]
        owed = t["amount"] - min(t["amount"], payee[0] - payee[1]) if t["credit"] >= 1000 else 0
        if owed: payee[3] = True
        self.post(t, "receivable", (t["credit"], owed), (system("receivable", t["id"]), -owed))
        self.post(t, "reversal", (t["credit"], -t["amount"]), (t["debit"], t["amount"]))
        self.post(t, "reversed_fee", (system("fees", t["id"]), -t["fee"]), (t["debit"], t["fee"]))
        self.post(t, "reversed_duty", (system("stamp_duty", t["id"]), -t["duty"]), (t["debit"], t["duty"]))
        self.collect(t, t["debit"], t["amount"] + t["fee"] + t["duty"])
        return owed

    def fail(self, failed, reasons, events):
        for t in failed:
            t["hold"] = "released"
            self.balances[t["debit"]][1] -= t["amount"] + t["fee"] + t["duty"]
            self.give_back(t)
            if t["counted"]: self.receiving[t["recipient"]][3] -= t["amount"]
        self.release_slots(failed)
        for t in failed:
            t["failure"] = reasons[t["id"]]
            self.move(t, "failed")
            self.publish(t, "transaction.failed", events.get(t["id"]), **way(t), failure_reason=t["failure"])
        for t in sorted(failed, key=lambda t: t["id"]): self.collect(t, t["debit"])

    def give_back(self, t):
        s = self.spending[t["sender"]]
        if s[0] == t["day"]: s[1] -= t["amount"]
        if s[2] == t["month"]: s[3] -= t["amount"]
        if t["capped"]: self.first_day[t["capped"]] -= t["amount"]

    def release_slots(self, transfers):
        for t in sorted(transfers, key=lambda t: t["id"]):
            if t["slot"]:
                counters = self.receiving[t["recipient"]]
                current = counters[0] == t["slot"]
                if current: counters[1] -= 1
                self.publish_slot(t, "external_slot.released", counters[1] if current else None, None)

    def inbound(self, payment, account, amount, id):
        """Money from outside. Returns (transaction id, user id, result)."""
        user = self.accounts.get(account)
        if user is None: return (None, None, "unknown_account")
        if payment in self.payments: return (self.payments[payment], user["id"], "duplicate")
        self.payments[payment] = id
        ceiling = self.limits[user["tier"]][3]
        total = self.balances[user["wallet"]][0] + self.receiving[user["id"]][3] + amount
        refused_ = user["status"] != "active" or user["credits_blocked"] or ceiling is not None and total > ceiling
        t = dict(id=id)
        target = system("suspense", id) if refused_ else user["wallet"]
        self.post(t, "amount", (system("provider_clearing", id), -amount), (target, amount))
        self.collect(t, target, amount)
        result = "suspense" if refused_ else "credited"
        data = dict(transaction_id=str(id), recipient_id=str(user["id"]), amount=amount, type="inbound", route="internal",
                    route_reason=result, fee=0, duty=0, recipient_type="personal")
        self.outbox.append(("transaction.completed", str(id), 1, None, data))
        return (id, user["id"], result)

    # Bookkeeping

    def post(self, t, leg, *lines):
        for account, amount in lines:
            if amount:
                b = self.balances[account]
                b[0] += amount
                b[2] += 1
                if account >= 1000 and leg in ("receivable", "collected"): b[4] += amount
                self.entries.append((account, b[2], amount, b[0], leg, t["id"]))

    def collect(self, t, account, most=None):
        """What came in, or is free again, pays what is owed; who owes nothing any more may send."""
        b = self.balances[account]
        taken = min(b[4], b[0] - b[1], b[4] if most is None else most)
        if taken > 0:
            self.post(t, "collected", (account, -taken), (system("receivable", t["id"]), taken))
            if not b[4]: b[3] = False

    def move(self, t, state):
        t["state"] = state
        t["history"].append(state)

    def publish(self, t, kind, event, **more):
        t["sequence"] += 1
        data = dict(transaction_id=str(t["id"]), sender_id=str(t["sender"]), recipient_id=str(t["recipient"]),
                    amount=t["amount"], **more)
        self.outbox.append((kind, str(t["id"]), t["sequence"], event, data))

    def publish_slot(self, t, kind, used, event):
        counters = self.receiving[t["recipient"]]
        counters[2] += 1
        data = dict(user_id=str(t["recipient"]), transaction_id=str(t["id"]), month=str(t["slot"])[:7])
        if used is not None: data["used"] = used
        self.outbox.append((kind, str(t["recipient"]), counters[2], event, data))


MOVES = {(state, outcome): outcome for state in ("submitted", "unknown") for outcome in ("completed", "failed", "reversed")} | {
    ("submitted", "unknown"): "unknown", ("unknown", "open"): "submitted", ("submitted", "open"): "known",
    ("completed", "reversed"): "reversed",
    ("failed", "completed"): "break", ("completed", "failed"): "break"} | {
    ("accepted", outcome): "break" for outcome in ("completed", "failed", "reversed")}


def way(t):
    """What events say of how a transfer goes."""
    return dict(type=t["type"], route=t["route"], fee=t["fee"], duty=t["duty"])


def refused(code):
    return L.Placed(code, None, None, code, None, None)
