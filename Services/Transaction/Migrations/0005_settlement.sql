-- What happens to a transfer after its acceptance.
--
--     accepted -> submitted -> completed | failed          submitted <-> unknown -> completed | failed
--     accepted -> failed (recheck, or a day without a provider call)             completed -> reversed
--
-- begin_submission() commits that a provider call is about to be made, after checking once more that nobody was
-- restricted meanwhile. settle_payments() applies what is known from outside. `unknown` ends only by evidence, never by
-- age. Everything may be repeated: what has been done answers 'ended' or 'ignored' and changes nothing.
--
-- Lock order here as everywhere: transactions, balances, receiving_counters, each sorted and in a statement of its own.

-- An event id for the rare events that no caller foresees: a UUIDv7, so that it names its outbox day.
CREATE FUNCTION new_event_id(moment timestamptz) RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || '7'
        || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
$$;

-- Posting ------------------------------------------------------------------------------------------------------------
-- The only writer of entries. The balances must be locked. One new version per account, whatever the number of legs.

CREATE FUNCTION post_legs(p_accounts bigint[], p_transactions uuid[], p_legs text[], p_amounts bigint[],
    p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM unnest(p_transactions, p_amounts) AS x(id, amount)
               GROUP BY x.id HAVING sum(x.amount) <> 0) THEN
        RAISE EXCEPTION 'legs of a transaction do not sum to zero' USING ERRCODE = 'check_violation';
    END IF;

    WITH legs AS MATERIALIZED (
        SELECT x.account_id, x.transaction_id, x.leg, x.amount,
            b.sequence + row_number() OVER running AS sequence,
            b.posted + (sum(x.amount) OVER running)::bigint AS balance_after
        FROM unnest(p_accounts, p_transactions, p_legs, p_amounts) WITH ORDINALITY
             AS x(account_id, transaction_id, leg, amount, ord)
        LEFT JOIN balances b ON b.account_id = x.account_id      -- no such balance: the NOT NULL of entries refuses it
        WHERE x.amount <> 0
        WINDOW running AS (PARTITION BY x.account_id ORDER BY x.ord ROWS UNBOUNDED PRECEDING)
    ),
    write_entries AS (
        INSERT INTO entries (account_id, sequence, amount, balance_after, leg, transaction_id, posted_at)
        SELECT l.account_id, l.sequence, l.amount, l.balance_after, l.leg, l.transaction_id, p_now FROM legs l
    )
    UPDATE balances b SET posted = b.posted + x.moved, sequence = b.sequence + x.legs
    FROM (SELECT l.account_id, sum(l.amount)::bigint AS moved, count(*) AS legs FROM legs l GROUP BY 1) x
    WHERE b.account_id = x.account_id;
END $$;

