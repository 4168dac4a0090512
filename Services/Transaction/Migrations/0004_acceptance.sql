-- Acceptance of payments, a batch per call.
--
-- accept_payments() is called by the HTTP side with verified user ids and answers every request of the batch by itself,
-- as if the requests had come one after the other. It works in four steps, each a statement (or loop) of its own:
--   1. lock the senders' balances, sorted           everything a sender owns is safe from here on
--   2. lock the recipients' counters, sorted        only those whose free slots or ceiling this batch may touch
--   3. read all facts at once, then decide one request after the other in memory
--   4. write what was decided
-- Steps 1 and 2 are not merged with step 3: a READ COMMITTED statement sees the database as it was when the statement
-- began, so one that locks and sums at once would decide from what was true before it waited for the lock.
--
-- The rules in their order; the first that applies answers:
--   sender_unknown                                  nothing is stored
--   idempotent_replay, idempotency_key_reused       answered from what is stored; requests of one batch that share
--                                                   sender, route and key are one request and share the answer
--   sender_restricted, receive_only, approval_used, device_unknown, device_revoked          403, not stored
--   amount_invalid, recipient_unknown, recipient_self, recipient_unavailable, recipient_not_ready,
--   limit_per_transfer, limit_per_day, limit_per_month, limit_new_device,
--   recipient_limit, insufficient_funds, accepted                                           stored under the key
-- From sender_restricted on the approval's nonce is burnt, whatever the answer: a refused approval must not be played
-- again when money arrives. The clock is read after the locks: waiting would date it back.

-- Answers and events -------------------------------------------------------------------------------------------------
-- Plain SQL expressions, declared no stricter than their bodies: only then are they inlined instead of called.

