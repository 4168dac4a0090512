-- Payment requests. Paying one is place_orders() with the request as target; this is the rest of their life.

-- Asked once for each request, not twice.
CREATE OR REPLACE FUNCTION create_payment_request(p_id uuid, p_owner uuid, p_payer text, p_amount bigint,
    p_description text, p_link text, p_expires_at timestamptz, p_correlation uuid, p_traceparent text,
    p_now timestamptz DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_refusal text;
BEGIN
    IF NOT takes_requests_of(p_owner, p_payer) THEN RETURN 'requests_not_accepted'; END IF;
    v_refusal := asking_refusal(p_owner, p_payer, p_now);
    IF v_refusal IS NOT NULL THEN RETURN v_refusal; END IF;
    RETURN make_payment_request(p_id, p_owner, p_payer, p_amount, p_description, p_link, p_expires_at, p_correlation,
        p_traceparent, p_now);
END $$;

-- 'created', or why not. The owner's receiving_counters row is the mutex of how many requests they have open.
CREATE OR REPLACE FUNCTION make_payment_request(p_id uuid, p_owner uuid, p_payer text, p_amount bigint,
    p_description text,
    p_link text, p_expires_at timestamptz, p_correlation uuid, p_traceparent text, p_now timestamptz DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now timestamptz;
    v_payer uuid;
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
    IF EXISTS (
        SELECT 1 FROM (
            SELECT * FROM open_cap(p_owner, v_now)
            UNION ALL SELECT * FROM open_to_one_cap(p_owner, v_payer, v_now) WHERE v_payer IS NOT NULL
        ) c WHERE c.used >= c.most) THEN
        RETURN 'too_many_requests_open';
    END IF;

    INSERT INTO payment_requests (id, owner_id, payer_id, amount, description, link, expires_at, created_at)
    VALUES (p_id, p_owner, v_payer, p_amount, p_description, p_link, date_trunc('milliseconds', p_expires_at), v_now);
    PERFORM publish_request('created', p_id, NULL, p_correlation, p_traceparent, v_now);
    RETURN 'created';
END $$;

-- The request that was made a moment ago, in the same transaction: nobody has seen it yet.
CREATE OR REPLACE FUNCTION let_many_pay(p_request uuid, p_owner uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE payment_requests q SET multiple = true
    WHERE q.id = p_request AND q.owner_id = p_owner AND q.state = 'open' AND q.xmin = pg_current_xact_id()::xid
$$;

-- Gives a request that was made just now its reference.
CREATE OR REPLACE FUNCTION refer_payment_request(p_request uuid, p_owner uuid, p_reference text)
RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE payment_requests q SET reference = p_reference
    WHERE q.id = p_request AND q.owner_id = p_owner AND q.reference IS NULL;
END $$;

-- The owner cancels, the person who is asked declines. 'cancelled' or 'declined', or why not.
CREATE OR REPLACE FUNCTION end_payment_request(p_request uuid, p_user uuid, p_end text, p_correlation uuid,
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
    PERFORM publish_request(p_end, p_request, NULL, p_correlation, NULL, v_now);
    RETURN p_end;
END $$;

-- By the clock, on any number of replicas. Returns how many have expired.
CREATE OR REPLACE FUNCTION expire_payment_requests(p_limit integer, p_now timestamptz DEFAULT NULL) RETURNS integer
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
        PERFORM publish_request('expired', v_id, NULL, NULL, NULL, v_now);
        v_count := v_count + 1;
    END LOOP;
    RETURN v_count;
END $$;

-- What becomes of a request when its payment ends: fulfilled by what arrived, open again when it came back. While the
-- payment waits in suspense the request waits with it, and what never arrived was never counted. The request's row is
-- locked.
CREATE OR REPLACE FUNCTION follow_request(t transfers, p_state text, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_state text;
BEGIN
    IF p_state = 'completed' AND t.route_reason = 'suspense' THEN RETURN; END IF;
    UPDATE payment_requests q SET
        state = CASE WHEN p_state = 'completed' THEN 'fulfilled' WHEN q.expires_at <= p_now THEN 'expired'
                     ELSE 'open' END,
        transfer_id = CASE WHEN p_state = 'completed' THEN t.id END,
        ended_at = CASE WHEN p_state = 'completed' OR q.expires_at <= p_now THEN p_now END
    WHERE q.id = t.payment_request_id AND q.transfer_id = t.id
    RETURNING q.state INTO v_state;
    UPDATE payment_requests q SET paid_count = q.paid_count + x.sign, paid_total = q.paid_total + x.sign * t.amount
    FROM (SELECT CASE WHEN p_state = 'completed' THEN 1
        WHEN p_state = 'reversed' AND t.route_reason NOT IN ('suspense', 'returned') THEN -1 ELSE 0 END AS sign) x
    WHERE q.id = t.payment_request_id AND x.sign <> 0;
    IF v_state IS NOT NULL THEN
        PERFORM publish_request(CASE v_state WHEN 'open' THEN 'reopened' ELSE v_state END, t.payment_request_id, t.id,
            t.correlation_id, t.traceparent, p_now);
    END IF;
END $$;

-- Whether the person with this name takes requests of this owner. Somebody unknown does: who they are is for
-- make_payment_request() to say.
CREATE OR REPLACE FUNCTION takes_requests_of(p_owner uuid, p_payer text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce((
        SELECT CASE u.request_policy
            WHEN 'everyone' THEN true
            WHEN 'contacts' THEN u.id = p_owner OR EXISTS (SELECT 1 FROM transfers t
                WHERE t.type = 'p2p' AND pair_of(t.sender_id, t.recipient_id) = pair_of(u.id, p_owner)
                  AND t.state = 'completed')
            ELSE u.id = p_owner END
        FROM users u WHERE u.username = p_payer), true)
$$;

-- Why somebody may not ask this person again now; null: nothing is in the way. Holds the mutex of the owner's requests,
-- so that requests at once are counted one after the other.
CREATE OR REPLACE FUNCTION asking_refusal(p_owner uuid, p_payer text, p_now timestamptz) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz;
    v_payer uuid;
BEGIN
    SELECT u.id INTO v_payer FROM users u WHERE u.username = p_payer;
    IF v_payer IS NULL THEN RETURN NULL; END IF;
    IF EXISTS (SELECT 1 FROM blocks b WHERE b.user_id = v_payer AND b.blocked_id = p_owner AND b.is_active) THEN
        RETURN 'requests_not_accepted';
    END IF;
    PERFORM 1 FROM receiving_counters c WHERE c.user_id = p_owner FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    RETURN (
        SELECT c.code FROM (
            SELECT * FROM asking_cap(p_owner, v_now)
            UNION ALL SELECT * FROM asking_one_cap(p_owner, v_payer, v_now)
            UNION ALL SELECT * FROM declined_cap(p_owner, v_payer, v_now)
        ) c WHERE c.used >= c.most LIMIT 1);
END $$;

-- A user's requests before a position, newest first: those that name the user, or the user's own, perhaps only of
-- one reference. As the caller: row level security holds.
CREATE OR REPLACE FUNCTION page_of_requests(p_user uuid, p_incoming boolean, p_reference text, p_before bigint,
    p_limit bigint)
RETURNS SETOF payment_requests LANGUAGE plpgsql STABLE SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
BEGIN
    IF p_incoming AND p_reference IS NULL THEN
        RETURN QUERY SELECT * FROM payment_requests q
        WHERE q.payer_id = p_user AND q.state <> 'cancelled' AND q.position < p_before
        ORDER BY q.position DESC LIMIT p_limit;
    ELSIF p_incoming THEN
        RETURN QUERY SELECT * FROM payment_requests q
        WHERE q.payer_id = p_user AND q.reference = p_reference AND q.state <> 'cancelled' AND q.position < p_before
        ORDER BY q.position DESC LIMIT p_limit;
    ELSIF p_reference IS NULL THEN
        RETURN QUERY SELECT * FROM payment_requests q
        WHERE q.owner_id = p_user AND q.position < p_before
        ORDER BY q.position DESC LIMIT p_limit;
    ELSE
        RETURN QUERY SELECT * FROM payment_requests q
        WHERE q.owner_id = p_user AND q.reference = p_reference AND q.position < p_before
        ORDER BY q.position DESC LIMIT p_limit;
    END IF;
END $$;

-- Whether the owner may change the image; if so, the request's row is locked.
CREATE OR REPLACE FUNCTION request_image_refusal(p_request uuid, p_user uuid, p_now timestamptz)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    q payment_requests;
BEGIN
    SELECT * INTO q FROM payment_requests x WHERE x.id = p_request AND x.owner_id = p_user FOR NO KEY UPDATE;
    RETURN CASE
        WHEN q.id IS NULL OR q.state = 'cancelled' THEN 'request_unknown'
        WHEN q.state = 'processing' THEN 'request_in_payment'
        WHEN q.state = 'fulfilled' THEN 'request_paid'
        WHEN q.state = 'expired' OR q.state = 'open' AND q.expires_at <= p_now THEN 'request_expired'
        WHEN q.state <> 'open' THEN 'request_declined' END;
END $$;

-- 'announced', or why not: bytes of an image are about to come.
CREATE OR REPLACE FUNCTION announce_request_image(p_request uuid, p_user uuid, p_key text, p_type text,
    p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now constant timestamptz := coalesce(p_now, transfa_now());
    v_refusal constant text := request_image_refusal(p_request, p_user, v_now);
BEGIN
    IF v_refusal IS NOT NULL THEN RETURN v_refusal; END IF;
    INSERT INTO request_images (key, request_id, user_id, content_type, created_at)
    VALUES (p_key, p_request, p_user, p_type, v_now);
    RETURN 'announced';
END $$;

-- Shows an image whose bytes are kept, or none. 'shown' with the one that was shown before, or why not.
CREATE OR REPLACE FUNCTION show_request_image(p_request uuid, p_user uuid, p_key text, p_now timestamptz DEFAULT NULL,
    OUT outcome text, OUT replaced text) LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    outcome := request_image_refusal(p_request, p_user, coalesce(p_now, transfa_now()));
    IF outcome IS NOT NULL THEN RETURN; END IF;
    IF p_key IS NOT NULL THEN
        UPDATE request_images i SET is_uploaded = true WHERE i.key = p_key AND i.request_id = p_request;
        IF NOT FOUND THEN
            outcome := 'request_unknown';
            RETURN;
        END IF;
    END IF;
    SELECT q.image_key INTO replaced FROM payment_requests q WHERE q.id = p_request;
    UPDATE payment_requests q SET image_key = p_key WHERE q.id = p_request;
    outcome := 'shown';
END $$;

-- What is to be done with an image: 'keep' what a request shows, 'wait' for an upload that may still come to an end,
-- 'discard'. The request is locked, so what is not shown now never will be.
CREATE OR REPLACE FUNCTION request_image_fate(p_key text, p_now timestamptz DEFAULT NULL) RETURNS text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    i request_images;
    q payment_requests;
BEGIN
    SELECT * INTO i FROM request_images x WHERE x.key = p_key;
    SELECT * INTO q FROM payment_requests x WHERE x.id = i.request_id FOR NO KEY UPDATE;
    SELECT * INTO i FROM request_images x WHERE x.key = p_key;
    RETURN CASE
        WHEN q.image_key = p_key AND q.state <> 'cancelled' THEN 'keep'
        WHEN NOT i.is_uploaded AND i.created_at > coalesce(p_now, transfa_now()) - interval '15 minutes' THEN 'wait'
        ELSE 'discard' END;
END $$;

-- An erased person's requests show no image any more. Gives all images of theirs.
CREATE OR REPLACE FUNCTION hide_request_images(p_user uuid) RETURNS SETOF text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE payment_requests q SET image_key = NULL WHERE q.owner_id = p_user AND q.image_key IS NOT NULL;
    RETURN QUERY SELECT i.key FROM request_images i WHERE i.user_id = p_user ORDER BY i.key;
END $$;
