-- Orders: what people ask, decided a batch per call.
--
-- place_orders() answers every order of its batch by itself, as if they had come one after the other:
--   1. lock_order_parties()  locks the senders' balances and the recipients' counters, sorted: everything that limits
--                            an order is safe from here on
--   2. order_facts()         reads all facts at once, in a statement of its own: a READ COMMITTED statement sees the
--                            database as it was when it began, so one that locks and sums at once would decide from
--                            what was true before it waited
--   3. order_refusal()       decides one order after the other, from its facts less what the earlier ones took
--   4. write_...()           write what was decided
--
-- An approval's nonce is spent whatever the answer, unless that passes by itself (refusal_kind): a refused approval
-- must not be played again when money arrives. The clock is read after the locks: waiting would date it back. A
-- repeated order has the code that it had; what was accepted is read from its transfer, see stored_order(). A refusal
-- that may be otherwise later stands for its approval alone: under another one the same order is decided anew. Plans
-- that were made while the tables were empty would scan them, and stay in use as they grow: so no scans.
CREATE OR REPLACE FUNCTION place_orders(
    p_ids uuid[], p_senders uuid[], p_recipients text[], p_amounts bigint[], p_descriptions text[], p_routes text[],
    p_keys text[], p_hashes bytea[], p_nonces uuid[], p_devices uuid[], p_created_events uuid[],
    p_rerouted_events uuid[], p_slot_events uuid[], p_correlations uuid[], p_traceparents text[], p_types text[],
    p_targets uuid[], p_details text[], p_now timestamptz DEFAULT NULL, -- tests only; otherwise the database's clock
    p_answer_version smallint DEFAULT NULL
) RETURNS TABLE (ord integer, code text, is_replay boolean, transfer_id uuid, route text, fee bigint, duty bigint,
    placed_at timestamptz) LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_locked constant uuid[] := lock_order_parties(p_senders, p_recipients, p_amounts, p_targets, p_now);
    v_now constant timestamptz := coalesce(p_now, transfa_now());
    f order_facts;
    v_spent order_facts[] := '{}';                       -- the orders that spend their approval
    v_codes text[] := '{}'; v_full text[] := '{}';       -- for whom there was no room, and in whose wallet
    v_devices uuid[] := '{}';                            -- that approve, as known as yet
    -- What this batch has taken so far, at the position of the first order with the same sender, recipient and so on.
    v_none constant bigint[] := array_fill(0::bigint, ARRAY[cardinality(p_ids)]);
    v_sent bigint[] := v_none;
    v_held bigint[] := v_none;
    v_withdrawn bigint[] := v_none;
    v_on_device bigint[] := v_none;
    v_incoming bigint[] := v_none;
    v_slots bigint[] := v_none;
    v_requests bigint[] := v_none;
    v_nonces bigint[] := v_none;
    v_kept bigint[] := v_none;                           -- whose answer stands under the key
