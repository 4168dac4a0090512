#!/usr/bin/env python3
"""Uses the operators' page in a browser, as people do.

usage: console_page.py <file> <story>...

The file says, in JSON: `url` of console, `tokens` by operator, and what the stories are about. Each story is a function
below; what is not as it should be ends the program with a sentence.
"""

import json
import pathlib
import sys
import time

import axe_core_python
from browser import Browser, Failure

AXE = pathlib.Path(axe_core_python.__file__).parent / "axe.min.js"
# WCAG 2.1 A and AA, and what axe calls good practice.
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}}
VIEWS = ("overview", "events", "trace", "parked", "jobs", "replay", "transfers", "breaks", "audit")
PHONE = (375, 740)
WIDE = (1440, 900)


def check(is_good, sentence):
    if not is_good:
        raise Failure(sentence)


class Story:
    def __init__(self, browser, world):
        self.browser = browser
        self.world = world
        self.page = world["url"] + "/console"

    def enter(self, name="ada"):
        self.browser.open(self.page)
        self.browser.fill("input[name=token]", self.world["tokens"][name])
        self.browser.click("button.main", "Sign in")
        self.browser.says(name, ".operator")

    def view(self, address, heading=None):
        """Goes to a view and waits until all of it is there."""
        self.browser.evaluate(f"location.hash = {json.dumps('#/' + address)}")
        self.settled(heading)

    def settled(self, heading=None):
        wanted = json.dumps(heading)
        self.browser.until(
            f"the view {heading or ''} to be there",
            f"({wanted} === null || document.querySelector('main h1')?.innerText === {wanted})"
            " && !document.querySelector('[aria-busy]')",
        )

    def reason(self, text, verb):
        self.browser.fill("dialog input[name=reason]", text)
        self.browser.click("dialog button[type=submit]", verb)

    def quiet(self):
        check(not self.browser.problems, f"the browser objects: {self.browser.problems}")


def signing_in(story):
    """Nobody sees anything before; a wrong token is refused; the keyboard is enough; signing out ends it."""
    browser = story.browser
    browser.open(story.page)
    browser.says("Sign in", "h1")
    check(browser.evaluate("document.querySelector('nav').hidden"), "there is a navigation for nobody")
    status = "fetch('/console/api/overview').then((answer) => answer.status)"
    check(browser.evaluate(status) == 401, "an overview for nobody")
    browser.fill("input[name=token]", "not-a-token")
    browser.press("Enter")
    browser.says("Nobody has this token.", "[role=alert]")
    browser.fill("input[name=token]", story.world["tokens"]["ada"])
    browser.press("Enter")
    browser.says("Overview", "h1")
    story.settled()
    check("transfa_console" not in browser.evaluate("document.cookie"), "scripts can read the session")
    # The first stop is the way past the navigation; then header, navigation, view, in the order in which they are read.
    browser.open(story.page)
    story.settled("Overview")
    stops = []
    for _ in range(19):
        browser.press("Tab")
        stops.append(browser.evaluate("document.activeElement.innerText || document.activeElement.name || ''").strip())
    check(stops[0] == "Skip to content", f"the first stop is {stops[0]}")
    places = [stops.index(word) for word in ("ada", "Sign out", "Overview", "Events", "Audit", "Pause")]
    check(places == sorted(places), f"the order of stops is {stops}")
    browser.evaluate("document.querySelector('nav a[data-view=events]').focus()")
    browser.press("Enter")
    story.settled("Events")
    check(browser.evaluate("document.activeElement.innerText") == "Events", "a new view does not take the focus")
    check(browser.evaluate("document.title").startswith("Events"), "the title does not name the view")
    # What changes something is not taken without the word that only the page knows.
    act = "fetch('/console/api/session', {method: 'DELETE'}).then((answer) => answer.status)"
    check(browser.evaluate(act) == 403, "an act without the page's word was taken")
    # Who cannot be signed out hears of it; then it works again.
    browser.evaluate("window.kept = window.fetch; window.fetch = () => Promise.reject(new TypeError('away')); true")
    browser.click("#leave")
    browser.says("You are still signed in. The console does not answer.", "#said")
    browser.evaluate("window.fetch = window.kept; true")
    browser.evaluate("location.hash = '#/events/%E0%A4%A'")
    browser.says("Event", "h1")
    browser.click("#leave")
    browser.says("Sign in", "h1")
    check(browser.evaluate(status) == 401, "the session goes on after signing out")
    story.quiet()


