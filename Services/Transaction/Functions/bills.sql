-- What the provider takes for its service: transfer fees, stamp duty, identities. Its books have a row of its own for
-- each; here they leave an account of ours, and no wallet changes.

-- The account of ours that a kind of bill is booked to, and whether anybody has said so: what nobody foresaw is a cost.
-- By the day of the bill, so that a restored ledger books it as before.
CREATE OR REPLACE FUNCTION bill_account(p_kind text, p_billed timestamptz, OUT account text, OUT is_known boolean)
LANGUAGE sql STABLE AS $$
    SELECT coalesce(max(x.account), 'provider_costs'), count(*) > 0
    FROM (SELECT a.account FROM bill_accounts a WHERE a.kind = p_kind AND a.valid_from <= p_billed
          ORDER BY a.valid_from DESC LIMIT 1) x
$$;

-- Books the bills of one of the provider's accounts that are not booked, once per row of the provider. Returns how many
-- those are.
CREATE OR REPLACE FUNCTION book_bills(p_account text, p_rows text[], p_kinds text[], p_amounts bigint[],
    p_references text[], p_billed timestamptz[], p_ids uuid[], p_now timestamptz DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now timestamptz;
    v_new provider_bills[];
BEGIN
    -- Two looks at one account take turns.
    PERFORM pg_advisory_xact_lock(hashtextextended(p_account, 6103));
    SELECT array_agg(ROW(x.row, p_account, x.kind, a.account, a.is_known, x.amount, x.reference, x.id, x.billed,
        NULL)::provider_bills ORDER BY x.ord) INTO v_new
    FROM (SELECT DISTINCT ON (y.row) y.* FROM unnest(p_rows, p_kinds, p_amounts, p_references, p_billed, p_ids)
              WITH ORDINALITY AS y(row, kind, amount, reference, billed, id, ord) ORDER BY y.row, y.ord) x
    CROSS JOIN LATERAL bill_account(x.kind, x.billed) a
    WHERE NOT EXISTS (SELECT 1 FROM provider_bills b WHERE b.provider_row_id = x.row);
    IF v_new IS NULL THEN RETURN 0; END IF;
    PERFORM 1 FROM balances b
    WHERE b.account_id IN (
        SELECT system_account(k, n.transfer_id) FROM unnest(v_new) n, unnest(ARRAY[n.account, 'provider_clearing']) k)
    ORDER BY b.account_id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());

    INSERT INTO provider_bills
    SELECT n.provider_row_id, n.provider_account, n.kind, n.account, n.is_known, n.amount, n.reference, n.transfer_id,
        n.billed_at, v_now
    FROM unnest(v_new) n;
    INSERT INTO transfers (id, reference, type, state, sequence, debit_account, credit_account, amount, route,
        route_reason, source_account, parent_id, created_at, ended_at)
    SELECT n.transfer_id, 'bil-' || n.transfer_id, 'inbound', 'completed', 0, system_account(n.account, n.transfer_id),
        system_account('provider_clearing', n.transfer_id), n.amount, 'internal', 'bill', p_account,
        (SELECT t.id FROM transfers t WHERE t.reference = n.reference), v_now, v_now
    FROM unnest(v_new) n;
    INSERT INTO transfer_steps (transfer_id, step, state, actor, evidence, happened_at)
    SELECT n.transfer_id, 1, 'completed', 'provider', 'bill:' || n.provider_row_id, v_now FROM unnest(v_new) n;
    PERFORM post_legs(array_agg(l.account ORDER BY n.ord, l.line), array_agg(n.transfer_id ORDER BY n.ord, l.line),
        array_agg('amount'::text ORDER BY n.ord, l.line), array_agg(l.amount ORDER BY n.ord, l.line), v_now)
    FROM unnest(v_new) WITH ORDINALITY AS n(provider_row_id, provider_account, kind, account, is_known, amount,
        reference, transfer_id, billed_at, booked_at, ord)
    CROSS JOIN LATERAL (VALUES (1, system_account(n.account, n.transfer_id), -n.amount),
        (2, system_account('provider_clearing', n.transfer_id), n.amount)) AS l(line, account, amount);
    RETURN cardinality(v_new);
END $$;

-- How long bills of a payment that has reached its bank are looked for. A daily look finds what is billed later.
CREATE OR REPLACE FUNCTION bill_patience()
RETURNS interval LANGUAGE sql IMMUTABLE AS $$ SELECT interval '15 minutes' $$;

-- Asks for the bills of `p_account`, and with `p_customers` of each account that payments to banks have left a moment
-- ago. Those are in provider_clearing, whose entries are numbered: a mark says up to where they were looked at. Returns
-- how many accounts were asked for.
CREATE OR REPLACE FUNCTION ask_bills(p_account text, p_customers boolean, p_now timestamptz DEFAULT NULL,
    p_most integer DEFAULT 20000) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now constant timestamptz := coalesce(p_now, transfa_now());
    v_count integer;
BEGIN
    IF p_customers THEN
        -- The first time nothing that was before is looked for.
        INSERT INTO bill_marks (clearing_id, sequence)
        SELECT b.account_id, b.sequence FROM ledger_accounts a JOIN balances b ON b.account_id = a.id
        WHERE a.id < 1000 AND a.kind = 'provider_clearing' ORDER BY b.account_id
        ON CONFLICT DO NOTHING;
        PERFORM 1 FROM bill_marks m ORDER BY m.clearing_id FOR NO KEY UPDATE;
    END IF;
    WITH ended AS MATERIALIZED (
        SELECT e.account_id, e.sequence, e.posted_at, t.source_account FROM bill_marks m
        CROSS JOIN LATERAL (SELECT * FROM entries x WHERE x.account_id = m.clearing_id AND x.sequence > m.sequence
                            ORDER BY x.sequence LIMIT p_most) e
        LEFT JOIN transfers t ON t.id = e.transfer_id AND e.leg = 'amount' AND e.amount > 0 AND t.route = 'external'
        WHERE p_customers
    ),
    marked AS (
        UPDATE bill_marks m SET sequence = x.last
        FROM (SELECT e.account_id, max(e.sequence) AS last FROM ended e
              WHERE e.posted_at <= v_now - bill_patience() GROUP BY 1) x
        WHERE m.clearing_id = x.account_id
    ),
    asked AS (
        SELECT e.source_account AS account FROM ended e WHERE e.source_account IS NOT NULL
        UNION SELECT p_account WHERE p_account IS NOT NULL
    )
    INSERT INTO jobs (id, kind, key, subject, due_at, created_at)
    SELECT new_event_id(v_now), 'book_bills', a.account, a.account, v_now, v_now FROM asked a ORDER BY a.account
    ON CONFLICT (kind, key) DO UPDATE SET state = 'queued', due_at = v_now, finished_at = NULL
    WHERE jobs.state NOT IN ('running', 'queued');
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
