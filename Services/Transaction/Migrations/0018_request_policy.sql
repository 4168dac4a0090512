-- Who may ask a person for money, as the person has chosen.

ALTER TABLE users ADD COLUMN request_policy text COLLATE "C" NOT NULL DEFAULT 'everyone'   -- customer
    CHECK (request_policy IN ('everyone', 'contacts', 'nobody'));
GRANT UPDATE (request_policy) ON users TO ${worker};

-- Two people, whoever pays whom. A value of its own, and not an index over two columns: beside transactions_sent the
-- planner would take either of the two, and then read a sender's whole history to find one payment.
CREATE FUNCTION pair_of(a uuid, b uuid) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT uuid_send(least(a, b)) || uuid_send(greatest(a, b))
$$;
-- Without the state, so that a payment that ends changes no index.
CREATE INDEX transactions_pair ON transactions (pair_of(sender_id, recipient_id)) WHERE type = 'p2p';

-- Whether the person with this name takes requests of this owner. Somebody unknown does: who they are is for
-- make_payment_request() to say.
CREATE FUNCTION takes_requests_of(p_owner uuid, p_payer text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce((
        SELECT CASE u.request_policy
            WHEN 'everyone' THEN true
            WHEN 'contacts' THEN u.id = p_owner OR EXISTS (SELECT 1 FROM transactions t
                WHERE t.type = 'p2p' AND pair_of(t.sender_id, t.recipient_id) = pair_of(u.id, p_owner)
                  AND t.state = 'completed')
            ELSE u.id = p_owner END
        FROM users u WHERE u.username = p_payer), true)
$$;

-- The rules of 0012 hold as they are; this one comes first.
ALTER FUNCTION create_payment_request(uuid, uuid, text, bigint, text, text, timestamptz, uuid, text, timestamptz)
    RENAME TO make_payment_request;

CREATE FUNCTION create_payment_request(p_id uuid, p_owner uuid, p_payer text, p_amount bigint, p_description text,
    p_link text, p_expires_at timestamptz, p_correlation uuid, p_traceparent text, p_now timestamptz DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
    IF NOT takes_requests_of(p_owner, p_payer) THEN RETURN 'requests_not_accepted'; END IF;
    RETURN make_payment_request(p_id, p_owner, p_payer, p_amount, p_description, p_link, p_expires_at, p_correlation,
        p_traceparent, p_now);
END $$;

REVOKE ALL ON FUNCTION pair_of(uuid, uuid), takes_requests_of(uuid, text) FROM PUBLIC;
REVOKE ALL ON FUNCTION make_payment_request(uuid, uuid, text, bigint, text, text, timestamptz, uuid, text, timestamptz)
    FROM PUBLIC, ${handler};
REVOKE ALL ON FUNCTION create_payment_request(uuid, uuid, text, bigint, text, text, timestamptz, uuid, text, timestamptz)
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION create_payment_request(uuid, uuid, text, bigint, text, text, timestamptz, uuid, text,
    timestamptz) TO ${handler};
