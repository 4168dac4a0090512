-- Money that reaches a wallet which may not take it waits in suspense, also when the wallet was frozen or closed while the
-- money was on its way: the provider has moved it, so it cannot fail any more.
--
-- settle_payments() as in 0013, with one step more: before balances are locked, transfers that are about to complete into
-- such a wallet are pointed at suspense. The money of a drop that goes back to its creator is left alone: it was theirs all
-- along. From suspense two operators release it, as with money from outside.

-- In PL/pgSQL, which keeps the plan: it is called for every batch.
CREATE FUNCTION divert_to_suspense(p_transactions uuid[], p_outcomes text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE transactions t SET credit_account = system_account('suspense', t.id), route_reason = 'suspense'
    FROM unnest(p_transactions, p_outcomes) AS x(id, outcome)
    WHERE t.id = x.id AND x.outcome IN ('completed', 'reversed') AND t.state IN ('submitted', 'unknown')
      AND t.route = 'internal' AND t.type IN ('p2p', 'drop_claim')
      AND EXISTS (SELECT 1 FROM users u WHERE u.id = t.recipient_id AND u.wallet_id = t.credit_account
                  AND (u.status <> 'active' OR u.credits_blocked));
END $$;
REVOKE ALL ON FUNCTION divert_to_suspense(uuid[], text[]) FROM PUBLIC;

DO $patch$
DECLARE
    v_text text := pg_get_functiondef('settle_payments'::regproc);
    v_found constant text := 'AND t.provider_id IS NULL AND x.provider_id IS NOT NULL;';
BEGIN
    IF cardinality(string_to_array(v_text, v_found)) <> 2 THEN
        RAISE EXCEPTION 'settle_payments does not hold this once: %', v_found;
    END IF;
    EXECUTE replace(v_text, v_found, v_found || '

    PERFORM divert_to_suspense(p_transactions, p_outcomes);');
END $patch$;

-- Money on an account that belongs to nobody we know: booked, so that our books have all that the provider has, and owned
-- by nobody until operators know better. Should the account have an owner by then, a release into the wallet is theirs.

ALTER TABLE inbound_payments ALTER COLUMN user_id DROP NOT NULL;

-- 'suspense', or 'duplicate' for a payment that is booked already.
CREATE FUNCTION hold_unmatched(p_payment text, p_account text, p_amount bigint, p_id uuid, p_evidence text,
    p_correlation uuid, p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_event uuid;
    v_clearing constant bigint := system_account('provider_clearing', p_id);
    v_suspense constant bigint := system_account('suspense', p_id);
BEGIN
    -- Two runs at once take turns: the row of the payment is what the second one waits for.
    PERFORM 1 FROM balances b WHERE b.account_id IN (v_clearing, v_suspense) ORDER BY b.account_id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    v_event := new_event_id(v_now);
    INSERT INTO inbound_payments (provider_payment_id, provider_account, user_id, amount, disposition, transaction_id,
        received_at)
    VALUES (p_payment, p_account, NULL, p_amount, 'suspense', p_id, v_now)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN RETURN 'duplicate'; END IF;
    INSERT INTO transactions (id, reference, type, state, sequence, debit_account, credit_account, amount, route,
        route_reason, destination, correlation_id, provider_id, created_at, ended_at)
    VALUES (p_id, 'inb-' || p_id, 'inbound', 'completed', 1, v_clearing, v_suspense, p_amount, 'internal', 'suspense',
        p_account, p_correlation, p_payment, v_now, v_now);
    INSERT INTO transaction_events (transaction_id, step, state, actor, evidence, happened_at)
    VALUES (p_id, 1, 'completed', 'provider', p_evidence, v_now);
    PERFORM post_legs(ARRAY[v_clearing, v_suspense], ARRAY[p_id, p_id], ARRAY['amount', 'amount'],
        ARRAY[-p_amount, p_amount], v_now);
    INSERT INTO outbox (day, id, type, subject, sequence, correlation_id, time, data)
    VALUES (uuid_v7_day(v_event), v_event, 'transaction.completed', p_id, 1, p_correlation, v_now,
        transaction_data(p_id, NULL, NULL, p_amount, 'inbound', 'internal', 'suspense', 0, 0, '', moment_text(v_now)));
    RETURN 'suspense';
END $$;
REVOKE ALL ON FUNCTION hold_unmatched(text, text, bigint, uuid, text, uuid, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION hold_unmatched(text, text, bigint, uuid, text, uuid, timestamptz) TO ${worker};

-- propose_release() of 0032: what belongs to nobody is credited to the owner that its account has by now.
DO $patch$
DECLARE
    v_text text := pg_get_functiondef('propose_release'::regproc);
    v_found constant text := 'v_now := coalesce(p_now, transfa_now());';
BEGIN
    IF cardinality(string_to_array(v_text, v_found)) <> 2 THEN
        RAISE EXCEPTION 'propose_release does not hold this once: %', v_found;
    END IF;
    EXECUTE replace(v_text, v_found, 'IF t.recipient_id IS NULL AND p_disposition = ''credit'' THEN
        UPDATE transactions x SET recipient_id = u.id, recipient_username = u.username FROM users u
        WHERE x.id = t.id AND u.provider_account = t.destination;
        IF NOT FOUND THEN RETURN ''recipient_unavailable''; END IF;
    END IF;
    ' || v_found);
END $patch$;