BEGIN
    FOR f IN SELECT * FROM order_facts(p_ids, p_senders, p_recipients, p_amounts, p_descriptions, p_routes, p_keys,
        p_hashes, p_nonces, p_devices, p_created_events, p_rerouted_events, p_slot_events, p_correlations,
        p_traceparents, p_types, p_targets, p_details, v_locked, v_now) LOOP
        v_devices := v_devices || f.known_device;
        f.at_device := array_position(v_devices, f.known_device);
        IF v_kept[f.at_key] > 0 THEN
            f.stored_hash := p_hashes[v_kept[f.at_key]]; f.stored_nonce := p_nonces[v_kept[f.at_key]];
            f.stored_code := nullif(v_codes[v_kept[f.at_key]], 'accepted');
            f.stored_transfer := CASE WHEN f.stored_code IS NULL THEN p_ids[v_kept[f.at_key]] END;
        END IF;
        f.nonce_used := f.nonce_used OR v_nonces[f.at_nonce] > 0;
        f.day_left := f.day_left - v_sent[f.at_sender]; f.month_left := f.month_left - v_sent[f.at_sender];
        f.available := f.available - v_held[f.at_sender]; f.device_left := f.device_left - v_on_device[f.at_device];
        f.own_left := f.own_left - v_withdrawn[f.at_sender]; f.slots_used := f.slots_used + v_slots[f.at_recipient];
        f.recipient_left := f.recipient_left - v_incoming[f.at_recipient];
        f.room_refusals := f.room_refusals + cardinality(array_positions(v_full, f.recipient || f.sender_id));
        f.slot_events := f.slot_events + v_slots[f.at_recipient];
        IF f.request_id IS NOT NULL AND v_requests[f.at_target] > 0 THEN f.request_state := 'processing'; END IF;
        f.route_reason := order_route_reason(f); f.route := route_of(f.route_reason);
        f.fee := CASE f.route WHEN 'external' THEN f.external_fee ELSE f.internal_fee END;
        f.duty := CASE f.route WHEN 'external' THEN f.external_duty ELSE f.internal_duty END;
        f.code := coalesce(order_refusal(f), 'accepted');
        IF f.code = 'accepted' THEN
            v_sent[f.at_sender] := v_sent[f.at_sender] + f.amount;
            v_held[f.at_sender] := v_held[f.at_sender] + f.amount + f.fee + f.duty;
            v_on_device[f.at_device] := v_on_device[f.at_device] + f.amount;
            IF f.own_left IS NOT NULL THEN v_withdrawn[f.at_sender] := v_withdrawn[f.at_sender] + f.amount; END IF;
            IF f.route = 'internal' THEN v_incoming[f.at_recipient] := v_incoming[f.at_recipient] + f.amount; END IF;
            v_slots[f.at_recipient] := v_slots[f.at_recipient] + (f.route_reason = 'free_slot')::integer;
            v_requests[f.at_target] := v_requests[f.at_target] + coalesce((NOT f.request_multiple)::integer, 0);
        END IF;
        IF f.code = 'recipient_limit' THEN v_full := v_full || (f.recipient || f.sender_id); END IF;
        is_replay := f.code = 'idempotent_replay';
        code := CASE WHEN is_replay THEN coalesce(f.stored_code, 'accepted') ELSE f.code END;
        v_codes := v_codes || code;
        IF spends_approval(f.code) THEN v_nonces[f.at_nonce] := 1; v_spent := v_spent || f; END IF;
        IF f.code = 'accepted' OR is_kept(f.code) THEN v_kept[f.at_key] := f.ord; END IF;
        transfer_id := CASE WHEN code = 'accepted' THEN coalesce(f.stored_transfer, f.id) END;
        ord := f.ord; route := f.route; fee := f.fee; duty := f.duty; placed_at := v_now; RETURN NEXT;
    END LOOP;
    PERFORM write_orders(v_spent, v_kept, coalesce(p_answer_version, answer_version()), v_now);
END $$;

-- Locks what limits the orders of a batch, each kind sorted and in a statement of its own; returns the recipients whose
-- counters are locked. Those are the recipients that may take a free slot, and those whose wallet has a ceiling and may
-- get the money: paid recipients of what a bank takes, and popular ones whose slots have gone and who have no ceiling,
-- are only read, and nobody waits for them. A request has one payer, whoever comes first.
CREATE OR REPLACE FUNCTION lock_order_parties(p_senders uuid[], p_recipients text[], p_amounts bigint[],
    p_targets uuid[], p_now timestamptz) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    v_now constant timestamptz := coalesce(p_now, transfa_now());
    v_below_minimum text[];                              -- who is paid too little for a bank
    v_locked uuid[];
BEGIN
    PERFORM 1 FROM users u JOIN balances b ON b.account_id = u.wallet_id
    WHERE u.id = ANY (p_senders) ORDER BY b.account_id FOR NO KEY UPDATE OF b;

    SELECT array_agg(x.recipient) INTO v_below_minimum
    FROM unnest(p_recipients, p_amounts) AS x(recipient, amount), bank_minimum(v_now) m WHERE x.amount < m.amount;
    SELECT array_agg(x.user_id) INTO v_locked FROM (
        SELECT f.user_id FROM recipient_facts(v_now) f JOIN receiving_counters c ON c.user_id = f.user_id
        WHERE f.username COLLATE "C" = ANY (p_recipients)
          AND (f.maximum_balance IS NOT NULL AND (f.external_refusal IS NOT NULL OR NOT f.plan_active
                  OR f.username COLLATE "C" = ANY (v_below_minimum))
               OR f.external_refusal IS NULL AND NOT f.plan_active
                  AND slots_taken(c, month_of(lagos_day(v_now))) < free_slot_allowance())
        ORDER BY c.user_id FOR NO KEY UPDATE OF c
    ) x;

    IF array_remove(p_targets, NULL) <> '{}' THEN
        PERFORM 1 FROM payment_requests x WHERE x.id = ANY (p_targets) ORDER BY x.id FOR NO KEY UPDATE;
    END IF;
    RETURN v_locked;
END $$;

