-- The plan as the transaction service would have written it: orders, books, history, drops and requests. Everything has
-- ended, so nothing here is for jobs to do, and nothing is as young as the events that are still kept.

-- What people wrote, sealed by whoever has the keys: the key of each text is that of its row.
CREATE TEMP TABLE seed_texts (key uuid PRIMARY KEY, sealed text NOT NULL);
-- Requests that were paid, each by its payment, and many that were not. Five of person 1 are open.
CREATE TEMP TABLE seed_requests AS
SELECT x.*, pg_temp.random_id(md5('${seed} request ' || x.n)) AS id, x.ms + 604800000 AS expires
FROM (
    SELECT r.n, r.recipient AS owner, CASE WHEN pg_temp.chance(r.n, 50) < 0.8 THEN r.sender END AS payer, r.amount,
        r.ms - 3600000 AS ms, r.done AS ended, 'fulfilled' AS state, pg_temp.id_at(r.ms, r.h) AS transfer_id
    FROM seed_routed r
    WHERE r.type = 'p2p' AND r.state = 'completed'
      AND pg_temp.chance(r.n, 51) < CASE WHEN 1 IN (r.sender, r.recipient) THEN 0.15 ELSE 0.05 END
    UNION ALL
    SELECT y.n, y.owner, y.payer, y.amount, y.ms, CASE y.state WHEN 'open' THEN NULL WHEN 'expired' THEN y.ms + 604800000 ELSE y.ms + 86400000 END,
        y.state, NULL
    FROM (
        SELECT 500000000 + i AS n,
            CASE WHEN i <= ${requests} THEN 1 WHEN i <= 2 * ${requests} THEN pg_temp.anybody(pg_temp.chance(i, 53))
                ELSE pg_temp.busy(pg_temp.chance(i, 53)) END AS owner,
            CASE WHEN i <= ${requests} THEN pg_temp.anybody(pg_temp.chance(i, 54)) WHEN i <= 2 * ${requests} THEN 1 END AS payer,
            CASE WHEN pg_temp.chance(i, 55) < 0.9 THEN 100 * (10 + floor(pg_temp.chance(i, 56) * 4990))::bigint END AS amount,
            CASE WHEN i <= 5 THEN ${first} + ${span} - i * 60000
                ELSE ${first} + 7200000 + floor(pg_temp.chance(i, 57) * (${span} - 7200000 - 604800000))::bigint END AS ms,
            CASE WHEN i <= 5 THEN 'open' WHEN pg_temp.chance(i, 58) < 0.1 THEN 'cancelled'
                WHEN pg_temp.chance(i, 58) < 0.4 AND i <= 2 * ${requests} THEN 'declined' ELSE 'expired' END AS state
        FROM generate_series(1, 2 * ${requests} + ${transactions} / 50) i
    ) y
) x;

CREATE TEMP VIEW seed_words AS
    SELECT 'description' AS field, pg_temp.id_at(r.ms, r.h) AS key, r.sender AS owner FROM seed_routed r
    WHERE r.type = 'p2p' AND pg_temp.chance(r.n, 60) < 0.2
    UNION ALL SELECT 'drop_title', d.id, d.creator FROM seed_drops d WHERE pg_temp.chance(d.n, 61) < 0.3
    UNION ALL SELECT 'request_description', q.id, q.owner FROM seed_requests q WHERE pg_temp.chance(q.n, 62) < 0.3;

-- Orders ----------------------------------------------------------------------------------------------------------------

-- step orders
INSERT INTO transfers (id, reference, type, state, sequence, steps, sender_id, recipient_id, recipient_username,
    debit_account, credit_account, amount, fee, duty, route, route_reason, source_account, beneficiary_id, destination,
    slot_month, spent_day, spent_month, device_id, description, api_route, idempotency_key, request_key, request_hash,
    answer_version, payment_request_id, parent_id, correlation_id, provider_id, failure_reason, created_at, submitted_at, ended_at)
