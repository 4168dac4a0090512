"""Who calls which operation, and what turns a generated request that keeps the rules into one that can be granted.

Schemathesis makes requests from the descriptions alone. It cannot know which ids exist, which PIN is right, and rules
between fields. A recipe fills these in, in the parts of a request that are meant to be good; what is meant to break a
rule stays as it was made.
"""

import datetime
import itertools
import json
import random
import secrets
import uuid

import regex
from schemathesis.generation.meta import TestPhase

from edit import BODY, QUERY, Edit
from texts import named
from suite import eventually, new_key
from world import BANK, PIN, PLAN, SPARE, account_number, moment, tell_of_unknown_transfers

# Who does these has signed in a moment ago.
FRESH = {"setPIN", "resetPIN", "revokeDevice"}

# Who calls, if not `main`. Others so that what one operation does (a lower limit, a lost device) does not stop another.
ACTORS = {
    "provideDetails": "newcomer",
    "setPIN": "keeper",
    "resetPIN": "keeper",
    "issueApproval": "keeper",
    "registerDevice": "keeper",
    "listDevices": "keeper",
    "revokeDevice": "keeper",
    "enquireName": "banker",
    "getNameEnquiry": "banker",
    "addBeneficiary": "banker",
    "listBeneficiaries": "banker",
    "getBeneficiary": "banker",
    "removeBeneficiary": "banker",
    "chooseDefaultBeneficiary": "banker",
    "getSettings": "limited",
    "getExport": "exporter",
    "getExportFile": "exporter",
    "changeSettings": "limited",
    "getLimits": "limited",
    "setLimits": "limited",
    "claimMoneyDrop": "peer",
    "payPaymentRequest": "peer",
    "declinePaymentRequest": "peer",
    "subscribe": "subscriber",
    "getSubscription": "subscriber",
    "cancelSubscription": "member",
    "listDocuments": "shop0",
    "getDocument": "shop0",
}
# The most days between `from` and `to`.
LONGEST = {"getCounterparties": 92}
# Orders that may name a quote: what is quoted, and who is paid.
QUOTED = {
    "payUser": ("p2p", "peer"),
    "withdraw": ("self_transfer", None),
    "createMoneyDrop": ("money_drop", None),
    "payPaymentRequest": ("p2p", "main"),
}
# What requests ask for.
ASKED = 100
# Who takes turns at what one person may do so often only.
SEVERAL = ("banker", "main", "peer", "keeper", "limited", "member")
# So many bank accounts may be looked up in an hour.
ENQUIRIES = 30


# Two words at least.
NAME = regex.compile(r"[\p{L}\p{M}.'\u2019-]+( [\p{L}\p{M}.'\u2019-]+)+")


def new_bvn():
    """Of nobody yet, and none of the sandbox's special endings."""
    return f"22{secrets.randbelow(10**8):08d}7"


