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

-- A digest, and not an index over three columns: beside transactions_sent the planner would take either of the two, and
-- then read a sender's whole history to find one key.
CREATE OR REPLACE FUNCTION request_key(sender uuid, api_route text, key text) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256(convert_to(sender || E'\n' || api_route || E'\n' || key, 'UTF8'))
$$;

CREATE OR REPLACE FUNCTION accept_payments(
    p_ids uuid[], p_senders uuid[], p_recipients text[], p_amounts bigint[], p_descriptions text[],
    p_routes text[], p_keys text[], p_hashes bytea[], p_nonces uuid[], p_devices uuid[],
    p_created_events uuid[], p_rerouted_events uuid[], p_slot_events uuid[],
    p_correlations uuid[], p_traceparents text[],
    p_types text[],                                      -- p2p, self_transfer, money_drop
    p_targets uuid[],                                    -- the payment request or null, the beneficiary, the new drop
    p_details text[],                                    -- of a drop, as JSON: see money_drop_of()
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
    d           money_drops;
    v_code      text;
    v_slots     integer;
    -- What this batch has used up so far, at the position of the first request with the same sender, nonce and so on.
    v_spent     bigint[] := array_fill(0::bigint, ARRAY[n]);
    v_held      bigint[] := array_fill(0::bigint, ARRAY[n]);
    v_on_device bigint[] := array_fill(0::bigint, ARRAY[n]);
    v_incoming  bigint[] := array_fill(0::bigint, ARRAY[n]);
    v_slots_now integer[] := array_fill(0, ARRAY[n]);
    v_burnt     boolean[] := array_fill(false, ARRAY[n]);
    v_requested boolean[] := array_fill(false, ARRAY[n]);
    v_young     bigint[] := array_fill(0::bigint, ARRAY[n]);
    v_pays_requests boolean := false;
    v_statuses  integer[] := array_fill(0, ARRAY[n]);
    v_bodies    text[] := array_fill(''::text, ARRAY[n]);
    -- What step 4 writes.
    w_accepted  transactions[] := '{}';
    w_drops     money_drops[] := '{}';
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

    -- The requests that are to be paid: one payer each, whoever comes first.
    IF array_remove(p_targets, NULL) <> '{}' THEN
        PERFORM 1 FROM payment_requests x WHERE x.id = ANY (p_targets) ORDER BY x.id FOR NO KEY UPDATE;
    END IF;

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
            o.id AS old_id,
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
            f.unavailable OR EXISTS (SELECT 1 FROM blocks y WHERE y.user_id = f.user_id AND y.blocked_id = q.sender_id
                AND y.is_active) AS unavailable, f.external_bar, f.beneficiary_id, f.counterparty_id, f.plan_active, f.maximum_balance,
            f.user_id = ANY (v_locked) AS recipient_locked,
            greatest(c.month, v_month) AS slot_month, c.event_sequence,
            CASE WHEN c.month < v_month THEN 0 ELSE c.slots_used + c.slots_adjusted END AS slots_used,
            rb.posted + c.incoming AS recipient_total,
            coalesce(fe.fee, 0) AS external_fee, coalesce(fe.duty, 0) AS external_duty,
            coalesce(fi.fee, 0) AS internal_fee, coalesce(fi.duty, 0) AS internal_duty,
            own.id AS own_bank, own.verified AND own.deleted_at IS NULL AND own.counterparty_id IS NOT NULL AS own_verified,
            own.counterparty_id AS own_counterparty,
            CASE WHEN own.added_at > v_now - bc.lasting THEN bc.cap - sent_to_new_accounts(q.sender_id, v_now - bc.lasting) END AS own_left,
            NOT own.is_default AND NOT coalesce(s.active_until > v_now, false) AS own_idle,
            pr.id AS request_id, pr.owner_id AS request_owner, pr.payer_id AS request_payer, pr.state AS request_state,
            pr.amount AS request_amount, pr.multiple AS request_multiple, pr.expires_at AS request_expires_at,
            (q.details::jsonb->>'expires_at')::timestamptz AS drop_expires_at,
            (q.details::jsonb->'quote'->>'expires_at')::timestamptz AS quote_expires_at,
            (q.details::jsonb->'quote'->>'cost')::bigint AS quote_cost
        FROM (
            SELECT x.*,
                min(x.ord) OVER (PARTITION BY x.sender_id) AS at_sender,
                min(x.ord) OVER (PARTITION BY x.sender_id, x.api_route, x.key) AS at_key,
                min(x.ord) OVER (PARTITION BY x.sender_id, x.nonce) AS at_nonce,
                min(x.ord) OVER (PARTITION BY x.recipient) AS at_recipient,
                min(x.ord) OVER (PARTITION BY x.target) AS at_target
            FROM unnest(p_ids, p_senders, p_recipients, p_amounts, p_routes, p_keys, p_hashes, p_nonces, p_devices,
                     p_types, p_targets, p_details)
                 WITH ORDINALITY AS x(id, sender_id, recipient, amount, api_route, key, hash, nonce, device_id,
                     type, target, details, ord)
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
        LEFT JOIN LATERAL fee_for(q.type, 'external', q.amount, v_now) fe ON true
        LEFT JOIN LATERAL fee_for(q.type, 'internal', q.amount, v_now) fi ON true
        LEFT JOIN LATERAL (SELECT * FROM beneficiaries x
            WHERE x.id = q.target AND x.user_id = q.sender_id AND q.type = 'self_transfer') own ON true
        LEFT JOIN LATERAL (SELECT * FROM payment_requests x WHERE x.id = q.target AND q.type = 'p2p') pr ON true
        LEFT JOIN LATERAL (SELECT * FROM beneficiary_caps x WHERE q.type = 'self_transfer' AND x.valid_from <= v_now
            ORDER BY x.valid_from DESC LIMIT 1) bc ON true
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
        ELSIF recovery_is_open() THEN
            v_code := 'recovering';
        ELSIF r.restricted THEN
            v_code := 'sender_restricted';
        ELSIF NOT r.sending_allowed AND r.type <> 'self_transfer' THEN
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
        ELSIF r.type = 'p2p' AND r.recipient_id IS NULL THEN
            v_code := 'recipient_unknown';
        ELSIF r.recipient_id = r.sender_id THEN
            v_code := 'recipient_self';
        ELSIF r.unavailable THEN
            v_code := 'recipient_unavailable';
        ELSIF r.type = 'p2p' AND r.recipient_account IS NULL THEN
            v_code := 'recipient_not_ready';

        -- Is there still something to pay, an account to withdraw to, a time to claim in?
        ELSIF r.type = 'p2p' AND r.target IS NOT NULL
              AND (r.request_id IS NULL OR r.request_payer <> r.sender_id OR r.request_state = 'cancelled') THEN
            v_code := 'request_unknown';
        ELSIF r.request_owner <> r.recipient_id THEN
            v_code := 'request_mismatch';
        ELSIF r.request_state = 'processing' OR r.request_id IS NOT NULL AND NOT r.request_multiple AND v_requested[r.at_target] THEN
            v_code := 'request_in_payment';
        ELSIF r.request_state = 'fulfilled' THEN
            v_code := 'request_paid';
        ELSIF r.request_state = 'expired' OR r.request_state = 'open' AND r.request_expires_at <= v_now THEN
            v_code := 'request_expired';
        ELSIF r.request_state <> 'open' THEN
            v_code := 'request_declined';
        ELSIF r.request_amount <> r.amount THEN
            v_code := 'request_amount';
        ELSIF r.type = 'self_transfer' AND r.own_bank IS NULL THEN
            v_code := 'beneficiary_unknown';
        ELSIF r.type = 'self_transfer' AND NOT r.own_verified THEN
            v_code := 'beneficiary_not_verified';
        ELSIF r.own_idle THEN
            v_code := 'beneficiary_not_in_plan';
        ELSIF r.drop_expires_at <= v_now OR r.drop_expires_at > v_now + interval '31 days' THEN
            v_code := 'expiry_invalid';
        ELSIF r.quote_expires_at <= v_now THEN
            v_code := 'quote_expired';
        ELSIF r.amount > r.per_transfer THEN
            v_code := 'limit_per_transfer';
        ELSIF r.amount > r.day_left - v_spent[r.at_sender] THEN
            v_code := 'limit_per_day';
        ELSIF r.amount > r.month_left - v_spent[r.at_sender] THEN
            v_code := 'limit_per_month';
        ELSIF r.amount > r.device_left - v_on_device[r.at_device] THEN
            v_code := 'limit_new_device';
        ELSIF r.amount > r.own_left - v_young[r.at_sender] THEN
            v_code := 'limit_new_beneficiary';
        ELSE
            -- Which way would it go, and what does that cost?
            v_slots := r.slots_used + v_slots_now[r.at_recipient];
            t.route_reason := CASE
                WHEN r.type <> 'p2p' THEN r.type
                WHEN r.external_bar IS NOT NULL THEN r.external_bar
                WHEN r.plan_active THEN 'plan'
                WHEN r.recipient_locked AND v_slots < free_slot_allowance() THEN 'free_slot'
                ELSE 'no_slot' END;
            IF t.route_reason IN ('plan', 'free_slot', 'self_transfer') THEN
                t.route := 'external'; t.fee := r.external_fee; t.duty := r.external_duty;
            ELSE
                t.route := 'internal'; t.fee := r.internal_fee; t.duty := r.internal_duty;
            END IF;
            t.incoming_counted := r.type = 'p2p' AND t.route = 'internal' AND r.maximum_balance IS NOT NULL;

            -- The read model changed between steps 2 and 3. The caller repeats the batch.
            IF t.incoming_counted AND r.recipient_locked IS NOT TRUE THEN
                RAISE EXCEPTION 'a recipient changed while its counters were locked'
                    USING ERRCODE = 'serialization_failure';
            END IF;

            IF t.incoming_counted
               AND r.amount > r.maximum_balance - r.recipient_total - v_incoming[r.at_recipient] THEN
                v_code := 'recipient_limit';
            ELSIF t.fee + t.duty > r.quote_cost THEN
                v_code := 'quote_changed';
            ELSIF r.amount + t.fee + t.duty > r.available - v_held[r.at_sender] THEN
                v_code := 'insufficient_funds';
            ELSE
                v_code := 'accepted';
            END IF;
        END IF;

        -- The nonce goes with every decision.
        IF v_code NOT IN ('recovering', 'sender_unknown', 'idempotency_key_reused', 'idempotent_replay') THEN
            IF NOT r.nonce_used AND NOT v_burnt[r.at_nonce] THEN w_nonces := w_nonces || i; END IF;
            v_burnt[r.at_nonce] := true;
        END IF;

        IF v_code = 'accepted' THEN
            v_spent[r.at_sender] := v_spent[r.at_sender] + r.amount;
            v_held[r.at_sender] := v_held[r.at_sender] + r.amount + t.fee + t.duty;
            IF t.incoming_counted THEN v_incoming[r.at_recipient] := v_incoming[r.at_recipient] + r.amount; END IF;

            t.id := r.id;
            t.reference := 'trf-' || r.id;
            t.type := r.type;
            t.state := 'accepted';
            t.sequence := 1;
            t.steps := 1;
            t.sender_id := r.sender_id;
            t.recipient_id := r.recipient_id;
            t.recipient_username := r.recipient;
            t.debit_account := r.wallet_id;
            t.amount := r.amount;
            t.route_inputs := coalesce('{"plan_active":' || r.plan_active || ',"slots_used":' || v_slots
                || ',"external":' || (r.external_bar IS NULL) || '}', '{}');
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
            IF r.type = 'self_transfer' THEN
                IF r.own_left IS NOT NULL THEN v_young[r.at_sender] := v_young[r.at_sender] + r.amount; END IF;
                t.credit_account := system_account('provider_clearing', r.id);
                t.beneficiary_id := r.own_bank;
                t.destination := r.own_counterparty;
            ELSIF r.type = 'money_drop' THEN
                d := money_drop_of(r.target, r.sender_id, r.id, r.details::jsonb, p_descriptions[i], v_now);
                IF d.amount_per_claim * d.slots <> r.amount THEN
                    RAISE EXCEPTION 'a drop is not the sum of its slots' USING ERRCODE = 'check_violation';
                END IF;
                w_drops := w_drops || d;
                t.description := NULL;
                t.parent_id := d.id;
                t.credit_account := d.pool_id;
                t.destination := d.pool_account;
            ELSIF t.route = 'external' THEN
                t.credit_account := system_account('provider_clearing', r.id);
                t.beneficiary_id := r.beneficiary_id;
                t.destination := r.counterparty_id;
            ELSE
                t.credit_account := r.recipient_wallet;
                t.destination := r.recipient_account;
            END IF;

            t.payment_request_id := r.request_id;
            IF r.request_id IS NOT NULL THEN
                v_requested[r.at_target] := true;
                v_pays_requests := true;
            END IF;

            e.id := p_created_events[i];
            e.type := 'transaction.created';
            e.subject := r.id;
            e.sequence := 1;
            e.correlation_id := t.correlation_id;
            e.traceparent := t.traceparent;
            e.data := transaction_data(r.id, r.sender_id, r.recipient_id, r.amount, t.type, t.route, t.route_reason,
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
            v_bodies[i] := CASE WHEN r.type = 'p2p'
                THEN accepted_body(r.id, t.route, r.amount, t.fee, t.duty, r.recipient, v_moment)
                ELSE order_body(t, d) END;
        ELSIF v_code = 'idempotent_replay' THEN
            v_statuses[i] := coalesce(r.stored_status,
                CASE WHEN r.old_id IS NOT NULL THEN 202 ELSE v_statuses[r.at_key] END);
            v_bodies[i] := coalesce(r.stored_body,
                (SELECT order_body(x, m) FROM transactions x LEFT JOIN money_drops m ON m.funding_id = x.id
                 WHERE x.id = r.old_id),
                v_bodies[r.at_key]);
        ELSE
            v_statuses[i] := answer_status(v_code);
            v_bodies[i] := refusal_body(v_code);
        END IF;

        IF v_statuses[i] NOT IN (403, 503) AND v_code NOT IN ('idempotency_key_reused', 'idempotent_replay') THEN
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
    IF w_drops <> '{}' THEN PERFORM write_drops(w_drops); END IF;
    IF v_pays_requests THEN
        UPDATE payment_requests q SET state = 'processing', transaction_id = f.id
        FROM unnest(w_accepted) f WHERE q.id = f.payment_request_id AND NOT q.multiple;
    END IF;
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

CREATE OR REPLACE FUNCTION stored_answer(p_user uuid, p_route text, p_key text)
RETURNS TABLE (request_hash bytea, status integer, body text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    (SELECT k.request_hash, k.status::integer, k.body FROM idempotency_keys k
     WHERE k.user_id = p_user AND k.route = p_route AND k.key = p_key)
    UNION ALL
    (SELECT t.request_hash, 202, order_body(t, d)
     FROM transactions t LEFT JOIN money_drops d ON d.funding_id = t.id
     WHERE t.request_key = request_key(p_user, p_route, p_key))
    LIMIT 1
$$;

CREATE OR REPLACE FUNCTION accepted_body(id uuid, route text, amount bigint, fee bigint, duty bigint, recipient text,
    moment text)
RETURNS text LANGUAGE sql STABLE AS $$
    SELECT '{"transaction_id":"' || id || '","status":"accepted","route":"' || route || '","amount":' || amount
        || ',"fee":' || fee || ',"duty":' || duty || ',"recipient_username":' || to_json(recipient)
        || ',"created_at":"' || moment || '"}'
$$;

-- The answer to an accepted order; `d` is null unless it is a drop.
CREATE OR REPLACE FUNCTION order_body(t transactions, d money_drops) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF t.type = 'p2p' THEN
        RETURN accepted_body(t.id, t.route, t.amount, t.fee, t.duty, t.recipient_username, moment_text(t.created_at));
    END IF;
    RETURN '{"transaction_id":"' || t.id || '","status":"accepted","route":"' || t.route || '","amount":' || t.amount
        || ',"fee":' || t.fee || ',"duty":' || t.duty
        || CASE t.type
            WHEN 'self_transfer' THEN ',"beneficiary_id":"' || t.beneficiary_id || '"'
            ELSE ',"money_drop_id":"' || d.id || '","amount_per_claim":' || d.amount_per_claim || ',"slots":' || d.slots
                || ',"password_required":' || (d.password_hash IS NOT NULL)
                || ',"expires_at":"' || moment_text(d.expires_at) || '","link":' || to_json(d.link) END
        || ',"created_at":"' || moment_text(t.created_at) || '"}';
END $$;

CREATE OR REPLACE FUNCTION refusal_body(code text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT '{"errors":[{"status":"' || answer_status(code)::text || '","code":"' || code || '","title":"'
        || CASE answer_status(code) WHEN 404 THEN 'Not Found' WHEN 403 THEN 'Forbidden' WHEN 503 THEN 'Service Unavailable' ELSE 'Unprocessable Entity' END
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
            WHEN 'request_unknown' THEN 'There is no such payment request.'
            WHEN 'request_mismatch' THEN 'The payment request is not the recipient''s.'
            WHEN 'request_in_payment' THEN 'Somebody is paying this request already.'
            WHEN 'request_paid' THEN 'This request was paid.'
            WHEN 'request_expired' THEN 'This request has expired.'
            WHEN 'request_declined' THEN 'This request was declined.'
            WHEN 'request_amount' THEN 'The request is for another amount.'
            WHEN 'beneficiary_unknown' THEN 'There is no such bank account.'
            WHEN 'beneficiary_not_verified' THEN 'This bank account is not verified.'
            WHEN 'beneficiary_not_in_plan' THEN 'On the free plan money goes to your default bank account only.'
            WHEN 'quote_expired' THEN 'This quote has expired. Ask for another one.'
            WHEN 'quote_changed' THEN 'It costs more by now than was quoted. Ask for another quote.'
            WHEN 'limit_new_beneficiary' THEN 'The amount is above what a new bank account takes on its first day.'
            WHEN 'recovering' THEN 'Payments are being checked against the bank. Nothing happened; try again later.'
            WHEN 'expiry_invalid' THEN 'The expiry must be in the future, at most 31 days away.'
            ELSE code END
        || '"}]}'
$$;

-- What a payment would cost and which way it would go, if it were accepted now. A forecast: nothing is reserved.
CREATE OR REPLACE FUNCTION quote_payment(p_sender uuid, p_recipient text, p_amount bigint,
    p_now timestamptz DEFAULT NULL)
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

-- What a person has sent to accounts of their own that were added since a moment, also to those that are gone again.
CREATE OR REPLACE FUNCTION sent_to_new_accounts(p_user uuid, p_since timestamptz)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT coalesce(sum(t.amount), 0)::bigint
        FROM transactions t JOIN beneficiaries b ON b.id = t.beneficiary_id AND b.user_id = p_user AND b.added_at > p_since
        WHERE t.sender_id = p_user AND t.id >= first_id(p_since) AND t.type = 'self_transfer'
          AND t.state NOT IN ('failed', 'reversed'));
END $$;

-- New drops with their pools and slots.
CREATE OR REPLACE FUNCTION write_drops(p_drops money_drops[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO ledger_accounts (id, kind, owner_id, created_at)
    SELECT x.pool_id, 'drop_pool', x.id, x.created_at FROM unnest(p_drops) x;
    INSERT INTO balances (account_id) SELECT x.pool_id FROM unnest(p_drops) x;
    INSERT INTO money_drops (id, creator_id, pool_id, pool_account, funding_id, amount_per_claim, slots, title,
        password_hash, link, expires_at, created_at)
    SELECT x.id, x.creator_id, x.pool_id, x.pool_account, x.funding_id, x.amount_per_claim, x.slots, x.title,
        x.password_hash, x.link, x.expires_at, x.created_at
    FROM unnest(p_drops) x;
    INSERT INTO drop_slots (drop_id, position)
    SELECT x.id, s FROM unnest(p_drops) x CROSS JOIN LATERAL generate_series(1, x.slots) s;
END $$;

-- A new drop, from what the HTTP side has checked: {"amount_per_claim","slots","expires_at","pool_account","link",
-- "password_hash"}; the last may be missing.
CREATE OR REPLACE FUNCTION money_drop_of(p_id uuid, p_creator uuid, p_funding uuid, p_details jsonb, p_title text,
    p_now timestamptz) RETURNS money_drops LANGUAGE plpgsql AS $$
DECLARE
    d money_drops;
BEGIN
    d.id := p_id;
    d.creator_id := p_creator;
    d.pool_id := nextval('ledger_account_ids');
    d.pool_account := p_details->>'pool_account';
    d.funding_id := p_funding;
    d.amount_per_claim := (p_details->>'amount_per_claim')::bigint;
    d.slots := (p_details->>'slots')::integer;
    d.title := p_title;
    d.password_hash := p_details->>'password_hash';
    d.link := p_details->>'link';
    d.expires_at := date_trunc('milliseconds', (p_details->>'expires_at')::timestamptz);
    d.created_at := p_now;
    RETURN d;
END $$;
