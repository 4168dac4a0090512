-- What transaction publishes: rows of the outbox, written in the commit that they are about.

-- An event id for the rare events that no caller foresees: a UUIDv7, so that it names its outbox day.
CREATE OR REPLACE FUNCTION new_event_id(moment timestamptz) RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || '7'
        || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
$$;

-- The data of every transaction event; `more` is further fields, each with its leading comma. Nothing is ever null.
CREATE OR REPLACE FUNCTION transaction_data(id uuid, sender uuid, recipient uuid, amount bigint, type text, route text,
    reason text, fee bigint, duty bigint, more text, moment text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT '{"transaction_id":"' || id || '"'
        || coalesce(',"sender_id":"' || sender || '"', '') || coalesce(',"recipient_id":"' || recipient || '"', '')
        || ',"amount":' || amount || ',"type":"' || type || '","route":"' || route || '","route_reason":"' || reason
        || '","fee":' || fee || ',"duty":' || duty || ',"currency":"NGN"' || more || ',"timestamp":"' || moment || '"}'
$$;

CREATE OR REPLACE FUNCTION slot_data(recipient uuid, transaction uuid, month date, used integer, moment text)
RETURNS text LANGUAGE sql STABLE AS $$
    SELECT '{"user_id":"' || recipient || '"' || coalesce(',"transaction_id":"' || transaction || '"', '')
        || ',"month":"' || to_char(month, 'YYYY-MM') || '"' || coalesce(',"used":' || used, '')
        || ',"allowance":' || free_slot_allowance() || ',"timestamp":"' || moment || '"}'
$$;

-- The caller has the row that is the subject locked and has counted its sequence up.
CREATE OR REPLACE FUNCTION tell(p_type text, p_subject uuid, p_sequence bigint, p_correlation uuid, p_traceparent text,
    p_data text, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_event constant uuid := new_event_id(p_now);
BEGIN
    INSERT INTO outbox (day, id, type, subject, sequence, correlation_id, traceparent, time, data)
    VALUES (uuid_v7_day(v_event), v_event, p_type, p_subject, p_sequence, p_correlation, p_traceparent, p_now,
        p_data || ',"timestamp":"' || moment_text(p_now) || '"}');
END $$;

-- Says something about a drop; `p_more` is further fields, each with its leading comma.
CREATE OR REPLACE FUNCTION tell_drop(p_type text, p_drop uuid, p_more text, p_correlation uuid, p_traceparent text,
    p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    d money_drops;
BEGIN
    UPDATE money_drops SET sequence = sequence + 1 WHERE id = p_drop RETURNING * INTO STRICT d;
    PERFORM tell('money_drop.' || p_type, d.id, d.sequence, p_correlation, p_traceparent,
        '{"money_drop_id":"' || d.id || '","creator_id":"' || d.creator_id || '","amount_per_claim":'
        || d.amount_per_claim || ',"slots":' || d.slots || p_more, p_now);
END $$;

CREATE OR REPLACE FUNCTION tell_request(p_type text, p_request uuid, p_transaction uuid, p_correlation uuid,
    p_traceparent text, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    q payment_requests;
BEGIN
    UPDATE payment_requests SET sequence = sequence + 1 WHERE id = p_request RETURNING * INTO STRICT q;
    PERFORM tell('payment_request.' || p_type, q.id, q.sequence, p_correlation, p_traceparent,
        '{"payment_request_id":"' || q.id || '","owner_id":"' || q.owner_id || '"'
        || coalesce(',"payer_id":"' || q.payer_id || '"', '') || coalesce(',"amount":' || q.amount, '')
        || coalesce(',"transaction_id":"' || p_transaction || '"', ''), p_now);
END $$;

-- Further fields of the event of each completion, in the order of the ids. The payer's text is sealed with the payer's
-- key, so there is none without a payer.
CREATE OR REPLACE FUNCTION told_of_payments(p_ids uuid[]) RETURNS text[] LANGUAGE sql STABLE AS $$
    SELECT array_agg(coalesce(',"recipient_type":' || to_json(u.account_type), '')
        || CASE WHEN t.sender_id IS NOT NULL AND t.type = 'p2p'
            THEN coalesce(',"description":' || to_json(t.description), '') ELSE '' END ORDER BY x.ord)
    FROM unnest(p_ids) WITH ORDINALITY AS x(id, ord)
    JOIN transactions t ON t.id = x.id LEFT JOIN users u ON u.id = t.recipient_id
$$;
