-- Postings: the only writers of entries.

-- The only writer of entries. The balances must be locked. One new version per account, whatever the number of legs.
-- What a wallet or a pool owes is what its own legs `receivable` and `collected` sum to; what comes in pays it first.
CREATE OR REPLACE FUNCTION post_legs(p_accounts bigint[], p_transfers uuid[], p_legs text[], p_amounts bigint[],
    p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_owes boolean;
BEGIN
    IF EXISTS (SELECT 1 FROM unnest(p_transfers, p_amounts) AS x(id, amount)
               GROUP BY x.id HAVING sum(x.amount) <> 0) THEN
        RAISE EXCEPTION 'legs_unbalanced' USING ERRCODE = 'check_violation';
    END IF;

    WITH legs AS MATERIALIZED (
        SELECT x.account_id, x.transfer_id, x.leg, x.amount,
            b.sequence + row_number() OVER running AS sequence,
            b.posted + (sum(x.amount) OVER running)::bigint AS balance_after
        FROM unnest(p_accounts, p_transfers, p_legs, p_amounts) WITH ORDINALITY
             AS x(account_id, transfer_id, leg, amount, ord)
        LEFT JOIN balances b ON b.account_id = x.account_id      -- no such balance: the NOT NULL of entries refuses it
        WHERE x.amount <> 0
        WINDOW running AS (PARTITION BY x.account_id ORDER BY x.ord ROWS UNBOUNDED PRECEDING)
    ),
    write_entries AS (
        INSERT INTO entries (account_id, sequence, amount, balance_after, leg, transfer_id, posted_at)
        SELECT l.account_id, l.sequence, l.amount, l.balance_after, l.leg, l.transfer_id, p_now FROM legs l
    ),
    moved AS (
        UPDATE balances b SET posted = b.posted + x.moved, sequence = b.sequence + x.legs, owed = b.owed + x.owed
        FROM (SELECT l.account_id, sum(l.amount)::bigint AS moved, count(*) AS legs,
                  coalesce(sum(l.amount) FILTER (WHERE l.leg IN ('receivable', 'collected') AND l.account_id >= 1000),
                      0)::bigint AS owed
              FROM legs l GROUP BY 1) x
        WHERE b.account_id = x.account_id
        RETURNING b.owed > 0 AND b.posted > b.held AS owes
    )
    SELECT bool_or(m.owes) INTO v_owes FROM moved m;
    IF v_owes THEN PERFORM collect_owed(p_accounts, p_transfers, p_amounts, p_now); END IF;
END $$;

-- What came in pays what is owed, transfer by transfer. Once a wallet owes nothing, the block goes that the reversal
-- has set; the block of a recovery stays, for there people look. The balances and receivables must be locked.
CREATE OR REPLACE FUNCTION collect_owed(p_accounts bigint[], p_transfers uuid[], p_came bigint[], p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_taken bigint;
    r record;
BEGIN
    FOR r IN
        SELECT x.account, x.transfer, sum(x.amount)::bigint AS came
        FROM unnest(p_accounts, p_transfers, p_came) WITH ORDINALITY AS x(account, transfer, amount, ord)
        JOIN balances b ON b.account_id = x.account AND b.owed > 0
        GROUP BY 1, 2 HAVING sum(x.amount) > 0 ORDER BY min(x.ord)
    LOOP
        SELECT least(b.owed, b.posted - b.held, r.came) INTO v_taken FROM balances b WHERE b.account_id = r.account;
        CONTINUE WHEN v_taken <= 0;
        PERFORM post_legs(ARRAY[r.account, system_account('receivable', r.transfer)], ARRAY[r.transfer, r.transfer],
            ARRAY['collected', 'collected'], ARRAY[-v_taken, v_taken], p_now);
        UPDATE balances b SET debits_blocked = false
        WHERE b.account_id = r.account AND b.owed = 0 AND b.checked
          AND EXISTS (SELECT 1 FROM users u WHERE u.wallet_id = b.account_id);
    END LOOP;
END $$;

-- What payments had held and do not need any more is there again, and pays what is owed. Nothing is locked after this.
CREATE OR REPLACE FUNCTION collect_freed(p_ids uuid[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_accounts bigint[];
    v_ids uuid[];
    v_amounts bigint[];
BEGIN
    SELECT array_agg(b.account_id ORDER BY t.id), array_agg(t.id ORDER BY t.id),
        array_agg(b.posted - b.held ORDER BY t.id) INTO v_accounts, v_ids, v_amounts
    FROM transfers t JOIN balances b ON b.account_id = t.debit_account
    WHERE t.id = ANY (p_ids) AND b.owed > 0 AND b.posted > b.held;
    IF v_ids IS NULL THEN RETURN; END IF;
    PERFORM lock_receivables(v_ids);
    PERFORM collect_owed(v_accounts, v_ids, v_amounts, p_now);
END $$;

-- The last locks of all: what these transfers, or the releases of their money out of suspense, are owed on.
CREATE OR REPLACE FUNCTION lock_receivables(p_transfers uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM balances b
    WHERE b.account_id IN (
        SELECT system_account('receivable', x.id) FROM unnest(p_transfers) AS x(id)
        UNION SELECT system_account('receivable', r.id) FROM transfers r
            WHERE r.parent_id = ANY (p_transfers) AND r.type = 'inbound')
    ORDER BY b.account_id FOR NO KEY UPDATE;
END $$;

-- Completed transfers: the payer's money reaches the payee, fee and duty reach their own accounts. What arrives out of
-- a pool whose funding was taken back meanwhile is money that the pool has not got: it is owed to us.
CREATE OR REPLACE FUNCTION post_completion(p_ids uuid[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_accounts bigint[];
    v_ids uuid[];
    v_legs text[];
    v_amounts bigint[];
BEGIN
    SELECT array_agg(l.account ORDER BY x.ord, l.line), array_agg(x.id ORDER BY x.ord, l.line),
        array_agg(l.leg ORDER BY x.ord, l.line), array_agg(l.amount ORDER BY x.ord, l.line)
    INTO v_accounts, v_ids, v_legs, v_amounts
    FROM unnest(p_ids) WITH ORDINALITY AS x(id, ord)
    JOIN transfers t ON t.id = x.id
    CROSS JOIN LATERAL (SELECT CASE WHEN pool_is_closed(t) THEN t.amount END) AS p(lost)
    CROSS JOIN LATERAL (VALUES
        (0, t.debit_account, 'receivable', p.lost), (0, system_account('receivable', t.id), 'receivable', -p.lost),
        (1, t.debit_account, 'amount', -t.amount), (2, t.credit_account, 'amount', t.amount),
        (3, t.debit_account, 'fee', -t.fee), (4, system_account('fees', t.id), 'fee', t.fee),
        (5, t.debit_account, 'duty', -t.duty), (6, system_account('stamp_duty', t.id), 'duty', t.duty)
    ) AS l(line, account, leg, amount)
    WHERE l.amount <> 0;
    PERFORM post_legs(v_accounts, v_ids, v_legs, v_amounts, p_now);
END $$;

-- A reversed transfer: everything goes back. What the payee has already spent is owed to us: it is posted to a
-- receivable account, and the wallet sends nothing more until what comes in has paid it, or somebody has looked at it.
CREATE OR REPLACE FUNCTION post_reversal(p_id uuid, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    t transfers;
    v_owed bigint;
BEGIN
    SELECT * INTO STRICT t FROM transfers x WHERE x.id = p_id;
    -- Our own accounts owe nothing, and a wallet that a recovery has left below zero has nothing.
    SELECT CASE WHEN b.account_id < 1000 THEN 0 ELSE t.amount - least(t.amount, greatest(b.posted - b.held, 0)) END
    INTO STRICT v_owed FROM balances b WHERE b.account_id = t.credit_account;
    IF v_owed > 0 THEN
        UPDATE balances SET debits_blocked = true WHERE account_id = t.credit_account;
    END IF;
    PERFORM post_legs(
        ARRAY[t.credit_account, system_account('receivable', t.id), t.credit_account, t.debit_account,
              system_account('fees', t.id), t.debit_account, system_account('stamp_duty', t.id), t.debit_account],
        array_fill(t.id, ARRAY[8]),
        ARRAY['receivable', 'receivable', 'reversal', 'reversal', 'reversed_fee', 'reversed_fee', 'reversed_duty',
              'reversed_duty'],
        ARRAY[v_owed, -v_owed, -t.amount, t.amount, -t.fee, t.fee, -t.duty, t.duty], p_now);
END $$;

-- Money that was released out of suspense is not there any more: before a transfer is reversed, its release is, from
-- the wallet that has the money, and suspense holds it again. The transfers are locked.
CREATE OR REPLACE FUNCTION reverse_releases(p_ids uuid[], p_actor text, p_causes uuid[], p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
    v_causes uuid[];
    v_evidence text[];
    v_nulls text[];
    v_id uuid;
BEGIN
    SELECT array_agg(r.id ORDER BY x.ord), array_agg(x.cause ORDER BY x.ord),
        array_agg('reversed with ' || t.reference ORDER BY x.ord)
    INTO v_ids, v_causes, v_evidence
    FROM unnest(p_ids, p_causes) WITH ORDINALITY AS x(id, cause, ord)
    JOIN transfers t ON t.id = x.id AND t.route_reason = 'released'
    JOIN transfers r ON r.parent_id = t.id AND r.type = 'inbound' AND r.route_reason = 'released'
        AND r.state = 'completed';
    IF v_ids IS NULL THEN RETURN; END IF;
    FOREACH v_id IN ARRAY v_ids LOOP PERFORM post_reversal(v_id, p_now); END LOOP;
    v_nulls := array_fill(NULL::text, ARRAY[cardinality(v_ids)]);
    PERFORM advance(v_ids, 'reversed', p_actor, v_causes, v_evidence, v_nulls, v_nulls, v_nulls::uuid[], p_now);
END $$;

-- Moves the money. The balances are locked.
CREATE OR REPLACE FUNCTION post_charge(p_id uuid, p_reference text, u users, p_amount bigint, p_correlation uuid,
    p_traceparent text, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_revenue constant bigint := system_account('revenue', p_id);
BEGIN
    INSERT INTO transfers (id, reference, type, state, sequence, sender_id, debit_account, credit_account, amount,
        route, route_reason, correlation_id, traceparent, created_at, ended_at)
    VALUES (p_id, p_reference, 'subscription_charge', 'completed', 2, u.id, u.wallet_id, v_revenue, p_amount,
        'internal', 'subscription_charge', p_correlation, p_traceparent, p_now, p_now);
    INSERT INTO transfer_steps (transfer_id, step, state, actor, evidence, happened_at)
    VALUES (p_id, 1, 'completed', 'subscription', 'own books: ' || p_reference, p_now);
    INSERT INTO holds (transfer_id, account_id, amount, state) VALUES (p_id, u.wallet_id, p_amount, 'posted');
    PERFORM post_legs(ARRAY[u.wallet_id, v_revenue], ARRAY[p_id, p_id], ARRAY['amount', 'amount'],
        ARRAY[-p_amount, p_amount], p_now);
    PERFORM publish_created(ARRAY[p_id], NULL, p_now);
    PERFORM publish_completed(ARRAY[p_id], NULL, NULL, p_now);
END $$;

-- What is released from suspense into a wallet is the owner's: statements read it beside its entry, and that it has
-- arrived is published. In the history it stays out: there, what put the money in suspense shows where it is.
CREATE OR REPLACE FUNCTION post_release(r suspense_releases, t transfers, p_operator text, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_credits constant boolean := r.disposition = 'credit';
    v_reason constant text := CASE WHEN v_credits THEN 'released' ELSE 'returned' END;
    v_credit constant bigint := CASE WHEN v_credits
        THEN (SELECT u.wallet_id FROM users u WHERE u.id = t.recipient_id)
        ELSE system_account('provider_clearing', t.id) END;
BEGIN
    INSERT INTO transfers (id, reference, type, state, sequence, recipient_id, recipient_username, debit_account,
        credit_account, amount, route, route_reason, source_account, parent_id, created_at, ended_at)
    VALUES (r.id, 'rel-' || r.id, 'inbound', 'completed', v_credits::integer,
        CASE WHEN v_credits THEN t.recipient_id END, CASE WHEN v_credits THEN t.recipient_username END,
        t.credit_account, v_credit, t.amount, 'internal', v_reason,
        CASE WHEN v_credits THEN NULL ELSE t.destination END, t.id, p_now, p_now);
    INSERT INTO transfer_steps (transfer_id, step, state, actor, evidence, happened_at)
    VALUES (r.id, 1, 'completed', 'operators ' || r.proposed_by || ' and ' || p_operator, r.reason, p_now);
    PERFORM post_legs(ARRAY[t.credit_account, v_credit], ARRAY[r.id, r.id], ARRAY['amount', 'amount'],
        ARRAY[-t.amount, t.amount], p_now);
    UPDATE transfers x SET route_reason = v_reason WHERE x.id = t.id RETURNING x.* INTO t;
    IF v_credits THEN
        PERFORM publish_completed(ARRAY[r.id], NULL, NULL, p_now);
        PERFORM arrive_late(t, p_now);
    END IF;
END $$;

-- A hold ends once. Releasing comes before posting, so that available money is never negative in between.
CREATE OR REPLACE FUNCTION end_holds(p_ids uuid[], p_state text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH ended AS (
        UPDATE holds h SET state = p_state WHERE h.transfer_id = ANY (p_ids) AND h.state = 'active'
        RETURNING h.account_id, h.amount
    )
    UPDATE balances b SET held = b.held - x.total
    FROM (SELECT e.account_id, sum(e.amount)::bigint AS total FROM ended e GROUP BY 1) x
    WHERE b.account_id = x.account_id;
END $$;

-- Money is no longer on its way into a wallet: it has arrived, or it will not.
CREATE OR REPLACE FUNCTION end_incoming(p_ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE receiving_counters c SET incoming = c.incoming - x.total
    FROM (SELECT t.recipient_id, sum(t.amount)::bigint AS total FROM transfers t
          WHERE t.id = ANY (p_ids) AND t.incoming_counted GROUP BY 1) x
    WHERE c.user_id = x.recipient_id;
END $$;
