-- A bank account that was added a moment ago takes little money at first: whoever has got hold of a phone adds an account
-- and empties the wallet into it. Like the first day of a new device, and beside it.

CREATE TABLE beneficiary_caps (
    valid_from      timestamptz PRIMARY KEY,
    cap             bigint NOT NULL,
    lasting         interval NOT NULL
);
INSERT INTO beneficiary_caps VALUES ('-infinity', 2000000, '24 hours');
GRANT SELECT ON beneficiary_caps TO ${handler}, ${worker};

ALTER TABLE beneficiaries ADD COLUMN added_at timestamptz;           -- null: added before this was noted

-- One rule more in accept_payments(), as text of 0010 with what is added here. What was sent there since is read from the
-- sender's own transfers of that day, under the lock that holds up the sender's other orders.
DO $patch$
DECLARE
    r record;
    v_text text;
BEGIN
    FOR r IN SELECT * FROM (VALUES
        ('accept_payments', 'own.counterparty_id AS own_counterparty,',
         'own.counterparty_id AS own_counterparty,
            CASE WHEN own.added_at > v_now - bc.lasting THEN bc.cap - (SELECT coalesce(sum(y.amount), 0)::bigint
                FROM transactions y WHERE y.sender_id = q.sender_id AND y.id >= first_id(own.added_at)
                  AND y.beneficiary_id = own.id AND y.type = ''self_transfer'' AND y.state NOT IN (''failed'', ''reversed''))
                END AS own_left,'),
        ('accept_payments', 'WHERE x.id = q.target AND q.type = ''p2p'') pr ON true',
         'WHERE x.id = q.target AND q.type = ''p2p'') pr ON true
        LEFT JOIN LATERAL (SELECT * FROM beneficiary_caps x WHERE q.type = ''self_transfer'' AND x.valid_from <= v_now
            ORDER BY x.valid_from DESC LIMIT 1) bc ON true'),
        ('accept_payments', 'v_requested boolean[] := array_fill(false, ARRAY[n]);',
         'v_requested boolean[] := array_fill(false, ARRAY[n]);
    v_young     bigint[] := array_fill(0::bigint, ARRAY[n]);'),
        ('accept_payments', 'v_code := ''limit_new_device'';',
         'v_code := ''limit_new_device'';
        ELSIF r.amount > r.own_left - v_young[r.at_target] THEN
            v_code := ''limit_new_beneficiary'';'),
        ('accept_payments', 'IF r.type = ''self_transfer'' THEN',
         'IF r.type = ''self_transfer'' THEN
                v_young[r.at_target] := v_young[r.at_target] + r.amount;'),
        ('refusal_body', 'WHEN ''expiry_invalid'' THEN',
         'WHEN ''limit_new_beneficiary'' THEN ''The amount is above what a new bank account takes on its first day.''
            WHEN ''expiry_invalid'' THEN')
    ) AS x(name, found, instead)
    LOOP
        v_text := pg_get_functiondef(r.name::regproc);
        IF cardinality(string_to_array(v_text, r.found)) <> 2 THEN
            RAISE EXCEPTION '% does not hold this once: %', r.name, r.found;
        END IF;
        EXECUTE replace(v_text, r.found, r.instead);
    END LOOP;
END $patch$;

-- Patterns that people should look at. They are seen after the fact, among the newest transfers, so that no payment waits
-- for it; nothing is refused because of one, and whoever has looked clears it with a note.

CREATE TABLE signals (
    id              uuid PRIMARY KEY,
    user_id         uuid NOT NULL,
    kind            text COLLATE "C" NOT NULL
                    CHECK (kind IN ('many_recipients', 'many_senders', 'passes_on', 'many_drops')),
    detail          text NOT NULL,                       -- JSON, numbers only
    state           text COLLATE "C" NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'cleared')),
    first_seen      timestamptz NOT NULL,
    last_seen       timestamptz NOT NULL,
    cleared_by      text,
    cleared_at      timestamptz,
    note            text,
    CHECK ((state = 'cleared') = (cleared_by IS NOT NULL AND cleared_at IS NOT NULL AND note IS NOT NULL))
);
CREATE UNIQUE INDEX signals_open ON signals (user_id, kind) WHERE state = 'open';
CREATE INDEX signals_cleared ON signals (user_id, kind, cleared_at) WHERE state = 'cleared';

-- What stands out within an hour, of at most so many of the newest transfers:
--     many_recipients     paid more than 20 people                many_senders    a person paid by more than 20
--     passes_on           received 100,000 naira or more, and has sent nine tenths of it on
--     many_drops          claimed from five drops of one person or more
CREATE FUNCTION patterns(p_limit integer, p_now timestamptz) RETURNS TABLE (user_id uuid, kind text, detail text)
LANGUAGE sql STABLE AS $$
    WITH newest AS MATERIALIZED (
        SELECT t.type, t.sender_id, t.recipient_id, t.amount, t.route, t.route_reason, t.parent_id FROM transactions t
        WHERE t.id >= first_id(p_now - interval '1 hour') AND t.state NOT IN ('failed', 'reversed')
        ORDER BY t.id DESC LIMIT p_limit
    ),
    moved AS (
        SELECT x.user_id, sum(x.received)::bigint AS received, sum(x.sent)::bigint AS sent FROM (
            SELECT n.recipient_id AS user_id, n.amount AS received, 0 AS sent FROM newest n
            WHERE n.recipient_id IS NOT NULL AND n.route = 'internal' AND n.route_reason <> 'suspense'
            UNION ALL SELECT n.sender_id, 0, n.amount FROM newest n WHERE n.type IN ('p2p', 'self_transfer')
        ) x GROUP BY x.user_id
    )
    SELECT n.sender_id, 'many_recipients', json_build_object('recipients', count(DISTINCT n.recipient_id))::text
        FROM newest n WHERE n.type = 'p2p' GROUP BY n.sender_id HAVING count(DISTINCT n.recipient_id) > 20
    UNION ALL SELECT n.recipient_id, 'many_senders', json_build_object('senders', count(DISTINCT n.sender_id))::text
        FROM newest n JOIN users u ON u.id = n.recipient_id WHERE n.type = 'p2p' AND u.account_type = 'personal'
        GROUP BY n.recipient_id HAVING count(DISTINCT n.sender_id) > 20
    UNION ALL SELECT m.user_id, 'passes_on', json_build_object('received', m.received, 'sent', m.sent)::text
        FROM moved m JOIN users u ON u.id = m.user_id
        WHERE u.account_type = 'personal' AND m.received >= 10000000 AND m.sent >= m.received / 10 * 9
    UNION ALL SELECT x.claimant, 'many_drops', json_build_object('drops', max(x.drops))::text FROM (
            SELECT n.recipient_id AS claimant, count(DISTINCT d.id) AS drops
            FROM newest n JOIN money_drops d ON d.id = n.parent_id WHERE n.type = 'drop_claim'
            GROUP BY n.recipient_id, d.creator_id HAVING count(DISTINCT d.id) >= 5
        ) x GROUP BY x.claimant
$$;

-- Writes down what stands out. What was cleared within a day is not raised again. Returns how many are open.
CREATE FUNCTION note_signals(p_limit integer, p_now timestamptz DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now constant timestamptz := coalesce(p_now, transfa_now());
BEGIN
    INSERT INTO signals AS s (id, user_id, kind, detail, first_seen, last_seen)
    SELECT new_event_id(v_now), p.user_id, p.kind, p.detail, v_now, v_now FROM patterns(p_limit, v_now) p
    WHERE NOT EXISTS (SELECT 1 FROM signals c WHERE c.user_id = p.user_id AND c.kind = p.kind AND c.state = 'cleared'
        AND c.cleared_at > v_now - interval '1 day')
    ON CONFLICT (user_id, kind) WHERE state = 'open' DO UPDATE SET detail = excluded.detail, last_seen = v_now;
    RETURN (SELECT count(*) FROM signals s WHERE s.state = 'open');
END $$;

-- 'cleared', or why not.
CREATE FUNCTION clear_signal(p_id uuid, p_operator text, p_note text, p_request uuid, p_now timestamptz DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    s signals;
BEGIN
    SELECT * INTO s FROM signals x WHERE x.id = p_id FOR NO KEY UPDATE;
    IF s.id IS NULL THEN RETURN 'unknown'; END IF;
    IF s.state = 'cleared' THEN RETURN 'decided'; END IF;
    v_now := coalesce(p_now, transfa_now());
    UPDATE signals x SET state = 'cleared', cleared_by = p_operator, cleared_at = v_now, note = p_note WHERE x.id = p_id;
    PERFORM record_act(p_operator, 'signal.cleared', s.user_id::text,
        json_build_object('signal', s.id, 'kind', s.kind, 'detail', s.detail::json)::text,
        json_build_object('reason', p_note)::text, p_request, v_now);
    RETURN 'cleared';
END $$;

REVOKE ALL ON FUNCTION patterns(integer, timestamptz), note_signals(integer, timestamptz),
    clear_signal(uuid, text, text, uuid, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION note_signals(integer, timestamptz), clear_signal(uuid, text, text, uuid, timestamptz) TO ${worker};
GRANT SELECT ON signals TO ${worker};
ALTER TABLE signals ENABLE ROW LEVEL SECURITY;
ALTER TABLE signals FORCE ROW LEVEL SECURITY;
CREATE POLICY all_rows ON signals TO ${owner}, ${worker} USING (true) WITH CHECK (true);