-- Completed transfers: the payer's money reaches the payee, fee and duty reach their own accounts.
CREATE FUNCTION post_completion(p_ids uuid[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
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
    JOIN transactions t ON t.id = x.id
    CROSS JOIN LATERAL (VALUES
        (1, t.debit_account, 'amount', -t.amount), (2, t.credit_account, 'amount', t.amount),
        (3, t.debit_account, 'fee', -t.fee), (4, system_account('fees', t.id), 'fee', t.fee),
        (5, t.debit_account, 'duty', -t.duty), (6, system_account('stamp_duty', t.id), 'duty', t.duty)
    ) AS l(line, account, leg, amount)
    WHERE l.amount <> 0;
    PERFORM post_legs(v_accounts, v_ids, v_legs, v_amounts, p_now);
END $$;

-- A reversed transfer: everything goes back. What the payee has already spent is owed to us: it is posted to a
-- receivable account, and the wallet sends nothing more until somebody has looked at it. Returns what could not be
-- recovered.
CREATE FUNCTION post_reversal(p_id uuid, p_now timestamptz) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    t transactions;
    v_back bigint;
    v_owed bigint;
BEGIN
    SELECT * INTO STRICT t FROM transactions x WHERE x.id = p_id;
    SELECT CASE WHEN b.checked THEN least(t.amount, b.posted - b.held) ELSE t.amount END INTO STRICT v_back
    FROM balances b WHERE b.account_id = t.credit_account;
    v_owed := t.amount - v_back;
    IF v_owed > 0 THEN
        UPDATE balances SET debits_blocked = true WHERE account_id = t.credit_account;
    END IF;
    PERFORM post_legs(
        ARRAY[t.credit_account, system_account('receivable', t.id), t.debit_account,
              system_account('fees', t.id), t.debit_account, system_account('stamp_duty', t.id), t.debit_account],
        array_fill(t.id, ARRAY[7]),
        ARRAY['reversal', 'receivable', 'reversal', 'reversed_fee', 'reversed_fee', 'reversed_duty', 'reversed_duty'],
        ARRAY[-v_back, -v_owed, t.amount, -t.fee, t.fee, -t.duty, t.duty], p_now);
    RETURN v_owed;
END $$;

-- Giving back --------------------------------------------------------------------------------------------------------

-- A hold ends once. Releasing comes before posting, so that available money is never negative in between.
CREATE FUNCTION end_holds(p_ids uuid[], p_state text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH ended AS (
        UPDATE holds h SET state = p_state WHERE h.transaction_id = ANY (p_ids) AND h.state = 'active'
        RETURNING h.account_id, h.amount
    )
    UPDATE balances b SET held = b.held - x.total
    FROM (SELECT e.account_id, sum(e.amount)::bigint AS total FROM ended e GROUP BY 1) x
    WHERE b.account_id = x.account_id;
END $$;

-- Money is no longer on its way into a wallet: it has arrived, or it will not.
CREATE FUNCTION end_incoming(p_ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE receiving_counters c SET incoming = c.incoming - x.total
    FROM (SELECT t.recipient_id, sum(t.amount)::bigint AS total FROM transactions t
          WHERE t.id = ANY (p_ids) AND t.incoming_counted GROUP BY 1) x
    WHERE c.user_id = x.recipient_id;
END $$;

-- Free slots go back to the month they were taken from; a counter that has moved on only tells others.
CREATE FUNCTION release_slots(p_ids uuid[], p_cause uuid, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH back AS (
        SELECT t.id, t.recipient_id, t.slot_month, t.correlation_id, t.traceparent,
            t.slot_month = c.month AS counts,
            c.event_sequence + row_number() OVER per_user AS sequence,
            c.slots_used + c.slots_adjusted
                - (count(*) FILTER (WHERE t.slot_month = c.month) OVER per_user)::integer AS used
        FROM transactions t JOIN receiving_counters c ON c.user_id = t.recipient_id
        WHERE t.id = ANY (p_ids) AND t.slot_month IS NOT NULL
        WINDOW per_user AS (PARTITION BY t.recipient_id ORDER BY t.id ROWS UNBOUNDED PRECEDING)
    ),
    told AS MATERIALIZED (SELECT b.*, new_event_id(p_now) AS event_id FROM back b),
    write_counters AS (
        UPDATE receiving_counters c SET
            slots_used = c.slots_used - x.slots, event_sequence = c.event_sequence + x.events
        FROM (SELECT b.recipient_id, count(*) FILTER (WHERE b.counts)::integer AS slots, count(*) AS events
              FROM told b GROUP BY 1) x
        WHERE c.user_id = x.recipient_id
    )
    INSERT INTO outbox (day, id, type, subject, sequence, correlation_id, causation_id, traceparent, time, data)
    SELECT uuid_v7_day(b.event_id), b.event_id, 'external_slot.released', b.recipient_id, b.sequence, b.correlation_id,
        p_cause, b.traceparent, p_now,
        slot_data(b.recipient_id, b.id, b.slot_month, CASE WHEN b.counts THEN b.used END, moment_text(p_now))
    FROM told b;
END $$;

-- Limits get back what did not leave, as long as the counter still stands in the transfer's day or month.
CREATE FUNCTION give_back_spending(p_ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH write_devices AS (
        UPDATE devices d SET first_day_total = d.first_day_total - x.total
        FROM (SELECT t.capped_device_id, sum(t.amount)::bigint AS total FROM transactions t
              WHERE t.id = ANY (p_ids) AND t.capped_device_id IS NOT NULL GROUP BY 1) x
        WHERE d.id = x.capped_device_id
    )
    UPDATE spending_counters s SET day_total = s.day_total - x.day_back, month_total = s.month_total - x.month_back
    FROM (
        SELECT t.sender_id,
            coalesce(sum(t.amount) FILTER (WHERE t.spent_day = c.day), 0)::bigint AS day_back,
            coalesce(sum(t.amount) FILTER (WHERE t.spent_month = c.month), 0)::bigint AS month_back
        FROM transactions t JOIN spending_counters c ON c.user_id = t.sender_id
        WHERE t.id = ANY (p_ids) GROUP BY 1
    ) x
    WHERE s.user_id = x.sender_id;
END $$;

-- Moving on ----------------------------------------------------------------------------------------------------------
-- Sets a new state, writes the history row and, for a state others care about, the event. `p_more` is further JSON
-- fields.

CREATE FUNCTION advance(p_ids uuid[], p_state text, p_actor text, p_causes uuid[], p_evidence text[], p_reasons text[],
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
END $$;

-- A transfer that will not happen: everything it took goes back, in the same commit.
CREATE FUNCTION fail_transfers(p_ids uuid[], p_actor text, p_causes uuid[], p_evidence text[], p_reasons text[],
    p_provider_ids text[], p_events uuid[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM end_holds(p_ids, 'released');
    PERFORM give_back_spending(p_ids);
    PERFORM end_incoming(p_ids);
    PERFORM release_slots(p_ids, NULL, p_now);
    PERFORM advance(p_ids, 'failed', p_actor, p_causes, p_evidence, p_reasons, p_provider_ids, p_events,
        array_fill(NULL::text, ARRAY[cardinality(p_ids)]), p_now);
END $$;

-- Submission ---------------------------------------------------------------------------------------------------------

CREATE TYPE submission_step AS (
    ord integer, transaction_id uuid, verdict text, kind text, reference text, attempt integer, source_account text,
    destination text, amount bigint, currency text, description text, must_query_first boolean, not_before timestamptz,
    reason text, sender_id uuid, correlation_id uuid, traceparent text
);

CREATE FUNCTION step_for(t transactions, p_id uuid, p_ord integer, p_verdict text, p_attempt integer,
    p_not_before timestamptz) RETURNS SETOF submission_step LANGUAGE sql STABLE AS $$
    SELECT p_ord, p_id, p_verdict, CASE (t).route WHEN 'external' THEN 'NIPTransfer' ELSE 'BookTransfer' END,
        (t).reference, p_attempt, (t).source_account, (t).destination, (t).amount, 'NGN', (t).description,
        p_verdict = 'query', p_not_before, (t).failure_reason, (t).sender_id, (t).correlation_id, (t).traceparent
$$;

-- Why a transfer may no longer leave; null: nothing is in the way. 'beneficiary_gone' of a p2p is not the end of it.
CREATE FUNCTION submission_bar(t transactions, p_now timestamptz) RETURNS text LANGUAGE plpgsql STABLE AS $$
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
        WHEN EXISTS (SELECT 1 FROM users r WHERE r.id = t.recipient_id
            AND (r.status <> 'active' OR r.credits_blocked)) THEN 'recipient_unavailable'
        WHEN t.route = 'external' AND NOT EXISTS (SELECT 1 FROM beneficiaries b
            WHERE b.id = t.beneficiary_id AND b.user_id = coalesce(t.recipient_id, t.sender_id)
              AND b.verified AND b.deleted_at IS NULL) THEN 'beneficiary_gone'
    END;
END $$;

-- A p2p whose beneficiary is gone switches once to a book transfer: the slot goes back, and if the other way is cheaper
-- the difference too. Returns why that cannot be, or null. Balances and counters must be locked.
CREATE FUNCTION switch_to_book(p_id uuid, p_actor text, p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    t transactions;
    f record;
    v_total bigint;
    v_fee bigint;
    v_duty bigint;
BEGIN
    SELECT * INTO STRICT t FROM transactions x WHERE x.id = p_id;
    SELECT r.*, b.posted + c.incoming AS total INTO f
    FROM recipient_facts(p_now) r
    JOIN balances b ON b.account_id = r.wallet_id
    JOIN receiving_counters c ON c.user_id = r.user_id
    WHERE r.user_id = t.recipient_id;
    IF f.provider_account IS NULL THEN RETURN 'recipient_not_ready'; END IF;
    IF t.amount > f.maximum_balance - f.total THEN RETURN 'recipient_limit'; END IF;

    PERFORM release_slots(ARRAY[p_id], NULL, p_now);
    SELECT least(t.fee, coalesce(max(x.fee), 0)), least(t.duty, coalesce(max(x.duty), 0)) INTO v_fee, v_duty
    FROM fee_for(t.type, 'internal', t.amount, t.created_at) x;
    v_total := t.amount + v_fee + v_duty;
    IF v_total < t.amount + t.fee + t.duty THEN
        UPDATE holds SET amount = v_total WHERE transaction_id = p_id;
        UPDATE balances SET held = held - (t.amount + t.fee + t.duty - v_total) WHERE account_id = t.debit_account;
    END IF;
    IF f.maximum_balance IS NOT NULL THEN
        UPDATE receiving_counters SET incoming = incoming + t.amount WHERE user_id = t.recipient_id;
    END IF;
    UPDATE transactions SET route = 'internal', route_reason = 'beneficiary_gone', credit_account = f.wallet_id,
        destination = f.provider_account, beneficiary_id = NULL, slot_month = NULL, fee = v_fee, duty = v_duty,
        incoming_counted = f.maximum_balance IS NOT NULL, steps = steps + 1
    WHERE id = p_id;
    INSERT INTO transaction_events (transaction_id, step, state, actor, evidence, happened_at)
    VALUES (p_id, t.steps + 1, 'accepted', p_actor, 'beneficiary gone: switched to a book transfer', p_now);
    RETURN NULL;
END $$;

-- Commits that provider calls are about to be made. See submission_step for what comes back: for 'send', commit and
-- call the provider; for 'query', ask by reference first.
CREATE FUNCTION begin_submission(p_transactions uuid[], p_actor text, p_call_deadline interval DEFAULT '10 seconds',
    p_now timestamptz DEFAULT NULL) RETURNS SETOF submission_step
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
    v_nulls text[];
BEGIN
    PERFORM 1 FROM transactions t WHERE t.id = ANY (p_transactions) ORDER BY t.id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());

    FOR r IN
        SELECT t.id, t.type, submission_bar(t, v_now) AS bar
        FROM transactions t WHERE t.id = ANY (p_transactions) AND t.state = 'accepted' ORDER BY t.id
    LOOP
        IF r.bar IS NULL THEN v_send := v_send || r.id;
        ELSIF r.bar = 'stale' THEN v_stale := v_stale || r.id;
        ELSIF r.bar = 'beneficiary_gone' AND r.type = 'p2p' THEN v_switch := v_switch || r.id;
        ELSE v_fail := v_fail || r.id; v_why := v_why || r.bar;
        END IF;
    END LOOP;

    IF v_switch <> '{}' OR v_fail <> '{}' THEN
        PERFORM 1 FROM balances b
        WHERE b.account_id IN (SELECT t.debit_account FROM transactions t WHERE t.id = ANY (v_switch || v_fail))
        ORDER BY b.account_id FOR NO KEY UPDATE;
        PERFORM 1 FROM receiving_counters c
        WHERE c.user_id IN (SELECT t.recipient_id FROM transactions t WHERE t.id = ANY (v_switch || v_fail))
        ORDER BY c.user_id FOR NO KEY UPDATE;
        FOR r IN SELECT x.id, switch_to_book(x.id, p_actor, v_now) AS bar FROM unnest(v_switch) AS x(id) LOOP
            IF r.bar IS NULL THEN v_send := v_send || r.id;
            ELSE v_fail := v_fail || r.id; v_why := v_why || r.bar;
            END IF;
        END LOOP;
        IF v_fail <> '{}' THEN
            v_nulls := array_fill(NULL::text, ARRAY[cardinality(v_fail)]);
            PERFORM fail_transfers(v_fail, p_actor, v_nulls::uuid[], v_why, v_why, v_nulls, v_nulls::uuid[], v_now);
        END IF;
    END IF;

    IF v_send <> '{}' THEN
        v_nulls := array_fill(NULL::text, ARRAY[cardinality(v_send)]);
        PERFORM advance(v_send, 'submitted', p_actor, v_nulls::uuid[], v_nulls, v_nulls, v_nulls, v_nulls::uuid[],
            v_nulls, v_now);
        INSERT INTO provider_calls (reference, attempt, operation, started_at, deadline_at, correlation_id)
        SELECT t.reference, 1, 'create_transfer', v_now, v_now + p_call_deadline, t.correlation_id
        FROM transactions t WHERE t.id = ANY (v_send);
    END IF;

    RETURN QUERY
    SELECT s.* FROM (
        SELECT x.id, x.ord, row_number() OVER (PARTITION BY x.id ORDER BY x.ord) AS nth
        FROM unnest(p_transactions) WITH ORDINALITY AS x(id, ord)
    ) x
    LEFT JOIN transactions t ON t.id = x.id
    CROSS JOIN LATERAL step_for(t, x.id, x.ord::integer,
        CASE WHEN t.id IS NULL THEN 'missing'
             WHEN x.id = ANY (v_send) AND x.nth = 1 THEN 'send'
             WHEN x.id = ANY (v_stale) THEN 'stale'
             WHEN x.id = ANY (v_fail) AND x.nth = 1 THEN 'failed'
             WHEN t.state IN ('submitted', 'unknown') THEN 'query'
             ELSE 'ended' END,
        CASE WHEN x.id = ANY (v_send) THEN 1 ELSE
            (SELECT max(c.attempt) FROM provider_calls c WHERE c.reference = t.reference) END,
        NULL) s
    ORDER BY x.ord;
END $$;

-- The provider does not know the reference. That counts only when it was seen twice, two minutes apart, and both times
-- later than two minutes after the last call could still have arrived.
CREATE FUNCTION record_absence(p_transactions uuid[], p_now timestamptz DEFAULT NULL)
RETURNS TABLE (transaction_id uuid, verdict text, not_before timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz;
BEGIN
    PERFORM 1 FROM transactions t WHERE t.id = ANY (p_transactions) ORDER BY t.id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());

    INSERT INTO transfer_absences AS a (transaction_id, attempt, first_seen_at, last_seen_at)
    SELECT t.id, c.attempt, v_now, v_now
    FROM transactions t
    JOIN LATERAL (SELECT * FROM provider_calls p WHERE p.reference = t.reference
        ORDER BY p.attempt DESC LIMIT 1) c ON true
    WHERE t.id = ANY (p_transactions) AND t.state IN ('submitted', 'unknown')
      AND v_now >= c.deadline_at + interval '2 minutes'
    ON CONFLICT (transaction_id, attempt) DO UPDATE SET last_seen_at = excluded.last_seen_at;

    RETURN QUERY
    SELECT x.id,
        CASE WHEN t.id IS NULL THEN 'missing'
             WHEN t.state NOT IN ('submitted', 'unknown') THEN 'ended'
             WHEN may_resend(t) <= v_now THEN 'resend' ELSE 'wait' END,
        may_resend(t)
    FROM unnest(p_transactions) WITH ORDINALITY AS x(id, ord) LEFT JOIN transactions t ON t.id = x.id ORDER BY x.ord;
END $$;

-- When the same order may be sent again at the earliest; in the past only if the absence has been seen often enough.
CREATE FUNCTION may_resend(t transactions) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN a.first_seen_at IS NULL THEN c.deadline_at + interval '2 minutes'
        WHEN a.last_seen_at - a.first_seen_at >= interval '2 minutes' THEN a.last_seen_at
        ELSE a.first_seen_at + interval '2 minutes' END
    FROM provider_calls c LEFT JOIN transfer_absences a ON a.transaction_id = (t).id AND a.attempt = c.attempt
    WHERE c.reference = (t).reference ORDER BY c.attempt DESC LIMIT 1
$$;

CREATE FUNCTION begin_resend(p_transactions uuid[], p_actor text, p_call_deadline interval DEFAULT '10 seconds',
    p_now timestamptz DEFAULT NULL) RETURNS SETOF submission_step
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_send uuid[];
BEGIN
    PERFORM 1 FROM transactions t WHERE t.id = ANY (p_transactions) ORDER BY t.id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());

    WITH calls AS (
        INSERT INTO provider_calls (reference, attempt, operation, started_at, deadline_at, correlation_id)
        SELECT t.reference, a.attempt + 1, 'create_transfer', v_now, v_now + p_call_deadline, t.correlation_id
        FROM transactions t JOIN transfer_absences a ON a.transaction_id = t.id
        WHERE t.id = ANY (p_transactions) AND t.state IN ('submitted', 'unknown')
          AND a.attempt = (SELECT max(c.attempt) FROM provider_calls c WHERE c.reference = t.reference)
          AND a.last_seen_at - a.first_seen_at >= interval '2 minutes'
        RETURNING reference
    )
    SELECT array_agg(t.id) INTO v_send FROM calls JOIN transactions t USING (reference);

    RETURN QUERY
    SELECT s.* FROM (
        SELECT x.id, x.ord, row_number() OVER (PARTITION BY x.id ORDER BY x.ord) AS nth
        FROM unnest(p_transactions) WITH ORDINALITY AS x(id, ord)
    ) x
    LEFT JOIN transactions t ON t.id = x.id
    CROSS JOIN LATERAL step_for(t, x.id, x.ord::integer,
        CASE WHEN t.id IS NULL THEN 'missing'
             WHEN t.state NOT IN ('submitted', 'unknown') THEN 'ended'
             WHEN x.id = ANY (v_send) AND x.nth = 1 THEN 'send'
             ELSE 'wait' END,
        (SELECT max(c.attempt) FROM provider_calls c WHERE c.reference = t.reference),
        CASE WHEN x.id = ANY (v_send) THEN NULL ELSE may_resend(t) END) s
    ORDER BY x.ord;
END $$;

CREATE FUNCTION finish_calls(p_references text[], p_attempts integer[], p_outcomes text[],
    p_now timestamptz DEFAULT NULL)
RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE provider_calls c SET ended_at = coalesce(p_now, transfa_now()), outcome = x.outcome
    FROM unnest(p_references, p_attempts, p_outcomes) AS x(reference, attempt, outcome)
    WHERE c.reference = x.reference AND c.attempt = x.attempt AND c.ended_at IS NULL
$$;

-- Settlement ---------------------------------------------------------------------------------------------------------

-- What an outcome means for a transfer in a state. 'break': the provider contradicts what we know, and money may have
-- moved that our books do not have; a person decides.
CREATE FUNCTION settlement_move(p_state text, p_outcome text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN p_state IS NULL THEN 'missing'
        WHEN p_state IN ('submitted', 'unknown') AND p_outcome IN ('completed', 'failed', 'reversed') THEN p_outcome
        WHEN p_state = 'submitted' AND p_outcome = 'unknown' THEN 'unknown'
        WHEN p_state = 'unknown' AND p_outcome = 'open' THEN 'submitted'
        WHEN p_state = 'completed' AND p_outcome = 'reversed' THEN 'reversed'
        WHEN p_state = 'failed' AND p_outcome = 'completed' THEN 'break'
        WHEN p_state = 'completed' AND p_outcome = 'failed' THEN 'break'
        WHEN p_state = 'accepted' AND p_outcome IN ('completed', 'failed', 'reversed') THEN 'break'
        ELSE 'ignored' END
$$;

-- Applies outcomes. Several of the same transfer in one batch take effect one after the other. A reversal of a transfer
-- whose completion was never seen posts both, so that every order of the provider's messages ends in the same books.
CREATE FUNCTION settle_payments(p_transactions uuid[], p_outcomes text[], p_reasons text[], p_evidence text[],
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

-- One kind of move for many transfers that are in the same state. Everything is locked.
CREATE FUNCTION apply_move(p_move text, p_state text, p_ids uuid[], p_outcomes text[], p_reasons text[],
    p_evidence text[], p_provider_ids text[], p_events uuid[], p_causes uuid[], p_actor text, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_nulls constant text[] := array_fill(NULL::text, ARRAY[cardinality(p_ids)]);
    v_more text[] := '{}';
    v_owed bigint;
    v_id uuid;
BEGIN
    IF p_move = 'failed' THEN
        PERFORM fail_transfers(p_ids, p_actor, p_causes, p_evidence, p_reasons, p_provider_ids, p_events, p_now);
    ELSIF p_move = 'completed' OR p_move = 'reversed' AND p_state <> 'completed' THEN
        PERFORM end_holds(p_ids, 'posted');
        PERFORM post_completion(p_ids, p_now);
        PERFORM end_incoming(p_ids);
        PERFORM advance(p_ids, 'completed', p_actor, p_causes, p_evidence, v_nulls, p_provider_ids,
            CASE WHEN p_move = 'completed' THEN p_events ELSE v_nulls::uuid[] END, v_nulls, p_now);
    ELSIF p_move IN ('unknown', 'submitted') THEN
        PERFORM advance(p_ids, p_move, p_actor, p_causes, p_evidence, v_nulls, p_provider_ids, v_nulls::uuid[], v_nulls,
            p_now);
        IF p_move = 'submitted' THEN                     -- the provider knows it: earlier absences mean nothing
            DELETE FROM transfer_absences a WHERE a.transaction_id = ANY (p_ids);
        END IF;
    ELSIF p_move = 'break' THEN
        INSERT INTO breaks (transaction_id, kind, detail, opened_at)
        SELECT x.id, 'provider_says_' || x.outcome, 'we say ' || p_state || '; evidence: ' || x.evidence, p_now
        FROM unnest(p_ids, p_outcomes, p_evidence) AS x(id, outcome, evidence)
        ON CONFLICT DO NOTHING;
    END IF;

    IF p_move = 'reversed' THEN
        FOREACH v_id IN ARRAY p_ids LOOP                 -- one by one: each may take what the one before it left
            v_owed := post_reversal(v_id, p_now);
            v_more := v_more || (',"receivable":' || v_owed);
        END LOOP;
        PERFORM give_back_spending(p_ids);
        PERFORM release_slots(p_ids, NULL, p_now);
        PERFORM advance(p_ids, 'reversed', p_actor, p_causes, p_evidence, p_reasons, p_provider_ids, p_events, v_more,
            p_now);
    END IF;
END $$;

-- Two people end an unknown transfer, with a reason that stays in its history.
CREATE FUNCTION resolve_unknown(p_transaction uuid, p_outcome text, p_first_operator text, p_second_operator text,
    p_reason text, p_event uuid, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_state text;
BEGIN
    IF coalesce(p_first_operator, '') = '' OR coalesce(p_second_operator, '') = '' OR coalesce(p_reason, '') = ''
       OR p_first_operator = p_second_operator OR p_outcome NOT IN ('completed', 'failed') THEN
        RAISE EXCEPTION 'two different operators, an outcome and a reason are needed' USING ERRCODE = 'check_violation';
    END IF;
    SELECT t.state INTO v_state FROM transactions t WHERE t.id = p_transaction FOR NO KEY UPDATE;
    IF v_state IS NULL THEN RETURN 'missing'; END IF;
    IF v_state <> 'unknown' THEN RETURN 'ignored'; END IF;
    RETURN (SELECT s.result FROM settle_payments(ARRAY[p_transaction], ARRAY[p_outcome], ARRAY['resolved by operators'],
        ARRAY[p_reason], ARRAY[NULL::text], ARRAY[p_event], ARRAY[NULL::uuid],
        'operators ' || p_first_operator || ' and ' || p_second_operator, p_now) s);
END $$;

-- Money from outside -------------------------------------------------------------------------------------------------
-- Credited once per payment of the provider. A payment that carries a reference of ours is one of our own transfers
-- seen from the other end and credits nothing. Money for a wallet that may not take it waits in suspense.

CREATE FUNCTION credit_inbound(p_payments text[], p_accounts text[], p_amounts bigint[], p_references text[],
    p_transactions uuid[], p_evidence text[], p_correlations uuid[], p_now timestamptz DEFAULT NULL)
RETURNS TABLE (ord integer, transaction_id uuid, user_id uuid, result text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz;
    r record;
    v_results text[] := array_fill(''::text, ARRAY[cardinality(p_payments)]);
    v_ids uuid[] := array_fill(NULL::uuid, ARRAY[cardinality(p_payments)]);
    v_users uuid[] := array_fill(NULL::uuid, ARRAY[cardinality(p_payments)]);
BEGIN
    PERFORM 1 FROM transactions t WHERE t.reference = ANY (p_references) ORDER BY t.id FOR NO KEY UPDATE;
    PERFORM 1 FROM balances b
    WHERE b.account_id IN (
        SELECT u.wallet_id FROM users u WHERE u.provider_account = ANY (p_accounts)
        UNION SELECT system_account(k, x.id) FROM unnest(p_transactions) AS x(id),
            unnest(ARRAY['provider_clearing', 'suspense']) AS k)
    ORDER BY b.account_id FOR NO KEY UPDATE;
    PERFORM 1 FROM receiving_counters c
    WHERE c.user_id IN (SELECT u.id FROM users u WHERE u.provider_account = ANY (p_accounts))
    ORDER BY c.user_id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());

    FOR r IN
        SELECT x.*, u.id AS user_id, u.wallet_id, u.username, u.status <> 'active' OR u.credits_blocked AS refused,
            CASE WHEN l.tier IS NULL THEN 0 ELSE l.maximum_balance END AS maximum_balance, t.id AS ours
        FROM unnest(p_payments, p_accounts, p_amounts, p_references, p_transactions, p_evidence, p_correlations)
             WITH ORDINALITY AS x(payment, account, amount, reference, id, evidence, correlation, ord)
        LEFT JOIN users u ON u.provider_account = x.account
        LEFT JOIN LATERAL limits_of(u.tier, v_now) l ON true
        LEFT JOIN transactions t ON t.reference = x.reference AND u.id IN (t.recipient_id, t.sender_id)
        ORDER BY x.payment, x.ord
    LOOP
        v_users[r.ord] := r.user_id;
        IF r.user_id IS NULL THEN
            v_results[r.ord] := 'unknown_account';
            CONTINUE;
        END IF;
        v_results[r.ord] := take_inbound(r.payment, r.account, r.amount, r.reference, r.id, r.evidence, r.correlation,
            r.user_id, r.wallet_id, r.username, r.refused, r.maximum_balance, r.ours, v_now);
        v_ids[r.ord] := (SELECT p.transaction_id FROM inbound_payments p WHERE p.provider_payment_id = r.payment);
    END LOOP;

    RETURN QUERY SELECT x.ord::integer, x.id, x.owner, x.result
    FROM unnest(v_ids, v_users, v_results) WITH ORDINALITY AS x(id, owner, result, ord) ORDER BY x.ord;
END $$;

CREATE FUNCTION take_inbound(p_payment text, p_account text, p_amount bigint, p_reference text, p_id uuid,
    p_evidence text, p_correlation uuid, p_user uuid, p_wallet bigint, p_username text, p_refused boolean,
    p_maximum bigint, p_ours uuid, p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_total bigint;
    v_result text;
    v_credit bigint := p_wallet;
    v_clearing constant bigint := system_account('provider_clearing', p_id);
BEGIN
    IF EXISTS (SELECT 1 FROM inbound_payments x WHERE x.provider_payment_id = p_payment) THEN
        RETURN 'duplicate';
    END IF;

    SELECT b.posted + c.incoming INTO v_total
    FROM balances b, receiving_counters c WHERE b.account_id = p_wallet AND c.user_id = p_user;
    v_result := CASE WHEN p_ours IS NOT NULL THEN 'matched'
        WHEN p_refused OR p_amount > p_maximum - v_total THEN 'suspense' ELSE 'credited' END;
    INSERT INTO inbound_payments (provider_payment_id, provider_account, user_id, amount, reference, disposition,
        transaction_id, received_at)
    VALUES (p_payment, p_account, p_user, p_amount, p_reference, v_result, coalesce(p_ours, p_id), p_now);
    IF v_result = 'matched' THEN RETURN v_result; END IF;

    IF v_result = 'suspense' THEN v_credit := system_account('suspense', p_id); END IF;
    INSERT INTO transactions (id, reference, type, state, sequence, recipient_id, recipient_username, debit_account,
        credit_account, amount, route, route_reason, destination, correlation_id, provider_id, created_at, ended_at)
    VALUES (p_id, 'inb-' || p_id, 'inbound', 'completed', 0, p_user, p_username, v_clearing, v_credit, p_amount,
        'internal', v_result, p_account, p_correlation, p_payment, p_now, p_now);
    INSERT INTO transaction_events (transaction_id, step, state, actor, evidence, happened_at)
    VALUES (p_id, 1, 'completed', 'provider', p_evidence, p_now);
    PERFORM post_legs(ARRAY[v_clearing, v_credit], ARRAY[p_id, p_id], ARRAY['amount', 'amount'],
        ARRAY[-p_amount, p_amount], p_now);
    RETURN v_result;
END $$;

-- Free slots counted elsewhere (subscription's usage.adjusted). Returns the slots used after it.
CREATE FUNCTION adjust_slots(p_user uuid, p_delta integer, p_event uuid, p_causation uuid,
    p_now timestamptz DEFAULT NULL)
RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_month date;
    c receiving_counters;
BEGIN
    PERFORM 1 FROM receiving_counters x WHERE x.user_id = p_user FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    v_month := month_of(lagos_day(v_now));
    UPDATE receiving_counters x SET
        month = greatest(x.month, v_month),
        slots_used = CASE WHEN x.month < v_month THEN 0 ELSE x.slots_used END,
        slots_adjusted = CASE WHEN x.month < v_month THEN 0 ELSE x.slots_adjusted END + p_delta,
        event_sequence = x.event_sequence + 1
    WHERE x.user_id = p_user RETURNING x.* INTO c;
    IF NOT FOUND THEN RETURN NULL; END IF;
    INSERT INTO outbox (day, id, type, subject, sequence, causation_id, time, data)
    VALUES (uuid_v7_day(p_event), p_event,
        CASE WHEN p_delta >= 0 THEN 'external_slot.taken' ELSE 'external_slot.released' END,
        p_user, c.event_sequence, p_causation, v_now,
        slot_data(p_user, NULL, c.month, c.slots_used + c.slots_adjusted, moment_text(v_now)));
    RETURN c.slots_used + c.slots_adjusted;
END $$;
