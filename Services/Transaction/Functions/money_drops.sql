-- Money drops: claim, end, expiry, refund.
--
-- A claim takes one open slot with SKIP LOCKED; only when all open ones are being taken by others does it wait for one
-- of them, so nobody is refused while a slot may still be had. Ending a drop closes the slots that are open and books
-- the refund in the same commit. Whoever comes second, claim or end, finds the slot gone.

-- Why a person may not claim, but for the slot; null: nothing is in the way. The person's receiving_counters row is
-- locked.
CREATE OR REPLACE FUNCTION claim_refusal(d money_drops, p_user uuid, p_password_hash text, p_now timestamptz)
RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    r record;
BEGIN
    SELECT f.*, bc.most - bc.used AS room INTO r
    FROM recipient_facts(p_now) f
    JOIN balances b ON b.account_id = f.wallet_id
    JOIN receiving_counters c ON c.user_id = f.user_id
    LEFT JOIN LATERAL balance_cap(p_user, f.maximum_balance, b.posted, c.incoming) bc ON true
    WHERE f.user_id = p_user;
    RETURN CASE
        WHEN recovery_is_open() THEN 'recovering'
        WHEN r.user_id IS NULL THEN 'claimant_unknown'
        WHEN r.unavailable THEN 'claimant_restricted'
        WHEN d.id IS NULL THEN 'drop_unknown'
        WHEN d.creator_id = p_user THEN 'drop_own'
        WHEN EXISTS (SELECT 1 FROM drop_slots s WHERE s.drop_id = d.id AND s.claimant_id = p_user)
            THEN 'already_claimed'
        WHEN d.state = 'pending' THEN 'drop_pending'
        WHEN d.end_reason = 'expired' OR d.state = 'open' AND d.expires_at <= p_now THEN 'drop_expired'
        WHEN d.end_reason = 'claimed' THEN 'drop_exhausted'
        WHEN d.state <> 'open' THEN 'drop_ended'
        WHEN drop_is_paused(d.id) THEN 'drop_paused'
        WHEN d.password_hash IS DISTINCT FROM p_password_hash THEN 'password_wrong'
        WHEN r.provider_account IS NULL THEN 'claimant_not_ready'
        WHEN d.amount_per_claim > r.room THEN 'recipient_limit'
    END;
END $$;

