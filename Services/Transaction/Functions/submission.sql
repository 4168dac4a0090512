-- What happens to a transfer after its acceptance.
--
--     accepted -> submitted -> completed | failed          submitted <-> unknown -> completed | failed
--     accepted -> failed (recheck, or a day without a provider call)             completed -> reversed
--
-- begin_submission() commits that a provider call is about to be made, after checking once more that nobody was
-- restricted meanwhile. settle_payments() applies what is known from outside. `unknown` ends only by evidence, never by
-- age. Everything may be repeated: what has been done answers 'ended' or 'ignored' and changes nothing.
--
-- Lock order here as everywhere: transfers, balances, receiving_counters, each sorted and in a statement of its own.

CREATE OR REPLACE FUNCTION step_for(t transfers, p_id uuid, p_ord integer, p_verdict text, p_attempt integer,
    p_not_before timestamptz) RETURNS SETOF submission_step LANGUAGE sql STABLE AS $$
    SELECT p_ord, p_id, p_verdict, CASE (t).route WHEN 'external' THEN 'NIPTransfer' ELSE 'BookTransfer' END,
        CASE p_verdict WHEN 'ask' THEN (SELECT p.reference FROM transfers p WHERE p.id = (t).parent_id)
            ELSE (t).reference END, p_attempt, (t).source_account,
        (t).destination, (t).amount, 'NGN', (t).description, p_verdict = 'query', p_not_before, (t).failure_reason,
        (t).sender_id, (t).correlation_id, (t).traceparent
$$;

-- A refund is not held back by what holds back other money: it was the creator's all along. Nor is what two people give
-- out of suspense.
CREATE OR REPLACE FUNCTION submission_refusal(t transfers, p_now timestamptz) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN CASE
        WHEN recovery_is_open() THEN 'stale'
        WHEN t.created_at < p_now - interval '24 hours' THEN 'expired'
        WHEN NOT read_model_is_fresh(p_now) THEN 'stale'
        WHEN EXISTS (SELECT 1 FROM users s WHERE s.id = t.sender_id
            AND (s.status <> 'active' OR s.debits_blocked OR NOT s.sending_allowed AND t.type <> 'self_transfer'))
            THEN 'sender_restricted'
        WHEN t.type IN ('drop_claim', 'drop_refund', 'release') AND unheld_refusal(t, p_now) IS NOT NULL
            THEN unheld_refusal(t, p_now)
        WHEN EXISTS (SELECT 1 FROM balances b WHERE b.account_id = t.debit_account AND b.debits_blocked)
            THEN 'sender_restricted'
        WHEN t.source_account IS NULL THEN 'sender_not_ready'
        WHEN t.device_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM devices d
            WHERE d.id = t.device_id AND d.user_id = t.sender_id AND d.revoked_at IS NULL) THEN 'device_revoked'
        WHEN t.type NOT IN ('drop_refund', 'release') AND EXISTS (SELECT 1 FROM users r WHERE r.id = t.recipient_id
            AND (r.status <> 'active' OR r.credits_blocked)) THEN 'recipient_unavailable'
        WHEN t.route = 'external' AND NOT EXISTS (SELECT 1 FROM beneficiaries b
            WHERE b.id = t.beneficiary_id AND b.user_id = coalesce(t.recipient_id, t.sender_id)
              AND b.verified AND b.deleted_at IS NULL) THEN 'beneficiary_gone'
    END;
END $$;

-- The same for what holds nothing: money of drops, and what two people give out of suspense. Apart, because what it
-- asks would be made ready for each payment.
CREATE OR REPLACE FUNCTION unheld_refusal(t transfers, p_now timestamptz) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN CASE
        WHEN t.type IN ('drop_claim', 'drop_refund') AND NOT pool_covers(t) THEN 'drop_not_covered'
        WHEN t.type = 'drop_claim' AND drop_is_paused(t.parent_id) THEN 'sender_restricted'
        WHEN t.type = 'release' AND t.route = 'external' AND EXISTS (SELECT 1 FROM users u
            JOIN balances b ON b.account_id = u.wallet_id
            WHERE u.id = t.recipient_id AND (b.owed > 0 OR b.debits_blocked)) THEN 'recipient_owes'
        WHEN t.type = 'release' AND NOT is_still_there(t, p_now) THEN 'unasked'
    END;
