-- Wallets of people who are gone: nobody can take from them, so nothing stays in them.

-- The account in suspense that takes what is in this person's wallet; null: the wallet is not closed. Who gives money
-- back to a wallet locks it with the wallet.
CREATE OR REPLACE FUNCTION closed_suspense(p_user uuid) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT system_account('suspense', u.id) FROM users u WHERE u.id = p_user AND u.status = 'closed'
$$;

-- Moves what closed wallets have to suspense, where two people pay it out. The money stays in the person's account at
-- the provider. The wallets are locked, and with those that were closed by then their accounts in suspense. One that
-- was closed since may be passed over, for nobody waits for an account out of order: who closes it waits for its
-- wallet, and empties it then, or has closed it already, and closes it again. A run under way may have looked before:
-- it loses its lease, and another run comes.
CREATE OR REPLACE FUNCTION empty_closed_wallets(p_owners uuid[], p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_closed uuid[];
    v_id uuid;
    u record;
BEGIN
    SELECT array_agg(x.id) INTO v_closed FROM (
        SELECT y.id FROM users y JOIN balances b ON b.account_id = closed_suspense(y.id)
        WHERE y.id = ANY (p_owners) AND y.status = 'closed' FOR NO KEY UPDATE OF b SKIP LOCKED) x;
    INSERT INTO jobs (id, kind, key, subject, due_at, created_at)
    SELECT new_event_id(p_now), 'close_products', x.id, x.id, p_now, p_now
    FROM users x JOIN balances b ON b.account_id = x.wallet_id
    WHERE x.id = ANY (p_owners) AND x.id <> ALL (coalesce(v_closed, '{}')) AND x.status = 'closed'
      AND b.posted > b.held AND x.provider_account IS NOT NULL
    ON CONFLICT (kind, key) DO UPDATE
        SET state = 'queued', due_at = p_now, finished_at = NULL, lease_owner = NULL, lease_until = NULL
    WHERE jobs.state <> 'queued';
    IF v_closed IS NULL THEN RETURN; END IF;
    FOR u IN
        SELECT x.id, x.username, x.wallet_id, x.provider_account, closed_suspense(x.id) AS suspense,
            b.posted - b.held AS available
        FROM users x JOIN balances b ON b.account_id = x.wallet_id
        WHERE x.id = ANY (v_closed) AND b.posted > b.held AND x.provider_account IS NOT NULL ORDER BY x.id
    LOOP
        v_id := new_event_id(p_now);
        INSERT INTO transfers (id, reference, type, state, sequence, recipient_id, recipient_username, debit_account,
            credit_account, amount, route, route_reason, destination, created_at, ended_at)
        VALUES (v_id, 'swp-' || v_id, 'inbound', 'completed', 0, u.id, u.username, u.wallet_id, u.suspense,
            u.available, 'internal', 'suspense', u.provider_account, p_now, p_now);
        INSERT INTO transfer_steps (transfer_id, step, state, actor, evidence, happened_at)
        VALUES (v_id, 1, 'completed', 'closing', 'the wallet is closed', p_now);
        PERFORM post_legs(ARRAY[u.wallet_id, u.suspense], ARRAY[v_id, v_id], ARRAY['amount', 'amount'],
            ARRAY[-u.available, u.available], p_now);
    END LOOP;
END $$;