def overview(story):
    browser = story.browser
    story.enter()
    story.settled("Overview")
    browser.says("Money in flight")
    rows = "document.querySelectorAll('table')[0].tBodies[0].rows.length"
    check(browser.until("the services", rows) == 8, "not every service is listed")
    check(browser.text().count("ready") >= 8, f"not all are ready: {browser.text()}")
    browser.says("transaction")
    check(len(browser.evaluate("[...document.querySelectorAll('.chart svg')].map((one) => one.ariaLabel ?? one.getAttribute('aria-label'))")) >= 4, "charts are missing")
    browser.until("a second look", "[...document.querySelectorAll('.chart path.line')].some((one) => one.getAttribute('d').includes('L'))")
    # A console that is away for a moment is asked again, and what was seen last stays.
    browser.evaluate("window.kept = window.fetch; window.fetch = () => Promise.reject(new TypeError('away')); true")
    browser.says("The console does not answer.", "[role=alert]")
    check(browser.evaluate(rows) == 8, "what was seen last is gone")
    browser.evaluate("window.fetch = window.kept; true")
    browser.until("the alarm to end", "!document.querySelector('[role=alert]')")
    _explained(browser)
    _came_twice(browser)
    for width, height in (WIDE, PHONE):
        browser.size(width, height, is_phone=width == PHONE[0])
        rows = "[...document.querySelectorAll('.tiles > li')].map((tile) => tile.offsetTop)"
        tops = browser.evaluate(rows)
        counts = {tops.count(top) for top in tops}
        check(len(counts) == 1, f"the tiles leave a hole at {width}: they begin at {tops}")
    story.quiet()


# What two services may have counted, and what the tile says of it: 19 came again, of which Postgres knew one.
ANSWERED = (
    {"requests": {"first": 40, "repeat_redis": 6, "waited": 2, "repeat_postgres": 1, "redis_unknown": 5}},
    {"events": {"first": 90, "repeat_redis": 9}, "webhooks": {"repeat_redis": 1}},
)


# What transaction may say of the provider's books, and the first tile of it.
EXPLAINED = (
    (None, ("–", "not told")),
    ({"open": 0, "explained": {"listed": 0, "matched": 0}}, ("–", "all matched")),
    ({"open": 0, "explained": {"listed": 1000, "matched": 999, "oldest_seconds": 60}}, ("99 %", "oldest 60 s")),
    ({"open": 2, "explained": {"listed": 1000, "matched": 1000}}, ("100 %", "2 breaks, all matched")),
)


def _explained(browser):
    """The first tile says how much of the provider's books ours explain, all of it only when it is all."""
    tile = "document.querySelector('.tiles > li').innerText"
    browser.evaluate(
        "window.kept = window.fetch; window.told = null; window.fetch = async (...asked) => {"
        " const answer = await window.kept(...asked);"
        " if (!String(asked[0]).endsWith('/overview')) return answer;"
        " return Response.json({ ...await answer.json(), breaks: window.told }); }; true"
    )
    for told, said in EXPLAINED:
        browser.evaluate(f"window.told = {json.dumps(told)}; true")
        said = ("Explained", *said)
        browser.until(f"the tile to say {said}", f"({json.dumps(said)}).every((text) => {tile}.split('\\n').includes(text))")
    browser.evaluate("window.fetch = window.kept; true")


def _came_twice(browser):
    """The tile adds up what the services say; whoever says nothing counts as nothing."""
    tile = "[...document.querySelectorAll('.tiles > li')].find((one) => one.innerText.startsWith('Came twice'))?.innerText"
    # However much the services have counted meanwhile: what they say is replaced.
    browser.evaluate(
        "window.kept = window.fetch; window.told = []; window.fetch = async (...asked) => {"
        " const answer = await window.kept(...asked);"
        " if (!String(asked[0]).endsWith('/overview')) return answer;"
        " const seen = await answer.json();"
        " seen.services.forEach((one, index) => { if (one.status) one.status.answered = window.told[index]; });"
        " return Response.json(seen); }; true"
    )
    for told, said in (((), ("–", "not told")), (({},), ("0", "none")), (ANSWERED, ("19", "94 % by Redis"))):
        browser.evaluate(f"window.told = {json.dumps(told)}; true")
        browser.until(f"the tile to say {said}", f"({json.dumps(said)}).every((text) => {tile}.split('\\n').includes(text))")
    browser.evaluate("window.fetch = window.kept; true")


