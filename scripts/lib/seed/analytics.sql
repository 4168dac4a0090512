-- What analytics has counted of the transactions: the first generation of its projection as it would have been, in one part,
-- as long as it has one queue. `seed_heard` has a row per transaction that moved money.

INSERT INTO facts (generation, id, state)
SELECT 1, h.id, CASE WHEN h.is_back THEN 'taken_back' ELSE 'counted' END FROM seed_heard h;

-- step movements
INSERT INTO movements (generation, fact_id, user_id, direction, amount, category, counterparty_id, day, part)
SELECT 1, h.id, l.user_id, l.direction, l.amount, l.category, l.counterparty_id, (h.at AT TIME ZONE 'Africa/Lagos')::date, 0
FROM seed_heard h
CROSS JOIN LATERAL (VALUES
    (coalesce(h.creator_id, h.sender_id), 'money_out', CASE h.type WHEN 'self_transfer' THEN 0 ELSE h.amount END, CASE h.type
        WHEN 'drop_claim' THEN 'gifts' WHEN 'subscription_charge' THEN 'subscriptions'
        ELSE CASE h.recipient_type WHEN 'merchant' THEN 'shopping' ELSE 'transfers' END END, h.recipient_id),
    (h.recipient_id, CASE h.route WHEN 'external' THEN 'in_bank' ELSE 'in_wallet' END, h.amount, CASE h.type
        WHEN 'drop_claim' THEN 'gifts' WHEN 'inbound' THEN 'top_ups'
        ELSE CASE h.recipient_type WHEN 'merchant' THEN 'sales' ELSE 'received' END END, coalesce(h.creator_id, h.sender_id)),
    (h.sender_id, 'fees', h.fee + h.duty, 'fees', NULL)
) AS l(user_id, direction, amount, category, counterparty_id)
WHERE l.user_id IS NOT NULL AND l.amount > 0 AND NOT h.is_back
ORDER BY h.at;

-- step totals
INSERT INTO day_totals (generation, user_id, day, part, in_wallet, in_bank, money_out, fees)
SELECT 1, user_id, day, part, coalesce(sum(amount) FILTER (WHERE direction = 'in_wallet'), 0),
    coalesce(sum(amount) FILTER (WHERE direction = 'in_bank'), 0), coalesce(sum(amount) FILTER (WHERE direction = 'money_out'), 0),
    coalesce(sum(amount) FILTER (WHERE direction = 'fees'), 0)
FROM movements GROUP BY user_id, day, part ORDER BY day;

INSERT INTO day_categories (generation, user_id, day, part, category, money_in, money_out)
SELECT 1, user_id, day, part, category, coalesce(sum(amount) FILTER (WHERE direction IN ('in_wallet', 'in_bank')), 0),
    coalesce(sum(amount) FILTER (WHERE direction IN ('money_out', 'fees')), 0)
FROM movements GROUP BY user_id, day, part, category ORDER BY day;

-- A few categories that person 1 has chosen.
INSERT INTO chosen_categories (user_id, transaction_id, category, updated_at)
SELECT m.user_id, m.fact_id, 'food', max(h.at)
FROM movements m JOIN seed_heard h ON h.id = m.fact_id
WHERE m.user_id = '${heavy_id}' AND m.direction = 'money_out' AND m.category = 'transfers'
GROUP BY 1, 2 ORDER BY m.fact_id DESC LIMIT 200;