class Recipes:
    def __init__(self, suite, world):
        self.suite = suite
        self.people = world["people"]
        self.things = world["things"]
        self.by_token = {}
        # The paths of what has been removed.
        self.removed = set()
        # Who has made an enquiry or registered a phone.
        self.askers = {}
        self.random = random.Random(1)
        self.supplies = {}

    # Who

    def token(self, case):
        """The credentials for a call of an operation; None where none are asked for."""
        operation = case.operation
        name = operation.definition.raw["operationId"]
        if not list(operation.security.iter_parameters()):
            return None
        if operation.path.startswith("/internal/keys/"):
            return self.suite.data_keys_token
        if name == "getHeldData":
            return self.suite.exports_token
        if operation.path.startswith(("/internal", "/metrics")):
            return self.suite.internal_token
        person = self.asker(case) or self.actor(name)
        return self.token_of(person, self.suite.new_token if name in FRESH else self.suite.token)

    def token_of(self, person, make=None):
        token = (make or self.suite.token)(person["subject"])
        self.by_token[token] = person
        return token

    def asker(self, case):
        """What several may have asked for is shown to who has."""
        return self.askers.get(str((case.path_parameters or {}).get("id")))

    def actor(self, name):
        if name == "signUp":
            return {"subject": f"user_contract_{uuid.uuid4()}"}
        if name == "enquireName":
            # Who has asked often enough makes room for somebody else.
            turn = self.count(name) // (ENQUIRIES - 5)
            return self.people[SEVERAL[min(turn, len(SEVERAL) - 1)]]
        if name == "registerPushToken":
            # A person has ten at most, and chains make many.
            return self.people[SEVERAL[self.count(name) % len(SEVERAL)]]
        if name == "handInDocument":
            # A document is handed in once.
            return self.people[f"shop{self.count(name) % 3}"]
        return self.people[ACTORS.get(name, "main")]

    def person(self, case):
        return self.by_token.get(str(case.headers.get("Authorization", "")).removeprefix("Bearer "))

    def count(self, what):
        return next(self.supplies.setdefault(("count", what), itertools.count()))

    def next_of(self, what, edit):
        """The next of things that a good call uses up, and the last one when they are all used."""
        things = self.things[what]
        used = self.supplies.get(what, 0)
        if edit.is_wholly_good:
            self.supplies[what] = used + 1
        return things[min(used, len(things) - 1)]

    def fresh(self, what, edit, make):
        """A thing that is made for this call, for the first good calls; the last one for all others."""
        made = self.supplies.setdefault(what, [])
        if edit.is_wholly_good and len(made) < SPARE or not made:
            made.append(make())
        return made[-1]

    # What

    def complete(self, case):
        edit = Edit(case)
        name = case.operation.definition.raw["operationId"]
        if "Idempotency-Key" in case.headers:
            edit.header("Idempotency-Key", str(uuid.uuid4()))
        if edit.is_good(QUERY) and "cursor" in case.query:
            self.cursor(edit, name)
        if edit.is_good(QUERY) and {"from", "to"} & case.query.keys():
            self.period(edit, LONGEST.get(name, 366))
        if edit.body is not None:
            case.body = named(edit.body)
        recipe = getattr(self, name, None)
        if recipe is not None:
            recipe(edit)
        if edit.body is not None and "amount" in edit.body and self.is_to_succeed(edit):
            edit.fields(amount=100 + abs(edit.body["amount"] or 0) % 400)   # what banks take
        if name in QUOTED and edit.body is not None and edit.body.get("quote_id"):
            self.quote_order(edit, name, *QUOTED[name])
        if (asker := self.asker(case)) and self.person(case):
            # The id came after the credentials, from here or along a link.
            case.headers["Authorization"] = f"Bearer {self.token_of(asker)}"

    def quote_order(self, edit, name, kind, recipient):
        """The id of a quote for this very order."""
        body = edit.body
        amount = body["amount_per_claim"] * body["slots"] if kind == "money_drop" else body.get("amount") or ASKED
        order = {"type": kind, "amount": amount}
        if recipient:
            order["recipient_username"] = self.people[recipient]["username"]
        payer = self.people[ACTORS.get(name, "main")]
        answer = self.suite.call(payer, "POST", "transaction", "/transactions/quote", order, wanted=None)
        edit.fields(quote_id=answer.json()["quote_id"] if answer.ok else None)

    def is_to_succeed(self, edit):
        """Whether an amount is to be one that the payer has; the others stay as they were made."""
        return edit.phase in (TestPhase.EXAMPLES, TestPhase.STATEFUL) or self.random.random() < 0.5

    def cursor(self, edit, name):
        """One that continues the list; anything else is no cursor."""
        chosen = [f"{key}={value}" for key, value in edit.case.query.items() if key in ("direction", "filter")]
        list_ = (name, *chosen)
        if list_ not in self.supplies:
            person = self.person(edit.case) or self.people["main"]
            service, path = edit.case.operation.schema.raw_schema["x-service"], edit.case.formatted_path
            path = f"{path}?{'&'.join(['limit=1', *chosen])}"
            if path.startswith("/internal"):
                answer = self.suite.operate("GET", service, path, wanted=None)
            else:
                answer = self.suite.call(person, "GET", service, path, wanted=None)
            self.supplies[list_] = answer.json().get("next_cursor") if answer.ok else None
        edit.query(cursor=self.supplies[list_])

    def period(self, edit, longest):
        """Days in order and not too many."""
        today = datetime.date.today()
        ends = {}
        for name in ("from", "to"):
            try:
                ends[name] = datetime.date.fromisoformat(str(edit.case.query[name]))
            except (KeyError, ValueError):
                continue
        first, last = ends.get("from"), ends.get("to")
        if first is None:
            return
        if last is None and (first > today or (today - first).days >= longest) or last is not None and not (
            first <= last and (last - first).days < longest
        ):
            last = first if first > datetime.date(9999, 1, 1) else first + datetime.timedelta(days=longest // 2)
            edit.query(to=last.isoformat())

    # auth

    def signUp(self, edit):
        body = edit.body
        if body is None:
            return
        is_person = body.get("account_type") == "personal"
        known = {"full_name": "Ada Testperson", "bvn": new_bvn(), "date_of_birth": "1990-01-01"}
        business = {"business_name": "Invented Shop", "rc_number": "RC0000001"}
        edit.fields(
            username=f"u{secrets.randbelow(36**9)}" if not edit.is_tested("username") else body["username"],
            kyc_details=self.identity(body.get("kyc_details") or known) if is_person else None,
            kyb_details=self.business(body.get("kyb_details") or business) if not is_person else None,
        )

    def identity(self, details):
        """A grown-up with two names, and no account yet."""
        name = details.get("full_name", "")
        is_name = NAME.fullmatch(name) and all(regex.search(r"\p{L}", word) for word in name.split(" "))
        full_name = name if is_name else "Ada Testperson"
        return {**details, "full_name": full_name, "bvn": new_bvn(), "date_of_birth": "1990-01-01"}

    def business(self, details):
        changed = {**details, "rc_number": f"RC{secrets.randbelow(10**9)}"}
        if "business_bvn" in changed:
            changed["business_bvn"] = new_bvn()
        if "date_of_registration" in changed:
            changed["date_of_registration"] = "2019-05-06"
        if "director" in changed:
            changed["director"] = self.identity(changed["director"])
        return changed

    def provideDetails(self, edit):
        body = edit.body
        if body is not None:
            details = body.get("kyc_details")
            edit.fields(kyc_details=self.identity(details) if details else None, kyb_details=None)

    def setPIN(self, edit):
        edit.fields(pin=PIN, current_pin=PIN)

    def resetPIN(self, edit):
        edit.fields(pin=PIN)

    issueApproval = resetPIN

    def registerDevice(self, edit):
        edit.fields(pin=PIN, public_key=new_key()[1])

    def revokeDevice(self, edit):
        edit.path("id", self.next_of("devices", edit))

    def receiveClerkWebhook(self, edit):
        if edit.body is not None and edit.body.get("type") == "user.deleted":
            edit.fields(data={"id": self.people["leaver"]["subject"]})

    def getDataKey(self, edit):
        edit.path("user_id", self.people["main"]["id"])

    def eraseUser(self, edit):
        edit.path("user_id", self.people["erasable"]["id"])

    def releaseIdentity(self, edit):
        """Of somebody who is frozen, and closed by it; the news takes a moment."""
        id = self.people["lost"]["id"]
        if "freed" not in self.supplies:
            path = f"/internal/users/{id}/restriction"
            self.suite.operate("PUT", "customer", path, {"restriction": "frozen", "reason": "lost"}, wanted=None)
            self.supplies["freed"] = id
        edit.path("user_id", id)

    # customer

    def answered(self, case, response):
        """Remembers what was removed, and who has made what is anybody's turn to make."""
        name = case.operation.definition.raw["operationId"]
        if name in ("enquireName", "registerPushToken") and response.status_code < 300:
            self.askers[response.json()["id"]] = self.person(case)
        if case.method == "DELETE" and response.status_code < 300:
            self.removed.add(case.formatted_path)

    def getNameEnquiry(self, edit):
        self.askers[self.things["enquiry"]] = self.people["banker"]
        edit.path("id", self.things["enquiry"])

    def addBeneficiary(self, edit):
        edit.fields(account_number=account_number(), bank_code=BANK) if self.is_to_succeed(edit) else None

    enquireName = addBeneficiary

    def getBeneficiary(self, edit):
        edit.path("id", self.things["default_account"])

    def chooseDefaultBeneficiary(self, edit):
        edit.path("id", self.things["other_account"])

    def removeBeneficiary(self, edit):
        edit.path("id", self.next_of("accounts_to_remove", edit))

    def getProfile(self, edit):
        edit.path("username", self.people["peer"]["username"])

    def getImage(self, edit):
        edit.path("key", self.things["image"])

    def findUser(self, edit):
        edit.query(username=self.people["main"]["username"])

    def getDefaultBeneficiary(self, edit):
        edit.query(user_id=self.people["banker"]["id"])

    def getStatement(self, edit):
        """A cursor keeps the days of its statement."""
        if edit.is_good(QUERY) and "cursor" in edit.case.query:
            edit.query(**{"from": None, "to": None})

    def getBeneficiaryReview(self, edit):
        edit.path("id", self.things["reviews"][-1])

    def decideBeneficiaryReview(self, edit):
        edit.path("id", self.next_of("reviews_to_decide", edit))

    def restrictUser(self, edit):
        edit.path("user_id", self.people["restricted"]["id"])

    changeTier = listTierChanges = restrictUser

    def blockUser(self, edit):
        edit.path("username", self.people["blocked"]["username"])

    unblockUser = blockUser

    def getDocument(self, edit):
        edit.path("id", self.people["shop0"]["documents"]["file"])

    def handInDocument(self, edit):
        shop = self.person(edit.case) or self.people["shop0"]
        is_text = edit.case.media_type == "text/plain"
        edit.path("id", shop["documents"]["text" if is_text else "file"])

    # notification

    def markAllNotificationsRead(self, edit):
        if edit.body is not None and "up_to" in edit.body:
            edit.fields(up_to=self.things["notification"])

    def markNotificationRead(self, edit):
        edit.path("id", self.things["notification"])

    def setPreferences(self, edit):
        if edit.body is not None and self.is_to_succeed(edit):
            kinds = dict(edit.body.get("categories") or {})
            edit.fields(categories={kind: value for kind, value in kinds.items() if kind not in ("money", "security")})

    def registerPushToken(self, edit):
        # The next one with the same device takes the place of the last, and one that another person had is taken.
        if edit.phase not in (TestPhase.EXAMPLES, TestPhase.COVERAGE):
            edit.fields(token=secrets.token_hex(32), device_id=None)
        elif edit.body is not None and edit.body.get("device_id") and self.is_to_succeed(edit):
            edit.fields(device_id=self.people["main"]["device"])

    def removePushToken(self, edit):
        def register():
            body = {"token": f"{self.random.randrange(16**32):032x}"}
            made = self.suite.call(self.people["main"], "POST", "notification", "/push-tokens", body).json()["id"]
            self.askers[made] = self.people["main"]
            return made

        edit.path("id", self.fresh("push_token", edit, register))

    # subscription

    def subscribe(self, edit):
        edit.fields(plan=PLAN, price=None) if self.is_to_succeed(edit) else None

    def activatePlan(self, edit):
        edit.fields(user_id=self.people["member"]["id"], until=moment(25))

    def adjustUsage(self, edit):
        edit.fields(user_id=self.people["limited"]["id"], adjustment_id=str(uuid.uuid4()))

    # transaction

    def payUser(self, edit):
        edit.fields(recipient_username=self.people["peer"]["username"], payment_request_id=None)

    def reportProblem(self, edit):
        edit.path("id", self.next_of("to_report", edit))

    def listDisputes(self, edit):
        edit.path("id", self.things["to_report"][0])

    def readReportedProblem(self, edit):
        edit.path("id", self.things["dispute"])

    answerReportedProblem = readReportedProblem

    def closeReportedProblem(self, edit):
        edit.path("id", self.next_of("disputes_to_close", edit))

    def clearRiskAlert(self, edit):
        edit.path("id", self.next_of("risk_alerts", edit))

    def noteBreak(self, edit):
        edit.path("id", self.things["break"])

    def quote(self, edit):
        # A payment is quoted for somebody.
        body = edit.body
        if body is not None and (self.is_to_succeed(edit) or not body.get("recipient_username")):
            edit.fields(recipient_username=self.people["peer"]["username"])

    def withdraw(self, edit):
        edit.fields(beneficiary_id=self.things["withdrawal_account"])

    def getTransaction(self, edit):
        edit.path("id", self.things["payment"])

    getReceipt = getCategory = setCategory = resetCategory = getTransaction

    def createMoneyDrop(self, edit):
        if edit.body is not None and self.is_to_succeed(edit):
            body = edit.body
            edit.fields(
                amount_per_claim=1 + body["amount_per_claim"] % 50, slots=1 + body["slots"] % 3, expires_at=moment(7)
            )
        elif edit.body is not None:
            # All slots together are an amount too.
            edit.fields(amount_per_claim=min(edit.body["amount_per_claim"], (2**63 - 1) // edit.body["slots"]))

    def getMoneyDrop(self, edit):
        edit.path("id", self.things["drop"])

    listClaims = getMoneyDropCode = getMoneyDrop

    def claimMoneyDrop(self, edit):
        edit.path("id", self.next_of("drops_to_claim", edit))

    def endMoneyDrop(self, edit):
        edit.path("id", self.next_of("drops_to_end", edit))

    def createPaymentRequest(self, edit):
        if edit.body is not None and self.is_to_succeed(edit):
            edit.fields(payer_username=None, expires_at=moment(7))

    def getPaymentRequest(self, edit):
        edit.path("id", self.open_request())

    getPaymentRequestCode = setPaymentRequestImage = removePaymentRequestImage = getPaymentRequest

    def getRequestImage(self, edit):
        edit.path("key", self.things["request_image"])

    def open_request(self):
        """One of main's, and another when a chain of calls has found and ended it."""
        known = self.supplies.setdefault("open_request", self.things["request"])
        path = f"/payment-requests/{known}"
        answer = self.suite.call(self.people["main"], "GET", "transaction", path, wanted=None)
        if not answer.ok or answer.json()["status"] != "open":
            self.supplies["open_request"] = self.another_request()
        return self.supplies["open_request"]

    def another_request(self, **more):
        body = {"amount": ASKED, **more}
        answer = self.suite.call(self.people["main"], "POST", "transaction", "/payment-requests", body, wanted=None)
        return answer.json()["id"] if answer.ok else str(uuid.uuid4())

    def request_of_peer(self):
        return self.another_request(payer_username=self.people["peer"]["username"])

    def cancelPaymentRequest(self, edit):
        edit.path("id", self.fresh("cancelled", edit, self.another_request))

    def declinePaymentRequest(self, edit):
        # Nobody else may decline.
        edit.path("id", self.fresh("declined", edit, self.request_of_peer))

    def payPaymentRequest(self, edit):
        edit.path("id", self.fresh("paid", edit, self.another_request))
        if edit.body is not None and self.is_to_succeed(edit):
            edit.fields(amount=ASKED)

    def setLimits(self, edit):
        if edit.body is not None and self.is_to_succeed(edit):
            names = ("per_transfer", "per_day", "per_month")
            edit.fields(**{name: 1 + edit.body[name] % 1000 for name in names if edit.body.get(name) is not None})

    def startReconciliation(self, edit):
        if edit.body is not None and "user_id" in edit.body:
            edit.fields(user_id=self.people["main"]["id"])

    def listBreaks(self, edit):
        edit.query(user_id=self.people["main"]["id"]) if "user_id" in edit.case.query else None

    def proposeRelease(self, edit):
        edit.path("id", self.next_of("suspended", edit))
        edit.header("Transfa-Operator", "ada")
        # A payout needs a closed profile; the bank account is of nothing else.
        edit.fields(disposition="credit", beneficiary_id=None)

    def approveRelease(self, edit):
        edit.path("id", self.next_of("to_approve", edit))
        edit.header("Transfa-Operator", "bola")

    def rejectRelease(self, edit):
        edit.path("id", self.next_of("to_reject", edit))
        edit.header("Transfa-Operator", "bola")

    def proposeOutcome(self, edit):
        edit.path("id", self.next_of("to_propose", edit))
        # What has arrived cannot be settled once more.
        edit.fields(outcome="reversed")

    def approveOutcome(self, edit):
        edit.path("id", self.next_of("proposals_to_approve", edit))
        edit.header("Transfa-Operator", "bola")

    def withdrawOutcome(self, edit):
        edit.path("id", self.next_of("proposals_to_withdraw", edit))

    def listForgotten(self, edit):
        edit.path("id", self.things["recovery"])

    def acceptDifference(self, edit):
        edit.path("id", self.things["recovery"])
        edit.path("account", self.things["accepted"])
        edit.fields(mark=self.things["mark"])

    def endRecovery(self, edit):
        edit.path("id", self.things["recovery"])

    def unblockWallet(self, edit):
        edit.path("id", self.next_of("blocked", edit))
        edit.fields(owed=0)

    def getTransfer(self, edit):
        edit.path("id", self.things["transfer"])

    # console

    def getEvent(self, edit):
        edit.path("id", self.things["event"])

    def traceEvents(self, edit):
        edit.path("id", self.things["payment"])

    def followEvents(self, edit):
        # Waiting takes time, for which three times are enough.
        if "wait" in edit.case.query:
            edit.query(wait=1 if self.count("waits") < 3 else None)

    def importEvents(self, edit):
        if edit.is_good(BODY) and isinstance(edit.case.body, str):
            edit.case.body = self.things["lines"]

    def startReplay(self, edit):
        # One that says where to look.
        if edit.body is not None and isinstance(edit.body.get("selection"), dict):
            edit.fields(selection={**edit.body["selection"], "subject": self.things["payment"]})

    planReplay = startReplay

    def startRebuild(self, edit):
        edit.fields(service="analytics", projection="money")

    def getReplay(self, edit):
        edit.path("id", self.supplies.setdefault("replay", self.running_replay("notification")))

    listReplayChanges = listReplayProblems = getReplay

    def cancelReplay(self, edit):
        edit.path("id", self.fresh("cancelled_replay", edit, lambda: self.running_replay("customer")))

    def resumeReplay(self, edit):
        def cancelled():
            id = self.running_replay("auth")
            self.suite.operate("POST", "console", f"/internal/replays/{id}/cancel", {"reason": "a test"}, wanted=None)
            return id

        edit.path("id", self.fresh("resumed_replay", edit, cancelled))

    def running_replay(self, service):
        """A dry run that takes longer than the tests."""
        order = {
            "service": service, "mode": "dry_run", "rate": 1, "selection": {"from": "2026-01-01T00:00:00Z"},
            "reason": "a test",
        }
        begun = self.suite.operate("POST", "console", "/internal/replays", order, wanted=None)
        if begun.ok:
            return begun.json()["id"]
        known = self.suite.operate("GET", "console", "/internal/replays?limit=100").json()["data"]
        running = [replay["id"] for replay in known if replay["service"] == service and replay["state"] == "running"]
        return running[0] if running else str(uuid.uuid4())

    # analytics

    def beginRebuild(self, edit):
        edit.path("name", "money")
        edit.fields(replay=self.rebuild())

    def finishRebuild(self, edit):
        edit.path("name", "money")
        edit.path("replay", self.rebuild())

    cancelRebuild = finishRebuild

    def sendRebuildEvents(self, edit):
        self.finishRebuild(edit)
        if edit.is_good(BODY) and isinstance(edit.case.body, str):
            edit.case.body = self.things["lines"]

    def rebuild(self):
        """The replay whose rebuild is under way; a new one when the last has ended."""
        path = "/internal/ops/projections"
        last = self.suite.operate("GET", "analytics", path).json()["data"][0].get("rebuild")
        if last and last["state"] == "building":
            return last["replay"]
        order = {"replay": str(uuid.uuid4()), "reason": "for contract tests"}
        return self.suite.operate("POST", "analytics", path + "/money/rebuilds", order).json()["replay"]

    # every service

    def handleAgain(self, edit):
        if edit.is_good(BODY) and isinstance(edit.case.body, str):
            heading = {"replay": str(uuid.uuid4()), "mode": "dry_run", "effects": "off", "reason": "a test"}
            edit.case.body = f"{json.dumps(heading)}\n{self.things['lines']}"

    def getTraceRecords(self, edit):
        if "references" in edit.case.query:
            edit.query(references=f"trf-{self.things['payment']}")

    def traceRequest(self, edit):
        edit.path("correlation", self.things["correlation"])

    def releaseJob(self, edit):
        edit.path("id", self.fresh("released", edit, lambda: self.waiting_job(0)))

    def cancelJob(self, edit):
        edit.path("id", self.fresh("ended", edit, lambda: self.waiting_job(self.count("jobs"))))

    def getJob(self, edit):
        edit.path("id", self.fresh("shown", edit, lambda: self.waiting_job(0)))

    def retryJob(self, edit):
        edit.path("id", self.fresh("cancelled", edit, self.cancelled_job))

    def cancelled_job(self):
        job = self.waiting_job(self.count("jobs"))
        self.suite.operate("POST", "transaction", f"/internal/ops/jobs/{job}/cancel", {"reason": "to retry"}, (204, 404))
        return job

    def waiting_job(self, number):
        waiting = self.waiting_jobs()
        if not waiting:
            # In a long run those of the beginning have been tried to their end.
            tell_of_unknown_transfers(self.suite, SPARE)
            waiting = eventually("a job that waits", self.waiting_jobs)
        return waiting[number % len(waiting)]

    def waiting_jobs(self):
        """Those about news of transfers that nobody has ordered."""
        jobs = self.suite.operate("GET", "transaction", "/internal/ops/jobs?state=queued&limit=1000").json()
        return [job["id"] for job in jobs if job["kind"] == "apply_transfer_fact"]

    def retryParkedEvents(self, edit):
        # A decision is used once.
        edit.fields(decision=str(uuid.uuid4()))
        edit.fields(subject=self.things["parked_subject"]) if self.is_to_succeed(edit) else None

    def discardParkedEvent(self, edit):
        edit.fields(subject=self.things["parked_subject"], event=self.next_of("parked_events", edit))

def set_clock_right(suite, service):
    """After a call has moved it: other calls go by the time of day."""
    suite.operate("PUT", service, "/internal/ops/clock", {"offset_seconds": 0})