def looking(story):
    """Events are found by a filter, followed as they come, and lead to a trace."""
    browser, payment = story.browser, story.world["payment"]
    story.enter()
    story.view("events", "Events")
    browser.fill("input[name=subject]", payment)
    browser.click("button.main", "Find")
    browser.until("the payment's events alone", "location.hash.includes('subject=') && document.querySelectorAll('tbody tr').length >= 2")
    story.settled("Events")
    types = browser.evaluate("[...document.querySelectorAll('tbody tr td:nth-child(2)')].map((cell) => cell.innerText)")
    check("transaction.created" in types and "transaction.completed" in types, f"the filter finds {types}")
    browser.click("tbody a", "transaction.completed")
    story.settled("Event")
    browser.says(payment)
    check("s1." not in browser.text(), "sealed bytes are shown")
    browser.click("a.button", "Trace")
    story.settled("Trace")
    steps = ("POST /transactions/p2p", "transaction.created", "transaction.completed", "handled")
    # Requests are written down in groups, a moment after their answers.
    for _ in range(40):
        if all(step in browser.text() for step in steps):
            break
        time.sleep(0.5)
        browser.evaluate("window.dispatchEvent(new HashChangeEvent('hashchange'))")
        story.settled("Trace")
    check(all(step in browser.text() for step in steps), f"steps are missing: {browser.text()}")
    browser.click("button.step", "transaction.created")
    browser.says("Sequence", ".detail")
    # What comes while one looks; heartbeats do.
    story.view("events", "Events")
    browser.click("button", "Follow live")
    browser.until("an event to come by itself", "document.querySelector('tr.new')", patience=2)
    browser.click("button", "Stop following")
    story.view("events?subject=nothing-like-it", "Events")
    browser.says("No event is like that.")
    story.view("trace?id=nothing-like-it", "Trace")
    browser.says("There is none", "[role=alert]")
    story.quiet()


def repairing(story):
    """A parked event is retried and a job cancelled, in the name of who has signed in."""
    browser, world = story.browser, story.world
    story.enter()
    story.view("parked", "Parked events")
    card = f"section[aria-labelledby='parked-analytics-{world['parked']}']"
    browser.says("waits, 2", card)
    browser.evaluate(f"document.querySelector({json.dumps(card + ' button.main')}).focus()")
    browser.press("Enter")
    browser.until("the dialog", "document.querySelector('dialog[open]')")
    browser.press("Escape")
    browser.until("the dialog to close", "!document.querySelector('dialog')")
    check(browser.evaluate("document.activeElement.innerText") == "Retry in order", "the focus is lost")
    # A question does not outlive its view.
    browser.click("button", "Retry in order", within=card)
    browser.until("the dialog", "document.querySelector('dialog[open]')")
    story.view("jobs", "Jobs")
    browser.until("the dialog to close", "!document.querySelector('dialog')")
    story.view("parked", "Parked events")
    browser.click("button", "Retry in order", within=card)
    story.reason("the handler was fixed", "Retry")
    browser.says("Retried: 2 applied", "#said")
    browser.until("the card to go", f"!document.querySelector({json.dumps(card)})")
    story.view(f"jobs?service=account&state=failed", "Jobs")
    cancel = f"button[aria-label='Cancel never_run {world['job']}']"
    browser.evaluate(f"document.querySelector({json.dumps(cancel)}).focus()")
    browser.press("Enter")
    story.reason("nobody needs it", "Cancel")
    browser.until("the job to go", f"!document.querySelector({json.dumps(cancel)})")
    check(browser.evaluate("document.activeElement.tagName") == "H1", "the focus is lost with the job")
    story.view(f"audit?service=account&subject={world['job']}", "Audit")
    browser.says("job.cancelled")
    row = browser.text("tbody tr")
    check("ada" in row and "nobody needs it" in row, f"the audit says {row}")
    browser.click("button", "Verify the chain")
    browser.says("whole", ".notice")
    story.view("audit?service=analytics", "Audit")
    browser.says("parked.retried")
    story.quiet()


