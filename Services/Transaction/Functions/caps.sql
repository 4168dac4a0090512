-- Caps: of what a person may do so much and no more. Each is said once here, for the refusal and for GET /limits.
--
-- An amount of kobo is refused that is more than `most - used`, anything else once `used` has reached `most`. At
-- `until` the cap is gone, or what was counted first counts no more; null: time alone changes nothing. Each is one
-- SELECT, so that it is inlined: what limits an order is looked up in one statement with all its facts.

-- What a sender may send at all: of the limits of the level and the user's own the lower ones. Counters only move
-- forward, so their day and month may be later than the clock's.
CREATE OR REPLACE FUNCTION sending_caps(p_user uuid, p_tier smallint, p_now timestamptz) RETURNS TABLE (
    per_transfer bigint, per_day bigint, day_used bigint, spent_day date, per_month bigint, month_used bigint,
    spent_month date
) LANGUAGE sql STABLE AS $$
    SELECT least(coalesce(l.per_transfer, 0), ul.per_transfer),
        least(coalesce(l.per_day, 0), ul.per_day), CASE WHEN sp.day < lagos_day(p_now) THEN 0 ELSE sp.day_total END,
        greatest(sp.day, lagos_day(p_now)),
        least(coalesce(l.per_month, 0), ul.per_month),
        CASE WHEN sp.month < month_of(lagos_day(p_now)) THEN 0 ELSE sp.month_total END,
        greatest(sp.month, month_of(lagos_day(p_now)))
    FROM spending_counters sp
    LEFT JOIN user_limits ul ON ul.user_id = sp.user_id
    LEFT JOIN LATERAL limits_of(p_tier, p_now) l ON true
    WHERE sp.user_id = p_user LIMIT 1
$$;

-- What a device that was activated at a moment may approve while it is new.
CREATE OR REPLACE FUNCTION device_cap(p_device uuid, p_activated timestamptz, p_used bigint, p_now timestamptz)
RETURNS SETOF cap LANGUAGE sql STABLE AS $$
    SELECT 'limit_new_device', 'kobo', c.cap, p_used, p_activated + c.lasting, p_device, NULL::uuid, NULL::uuid,
        NULL::uuid
    FROM (SELECT * FROM device_caps x WHERE x.valid_from <= p_now ORDER BY x.valid_from DESC LIMIT 1) c
    WHERE p_activated > p_now - c.lasting
$$;

-- What a bank account that was added at a moment takes while it is new, together with the owner's other new ones.
CREATE OR REPLACE FUNCTION beneficiary_cap(p_user uuid, p_account uuid, p_added timestamptz, p_now timestamptz)
RETURNS SETOF cap LANGUAGE sql STABLE AS $$
    SELECT 'limit_new_beneficiary', 'kobo', c.cap, sent_to_new_accounts(p_user, p_now - c.lasting),
        p_added + c.lasting, NULL::uuid, p_account, NULL::uuid, NULL::uuid
    FROM (SELECT * FROM beneficiary_caps x WHERE x.valid_from <= p_now ORDER BY x.valid_from DESC LIMIT 1) c
    WHERE p_added > p_now - c.lasting
$$;

-- What a wallet may hold, with what is on its way into it and what of the owner's drops may still come back; none
-- without a ceiling. A drop that is not funded yet is still in the wallet.
CREATE OR REPLACE FUNCTION balance_cap(p_user uuid, p_ceiling bigint, p_posted bigint, p_incoming bigint)
RETURNS SETOF cap LANGUAGE sql STABLE AS $$
    SELECT 'recipient_limit', 'kobo', p_ceiling, p_posted + p_incoming + (
            SELECT coalesce(sum((SELECT b.posted FROM balances b WHERE b.account_id = d.pool_id)), 0)::bigint
            FROM money_drops d WHERE d.creator_id = p_user AND d.has_money),
        NULL::timestamptz, NULL::uuid, NULL::uuid, NULL::uuid, NULL::uuid
    WHERE p_ceiling IS NOT NULL
$$;