SELECT x.id,
    CASE x.type WHEN 'inbound' THEN 'inb-' || x.id
        WHEN 'subscription_charge' THEN 'sub-' || s.id || '-' || to_char(x.day, 'YYYYMMDD') ELSE 'trf-' || x.id END,
    x.type, x.state,
    CASE WHEN x.type = 'inbound' THEN 1 ELSE 2 END + (x.route_reason = 'no_slot')::integer + (x.state = 'reversed')::integer,
    CASE WHEN x.type IN ('inbound', 'subscription_charge') THEN 1 ELSE 3 END + (x.state = 'reversed')::integer,
    s.id, r.id, r.username,
    CASE WHEN x.type = 'inbound' THEN system_account('provider_clearing', x.id) WHEN s.id IS NULL THEN d.pool_id ELSE s.wallet END,
    CASE WHEN x.type = 'subscription_charge' THEN system_account('revenue', x.id) WHEN x.type = 'money_drop' THEN d.pool_id
        WHEN x.route = 'external' THEN system_account('provider_clearing', x.id) ELSE r.wallet END,
    x.amount, x.fee, x.duty, x.route, x.route_reason,
    CASE WHEN x.type IN ('drop_claim', 'drop_refund') THEN '${pool}' ELSE s.account END,
    CASE WHEN x.type = 'self_transfer' THEN s.beneficiary WHEN x.route = 'external' THEN r.beneficiary END,
    CASE WHEN x.type = 'self_transfer' THEN s.counterparty WHEN x.type = 'money_drop' THEN '${pool}'
        WHEN x.route = 'external' THEN r.counterparty ELSE r.account END,
    x.slot_month, CASE WHEN x.api_route IS NOT NULL THEN x.day END, CASE WHEN x.api_route IS NOT NULL THEN month_of(x.day) END,
    CASE WHEN x.api_route IS NOT NULL THEN s.device END, w.sealed, x.api_route, 'seed-' || x.key,
    sha256(convert_to(s.id || E'\n' || x.api_route || E'\nseed-' || x.key, 'UTF8')),
    CASE WHEN x.api_route IS NOT NULL THEN sha256(convert_to(x.h, 'UTF8')) END,
    CASE WHEN x.api_route IS NOT NULL THEN answer_version() END,
    q.id, d.id, x.id, CASE x.type WHEN 'inbound' THEN 'seed-pay-' WHEN 'subscription_charge' THEN NULL ELSE 'seed-trf-' END || x.n,
    CASE x.state WHEN 'failed' THEN 'refused_by_bank' WHEN 'reversed' THEN 'returned_by_bank' END,
    x.created_at, CASE WHEN x.type NOT IN ('inbound', 'subscription_charge') THEN x.created_at + interval '40 milliseconds' END,
    x.ended_at
FROM (
    SELECT y.*, pg_temp.id_at(y.ms, y.h) AS id, pg_temp.moment(y.ms) AS created_at,
        CASE WHEN y.type IN ('inbound', 'subscription_charge') THEN pg_temp.moment(y.ms) ELSE pg_temp.moment(y.done) END
            + CASE WHEN y.state = 'reversed' THEN interval '2 hours' ELSE '0' END AS ended_at,
        CASE y.type WHEN 'p2p' THEN 'POST /transactions/p2p' WHEN 'self_transfer' THEN 'POST /transactions/self-transfer'
            WHEN 'money_drop' THEN 'POST /money-drops' END AS api_route,
        CASE WHEN y.type IN ('p2p', 'self_transfer', 'money_drop') THEN y.n END AS key
    FROM seed_routed y
) x
LEFT JOIN seed_people s ON s.rank = x.sender
LEFT JOIN seed_people r ON r.rank = x.recipient
LEFT JOIN seed_drops d ON d.n = x.drop_n
LEFT JOIN seed_requests q ON q.transfer_id = x.id
LEFT JOIN seed_texts w ON w.key = x.id
ORDER BY x.ms;
ANALYZE transfers;

