-- How the banks are doing, seen by what becomes of transfers to them: a person who is about to send learns that a bank is
-- slow, and operators which one it is. Nothing is decided by it: an order to a slow bank is taken and waits.

ALTER TABLE beneficiaries ADD COLUMN bank_code text COLLATE "C";     -- customer; null: added before it was told

CREATE TABLE bank_health (
    bank_code       text COLLATE "C" PRIMARY KEY,
    status          text COLLATE "C" NOT NULL CHECK (status IN ('normal', 'slow', 'down')),
    transfers       integer NOT NULL,                    -- of the last half hour that have ended or are late
    failed          integer NOT NULL,
    late            integer NOT NULL,
    median_seconds  integer,                             -- of those that arrived
    weighed_at      timestamptz NOT NULL
);

-- Newest first, without reading what goes to wallets.
CREATE INDEX transactions_to_banks ON transactions (id DESC) WHERE route = 'external';

-- The smallest id of a moment.
CREATE FUNCTION first_id(moment timestamptz) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$$;

-- What a bank's transfers say. Few of them say nothing.
CREATE FUNCTION bank_status(p_transfers bigint, p_failed bigint, p_late bigint, p_median double precision) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_transfers < 5 THEN 'normal'
        WHEN (p_failed + p_late) * 10 >= p_transfers * 8 THEN 'down'
        WHEN (p_failed + p_late) * 10 >= p_transfers * 2 OR p_median > 60 THEN 'slow'
        ELSE 'normal' END
$$;

-- Weighs all banks anew, by at most so many of the newest transfers. Returns how many are not normal.
CREATE FUNCTION weigh_banks(p_limit integer, p_now timestamptz DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now constant timestamptz := coalesce(p_now, transfa_now());
    v_count integer;
BEGIN
    WITH newest AS MATERIALIZED (
        SELECT t.beneficiary_id, t.state, t.submitted_at, t.ended_at, t.failure_reason FROM transactions t
        WHERE t.route = 'external' AND t.id >= first_id(v_now - interval '30 minutes')
        ORDER BY t.id DESC LIMIT p_limit
    ),
    told AS (
        SELECT b.bank_code, n.state = 'completed' AS arrived, n.state IN ('failed', 'reversed') AS failed,
            n.state IN ('submitted', 'unknown') AS late, extract(epoch FROM n.ended_at - n.submitted_at) AS seconds
        FROM newest n JOIN beneficiaries b ON b.id = n.beneficiary_id
        -- What never left says nothing about a bank, nor does what left a moment ago.
        WHERE b.bank_code IS NOT NULL AND n.submitted_at IS NOT NULL
          AND (n.ended_at IS NOT NULL OR n.submitted_at <= v_now - interval '2 minutes')
          -- Nor does what our provider refused before it reached one: AnchorRefusalCode.
          AND (n.failure_reason IS NULL OR n.failure_reason <> ALL (ARRAY['already_exists', 'verification_required',
              'product_not_allowed', 'insufficient_funds', 'duplicate_reference', 'invalid_phone_number',
              'invalid_reason', 'conflict', 'precondition', 'other']))
    ),
    weighed AS (
        SELECT x.bank_code, count(*) AS transfers, count(*) FILTER (WHERE x.failed) AS failed,
            count(*) FILTER (WHERE x.late) AS late,
            percentile_cont(.5) WITHIN GROUP (ORDER BY x.seconds) FILTER (WHERE x.arrived) AS median
        FROM told x GROUP BY x.bank_code
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

-- How the bank is doing to which a payment to this person, or a withdrawal to this account, would go. Null for nobody's.
CREATE FUNCTION bank_ahead(p_user uuid, p_recipient text, p_beneficiary uuid) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT coalesce(h.status, 'normal') FROM (
        SELECT b.bank_code FROM users u CROSS JOIN LATERAL default_beneficiary(u.id) b
        WHERE p_recipient IS NOT NULL AND u.username = p_recipient
        UNION ALL
        SELECT b.bank_code FROM beneficiaries b
        WHERE p_recipient IS NULL AND b.id = p_beneficiary AND b.user_id = p_user AND b.deleted_at IS NULL
    ) x LEFT JOIN bank_health h USING (bank_code) LIMIT 1
$$;

REVOKE ALL ON FUNCTION weigh_banks(integer, timestamptz), bank_ahead(uuid, text, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION weigh_banks(integer, timestamptz) TO ${worker};
GRANT EXECUTE ON FUNCTION bank_ahead(uuid, text, uuid) TO ${handler};
GRANT SELECT ON bank_health TO ${handler}, ${worker};