-- How often somebody may ask people for money: all of them in an hour.
CREATE OR REPLACE FUNCTION asking_cap(p_owner uuid, p_now timestamptz) RETURNS SETOF cap LANGUAGE sql STABLE AS $$
    SELECT 'asked_too_often', 'requests', 60::bigint, count(*), min(q.created_at) + interval '1 hour', NULL::uuid,
        NULL::uuid, NULL::uuid, NULL::uuid
    FROM payment_requests q
    WHERE q.owner_id = p_owner AND q.payer_id IS NOT NULL AND q.created_at > p_now - interval '1 hour'
$$;

-- One of them in a day; null: each who was asked.
CREATE OR REPLACE FUNCTION asking_one_cap(p_owner uuid, p_payer uuid, p_now timestamptz)
RETURNS SETOF cap LANGUAGE sql STABLE AS $$
    SELECT 'asked_too_often', 'requests', 20::bigint, count(*), min(q.created_at) + interval '1 day', NULL::uuid,
        NULL::uuid, q.payer_id, NULL::uuid
    FROM payment_requests q
    WHERE q.owner_id = p_owner AND q.payer_id IS NOT NULL AND (p_payer IS NULL OR q.payer_id = p_payer)
      AND q.created_at > p_now - interval '1 day'
    GROUP BY q.payer_id
$$;

-- One who has declined what they were asked in a day; null: each who has.
CREATE OR REPLACE FUNCTION declined_cap(p_owner uuid, p_payer uuid, p_now timestamptz)
RETURNS SETOF cap LANGUAGE sql STABLE AS $$
    SELECT 'asked_too_often', 'declined_requests', 3::bigint, count(*), min(q.created_at) + interval '1 day',
        NULL::uuid, NULL::uuid, q.payer_id, NULL::uuid
    FROM payment_requests q
    WHERE q.owner_id = p_owner AND q.payer_id IS NOT NULL AND (p_payer IS NULL OR q.payer_id = p_payer)
      AND q.created_at > p_now - interval '1 day' AND q.state = 'declined'
    GROUP BY q.payer_id
$$;

-- How many requests of a person may be open.
CREATE OR REPLACE FUNCTION open_cap(p_owner uuid, p_now timestamptz) RETURNS SETOF cap LANGUAGE sql STABLE AS $$
    SELECT 'too_many_requests_open', 'requests', 200::bigint, count(*), min(q.expires_at), NULL::uuid, NULL::uuid,
        NULL::uuid, NULL::uuid
    FROM payment_requests q
    WHERE q.owner_id = p_owner AND q.state IN ('open', 'processing') AND q.expires_at > p_now
$$;

-- And of these to one payer; null: to each who is asked.
CREATE OR REPLACE FUNCTION open_to_one_cap(p_owner uuid, p_payer uuid, p_now timestamptz)
RETURNS SETOF cap LANGUAGE sql STABLE AS $$
    SELECT 'too_many_requests_open', 'requests', 10::bigint, count(*), min(q.expires_at), NULL::uuid, NULL::uuid,
        q.payer_id, NULL::uuid
    FROM payment_requests q
    WHERE q.owner_id = p_owner AND q.payer_id IS NOT NULL AND (p_payer IS NULL OR q.payer_id = p_payer)
      AND q.state IN ('open', 'processing') AND q.expires_at > p_now
    GROUP BY q.payer_id
$$;

-- How many wrong passwords a drop takes of a person, each within a while of the one before, with those that are being
-- looked at; null: each such drop.
CREATE OR REPLACE FUNCTION password_cap(p_user uuid, p_drop uuid, p_now timestamptz)
RETURNS SETOF cap LANGUAGE sql STABLE AS $$
    SELECT 'too_many_wrong_passwords', 'passwords', 5::bigint, f.failures::bigint,
        f.last_failed_at + interval '15 minutes', NULL::uuid, NULL::uuid, NULL::uuid, f.drop_id
    FROM drop_password_failures f
    WHERE f.user_id = p_user AND (p_drop IS NULL OR f.drop_id = p_drop)
      AND f.last_failed_at > p_now - interval '15 minutes' AND f.failures > 0