END $$;

-- Whether the provider has said a moment ago that the payment stands whose money an order moves out of suspense. It may
-- have taken the payment back, which nobody has heard yet: the order would move money of somebody else's.
CREATE OR REPLACE FUNCTION is_still_there(t transfers, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN NOT EXISTS (SELECT 1 FROM transfers p WHERE p.id = t.parent_id AND p.submitted_at IS NOT NULL)
        OR EXISTS (SELECT 1 FROM provider_answers a WHERE a.transfer_id = t.parent_id AND a.answer = 'completed'
            AND a.last_seen_at > p_now - interval '1 minute');
END $$;

-- All drops share one of the provider's accounts, so there one drop's loss would be another's money: a pool pays what
-- its own money covers beside all that may still leave it, the older first. Of two that are decided side by side the
-- younger counts the older, so nobody waits for the pool's balance.
CREATE OR REPLACE FUNCTION pool_covers(t transfers) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT NOT b.debits_blocked AND b.posted >= (
            SELECT coalesce(sum(x.amount), 0) FROM transfers x
            WHERE x.parent_id = t.parent_id AND x.type IN ('drop_claim', 'drop_refund')
              AND (x.state IN ('submitted', 'unknown') OR x.state = 'accepted' AND x.id <= t.id))
        FROM balances b WHERE b.account_id = t.debit_account);
END $$;

-- Commits that provider calls are about to be made. See submission_step for what comes back: for 'send', commit and
-- call the provider; for 'query', ask by reference first; for 'ask', whether the payment of that reference stands.
CREATE OR REPLACE FUNCTION begin_submission(p_transfers uuid[], p_actor text,
    p_call_deadline interval DEFAULT '10 seconds', p_now timestamptz DEFAULT NULL) RETURNS SETOF submission_step
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now timestamptz;
    r record;
    v_send uuid[] := '{}';
    v_switch uuid[] := '{}';
    v_fail uuid[] := '{}';
    v_why text[] := '{}';
    v_stale uuid[] := '{}';
    v_ask uuid[] := '{}';
    v_nulls text[];
