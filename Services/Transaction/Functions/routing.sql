-- Where the money of a payment goes: to the recipient's bank, or into the wallet.

-- A user's destination outside: a verified default beneficiary.
CREATE OR REPLACE FUNCTION default_beneficiary(p_user uuid) RETURNS SETOF beneficiaries LANGUAGE sql STABLE AS $$
    SELECT * FROM beneficiaries b
    WHERE b.user_id = p_user AND b.is_default AND b.verified AND b.deleted_at IS NULL AND b.counterparty_id IS NOT NULL
    ORDER BY b.id LIMIT 1
$$;

-- What routing asks about a recipient. `external_refusal` is why money cannot go to their bank, null if it can; whether
-- they are eligible (plan or slot) is decided later. Compare the username with COLLATE "C": the result of a function
-- has lost its column's collation, and the index is of no use without.
CREATE OR REPLACE FUNCTION recipient_facts(p_now timestamptz) RETURNS TABLE (
    user_id uuid, username text, wallet_id bigint, provider_account text, unavailable boolean, external_refusal text,
    beneficiary_id uuid, counterparty_id text, plan_active boolean, maximum_balance bigint
) LANGUAGE sql STABLE AS $$
    SELECT u.id, u.username, u.wallet_id, u.provider_account,
        u.status <> 'active' OR u.credits_blocked,
        CASE WHEN u.receive_preference = 'wallet' THEN 'prefers_wallet'
             WHEN u.kyc_status <> 'approved' THEN 'not_verified'
             WHEN b.id IS NULL THEN 'no_beneficiary' END,
        b.id, b.counterparty_id,
        coalesce(u.active_until > p_now, false),
        CASE WHEN l.tier IS NULL THEN 0 ELSE l.maximum_balance END
    FROM users u
    LEFT JOIN LATERAL default_beneficiary(u.id) b ON true
    LEFT JOIN LATERAL limits_of(u.tier, p_now) l ON true
$$;

-- The smallest id of a moment.
CREATE OR REPLACE FUNCTION first_id(moment timestamptz) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$$;

-- What a bank's transfers say. Few of them say nothing.
CREATE OR REPLACE FUNCTION bank_status(p_transfers bigint, p_failed bigint, p_late bigint, p_median double precision)
RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_transfers < 5 THEN 'normal'
        WHEN (p_failed + p_late) * 10 >= p_transfers * 8 THEN 'down'
        WHEN (p_failed + p_late) * 10 >= p_transfers * 2 OR p_median > 60 THEN 'slow'
        ELSE 'normal' END
$$;

