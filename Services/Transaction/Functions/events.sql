-- What transaction publishes: rows of the outbox, written in the commit that they are about. The members of a kind, or
-- of kinds that say the same, are named once, as deploy/events/asyncapi.json has them. Whoever publishes has the row
-- that is the subject locked, and has written and counted there what the event says.

-- An event id for the rare events that no caller foresees: a UUIDv7, so that it names its outbox day.
CREATE OR REPLACE FUNCTION new_event_id(moment timestamptz) RETURNS uuid LANGUAGE sql VOLATILE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || '7'
        || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
$$;

-- What is not known is not said: no member is ever null.
CREATE OR REPLACE FUNCTION event_data(members json) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT json_strip_nulls(members)::text
$$;

-- Transfers: one statement for all of a batch. An event without an id gets a new one; no ids at all are null. An order
-- out of suspense is told by what becomes of the payment that put the money there.

CREATE OR REPLACE FUNCTION created_data(id uuid, sender uuid, recipient uuid, amount bigint, type text, route text,
    route_reason text, fee bigint, duty bigint, moment text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT event_data(json_build_object('transaction_id', id, 'sender_id', sender, 'recipient_id', recipient,
        'amount', amount, 'type', type, 'route', route, 'route_reason', route_reason, 'fee', fee, 'duty', duty,
        'timestamp', moment))
$$;

CREATE OR REPLACE FUNCTION publish_created(p_ids uuid[], p_events uuid[], p_now timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outbox (day, id, type, subject, sequence, correlation_id, traceparent, time, data)
    SELECT uuid_v7_day(e.id), e.id, 'transaction.created', t.id, 1, t.correlation_id, t.traceparent, p_now,
        created_data(t.id, t.sender_id, t.recipient_id, t.amount, t.type, t.route, t.route_reason, t.fee, t.duty,
            moment_text(p_now))
    FROM unnest(p_ids, p_events) AS x(id, event_id) JOIN transfers t ON t.id = x.id
    CROSS JOIN LATERAL (SELECT coalesce(x.event_id, new_event_id(p_now))) AS e(id);
END $$;

-- What is released from suspense is of the type that put it there, and names the transfer that did: only now has that
-- arrived. The payer's text is sealed with the payer's key, so there is none without a payer.
CREATE OR REPLACE FUNCTION publish_completed(p_ids uuid[], p_causes uuid[], p_events uuid[], p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outbox (day, id, type, subject, sequence, correlation_id, causation_id, traceparent, time, data)
    SELECT uuid_v7_day(e.id), e.id, 'transaction.completed', t.id, t.sequence, t.correlation_id, x.cause,
        t.traceparent, p_now,
        event_data(json_build_object('transaction_id', t.id, 'sender_id', t.sender_id, 'recipient_id', t.recipient_id,
            'amount', t.amount,
            'type', coalesce((SELECT held.type FROM transfers held WHERE held.id = t.parent_id), t.type),
            'route', t.route, 'route_reason', t.route_reason, 'fee', t.fee, 'duty', t.duty,
            'recipient_type', (SELECT u.account_type FROM users u WHERE u.id = t.recipient_id),
            'releases', CASE WHEN t.type = 'inbound' AND t.route_reason = 'released' THEN t.parent_id END,
            'description', CASE WHEN t.sender_id IS NOT NULL AND t.type = 'p2p' THEN t.description END,
            'timestamp', moment_text(p_now)))
    FROM unnest(p_ids, p_causes, p_events) AS x(id, cause, event_id)
    JOIN transfers t ON t.id = x.id AND t.type <> 'release'
    CROSS JOIN LATERAL (SELECT coalesce(x.event_id, new_event_id(p_now))) AS e(id);
END $$;

CREATE OR REPLACE FUNCTION publish_failed(p_ids uuid[], p_causes uuid[], p_events uuid[], p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outbox (day, id, type, subject, sequence, correlation_id, causation_id, traceparent, time, data)
    SELECT uuid_v7_day(e.id), e.id, 'transaction.failed', t.id, t.sequence, t.correlation_id, x.cause, t.traceparent,
        p_now,
        event_data(json_build_object('transaction_id', t.id, 'sender_id', t.sender_id, 'recipient_id', t.recipient_id,
            'amount', t.amount, 'type', t.type, 'route', t.route, 'fee', t.fee, 'duty', t.duty,
            'failure_reason', t.failure_reason, 'timestamp', moment_text(p_now)))
    FROM unnest(p_ids, p_causes, p_events) AS x(id, cause, event_id)
    JOIN transfers t ON t.id = x.id AND t.type <> 'release'
    CROSS JOIN LATERAL (SELECT coalesce(x.event_id, new_event_id(p_now))) AS e(id);
END $$;

-- What the payee had spent, and owes now, is posted as receivable: by the transfer, or by the release of its money out
-- of suspense. That has an event of its own, as what it is in the books: `inbound`.
CREATE OR REPLACE FUNCTION publish_reversed(p_ids uuid[], p_causes uuid[], p_events uuid[], p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outbox (day, id, type, subject, sequence, correlation_id, causation_id, traceparent, time, data)
    SELECT uuid_v7_day(e.id), e.id, 'transaction.reversed', t.id, t.sequence, t.correlation_id, x.cause,
        t.traceparent, p_now,
        event_data(json_build_object('transaction_id', t.id, 'sender_id', t.sender_id, 'recipient_id', t.recipient_id,
            'amount', t.amount, 'type', t.type, 'route', t.route, 'fee', t.fee, 'duty', t.duty,
            'receivable', (SELECT coalesce(sum(l.amount), 0)
                FROM transfers r JOIN entries l ON l.transfer_id = r.id AND l.account_id = r.credit_account
                WHERE l.leg = 'receivable'
                  AND (r.id = t.id OR r.parent_id = t.id AND r.type = 'inbound' AND r.state = 'reversed')),
            'timestamp', moment_text(p_now)))
    FROM unnest(p_ids, p_causes, p_events) AS x(id, cause, event_id)
    JOIN transfers t ON t.id = x.id AND t.type <> 'release'
    CROSS JOIN LATERAL (SELECT coalesce(x.event_id, new_event_id(p_now))) AS e(id);
END $$;

-- Free slots, taken or released. Used is how many are in that month then; null when it is over.

CREATE OR REPLACE FUNCTION slot_data(recipient uuid, transfer uuid, month date, used integer) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT event_data(json_build_object('user_id', recipient, 'transaction_id', transfer,
        'month', to_char(month, 'YYYY-MM'), 'used', used))
$$;

-- Slots of transfers that go back, in the order in which their recipients' events are numbered.
CREATE OR REPLACE FUNCTION publish_released_slots(p_ids uuid[], p_used integer[], p_sequences bigint[],
    p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outbox (day, id, type, subject, sequence, correlation_id, traceparent, time, data)
    SELECT uuid_v7_day(x.event_id), x.event_id, 'external_slot.released', t.recipient_id, x.sequence, t.correlation_id,
        t.traceparent, p_now, slot_data(t.recipient_id, t.id, t.slot_month, x.used)
    FROM (SELECT y.*, new_event_id(p_now) AS event_id
          FROM unnest(p_ids, p_used, p_sequences) WITH ORDINALITY AS y(id, used, sequence, ord)) x
    JOIN transfers t ON t.id = x.id
    ORDER BY x.ord;
END $$;

-- An order stays inside, for a reason that its recipient should know.
CREATE OR REPLACE FUNCTION rerouted_data(id uuid, sender uuid, recipient uuid, amount bigint, reason text, moment text)
RETURNS text LANGUAGE sql STABLE AS $$
    SELECT event_data(json_build_object('transaction_id', id, 'sender_id', sender, 'recipient_id', recipient,
        'amount', amount, 'reason', reason, 'timestamp', moment))
$$;

-- Accepted orders: that there is a transfer, that it took a free slot, that it stays inside for want of one. Nothing is
-- read back: the numbers are those that write_transfers() and count_orders() have written. Orders come with ids for all
-- of their events.
CREATE OR REPLACE FUNCTION publish_orders(p_orders order_facts[], p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_moment constant text := moment_text(p_now);
BEGIN
    INSERT INTO outbox (day, id, type, subject, sequence, correlation_id, traceparent, time, data)
    SELECT uuid_v7_day(e.id), e.id, e.type, e.subject, e.sequence, f.correlation_id, f.traceparent, p_now, e.data
    FROM unnest(p_orders) f CROSS JOIN LATERAL (
        SELECT f.created_event, 'transaction.created', f.id, 1, created_data(f.id, f.sender_id, f.recipient_id,
            f.amount, f.type, f.route, f.route_reason, f.fee, f.duty, v_moment)
        UNION ALL
        SELECT f.slot_event, 'external_slot.taken', f.recipient_id, f.slot_events + 1,
            slot_data(f.recipient_id, f.id, f.slot_month, f.slots_used + 1)
        WHERE f.route_reason = 'free_slot'
        UNION ALL
        SELECT f.rerouted_event, 'transfer.rerouted.internal', f.id, 2,
            rerouted_data(f.id, f.sender_id, f.recipient_id, f.amount, f.route_reason, v_moment)
        WHERE f.route_reason = 'no_slot'
    ) AS e(id, type, subject, sequence, data)
    ORDER BY f.ord, e.sequence;
END $$;

-- Slots that were counted elsewhere, after the counter was corrected.
CREATE OR REPLACE FUNCTION publish_adjusted_slots(p_change text, c receiving_counters, p_cause uuid, p_event uuid,
    p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO outbox (day, id, type, subject, sequence, causation_id, time, data)
    VALUES (uuid_v7_day(p_event), p_event, 'external_slot.' || p_change, c.user_id, c.event_sequence, p_cause, p_now,
        slot_data(c.user_id, NULL, c.month, c.slots_used + c.slots_adjusted));
END $$;

-- Everything else comes one by one.

CREATE OR REPLACE FUNCTION publish(p_type text, p_subject text, p_sequence bigint, p_correlation uuid,
    p_traceparent text, p_members json, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_event constant uuid := new_event_id(p_now);
BEGIN
    INSERT INTO outbox (day, id, type, subject, sequence, correlation_id, traceparent, time, data)
    VALUES (uuid_v7_day(v_event), v_event, p_type, p_subject, p_sequence, p_correlation, p_traceparent, p_now,
        event_data(p_members));
END $$;

-- A drop with its next event counted.
CREATE OR REPLACE FUNCTION next_of_drop(p_drop uuid) RETURNS money_drops LANGUAGE plpgsql AS $$
DECLARE
    d money_drops;
BEGIN
    UPDATE money_drops SET sequence = sequence + 1 WHERE id = p_drop RETURNING * INTO STRICT d;
    RETURN d;
END $$;

-- The funding has arrived.
CREATE OR REPLACE FUNCTION publish_drop_opened(t transfers, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    d constant money_drops := next_of_drop(t.parent_id);
BEGIN
    PERFORM publish('money_drop.opened', d.id::text, d.sequence, t.correlation_id, t.traceparent, json_build_object(
        'money_drop_id', d.id, 'creator_id', d.creator_id, 'amount_per_claim', d.amount_per_claim, 'slots', d.slots,
        'expires_at', moment_text(d.expires_at), 'timestamp', moment_text(p_now)), p_now);
END $$;

-- A claim has arrived.
CREATE OR REPLACE FUNCTION publish_drop_claimed(t transfers, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    d constant money_drops := next_of_drop(t.parent_id);
BEGIN
    PERFORM publish('money_drop.claimed', d.id::text, d.sequence, t.correlation_id, t.traceparent, json_build_object(
        'money_drop_id', d.id, 'creator_id', d.creator_id, 'amount_per_claim', d.amount_per_claim, 'slots', d.slots,
        'claimant_id', t.recipient_id, 'transaction_id', t.id,
        'claimed', (SELECT count(*) FROM drop_slots s WHERE s.drop_id = d.id AND s.state = 'paid'),
        'timestamp', moment_text(p_now)), p_now);
END $$;

-- Nothing more is claimed: `claimed` are those that have arrived or still may.
CREATE OR REPLACE FUNCTION publish_drop_ended(p_drop uuid, p_correlation uuid, p_traceparent text, p_now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    d constant money_drops := next_of_drop(p_drop);
BEGIN
    PERFORM publish('money_drop.ended', d.id::text, d.sequence, p_correlation, p_traceparent, json_build_object(
        'money_drop_id', d.id, 'creator_id', d.creator_id, 'amount_per_claim', d.amount_per_claim, 'slots', d.slots,
        'reason', d.end_reason,
        'claimed', (SELECT count(*) FROM drop_slots s WHERE s.drop_id = d.id AND s.state IN ('claimed', 'paid')),
        'timestamp', moment_text(p_now)), p_now);
END $$;

-- The rest has reached the creator.
CREATE OR REPLACE FUNCTION publish_drop_refunded(t transfers, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    d constant money_drops := next_of_drop(t.parent_id);
BEGIN
    PERFORM publish('money_drop.refunded', d.id::text, d.sequence, t.correlation_id, t.traceparent, json_build_object(
        'money_drop_id', d.id, 'creator_id', d.creator_id, 'amount_per_claim', d.amount_per_claim, 'slots', d.slots,
        'transaction_id', t.id, 'amount', t.amount, 'timestamp', moment_text(p_now)), p_now);
END $$;

-- What became of a request: 'created', 'fulfilled', 'reopened', 'declined', 'cancelled' or 'expired'; by which payment,
-- where one ended.
CREATE OR REPLACE FUNCTION publish_request(p_change text, p_request uuid, p_transfer uuid, p_correlation uuid,
    p_traceparent text, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    q payment_requests;
BEGIN
    UPDATE payment_requests SET sequence = sequence + 1 WHERE id = p_request RETURNING * INTO STRICT q;
    PERFORM publish('payment_request.' || p_change, q.id::text, q.sequence, p_correlation, p_traceparent,
        json_build_object('payment_request_id', q.id, 'owner_id', q.owner_id, 'payer_id', q.payer_id,
            'amount', q.amount, 'transaction_id', p_transfer, 'timestamp', moment_text(p_now)), p_now);
END $$;

-- The answer to an attempt to charge for a plan: 'paid' by a transfer, or 'refused' for a reason.
CREATE OR REPLACE FUNCTION publish_charge(p_answer text, c subscription_charges, p_amount bigint, p_correlation uuid,
    p_traceparent text, p_now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM publish('subscription_charge.' || p_answer, c.reference, c.sequence, p_correlation, p_traceparent,
        json_build_object('user_id', c.user_id, 'reference', c.reference, 'attempt', c.attempt, 'amount', p_amount,
            'reason', c.reason, 'transaction_id', c.transfer_id, 'timestamp', moment_text(p_now)), p_now);
END $$;
