-- What a person may send and hold, and the five free slots of a recipient.

-- External transfers a month that a recipient on the free plan may receive.
CREATE OR REPLACE FUNCTION free_slot_allowance() RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT 5 $$;

-- How many of them are taken in a month: by payments from acceptance on, less what release_slots() gave back, and by
-- corrections from elsewhere (adjust_slots()). A counter of a month that is over counts nothing.
CREATE OR REPLACE FUNCTION slots_taken(c receiving_counters, month date) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN c.month < month THEN 0 ELSE c.slots_used + c.slots_adjusted END
$$;

CREATE OR REPLACE FUNCTION limits_of(p_tier smallint, p_now timestamptz)
RETURNS SETOF tier_limits LANGUAGE sql STABLE AS $$
    SELECT * FROM tier_limits x
    WHERE x.tier = p_tier AND x.valid_from <= p_now ORDER BY x.valid_from DESC LIMIT 1
$$;

CREATE OR REPLACE FUNCTION fee_for(p_type text, p_route text, p_amount bigint, p_now timestamptz)
RETURNS SETOF fee_schedule LANGUAGE sql STABLE AS $$
    SELECT * FROM fee_schedule x
    WHERE x.type = p_type AND x.route = p_route AND x.valid_from <= p_now AND x.amount_from <= greatest(p_amount, 0)
    ORDER BY x.valid_from DESC, x.amount_from DESC LIMIT 1
$$;

-- The least that may leave for a bank at a moment.
CREATE OR REPLACE FUNCTION bank_minimum(p_now timestamptz) RETURNS SETOF bank_minimums LANGUAGE sql STABLE AS $$
    SELECT * FROM bank_minimums x WHERE x.valid_from <= p_now ORDER BY x.valid_from DESC LIMIT 1
$$;

-- The least that takes a free slot at a moment.
CREATE OR REPLACE FUNCTION slot_minimum(p_now timestamptz) RETURNS SETOF slot_minimums LANGUAGE sql STABLE AS $$
    SELECT * FROM slot_minimums x WHERE x.valid_from <= p_now ORDER BY x.valid_from DESC LIMIT 1
$$;

-- What payers learn of the room in others' wallets at a moment.
CREATE OR REPLACE FUNCTION room_step(p_now timestamptz) RETURNS SETOF room_steps LANGUAGE sql STABLE AS $$
    SELECT * FROM room_steps x WHERE x.valid_from <= p_now ORDER BY x.valid_from DESC LIMIT 1
$$;

-- The device whose age limits a payment: the one that approved it, or for a PIN the user's newest one. Otherwise the
-- PIN would be the way around the first day.
CREATE OR REPLACE FUNCTION device_to_cap(p_user uuid, p_device uuid) RETURNS SETOF devices LANGUAGE sql STABLE AS $$
    SELECT * FROM devices d
    WHERE d.user_id = p_user AND CASE WHEN p_device IS NULL THEN d.revoked_at IS NULL ELSE d.id = p_device END
    ORDER BY d.activated_at DESC, d.id DESC LIMIT 1
$$;