-- step history
INSERT INTO transfer_steps (transfer_id, step, state, actor, evidence, happened_at)
SELECT t.id, l.step, l.state, l.actor, l.evidence, l.at
FROM transfers t CROSS JOIN LATERAL (VALUES
    (1, CASE WHEN t.submitted_at IS NOT NULL THEN 'accepted' ELSE 'completed' END,
        CASE t.type WHEN 'inbound' THEN 'provider' WHEN 'subscription_charge' THEN 'subscription' WHEN 'drop_claim' THEN 'claimant'
            WHEN 'drop_refund' THEN 'scheduler' ELSE 'sender' END,
        CASE WHEN t.submitted_at IS NULL THEN 'seed' END, t.created_at),
    (2, CASE WHEN t.submitted_at IS NOT NULL THEN 'submitted' END, 'worker', NULL, t.submitted_at),
    (3, CASE WHEN t.submitted_at IS NOT NULL THEN CASE t.state WHEN 'failed' THEN 'failed' ELSE 'completed' END END, 'provider', 'seed',
        t.ended_at - CASE t.state WHEN 'reversed' THEN interval '2 hours' ELSE '0' END),
    (4, CASE t.state WHEN 'reversed' THEN 'reversed' END, 'provider', 'seed', t.ended_at)
) AS l(step, state, actor, evidence, at)
WHERE l.state IS NOT NULL;

INSERT INTO holds (transfer_id, account_id, amount, state)
SELECT t.id, t.debit_account, t.amount + t.fee + t.duty, CASE t.state WHEN 'failed' THEN 'released' ELSE 'posted' END
FROM transfers t WHERE t.type NOT IN ('inbound', 'drop_claim', 'drop_refund');

INSERT INTO provider_calls (reference, attempt, operation, started_at, deadline_at, ended_at, outcome, correlation_id)
SELECT t.reference, 1, 'create_transfer', t.submitted_at, t.submitted_at + interval '10 seconds',
    t.submitted_at + interval '200 milliseconds', 'answered', t.id
FROM transfers t WHERE t.submitted_at IS NOT NULL;

-- The books -------------------------------------------------------------------------------------------------------------

-- step drops
INSERT INTO ledger_accounts (id, kind, owner_id, created_at)
SELECT d.pool_id, 'drop_pool', d.id, pg_temp.moment(d.ms) FROM seed_drops d;
INSERT INTO balances (account_id) SELECT d.pool_id FROM seed_drops d;

INSERT INTO money_drops (id, creator_id, pool_id, pool_account, funding_id, amount_per_claim, slots, title, link, state,
    end_reason, sequence, expires_at, created_at, opened_at, ended_at, given_back)
SELECT d.id, p.id, d.pool_id, '${pool}', f.id, d.amount, d.slots, w.sealed, '${link}/d/' || d.id, 'ended',
    CASE WHEN d.claims = d.slots THEN 'claimed' ELSE 'expired' END, 2 + d.claims + (d.claims < d.slots)::integer,
    f.created_at + interval '1 day', f.created_at, f.ended_at,
    f.created_at + CASE WHEN d.claims = d.slots THEN interval '3 hours' ELSE interval '1 day 1 minute' END,
    (d.slots - d.claims) * d.amount
FROM seed_drops d
JOIN seed_people p ON p.rank = d.creator
JOIN transfers f ON f.parent_id = d.id AND f.type = 'money_drop'
LEFT JOIN seed_texts w ON w.key = d.id
ORDER BY d.ms;

INSERT INTO drop_slots (drop_id, position, state, claimant_id, transfer_id, claimed_at)
SELECT t.parent_id, row_number() OVER (PARTITION BY t.parent_id ORDER BY t.id), 'paid', t.recipient_id, t.id, t.created_at
FROM transfers t WHERE t.type = 'drop_claim'
UNION ALL
SELECT t.parent_id, d.claims + k, 'refunded', NULL, t.id, NULL
FROM transfers t JOIN seed_drops d ON d.id = t.parent_id CROSS JOIN LATERAL generate_series(1, d.slots - d.claims) k
WHERE t.type = 'drop_refund';

