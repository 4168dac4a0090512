-- What the provider says there is, compared with the books.

-- Asks for a look at one account, or at all of them within `p_spread`. Returns how many.
CREATE OR REPLACE FUNCTION ask_reconciliation(p_account text, p_pool text, p_spread interval, p_correlation uuid,
    p_now timestamptz DEFAULT NULL)
RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now constant timestamptz := coalesce(p_now, transfa_now());
    v_count integer;
BEGIN
    WITH accounts AS MATERIALIZED (
        SELECT u.provider_account AS account FROM users u
        WHERE u.provider_account IS NOT NULL AND (p_account IS NULL OR u.provider_account = p_account)
        UNION SELECT p_pool WHERE p_account IS NULL OR p_account = p_pool
    ),
    asked AS (
        INSERT INTO reconciled_accounts (account, asked_at) SELECT a.account, v_now FROM accounts a
        ON CONFLICT (account) DO UPDATE SET asked_at = excluded.asked_at
    ),
    placed AS (
        SELECT a.account, v_now + p_spread * (row_number() OVER (ORDER BY a.account) - 1) / count(*) OVER () AS due_at
        FROM accounts a
    )
    INSERT INTO jobs (id, kind, key, subject, due_at, correlation_id, created_at)
    SELECT new_event_id(v_now), 'reconcile_account', p.account, p.account, p.due_at, p_correlation, v_now
    FROM placed p
    ON CONFLICT (kind, key) DO UPDATE SET state = 'queued', due_at = excluded.due_at, finished_at = NULL,
        correlation_id = excluded.correlation_id
    WHERE jobs.state <> 'running';
    SELECT count(*) INTO v_count FROM users u
    WHERE u.provider_account IS NOT NULL AND (p_account IS NULL OR u.provider_account = p_account);
    RETURN v_count + (p_account IS NULL OR p_account = p_pool)::integer;
END $$;

-- Writes down what a look at an account found. Returns how many of it are suspicions and how many are breaks.
CREATE OR REPLACE FUNCTION note_breaks(p_account text, p_kinds text[], p_keys text[], p_ours text[], p_theirs text[],
    p_happened timestamptz[], p_confirm_after interval, p_now timestamptz DEFAULT NULL, p_listed bigint DEFAULT NULL,
    p_matched bigint DEFAULT NULL)
RETURNS TABLE (suspected bigint, opened bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
BEGIN
    -- Two looks at one account take turns.
    INSERT INTO reconciled_accounts AS r (account, asked_at, looks) VALUES (p_account, transfa_now(), 1)
    ON CONFLICT (account) DO UPDATE SET looks = r.looks + 1;
    v_now := coalesce(p_now, transfa_now());
    UPDATE reconciled_accounts r SET looked_at = v_now, listed = p_listed, matched = p_matched
    WHERE r.account = p_account;

    -- A suspicion that passed leaves nothing, a break leaves its history.
    DELETE FROM reconciliation_breaks b
    WHERE b.account = p_account AND b.resolved_at IS NULL AND b.opened_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM unnest(p_kinds, p_keys) AS x(kind, key) WHERE x.kind = b.kind AND x.key = b.key);
    UPDATE reconciliation_breaks b SET resolved_at = v_now
    WHERE b.account = p_account AND b.resolved_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM unnest(p_kinds, p_keys) AS x(kind, key) WHERE x.kind = b.kind AND x.key = b.key);

    INSERT INTO reconciliation_breaks AS b (account, kind, key, ours, theirs, happened_at, first_seen, last_seen)
    SELECT DISTINCT ON (x.kind, x.key) p_account, x.kind, x.key, x.ours, x.theirs, coalesce(x.happened, v_now), v_now,
        v_now
    FROM unnest(p_kinds, p_keys, p_ours, p_theirs, p_happened) AS x(kind, key, ours, theirs, happened)
    ON CONFLICT (account, kind, key) WHERE resolved_at IS NULL DO UPDATE SET ours = excluded.ours,
        theirs = excluded.theirs, last_seen = v_now,
        opened_at = coalesce(b.opened_at, CASE WHEN b.first_seen <= v_now - p_confirm_after THEN v_now END);

    RETURN QUERY SELECT count(*) FILTER (WHERE b.opened_at IS NULL), count(*) FILTER (WHERE b.opened_at IS NOT NULL)
    FROM reconciliation_breaks b WHERE b.account = p_account AND b.resolved_at IS NULL;
END $$;