def deciding(story):
    """A payment that the provider took back is reversed by two operators; one alone is refused."""
    browser, address = story.browser, f"transfers/{story.world['payment']}"
    story.enter("ada")
    story.view(address, "Transfer")
    browser.says("completed", ".timeline")
    browser.click("button", "Propose: reversed")
    story.reason("on the provider's statement", "Propose")
    browser.says("a second operator has to approve", "#said")
    browser.says("by ada", ".card")
    browser.click(".card button", "Approve")
    browser.click("dialog button[type=submit]", "Approve")
    browser.until("a refusal", "document.querySelector('dialog [role=alert]')")
    browser.press("Escape")
    browser.click("#leave")
    browser.says("Sign in", "h1")
    story.enter("bola")
    # The second operator finds it without being told its id.
    story.view("transfers", "Transfers")
    browser.says("on the provider's statement", "section")
    browser.click(f"section a[href='#/{address}']")
    story.settled("Transfer")
    browser.click(".card button", "Approve")
    browser.click("dialog button[type=submit]", "Approve")
    browser.says("Approved.", "#said")
    browser.says("reversed", ".timeline")
    story.quiet()


def replaying(story):
    """What a service would do is looked at first, and then done; handled before, it changes nothing."""
    browser, correlation = story.browser, story.world["correlation"]
    story.enter()
    for mode, end in (("Dry run", "would be different"), ("Run", "No event was refused, and none failed.")):
        story.view("replay", "Replay")
        browser.choose("select[name=service]", "analytics")
        browser.fill("input[name=correlation]", correlation)
        browser.click("button.main", "Plan")
        browser.says("events for analytics")
        browser.click("section.card button", mode)
        story.reason(f"to see what a {mode.lower()} shows", mode)
        browser.until("the replay's own view", "location.hash.startsWith('#/replay/')")
        browser.until("its end", "document.querySelector('.progress .badge')?.innerText === 'finished'", patience=4)
        browser.says(end)
        bar = browser.evaluate("(() => { const bar = document.querySelector('progress'); return bar.value / bar.max })()")
        check(bar == 1, f"the bar stands at {bar}")
        browser.evaluate("document.querySelector('main h1').remove()")
    story.view("audit?service=console", "Audit")
    browser.says("to see what a run shows")
    story.quiet()


def _overflows(browser):
    return browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def _judge(browser, where, parts=None):
    place = f"[...document.querySelectorAll({json.dumps(parts)})]" if parts else "document"
    found = browser.evaluate(f"axe.run({place}, {json.dumps(RULES)}).then((result) => result.violations.map((one) => "
                             "({rule: one.id, help: one.help, nodes: one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200))})))")
    check(found == [], f"axe objects to {where}: {json.dumps(found, indent=1)}")


def looks(story):
    """Every view: for who cannot see it, on a phone, at night; pictures of each are left behind."""
    browser = story.browser
    pictures = pathlib.Path(story.world["pictures"])
    pictures.mkdir(parents=True, exist_ok=True)
    # axe is put in from outside, which the page itself forbids.
    browser.call("Page.setBypassCSP", enabled=True)
    browser.open(story.page)
    browser.says("Sign in", "h1")
    browser.evaluate(AXE.read_text() + ";true")
    _judge(browser, "signing in")
    browser.picture(pictures / "signin.png")
    story.enter()
    browser.evaluate(AXE.read_text() + ";true")
    payment, event = story.world["payment"], story.world["event"]
    addresses = [*VIEWS, f"trace?id={payment}", f"events/{event}", f"transfers/{payment}"]
    for address in addresses:
        name = address.split("?")[0].split("/")[0] + ("-one" if "/" in address or "?" in address else "")
        for look, (width, height), scheme in (("light", WIDE, "light"), ("dark", WIDE, "dark"), ("narrow", PHONE, "light")):
            browser.size(width, height, is_phone=look == "narrow")
            browser.scheme(scheme)
            if look == "light":
                story.view(address)
                browser.until("its heading", "document.querySelector('main h1')")
            check(_overflows(browser) <= 0, f"{address} is {_overflows(browser)} px too wide at {width}")
            _judge(browser, f"{address}, {look}")
            browser.picture(pictures / f"{name}-{look}.png")
        check(not browser.evaluate("!!document.querySelector('main [role=alert]')"), f"{address} says {browser.text()}")
    check("s1." not in browser.text("body"), "sealed bytes are shown")
    story.quiet()


