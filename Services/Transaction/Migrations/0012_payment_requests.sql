-- Payment requests. Paying one is accept_payments() with the request as target; this is the rest of their life.

-- 'created', or why not. The owner's receiving_counters row is the mutex of how many requests they have open.
CREATE FUNCTION create_payment_request(p_id uuid, p_owner uuid, p_payer text, p_amount bigint, p_description text,
    p_link text, p_expires_at timestamptz, p_correlation uuid, p_traceparent text, p_now timestamptz DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now timestamptz;
    v_payer uuid;
    v_open bigint;
    v_of_payer bigint;
BEGIN
    PERFORM 1 FROM receiving_counters c WHERE c.user_id = p_owner FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    IF NOT EXISTS (SELECT 1 FROM users u WHERE u.id = p_owner AND u.provider_account IS NOT NULL) THEN
        RETURN 'owner_not_ready';
    END IF;
    IF EXISTS (SELECT 1 FROM users u WHERE u.id = p_owner AND (u.status <> 'active' OR u.credits_blocked)) THEN
        RETURN 'owner_restricted';
    END IF;
    IF p_payer IS NOT NULL THEN
        SELECT u.id INTO v_payer FROM users u WHERE u.username = p_payer AND u.status <> 'closed';
        IF v_payer IS NULL THEN RETURN 'payer_unknown'; END IF;
        IF v_payer = p_owner THEN RETURN 'payer_self'; END IF;
    END IF;
    IF p_expires_at <= v_now OR p_expires_at > v_now + interval '92 days' THEN RETURN 'expiry_invalid'; END IF;
    SELECT count(*), count(*) FILTER (WHERE q.payer_id = v_payer) INTO v_open, v_of_payer
    FROM payment_requests q WHERE q.owner_id = p_owner AND q.state IN ('open', 'processing') AND q.expires_at > v_now;
    IF v_open >= 200 OR v_of_payer >= 10 THEN RETURN 'too_many_requests_open'; END IF;

    INSERT INTO payment_requests (id, owner_id, payer_id, amount, description, link, expires_at, created_at)
    VALUES (p_id, p_owner, v_payer, p_amount, p_description, p_link, date_trunc('milliseconds', p_expires_at), v_now);
    PERFORM tell_request('created', p_id, NULL, p_correlation, p_traceparent, v_now);
    RETURN 'created';
END $$;

-- The owner cancels, the person who is asked declines. 'cancelled' or 'declined', or why not.
CREATE FUNCTION end_payment_request(p_request uuid, p_user uuid, p_end text, p_correlation uuid,
    p_now timestamptz DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    q payment_requests;
BEGIN
    SELECT * INTO q FROM payment_requests x
    WHERE x.id = p_request AND p_user = CASE p_end WHEN 'cancelled' THEN x.owner_id WHEN 'declined' THEN x.payer_id END
    FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    IF q.id IS NULL OR q.state = 'cancelled' THEN RETURN 'request_unknown'; END IF;
    IF q.state = 'processing' THEN RETURN 'request_in_payment'; END IF;
    IF q.state = 'fulfilled' THEN RETURN 'request_paid'; END IF;
    IF q.state = 'expired' OR q.state = 'open' AND q.expires_at <= v_now THEN RETURN 'request_expired'; END IF;
    IF q.state <> 'open' THEN RETURN 'request_declined'; END IF;
    UPDATE payment_requests x SET state = p_end, ended_at = v_now WHERE x.id = p_request;
    PERFORM tell_request(p_end, p_request, NULL, p_correlation, NULL, v_now);
    RETURN p_end;
END $$;

-- By the clock, on any number of replicas. Returns how many have expired.
CREATE FUNCTION expire_payment_requests(p_limit integer, p_now timestamptz DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now constant timestamptz := coalesce(p_now, transfa_now());
    v_count integer := 0;
    v_id uuid;
BEGIN
    FOR v_id IN
        SELECT q.id FROM payment_requests q WHERE q.state = 'open' AND q.expires_at <= v_now
        ORDER BY q.id LIMIT p_limit FOR NO KEY UPDATE SKIP LOCKED
    LOOP
        UPDATE payment_requests q SET state = 'expired', ended_at = v_now WHERE q.id = v_id;
        PERFORM tell_request('expired', v_id, NULL, NULL, NULL, v_now);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END $$;

-- What becomes of a request when its payment ends: fulfilled by what arrived, open again when it came back. The
-- request's row is locked.
CREATE FUNCTION follow_request(t transactions, p_state text, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_state text;
BEGIN
    UPDATE payment_requests q SET
        state = CASE WHEN p_state = 'completed' THEN 'fulfilled' WHEN q.expires_at <= p_now THEN 'expired'
                     ELSE 'open' END,
        transaction_id = CASE WHEN p_state = 'completed' THEN t.id END,
        ended_at = CASE WHEN p_state = 'completed' OR q.expires_at <= p_now THEN p_now END
    WHERE q.id = t.payment_request_id AND q.transaction_id = t.id
    RETURNING q.state INTO v_state;
    IF v_state IS NOT NULL THEN
        PERFORM tell_request(CASE v_state WHEN 'open' THEN 'reopened' ELSE v_state END, t.payment_request_id, t.id,
            t.correlation_id, t.traceparent, p_now);
    END IF;
END $$;