-- How much of what the provider listed at the last looks an entry of ours explains, at one account or at all, and for
-- how long the oldest of the rest has had none; null: there is no rest. What agreed once is as old as the difference.
CREATE OR REPLACE FUNCTION explained_money(p_account text, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (listed bigint, matched bigint, oldest_seconds double precision)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT coalesce(sum(r.listed), 0)::bigint, coalesce(sum(r.matched), 0)::bigint,
        (SELECT greatest(0, extract(epoch FROM coalesce(p_now, transfa_now()) - min(
                CASE b.kind WHEN 'missing_with_us' THEN b.happened_at ELSE b.first_seen END)))::double precision
         FROM reconciliation_breaks b
         WHERE b.resolved_at IS NULL AND b.kind IN ('missing_with_us', 'other_amount', 'other_state')
           AND (p_account IS NULL OR b.account = p_account)
         HAVING count(*) > 0)
    FROM reconciled_accounts r WHERE p_account IS NULL OR r.account = p_account
$$;

-- What one of the provider's accounts should hold by our books, and what is under way. `p_user` null: the account of
-- drops. Fees, duty and subscriptions stay in the payer's account there, money in suspense too; what the provider has
-- billed to the account has left it. What is owed is gone there, and what pays it moves nothing there.
CREATE OR REPLACE FUNCTION expected_at_provider(p_account text, p_user uuid, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (expected bigint, leaving bigint, arriving bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH under_way AS (
        SELECT t.source_account = p_account AS leaves, t.amount FROM transfers t
        WHERE p_user IS NOT NULL AND (t.sender_id = p_user OR t.recipient_id = p_user)
          AND t.state IN ('submitted', 'unknown')
          AND (t.source_account = p_account OR t.route = 'internal' AND t.destination = p_account)
        UNION ALL
        SELECT t.source_account = p_account, t.amount FROM transfers t
        WHERE p_user IS NULL AND t.type IN ('money_drop', 'drop_claim', 'drop_refund')
          AND t.state IN ('submitted', 'unknown') AND p_account IN (t.source_account, t.destination)
        UNION ALL                                        -- leaves suspense for somebody else
        SELECT true, t.amount FROM transfers held JOIN transfers t ON t.parent_id = held.id
        WHERE held.route_reason = 'suspense' AND held.destination = p_account AND t.type = 'release'
          AND t.state IN ('submitted', 'unknown') AND t.recipient_id IS DISTINCT FROM p_user
    )
    SELECT (CASE WHEN p_user IS NULL THEN
            (SELECT coalesce(sum(b.posted - b.owed), 0) FROM ledger_accounts a JOIN balances b ON b.account_id = a.id
             WHERE a.kind = 'drop_pool')
            -- What the creator was given back twice lies in the creator's account there.
            - (SELECT coalesce(sum(d.given_back), 0) FROM money_drops d WHERE d.end_reason = 'funding_reversed')
            + (SELECT coalesce(sum(t.amount), 0) FROM transfers t
               WHERE t.route_reason = 'suspense' AND t.state = 'completed' AND t.destination = p_account)
            - (SELECT coalesce(sum(t.amount), 0)
               FROM forgotten_transfers f JOIN transfers t ON t.id = f.transfer_id
               WHERE f.source = p_account AND t.state = 'completed')
        ELSE
            (SELECT coalesce(sum(e.amount), 0) FROM users u JOIN entries e ON e.account_id = u.wallet_id
             WHERE u.id = p_user AND e.leg IN ('amount', 'reversal'))
            + (SELECT coalesce(sum(t.amount), 0) FROM transfers t
               WHERE (t.recipient_id = p_user OR t.recipient_id IS NULL) AND t.route_reason = 'suspense'
                 AND t.state = 'completed' AND t.destination = p_account)
            -- Charges move from the wallet to our revenue and stay in the account there.
            + (SELECT coalesce(sum(t.amount), 0) FROM transfers t
               WHERE t.sender_id = p_user AND t.type = 'subscription_charge' AND t.state = 'completed')
        END - (SELECT coalesce(sum(b.amount), 0) FROM provider_bills b WHERE b.provider_account = p_account))::bigint,
        (SELECT coalesce(sum(w.amount) FILTER (WHERE w.leaves), 0) FROM under_way w)::bigint,
        ((SELECT coalesce(sum(w.amount) FILTER (WHERE NOT w.leaves), 0) FROM under_way w)
         -- Money of ours that came back: the provider shows it as a payment and as a reversal, one of them later. Not
         -- for ever: what nobody reversed within a day is a difference.
         + (SELECT coalesce(sum(p.amount), 0) FROM inbound_payments p JOIN transfers t ON t.id = p.transfer_id
            WHERE p.provider_account = p_account AND p.disposition = 'matched' AND t.state = 'completed'
              AND t.source_account = p_account
              AND p.received_at > coalesce(p_now, transfa_now()) - interval '1 day'))::bigint
$$;