$$;

-- All caps of a person, of at most a hundred payers and drops each: those of whom the least is left. What PINs approve
-- counts for the newest device; after a reset of the PIN that is one without a key, and is shown without an id.
CREATE OR REPLACE FUNCTION caps_of(p_user uuid, p_now timestamptz DEFAULT NULL) RETURNS TABLE (
    code text, unit text, most bigint, used bigint, remaining bigint, until timestamptz, device_id uuid,
    beneficiary_id uuid, payer_username text, drop_id uuid
) LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH person AS MATERIALIZED (
        SELECT u.id, u.tier, b.posted, c.incoming, n.at, s.*
        FROM (SELECT coalesce(p_now, transfa_now()) AS at) n
        CROSS JOIN users u
        JOIN balances b ON b.account_id = u.wallet_id
        JOIN receiving_counters c ON c.user_id = u.id
        CROSS JOIN LATERAL sending_caps(u.id, u.tier, n.at) s
        WHERE u.id = p_user
    ),
    found AS (
        SELECT x.place, x.cap
        FROM person p CROSS JOIN LATERAL (
            SELECT v.place, v.cap FROM (VALUES
                (1, ROW('limit_per_transfer', 'kobo', p.per_transfer, 0, NULL, NULL, NULL, NULL, NULL)::cap),
                (2, ROW('limit_per_day', 'kobo', p.per_day, p.day_used,
                    (p.spent_day + 1)::timestamp AT TIME ZONE 'Africa/Lagos', NULL, NULL, NULL, NULL)::cap),
                (3, ROW('limit_per_month', 'kobo', p.per_month, p.month_used,
                    (p.spent_month + interval '1 month') AT TIME ZONE 'Africa/Lagos', NULL, NULL, NULL, NULL)::cap)
            ) AS v(place, cap)
            UNION ALL SELECT 4, c FROM devices d CROSS JOIN LATERAL device_cap(
                CASE WHEN d.public_key <> '' THEN d.id END, d.activated_at, d.first_day_total, p.at) c
            WHERE d.user_id = p.id AND d.revoked_at IS NULL
              AND (d.public_key <> '' OR d.id = (SELECT y.id FROM device_to_cap(p.id, NULL) y))
            UNION ALL SELECT 5, c FROM beneficiaries y
            CROSS JOIN LATERAL beneficiary_cap(p.id, y.id, y.added_at, p.at) c
            WHERE y.user_id = p.id AND y.deleted_at IS NULL
            UNION ALL SELECT 6, c FROM recipient_facts(p.at) f
            CROSS JOIN LATERAL balance_cap(p.id, f.maximum_balance, p.posted, p.incoming) c WHERE f.user_id = p.id
            UNION ALL SELECT 7, c FROM asking_cap(p.id, p.at) c
            UNION ALL SELECT 8, c FROM asking_one_cap(p.id, NULL, p.at) c
            UNION ALL SELECT 9, c FROM declined_cap(p.id, NULL, p.at) c
            UNION ALL SELECT 10, c FROM open_cap(p.id, p.at) c
            UNION ALL SELECT 11, c FROM open_to_one_cap(p.id, NULL, p.at) c
            UNION ALL SELECT 12, c FROM password_cap(p.id, NULL, p.at) c
        ) x
    )
    SELECT y.code, y.unit, y.most, y.used, y.remaining, y.until, y.device_id, y.beneficiary_id, u.username, y.drop_id
    FROM (
        SELECT f.place, (f.cap).*, greatest((f.cap).most - (f.cap).used, 0) AS remaining,
            row_number() OVER (PARTITION BY f.place ORDER BY (f.cap).most - (f.cap).used, (f.cap).until DESC) AS nth
        FROM found f
    ) y
    LEFT JOIN users u ON u.id = y.payer_id
    WHERE y.nth <= 100 AND (y.payer_id IS NULL OR u.username IS NOT NULL)
    ORDER BY y.place, y.nth
$$;
