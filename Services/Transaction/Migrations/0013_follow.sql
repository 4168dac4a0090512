-- Drops and requests follow their transfers, in the commit that ends the transfer.
--
-- Three functions of 0005, each with one addition: advance() calls follow_transfers(), settle_payments() locks the drops
-- and requests first, and submission_bar() lets a refund go back to a creator who may receive nothing else.

-- The transfers are locked, and their drops and requests too or few enough to be locked here in order.
CREATE FUNCTION follow_transfers(p_ids uuid[], p_state text, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    t transactions;
BEGIN
    FOR t IN
        SELECT x.* FROM transactions x WHERE x.id = ANY (p_ids) AND x.parent_id IS NOT NULL ORDER BY x.parent_id, x.id
    LOOP
        PERFORM 1 FROM money_drops d WHERE d.id = t.parent_id FOR NO KEY UPDATE;
        PERFORM follow_drop(t, p_state, p_now);
    END LOOP;
    FOR t IN
        SELECT x.* FROM transactions x WHERE x.id = ANY (p_ids) AND x.payment_request_id IS NOT NULL
        ORDER BY x.payment_request_id, x.id
    LOOP
        PERFORM follow_request(t, p_state, p_now);
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION advance(p_ids uuid[], p_state text, p_actor text, p_causes uuid[], p_evidence text[], p_reasons text[],
    p_provider_ids text[], p_events uuid[], p_more text[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_told constant boolean := p_state IN ('completed', 'failed', 'reversed');
    v_moment constant text := moment_text(p_now);
BEGIN
    WITH moved AS (
        UPDATE transactions t SET
            state = p_state, steps = t.steps + 1, sequence = t.sequence + v_told::integer,
            provider_id = coalesce(x.provider_id, t.provider_id),
            failure_reason = CASE WHEN v_told THEN x.reason ELSE t.failure_reason END,
            submitted_at = CASE WHEN p_state = 'submitted' THEN coalesce(t.submitted_at, p_now) ELSE t.submitted_at END,
            ended_at = CASE WHEN v_told THEN p_now END
        FROM unnest(p_ids, p_causes, p_evidence, p_reasons, p_provider_ids, p_events, p_more)
             AS x(id, cause, evidence, reason, provider_id, event_id, more)
        WHERE t.id = x.id
        RETURNING t.*, x.cause, x.evidence, coalesce(x.event_id, new_event_id(p_now)) AS event_id, x.more
    ),
    write_history AS (
        INSERT INTO transaction_events (transaction_id, step, state, actor, cause, evidence, happened_at)
        SELECT m.id, m.steps, p_state, p_actor, m.cause, m.evidence, p_now FROM moved m
    )
    INSERT INTO outbox (day, id, type, subject, sequence, correlation_id, causation_id, traceparent, time, data)
    SELECT uuid_v7_day(m.event_id), m.event_id, 'transaction.' || p_state, m.id, m.sequence, m.correlation_id, m.cause,
        m.traceparent, p_now,
        transaction_data(m.id, m.sender_id, m.recipient_id, m.amount, m.type, m.route, m.route_reason, m.fee, m.duty,
            coalesce(',"failure_reason":' || to_json(m.failure_reason), '') || coalesce(m.more, ''), v_moment)
    FROM moved m WHERE v_told;

    IF v_told THEN PERFORM follow_transfers(p_ids, p_state, p_now); END IF;
END $$;

-- A refund is not held back by what holds back other money: it was the creator's all along.
CREATE OR REPLACE FUNCTION submission_bar(t transactions, p_now timestamptz) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN CASE
        WHEN t.created_at < p_now - interval '24 hours' THEN 'expired'
        WHEN NOT read_model_is_fresh(p_now) THEN 'stale'
        WHEN EXISTS (SELECT 1 FROM users s WHERE s.id = t.sender_id
            AND (s.status <> 'active' OR s.debits_blocked OR NOT s.sending_allowed)) THEN 'sender_restricted'
        WHEN EXISTS (SELECT 1 FROM balances b WHERE b.account_id = t.debit_account AND b.debits_blocked)
            THEN 'sender_restricted'
        WHEN t.source_account IS NULL THEN 'sender_not_ready'
        WHEN t.device_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM devices d
            WHERE d.id = t.device_id AND d.user_id = t.sender_id AND d.revoked_at IS NULL) THEN 'device_revoked'
        WHEN t.type <> 'drop_refund' AND EXISTS (SELECT 1 FROM users r WHERE r.id = t.recipient_id
            AND (r.status <> 'active' OR r.credits_blocked)) THEN 'recipient_unavailable'
        WHEN t.route = 'external' AND NOT EXISTS (SELECT 1 FROM beneficiaries b
            WHERE b.id = t.beneficiary_id AND b.user_id = coalesce(t.recipient_id, t.sender_id)
              AND b.verified AND b.deleted_at IS NULL) THEN 'beneficiary_gone'
    END;
END $$;

CREATE OR REPLACE FUNCTION settle_payments(p_transactions uuid[], p_outcomes text[], p_reasons text[], p_evidence text[],
    p_provider_ids text[], p_events uuid[], p_causations uuid[], p_actor text, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (ord integer, transaction_id uuid, result text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz;
    v_rounds bigint;
    v_results text[] := array_fill(''::text, ARRAY[cardinality(p_transactions)]);
    r record;
BEGIN
    IF EXISTS (SELECT 1 FROM unnest(p_outcomes, p_evidence) AS x(outcome, evidence)
               WHERE x.outcome NOT IN ('completed', 'failed', 'reversed', 'unknown', 'open')
                  OR x.outcome IN ('completed', 'failed', 'reversed') AND coalesce(x.evidence, '') = '') THEN
        RAISE EXCEPTION 'an outcome is not known, or has no evidence' USING ERRCODE = 'check_violation';
    END IF;

    PERFORM 1 FROM transactions t WHERE t.id = ANY (p_transactions) ORDER BY t.id FOR NO KEY UPDATE;

    -- Learnt from the answer to our order, also when that decides nothing yet: the messages that follow name only this id.
    UPDATE transactions t SET provider_id = x.provider_id
    FROM unnest(p_transactions, p_provider_ids) AS x(id, provider_id)
    WHERE t.id = x.id AND t.provider_id IS NULL AND x.provider_id IS NOT NULL;

    PERFORM 1 FROM balances b
    WHERE b.account_id IN (
        SELECT a.account
        FROM unnest(p_transactions, p_outcomes) AS x(id, outcome)
        JOIN transactions t ON t.id = x.id
        CROSS JOIN LATERAL (VALUES (t.debit_account), (t.credit_account),
            (CASE WHEN t.fee > 0 THEN system_account('fees', t.id) END),
            (CASE WHEN t.duty > 0 THEN system_account('stamp_duty', t.id) END),
            (CASE WHEN x.outcome = 'reversed' THEN system_account('receivable', t.id) END)) AS a(account)
        WHERE x.outcome IN ('completed', 'failed', 'reversed')
          AND (t.state IN ('submitted', 'unknown') OR t.state = 'completed' AND x.outcome = 'reversed'))
    ORDER BY b.account_id FOR NO KEY UPDATE;

    -- Both parties: whoever changes what is in a wallet holds the row that guards the wallet's ceiling.
    PERFORM 1 FROM receiving_counters c
    WHERE c.user_id IN (
        SELECT p.party FROM unnest(p_transactions, p_outcomes) AS x(id, outcome)
        JOIN transactions t ON t.id = x.id
        CROSS JOIN LATERAL (VALUES (t.recipient_id), (t.sender_id)) AS p(party)
        WHERE x.outcome IN ('completed', 'failed', 'reversed') AND t.state IN ('submitted', 'unknown', 'completed'))
    ORDER BY c.user_id FOR NO KEY UPDATE;
    -- Drops and requests that follow these transfers.
    PERFORM 1 FROM money_drops d
    WHERE d.id IN (SELECT t.parent_id FROM transactions t WHERE t.id = ANY (p_transactions))
    ORDER BY d.id FOR NO KEY UPDATE;
    PERFORM 1 FROM payment_requests q
    WHERE q.id IN (SELECT t.payment_request_id FROM transactions t WHERE t.id = ANY (p_transactions))
    ORDER BY q.id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());

    SELECT max(c.n) INTO v_rounds FROM (SELECT count(*) AS n FROM unnest(p_transactions) AS x(id) GROUP BY x.id) c;
    FOR v_round IN 1 .. coalesce(v_rounds, 0) LOOP
        FOR r IN
            SELECT settlement_move(t.state, x.outcome) AS move, t.state,
                array_agg(x.ord ORDER BY x.ord) AS ords, array_agg(x.id ORDER BY x.ord) AS ids,
                array_agg(x.cause ORDER BY x.ord) AS causes, array_agg(x.evidence ORDER BY x.ord) AS evidence,
                array_agg(x.reason ORDER BY x.ord) AS reasons, array_agg(x.provider_id ORDER BY x.ord) AS provider_ids,
                array_agg(x.event_id ORDER BY x.ord) AS events, array_agg(x.outcome ORDER BY x.ord) AS outcomes
            FROM (
                SELECT y.*, row_number() OVER (PARTITION BY y.id ORDER BY y.ord) AS nth
                FROM unnest(p_transactions, p_outcomes, p_reasons, p_evidence, p_provider_ids, p_events, p_causations)
                     WITH ORDINALITY AS y(id, outcome, reason, evidence, provider_id, event_id, cause, ord)
            ) x
            LEFT JOIN transactions t ON t.id = x.id
            WHERE x.nth = v_round
            GROUP BY 1, 2
            ORDER BY 1, 2
        LOOP
            PERFORM apply_move(r.move, r.state, r.ids, r.outcomes, r.reasons, r.evidence, r.provider_ids, r.events,
                r.causes, p_actor, v_now);
            FOR k IN 1 .. cardinality(r.ords) LOOP v_results[r.ords[k]] := r.move; END LOOP;
        END LOOP;
    END LOOP;

    RETURN QUERY SELECT x.ord::integer, x.id, x.result
    FROM unnest(p_transactions, v_results) WITH ORDINALITY AS x(id, result, ord) ORDER BY x.ord;
END $$;
