-- How transfers end: completed, failed or reversed, by what is known from outside.

CREATE OR REPLACE FUNCTION settle_payments(p_transfers uuid[], p_outcomes text[], p_reasons text[],
    p_evidence text[], p_provider_ids text[], p_events uuid[], p_causations uuid[], p_actor text,
    p_now timestamptz DEFAULT NULL)
RETURNS TABLE (ord integer, transfer_id uuid, result text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz;
    v_rounds bigint;
    v_results text[] := array_fill(''::text, ARRAY[cardinality(p_transfers)]);
    v_suspended uuid[];
    r record;
BEGIN
    IF EXISTS (SELECT 1 FROM unnest(p_outcomes, p_evidence) AS x(outcome, evidence)
               WHERE x.outcome NOT IN ('completed', 'failed', 'reversed', 'unknown', 'open')
                  OR x.outcome IN ('completed', 'failed', 'reversed') AND coalesce(x.evidence, '') = '') THEN
        RAISE EXCEPTION 'outcome_unproven' USING ERRCODE = 'check_violation';
    END IF;

    v_suspended := lock_settled(p_transfers, p_outcomes);

    -- Learnt from the answer to our order, also when that decides nothing yet: messages that follow name only this id.
    UPDATE transfers t SET provider_id = x.provider_id
    FROM unnest(p_transfers, p_provider_ids) AS x(id, provider_id)
    WHERE t.id = x.id AND t.provider_id IS NULL AND x.provider_id IS NOT NULL;

    IF recovery_is_open() THEN
        PERFORM adopt_transfers(ARRAY(SELECT x.id FROM unnest(p_transfers, p_outcomes) AS x(id, outcome)
            WHERE x.outcome <> 'unknown'), coalesce(p_now, transfa_now()));
    END IF;
    PERFORM divert_to_suspense(p_transfers, p_outcomes);
    PERFORM lock_transfer_parties(p_transfers || v_suspended,
        p_outcomes || array_fill('reversed'::text, ARRAY[cardinality(v_suspended)]));
    v_now := coalesce(p_now, transfa_now());
    IF 'reversed' = ANY (p_outcomes) THEN
        PERFORM fail_unsent_releases(ARRAY(SELECT x.id FROM unnest(p_transfers, p_outcomes) AS x(id, outcome)
            WHERE x.outcome = 'reversed'), p_actor, v_now);
    END IF;

    SELECT max(c.n) INTO v_rounds FROM (SELECT count(*) AS n FROM unnest(p_transfers) AS x(id) GROUP BY x.id) c;
    FOR v_round IN 1 .. coalesce(v_rounds, 0) LOOP
        FOR r IN
            SELECT coalesce(CASE x.outcome WHEN 'reversed' THEN suspense_move(t) END,
                    settlement_move(t.state, x.outcome)) AS move, t.state,
                array_agg(x.ord ORDER BY x.ord) AS ords, array_agg(x.id ORDER BY x.ord) AS ids,
                array_agg(x.cause ORDER BY x.ord) AS causes, array_agg(x.evidence ORDER BY x.ord) AS evidence,
                array_agg(x.reason ORDER BY x.ord) AS reasons, array_agg(x.provider_id ORDER BY x.ord) AS provider_ids,
                array_agg(x.event_id ORDER BY x.ord) AS events, array_agg(x.outcome ORDER BY x.ord) AS outcomes
            FROM (
                SELECT y.*, row_number() OVER (PARTITION BY y.id ORDER BY y.ord) AS nth
                FROM unnest(p_transfers, p_outcomes, p_reasons, p_evidence, p_provider_ids, p_events, p_causations)
                     WITH ORDINALITY AS y(id, outcome, reason, evidence, provider_id, event_id, cause, ord)
            ) x
            LEFT JOIN transfers t ON t.id = x.id
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
    FROM unnest(p_transfers, v_results) WITH ORDINALITY AS x(id, result, ord) ORDER BY x.ord;
END $$;

-- Locks these transfers and those that end with them. Returns the ones in suspense whose money these orders move.
CREATE OR REPLACE FUNCTION lock_settled(p_transfers uuid[], p_outcomes text[]) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_suspended constant uuid[] := ARRAY(SELECT r.transfer_id FROM suspense_releases r
        WHERE r.id = ANY (p_transfers) AND r.state = 'approved');
    v_locked uuid[] := p_transfers || v_suspended;
BEGIN
    IF 'reversed' = ANY (p_outcomes) THEN                -- and what released the money out of suspense, or is to
        v_locked := v_locked || ARRAY(SELECT r.id FROM transfers r
            WHERE r.parent_id = ANY (p_transfers) AND r.type IN ('inbound', 'release'));
    END IF;
    PERFORM 1 FROM transfers t WHERE t.id = ANY (v_locked) ORDER BY t.id FOR NO KEY UPDATE;
    RETURN v_suspended;
END $$;

-- Locks what the outcomes of these transfers change, each kind sorted and in a statement of its own. The transfers are
-- locked.
CREATE OR REPLACE FUNCTION lock_transfer_parties(p_transfers uuid[], p_outcomes text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_owes boolean;
BEGIN
    SELECT bool_or(y.owes) INTO v_owes FROM (
        SELECT b.owed > 0 OR b.debits_blocked AS owes FROM balances b
        WHERE b.account_id IN (
            SELECT a.account
            FROM unnest(p_transfers, p_outcomes) AS x(id, outcome)
            JOIN transfers t ON t.id = x.id
            CROSS JOIN LATERAL (VALUES (t.debit_account), (t.credit_account),
                (CASE WHEN t.fee > 0 THEN system_account('fees', t.id) END),
                (CASE WHEN t.duty > 0 THEN system_account('stamp_duty', t.id) END),
                (CASE WHEN x.outcome IN ('failed', 'reversed') THEN closed_suspense(t.sender_id) END),
                -- Also when the money goes to suspense: what comes back unclaimed counts no longer as sent.
                (CASE WHEN t.type = 'drop_refund' OR x.outcome = 'reversed' AND t.route_reason = 'released'
                    THEN (SELECT u.wallet_id FROM users u WHERE u.id = t.recipient_id) END)) AS a(account)
            WHERE x.outcome IN ('completed', 'failed', 'reversed')
              AND (t.state IN ('submitted', 'unknown') OR t.state = 'completed' AND x.outcome = 'reversed'))
        ORDER BY b.account_id FOR NO KEY UPDATE) y;

    -- Both parties: whoever changes what is in a wallet holds the row that guards the wallet's ceiling.
    PERFORM 1 FROM receiving_counters c
    WHERE c.user_id IN (
        SELECT p.party FROM unnest(p_transfers, p_outcomes) AS x(id, outcome)
        JOIN transfers t ON t.id = x.id
        CROSS JOIN LATERAL (VALUES (t.recipient_id), (t.sender_id)) AS p(party)
        WHERE x.outcome IN ('completed', 'failed', 'reversed') AND t.state IN ('submitted', 'unknown', 'completed'))
    ORDER BY c.user_id FOR NO KEY UPDATE;

    -- Drops and requests that follow these transfers.
    PERFORM 1 FROM money_drops d
    WHERE d.id IN (SELECT t.parent_id FROM transfers t WHERE t.id = ANY (p_transfers))
    ORDER BY d.id FOR NO KEY UPDATE;
    PERFORM 1 FROM payment_requests q
    WHERE q.id IN (SELECT t.payment_request_id FROM transfers t WHERE t.id = ANY (p_transfers))
    ORDER BY q.id FOR NO KEY UPDATE;

    -- Where somebody owes, or is about to.
    IF v_owes OR 'reversed' = ANY (p_outcomes) THEN PERFORM lock_receivables(p_transfers); END IF;
END $$;

CREATE OR REPLACE FUNCTION apply_move(p_move text, p_state text, p_ids uuid[], p_outcomes text[], p_reasons text[],
    p_evidence text[], p_provider_ids text[], p_events uuid[], p_causes uuid[], p_actor text, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_nulls constant text[] := array_fill(NULL::text, ARRAY[cardinality(p_ids)]);
    v_id uuid;
BEGIN
    IF p_move = 'failed' THEN
        PERFORM fail_transfers(p_ids, p_actor, p_causes, p_evidence, p_reasons, p_provider_ids, p_events, p_now);
    ELSIF p_move = 'completed' OR p_move = 'reversed' AND p_state <> 'completed' THEN
        PERFORM end_holds(p_ids, 'posted');
        PERFORM post_completion(p_ids, p_now);
        PERFORM end_incoming(p_ids);
        PERFORM advance(p_ids, 'completed', p_actor, p_causes, p_evidence, v_nulls, p_provider_ids,
            CASE WHEN p_move = 'completed' THEN p_events ELSE v_nulls::uuid[] END, p_now);
    ELSIF p_move IN ('unknown', 'submitted') THEN
        PERFORM advance(p_ids, p_move, p_actor, p_causes, p_evidence, v_nulls, p_provider_ids, v_nulls::uuid[],
            p_now);
    ELSIF p_move = 'break' THEN
        INSERT INTO breaks (transfer_id, kind, state, evidence, opened_at)
        SELECT x.id, 'provider_says_' || x.outcome, p_state, x.evidence, p_now
        FROM unnest(p_ids, p_outcomes, p_evidence) AS x(id, outcome, evidence)
        ON CONFLICT DO NOTHING;
    END IF;

    IF p_move IN ('submitted', 'known') THEN             -- the provider knows it: earlier absences mean nothing
        DELETE FROM transfer_absences a WHERE a.transfer_id = ANY (p_ids);
    END IF;
    IF p_move = 'reversed' THEN
        PERFORM reverse_releases(p_ids, p_actor, p_causes, p_now);
        FOREACH v_id IN ARRAY p_ids LOOP                 -- one by one: each may take what the one before it left
            PERFORM post_reversal(v_id, p_now);
        END LOOP;
        PERFORM give_back_spending(p_ids);
        PERFORM release_slots(p_ids, p_now);
        PERFORM advance(p_ids, 'reversed', p_actor, p_causes, p_evidence, p_reasons, p_provider_ids, p_events, p_now);
        UPDATE breaks b SET closed_at = p_now, closed_by = p_actor, resolution = 'reversed'
        WHERE b.transfer_id = ANY (p_ids) AND b.kind = 'provider_says_reversed' AND b.closed_at IS NULL;
        PERFORM empty_closed_wallets(ARRAY(SELECT t.sender_id FROM transfers t WHERE t.id = ANY (p_ids)), p_now);
    END IF;
END $$;

-- A transfer that will not happen: everything it took goes back, in the same commit.
CREATE OR REPLACE FUNCTION fail_transfers(p_ids uuid[], p_actor text, p_causes uuid[], p_evidence text[],
    p_reasons text[], p_provider_ids text[], p_events uuid[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM end_holds(p_ids, 'released');
    PERFORM give_back_spending(p_ids);
    PERFORM end_incoming(p_ids);
    PERFORM release_slots(p_ids, p_now);
    PERFORM advance(p_ids, 'failed', p_actor, p_causes, p_evidence, p_reasons, p_provider_ids, p_events, p_now);
    PERFORM collect_freed(p_ids, p_now);
    PERFORM empty_closed_wallets(ARRAY(SELECT t.sender_id FROM transfers t WHERE t.id = ANY (p_ids)), p_now);
END $$;

-- The transfers are locked, and their drops and requests too or few enough to be locked here in order.
CREATE OR REPLACE FUNCTION follow_transfers(p_ids uuid[], p_state text, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    t transfers;
BEGIN
    FOR t IN
        SELECT x.* FROM transfers x
        WHERE x.id = ANY (p_ids) AND x.parent_id IS NOT NULL AND x.type <> 'inbound'     -- but releases out of suspense
        ORDER BY x.parent_id, x.id
    LOOP
        IF t.type = 'release' THEN
            PERFORM follow_release(t, p_state, p_now);
            CONTINUE;
        END IF;
        PERFORM 1 FROM money_drops d WHERE d.id = t.parent_id FOR NO KEY UPDATE;
        PERFORM follow_drop(t, p_state, p_now);
    END LOOP;
    FOR t IN
        SELECT x.* FROM transfers x WHERE x.id = ANY (p_ids) AND x.payment_request_id IS NOT NULL
        ORDER BY x.payment_request_id, x.id
    LOOP
        PERFORM follow_request(t, p_state, p_now);
    END LOOP;
END $$;

-- What an outcome means for a transfer in a state. 'break': the provider contradicts what we know, and money may have
-- moved that our books do not have; a person decides.
CREATE OR REPLACE FUNCTION settlement_move(p_state text, p_outcome text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN p_state IS NULL THEN 'missing'
        WHEN p_state IN ('submitted', 'unknown') AND p_outcome IN ('completed', 'failed', 'reversed') THEN p_outcome
        WHEN p_state = 'submitted' AND p_outcome = 'unknown' THEN 'unknown'
        WHEN p_state = 'unknown' AND p_outcome = 'open' THEN 'submitted'
        WHEN p_state = 'submitted' AND p_outcome = 'open' THEN 'known'
        WHEN p_state = 'completed' AND p_outcome = 'reversed' THEN 'reversed'
        WHEN p_state = 'failed' AND p_outcome = 'completed' THEN 'break'
        WHEN p_state = 'completed' AND p_outcome = 'failed' THEN 'break'
        WHEN p_state = 'accepted' AND p_outcome IN ('completed', 'failed', 'reversed') THEN 'break'
        ELSE 'ignored' END
$$;