-- Weighs all banks anew, by at most so many of the newest transfers. Returns how many are not normal.
CREATE OR REPLACE FUNCTION weigh_banks(p_limit integer, p_now timestamptz DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now constant timestamptz := coalesce(p_now, transfa_now());
    v_count integer;
BEGIN
    WITH newest AS MATERIALIZED (
        SELECT t.beneficiary_id, t.state, t.submitted_at, t.ended_at, t.failure_reason FROM transfers t
        WHERE t.route = 'external' AND t.id >= first_id(v_now - interval '30 minutes')
        ORDER BY t.id DESC LIMIT p_limit
    ),
    seen AS (
        SELECT b.bank_code, n.state = 'completed' AS arrived, n.state IN ('failed', 'reversed') AS failed,
            n.state IN ('submitted', 'unknown') AS late, extract(epoch FROM n.ended_at - n.submitted_at) AS seconds
        FROM newest n JOIN beneficiaries b ON b.id = n.beneficiary_id
        -- What never left says nothing about a bank, nor does what left a moment ago.
        WHERE b.bank_code IS NOT NULL AND n.submitted_at IS NOT NULL
          AND (n.ended_at IS NOT NULL OR n.submitted_at <= v_now - interval '2 minutes')
          -- Nor does what our provider refused before it reached one: AnchorRefusalCode.
          AND (n.failure_reason IS NULL OR n.failure_reason <> ALL (ARRAY['already_exists', 'verification_required',
              'product_not_allowed', 'insufficient_funds', 'duplicate_reference', 'invalid_phone_number',
              'invalid_reason', 'conflict', 'precondition', 'doubtful', 'other']))
    ),
    weighed AS (
        SELECT x.bank_code, count(*) AS transfers, count(*) FILTER (WHERE x.failed) AS failed,
            count(*) FILTER (WHERE x.late) AS late,
            percentile_cont(.5) WITHIN GROUP (ORDER BY x.seconds) FILTER (WHERE x.arrived) AS median
        FROM seen x GROUP BY x.bank_code
    ),
    gone AS (
        DELETE FROM bank_health h WHERE NOT EXISTS (SELECT 1 FROM weighed w WHERE w.bank_code = h.bank_code)
    ),
    written AS (
        INSERT INTO bank_health AS h (bank_code, status, transfers, failed, late, median_seconds, weighed_at)
        SELECT w.bank_code, bank_status(w.transfers, w.failed, w.late, w.median), w.transfers, w.failed, w.late,
            round(w.median), v_now
        FROM weighed w
        ON CONFLICT (bank_code) DO UPDATE SET status = excluded.status, transfers = excluded.transfers,
            failed = excluded.failed, late = excluded.late, median_seconds = excluded.median_seconds,
            weighed_at = excluded.weighed_at
        RETURNING h.status
    )
    SELECT count(*) FILTER (WHERE w.status <> 'normal') INTO v_count FROM written w;
    RETURN v_count;
END $$;

-- How the bank is doing that a payment to this person, or a withdrawal to this account, would go to. Null for nobody's.
CREATE OR REPLACE FUNCTION bank_ahead(p_user uuid, p_recipient text, p_beneficiary uuid) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT coalesce(h.status, 'normal') FROM (
        SELECT b.bank_code FROM users u CROSS JOIN LATERAL default_beneficiary(u.id) b
        WHERE p_recipient IS NOT NULL AND u.username = p_recipient
        UNION ALL
        SELECT b.bank_code FROM beneficiaries b
        WHERE p_recipient IS NULL AND b.id = p_beneficiary AND b.user_id = p_user AND b.deleted_at IS NULL
    ) x LEFT JOIN bank_health h USING (bank_code) LIMIT 1
$$;

-- A p2p whose beneficiary is gone switches once to a book transfer: the slot goes back, and if the other way is cheaper
-- the difference too. Returns why that cannot be, or null. Balances and counters must be locked.
CREATE OR REPLACE FUNCTION switch_to_book(p_id uuid, p_actor text, p_now timestamptz)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    t transfers;
    f record;
    v_total bigint;
    v_fee bigint;
    v_duty bigint;
BEGIN
    SELECT * INTO STRICT t FROM transfers x WHERE x.id = p_id;
    SELECT r.*, bc.most - bc.used AS room INTO f
    FROM recipient_facts(p_now) r
    JOIN balances b ON b.account_id = r.wallet_id
    JOIN receiving_counters c ON c.user_id = r.user_id
    LEFT JOIN LATERAL balance_cap(r.user_id, r.maximum_balance, b.posted, c.incoming) bc ON true
    WHERE r.user_id = t.recipient_id;
    IF f.provider_account IS NULL THEN RETURN 'recipient_not_ready'; END IF;
    IF t.amount > f.room THEN RETURN 'recipient_limit'; END IF;

    PERFORM release_slots(ARRAY[p_id], p_now);
    SELECT least(t.fee, coalesce(max(x.fee), 0)), least(t.duty, coalesce(max(x.duty), 0)) INTO v_fee, v_duty
    FROM fee_for(t.type, 'internal', t.amount, t.created_at) x;
    v_total := t.amount + v_fee + v_duty;
    IF v_total < t.amount + t.fee + t.duty THEN
        UPDATE holds SET amount = v_total WHERE transfer_id = p_id;
        UPDATE balances SET held = held - (t.amount + t.fee + t.duty - v_total) WHERE account_id = t.debit_account;
    END IF;
    IF f.maximum_balance IS NOT NULL THEN
        UPDATE receiving_counters SET incoming = incoming + t.amount WHERE user_id = t.recipient_id;
    END IF;
    UPDATE transfers SET route = 'internal', route_reason = 'beneficiary_gone', credit_account = f.wallet_id,
        destination = f.provider_account, beneficiary_id = NULL, slot_month = NULL, fee = v_fee, duty = v_duty,
        incoming_counted = f.maximum_balance IS NOT NULL, steps = steps + 1
    WHERE id = p_id;
    INSERT INTO transfer_steps (transfer_id, step, state, actor, evidence, happened_at)
    VALUES (p_id, t.steps + 1, 'accepted', p_actor, 'beneficiary gone: switched to a book transfer', p_now);
    RETURN NULL;
END $$;