-- Why an order is refused; null when it is accepted. The first rule that applies answers, and what depends on somebody
-- else's balance comes last: who could not pay learns nothing of it, and who could learns no more than room_steps says.
-- Declared no stricter than its parts, as the other expressions here: only then it is inlined, and not called.
CREATE OR REPLACE FUNCTION order_refusal(f order_facts) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE
        -- Who asks, and is it the first time?
        WHEN f.known_sender IS NULL THEN 'sender_unknown'
        WHEN f.stored_hash <> f.hash THEN 'idempotency_key_reused'
        WHEN f.stored_hash IS NOT NULL AND (f.stored_nonce = f.nonce
            OR refusal_kind(f.stored_code) IS DISTINCT FROM 'momentary') THEN 'idempotent_replay'

        -- May they?
        WHEN f.recovering THEN 'recovering'
        WHEN f.restricted THEN 'sender_restricted'
        WHEN NOT f.sending_allowed AND f.type <> 'self_transfer' THEN 'receive_only'
        WHEN f.nonce_used THEN 'approval_used'
        WHEN f.device_id IS NOT NULL AND f.known_device IS NULL THEN 'device_unknown'
        WHEN f.device_revoked THEN 'device_revoked'

        -- Is there somebody to pay?
        WHEN f.amount <= 0 THEN 'amount_invalid'
        WHEN f.type = 'p2p' AND f.recipient_id IS NULL THEN 'recipient_unknown'
        WHEN f.recipient_id = f.sender_id THEN 'recipient_self'
        WHEN f.unavailable THEN 'recipient_unavailable'
        WHEN f.type = 'p2p' AND f.recipient_account IS NULL THEN 'recipient_not_ready'

        -- Is there still something to pay, an account to withdraw to, a time to claim in?
        WHEN f.type = 'p2p' AND f.target IS NOT NULL
            AND (f.request_id IS NULL OR f.request_payer <> f.sender_id OR f.request_state = 'cancelled')
            THEN 'request_unknown'
        WHEN f.request_owner <> f.recipient_id THEN 'request_mismatch'
        WHEN f.request_state = 'processing' THEN 'request_in_payment'
        WHEN f.request_state = 'fulfilled' THEN 'request_paid'
        WHEN f.request_state = 'expired' OR f.request_state = 'open' AND f.request_expires_at <= f.now
            THEN 'request_expired'
        WHEN f.request_state <> 'open' THEN 'request_declined'
        WHEN f.request_amount <> f.amount THEN 'request_amount'
        WHEN f.type = 'self_transfer' AND f.own_bank IS NULL THEN 'beneficiary_unknown'
        WHEN f.type = 'self_transfer' AND NOT f.own_verified THEN 'beneficiary_not_verified'
        WHEN f.own_idle THEN 'beneficiary_not_in_plan'
        WHEN f.drop_expires_at <= f.now OR f.drop_expires_at > f.now + interval '31 days' THEN 'expiry_invalid'
        WHEN f.quote_expires_at <= f.now THEN 'quote_expired'

        -- Does a bank take so little, does it keep to the limits, and is the money there?
        WHEN f.route = 'external' AND f.amount < f.bank_minimum THEN 'amount_below_minimum'
        WHEN f.amount > f.per_transfer THEN 'limit_per_transfer'
        WHEN f.amount > f.day_left THEN 'limit_per_day'
        WHEN f.amount > f.month_left THEN 'limit_per_month'
        WHEN f.amount > f.device_left THEN 'limit_new_device'
        WHEN f.amount > f.own_left THEN 'limit_new_beneficiary'
        WHEN f.fee + f.duty > f.quote_cost THEN 'quote_changed'
        WHEN f.amount + f.fee + f.duty > f.available THEN 'insufficient_funds'

        -- Does it fit into the recipient's wallet, as far as this payer may know?
        WHEN f.route = 'internal' AND (f.amount > f.recipient_left - f.recipient_left % coalesce(f.room_step, 1)
            OR f.room_refusals >= f.room_tries) THEN 'recipient_limit'
        END
$$;