def documents(story):
    """What everybody may read: for who cannot see it, on a phone, at night; pictures of each are left behind."""
    browser = story.browser
    pictures = pathlib.Path(story.world["pictures"])
    pictures.mkdir(parents=True, exist_ok=True)
    for path, heading in (("/", "Pay a person"), ("/docs/first-payment", "First payment"), ("/docs/", "API reference")):
        # Axe objects to buttons of Swagger UI, which shows nothing here: openapi.yaml is the gateway's.
        ours = path != "/docs/"
        browser.call("Page.setBypassCSP", enabled=ours)
        browser.open(story.world["url"] + path)
        browser.says(heading, "h1")
        if ours:
            browser.evaluate(AXE.read_text() + ";true")
        for look, (width, height), scheme in (("light", WIDE, "light"), ("dark", WIDE, "dark"), ("narrow", PHONE, "dark")):
            browser.size(width, height, is_phone=look == "narrow")
            browser.scheme(scheme)
            check(_overflows(browser) <= 0, f"{path} is {_overflows(browser)} px too wide at {width}")
            if ours:
                _judge(browser, f"{path}, {look}")
            browser.picture(pictures / f"{path.strip('/').replace('/', '-') or 'start'}-{look}.png")
    story.quiet()


def reference(story):
    """The reference with its viewer: for everybody; then as somebody invented, whose requests are granted."""
    browser, pictures = story.browser, pathlib.Path(story.world["pictures"])
    pictures.mkdir(parents=True, exist_ok=True)
    browser.call("Page.setBypassCSP", enabled=True)
    browser.open(story.world["url"] + "/docs/")
    browser.until("the operations", "document.querySelectorAll('#reference .opblock').length > 50", patience=3)
    browser.evaluate(AXE.read_text() + ";true")
    _looks_of_reference(browser, pictures, "closed")
    browser.click("#invent")
    browser.says("You are @try", "#who", patience=4)
    for operation, status in (("getWallet", 200), ("payUser", 202), ("listTransactions", 200)):
        _execute(browser, operation, status)
    _looks_of_reference(browser, pictures, "tried", "#somebody, #reference .opblock.is-open")
    story.quiet()


def _execute(browser, operation, status):
    """Tries an operation out with what the page has put into its fields, and closes it unless it is the payment."""
    block = f"[id$='-{operation}'].opblock"
    browser.evaluate(f"document.querySelector({json.dumps(block)}).scrollIntoView()")
    browser.click(f"{block} .opblock-summary-control")
    browser.click(f"{block} .try-out__btn")
    browser.click(f"{block} .execute")
    browser.says(str(status), f"{block} .live-responses-table .response-col_status", patience=2)
    if operation != "payUser":
        browser.click(f"{block} .opblock-summary-control")


def _looks_of_reference(browser, pictures, name, parts=None):
    for look, (width, height), scheme in (("light", WIDE, "light"), ("narrow", PHONE, "dark")):
        browser.size(width, height, is_phone=look == "narrow")
        browser.scheme(scheme)
        browser.until("the colours", "document.documentElement.classList.contains('dark-mode') === "
                      f"{json.dumps(scheme == 'dark')} && document.getAnimations().length === 0")
        check(_overflows(browser) <= 0, f"the reference, {name}, is {_overflows(browser)} px too wide at {width}")
        _judge(browser, f"the reference, {name}, {look}", parts)
        browser.picture(pictures / f"{name}-{look}.png", whole=False)


STORIES = {story.__name__: story for story in (documents, reference, signing_in, overview, looking, repairing, deciding, replaying, looks)}


def main(path, names):
    world = json.loads(pathlib.Path(path).read_text())
    for name in names:
        with Browser() as browser:
            try:
                STORIES[name](Story(browser, world))
            except Failure as failure:
                sys.exit(f"{name}: {failure}")
        print(f"{name}: well")


if __name__ == "__main__":
    if len(sys.argv) < 3 or not set(sys.argv[2:]) <= STORIES.keys():
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