CREATE FUNCTION moment_text(moment timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT to_char(moment AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

CREATE FUNCTION answer_status(code text) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN code = 'accepted' THEN 202
        WHEN code IN ('sender_unknown', 'sender_restricted', 'receive_only', 'approval_used', 'device_unknown',
                      'device_revoked') THEN 403
        WHEN code = 'recipient_unknown' THEN 404
        ELSE 422 END
$$;

CREATE FUNCTION refusal_body(code text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT '{"errors":[{"status":"' || answer_status(code)::text || '","code":"' || code || '","title":"'
        || CASE code
            WHEN 'recipient_unknown' THEN 'Not Found'
            ELSE CASE answer_status(code) WHEN 403 THEN 'Forbidden' ELSE 'Unprocessable Entity' END END
        || '","detail":"'
        || CASE code
            WHEN 'sender_unknown' THEN 'This account is not set up for payments yet.'
            WHEN 'idempotency_key_reused' THEN 'This idempotency key was used for a different request.'
            WHEN 'sender_restricted' THEN 'This account may not send money at the moment.'
            WHEN 'receive_only' THEN 'This account only receives payments.'
            WHEN 'approval_used' THEN 'This approval was already used. Approve the payment again.'
            WHEN 'device_unknown' THEN 'The approving device is not registered.'
            WHEN 'device_revoked' THEN 'The approving device was removed.'
            WHEN 'amount_invalid' THEN 'The amount must be greater than zero.'
            WHEN 'recipient_unknown' THEN 'There is no user with this name.'
            WHEN 'recipient_self' THEN 'You cannot pay yourself.'
            WHEN 'recipient_unavailable' THEN 'The recipient cannot receive payments at the moment.'
            WHEN 'recipient_not_ready' THEN 'The recipient has no wallet yet.'
            WHEN 'limit_per_transfer' THEN 'The amount is above your limit for one transfer.'
            WHEN 'limit_per_day' THEN 'The amount is above what is left of your daily limit.'
            WHEN 'limit_per_month' THEN 'The amount is above what is left of your monthly limit.'
            WHEN 'limit_new_device' THEN 'The amount is above what a new device may send on its first day.'
            WHEN 'recipient_limit' THEN 'The payment would lift the recipient above their maximum balance.'
            WHEN 'insufficient_funds' THEN 'The available balance does not cover amount and fees.'
            ELSE code END
        || '"}]}'
$$;

CREATE FUNCTION accepted_body(id uuid, route text, amount bigint, fee bigint, duty bigint, recipient text, moment text)
RETURNS text LANGUAGE sql STABLE AS $$
    SELECT '{"transaction_id":"' || id || '","status":"accepted","route":"' || route || '","amount":' || amount
        || ',"fee":' || fee || ',"duty":' || duty || ',"recipient_username":' || to_json(recipient)
        || ',"created_at":"' || moment || '"}'
$$;

-- The data of every transaction event; `more` is further fields, each with its leading comma. Nothing is ever null.
CREATE FUNCTION transaction_data(id uuid, sender uuid, recipient uuid, amount bigint, type text, route text,
    reason text, fee bigint, duty bigint, more text, moment text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT '{"transaction_id":"' || id || '"'
        || coalesce(',"sender_id":"' || sender || '"', '') || coalesce(',"recipient_id":"' || recipient || '"', '')
        || ',"amount":' || amount || ',"type":"' || type || '","route":"' || route || '","route_reason":"' || reason
        || '","fee":' || fee || ',"duty":' || duty || ',"currency":"NGN"' || more || ',"timestamp":"' || moment || '"}'
$$;

CREATE FUNCTION slot_data(recipient uuid, transaction uuid, month date, used integer, moment text)
RETURNS text LANGUAGE sql STABLE AS $$
    SELECT '{"user_id":"' || recipient || '"' || coalesce(',"transaction_id":"' || transaction || '"', '')
        || ',"month":"' || to_char(month, 'YYYY-MM') || '"' || coalesce(',"used":' || used, '')
        || ',"allowance":' || free_slot_allowance() || ',"timestamp":"' || moment || '"}'
$$;

-- Recipients ---------------------------------------------------------------------------------------------------------
-- What routing asks about a recipient. `external_bar` is why money cannot go to their bank, null if it can; whether
-- they are eligible (plan or slot) is decided later. Compare the username with COLLATE "C": the result of a function
-- has lost its column's collation, and the index is of no use without.

CREATE FUNCTION recipient_facts(p_now timestamptz) RETURNS TABLE (
    user_id uuid, username text, wallet_id bigint, provider_account text, unavailable boolean, external_bar text,
    beneficiary_id uuid, counterparty_id text, plan_active boolean, maximum_balance bigint
) LANGUAGE sql STABLE AS $$
    SELECT u.id, u.username, u.wallet_id, u.provider_account,
        u.status <> 'active' OR u.credits_blocked,
        CASE WHEN u.receive_preference = 'wallet' THEN 'prefers_wallet'
             WHEN u.kyc_status <> 'approved' THEN 'not_verified'
             WHEN b.id IS NULL THEN 'no_beneficiary' END,
        b.id, b.counterparty_id,
        coalesce(u.active_until > p_now, false),
        CASE WHEN l.tier IS NULL THEN 0 ELSE l.maximum_balance END
    FROM users u
    LEFT JOIN LATERAL default_beneficiary(u.id) b ON true
    LEFT JOIN LATERAL limits_of(u.tier, p_now) l ON true
$$;

-- Acceptance ---------------------------------------------------------------------------------------------------------

CREATE FUNCTION accept_payments(
    p_ids uuid[], p_senders uuid[], p_recipients text[], p_amounts bigint[], p_descriptions text[],
    p_routes text[], p_keys text[], p_hashes bytea[], p_nonces uuid[], p_devices uuid[],
    p_created_events uuid[], p_rerouted_events uuid[], p_slot_events uuid[],
    p_correlations uuid[], p_traceparents text[],
    p_now timestamptz DEFAULT NULL                       -- tests only; otherwise the database's clock
) RETURNS TABLE (ord integer, outcome text, transaction_id uuid, route text, status integer, body text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan                 -- plans made while the tables are empty would scan them,
SET enable_seqscan = off                                 -- and stay in use as they grow
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    n           constant integer := cardinality(p_ids);
    v_now       timestamptz := coalesce(p_now, transfa_now());
    v_day       date;
    v_month     date := month_of(lagos_day(v_now));
    v_moment    text;
    v_locked    uuid[];
    i           integer;
    r           record;
    t           transactions;
    v_code      text;
    v_slots     integer;
    -- What this batch has used up so far, at the position of the first request with the same sender, nonce and so on.
    v_spent     bigint[] := array_fill(0::bigint, ARRAY[n]);
    v_held      bigint[] := array_fill(0::bigint, ARRAY[n]);
    v_on_device bigint[] := array_fill(0::bigint, ARRAY[n]);
    v_incoming  bigint[] := array_fill(0::bigint, ARRAY[n]);
    v_slots_now integer[] := array_fill(0, ARRAY[n]);
    v_burnt     boolean[] := array_fill(false, ARRAY[n]);
    v_statuses  integer[] := array_fill(0, ARRAY[n]);
    v_bodies    text[] := array_fill(''::text, ARRAY[n]);
    -- What step 4 writes.
    w_accepted  transactions[] := '{}';
    w_events    outbox[] := '{}';
    w_keys      integer[] := '{}';
    w_nonces    integer[] := '{}';
    e           outbox;
BEGIN
    IF n = 0 THEN RETURN; END IF;

    -- Step 1: the senders.
    PERFORM 1 FROM users u JOIN balances b ON b.account_id = u.wallet_id
    WHERE u.id = ANY (p_senders) ORDER BY b.account_id FOR NO KEY UPDATE OF b;

    -- Step 2: the recipients that may take a free slot, and those whose wallet has a ceiling and may get the money.
    -- Paid recipients, and popular ones whose slots have gone and who have no ceiling, are only read: nobody waits
    -- for them.
    SELECT array_agg(x.user_id) INTO v_locked FROM (
        SELECT f.user_id FROM recipient_facts(v_now) f JOIN receiving_counters c ON c.user_id = f.user_id
        WHERE f.username COLLATE "C" = ANY (p_recipients)
          AND (f.maximum_balance IS NOT NULL AND (f.external_bar IS NOT NULL OR NOT f.plan_active)
               OR f.external_bar IS NULL AND NOT f.plan_active
                  AND (c.month < v_month OR c.slots_used + c.slots_adjusted < free_slot_allowance()))
        ORDER BY c.user_id FOR NO KEY UPDATE OF c
    ) x;

    v_now := coalesce(p_now, transfa_now());
    v_day := lagos_day(v_now);
    v_month := month_of(v_day);
    v_moment := moment_text(v_now);

    -- Step 3: facts and decisions.
    FOR r IN
        SELECT q.*,
            s.id AS known_sender, s.wallet_id, s.provider_account AS source_account, s.sending_allowed,
            b.posted - b.held AS available,
            s.status <> 'active' OR s.debits_blocked OR b.debits_blocked AS restricted,
            coalesce(k.request_hash, o.request_hash) AS stored_hash, k.status AS stored_status, k.body AS stored_body,
            o.id AS old_id, o.route AS old_route, o.amount AS old_amount, o.fee AS old_fee, o.duty AS old_duty,
            o.recipient_username AS old_recipient, o.created_at AS old_created_at,
            an.nonce IS NOT NULL AS nonce_used,
            d.id AS known_device, d.revoked_at, min(q.ord) OVER (PARTITION BY d.id) AS at_device,
            CASE WHEN d.activated_at > v_now - dc.lasting THEN dc.cap - d.first_day_total END AS device_left,
            least(coalesce(l.per_transfer, 0), ul.per_transfer) AS per_transfer,
            least(coalesce(l.per_day, 0), ul.per_day)
                - CASE WHEN sp.day < v_day THEN 0 ELSE sp.day_total END AS day_left,
            least(coalesce(l.per_month, 0), ul.per_month)
                - CASE WHEN sp.month < v_month THEN 0 ELSE sp.month_total END AS month_left,
            greatest(sp.day, v_day) AS spent_day, greatest(sp.month, v_month) AS spent_month,
            f.user_id AS recipient_id, f.wallet_id AS recipient_wallet, f.provider_account AS recipient_account,
            f.unavailable, f.external_bar, f.beneficiary_id, f.counterparty_id, f.plan_active, f.maximum_balance,
            f.user_id = ANY (v_locked) AS recipient_locked,
            greatest(c.month, v_month) AS slot_month, c.event_sequence,
            CASE WHEN c.month < v_month THEN 0 ELSE c.slots_used + c.slots_adjusted END AS slots_used,
            rb.posted + c.incoming AS recipient_total,
            coalesce(fe.fee, 0) AS external_fee, coalesce(fe.duty, 0) AS external_duty,
            coalesce(fi.fee, 0) AS internal_fee, coalesce(fi.duty, 0) AS internal_duty
        FROM (
            SELECT x.*,
                min(x.ord) OVER (PARTITION BY x.sender_id) AS at_sender,
                min(x.ord) OVER (PARTITION BY x.sender_id, x.api_route, x.key) AS at_key,
                min(x.ord) OVER (PARTITION BY x.sender_id, x.nonce) AS at_nonce,
                min(x.ord) OVER (PARTITION BY x.recipient) AS at_recipient
            FROM unnest(p_ids, p_senders, p_recipients, p_amounts, p_routes, p_keys, p_hashes, p_nonces, p_devices)
                 WITH ORDINALITY AS x(id, sender_id, recipient, amount, api_route, key, hash, nonce, device_id, ord)
        ) q
        LEFT JOIN users s ON s.id = q.sender_id
        LEFT JOIN balances b ON b.account_id = s.wallet_id
        LEFT JOIN spending_counters sp ON sp.user_id = s.id
        LEFT JOIN user_limits ul ON ul.user_id = s.id
        LEFT JOIN LATERAL limits_of(s.tier, v_now) l ON true
        LEFT JOIN LATERAL device_to_cap(q.sender_id, q.device_id) d ON true
        LEFT JOIN LATERAL (SELECT * FROM device_caps x WHERE x.valid_from <= v_now
            ORDER BY x.valid_from DESC LIMIT 1) dc ON true
        -- LATERAL with LIMIT keeps every column an index condition; plain joins were planned with the user alone and
        -- read the user's whole history for each request.
        LEFT JOIN LATERAL (SELECT * FROM idempotency_keys x
            WHERE x.user_id = q.sender_id AND x.route = q.api_route AND x.key = q.key LIMIT 1) k ON true
        LEFT JOIN LATERAL (SELECT * FROM transactions x
            WHERE x.request_key = request_key(q.sender_id, q.api_route, q.key)) o ON true
        LEFT JOIN LATERAL (SELECT * FROM approval_nonces x
            WHERE x.user_id = q.sender_id AND x.nonce = q.nonce LIMIT 1) an ON true
        LEFT JOIN recipient_facts(v_now) f ON f.username COLLATE "C" = q.recipient
        LEFT JOIN receiving_counters c ON c.user_id = f.user_id
        LEFT JOIN balances rb ON rb.account_id = f.wallet_id
        LEFT JOIN LATERAL fee_for('p2p', 'external', q.amount, v_now) fe ON true
        LEFT JOIN LATERAL fee_for('p2p', 'internal', q.amount, v_now) fi ON true
        ORDER BY q.ord
    LOOP
        i := r.ord;
        t := NULL;

        -- Who asks, and is it the first time?
        IF r.known_sender IS NULL THEN
            v_code := 'sender_unknown';
        ELSIF coalesce(r.stored_hash, p_hashes[r.at_key]) <> r.hash THEN
            v_code := 'idempotency_key_reused';
        ELSIF r.stored_hash IS NOT NULL OR r.at_key < i THEN
            v_code := 'idempotent_replay';

        -- May they?
        ELSIF r.restricted THEN
            v_code := 'sender_restricted';
        ELSIF NOT r.sending_allowed THEN
            v_code := 'receive_only';
        ELSIF r.nonce_used OR v_burnt[r.at_nonce] THEN
            v_code := 'approval_used';
        ELSIF r.device_id IS NOT NULL AND r.known_device IS NULL THEN
            v_code := 'device_unknown';
        ELSIF r.revoked_at IS NOT NULL THEN
            v_code := 'device_revoked';

        -- Does the payment make sense, and does it keep to the sender's limits?
        ELSIF r.amount <= 0 THEN
            v_code := 'amount_invalid';
        ELSIF r.recipient_id IS NULL THEN
            v_code := 'recipient_unknown';
        ELSIF r.recipient_id = r.sender_id THEN
            v_code := 'recipient_self';
        ELSIF r.unavailable THEN
            v_code := 'recipient_unavailable';
        ELSIF r.recipient_account IS NULL THEN
            v_code := 'recipient_not_ready';
        ELSIF r.amount > r.per_transfer THEN
            v_code := 'limit_per_transfer';
        ELSIF r.amount > r.day_left - v_spent[r.at_sender] THEN
            v_code := 'limit_per_day';
        ELSIF r.amount > r.month_left - v_spent[r.at_sender] THEN
            v_code := 'limit_per_month';
        ELSIF r.amount > r.device_left - v_on_device[r.at_device] THEN
            v_code := 'limit_new_device';
        ELSE
            -- Which way would it go, and what does that cost?
            v_slots := r.slots_used + v_slots_now[r.at_recipient];
            t.route_reason := CASE
                WHEN r.external_bar IS NOT NULL THEN r.external_bar
                WHEN r.plan_active THEN 'plan'
                WHEN r.recipient_locked AND v_slots < free_slot_allowance() THEN 'free_slot'
                ELSE 'no_slot' END;
            IF t.route_reason IN ('plan', 'free_slot') THEN
                t.route := 'external'; t.fee := r.external_fee; t.duty := r.external_duty;
            ELSE
                t.route := 'internal'; t.fee := r.internal_fee; t.duty := r.internal_duty;
            END IF;
            t.incoming_counted := t.route = 'internal' AND r.maximum_balance IS NOT NULL;

            -- The read model changed between steps 2 and 3. The caller repeats the batch.
            IF t.incoming_counted AND r.recipient_locked IS NOT TRUE THEN
                RAISE EXCEPTION 'a recipient changed while its counters were locked'
                    USING ERRCODE = 'serialization_failure';
            END IF;

            IF t.incoming_counted
               AND r.amount > r.maximum_balance - r.recipient_total - v_incoming[r.at_recipient] THEN
                v_code := 'recipient_limit';
            ELSIF r.amount + t.fee + t.duty > r.available - v_held[r.at_sender] THEN
                v_code := 'insufficient_funds';
            ELSE
                v_code := 'accepted';
            END IF;
        END IF;

        -- The nonce goes with every decision.
        IF v_code NOT IN ('sender_unknown', 'idempotency_key_reused', 'idempotent_replay') THEN
            IF NOT r.nonce_used AND NOT v_burnt[r.at_nonce] THEN w_nonces := w_nonces || i; END IF;
            v_burnt[r.at_nonce] := true;
        END IF;

        IF v_code = 'accepted' THEN
            v_spent[r.at_sender] := v_spent[r.at_sender] + r.amount;
            v_held[r.at_sender] := v_held[r.at_sender] + r.amount + t.fee + t.duty;
            IF t.incoming_counted THEN v_incoming[r.at_recipient] := v_incoming[r.at_recipient] + r.amount; END IF;

            t.id := r.id;
            t.reference := 'trf-' || r.id;
            t.type := 'p2p';
            t.state := 'accepted';
            t.sequence := 1;
            t.steps := 1;
            t.sender_id := r.sender_id;
            t.recipient_id := r.recipient_id;
            t.recipient_username := r.recipient;
            t.debit_account := r.wallet_id;
            t.amount := r.amount;
            t.route_inputs := '{"plan_active":' || r.plan_active || ',"slots_used":' || v_slots
                || ',"external":' || (r.external_bar IS NULL) || '}';
            t.source_account := r.source_account;
            t.spent_day := r.spent_day;
            t.spent_month := r.spent_month;
            t.device_id := r.device_id;
            IF r.device_left IS NOT NULL THEN
                t.capped_device_id := r.known_device;
                v_on_device[r.at_device] := v_on_device[r.at_device] + r.amount;
            END IF;
            t.description := p_descriptions[i];
            t.api_route := r.api_route;
            t.idempotency_key := r.key;
            t.request_key := request_key(r.sender_id, r.api_route, r.key);
            t.request_hash := r.hash;
            t.correlation_id := p_correlations[i];
            t.traceparent := p_traceparents[i];
            t.created_at := v_now;
            IF t.route = 'external' THEN
                t.credit_account := system_account('provider_clearing', r.id);
                t.beneficiary_id := r.beneficiary_id;
                t.destination := r.counterparty_id;
            ELSE
                t.credit_account := r.recipient_wallet;
                t.destination := r.recipient_account;
            END IF;

            e.id := p_created_events[i];
            e.type := 'transaction.created';
            e.subject := r.id;
            e.sequence := 1;
            e.correlation_id := t.correlation_id;
            e.traceparent := t.traceparent;
            e.data := transaction_data(r.id, r.sender_id, r.recipient_id, r.amount, 'p2p', t.route, t.route_reason,
                t.fee, t.duty, '', v_moment);
            w_events := w_events || e;
            IF t.route_reason = 'free_slot' THEN
                v_slots_now[r.at_recipient] := v_slots_now[r.at_recipient] + 1;
                t.slot_month := r.slot_month;
                e.id := p_slot_events[i];
                e.type := 'external_slot.taken';
                e.subject := r.recipient_id;
                e.sequence := r.event_sequence + v_slots_now[r.at_recipient];
                e.data := slot_data(r.recipient_id, r.id, r.slot_month, v_slots + 1, v_moment);
                w_events := w_events || e;
            ELSIF t.route_reason = 'no_slot' THEN
                t.sequence := 2;
                e.id := p_rerouted_events[i];
                e.type := 'transfer.rerouted.internal';
                e.sequence := 2;
                e.data := transaction_data(r.id, r.sender_id, r.recipient_id, r.amount, 'p2p', t.route, t.route_reason,
                    t.fee, t.duty, ',"reason":"no_slot"', v_moment);
                w_events := w_events || e;
            END IF;
            w_accepted := w_accepted || t;
            v_statuses[i] := 202;
            v_bodies[i] := accepted_body(r.id, t.route, r.amount, t.fee, t.duty, r.recipient, v_moment);
        ELSIF v_code = 'idempotent_replay' THEN
            v_statuses[i] := coalesce(r.stored_status,
                CASE WHEN r.old_id IS NOT NULL THEN 202 ELSE v_statuses[r.at_key] END);
            v_bodies[i] := coalesce(r.stored_body,
                accepted_body(r.old_id, r.old_route, r.old_amount, r.old_fee, r.old_duty, r.old_recipient,
                    moment_text(r.old_created_at)),
                v_bodies[r.at_key]);
        ELSE
            v_statuses[i] := answer_status(v_code);
            v_bodies[i] := refusal_body(v_code);
        END IF;

        IF v_statuses[i] <> 403 AND v_code NOT IN ('idempotency_key_reused', 'idempotent_replay') THEN
            w_keys := w_keys || i;
        END IF;
        ord := i;
        outcome := v_code;
        transaction_id := t.id;
        route := CASE WHEN v_code = 'accepted' THEN t.route END;
        status := v_statuses[i];
        body := v_bodies[i];
        RETURN NEXT;
    END LOOP;

    -- Step 4: write, one statement whatever the number of payments.
    IF w_nonces = '{}' AND w_keys = '{}' THEN RETURN; END IF;
    WITH fresh AS MATERIALIZED (SELECT * FROM unnest(w_accepted)),
    write_keys AS (
        INSERT INTO idempotency_keys (user_id, route, key, request_hash, status, body, created_at)
        SELECT p_senders[o], p_routes[o], p_keys[o], p_hashes[o], v_statuses[o], v_bodies[o], v_now
        FROM unnest(w_keys) AS o
    ),
    write_nonces AS (
        INSERT INTO approval_nonces (user_id, nonce, used_at)
        SELECT p_senders[o], p_nonces[o], v_now FROM unnest(w_nonces) AS o
    ),
    write_transactions AS (INSERT INTO transactions SELECT * FROM fresh),
    write_history AS (
        INSERT INTO transaction_events (transaction_id, step, state, actor, happened_at)
        SELECT f.id, 1, 'accepted', 'sender', v_now FROM fresh f
    ),
    write_holds AS (
        INSERT INTO holds (transaction_id, account_id, amount)
        SELECT f.id, f.debit_account, f.amount + f.fee + f.duty FROM fresh f
    ),
    write_balances AS (
        UPDATE balances b SET held = b.held + x.total
        FROM (SELECT f.debit_account, sum(f.amount + f.fee + f.duty)::bigint AS total FROM fresh f GROUP BY 1) x
        WHERE b.account_id = x.debit_account
    ),
    write_spending AS (
        UPDATE spending_counters s SET
            day = x.day, day_total = CASE WHEN s.day < x.day THEN 0 ELSE s.day_total END + x.total,
            month = x.month, month_total = CASE WHEN s.month < x.month THEN 0 ELSE s.month_total END + x.total
        FROM (SELECT f.sender_id, f.spent_day AS day, f.spent_month AS month, sum(f.amount)::bigint AS total
              FROM fresh f GROUP BY 1, 2, 3) x
        WHERE s.user_id = x.sender_id
    ),
    write_devices AS (
        UPDATE devices d SET first_day_total = d.first_day_total + x.total
        FROM (SELECT f.capped_device_id, sum(f.amount)::bigint AS total FROM fresh f
              WHERE f.capped_device_id IS NOT NULL GROUP BY 1) x
        WHERE d.id = x.capped_device_id
    ),
    write_receiving AS (
        UPDATE receiving_counters c SET
            month = coalesce(x.month, c.month),
            slots_used = CASE WHEN c.month < x.month THEN 0 ELSE c.slots_used END + x.slots,
            slots_adjusted = CASE WHEN c.month < x.month THEN 0 ELSE c.slots_adjusted END,
            event_sequence = c.event_sequence + x.slots,
            incoming = c.incoming + x.incoming
        FROM (SELECT f.recipient_id, max(f.slot_month) AS month, count(f.slot_month)::integer AS slots,
                  coalesce(sum(f.amount) FILTER (WHERE f.incoming_counted), 0)::bigint AS incoming
              FROM fresh f WHERE f.slot_month IS NOT NULL OR f.incoming_counted GROUP BY 1) x
        WHERE c.user_id = x.recipient_id
    ),
    write_outbox AS (
        INSERT INTO outbox (day, id, type, subject, sequence, correlation_id, traceparent, time, data)
        SELECT uuid_v7_day(e.id), e.id, e.type, e.subject, e.sequence, e.correlation_id, e.traceparent, v_now, e.data
        FROM unnest(w_events) e
    )
    INSERT INTO jobs (id, kind, key, subject, payload, due_at, correlation_id, traceparent, created_at)
    SELECT f.id, 'submit_transfer', f.id, f.id, '{"transaction_id":"' || f.id || '"}', v_now,
        f.correlation_id, f.traceparent, v_now
    FROM fresh f;
END $$;

-- Around acceptance --------------------------------------------------------------------------------------------------

-- The answer that a key already has. Answers are kept thirty days; a transaction answers for its key for ever.
CREATE FUNCTION stored_answer(p_user uuid, p_route text, p_key text)
RETURNS TABLE (request_hash bytea, status integer, body text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    (SELECT k.request_hash, k.status::integer, k.body FROM idempotency_keys k
     WHERE k.user_id = p_user AND k.route = p_route AND k.key = p_key)
    UNION ALL
    (SELECT t.request_hash, 202, accepted_body(t.id, t.route, t.amount, t.fee, t.duty, t.recipient_username,
        moment_text(t.created_at))
     FROM transactions t WHERE t.request_key = request_key(p_user, p_route, p_key))
    LIMIT 1
$$;

CREATE FUNCTION find_recipient(p_username text)
RETURNS TABLE (user_id uuid, username text, account_type text, ready boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT u.id, u.username, u.account_type,
        u.status = 'active' AND NOT u.credits_blocked AND u.provider_account IS NOT NULL
    FROM users u WHERE u.username = p_username
$$;

-- What a payment would cost and which way it would go, if it were accepted now. A forecast: nothing is reserved.
CREATE FUNCTION quote_payment(p_sender uuid, p_recipient text, p_amount bigint, p_now timestamptz DEFAULT NULL)
RETURNS TABLE (route text, route_reason text, fee bigint, duty bigint)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH moment AS MATERIALIZED (SELECT coalesce(p_now, transfa_now()) AS at),
    way AS (
        SELECT m.at, CASE
            WHEN f.external_bar IS NOT NULL THEN f.external_bar
            WHEN f.plan_active THEN 'plan'
            WHEN c.month < month_of(lagos_day(m.at)) OR c.slots_used + c.slots_adjusted < free_slot_allowance()
                THEN 'free_slot'
            ELSE 'no_slot' END AS reason
        FROM moment m CROSS JOIN LATERAL recipient_facts(m.at) f JOIN receiving_counters c ON c.user_id = f.user_id
        WHERE f.username COLLATE "C" = p_recipient AND f.user_id <> p_sender
    ),
    routed AS (
        SELECT w.*, CASE WHEN w.reason IN ('plan', 'free_slot') THEN 'external' ELSE 'internal' END AS route FROM way w
    )
    SELECT w.route, w.reason, coalesce(x.fee, 0), coalesce(x.duty, 0)
    FROM routed w LEFT JOIN LATERAL fee_for('p2p', w.route, p_amount, w.at) x ON true
$$;

-- Old answers and nonces. An approval lives two minutes, so nonces may go after a day.
CREATE FUNCTION prune_acceptance(p_keys_before timestamptz, p_nonces_before timestamptz, p_limit integer)
RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_keys integer;
    v_nonces integer;
BEGIN
    DELETE FROM idempotency_keys k WHERE k.ctid IN (
        SELECT x.ctid FROM idempotency_keys x WHERE x.created_at < p_keys_before LIMIT p_limit FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS v_keys = ROW_COUNT;
    DELETE FROM approval_nonces a WHERE a.ctid IN (
        SELECT x.ctid FROM approval_nonces x WHERE x.used_at < p_nonces_before LIMIT p_limit FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS v_nonces = ROW_COUNT;
    RETURN v_keys + v_nonces;
END $$;
