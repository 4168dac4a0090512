-- Lower limits that people set for themselves. Raising one again would undo what it protects from, so each change needs
-- an approval, and its nonce is spent in the same commit.

CREATE FUNCTION set_own_limits(p_user uuid, p_per_transfer bigint, p_per_day bigint, p_per_month bigint, p_nonce uuid,
    p_now timestamptz DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    -- The mutex of all that a sender owns: a payment is decided before the change or after it.
    PERFORM 1 FROM balances b JOIN users u ON u.wallet_id = b.account_id WHERE u.id = p_user FOR NO KEY UPDATE OF b;
    IF NOT FOUND THEN RETURN 'sender_unknown'; END IF;
    IF EXISTS (SELECT 1 FROM approval_nonces a WHERE a.user_id = p_user AND a.nonce = p_nonce) THEN
        RETURN 'approval_used';
    END IF;
    INSERT INTO approval_nonces (user_id, nonce, used_at) VALUES (p_user, p_nonce, coalesce(p_now, transfa_now()));
    INSERT INTO user_limits (user_id, per_transfer, per_day, per_month)
    VALUES (p_user, p_per_transfer, p_per_day, p_per_month)
    ON CONFLICT (user_id) DO UPDATE SET per_transfer = excluded.per_transfer, per_day = excluded.per_day,
        per_month = excluded.per_month;
    RETURN 'set';
END $$;

REVOKE ALL ON FUNCTION set_own_limits(uuid, bigint, bigint, bigint, uuid, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION set_own_limits(uuid, bigint, bigint, bigint, uuid, timestamptz) TO ${handler};
