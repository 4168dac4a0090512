-- What analytics cannot know by itself, told in the events that it hears anyway.
--
-- Two functions of 0005, each with one addition. apply_move(): a completion says what kind of user is paid and carries
-- the payer's sealed text, so that a payment can be put into a category. take_inbound(): money from outside ends like
-- any other transfer, with transaction.completed, whose route_reason says whether the wallet was credited or the money
-- waits in suspense.

CREATE OR REPLACE FUNCTION apply_move(p_move text, p_state text, p_ids uuid[], p_outcomes text[], p_reasons text[],
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
            CASE WHEN p_move = 'completed' THEN p_events ELSE v_nulls::uuid[] END, told_of_payments(p_ids), p_now);
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

-- Further fields of the event of each completion, in the order of the ids. The payer's text is sealed with the payer's
-- key, so there is none without a payer.
CREATE FUNCTION told_of_payments(p_ids uuid[]) RETURNS text[] LANGUAGE sql STABLE AS $$
    SELECT array_agg(coalesce(',"recipient_type":' || to_json(u.account_type), '')
        || CASE WHEN t.sender_id IS NOT NULL AND t.type = 'p2p'
            THEN coalesce(',"description":' || to_json(t.description), '') ELSE '' END ORDER BY x.ord)
    FROM unnest(p_ids) WITH ORDINALITY AS x(id, ord)
    JOIN transactions t ON t.id = x.id LEFT JOIN users u ON u.id = t.recipient_id
$$;
REVOKE ALL ON FUNCTION told_of_payments(uuid[]) FROM PUBLIC;

CREATE OR REPLACE FUNCTION take_inbound(p_payment text, p_account text, p_amount bigint, p_reference text, p_id uuid,
    p_evidence text, p_correlation uuid, p_user uuid, p_wallet bigint, p_username text, p_refused boolean,
    p_maximum bigint, p_ours uuid, p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_total bigint;
    v_result text;
    v_credit bigint := p_wallet;
    v_clearing constant bigint := system_account('provider_clearing', p_id);
    v_event constant uuid := new_event_id(p_now);
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
    VALUES (p_id, 'inb-' || p_id, 'inbound', 'completed', 1, p_user, p_username, v_clearing, v_credit, p_amount,
        'internal', v_result, p_account, p_correlation, p_payment, p_now, p_now);
    INSERT INTO transaction_events (transaction_id, step, state, actor, evidence, happened_at)
    VALUES (p_id, 1, 'completed', 'provider', p_evidence, p_now);
    PERFORM post_legs(ARRAY[v_clearing, v_credit], ARRAY[p_id, p_id], ARRAY['amount', 'amount'],
        ARRAY[-p_amount, p_amount], p_now);
    INSERT INTO outbox (day, id, type, subject, sequence, correlation_id, time, data)
    VALUES (uuid_v7_day(v_event), v_event, 'transaction.completed', p_id, 1, p_correlation, p_now,
        transaction_data(p_id, NULL, p_user, p_amount, 'inbound', 'internal', v_result, 0, 0, '', moment_text(p_now)));
    RETURN v_result;
END $$;
