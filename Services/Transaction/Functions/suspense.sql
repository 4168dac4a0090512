-- Money that waits in suspense leaves it by two people's decision.

-- Money that reaches a wallet which may not take it waits in suspense, also when the wallet was frozen or closed while
-- the money was on its way: the provider has moved it, so it cannot fail any more.
--
-- In PL/pgSQL, which keeps the plan: it is called for every batch.
CREATE OR REPLACE FUNCTION divert_to_suspense(p_transfers uuid[], p_outcomes text[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE transfers t SET credit_account = system_account('suspense', t.id), route_reason = 'suspense'
    FROM unnest(p_transfers, p_outcomes) AS x(id, outcome)
    WHERE t.id = x.id AND x.outcome IN ('completed', 'reversed') AND t.state IN ('submitted', 'unknown')
      AND t.route = 'internal' AND t.type IN ('p2p', 'drop_claim', 'drop_refund')
      AND EXISTS (SELECT 1 FROM users u WHERE u.id = t.recipient_id AND u.wallet_id = t.credit_account
                  AND CASE t.type WHEN 'drop_refund' THEN u.status = 'closed'   -- it was the creator's all along
                      ELSE u.status <> 'active' OR u.credits_blocked END);
END $$;

-- 'proposed' and how much it is, or why not.
CREATE OR REPLACE FUNCTION propose_release(p_id uuid, p_transfer uuid, p_disposition text, p_reason text,
    p_operator text, p_now timestamptz DEFAULT NULL, p_beneficiary uuid DEFAULT NULL,
    OUT result text, OUT amount bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    t transfers;
BEGIN
    SELECT * INTO t FROM transfers x WHERE x.id = p_transfer FOR NO KEY UPDATE;
    result := CASE WHEN t.id IS NULL OR t.route_reason <> 'suspense' OR t.state <> 'completed' THEN 'not_in_suspense'
        WHEN EXISTS (SELECT 1 FROM suspense_releases r
            WHERE r.transfer_id = p_transfer AND r.state IN ('proposed', 'approved')) THEN 'already_proposed'
        WHEN p_disposition = 'return' THEN return_refusal(t) END;
    IF result IS NOT NULL THEN RETURN; END IF;
    IF t.recipient_id IS NULL AND p_disposition <> 'return' THEN
        UPDATE transfers x SET recipient_id = u.id, recipient_username = u.username FROM users u
        WHERE x.id = t.id AND u.provider_account = t.destination RETURNING x.* INTO t;
        IF NOT FOUND THEN
            result := 'recipient_unavailable';
            RETURN;
        END IF;
    END IF;
    v_now := coalesce(p_now, transfa_now());
    IF p_disposition = 'payout' THEN
        result := payout_refusal(t, p_beneficiary, v_now);
        IF result IS NOT NULL THEN RETURN; END IF;
    END IF;
    INSERT INTO suspense_releases (id, transfer_id, disposition, reason, proposed_by, proposed_at, beneficiary_id)
    VALUES (p_id, p_transfer, p_disposition, p_reason, p_operator, v_now,
        CASE p_disposition WHEN 'payout' THEN p_beneficiary END);
    SELECT 'proposed', t.amount INTO result, amount;
END $$;

-- 'approved' or 'rejected' and what was proposed, or why not. Locks in the one global order: transfer, balances,
-- counters, and what follows the transfer.
CREATE OR REPLACE FUNCTION decide_release(p_id uuid, p_operator text, p_approve boolean,
    p_now timestamptz DEFAULT NULL, OUT result text, OUT transfer_id uuid, OUT disposition text,
    OUT proposed_by text, OUT reason text, OUT amount bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now timestamptz;
    v_state constant text := CASE WHEN p_approve THEN 'approved' ELSE 'rejected' END;
    r suspense_releases;
    t transfers;
BEGIN
    SELECT * INTO r FROM suspense_releases x WHERE x.id = p_id;
    IF r.id IS NULL THEN
        result := 'unknown';
        RETURN;
    END IF;
    SELECT * INTO STRICT t FROM transfers x WHERE x.id = r.transfer_id FOR NO KEY UPDATE;
    SELECT * INTO STRICT r FROM suspense_releases x WHERE x.id = p_id;          -- again, now that nobody else decides
    result := CASE WHEN r.state <> 'proposed' THEN 'decided' WHEN r.proposed_by = p_operator THEN 'same_operator'
        WHEN p_approve AND r.disposition <> 'credit' AND recovery_is_open() THEN 'recovering'
        WHEN p_approve AND t.state <> 'completed' THEN 'not_in_suspense' END;
    IF result IS NOT NULL THEN RETURN; END IF;
    PERFORM 1 FROM balances b
    WHERE b.account_id IN (t.credit_account, system_account('provider_clearing', t.id),
        (SELECT u.wallet_id FROM users u WHERE u.id = t.recipient_id), closed_suspense(t.recipient_id))
    ORDER BY b.account_id FOR NO KEY UPDATE;
    PERFORM 1 FROM receiving_counters c WHERE c.user_id = t.recipient_id FOR NO KEY UPDATE;
    PERFORM 1 FROM money_drops d WHERE d.id = t.parent_id FOR NO KEY UPDATE;
    PERFORM 1 FROM payment_requests q WHERE q.id = t.payment_request_id FOR NO KEY UPDATE;
    IF p_approve AND r.disposition = 'credit' THEN PERFORM lock_receivables(ARRAY[p_id]); END IF;
    v_now := coalesce(p_now, transfa_now());
    IF p_approve THEN
        result := CASE r.disposition WHEN 'credit' THEN release_refusal(t, v_now)
            WHEN 'payout' THEN payout_refusal(t, r.beneficiary_id, v_now)
            ELSE return_refusal(t) END;
        IF result IS NOT NULL THEN RETURN; END IF;
    END IF;

    UPDATE suspense_releases x SET state = v_state, decided_by = p_operator, decided_at = v_now WHERE x.id = p_id;
    IF p_approve THEN
        IF r.disposition = 'payout' OR r.disposition = 'return' AND return_way(t) = 'order' THEN
            PERFORM order_release(r, t, p_operator, v_now);
        ELSE
            PERFORM post_release(r, t, p_operator, v_now);
            PERFORM empty_closed_wallets(ARRAY[t.recipient_id], v_now);
        END IF;
    END IF;
    SELECT v_state, t.id, r.disposition, r.proposed_by, r.reason, t.amount
    INTO result, transfer_id, disposition, proposed_by, reason, amount;
END $$;

-- Why a wallet may not take what waits for it; null: nothing is in the way.
CREATE OR REPLACE FUNCTION release_refusal(t transfers, p_now timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN u.status = 'closed' AND (b.owed > 0 OR b.posted < b.held) THEN NULL
        WHEN u.status <> 'active' OR u.credits_blocked THEN 'recipient_unavailable'
        WHEN l.tier IS NULL OR t.amount > y.most - y.used THEN 'recipient_limit' END
    FROM users u JOIN balances b ON b.account_id = u.wallet_id JOIN receiving_counters c ON c.user_id = u.id
    LEFT JOIN LATERAL limits_of(u.tier, p_now) l ON true
    LEFT JOIN LATERAL balance_cap(u.id, l.maximum_balance, b.posted, c.incoming) y ON true
    WHERE u.id = t.recipient_id
$$;

-- Why what waits may not go back to who sent it; null: nothing is in the way.
CREATE OR REPLACE FUNCTION return_refusal(t transfers) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN return_way(t) IS NULL THEN 'not_returnable'
        WHEN returned_by_forgotten(t) THEN 'returned_before_restore' END
$$;

-- Whether what waits may have been returned already by an order that a restore has forgotten: that was booked as the
-- wallet's, so the wallet gets this. A payout leaves a closed wallet below zero, which nobody is paid out of.
CREATE OR REPLACE FUNCTION returned_by_forgotten(t transfers) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (SELECT 1 FROM forgotten_transfers f
        WHERE f.source = (t).destination AND f.amount = (t).amount AND f.status = 'completed'
          AND f.made_at >= (t).ended_at AND f.destination = (t).source_account
          AND NOT EXISTS (SELECT 1 FROM transfers x WHERE x.id = f.transfer_id AND x.state = 'reversed'))
$$;

-- How money in suspense goes back to who sent it: by an 'order' to the provider, where one person has paid another, 'by
-- hand', where it came from outside. Null: there is nobody to give it back to, as of a drop, or it is the owner's own.
CREATE OR REPLACE FUNCTION return_way(t transfers) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN (t).type = 'p2p' AND (t).source_account IS NOT NULL AND (t).destination IS NOT NULL THEN 'order'
        WHEN (t).type = 'inbound' AND (t).provider_id IS NOT NULL
            AND (t).debit_account = system_account('provider_clearing', (t).id) THEN 'by hand' END
$$;

-- Why what waits may not be paid to this bank account; null: nothing is in the way. Who is only frozen gets it into the
-- wallet, when they may. Who owes something gets nothing before that is settled.
CREATE OR REPLACE FUNCTION payout_refusal(t transfers, p_beneficiary uuid, p_now timestamptz) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN u.status <> 'closed' THEN 'recipient_not_closed'
        WHEN w.debits_blocked OR w.owed > 0 THEN 'recipient_owes'
        WHEN b.id IS NULL THEN 'beneficiary_unknown'
        WHEN NOT b.verified OR b.deleted_at IS NOT NULL OR b.counterparty_id IS NULL THEN 'beneficiary_not_verified'
        WHEN t.amount < (SELECT m.amount FROM bank_minimum(p_now) m) THEN 'amount_below_minimum' END
    FROM users u JOIN balances w ON w.account_id = u.wallet_id
    LEFT JOIN beneficiaries b ON b.id = p_beneficiary AND b.user_id = u.id
    WHERE u.id = t.recipient_id
$$;

-- An order to the provider that moves money out of suspense, from the account where it lies. It goes the way of all
-- orders; until it has arrived the money waits where it is.
CREATE OR REPLACE FUNCTION order_release(r suspense_releases, t transfers, p_operator text, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_back constant boolean := r.disposition = 'return';
BEGIN
    INSERT INTO transfers (id, reference, type, state, sequence, recipient_id, recipient_username, debit_account,
        credit_account, amount, route, route_reason, source_account, beneficiary_id, destination, parent_id,
        correlation_id, traceparent, created_at)
    SELECT r.id, 'trf-' || r.id, 'release', 'accepted', 0, u.id, u.username, t.credit_account,
        CASE WHEN v_back THEN t.debit_account ELSE system_account('provider_clearing', r.id) END, t.amount,
        CASE WHEN v_back THEN 'internal' ELSE 'external' END, r.disposition, t.destination, b.id,
        CASE WHEN v_back THEN t.source_account ELSE b.counterparty_id END, t.id, t.correlation_id, t.traceparent, p_now
    FROM users u LEFT JOIN beneficiaries b ON b.id = r.beneficiary_id
    WHERE u.id = CASE WHEN v_back THEN t.sender_id ELSE t.recipient_id END;
    INSERT INTO transfer_steps (transfer_id, step, state, actor, evidence, happened_at)
    VALUES (r.id, 1, 'accepted', 'operators ' || r.proposed_by || ' and ' || p_operator, r.reason, p_now);
    INSERT INTO jobs (id, kind, key, subject, due_at, correlation_id, traceparent, created_at)
    VALUES (r.id, 'submit_transfer', r.id, r.id, p_now, t.correlation_id, t.traceparent, p_now);
END $$;

-- What becomes of money in suspense when the order that moves it ends. What is returned is a reversal of the payment:
-- limits, fees and duty are given back with it. What did not arrive waits again. Unless the order has failed, all that
-- is written here is locked.
CREATE OR REPLACE FUNCTION follow_release(t transfers, p_state text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    r suspense_releases;
    held transfers;
BEGIN
    IF p_state <> 'completed' THEN
        UPDATE suspense_releases x SET state = 'failed' WHERE x.id = t.id;
        IF p_state = 'failed' THEN PERFORM ask_contradicted(t.parent_id, p_now); END IF;
        IF p_state = 'reversed' THEN                     -- only a payout: see suspense_move()
            UPDATE transfers x SET route_reason = 'suspense' WHERE x.id = t.parent_id RETURNING x.* INTO STRICT held;
            PERFORM wait_again(held);
        END IF;
        RETURN;
    END IF;
    SELECT * INTO STRICT r FROM suspense_releases x WHERE x.id = t.id;
    UPDATE transfers x SET route_reason = CASE r.disposition WHEN 'return' THEN 'returned' ELSE 'paid_out' END
    WHERE x.id = t.parent_id RETURNING x.* INTO STRICT held;
    IF r.disposition = 'payout' THEN
        PERFORM arrive_late(held, p_now);
        RETURN;
    END IF;
    PERFORM post_legs(
        ARRAY[system_account('fees', held.id), held.debit_account, system_account('stamp_duty', held.id),
            held.debit_account],
        array_fill(held.id, ARRAY[4]), ARRAY['reversed_fee', 'reversed_fee', 'reversed_duty', 'reversed_duty'],
        ARRAY[-held.fee, held.fee, -held.duty, held.duty], p_now);
    PERFORM give_back_spending(ARRAY[held.id]);
    PERFORM advance(ARRAY[held.id], 'reversed', 'operators ' || r.proposed_by || ' and ' || r.decided_by,
        ARRAY[NULL::uuid], ARRAY['release:' || r.id], ARRAY[NULL::text], ARRAY[NULL::text], ARRAY[NULL::uuid], p_now);
    PERFORM empty_closed_wallets(ARRAY[held.sender_id], p_now);
END $$;

-- The provider has called a payment reversed while an order moved its money out of suspense: a break. The order has
-- failed, so nothing stands against that word any more, and it is asked for again.
CREATE OR REPLACE FUNCTION ask_contradicted(p_transfer uuid, p_now timestamptz) RETURNS void LANGUAGE sql AS $$
    INSERT INTO jobs (id, kind, key, subject, due_at, created_at)
    SELECT new_event_id(p_now), 'check_transfer', p_transfer, p_transfer, p_now, p_now
    FROM breaks b WHERE b.transfer_id = p_transfer AND b.kind = 'provider_says_reversed' AND b.closed_at IS NULL
    ON CONFLICT (kind, key) DO UPDATE SET state = 'queued', due_at = excluded.due_at, finished_at = NULL
$$;

-- The provider has taken a payment back whose money an order was to move out of suspense. An order that was never sent
-- moves nothing any more. While a recovery is open it may have been sent by those whose books were lost. All that is
-- written here is locked.
CREATE OR REPLACE FUNCTION fail_unsent_releases(p_transfers uuid[], p_actor text, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
    v_evidence text[];
    v_nulls text[];
BEGIN
    SELECT array_agg(r.id ORDER BY r.id), array_agg('reversed ' || t.reference ORDER BY r.id) INTO v_ids, v_evidence
    FROM transfers t JOIN transfers r ON r.parent_id = t.id
    WHERE t.id = ANY (p_transfers) AND t.state = 'completed' AND r.type = 'release' AND r.state = 'accepted';
    IF v_ids IS NULL OR recovery_is_open() THEN RETURN; END IF;
    v_nulls := array_fill(NULL::text, ARRAY[cardinality(v_ids)]);
    PERFORM fail_transfers(v_ids, p_actor, v_nulls::uuid[], v_evidence,
        array_fill('payment_reversed'::text, ARRAY[cardinality(v_ids)]), v_nulls, v_nulls::uuid[], p_now);
END $$;

-- What has waited in suspense is its owner's now: who follows it hears only now that it has arrived.
CREATE OR REPLACE FUNCTION arrive_late(t transfers, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF t.payment_request_id IS NOT NULL THEN PERFORM follow_request(t, 'completed', p_now); END IF;
    IF t.type = 'drop_claim' THEN PERFORM publish_drop_claimed(t, p_now); END IF;
    IF t.type = 'drop_refund' THEN PERFORM publish_drop_refunded(t, p_now); END IF;
END $$;

-- What was paid out came back from the bank: a request that it paid waits with it again.
CREATE OR REPLACE FUNCTION wait_again(t transfers) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE payment_requests q SET state = 'processing', ended_at = NULL
    WHERE q.id = t.payment_request_id AND q.transfer_id = t.id;
    UPDATE payment_requests q SET paid_count = q.paid_count - 1, paid_total = q.paid_total - t.amount
    WHERE q.id = t.payment_request_id;
END $$;

-- What the provider's word "reversed" means where money is, or was, in suspense; null: what it means elsewhere. An
-- order out of suspense that did not last has failed, as nothing has gone; what came back from a bank waits again.
-- Money that an order to the provider may have moved out of suspense is not taken a second time: people look at it.
CREATE OR REPLACE FUNCTION suspense_move(t transfers) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN (t).type = 'release' THEN CASE WHEN (t).state IN ('submitted', 'unknown') THEN 'failed'
            WHEN (t).state = 'completed' AND (t).route = 'internal' THEN 'break' END
        WHEN (t).route_reason IN ('suspense', 'returned', 'paid_out') AND (t).state IN ('completed', 'reversed')
            AND EXISTS (SELECT 1 FROM suspense_releases r WHERE r.transfer_id = (t).id AND r.state = 'approved'
                AND r.disposition <> 'credit') THEN 'break' END
$$;
