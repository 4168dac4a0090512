-- What other services say of people, each fact guarded by the sequence of its own newest event. A source's events may
-- be heard in another order than it told them in: one sequence for several facts would let a later one of another kind,
-- such as changed settings, hide an earlier freezing for ever. What is final counts whenever it is heard.

CREATE OR REPLACE FUNCTION hear_settings(p_user uuid, p_sending boolean, p_preference text, p_policy text,
    p_sequence bigint) RETURNS void LANGUAGE sql AS $$
    UPDATE users SET sending_allowed = p_sending, receive_preference = p_preference,
        request_policy = coalesce(p_policy, request_policy), settings_sequence = p_sequence
    WHERE id = p_user AND settings_sequence < p_sequence
$$;

-- Closed is the last word, also when it is heard late.
CREATE OR REPLACE FUNCTION hear_restriction(p_user uuid, p_status text, p_blocked boolean, p_sequence bigint)
RETURNS void LANGUAGE sql AS $$
    UPDATE users SET status = CASE WHEN status = 'closed' THEN 'closed' ELSE p_status END,
        debits_blocked = p_blocked OR status = 'closed',
        restriction_sequence = greatest(restriction_sequence, p_sequence)
    WHERE id = p_user AND (restriction_sequence < p_sequence OR p_status = 'closed')
$$;

CREATE OR REPLACE FUNCTION hear_tier(p_user uuid, p_tier smallint, p_sequence bigint) RETURNS void LANGUAGE sql AS $$
    UPDATE users SET tier = p_tier, tier_sequence = p_sequence WHERE id = p_user AND tier_sequence < p_sequence
$$;

-- A removed account stays removed, and one that was made the default before it was heard of stays that.
CREATE OR REPLACE FUNCTION hear_beneficiary(p_id uuid, p_user uuid, p_counterparty text, p_default boolean,
    p_bank text, p_added timestamptz, p_sequence bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO beneficiaries AS b (id, user_id, counterparty_id, verified, bank_code, added_at, customer_sequence)
    VALUES (p_id, p_user, p_counterparty, true, p_bank, least(p_added, transfa_now()), p_sequence)
    ON CONFLICT (id) DO UPDATE SET counterparty_id = excluded.counterparty_id, verified = true,
        bank_code = coalesce(excluded.bank_code, b.bank_code), added_at = coalesce(b.added_at, excluded.added_at),
        customer_sequence = excluded.customer_sequence
    WHERE b.customer_sequence < excluded.customer_sequence;
    IF p_default THEN PERFORM hear_default(p_user, p_id, p_sequence); END IF;
END $$;

CREATE OR REPLACE FUNCTION hear_removal(p_id uuid, p_user uuid) RETURNS void LANGUAGE sql AS $$
    INSERT INTO beneficiaries AS b (id, user_id, deleted_at) VALUES (p_id, p_user, transfa_now())
    ON CONFLICT (id) DO UPDATE SET deleted_at = coalesce(b.deleted_at, excluded.deleted_at), is_default = false
$$;

-- Which account a person's money goes to; null: none. The newest choice counts for all their accounts together.
CREATE OR REPLACE FUNCTION hear_default(p_user uuid, p_id uuid, p_sequence bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE users SET default_sequence = p_sequence WHERE id = p_user AND default_sequence < p_sequence;
    IF NOT FOUND THEN RETURN; END IF;
    UPDATE beneficiaries b SET is_default = false
    WHERE b.user_id = p_user AND b.is_default AND b.id IS DISTINCT FROM p_id;
    IF p_id IS NOT NULL THEN
        INSERT INTO beneficiaries AS b (id, user_id, is_default) VALUES (p_id, p_user, true)
        ON CONFLICT (id) DO UPDATE SET is_default = b.deleted_at IS NULL;
    END IF;
END $$;

-- A revoked device never approves again. One that was not heard of yet leaves a row, which note_device() then finds.
CREATE OR REPLACE FUNCTION hear_revocation(p_id uuid, p_user uuid, p_sequence bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO devices AS d (id, user_id, public_key, activated_at, revoked_at, auth_sequence)
    VALUES (p_id, p_user, '', transfa_now(), transfa_now(), p_sequence)
    ON CONFLICT (id) DO UPDATE SET revoked_at = coalesce(d.revoked_at, excluded.revoked_at),
        auth_sequence = greatest(d.auth_sequence, excluded.auth_sequence)
    WHERE d.user_id = excluded.user_id
$$;

-- Locks what the events of a batch will lock, before the first of them is handled: each of them keeps to the one
-- order, but one after the other they would lock a counter before a transfer, and one person's balance before another's
-- transfer.
-- Locks: transfers, balances, receiving_counters.
CREATE OR REPLACE FUNCTION lock_heard(p_users uuid[], p_since timestamptz[], p_counted uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
BEGIN
    PERFORM 1 FROM transfers t
    WHERE t.id IN (SELECT y.id FROM unnest(p_users, p_since) AS x(user_id, since)
        CROSS JOIN LATERAL (SELECT z.id FROM transfers z WHERE z.sender_id = x.user_id
            AND z.id >= first_id(x.since - interval '1 hour') AND z.created_at >= x.since) y)
    ORDER BY t.id FOR NO KEY UPDATE;
    PERFORM 1 FROM balances b JOIN users u ON u.wallet_id = b.account_id
    WHERE u.id = ANY (p_users) ORDER BY b.account_id FOR NO KEY UPDATE OF b;
    PERFORM 1 FROM receiving_counters c WHERE c.user_id = ANY (p_counted) ORDER BY c.user_id FOR NO KEY UPDATE;
END $$;
