-- Money in suspense goes into the wallet or back to where it came from when two operators say so: one proposes with a
-- reason, another approves. Posted once, as a transaction of its own whose parent is the one that put it there.

CREATE TABLE suspense_releases (
    id              uuid PRIMARY KEY,
    transaction_id  uuid NOT NULL,                       -- what put the money in suspense
    disposition     text COLLATE "C" NOT NULL CHECK (disposition IN ('credit', 'return')),
    reason          text NOT NULL CHECK (reason <> ''),
    state           text COLLATE "C" NOT NULL DEFAULT 'proposed' CHECK (state IN ('proposed', 'approved', 'rejected')),
    proposed_by     text NOT NULL CHECK (proposed_by <> ''),
    proposed_at     timestamptz NOT NULL,
    decided_by      text,
    decided_at      timestamptz,
    CHECK (decided_by <> proposed_by),
    CHECK ((state = 'proposed') = (decided_by IS NULL) AND (decided_by IS NULL) = (decided_at IS NULL))
);
CREATE UNIQUE INDEX suspense_releases_once ON suspense_releases (transaction_id) WHERE state <> 'rejected';
CREATE INDEX transactions_in_suspense ON transactions (id) WHERE route_reason = 'suspense';

-- 'proposed', or why not.
CREATE FUNCTION propose_release(p_id uuid, p_transaction uuid, p_disposition text, p_reason text, p_operator text,
    p_request uuid, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    t transactions;
BEGIN
    SELECT * INTO t FROM transactions x WHERE x.id = p_transaction FOR NO KEY UPDATE;
    IF t.id IS NULL OR t.route_reason <> 'suspense' OR t.state <> 'completed' THEN RETURN 'not_in_suspense'; END IF;
    IF EXISTS (SELECT 1 FROM suspense_releases r WHERE r.transaction_id = p_transaction AND r.state <> 'rejected') THEN
        RETURN 'already_proposed';
    END IF;
    v_now := coalesce(p_now, transfa_now());
    INSERT INTO suspense_releases (id, transaction_id, disposition, reason, proposed_by, proposed_at)
    VALUES (p_id, p_transaction, p_disposition, p_reason, p_operator, v_now);
    PERFORM record_act(p_operator, 'suspense.proposed', p_transaction::text, NULL,
        json_build_object('release', p_id, 'disposition', p_disposition, 'reason', p_reason, 'amount', t.amount)::text,
        p_request, v_now);
    RETURN 'proposed';
END $$;

-- 'approved' or 'rejected', or why not. Locks in the one global order: transaction, balances, counters.
CREATE FUNCTION decide_release(p_id uuid, p_operator text, p_approve boolean, p_request uuid,
    p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_bar text;
    v_state constant text := CASE WHEN p_approve THEN 'approved' ELSE 'rejected' END;
    r suspense_releases;
    t transactions;
BEGIN
    SELECT * INTO r FROM suspense_releases x WHERE x.id = p_id;
    IF r.id IS NULL THEN RETURN 'unknown'; END IF;
    SELECT * INTO STRICT t FROM transactions x WHERE x.id = r.transaction_id FOR NO KEY UPDATE;
    SELECT * INTO STRICT r FROM suspense_releases x WHERE x.id = p_id;          -- again, now that nobody else decides
    IF r.state <> 'proposed' THEN RETURN 'decided'; END IF;
    IF r.proposed_by = p_operator THEN RETURN 'same_operator'; END IF;
    PERFORM 1 FROM balances b
    WHERE b.account_id IN (t.credit_account, system_account('provider_clearing', t.id),
        (SELECT u.wallet_id FROM users u WHERE u.id = t.recipient_id))
    ORDER BY b.account_id FOR NO KEY UPDATE;
    PERFORM 1 FROM receiving_counters c WHERE c.user_id = t.recipient_id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    IF p_approve AND r.disposition = 'credit' THEN
        v_bar := release_bar(t, v_now);
        IF v_bar IS NOT NULL THEN RETURN v_bar; END IF;
    END IF;

    UPDATE suspense_releases x SET state = v_state, decided_by = p_operator, decided_at = v_now WHERE x.id = p_id;
    IF p_approve THEN PERFORM post_release(r, t, p_operator, v_now); END IF;
    PERFORM record_act(p_operator, 'suspense.' || v_state, t.id::text,
        json_build_object('release', p_id, 'state', 'proposed', 'proposed_by', r.proposed_by)::text,
        json_build_object('release', p_id, 'state', v_state, 'disposition', r.disposition, 'amount', t.amount)::text,
        p_request, v_now);
    RETURN v_state;
END $$;

-- Why a wallet may not take what waits for it; null: nothing is in the way.
CREATE FUNCTION release_bar(t transactions, p_now timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN u.status <> 'active' OR u.credits_blocked THEN 'recipient_unavailable'
        WHEN l.tier IS NULL OR t.amount > l.maximum_balance - b.posted - c.incoming THEN 'recipient_limit' END
    FROM users u JOIN balances b ON b.account_id = u.wallet_id JOIN receiving_counters c ON c.user_id = u.id
    LEFT JOIN LATERAL limits_of(u.tier, p_now) l ON true
    WHERE u.id = t.recipient_id
$$;

-- What is returned leaves the provider's account by hand, under the reference of the transaction that is posted here.
-- It belongs to nobody's history: there, what put the money in suspense shows where it is.
CREATE FUNCTION post_release(r suspense_releases, t transactions, p_operator text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_reason constant text := CASE r.disposition WHEN 'credit' THEN 'released' ELSE 'returned' END;
    v_credit constant bigint := CASE r.disposition
        WHEN 'credit' THEN (SELECT u.wallet_id FROM users u WHERE u.id = t.recipient_id)
        ELSE system_account('provider_clearing', t.id) END;
BEGIN
    INSERT INTO transactions (id, reference, type, state, sequence, debit_account, credit_account, amount, route,
        route_reason, source_account, parent_id, created_at, ended_at)
    VALUES (r.id, 'rel-' || r.id, 'inbound', 'completed', 0, t.credit_account, v_credit, t.amount, 'internal', v_reason,
        CASE r.disposition WHEN 'return' THEN t.destination END, t.id, p_now, p_now);
    INSERT INTO transaction_events (transaction_id, step, state, actor, evidence, happened_at)
    VALUES (r.id, 1, 'completed', 'operators ' || r.proposed_by || ' and ' || p_operator, r.reason, p_now);
    PERFORM post_legs(ARRAY[t.credit_account, v_credit], ARRAY[r.id, r.id], ARRAY['amount', 'amount'],
        ARRAY[-t.amount, t.amount], p_now);
    UPDATE transactions x SET route_reason = v_reason WHERE x.id = t.id;
END $$;

CREATE FUNCTION check_suspense() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 'I27 what is in suspense is what waits there', sum(b.posted)::text
        FROM ledger_accounts a JOIN balances b ON b.account_id = a.id WHERE a.kind = 'suspense'
        HAVING sum(b.posted) <> (SELECT coalesce(sum(CASE
                WHEN t.route_reason = 'suspense' AND t.state = 'completed' THEN t.amount
                -- Taken back by the provider after it was released: owed to us.
                WHEN t.route_reason <> 'suspense' AND t.state = 'reversed' THEN -t.amount ELSE 0 END), 0)
            FROM transactions t WHERE t.route_reason IN ('suspense', 'released', 'returned'))
    UNION ALL SELECT 'I27 a release is posted once, by two people', r.id::text
        FROM suspense_releases r LEFT JOIN transactions t ON t.id = r.id JOIN transactions p ON p.id = r.transaction_id
        WHERE (r.state = 'approved') <> (t.id IS NOT NULL) OR r.decided_by = r.proposed_by
           OR t.id IS NOT NULL AND (t.amount <> p.amount OR t.debit_account <> p.credit_account)
$$;
CREATE OR REPLACE FUNCTION check_invariants() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT * FROM check_books() UNION ALL SELECT * FROM check_audit() UNION ALL SELECT * FROM check_suspense()
$$;

REVOKE ALL ON FUNCTION propose_release(uuid, uuid, text, text, text, uuid, timestamptz),
    decide_release(uuid, text, boolean, uuid, timestamptz), release_bar(transactions, timestamptz),
    post_release(suspense_releases, transactions, text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION propose_release(uuid, uuid, text, text, text, uuid, timestamptz),
    decide_release(uuid, text, boolean, uuid, timestamptz) TO ${worker};
GRANT SELECT ON suspense_releases TO ${worker};
