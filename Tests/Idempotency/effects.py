"""How effects are counted: the rows that an operation adds, each in the database of its service."""

import collections

OUTBOX = "SELECT count(*) FROM outbox WHERE type = '{}'"
REPLACED = "SELECT count(*) FROM jobs WHERE kind = 'discard_image' AND key LIKE '%.replaced'"

# By name: service, and what counts. Every one grows by what the granted orders of its operations say, and by nothing else.
EFFECTS = {
    "payments": ("transaction", "SELECT count(*) FROM transfers WHERE type = 'p2p' AND payment_request_id IS NULL"),
    "paid requests": ("transaction", "SELECT count(*) FROM transfers WHERE payment_request_id IS NOT NULL"),
    "withdrawals": ("transaction", "SELECT count(*) FROM transfers WHERE type = 'self_transfer'"),
    "approvals": ("transaction", "SELECT count(*) FROM approval_nonces"),
    "drops": ("transaction", "SELECT count(*) FROM money_drops"),
    "claims": ("transaction", "SELECT count(*) FROM transfers WHERE type = 'drop_claim'"),
    "ended drops": ("transaction", "SELECT count(*) FROM money_drops WHERE end_reason = 'ended'"),
    "requests": ("transaction", "SELECT count(*) FROM payment_requests"),
    "cancelled requests": ("transaction", "SELECT count(*) FROM payment_requests WHERE state = 'cancelled'"),
    "declined requests": ("transaction", "SELECT count(*) FROM payment_requests WHERE state = 'declined'"),
    "replaced request images": ("transaction", REPLACED),
    "disputes": ("transaction", "SELECT count(*) FROM disputes"),
    "users": ("auth", "SELECT count(*) FROM users"),
    "details": ("auth", OUTBOX.format("user.details_provided")),
    "devices": ("auth", "SELECT count(*) FROM devices"),
    "revoked devices": ("auth", "SELECT count(*) FROM devices WHERE revoked_at IS NOT NULL"),
    "changed PINs": ("auth", OUTBOX.format("pin.changed")),
    "reset PINs": ("auth", OUTBOX.format("pin.reset")),
    "bank accounts": ("customer", "SELECT count(*) FROM beneficiaries"),
    "removed bank accounts": ("customer", "SELECT count(*) FROM beneficiaries WHERE deleted_at IS NOT NULL"),
    "chosen bank accounts": ("customer", OUTBOX.format("beneficiary.defaulted")),
    "enquiries": ("customer", "SELECT count(*) FROM name_enquiries"),
    "documents": ("customer", "SELECT count(*) FROM jobs WHERE kind = 'deliver_document'"),
    "replaced profile images": ("customer", REPLACED),
    "settings": ("customer", OUTBOX.format("user.settings_changed")),
    "blocks": ("customer", OUTBOX.format("user.block_changed")),
    "read messages": ("notification", "SELECT count(*) FROM notifications WHERE read_at IS NOT NULL"),
    "push tokens": ("notification", "SELECT count(*) FROM push_tokens"),
    "plan orders": ("subscription", "SELECT count(*) FROM approval_nonces"),
    "cancelled plans": ("subscription", OUTBOX.format("subscription.cancelled")),
    "categories": ("analytics", "SELECT count(*) FROM chosen_categories"),
}
# A refused order uses its approval up too.
SPENT_BY_REFUSALS = ("approvals", "plan orders")


def counted(world):
    return {name: world.number(service, sql) for name, (service, sql) in EFFECTS.items()}


def wanted(orders):
    """By effect, how many rows there must be more: from and to."""
    sums, refused = collections.Counter(), collections.Counter()
    for order in orders:
        for name in order.operation.known.effects:
            if order.is_granted:
                # An approval is spent whatever else the order changes.
                sums[name] += 1 if name in SPENT_BY_REFUSALS else order.effects
            else:
                refused[name] += 1
    return {name: (sums[name], sums[name] + (refused[name] if name in SPENT_BY_REFUSALS else 0)) for name in EFFECTS}


def check(results, before, after, orders):
    """One check for each effect that an order could have."""
    named = {name for order in orders for name in order.operation.known.effects}
    for name, (least, most) in wanted(orders).items():
        grown = after[name] - before[name]
        if name in named:
            results.check(f"{name}: {grown:+d}, as the granted keys say", least <= grown <= most,
                          f"{least} to {most} were wanted")
        elif grown:
            results.check(f"{name}: none", False, f"{grown:+d}, and nobody asked for any")


async def check_books(results, world):
    """What the operator's route says of the books, what the provider has seen, and the stored answers."""
    broken = (await world.operate("GET", "transaction", "/internal/invariants")).json()
    results.check("the books are whole", not broken, str(broken)[:500])
    summary = await world.sandbox("GET", "/sandbox/summary")
    results.check("the provider was asked for no transfer twice", not summary["duplicate_references"],
                  str(summary["duplicate_references"])[:300])
    results.check("at the provider no money came from nowhere",
                  summary["total_in"] - summary["total_out"] == summary["total_ledger"], str(summary)[:300])


def check_final(results, world, states):
    """What was said last is what holds: a repetition of something older has not brought it back."""
    by_title = collections.defaultdict(list)
    for title, service, sql, values, expected in states:
        found = world.rows(service, sql, *values)
        if found != expected:
            by_title[title].append(f"{values}: {found} and not {expected}")
        else:
            by_title[title] += []
    for title, wrong in sorted(by_title.items()):
        results.check(f"{title} are those that were said last", not wrong, "; ".join(wrong[:3]))