-- step entries
INSERT INTO entries (account_id, sequence, amount, balance_after, leg, transfer_id, posted_at)
SELECT x.account, row_number() OVER running, x.amount, (sum(x.amount) OVER running)::bigint, x.leg, x.id, x.at
FROM (
    SELECT t.id, l.*
    FROM (SELECT y.*, y.ended_at - CASE y.state WHEN 'reversed' THEN interval '2 hours' ELSE '0' END AS done FROM transfers y
          WHERE y.state IN ('completed', 'reversed')) t
    CROSS JOIN LATERAL (VALUES
        (1, t.debit_account, 'amount', -t.amount, t.done), (2, t.credit_account, 'amount', t.amount, t.done),
        (3, t.debit_account, 'fee', -t.fee, t.done), (4, system_account('fees', t.id), 'fee', t.fee, t.done),
        (5, t.debit_account, 'duty', -t.duty, t.done), (6, system_account('stamp_duty', t.id), 'duty', t.duty, t.done),
        (7, t.credit_account, 'reversal', CASE t.state WHEN 'reversed' THEN -t.amount ELSE 0 END, t.ended_at),
        (8, t.debit_account, 'reversal', CASE t.state WHEN 'reversed' THEN t.amount ELSE 0 END, t.ended_at)
    ) AS l(line, account, leg, amount, at)
    WHERE l.amount <> 0
) x
WINDOW running AS (PARTITION BY x.account ORDER BY x.at, x.id, x.line ROWS UNBOUNDED PRECEDING);

UPDATE balances b SET posted = x.total, sequence = x.last
FROM (SELECT account_id, sum(amount)::bigint AS total, count(*) AS last FROM entries GROUP BY 1) x
WHERE b.account_id = x.account_id;

INSERT INTO inbound_payments (provider_payment_id, provider_account, user_id, amount, disposition, transfer_id, received_at)
SELECT t.provider_id, t.destination, t.recipient_id, t.amount, 'credited', t.id, t.created_at
FROM transfers t WHERE t.type = 'inbound';

INSERT INTO subscription_charges (reference, user_id, attempt, transfer_id, sequence, decided_at)
SELECT t.reference, t.sender_id, 1, t.id, 1, t.created_at FROM transfers t WHERE t.type = 'subscription_charge';

-- step requests
INSERT INTO payment_requests (id, owner_id, payer_id, amount, description, link, reference, state, transfer_id, sequence,
    expires_at, created_at, ended_at, paid_count, paid_total)
SELECT q.id, o.id, p.id, q.amount, w.sealed, '${link}/r/' || q.id,
    CASE WHEN pg_temp.chance(q.n, 63) < 0.2 THEN 'SALE-' || q.n END, q.state, q.transfer_id,
    CASE q.state WHEN 'open' THEN 1 ELSE 2 END, pg_temp.moment(q.expires), pg_temp.moment(q.ms), pg_temp.moment(q.ended),
    (q.state = 'fulfilled')::integer, CASE q.state WHEN 'fulfilled' THEN q.amount ELSE 0 END
FROM seed_requests q
JOIN seed_people o ON o.rank = q.owner
LEFT JOIN seed_people p ON p.rank = q.payer
LEFT JOIN seed_texts w ON w.key = q.id
ORDER BY q.ms;

UPDATE spending_counters c SET day = x.day, day_total = x.day_total, month = x.month, month_total = x.month_total
FROM (
    SELECT t.sender_id, l.day, month_of(l.day) AS month, coalesce(sum(t.spent) FILTER (WHERE t.spent_day = l.day), 0) AS day_total,
        coalesce(sum(t.spent) FILTER (WHERE t.spent_month = month_of(l.day)), 0) AS month_total
    FROM (SELECT x.*, x.amount - coalesce(d.given_back, 0) AS spent
          FROM transfers x LEFT JOIN money_drops d ON d.funding_id = x.id) t
    JOIN (SELECT sender_id, max(spent_day) AS day FROM transfers WHERE spent_day IS NOT NULL GROUP BY 1) l USING (sender_id)
    WHERE t.spent_day IS NOT NULL AND t.state NOT IN ('failed', 'reversed') GROUP BY 1, 2
) x
WHERE c.user_id = x.sender_id;

UPDATE receiving_counters c SET month = x.month, slots_used = x.used, event_sequence = x.told
FROM (
    SELECT t.recipient_id, l.month, l.told,
        count(*) FILTER (WHERE t.slot_month = l.month AND t.state NOT IN ('failed', 'reversed')) AS used
    FROM transfers t
    JOIN (SELECT recipient_id, max(slot_month) AS month,
              count(*) + count(*) FILTER (WHERE state IN ('failed', 'reversed')) AS told
          FROM transfers WHERE slot_month IS NOT NULL GROUP BY 1) l USING (recipient_id)
    WHERE t.slot_month IS NOT NULL GROUP BY 1, 2, 3
) x
WHERE c.user_id = x.recipient_id;
