-- What is released from suspense into a wallet is the owner's: statements read it beside its entry, and others are told
-- that the money has arrived. In the history it stays out: there, what put the money in suspense shows where it is.

CREATE OR REPLACE FUNCTION post_release(r suspense_releases, t transactions, p_operator text, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_credits constant boolean := r.disposition = 'credit';
    v_reason constant text := CASE WHEN v_credits THEN 'released' ELSE 'returned' END;
    v_event constant uuid := new_event_id(p_now);
    v_credit constant bigint := CASE WHEN v_credits
        THEN (SELECT u.wallet_id FROM users u WHERE u.id = t.recipient_id)
        ELSE system_account('provider_clearing', t.id) END;
BEGIN
    INSERT INTO transactions (id, reference, type, state, sequence, recipient_id, recipient_username, debit_account,
        credit_account, amount, route, route_reason, source_account, parent_id, created_at, ended_at)
    VALUES (r.id, 'rel-' || r.id, 'inbound', 'completed', v_credits::integer,
        CASE WHEN v_credits THEN t.recipient_id END, CASE WHEN v_credits THEN t.recipient_username END,
        t.credit_account, v_credit, t.amount, 'internal', v_reason, CASE WHEN v_credits THEN NULL ELSE t.destination END,
        t.id, p_now, p_now);
    INSERT INTO transaction_events (transaction_id, step, state, actor, evidence, happened_at)
    VALUES (r.id, 1, 'completed', 'operators ' || r.proposed_by || ' and ' || p_operator, r.reason, p_now);
    PERFORM post_legs(ARRAY[t.credit_account, v_credit], ARRAY[r.id, r.id], ARRAY['amount', 'amount'],
        ARRAY[-t.amount, t.amount], p_now);
    UPDATE transactions x SET route_reason = v_reason WHERE x.id = t.id;
    IF v_credits THEN
        -- Of the type that put it there: what came from outside has only now arrived.
        INSERT INTO outbox (day, id, type, subject, sequence, time, data)
        VALUES (uuid_v7_day(v_event), v_event, 'transaction.completed', r.id, 1, p_now,
            transaction_data(r.id, NULL, t.recipient_id, t.amount, t.type, 'internal', v_reason, 0, 0, '',
                moment_text(p_now)));
    END IF;
END $$;

-- What does not hold in the books is for the worker, whom operators ask through, and for nobody else.
REVOKE ALL ON FUNCTION check_invariants(), check_audit(), check_suspense() FROM PUBLIC;
REVOKE ALL ON FUNCTION check_books() FROM ${worker};
GRANT EXECUTE ON FUNCTION check_invariants() TO ${worker};