-- Lower limits that people set for themselves. Raising one again would undo what it protects from, so each change needs
-- an approval, and its nonce is spent in the same commit.
CREATE OR REPLACE FUNCTION set_own_limits(p_user uuid, p_per_transfer bigint, p_per_day bigint, p_per_month bigint,
    p_nonce uuid, p_now timestamptz DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    -- The mutex of all that a sender owns: a payment is decided before the change or after it.
    PERFORM 1 FROM balances b JOIN users u ON u.wallet_id = b.account_id WHERE u.id = p_user FOR NO KEY UPDATE OF b;
    IF NOT FOUND THEN RETURN 'sender_unknown'; END IF;
    IF EXISTS (SELECT 1 FROM approval_nonces a WHERE a.user_id = p_user AND a.nonce = p_nonce) THEN
        RETURN 'approval_used';
    END IF;
    INSERT INTO approval_nonces (user_id, nonce, used_at) VALUES (p_user, p_nonce, coalesce(p_now, transfa_now()));
    INSERT INTO user_limits (user_id, per_transfer, per_day, per_month)
    VALUES (p_user, p_per_transfer, p_per_day, p_per_month)
    ON CONFLICT (user_id) DO UPDATE SET per_transfer = excluded.per_transfer, per_day = excluded.per_day,
        per_month = excluded.per_month;
    RETURN 'set';
END $$;

-- Free slots go back to the month they were taken from; of one that is over that is only published.
CREATE OR REPLACE FUNCTION release_slots(p_ids uuid[], p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_ids uuid[];
    v_used integer[];
    v_sequences bigint[];
BEGIN
    WITH back AS (
        SELECT t.id, t.recipient_id, t.slot_month = c.month AS counts,
            c.event_sequence + row_number() OVER per_user AS sequence,
            c.slots_used + c.slots_adjusted
                - (count(*) FILTER (WHERE t.slot_month = c.month) OVER per_user)::integer AS used
        FROM transfers t JOIN receiving_counters c ON c.user_id = t.recipient_id
        WHERE t.id = ANY (p_ids) AND t.slot_month IS NOT NULL
        WINDOW per_user AS (PARTITION BY t.recipient_id ORDER BY t.id ROWS UNBOUNDED PRECEDING)
    ),
    write_counters AS (
        UPDATE receiving_counters c SET
            slots_used = c.slots_used - x.slots, event_sequence = c.event_sequence + x.events
        FROM (SELECT b.recipient_id, count(*) FILTER (WHERE b.counts)::integer AS slots, count(*) AS events
              FROM back b GROUP BY 1) x
        WHERE c.user_id = x.recipient_id
    )
    SELECT array_agg(b.id ORDER BY b.recipient_id, b.sequence),
        array_agg(CASE WHEN b.counts THEN b.used END ORDER BY b.recipient_id, b.sequence),
        array_agg(b.sequence ORDER BY b.recipient_id, b.sequence)
    INTO v_ids, v_used, v_sequences FROM back b;
    IF v_ids IS NOT NULL THEN
        PERFORM publish_released_slots(v_ids, v_used, v_sequences, p_now);
    END IF;
END $$;

-- Free slots counted elsewhere (subscription's usage.adjusted). Returns the slots used after it.
CREATE OR REPLACE FUNCTION adjust_slots(p_user uuid, p_delta integer, p_event uuid, p_causation uuid,
    p_now timestamptz DEFAULT NULL)
RETURNS integer LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_month date;
    c receiving_counters;
BEGIN
    PERFORM 1 FROM receiving_counters x WHERE x.user_id = p_user FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    v_month := month_of(lagos_day(v_now));
    UPDATE receiving_counters x SET
        month = greatest(x.month, v_month),
        slots_used = CASE WHEN x.month < v_month THEN 0 ELSE x.slots_used END,
        slots_adjusted = CASE WHEN x.month < v_month THEN 0 ELSE x.slots_adjusted END + p_delta,
        slots_forgiven = CASE WHEN x.month < v_month THEN 0 ELSE x.slots_forgiven END + greatest(-p_delta, 0),
        event_sequence = x.event_sequence + 1
    WHERE x.user_id = p_user RETURNING x.* INTO c;
    IF NOT FOUND THEN RETURN NULL; END IF;
    PERFORM publish_adjusted_slots(CASE WHEN p_delta >= 0 THEN 'taken' ELSE 'released' END, c, p_causation, p_event,
        v_now);
    RETURN c.slots_used + c.slots_adjusted;
END $$;

-- Limits get back what did not leave, as long as the counter still stands in the transfer's day or month; of a drop
-- what no refund has given back yet.
CREATE OR REPLACE FUNCTION give_back_spending(p_ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH back AS MATERIALIZED (
        SELECT t.*, t.amount - CASE WHEN t.type = 'money_drop'
            THEN (SELECT y.given_back FROM money_drops y WHERE y.funding_id = t.id) ELSE 0 END AS spent
        FROM transfers t WHERE t.id = ANY (p_ids)
    ),
    write_devices AS (
        UPDATE devices d SET first_day_total = d.first_day_total - x.total
        FROM (SELECT t.capped_device_id, sum(t.spent)::bigint AS total FROM back t
              WHERE t.capped_device_id IS NOT NULL GROUP BY 1) x
        WHERE d.id = x.capped_device_id
    )
    UPDATE spending_counters s SET day_total = s.day_total - x.day_back, month_total = s.month_total - x.month_back
    FROM (
        SELECT t.sender_id,
            coalesce(sum(t.spent) FILTER (WHERE t.spent_day = c.day), 0)::bigint AS day_back,
            coalesce(sum(t.spent) FILTER (WHERE t.spent_month = c.month), 0)::bigint AS month_back
        FROM back t JOIN spending_counters c ON c.user_id = t.sender_id
        GROUP BY 1
    ) x
    WHERE s.user_id = x.sender_id;
END $$;

-- What a person has sent to accounts of their own that were added since a moment, also to those that are gone again.
CREATE OR REPLACE FUNCTION sent_to_new_accounts(p_user uuid, p_since timestamptz)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT coalesce(sum(t.amount), 0)::bigint
        FROM transfers t
        JOIN beneficiaries b ON b.id = t.beneficiary_id AND b.user_id = p_user AND b.added_at > p_since
        WHERE t.sender_id = p_user AND t.id >= first_id(p_since) AND t.type = 'self_transfer'
          AND t.state NOT IN ('failed', 'reversed'));
END $$;