-- Whether a refused order may be accepted later; null for what is no refusal.
--   passing    it passes by itself within moments: nothing is kept, and the approval is not spent
--   momentary  it may be otherwise when somebody has done something, or time has gone on: kept with the approval, and
--              decided anew under another one
--   lasting    it never will: kept
CREATE OR REPLACE FUNCTION refusal_kind(code text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN code IN ('sender_unknown', 'recovering', 'recipient_not_ready', 'request_in_payment') THEN 'passing'
        WHEN code IN ('sender_restricted', 'receive_only', 'approval_used', 'device_unknown', 'device_revoked',
            'recipient_unknown', 'recipient_unavailable', 'request_paid', 'beneficiary_unknown',
            'beneficiary_not_verified', 'beneficiary_not_in_plan', 'expiry_invalid', 'amount_below_minimum',
            'limit_per_transfer', 'limit_per_day', 'limit_per_month', 'limit_new_device', 'limit_new_beneficiary',
            'recipient_limit', 'quote_changed', 'insufficient_funds') THEN 'momentary'
        WHEN code IN ('idempotency_key_reused', 'amount_invalid', 'recipient_self', 'request_unknown',
            'request_mismatch', 'request_expired', 'request_declined', 'request_amount', 'quote_expired') THEN 'lasting'
        END
$$;

-- Whether an order spends its approval: accepted or refused, when that does not pass by itself.
CREATE OR REPLACE FUNCTION spends_approval(code text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT code NOT IN ('idempotency_key_reused', 'idempotent_replay') AND refusal_kind(code) IS DISTINCT FROM 'passing'
$$;

-- Whether a refusal is kept under the key. A key or an approval that is another order's says nothing about this one.
CREATE OR REPLACE FUNCTION is_kept(code text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT refusal_kind(code) IN ('momentary', 'lasting') AND code NOT IN ('idempotency_key_reused', 'approval_used')
$$;

-- In which version the answer to an accepted order is written, unless the caller says so. See OrderAnswer+HTTPResponse.
CREATE OR REPLACE FUNCTION answer_version() RETURNS smallint LANGUAGE sql IMMUTABLE AS $$ SELECT 1::smallint $$;

-- Which way the money of an order goes, and why.
CREATE OR REPLACE FUNCTION order_route_reason(f order_facts) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN f.type <> 'p2p' THEN f.type
        WHEN f.external_refusal IS NOT NULL THEN f.external_refusal
        WHEN f.amount < f.bank_minimum THEN 'below_minimum'
        WHEN f.plan_active THEN 'plan'
        WHEN f.amount < f.slot_minimum THEN 'below_minimum'
        WHEN f.recipient_locked AND f.slots_used < free_slot_allowance() THEN 'free_slot'
        ELSE 'no_slot' END
$$;

CREATE OR REPLACE FUNCTION route_of(reason text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN reason IN ('plan', 'free_slot', 'self_transfer') THEN 'external' ELSE 'internal' END
$$;

-- The orders with all that decides about them but at_device, by the clock of the decision. What is left is what may
-- still be sent, null where nothing limits it. Details are {"amount_per_claim","slots","expires_at","pool_account",
-- "link","password_hash"} of a drop, the last may be missing, and "quote": {"cost","expires_at"} of any order.
--
-- LATERAL with LIMIT keeps every column an index condition, whatever the statistics: plain joins were planned with the
-- user alone and read the user's whole history, or were hashed and read everybody. What is the same for all orders is a
-- sub-select, which is read once for a batch.
CREATE OR REPLACE FUNCTION order_facts(
    p_ids uuid[], p_senders uuid[], p_recipients text[], p_amounts bigint[], p_descriptions text[], p_routes text[],
    p_keys text[], p_hashes bytea[], p_nonces uuid[], p_devices uuid[], p_created_events uuid[],
    p_rerouted_events uuid[], p_slot_events uuid[], p_correlations uuid[], p_traceparents text[], p_types text[],
    p_targets uuid[], p_details text[], p_locked uuid[], p_now timestamptz
) RETURNS SETOF order_facts LANGUAGE sql STABLE AS $$
    SELECT q.*,
        (q.details->'quote'->>'cost')::bigint, (q.details->'quote'->>'expires_at')::timestamptz,
        (q.details->>'amount_per_claim')::bigint, (q.details->>'slots')::integer,
        date_trunc('milliseconds', (q.details->>'expires_at')::timestamptz),
        q.details->>'pool_account', q.details->>'link', q.details->>'password_hash',
        coalesce(k.request_hash, o.request_hash), k.code, k.nonce, o.id, (SELECT recovery_is_open()),
        an.nonce IS NOT NULL, d.id, d.revoked_at IS NOT NULL, NULL::integer, dc.most - dc.used,
        s.*,
        f.user_id, f.wallet_id, f.provider_account,
        f.unavailable OR EXISTS (SELECT 1 FROM blocks y
            WHERE y.user_id = f.user_id AND y.blocked_id = q.sender_id AND y.is_active),
        f.external_refusal, f.beneficiary_id, f.counterparty_id, f.plan_active, f.user_id = ANY (p_locked),
        greatest(c.month, month_of(lagos_day(p_now))),
        slots_taken(c, month_of(lagos_day(p_now))), c.event_sequence, bc.most - bc.used,
        CASE WHEN bc.most IS NOT NULL THEN coalesce((SELECT x.refusals FROM room_refusals x
            WHERE x.sender_id = q.sender_id AND x.recipient_id = f.user_id AND x.day >= lagos_day(p_now)), 0) END,
        own.*,
        pr.id, pr.owner_id, pr.payer_id, pr.state, pr.amount, pr.multiple, pr.expires_at,
        coalesce(fe.fee, 0), coalesce(fe.duty, 0), coalesce(fi.fee, 0), coalesce(fi.duty, 0),
        (SELECT x.amount FROM bank_minimum(p_now) x), (SELECT x.amount FROM slot_minimum(p_now) x),
        (SELECT x.step FROM room_step(p_now) x), (SELECT x.refusals FROM room_step(p_now) x),
        p_now, NULL::text, NULL::text, NULL::text, NULL::bigint, NULL::bigint
    FROM (
        SELECT x.ord::integer, x.id, x.sender_id, x.recipient, x.amount, x.description, x.api_route, x.key, x.hash,
            x.nonce, x.device_id, x.created_event, x.rerouted_event, x.slot_event, x.correlation_id, x.traceparent,
            x.type, x.target, x.details::jsonb,
            array_position(p_senders, x.sender_id) AS at_sender,
            (min(x.ord) OVER same_key)::integer AS at_key,
            (min(x.ord) OVER (PARTITION BY x.sender_id, x.nonce))::integer AS at_nonce,
            array_position(p_recipients, x.recipient) AS at_recipient,
            array_position(p_targets, x.target) AS at_target
        FROM unnest(p_ids, p_senders, p_recipients, p_amounts, p_descriptions, p_routes, p_keys, p_hashes, p_nonces,
                p_devices, p_created_events, p_rerouted_events, p_slot_events, p_correlations, p_traceparents, p_types,
                p_targets, p_details) WITH ORDINALITY
            AS x(id, sender_id, recipient, amount, description, api_route, key, hash, nonce, device_id, created_event,
                rerouted_event, slot_event, correlation_id, traceparent, type, target, details, ord)
        WINDOW same_key AS (PARTITION BY x.sender_id, x.api_route, x.key)
    ) q
    LEFT JOIN LATERAL sender_facts(q.sender_id, p_now) s ON true
    LEFT JOIN LATERAL device_to_cap(q.sender_id, q.device_id) d ON true
    LEFT JOIN LATERAL device_cap(d.id, d.activated_at, d.first_day_total, p_now) dc ON true
    LEFT JOIN LATERAL (SELECT * FROM refused_orders x
        WHERE x.user_id = q.sender_id AND x.route = q.api_route AND x.key = q.key LIMIT 1) k ON true
    LEFT JOIN LATERAL (SELECT * FROM transfers x
        WHERE x.request_key = request_key(q.sender_id, q.api_route, q.key) LIMIT 1) o ON true
    LEFT JOIN LATERAL (SELECT * FROM approval_nonces x
        WHERE x.user_id = q.sender_id AND x.nonce = q.nonce LIMIT 1) an ON true
    LEFT JOIN recipient_facts(p_now) f ON f.username COLLATE "C" = q.recipient
    LEFT JOIN receiving_counters c ON c.user_id = f.user_id
    LEFT JOIN balances rb ON rb.account_id = f.wallet_id
    LEFT JOIN LATERAL balance_cap(f.user_id, f.maximum_balance, rb.posted, c.incoming) bc ON true
    LEFT JOIN LATERAL own_account_facts(q.sender_id, q.target, q.type, p_now) own ON true
    LEFT JOIN LATERAL (SELECT * FROM payment_requests x
        WHERE x.id = q.target AND q.type = 'p2p' LIMIT 1) pr ON true
    LEFT JOIN LATERAL fee_for(q.type, 'external', q.amount, p_now) fe ON true
    LEFT JOIN LATERAL fee_for(q.type, 'internal', q.amount, p_now) fi ON true
    ORDER BY q.ord
$$;

-- What limits a sender.
CREATE OR REPLACE FUNCTION sender_facts(p_user uuid, p_now timestamptz) RETURNS TABLE (
    known_sender uuid, wallet_id bigint, source_account text, sending_allowed boolean, restricted boolean,
    available bigint, per_transfer bigint, day_left bigint, month_left bigint, spent_day date, spent_month date
) LANGUAGE sql STABLE AS $$
    SELECT s.id, s.wallet_id, s.provider_account, s.sending_allowed,
        s.status <> 'active' OR s.debits_blocked OR b.debits_blocked,
        b.posted - b.held,
        c.per_transfer, c.per_day - c.day_used, c.per_month - c.month_used, c.spent_day, c.spent_month
    FROM users s
    LEFT JOIN balances b ON b.account_id = s.wallet_id
    LEFT JOIN LATERAL sending_caps(s.id, s.tier, p_now) c ON true
    WHERE s.id = p_user LIMIT 1
$$;

-- The bank account of a withdrawal. On the free plan money goes to the default one alone, and a new one takes less.
CREATE OR REPLACE FUNCTION own_account_facts(p_user uuid, p_account uuid, p_type text, p_now timestamptz)
RETURNS TABLE (
    own_bank uuid, own_verified boolean, own_counterparty text, own_idle boolean, own_left bigint
) LANGUAGE sql STABLE AS $$
    SELECT x.id, x.verified AND x.deleted_at IS NULL AND x.counterparty_id IS NOT NULL, x.counterparty_id,
        NOT x.is_default AND NOT coalesce(u.active_until > p_now, false),
        c.most - c.used
    FROM beneficiaries x JOIN users u ON u.id = x.user_id
    LEFT JOIN LATERAL beneficiary_cap(p_user, x.id, x.added_at, p_now) c ON true
    WHERE p_type = 'self_transfer' AND x.id = p_account AND x.user_id = p_user
$$;

-- How an order was answered whose key is this one: an accepted one with the version of its answer, a refused one with
-- its kind and the approval that was refused. All of it stands since then: the transfer's name of the recipient and the
-- drop's link are copies, and what a switch changes is kept beside as it was first.
CREATE OR REPLACE FUNCTION stored_order(p_user uuid, p_route text, p_key text) RETURNS TABLE (
    request_hash bytea, code text, transfer_id uuid, type text, route text, amount bigint, fee bigint, duty bigint,
    recipient_username text, beneficiary_id uuid, placed_at timestamptz, money_drop_id uuid, amount_per_claim bigint,
    slots integer, password_required boolean, expires_at timestamptz, link text, answer_version smallint, kind text,
    nonce uuid
) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT k.request_hash, k.code, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, k.created_at, NULL, NULL, NULL, NULL,
        NULL, NULL, NULL, refusal_kind(k.code), k.nonce
    FROM refused_orders k WHERE k.user_id = p_user AND k.route = p_route AND k.key = p_key
    UNION ALL
    SELECT t.request_hash, 'accepted', t.id, t.type, t.first_route, t.amount, t.first_fee, t.first_duty,
        t.recipient_username, CASE t.type WHEN 'self_transfer' THEN t.beneficiary_id END, t.created_at,
        d.id, d.amount_per_claim, d.slots, d.password_hash IS NOT NULL, d.expires_at, d.link,
        t.answer_version, NULL, NULL
    FROM transfers t LEFT JOIN money_drops d ON d.funding_id = t.id
    WHERE t.request_key = request_key(p_user, p_route, p_key)
    LIMIT 1
$$;

-- Writes what was decided, one statement of a kind whatever the number of orders. p_kept is the order of the batch
-- whose answer stands under a key, at the position of the first with that key.
CREATE OR REPLACE FUNCTION write_orders(p_orders order_facts[], p_kept bigint[], p_answer_version smallint,
    p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    o order_facts;
    v_accepted order_facts[] := '{}';
    v_full boolean := false;
BEGIN
    FOREACH o IN ARRAY p_orders LOOP
        -- The read model changed between the locks and the facts. The caller repeats the batch.
        IF o.code IN ('accepted', 'recipient_limit') AND o.route = 'internal' AND o.recipient_left IS NOT NULL
           AND o.recipient_locked IS NOT TRUE THEN
            RAISE EXCEPTION 'recipient_changed' USING ERRCODE = 'serialization_failure';
        END IF;
        v_full := v_full OR o.code = 'recipient_limit';
        CONTINUE WHEN o.code <> 'accepted';
        v_accepted := v_accepted || o;
        IF o.stored_code IS NOT NULL THEN                -- seldom, so one by one, and by the key
            DELETE FROM refused_orders k WHERE k.user_id = o.sender_id AND k.route = o.api_route AND k.key = o.key;
        END IF;
    END LOOP;
    WITH refused AS (
        INSERT INTO refused_orders AS k (user_id, route, key, request_hash, code, nonce, created_at)
        SELECT f.sender_id, f.api_route, f.key, f.hash, f.code, f.nonce, p_now FROM unnest(p_orders) f
        WHERE f.code <> 'accepted' AND p_kept[f.at_key] = f.ord
        ON CONFLICT (user_id, route, key) DO UPDATE SET code = excluded.code, nonce = excluded.nonce,
            created_at = excluded.created_at
    )
    INSERT INTO approval_nonces (user_id, nonce, used_at)
    SELECT f.sender_id, f.nonce, p_now FROM unnest(p_orders) f WHERE NOT f.nonce_used;
    IF v_full THEN PERFORM count_room_refusals(p_orders, p_now); END IF;
    IF v_accepted <> '{}' THEN
        PERFORM write_transfers(v_accepted, p_answer_version, p_now);
        PERFORM count_orders(v_accepted);
        PERFORM publish_orders(v_accepted, p_now);
    END IF;
END $$;

-- Payers who were told that an amount does not fit into a wallet.
CREATE OR REPLACE FUNCTION count_room_refusals(p_orders order_facts[], p_now timestamptz) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO room_refusals AS r (sender_id, recipient_id, day, refusals)
    SELECT f.sender_id, f.recipient_id, lagos_day(p_now), count(*) FROM unnest(p_orders) f
    WHERE f.code = 'recipient_limit' GROUP BY 1, 2
    ON CONFLICT (sender_id, recipient_id) DO UPDATE SET day = greatest(r.day, excluded.day),
        refusals = CASE WHEN r.day < excluded.day THEN 0 ELSE r.refusals END + excluded.refusals
$$;

-- The transfers of accepted orders, with their holds, their first step and the jobs that submit them.
CREATE OR REPLACE FUNCTION write_transfers(p_orders order_facts[], p_answer_version smallint, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM unnest(p_orders) f WHERE f.type = 'money_drop') THEN
        PERFORM write_drops(p_orders, p_now);
    END IF;
    WITH placed AS MATERIALIZED (SELECT * FROM unnest(p_orders)),
    written AS (
        INSERT INTO transfers (id, reference, type, state, sequence, steps, sender_id, recipient_id,
            recipient_username, debit_account, credit_account, amount, fee, duty, route, route_reason, first_fee,
            first_duty, first_route, source_account, beneficiary_id, destination, slot_month, incoming_counted,
            spent_day, spent_month, device_id, capped_device_id, description, api_route, idempotency_key, request_key,
            request_hash, answer_version, payment_request_id, parent_id, correlation_id, traceparent, created_at)
        SELECT f.id, 'trf-' || f.id, f.type, 'accepted', CASE f.route_reason WHEN 'no_slot' THEN 2 ELSE 1 END, 1,
            f.sender_id, f.recipient_id, f.recipient, f.wallet_id,
            CASE WHEN f.route = 'external' THEN system_account('provider_clearing', f.id)
                WHEN f.type = 'money_drop' THEN (SELECT d.pool_id FROM money_drops d WHERE d.id = f.target)
                ELSE f.recipient_wallet END,
            f.amount, f.fee, f.duty, f.route, f.route_reason, f.fee, f.duty, f.route, f.source_account,
            CASE WHEN f.type = 'self_transfer' THEN f.own_bank WHEN f.route = 'external' THEN f.beneficiary_id END,
            CASE WHEN f.type = 'self_transfer' THEN f.own_counterparty
                WHEN f.type = 'money_drop' THEN f.drop_pool_account
                WHEN f.route = 'external' THEN f.counterparty_id ELSE f.recipient_account END,
            CASE WHEN f.route_reason = 'free_slot' THEN f.slot_month END,
            coalesce(f.route = 'internal' AND f.recipient_left IS NOT NULL, false),
            f.spent_day, f.spent_month, f.device_id, CASE WHEN f.device_left IS NOT NULL THEN f.known_device END,
            CASE WHEN f.type <> 'money_drop' THEN f.description END, f.api_route, f.key,
            request_key(f.sender_id, f.api_route, f.key), f.hash, p_answer_version, f.request_id,
            CASE WHEN f.type = 'money_drop' THEN f.target END, f.correlation_id, f.traceparent, p_now
        FROM placed f
    ),
    steps AS (
        INSERT INTO transfer_steps (transfer_id, step, state, actor, happened_at)
        SELECT f.id, 1, 'accepted', 'sender', p_now FROM placed f
    ),
    holds AS (
        INSERT INTO holds (transfer_id, account_id, amount)
        SELECT f.id, f.wallet_id, f.amount + f.fee + f.duty FROM placed f
    )
    INSERT INTO jobs (id, kind, key, subject, due_at, correlation_id, traceparent, created_at)
    SELECT f.id, 'submit_transfer', f.id, f.id, p_now, f.correlation_id, f.traceparent, p_now FROM placed f;
END $$;

-- New drops with their pools and slots.
CREATE OR REPLACE FUNCTION write_drops(p_orders order_facts[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    f order_facts;
    v_pool bigint;
BEGIN
    FOREACH f IN ARRAY p_orders LOOP
        CONTINUE WHEN f.type <> 'money_drop';
        IF f.drop_amount_per_claim * f.drop_slots <> f.amount THEN
            RAISE EXCEPTION 'drop_unbalanced' USING ERRCODE = 'check_violation';
        END IF;
        v_pool := nextval('ledger_account_ids');
        INSERT INTO ledger_accounts (id, kind, owner_id, created_at) VALUES (v_pool, 'drop_pool', f.target, p_now);
        INSERT INTO balances (account_id) VALUES (v_pool);
        INSERT INTO money_drops (id, creator_id, pool_id, pool_account, funding_id, amount_per_claim, slots, title,
            password_hash, link, expires_at, created_at)
        VALUES (f.target, f.sender_id, v_pool, f.drop_pool_account, f.id, f.drop_amount_per_claim, f.drop_slots,
            f.description, f.drop_password_hash, f.drop_link, f.drop_expires_at, p_now);
        INSERT INTO drop_slots (drop_id, position) SELECT f.target, s FROM generate_series(1, f.drop_slots) s;
    END LOOP;
END $$;

-- What accepted orders take of balances, limits, slots, ceilings and requests.
CREATE OR REPLACE FUNCTION count_orders(p_orders order_facts[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH placed AS MATERIALIZED (SELECT * FROM unnest(p_orders)),
    held AS (
        UPDATE balances b SET held = b.held + x.total
        FROM (SELECT f.wallet_id, sum(f.amount + f.fee + f.duty)::bigint AS total FROM placed f GROUP BY 1) x
        WHERE b.account_id = x.wallet_id
    ),
    devices AS (
        UPDATE devices d SET first_day_total = d.first_day_total + x.total
        FROM (SELECT f.known_device, sum(f.amount)::bigint AS total FROM placed f
              WHERE f.device_left IS NOT NULL GROUP BY 1) x
        WHERE d.id = x.known_device
    ),
    requests AS (
        UPDATE payment_requests q SET state = 'processing', transfer_id = f.id
        FROM placed f WHERE q.id = f.request_id AND NOT q.multiple
    ),
    received AS (
        UPDATE receiving_counters c SET
            month = coalesce(x.month, c.month),
            slots_used = CASE WHEN c.month < x.month THEN 0 ELSE c.slots_used END + x.slots,
            slots_adjusted = CASE WHEN c.month < x.month THEN 0 ELSE c.slots_adjusted END,
            slots_forgiven = CASE WHEN c.month < x.month THEN 0 ELSE c.slots_forgiven END,
            event_sequence = c.event_sequence + x.slots,
            incoming = c.incoming + x.incoming
        FROM (SELECT f.recipient_id, max(f.slot_month) FILTER (WHERE f.route_reason = 'free_slot') AS month,
                  count(*) FILTER (WHERE f.route_reason = 'free_slot')::integer AS slots,
                  coalesce(sum(f.amount) FILTER (WHERE f.route = 'internal'), 0)::bigint AS incoming
              FROM placed f WHERE f.route_reason = 'free_slot' OR f.route = 'internal' AND f.recipient_left IS NOT NULL
              GROUP BY 1) x
        WHERE c.user_id = x.recipient_id
    )
    UPDATE spending_counters s SET
        day = x.day, day_total = CASE WHEN s.day < x.day THEN 0 ELSE s.day_total END + x.total,
        month = x.month, month_total = CASE WHEN s.month < x.month THEN 0 ELSE s.month_total END + x.total
    FROM (SELECT f.sender_id, f.spent_day AS day, f.spent_month AS month, sum(f.amount)::bigint AS total
          FROM placed f GROUP BY 1, 2, 3) x
    WHERE s.user_id = x.sender_id;
END $$;

-- A digest, and not an index over three columns: beside transfers_sent the planner would take either of the two, and
-- then read a sender's whole history to find one key.
CREATE OR REPLACE FUNCTION request_key(sender uuid, api_route text, key text) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256(convert_to(sender || E'\n' || api_route || E'\n' || key, 'UTF8'))
$$;

-- What a payment would cost and which way it would go, if it were accepted now. A forecast: nothing is reserved. What
-- fits into the wallet it does not look at.
CREATE OR REPLACE FUNCTION quote_payment(p_sender uuid, p_recipient text, p_amount bigint,
    p_now timestamptz DEFAULT NULL)
RETURNS TABLE (route text, route_reason text, fee bigint, duty bigint)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    WITH moment AS MATERIALIZED (SELECT coalesce(p_now, transfa_now()) AS at),
    way AS (
        SELECT m.at, CASE
            WHEN f.external_refusal IS NOT NULL THEN f.external_refusal
            WHEN p_amount < n.amount THEN 'below_minimum'
            WHEN f.plan_active THEN 'plan'
            WHEN p_amount < s.amount THEN 'below_minimum'
            WHEN slots_taken(c, month_of(lagos_day(m.at))) < free_slot_allowance() THEN 'free_slot'
            ELSE 'no_slot' END AS reason
        FROM moment m CROSS JOIN LATERAL recipient_facts(m.at) f JOIN receiving_counters c ON c.user_id = f.user_id
        LEFT JOIN LATERAL bank_minimum(m.at) n ON true
        LEFT JOIN LATERAL slot_minimum(m.at) s ON true
        WHERE f.username COLLATE "C" = p_recipient AND f.user_id <> p_sender
    )
    SELECT route_of(w.reason), w.reason, coalesce(x.fee, 0), coalesce(x.duty, 0)
    FROM way w LEFT JOIN LATERAL fee_for('p2p', route_of(w.reason), p_amount, w.at) x ON true
$$;
