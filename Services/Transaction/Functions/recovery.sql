-- After a restore from a backup: what the provider knows and the ledger has forgotten is booked again.

-- In PL/pgSQL, which keeps the plan: it is asked for every payment.
CREATE OR REPLACE FUNCTION recovery_is_open() RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT 1 FROM recoveries r WHERE r.ended_at IS NULL);
END $$;

-- Who sends holds this shared until the commit, who begins a recovery holds it alone: after begin_recovery() no call is
-- committed that did not see it.
CREATE OR REPLACE FUNCTION hold_recovery(p_alone boolean) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_alone THEN PERFORM pg_advisory_xact_lock(6100); ELSE PERFORM pg_advisory_xact_lock_shared(6100); END IF;
END $$;

-- How long the provider has to be without a transfer before it counts as never sent: a call may be on its way.
CREATE OR REPLACE FUNCTION recovery_patience()
RETURNS interval LANGUAGE sql IMMUTABLE AS $$ SELECT interval '2 minutes' $$;

-- Every transfer that is open may have been sent since, and is asked about.
CREATE OR REPLACE FUNCTION doubt_open_transfers(p_recovery uuid, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO recovery_doubts (recovery_id, transfer_id)
    SELECT p_recovery, t.id FROM transfers t WHERE t.state IN ('accepted', 'submitted', 'unknown')
    ON CONFLICT (recovery_id, transfer_id) DO UPDATE SET absent_since = NULL, cleared_at = NULL, finding = NULL;
    -- What was absent before the backup may have been sent again since.
    DELETE FROM transfer_absences a WHERE a.transfer_id IN (SELECT d.transfer_id FROM recovery_doubts d
        WHERE d.recovery_id = p_recovery);
    UPDATE jobs j SET state = 'queued', due_at = p_now, finished_at = NULL, lease_owner = NULL, lease_until = NULL
    WHERE j.kind = 'submit_transfer' AND j.state <> 'running'
      AND j.key IN (SELECT d.transfer_id::text FROM recovery_doubts d WHERE d.recovery_id = p_recovery);
END $$;

-- Every account is looked at again, from the beginning.
CREATE OR REPLACE FUNCTION look_again(p_recovery uuid, p_now timestamptz) RETURNS void LANGUAGE sql AS $$
    UPDATE recovery_accounts a SET looked_at = p_now, differences = NULL, accepted_at = NULL, accepted_by = NULL,
        accept_reason = NULL, asked_from = NULL
    WHERE a.recovery_id = p_recovery
$$;

-- Begins, or answers the one that is open, which then reaches back to the earlier of both moments. Records its act by
-- itself: a restore calls it before any service runs.
CREATE OR REPLACE FUNCTION begin_recovery(p_restored_to timestamptz, p_actor text, p_reason text,
    p_now timestamptz DEFAULT NULL, p_request uuid DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_act text;
    v_before text;
    r recoveries;
BEGIN
    PERFORM hold_recovery(true);
    v_now := coalesce(p_now, transfa_now());
    SELECT * INTO r FROM recoveries x WHERE x.ended_at IS NULL FOR NO KEY UPDATE;
    IF r.id IS NOT NULL AND p_restored_to > r.begun_at THEN
        -- Restored once more, from a backup that was made meanwhile: everything is looked at again.
        v_act := 'recovery.restarted';
        UPDATE recoveries x SET begun_at = v_now, planned_at = NULL WHERE x.id = r.id;
        PERFORM look_again(r.id, v_now);
        PERFORM doubt_open_transfers(r.id, v_now);
    ELSIF r.id IS NOT NULL AND p_restored_to < r.restored_to THEN
        v_act := 'recovery.extended';
        v_before := act_json(ARRAY['restored_to'], ARRAY[moment_text(r.restored_to)]);
        UPDATE recoveries x SET restored_to = p_restored_to, planned_at = NULL WHERE x.id = r.id;
        PERFORM look_again(r.id, v_now);
    ELSIF r.id IS NULL THEN
        v_act := 'recovery.begun';
        INSERT INTO recoveries (id, restored_to, begun_at, begun_by, reason)
        VALUES (new_event_id(v_now), least(p_restored_to, v_now), v_now, p_actor, p_reason) RETURNING * INTO r;
        PERFORM doubt_open_transfers(r.id, v_now);
    ELSE RETURN r.id;
    END IF;
    PERFORM record_act(p_actor, v_act, r.id::text, p_reason, v_before,
        act_json(ARRAY['restored_to'], ARRAY[moment_text(least(p_restored_to, v_now))]), p_request, v_now);
    RETURN r.id;
END $$;

-- By the clock: finds the accounts that are to be compared and asks for those that do not agree yet. Returns how many.
CREATE OR REPLACE FUNCTION continue_recovery(p_pool text, p_now timestamptz DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now constant timestamptz := coalesce(p_now, transfa_now());
    v_count integer;
    r recoveries;
BEGIN
    SELECT * INTO r FROM recoveries x WHERE x.ended_at IS NULL FOR NO KEY UPDATE;
    IF r.id IS NULL OR r.planned_at > v_now - interval '30 seconds' THEN RETURN 0; END IF;
    INSERT INTO recovery_accounts (recovery_id, account)
    SELECT r.id, u.provider_account FROM users u WHERE u.provider_account IS NOT NULL
    UNION SELECT r.id, p_pool
    ON CONFLICT DO NOTHING;
    INSERT INTO jobs (id, kind, key, subject, due_at, created_at)
    SELECT new_event_id(v_now), 'recover_account', a.account, a.account, v_now, v_now
    FROM recovery_accounts a
    WHERE a.recovery_id = r.id AND (a.differences IS DISTINCT FROM 0 OR a.looked_at < r.begun_at + recovery_patience())
    ON CONFLICT (kind, key) DO UPDATE SET state = 'queued', due_at = v_now, finished_at = NULL
    WHERE jobs.state NOT IN ('running', 'queued');
    GET DIAGNOSTICS v_count = ROW_COUNT;
    UPDATE recoveries x SET planned_at = v_now WHERE x.id = r.id;
    RETURN v_count;
END $$;

-- The provider knows them: they were sent, and everything that asks about a transfer that was sent goes on from there.
-- The transfers are locked.
CREATE OR REPLACE FUNCTION adopt_transfers(p_ids uuid[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
    v_nulls text[];
BEGIN
    UPDATE recovery_doubts d SET cleared_at = p_now, finding = 'found'
    WHERE d.transfer_id = ANY (p_ids) AND d.finding IS DISTINCT FROM 'found'
      AND d.recovery_id = (SELECT r.id FROM recoveries r WHERE r.ended_at IS NULL);
    SELECT array_agg(t.id ORDER BY t.id) INTO v_ids FROM transfers t
    WHERE t.id = ANY (p_ids) AND t.state = 'accepted';
    IF v_ids IS NULL THEN RETURN; END IF;
    v_nulls := array_fill(NULL::text, ARRAY[cardinality(v_ids)]);
    PERFORM advance(v_ids, 'submitted', 'recovery', v_nulls::uuid[], v_nulls, v_nulls, v_nulls, v_nulls::uuid[],
        p_now);
    INSERT INTO provider_calls (reference, attempt, operation, started_at, deadline_at, ended_at, outcome,
        correlation_id)
    SELECT t.reference, 1, 'create_transfer', p_now, p_now, p_now, 'forgotten', t.correlation_id
    FROM transfers t WHERE t.id = ANY (v_ids);
END $$;

-- A payment that we were about to send to a bank and that the provider made to the recipient's account: its beneficiary
-- was gone when it was sent, and it was switched to a book transfer. The same switch again.
CREATE OR REPLACE FUNCTION follow_switch(p_transfers uuid[], p_destinations text[], p_now timestamptz DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_ids uuid[];
BEGIN
    IF NOT recovery_is_open() THEN RETURN; END IF;
    PERFORM 1 FROM transfers t WHERE t.id = ANY (p_transfers) ORDER BY t.id FOR NO KEY UPDATE;
    SELECT array_agg(t.id ORDER BY t.id) INTO v_ids FROM unnest(p_transfers, p_destinations) AS x(id, destination)
    JOIN transfers t ON t.id = x.id JOIN users u ON u.id = t.recipient_id AND u.provider_account = x.destination
    WHERE t.state = 'accepted' AND t.route = 'external';
    IF v_ids IS NULL THEN RETURN; END IF;
    PERFORM 1 FROM balances b
    WHERE b.account_id IN (SELECT t.debit_account FROM transfers t WHERE t.id = ANY (v_ids))
    ORDER BY b.account_id FOR NO KEY UPDATE;
    PERFORM 1 FROM receiving_counters c
    WHERE c.user_id IN (SELECT t.recipient_id FROM transfers t WHERE t.id = ANY (v_ids))
    ORDER BY c.user_id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    PERFORM switch_to_book(x.id, 'recovery', v_now) FROM unnest(v_ids) AS x(id);
    PERFORM collect_freed(v_ids, v_now);
END $$;

-- The provider has none under these references. Two minutes of that, and they were never sent: they fail at the end.
CREATE OR REPLACE FUNCTION note_absent(p_transfers uuid[], p_now timestamptz DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
BEGIN
    PERFORM 1 FROM transfers t WHERE t.id = ANY (p_transfers) ORDER BY t.id FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    UPDATE recovery_doubts d SET absent_since = coalesce(d.absent_since, v_now),
        cleared_at = CASE WHEN d.absent_since <= v_now - recovery_patience() THEN v_now END,
        finding = CASE WHEN d.absent_since <= v_now - recovery_patience() THEN 'absent' END
    WHERE d.transfer_id = ANY (p_transfers) AND d.cleared_at IS NULL;
END $$;

-- Those of the transfers that must be asked about; the others wait for the end.
CREATE OR REPLACE FUNCTION doubtful(p_transfers uuid[]) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT t.id FROM recovery_doubts d JOIN transfers t ON t.id = d.transfer_id
    WHERE d.transfer_id = ANY (p_transfers) AND d.cleared_at IS NULL
      AND t.state IN ('accepted', 'submitted', 'unknown')
$$;

-- Books a transfer of the provider that the ledger does not know, once. Money that left a wallet is taken from it, even
-- below zero: then it is owed, and the wallet sends nothing more until somebody has looked at it. Money that stayed
-- inside waits in suspense for whoever has the account it reached; what left for a bank is gone. 'booked', or why not.
CREATE OR REPLACE FUNCTION recover_transfer(p_provider text, p_reference text, p_source text, p_destination text,
    p_counterparty text, p_amount bigint, p_status text, p_made_at timestamptz, p_id uuid, p_pool text,
    p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now timestamptz;
    v_recovery uuid;
    v_blocked boolean;
    s users;
    r users;
    t transfers;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(p_provider, 6101));
    SELECT x.id INTO v_recovery FROM recoveries x WHERE x.ended_at IS NULL;
    IF v_recovery IS NULL THEN RETURN 'no_recovery'; END IF;
    IF EXISTS (SELECT 1 FROM transfers x WHERE x.reference = p_reference)
       OR EXISTS (SELECT 1 FROM forgotten_transfers f WHERE f.provider_id = p_provider) THEN RETURN 'known'; END IF;

    SELECT * INTO s FROM users x WHERE x.provider_account = p_source;
    SELECT * INTO r FROM users x WHERE x.provider_account = p_destination;
    IF s.id IS NULL AND r.id IS NULL AND p_pool <> ALL (ARRAY[p_source, coalesce(p_destination, '')]) THEN
        RETURN 'not_ours';
    END IF;
    t := forgotten_transfer(s, r, p_provider, p_reference, p_source, p_destination, p_counterparty, p_amount, p_status,
        p_made_at, p_id, p_pool);
    PERFORM 1 FROM balances b
    WHERE b.account_id IN (t.debit_account, t.credit_account) AND b.account_id <> system_account('receivable', t.id)
    ORDER BY b.account_id FOR NO KEY UPDATE;
    PERFORM 1 FROM receiving_counters c WHERE c.user_id IN (s.id, r.id) ORDER BY c.user_id FOR NO KEY UPDATE;
    PERFORM lock_receivables(ARRAY[t.id]);
    v_now := coalesce(p_now, transfa_now());
    t.ended_at := v_now;

    INSERT INTO transfers SELECT t.*;
    INSERT INTO transfer_steps (transfer_id, step, state, actor, evidence, happened_at)
    VALUES (t.id, 1, t.state, 'recovery', 'provider:' || p_provider, v_now);
    INSERT INTO forgotten_transfers VALUES (p_provider, v_recovery, t.id, p_reference, p_source, p_destination,
        p_counterparty, p_amount, p_status, p_made_at, v_now);
    IF s.id IS NOT NULL THEN
        INSERT INTO holds (transfer_id, account_id, amount, state)
        VALUES (t.id, t.debit_account, t.amount, CASE t.state WHEN 'failed' THEN 'released' ELSE 'posted' END);
        INSERT INTO provider_calls (reference, attempt, operation, started_at, deadline_at, ended_at, outcome)
        VALUES (t.reference, 1, 'create_transfer', p_made_at, p_made_at, v_now, 'forgotten');
    END IF;
    IF t.sequence > 1 THEN PERFORM publish_created(ARRAY[t.id], NULL, v_now); END IF;
    IF t.state = 'failed' THEN
        PERFORM publish_failed(ARRAY[t.id], NULL, NULL, v_now);
        RETURN 'booked';
    END IF;
    PERFORM publish_completed(ARRAY[t.id], NULL, NULL, v_now);

    SELECT b.debits_blocked INTO v_blocked FROM balances b WHERE b.account_id = t.debit_account;
    UPDATE balances b SET checked = false, debits_blocked = true
    WHERE b.account_id = t.debit_account AND b.checked AND b.posted - b.held < t.amount;
    PERFORM post_legs(ARRAY[t.debit_account, t.credit_account], ARRAY[t.id, t.id], ARRAY['amount', 'amount'],
        ARRAY[-t.amount, t.amount], v_now);
    IF p_status = 'reversed' THEN
        PERFORM settle_payments(ARRAY[t.id], ARRAY['reversed'], ARRAY[NULL::text], ARRAY['provider:' || p_provider],
            ARRAY[p_provider], ARRAY[new_event_id(v_now)], ARRAY[NULL::uuid], 'recovery', v_now);
        UPDATE balances b SET checked = true, debits_blocked = v_blocked
        WHERE b.account_id = t.debit_account AND s.id IS NOT NULL AND b.posted - b.held >= 0;
    END IF;
    RETURN 'booked';
END $$;

-- How a forgotten transfer is booked. Under the id that its reference names, where that is free: what the provider says
-- of it later finds it. Of the account of drops nobody knows which drop the money was of: it is owed to us.
CREATE OR REPLACE FUNCTION forgotten_transfer(s users, r users, p_provider text, p_reference text, p_source text,
    p_destination text, p_counterparty text, p_amount bigint, p_status text, p_made_at timestamptz, p_id uuid,
    p_pool text) RETURNS transfers LANGUAGE plpgsql AS $$
DECLARE
    t transfers;
BEGIN
    t.id := CASE WHEN EXISTS (SELECT 1 FROM transfers x WHERE x.id = p_id) THEN new_event_id(p_made_at)
        ELSE p_id END;
    t.reference := p_reference;
    t.state := CASE p_status WHEN 'failed' THEN 'failed' ELSE 'completed' END;
    t.failure_reason := CASE p_status WHEN 'failed' THEN 'provider_failed' END;
    t.sender_id := s.id;
    t.recipient_id := r.id;
    t.recipient_username := r.username;
    t.debit_account := coalesce(s.wallet_id,
        system_account(CASE p_source WHEN p_pool THEN 'receivable' ELSE 'provider_clearing' END, t.id));
    t.credit_account := system_account(
        CASE WHEN p_destination IS NULL THEN 'provider_clearing' ELSE 'suspense' END, t.id);
    t.beneficiary_id := (SELECT b.id FROM beneficiaries b
        WHERE b.user_id = s.id AND b.counterparty_id = p_counterparty ORDER BY b.id LIMIT 1);
    t.type := CASE WHEN s.id IS NULL THEN 'inbound' WHEN t.beneficiary_id IS NOT NULL THEN 'self_transfer'
        ELSE 'p2p' END;
    t.route := CASE WHEN p_destination IS NULL THEN 'external' ELSE 'internal' END;
    t.route_reason := CASE WHEN p_destination IS NULL THEN 'forgotten' ELSE 'suspense' END;
    t.source_account := p_source;
    t.destination := coalesce(p_destination, p_counterparty);
    t.amount := p_amount;
    t.fee := 0;
    t.duty := 0;
    t.incoming_counted := false;
    t.sequence := CASE WHEN s.id IS NULL THEN 1 ELSE 2 END;
    t.steps := 1;
    t.provider_id := p_provider;
    t.created_at := p_made_at;
    t.submitted_at := p_made_at;
    RETURN t;
END $$;

-- Money from outside that came in before the recovery began and that account has not credited by now. What is a
-- transfer of ours come back is that transfer, and nothing more. Account is given ten minutes: it lists the same
-- payments, and to whom it credits one, that person has it. After that it is booked all the same, in suspense:
-- whatever a payment carries, it cannot hold a recovery open. 'waiting', 'held', 'matched' or 'known'.
-- Locks: the payment, the transfer.
CREATE OR REPLACE FUNCTION recover_payment(p_payment text, p_account text, p_amount bigint, p_id uuid,
    p_now timestamptz DEFAULT NULL, p_reference text DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now constant timestamptz := coalesce(p_now, transfa_now());
    v_number constant text := split_part(p_payment, '-', 1);
    v_ours uuid;
    x recovery_payments;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(v_number, 6102));
    IF NOT recovery_is_open() OR payment_is_held(p_payment) OR EXISTS (SELECT 1 FROM inbound_payments p
        WHERE p.provider_account = p_account AND split_part(p.provider_payment_id, '-', 1) = v_number) THEN
        RETURN 'known';
    END IF;
    SELECT t.id INTO v_ours FROM transfers t WHERE t.reference = p_reference FOR NO KEY UPDATE;
    IF is_return(v_ours, p_account, p_amount) THEN       -- the same kobo that the provider lists as taken back
        INSERT INTO inbound_payments (provider_payment_id, provider_account, user_id, amount, reference, disposition,
            transfer_id, received_at)
        SELECT p_payment, p_account, u.id, p_amount, p_reference, 'matched', v_ours, v_now
        FROM users u WHERE u.provider_account = p_account ON CONFLICT DO NOTHING;
        IF FOUND THEN RETURN 'matched'; END IF;
    END IF;
    INSERT INTO recovery_payments (provider_payment_id, number, first_seen_at) VALUES (p_payment, v_number, v_now)
    ON CONFLICT DO NOTHING;
    SELECT * INTO STRICT x FROM recovery_payments y WHERE y.provider_payment_id = p_payment FOR NO KEY UPDATE;
    IF x.first_seen_at > v_now - interval '10 minutes' THEN RETURN 'waiting'; END IF;
    PERFORM hold_unmatched(p_payment, p_account, p_amount, p_id, 'recovery:' || p_payment, NULL, v_now);
    UPDATE recovery_payments y SET held_at = v_now WHERE y.provider_payment_id = p_payment;
    RETURN 'held';
END $$;

-- Whether a recovery has booked this money in suspense, under whichever of the provider's two ids.
CREATE OR REPLACE FUNCTION payment_is_held(p_payment text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT 1 FROM recovery_payments x
        WHERE x.number = split_part(p_payment, '-', 1) AND x.held_at IS NOT NULL);
END $$;

-- What is still missing of a recovery, as JSON. An account counts once it agreed in a look that began after everything
-- that was under way when the recovery began had arrived.
CREATE OR REPLACE FUNCTION recovery_missing(p_recovery uuid)
RETURNS TABLE (not_planned boolean, accounts bigint, doubts bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT r.planned_at IS NULL,
        (SELECT count(*) FROM recovery_accounts a WHERE a.recovery_id = r.id AND a.accepted_at IS NULL
            AND (a.differences IS DISTINCT FROM 0 OR a.looked_at < r.begun_at + recovery_patience())),
        (SELECT count(*) FROM recovery_doubts d JOIN transfers t ON t.id = d.transfer_id
         WHERE d.recovery_id = r.id AND d.cleared_at IS NULL AND t.state IN ('accepted', 'submitted', 'unknown'))
    FROM recoveries r WHERE r.id = p_recovery
$$;

-- Transfers that were open at the moment of the backup and that the provider does not have, and what their failure
-- changes, locked. Each may have failed since: its sender was told so, has the money back and may have paid in another
-- way. The refund of a drop is not among them: it is what we owe its creator, and nobody orders it anew.
CREATE OR REPLACE FUNCTION lock_unsent(p_recovery uuid) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
BEGIN
    PERFORM 1 FROM transfers t
    WHERE t.id IN (SELECT d.transfer_id FROM recovery_doubts d
        WHERE d.recovery_id = p_recovery AND d.finding = 'absent')
    ORDER BY t.id FOR NO KEY UPDATE;
    SELECT array_agg(t.id ORDER BY t.id) INTO v_ids FROM recovery_doubts d JOIN transfers t ON t.id = d.transfer_id
    WHERE d.recovery_id = p_recovery AND d.finding = 'absent' AND t.type <> 'drop_refund'
      AND t.state IN ('accepted', 'submitted', 'unknown');
    PERFORM 1 FROM balances b
    WHERE b.account_id IN (SELECT t.debit_account FROM transfers t WHERE t.id = ANY (v_ids))
    ORDER BY b.account_id FOR NO KEY UPDATE;
    PERFORM 1 FROM receiving_counters c
    WHERE c.user_id IN (SELECT t.recipient_id FROM transfers t WHERE t.id = ANY (v_ids))
    ORDER BY c.user_id FOR NO KEY UPDATE;
    RETURN v_ids;
END $$;

CREATE OR REPLACE FUNCTION fail_unsent(p_ids uuid[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_count constant integer[] := ARRAY[cardinality(p_ids)];
BEGIN
    IF p_ids IS NULL THEN RETURN; END IF;
    PERFORM fail_transfers(p_ids, 'recovery', array_fill(NULL::uuid, v_count),
        array_fill('recovery:absent'::text, v_count), array_fill('restored'::text, v_count),
        array_fill(NULL::text, v_count), array_fill(NULL::uuid, v_count), p_now);
END $$;

-- The next transfers of an account that a look asks about, the newest first: older than what is listed, arrived by our
-- books, so that they may have come back since. `p_user` null: the account of drops.
CREATE OR REPLACE FUNCTION unasked_transfers(p_recovery uuid, p_account text, p_user uuid, p_before uuid,
    p_limit integer)
RETURNS SETOF uuid LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_before constant uuid := least(p_before, (SELECT a.asked_from FROM recovery_accounts a
        WHERE a.recovery_id = p_recovery AND a.account = p_account));
BEGIN
    RETURN QUERY SELECT x.id FROM (
        (SELECT t.id FROM transfers t
         WHERE t.sender_id = p_user AND t.id < v_before AND t.source_account = p_account
           AND t.state = 'completed' AND t.submitted_at IS NOT NULL ORDER BY t.id DESC LIMIT p_limit)
        UNION (SELECT t.id FROM transfers t
         WHERE t.recipient_id = p_user AND t.id < v_before AND t.route = 'internal' AND t.destination = p_account
           AND t.state = 'completed' AND t.submitted_at IS NOT NULL ORDER BY t.id DESC LIMIT p_limit)
        UNION (SELECT t.id FROM transfers t
         WHERE p_user IS NULL AND t.type IN ('money_drop', 'drop_claim', 'drop_refund') AND t.id < v_before
           AND p_account IN (t.source_account, t.destination)
           AND t.state = 'completed' AND t.submitted_at IS NOT NULL ORDER BY t.id DESC LIMIT p_limit)) x
    ORDER BY x.id DESC LIMIT p_limit;
END $$;

-- What the account had before the listed days was asked about down to this transfer: the next look goes on from there.
CREATE OR REPLACE FUNCTION note_asked(p_recovery uuid, p_account text, p_transfer uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE recovery_accounts a SET asked_from = least(a.asked_from, p_transfer)
    WHERE a.recovery_id = p_recovery AND a.account = p_account
$$;

-- 'ended' and how many transfers had been forgotten, or nothing for one that has ended before; 'incomplete', 'missing'.
CREATE OR REPLACE FUNCTION end_recovery(p_recovery uuid, p_operator text, p_reason text, p_now timestamptz DEFAULT NULL,
    OUT result text, OUT forgotten bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_unsent uuid[];
    r recoveries;
BEGIN
    SELECT * INTO r FROM recoveries x WHERE x.id = p_recovery FOR NO KEY UPDATE;
    result := CASE WHEN r.id IS NULL THEN 'missing' WHEN r.ended_at IS NOT NULL THEN 'ended' END;
    IF result IS NOT NULL THEN RETURN; END IF;
    IF EXISTS (SELECT 1 FROM recovery_missing(r.id) m WHERE m.not_planned OR m.accounts > 0 OR m.doubts > 0) THEN
        result := 'incomplete';
        RETURN;
    END IF;
    v_unsent := lock_unsent(r.id);
    v_now := coalesce(p_now, transfa_now());
    PERFORM fail_unsent(v_unsent, v_now);
    UPDATE recoveries x SET ended_at = v_now, ended_by = p_operator, end_reason = p_reason WHERE x.id = r.id;
    result := 'ended';
    forgotten := (SELECT count(*) FROM forgotten_transfers f WHERE f.recovery_id = r.id);
END $$;

-- Another difference is one that nobody has looked at. Of a recovery that has ended nothing is noted any more.
CREATE OR REPLACE FUNCTION note_recovered(p_recovery uuid, p_account text, p_looked_at timestamptz,
    p_differences bigint,
    p_detail text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM 1 FROM recoveries r WHERE r.id = p_recovery AND r.ended_at IS NULL FOR SHARE;
    IF NOT FOUND THEN RETURN; END IF;
    UPDATE recovery_accounts a SET accepted_at = NULL, accepted_by = NULL, accept_reason = NULL
    WHERE a.recovery_id = p_recovery AND a.account = p_account AND a.looked_at <= p_looked_at
      AND (a.differences, a.detail) IS DISTINCT FROM (p_differences, p_detail);
    UPDATE recovery_accounts a SET looked_at = p_looked_at, differences = p_differences, detail = p_detail
    WHERE a.recovery_id = p_recovery AND a.account = p_account AND (a.looked_at IS NULL OR a.looked_at <= p_looked_at);
END $$;

-- Whether money that carries a reference of ours may be of a forgotten transfer: it came back, and is no income. Once
-- that transfer is booked, the payment is one of its ends. Not what is booked already.
CREATE OR REPLACE FUNCTION may_be_forgotten(p_payment text, p_reference text)
RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN p_reference ~ '^trf-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' AND NOT payment_is_held(p_payment)
        AND NOT EXISTS (SELECT 1 FROM inbound_payments x WHERE x.provider_payment_id = p_payment);
END $$;

-- 'accepted' and what differs, or nothing for what was accepted before; 'no_recovery', 'missing', 'ended',
-- 'not_looked_at', 'agrees', and 'changed' when something else differs than what the operator has seen. What differs
-- before everything that was under way has arrived may be made good by the next look.
CREATE OR REPLACE FUNCTION accept_difference(p_recovery uuid, p_account text, p_mark text, p_operator text,
    p_reason text, p_now timestamptz DEFAULT NULL, OUT result text, OUT differences bigint, OUT detail text)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    r recoveries;
    a recovery_accounts;
BEGIN
    SELECT * INTO r FROM recoveries x WHERE x.id = p_recovery FOR NO KEY UPDATE;
    SELECT * INTO a FROM recovery_accounts x WHERE x.recovery_id = r.id AND x.account = p_account FOR NO KEY UPDATE;
    result := CASE WHEN r.id IS NULL THEN 'no_recovery'
        WHEN a.account IS NULL THEN 'missing'
        WHEN a.accepted_at IS NOT NULL AND p_mark = difference_mark(a.differences, a.detail) THEN 'accepted'
        WHEN r.ended_at IS NOT NULL THEN 'ended'
        WHEN a.differences IS NULL OR a.looked_at < r.begun_at + recovery_patience() THEN 'not_looked_at'
        WHEN a.differences = 0 THEN 'agrees'
        WHEN p_mark <> difference_mark(a.differences, a.detail) THEN 'changed' END;
    IF result IS NOT NULL THEN RETURN; END IF;
    v_now := coalesce(p_now, transfa_now());
    UPDATE recovery_accounts x SET accepted_at = v_now, accepted_by = p_operator, accept_reason = p_reason
    WHERE x.recovery_id = r.id AND x.account = p_account;
    SELECT 'accepted', a.differences, a.detail INTO result, differences, detail;
END $$;

-- By which an operator says what was looked at.
CREATE OR REPLACE FUNCTION difference_mark(p_differences bigint, p_detail text)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(md5(p_differences || ' ' || coalesce(p_detail, '')), 8)
$$;