-- p_password_hash is the stored hash that the claimant's password was checked against, or null. The outcome is
-- 'accepted' or why not.
CREATE OR REPLACE FUNCTION claim_money_drop(p_id uuid, p_user uuid, p_drop uuid, p_password_hash text,
    p_created_event uuid, p_correlation uuid, p_traceparent text, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (outcome text, transfer_id uuid, amount bigint, created_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
    v_now timestamptz;
    v_slot integer;
    d money_drops;
    u users;
    v_counted boolean;
BEGIN
    -- The mutex of the claimant: two claims of one person decide one after the other.
    PERFORM 1 FROM receiving_counters c WHERE c.user_id = p_user FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    SELECT * INTO d FROM money_drops x WHERE x.id = p_drop;
    outcome := claim_refusal(d, p_user, p_password_hash, v_now);

    IF outcome IS NULL THEN
        v_slot := take_slot(p_drop);
        v_now := coalesce(p_now, transfa_now());         -- waiting must not date a claim back before the expiry
        IF v_slot IS NULL THEN
            SELECT * INTO d FROM money_drops x WHERE x.id = p_drop;
            outcome := coalesce(claim_refusal(d, p_user, p_password_hash, v_now), 'drop_exhausted');
        ELSIF d.expires_at <= v_now THEN
            outcome := 'drop_expired';
        END IF;
    END IF;
    IF outcome IS NOT NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;

    SELECT * INTO STRICT u FROM users x WHERE x.id = p_user;
    SELECT x.maximum_balance IS NOT NULL INTO v_counted FROM limits_of(u.tier, v_now) x;
    UPDATE drop_slots s SET state = 'claimed', claimant_id = p_user, transfer_id = p_id, claimed_at = v_now
    WHERE s.drop_id = p_drop AND s.position = v_slot;
    IF v_counted THEN
        UPDATE receiving_counters c SET incoming = c.incoming + d.amount_per_claim WHERE c.user_id = p_user;
    END IF;
    PERFORM pay_from_pool(d, p_id, 'drop_claim', p_user, u.username, u.wallet_id, u.provider_account,
        d.amount_per_claim, v_counted, p_created_event, p_correlation, p_traceparent, v_now);
    outcome := 'accepted';
    transfer_id := p_id;
    amount := d.amount_per_claim;
    created_at := v_now;
    RETURN NEXT;
END $$;

-- A transfer out of a pool. It holds nothing: slots are its reservation.
CREATE OR REPLACE FUNCTION pay_from_pool(d money_drops, p_id uuid, p_type text, p_recipient uuid, p_username text,
    p_credit bigint, p_destination text, p_amount bigint, p_counted boolean, p_event uuid, p_correlation uuid,
    p_traceparent text, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_reason constant text := CASE WHEN p_credit = system_account('suspense', p_id) THEN 'suspense' ELSE p_type END;
BEGIN
    INSERT INTO transfers (id, reference, type, state, sequence, recipient_id, recipient_username, debit_account,
        credit_account, amount, route, route_reason, source_account, destination, incoming_counted, parent_id,
        correlation_id, traceparent, created_at)
    VALUES (p_id, 'trf-' || p_id, p_type, 'accepted', 1, p_recipient, p_username, d.pool_id, p_credit, p_amount,
        'internal', v_reason, d.pool_account, p_destination, p_counted, d.id, p_correlation, p_traceparent, p_now);
    INSERT INTO transfer_steps (transfer_id, step, state, actor, happened_at)
    VALUES (p_id, 1, 'accepted', CASE p_type WHEN 'drop_claim' THEN 'claimant' ELSE 'scheduler' END, p_now);
    PERFORM publish_created(ARRAY[p_id], ARRAY[p_event], p_now);
    INSERT INTO jobs (id, kind, key, subject, due_at, correlation_id, traceparent, created_at)
    VALUES (p_id, 'submit_transfer', p_id, p_id, p_now, p_correlation, p_traceparent, p_now);
END $$;

-- The hash to check a password against, and how long this person must wait after too many wrong ones.
CREATE OR REPLACE FUNCTION drop_password(p_drop uuid, p_user uuid, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (password_hash text, wait_seconds integer)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH moment AS MATERIALIZED (SELECT coalesce(p_now, transfa_now()) AS at)
    SELECT d.password_hash,
        CASE WHEN c.used >= c.most THEN ceil(extract(epoch FROM c.until - m.at)) ELSE 0 END::integer
    FROM money_drops d CROSS JOIN moment m
    LEFT JOIN LATERAL password_cap(p_user, d.id, m.at) c ON true
    WHERE d.id = p_drop
$$;

-- Counts a try before anybody looks at the password: tries at once are counted one after the other, and no more are
-- looked at than a drop takes. 0, or the seconds to wait: then nothing was counted and nothing may be looked at.
CREATE OR REPLACE FUNCTION try_drop_password(p_drop uuid, p_user uuid, p_now timestamptz DEFAULT NULL)
RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_cap cap;
BEGIN
    INSERT INTO drop_password_failures (drop_id, user_id, failures, last_failed_at)
    VALUES (p_drop, p_user, 0, '-infinity') ON CONFLICT DO NOTHING;
    PERFORM 1 FROM drop_password_failures f WHERE f.drop_id = p_drop AND f.user_id = p_user FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    SELECT * INTO v_cap FROM password_cap(p_user, p_drop, v_now);
    IF v_cap.used >= v_cap.most THEN RETURN ceil(extract(epoch FROM v_cap.until - v_now)); END IF;
    UPDATE drop_password_failures f SET failures = coalesce(v_cap.used, 0) + 1, last_failed_at = v_now
    WHERE f.drop_id = p_drop AND f.user_id = p_user;
    RETURN 0;
END $$;

-- A counted try that was right, or that nobody could look at, counts no more.
CREATE OR REPLACE FUNCTION give_back_drop_password(p_drop uuid, p_user uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE drop_password_failures f SET failures = f.failures - 1
    WHERE f.drop_id = p_drop AND f.user_id = p_user AND f.failures > 0
$$;

-- Ends open drops whose rows are locked: what is open is closed and goes back.
CREATE OR REPLACE FUNCTION close_drop(p_drop uuid, p_reason text, p_correlation uuid, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM drop_slots s WHERE s.drop_id = p_drop AND s.state = 'open' ORDER BY s.position FOR NO KEY UPDATE;
    UPDATE drop_slots s SET state = 'closed' WHERE s.drop_id = p_drop AND s.state = 'open';
    UPDATE money_drops d SET state = 'ended', end_reason = p_reason, ended_at = p_now WHERE d.id = p_drop;
    PERFORM publish_drop_ended(p_drop, p_correlation, NULL, p_now);
END $$;

-- Gives closed slots of a drop back to its creator: each is in one refund at a time, and in none after it arrived. For
-- a creator who may not receive, the money waits in suspense. The drop's row is locked.
CREATE OR REPLACE FUNCTION refund_drop(p_drop uuid, p_correlation uuid, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_id constant uuid := new_event_id(p_now);
    v_slots bigint;
    d money_drops;
    u users;
BEGIN
    IF recovery_is_open() THEN RETURN; END IF;                  -- a sweep finds the slots closed, afterwards
    PERFORM 1 FROM drop_slots s WHERE s.drop_id = p_drop AND s.state = 'closed' ORDER BY s.position FOR NO KEY UPDATE;
    UPDATE drop_slots s SET state = 'refunding', transfer_id = v_id WHERE s.drop_id = p_drop AND s.state = 'closed';
    GET DIAGNOSTICS v_slots = ROW_COUNT;
    IF v_slots = 0 THEN RETURN; END IF;

    SELECT * INTO STRICT d FROM money_drops x WHERE x.id = p_drop;
    SELECT * INTO STRICT u FROM users x WHERE x.id = d.creator_id;
    PERFORM pay_from_pool(d, v_id, 'drop_refund', u.id, u.username,
        CASE WHEN u.status <> 'active' OR u.credits_blocked THEN system_account('suspense', v_id) ELSE u.wallet_id END,
        u.provider_account, v_slots * d.amount_per_claim, false, new_event_id(p_now), p_correlation, NULL, p_now);
END $$;

-- The creator ends a drop early. 'ended', or why not.
CREATE OR REPLACE FUNCTION end_money_drop(p_drop uuid, p_user uuid, p_correlation uuid, p_now timestamptz DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now timestamptz;
    d money_drops;
BEGIN
    SELECT * INTO d FROM money_drops x WHERE x.id = p_drop AND x.creator_id = p_user FOR NO KEY UPDATE;
    IF d.id IS NULL THEN RETURN 'drop_unknown'; END IF;
    IF d.state = 'pending' THEN RETURN 'drop_pending'; END IF;
    IF d.state <> 'open' THEN RETURN 'drop_ended'; END IF;
    v_now := coalesce(p_now, transfa_now());
    PERFORM close_drop(p_drop, CASE WHEN d.expires_at <= v_now THEN 'expired' ELSE 'ended' END, p_correlation, v_now);
    PERFORM refund_drop(p_drop, p_correlation, v_now);
    RETURN 'ended';
END $$;

-- By the clock, on any number of replicas: ends what has expired and refunds what was closed since, such as the slot of
-- a claim that failed after the end or a refund that did not arrive. Returns how many drops were touched.
CREATE OR REPLACE FUNCTION sweep_money_drops(p_limit integer, p_now timestamptz DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now constant timestamptz := coalesce(p_now, transfa_now());
    v_count integer := 0;
    d record;
BEGIN
    FOR d IN
        SELECT x.id, x.state FROM money_drops x
        WHERE x.id IN (
            SELECT y.id FROM money_drops y WHERE y.state = 'open' AND y.expires_at <= v_now
            UNION SELECT s.drop_id FROM drop_slots s WHERE s.state = 'closed')
          AND (x.state = 'open' AND x.expires_at <= v_now OR x.state = 'ended' AND x.refund_after <= v_now)
        ORDER BY x.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        IF d.state = 'open' THEN PERFORM close_drop(d.id, 'expired', NULL, v_now); END IF;
        PERFORM refund_drop(d.id, NULL, v_now);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END $$;

-- What becomes of a drop when a transfer of it ends. The drop's row is locked.
CREATE OR REPLACE FUNCTION follow_drop(t transfers, p_state text, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    d money_drops;
BEGIN
    SELECT * INTO STRICT d FROM money_drops x WHERE x.id = t.parent_id;
    IF t.type = 'money_drop' AND p_state = 'completed' THEN
        UPDATE money_drops x SET state = 'open', opened_at = p_now WHERE x.id = d.id;
        PERFORM publish_drop_opened(t, p_now);
        IF d.expires_at <= p_now THEN PERFORM close_drop(d.id, 'expired', t.correlation_id, p_now); END IF;
    ELSIF t.type = 'money_drop' AND p_state = 'failed' THEN
        UPDATE drop_slots s SET state = 'void' WHERE s.drop_id = d.id;
        UPDATE money_drops x SET state = 'failed', end_reason = 'funding_failed', ended_at = p_now WHERE x.id = d.id;
        PERFORM publish_drop_ended(d.id, t.correlation_id, t.traceparent, p_now);
    ELSIF t.type = 'money_drop' THEN
        PERFORM void_drop(d, t, p_now);
    ELSIF t.type = 'drop_claim' AND p_state = 'completed' THEN
        UPDATE drop_slots s SET state = 'paid' WHERE s.transfer_id = t.id;
        IF t.route_reason <> 'suspense' THEN PERFORM publish_drop_claimed(t, p_now); END IF;
        IF d.state = 'open'
           AND NOT EXISTS (SELECT 1 FROM drop_slots s WHERE s.drop_id = d.id AND s.state <> 'paid') THEN
            PERFORM close_drop(d.id, 'claimed', t.correlation_id, p_now);
        END IF;
    ELSIF t.type = 'drop_claim' THEN                     -- evidence that it did not arrive: the slot is free again
        UPDATE drop_slots s SET claimant_id = NULL, transfer_id = NULL, claimed_at = NULL, state = CASE
            WHEN d.end_reason = 'funding_reversed' THEN 'void'
            WHEN d.state = 'open' AND d.expires_at > p_now THEN 'open' ELSE 'closed' END
        WHERE s.transfer_id = t.id;
    ELSIF t.type = 'drop_refund' AND p_state = 'completed' THEN
        UPDATE drop_slots s SET state = 'refunded' WHERE s.transfer_id = t.id;
        IF t.route_reason <> 'suspense' THEN PERFORM publish_drop_refunded(t, p_now); END IF;
    ELSIF d.end_reason = 'funding_reversed' THEN
        UPDATE drop_slots s SET transfer_id = NULL, state = 'void' WHERE s.transfer_id = t.id;
    ELSE                                                 -- a refund that did not arrive is tried again, and looked at
        UPDATE drop_slots s SET transfer_id = NULL, state = 'closed' WHERE s.transfer_id = t.id;
        UPDATE money_drops x SET refund_failures = least(x.refund_failures + 1, 10),
            refund_after = p_now + least(interval '1 minute' * 2 ^ x.refund_failures, interval '6 hours')
        WHERE x.id = d.id;
        INSERT INTO breaks (transfer_id, kind, state, opened_at)
        VALUES (t.id, 'drop_refund_' || p_state, p_state, p_now) ON CONFLICT DO NOTHING;
    END IF;
    PERFORM count_pool(t, p_state);
    IF t.type <> 'drop_claim' AND p_state IN ('completed', 'reversed') THEN
        PERFORM even_out_refunds(d.id, t.id, p_now);
    END IF;
END $$;

-- Of a drop whose funding was taken back the creator has got all: what refunds had given back before, or still bring,
-- is the pool's. It stays in the creator's account at the provider, and the pool's account lacks it. What the creator
-- has spent by then is owed. A refund that is taken back after that is theirs again. The
-- drop, the wallet and the pool are locked.
CREATE OR REPLACE FUNCTION even_out_refunds(p_drop uuid, p_transfer uuid, p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_back bigint;
    v_lacks bigint;
    v_from bigint;
    v_to bigint;
    r record;
BEGIN
    SELECT d.pool_id, d.given_back, u.id AS creator, u.wallet_id INTO r
    FROM money_drops d JOIN users u ON u.id = d.creator_id
    WHERE d.id = p_drop AND d.end_reason = 'funding_reversed';
    IF NOT FOUND THEN RETURN; END IF;
    v_back := r.given_back - (SELECT coalesce(sum(e.amount), 0) FROM entries e
        WHERE e.account_id = r.pool_id AND e.leg = 'given_back');
    IF v_back = 0 THEN RETURN; END IF;
    v_from := CASE WHEN v_back > 0 THEN r.wallet_id ELSE r.pool_id END;
    v_to := CASE WHEN v_back > 0 THEN r.pool_id ELSE r.wallet_id END;
    v_back := abs(v_back);
    UPDATE balances b SET debits_blocked = b.debits_blocked OR b.posted - b.held < v_back WHERE b.account_id = v_from
    RETURNING v_back - least(v_back, greatest(b.posted - b.held, 0)) INTO STRICT v_lacks;
    PERFORM post_legs(ARRAY[v_from, system_account('receivable', p_transfer), v_from, v_to],
        array_fill(p_transfer, ARRAY[4]), ARRAY['receivable', 'receivable', 'given_back', 'given_back'],
        ARRAY[v_lacks, -v_lacks, -v_back, v_back], p_now);
    UPDATE money_drops d SET has_money = b.posted > 0 FROM balances b
    WHERE d.id = p_drop AND b.account_id = r.pool_id AND d.has_money <> (b.posted > 0);
    PERFORM empty_closed_wallets(ARRAY[r.creator], p_now);
END $$;

-- What a drop keeps count of: whether there is money in its pool, and what went back to its creator. That part was
-- never spent, so the day, the month and the new device get it back, and lose it again with a refund that is taken
-- back. The drop's row and the creator's balance are locked: nobody else counts, or ends the funding.
CREATE OR REPLACE FUNCTION count_pool(t transfers, p_state text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_back constant bigint := CASE WHEN t.type <> 'drop_refund' THEN 0 WHEN p_state = 'completed' THEN t.amount
        WHEN p_state = 'reversed' THEN -t.amount ELSE 0 END;
BEGIN
    UPDATE money_drops d SET has_money = b.posted > 0, given_back = d.given_back + v_back
    FROM balances b
    WHERE d.id = t.parent_id AND b.account_id = d.pool_id AND (v_back <> 0 OR d.has_money <> (b.posted > 0));
    IF v_back = 0 THEN RETURN; END IF;
    WITH funding AS MATERIALIZED (
        SELECT f.* FROM money_drops d JOIN transfers f ON f.id = d.funding_id
        WHERE d.id = t.parent_id AND f.state = 'completed'
    ),
    write_devices AS (
        UPDATE devices x SET first_day_total = x.first_day_total - v_back
        FROM funding f WHERE x.id = f.capped_device_id
    )
    UPDATE spending_counters s SET
        day_total = s.day_total - CASE WHEN f.spent_day = s.day THEN v_back ELSE 0 END,
        month_total = s.month_total - CASE WHEN f.spent_month = s.month THEN v_back ELSE 0 END
    FROM funding f WHERE s.user_id = f.sender_id;
END $$;

-- The provider took the funding back: nothing more is promised or paid, for good, and people look at what was paid
-- already. What was not sent yet fails here; what somebody else is about to send at this very moment finds the pool
-- blocked (pool_covers). What is at the provider may still arrive, as a loss (post_completion); so may what a restored
-- ledger may have forgotten to have sent, which the recovery asks about and fails at its end.
--
-- Claims and their people are locked without waiting, as nobody may wait for them with a drop in hand.
CREATE OR REPLACE FUNCTION void_drop(d money_drops, t transfers, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_unsent uuid[];
    v_nulls text[];
BEGIN
    UPDATE balances b SET debits_blocked = true WHERE b.account_id = d.pool_id;
    PERFORM 1 FROM drop_slots s WHERE s.drop_id = d.id AND s.state = 'open' ORDER BY s.position FOR NO KEY UPDATE;
    UPDATE drop_slots s SET state = 'void' WHERE s.drop_id = d.id AND s.state IN ('open', 'closed');
    UPDATE money_drops x SET state = 'ended', end_reason = 'funding_reversed', ended_at = coalesce(x.ended_at, p_now)
    WHERE x.id = d.id;

    SELECT array_agg(x.id ORDER BY x.id) INTO v_unsent FROM (
        SELECT c.id FROM transfers c JOIN receiving_counters r ON r.user_id = c.recipient_id
        WHERE c.parent_id = d.id AND c.type IN ('drop_claim', 'drop_refund') AND c.state = 'accepted'
          AND NOT EXISTS (SELECT 1 FROM recovery_doubts o JOIN recoveries y ON y.id = o.recovery_id
              WHERE o.transfer_id = c.id AND o.cleared_at IS NULL AND y.ended_at IS NULL)
        FOR NO KEY UPDATE OF c, r SKIP LOCKED) x;
    IF v_unsent IS NOT NULL THEN
        v_nulls := array_fill(NULL::text, ARRAY[cardinality(v_unsent)]);
        PERFORM fail_transfers(v_unsent, 'ledger', v_nulls::uuid[],
            array_fill('funding reversed: ' || t.reference, ARRAY[cardinality(v_unsent)]),
            array_fill('drop_not_covered'::text, ARRAY[cardinality(v_unsent)]), v_nulls, v_nulls::uuid[], p_now);
    END IF;
    IF d.state = 'open' THEN PERFORM publish_drop_ended(d.id, t.correlation_id, NULL, p_now); END IF;
    INSERT INTO breaks (transfer_id, kind, state, opened_at) VALUES (t.id, 'drop_funding_reversed', 'reversed', p_now)
    ON CONFLICT DO NOTHING;
END $$;

-- One open slot of a drop, locked; null when there is none.
--
-- A row that was waited for stays locked also when it turns out to be taken, and who holds such rows while waiting for
-- others ends in a deadlock. So each attempt is a subtransaction, and what it locked in vain is given up with it:
-- nobody waits for a slot with another one in hand.
CREATE OR REPLACE FUNCTION take_slot(p_drop uuid) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    v_position integer;
    v_state text;
BEGIN
    LOOP
        BEGIN
            SELECT s.position INTO v_position FROM drop_slots s
            WHERE s.drop_id = p_drop AND s.state = 'open' ORDER BY s.position LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED;
            IF v_position IS NOT NULL THEN RETURN v_position; END IF;
            RAISE EXCEPTION 'drop_exhausted' USING ERRCODE = 'TF001';
        EXCEPTION WHEN SQLSTATE 'TF001' THEN NULL;
        END;

        -- Those that are open are in other hands, and may come back.
        SELECT s.position INTO v_position FROM drop_slots s
        WHERE s.drop_id = p_drop AND s.state = 'open' ORDER BY s.position LIMIT 1;
        IF v_position IS NULL THEN RETURN NULL; END IF;
        BEGIN
            SELECT s.state INTO v_state FROM drop_slots s
            WHERE s.drop_id = p_drop AND s.position = v_position FOR NO KEY UPDATE;
            IF v_state = 'open' THEN RETURN v_position; END IF;
            RAISE EXCEPTION 'slot_taken' USING ERRCODE = 'TF001';
        EXCEPTION WHEN SQLSTATE 'TF001' THEN NULL;
        END;
    END LOOP;
END $$;

-- Whether a drop pays nobody for now: its creator may not send. Whoever has stolen a phone makes a drop and shares it
-- out before the owner has the profile frozen. Once the creator may send again it goes on; a closed one's ends instead.
CREATE OR REPLACE FUNCTION drop_is_paused(p_drop uuid) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT 1 FROM money_drops d JOIN users c ON c.id = d.creator_id
        WHERE d.id = p_drop AND c.status <> 'closed' AND (c.status = 'frozen' OR c.debits_blocked));
END $$;