BEGIN
    PERFORM hold_recovery(false);
    PERFORM 1 FROM transfers t WHERE t.id = ANY (p_transfers) ORDER BY t.id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());

    FOR r IN
        SELECT t.id, t.type, submission_refusal(t, v_now) AS refusal
        FROM transfers t WHERE t.id = ANY (p_transfers) AND t.state = 'accepted' ORDER BY t.id
    LOOP
        IF r.refusal IS NULL THEN v_send := v_send || r.id;
        ELSIF r.refusal = 'stale' THEN v_stale := v_stale || r.id;
        ELSIF r.refusal = 'unasked' THEN v_ask := v_ask || r.id;
        ELSIF r.refusal = 'beneficiary_gone' AND r.type = 'p2p' THEN v_switch := v_switch || r.id;
        ELSE v_fail := v_fail || r.id; v_why := v_why || r.refusal;
        END IF;
    END LOOP;

    IF v_switch <> '{}' OR v_fail <> '{}' THEN
        SELECT v_send || x.switched, x.failed INTO v_send, v_fail
        FROM switch_or_fail(v_switch, v_fail, v_why, p_actor, v_now) x;
    END IF;

    IF v_send <> '{}' THEN
        v_nulls := array_fill(NULL::text, ARRAY[cardinality(v_send)]);
        PERFORM advance(v_send, 'submitted', p_actor, v_nulls::uuid[], v_nulls, v_nulls, v_nulls, v_nulls::uuid[],
            v_now);
        INSERT INTO provider_calls (reference, attempt, operation, started_at, deadline_at, correlation_id)
        SELECT t.reference, 1, 'create_transfer', v_now, v_now + p_call_deadline, t.correlation_id
        FROM transfers t WHERE t.id = ANY (v_send);
    END IF;

    RETURN QUERY
    SELECT s.* FROM (
        SELECT x.id, x.ord, row_number() OVER (PARTITION BY x.id ORDER BY x.ord) AS nth
        FROM unnest(p_transfers) WITH ORDINALITY AS x(id, ord)
    ) x
    LEFT JOIN transfers t ON t.id = x.id
    CROSS JOIN LATERAL step_for(t, x.id, x.ord::integer,
        CASE WHEN t.id IS NULL THEN 'missing'
             WHEN x.id = ANY (v_send) AND x.nth = 1 THEN 'send'
             WHEN x.id = ANY (v_stale) THEN 'stale'
             WHEN x.id = ANY (v_ask) THEN 'ask'
             WHEN x.id = ANY (v_fail) AND x.nth = 1 THEN 'failed'
             WHEN t.state IN ('submitted', 'unknown') THEN 'query'
             ELSE 'ended' END,
        CASE WHEN x.id = ANY (v_send) THEN 1 ELSE
            (SELECT max(c.attempt) FROM provider_calls c WHERE c.reference = t.reference) END,
        NULL) s
    ORDER BY x.ord;
END $$;

-- Transfers that cannot be sent as they are: those that may switch to a book transfer, and those that fail, with why.
-- What cannot switch fails too. The transfers are locked.
CREATE OR REPLACE FUNCTION switch_or_fail(p_switch uuid[], p_fail uuid[], p_why text[], p_actor text, p_now timestamptz,
    OUT switched uuid[], OUT failed uuid[]) LANGUAGE plpgsql AS $$
DECLARE
    r record;
    v_nulls text[];
BEGIN
    switched := '{}';
    failed := p_fail;
    PERFORM 1 FROM balances b
    WHERE b.account_id IN (SELECT t.debit_account FROM transfers t WHERE t.id = ANY (p_switch || p_fail)
        UNION SELECT closed_suspense(t.sender_id) FROM transfers t WHERE t.id = ANY (p_fail))
    ORDER BY b.account_id FOR NO KEY UPDATE;
    PERFORM 1 FROM receiving_counters c
    WHERE c.user_id IN (SELECT t.recipient_id FROM transfers t WHERE t.id = ANY (p_switch || p_fail))
    ORDER BY c.user_id FOR NO KEY UPDATE;
    FOR r IN SELECT x.id, switch_to_book(x.id, p_actor, p_now) AS refusal FROM unnest(p_switch) AS x(id) LOOP
        IF r.refusal IS NULL THEN switched := switched || r.id;
        ELSE failed := failed || r.id; p_why := p_why || r.refusal;
        END IF;
    END LOOP;
    IF failed <> '{}' THEN
        v_nulls := array_fill(NULL::text, ARRAY[cardinality(failed)]);
        PERFORM fail_transfers(failed, p_actor, v_nulls::uuid[], p_why, p_why, v_nulls, v_nulls::uuid[], p_now);
    END IF;
    PERFORM collect_freed(switched, p_now);
END $$;

-- The next state of transfers, with their history. What ends is published, and drops and requests follow it.
CREATE OR REPLACE FUNCTION advance(p_ids uuid[], p_state text, p_actor text, p_causes uuid[], p_evidence text[],
    p_reasons text[], p_provider_ids text[], p_events uuid[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_ends constant boolean := p_state IN ('completed', 'failed', 'reversed');
BEGIN
    WITH moved AS (
        UPDATE transfers t SET
            state = p_state, steps = t.steps + 1, sequence = t.sequence + v_ends::integer,
            provider_id = coalesce(x.provider_id, t.provider_id),
            failure_reason = CASE WHEN v_ends THEN x.reason ELSE t.failure_reason END,
            submitted_at = CASE WHEN p_state = 'submitted' THEN coalesce(t.submitted_at, p_now) ELSE t.submitted_at END,
            ended_at = CASE WHEN v_ends THEN p_now END
        FROM unnest(p_ids, p_causes, p_evidence, p_reasons, p_provider_ids)
             AS x(id, cause, evidence, reason, provider_id)
        WHERE t.id = x.id
        RETURNING t.id, t.steps, x.cause, x.evidence
    )
    INSERT INTO transfer_steps (transfer_id, step, state, actor, cause, evidence, happened_at)
    SELECT m.id, m.steps, p_state, p_actor, m.cause, m.evidence, p_now FROM moved m;

    CASE p_state
        WHEN 'completed' THEN PERFORM publish_completed(p_ids, p_causes, p_events, p_now);
        WHEN 'failed' THEN PERFORM publish_failed(p_ids, p_causes, p_events, p_now);
        WHEN 'reversed' THEN PERFORM publish_reversed(p_ids, p_causes, p_events, p_now);
        ELSE NULL;
    END CASE;
    IF v_ends THEN PERFORM follow_transfers(p_ids, p_state, p_now); END IF;
END $$;

-- The provider does not know the reference. That counts only when it was seen twice, two minutes apart, and both times
-- later than two minutes after the last call could still have arrived. If that was refused, nothing was taken, and
-- nothing is sent again: the transfer has failed.
CREATE OR REPLACE FUNCTION record_absence(p_transfers uuid[], p_now timestamptz DEFAULT NULL)
RETURNS TABLE (transfer_id uuid, verdict text, not_before timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz;
BEGIN
    PERFORM 1 FROM transfers t WHERE t.id = ANY (p_transfers) ORDER BY t.id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());

    INSERT INTO transfer_absences AS a (transfer_id, attempt, first_seen_at, last_seen_at)
    SELECT t.id, c.attempt, v_now, v_now
    FROM transfers t
    JOIN LATERAL (SELECT * FROM provider_calls p WHERE p.reference = t.reference
        ORDER BY p.attempt DESC LIMIT 1) c ON true
    WHERE t.id = ANY (p_transfers) AND t.state IN ('submitted', 'unknown')
      AND v_now >= c.deadline_at + interval '2 minutes'
    ON CONFLICT (transfer_id, attempt) DO UPDATE SET last_seen_at = excluded.last_seen_at;

    RETURN QUERY
    SELECT x.id,
        CASE WHEN t.id IS NULL THEN 'missing'
             WHEN t.state NOT IN ('submitted', 'unknown') THEN 'ended'
             WHEN may_resend(t) > v_now THEN 'wait'
             WHEN was_refused(t) THEN 'refused' WHEN pool_is_closed(t) THEN 'not_covered' ELSE 'resend' END,
        may_resend(t)
    FROM unnest(p_transfers) WITH ORDINALITY AS x(id, ord) LEFT JOIN transfers t ON t.id = x.id ORDER BY x.ord;
END $$;

-- Whether a call may still arrive at the provider, for as long as record_absence() reckons with. Only an answer, or
-- that it never left, is an end: who stopped waiting for one, or crashed, knows nothing.
CREATE OR REPLACE FUNCTION may_arrive(c provider_calls, p_now timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce((c).outcome, 'lost') NOT IN ('answered', 'refused', 'unsent', 'forgotten')
        AND (c).deadline_at + interval '2 minutes' > p_now
$$;

-- Whether the provider said no to the last call. An earlier one that was lost may have been taken all the same.
CREATE OR REPLACE FUNCTION was_refused(t transfers) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(c.outcome = 'refused', false) FROM provider_calls c
    WHERE c.reference = (t).reference ORDER BY c.attempt DESC LIMIT 1
$$;

-- Whether a drop whose funding was taken back pays this: nothing of it is sent any more, whatever was sent before.
--
-- In PL/pgSQL, which keeps the plan: it is called for every transfer that completes, and most end at the first line.
CREATE OR REPLACE FUNCTION pool_is_closed(t transfers) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF t.type NOT IN ('drop_claim', 'drop_refund') THEN RETURN false; END IF;
    RETURN EXISTS (SELECT 1 FROM balances b WHERE b.account_id = t.debit_account AND b.debits_blocked);
END $$;

-- When the same order may be sent again at the earliest; in the past only if the absence has been seen often enough.
CREATE OR REPLACE FUNCTION may_resend(t transfers) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN a.first_seen_at IS NULL THEN c.deadline_at + interval '2 minutes'
        WHEN a.last_seen_at - a.first_seen_at >= interval '2 minutes' THEN a.last_seen_at
        ELSE a.first_seen_at + interval '2 minutes' END
    FROM provider_calls c LEFT JOIN transfer_absences a ON a.transfer_id = (t).id AND a.attempt = c.attempt
    WHERE c.reference = (t).reference ORDER BY c.attempt DESC LIMIT 1
$$;

CREATE OR REPLACE FUNCTION begin_resend(p_transfers uuid[], p_actor text,
    p_call_deadline interval DEFAULT '10 seconds', p_now timestamptz DEFAULT NULL) RETURNS SETOF submission_step
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_send uuid[];
BEGIN
    PERFORM hold_recovery(false);
    PERFORM 1 FROM transfers t WHERE t.id = ANY (p_transfers) ORDER BY t.id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());

    WITH calls AS (
        INSERT INTO provider_calls (reference, attempt, operation, started_at, deadline_at, correlation_id)
        SELECT t.reference, a.attempt + 1, 'create_transfer', v_now, v_now + p_call_deadline, t.correlation_id
        FROM transfers t JOIN transfer_absences a ON a.transfer_id = t.id
        WHERE t.id = ANY (p_transfers) AND t.state IN ('submitted', 'unknown')
          AND a.attempt = (SELECT max(c.attempt) FROM provider_calls c WHERE c.reference = t.reference)
          AND a.last_seen_at - a.first_seen_at >= interval '2 minutes' AND NOT recovery_is_open()
          AND NOT was_refused(t) AND NOT pool_is_closed(t)
        RETURNING reference
    )
    SELECT array_agg(t.id) INTO v_send FROM calls JOIN transfers t USING (reference);

    RETURN QUERY
    SELECT s.* FROM (
        SELECT x.id, x.ord, row_number() OVER (PARTITION BY x.id ORDER BY x.ord) AS nth
        FROM unnest(p_transfers) WITH ORDINALITY AS x(id, ord)
    ) x
    LEFT JOIN transfers t ON t.id = x.id
    CROSS JOIN LATERAL step_for(t, x.id, x.ord::integer,
        CASE WHEN t.id IS NULL THEN 'missing'
             WHEN t.state NOT IN ('submitted', 'unknown') THEN 'ended'
             WHEN x.id = ANY (v_send) AND x.nth = 1 THEN 'send'
             ELSE 'wait' END,
        (SELECT max(c.attempt) FROM provider_calls c WHERE c.reference = t.reference),
        CASE WHEN x.id = ANY (v_send) THEN NULL ELSE may_resend(t) END) s
    ORDER BY x.ord;
END $$;

CREATE OR REPLACE FUNCTION finish_calls(p_references text[], p_attempts integer[], p_outcomes text[],
    p_now timestamptz DEFAULT NULL)
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE provider_calls c SET ended_at = coalesce(p_now, transfa_now()), outcome = x.outcome
    FROM unnest(p_references, p_attempts, p_outcomes) AS x(reference, attempt, outcome)
    WHERE c.reference = x.reference AND c.attempt = x.attempt AND c.ended_at IS NULL
$$;
