-- Payments that somebody should look at, and what people dispute.

-- What stands out within an hour, of at most so many of the newest transfers:
--     many_recipients     paid more than 20 people                many_senders    a person paid by more than 20
--     passes_on           received 100,000 naira or more, and has sent nine tenths of it on
--     many_drops          claimed from five drops of one person or more
-- With how many people or drops, or, of money that is passed on, how much.
CREATE OR REPLACE FUNCTION find_risks(p_limit integer, p_now timestamptz)
RETURNS TABLE (user_id uuid, kind text, counted bigint, received bigint, sent bigint)
LANGUAGE sql STABLE AS $$
    WITH newest AS MATERIALIZED (
        SELECT t.type, t.sender_id, t.recipient_id, t.amount, t.route, t.route_reason, t.parent_id FROM transfers t
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
    SELECT n.sender_id, 'many_recipients', count(DISTINCT n.recipient_id), NULL::bigint, NULL::bigint
        FROM newest n WHERE n.type = 'p2p' GROUP BY n.sender_id HAVING count(DISTINCT n.recipient_id) > 20
    UNION ALL SELECT n.recipient_id, 'many_senders', count(DISTINCT n.sender_id), NULL, NULL
        FROM newest n JOIN users u ON u.id = n.recipient_id WHERE n.type = 'p2p' AND u.account_type = 'personal'
        GROUP BY n.recipient_id HAVING count(DISTINCT n.sender_id) > 20
    UNION ALL SELECT m.user_id, 'passes_on', NULL, m.received, m.sent
        FROM moved m JOIN users u ON u.id = m.user_id
        WHERE u.account_type = 'personal' AND m.received >= 10000000 AND m.sent >= m.received / 10 * 9
    UNION ALL SELECT x.claimant, 'many_drops', max(x.drops), NULL, NULL FROM (
            SELECT n.recipient_id AS claimant, count(DISTINCT d.id) AS drops
            FROM newest n JOIN money_drops d ON d.id = n.parent_id WHERE n.type = 'drop_claim'
            GROUP BY n.recipient_id, d.creator_id HAVING count(DISTINCT d.id) >= 5
        ) x GROUP BY x.claimant
$$;

-- Writes down what stands out. What was cleared within a day is not raised again. Returns how many are open.
CREATE OR REPLACE FUNCTION note_risk_alerts(p_limit integer, p_now timestamptz DEFAULT NULL) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_now constant timestamptz := coalesce(p_now, transfa_now());
BEGIN
    INSERT INTO risk_alerts AS a (id, user_id, kind, counted, received, sent, first_seen, last_seen)
    SELECT new_event_id(v_now), r.user_id, r.kind, r.counted, r.received, r.sent, v_now, v_now
    FROM find_risks(p_limit, v_now) r
    WHERE NOT EXISTS (SELECT 1 FROM risk_alerts c
        WHERE c.user_id = r.user_id AND c.kind = r.kind AND c.state = 'cleared'
          AND c.cleared_at > v_now - interval '1 day')
    ON CONFLICT (user_id, kind) WHERE state = 'open' DO UPDATE
    SET counted = excluded.counted, received = excluded.received, sent = excluded.sent, last_seen = v_now;
    RETURN (SELECT count(*) FROM risk_alerts a WHERE a.state = 'open');
END $$;

-- 'cleared' and what was, or why not.
CREATE OR REPLACE FUNCTION clear_risk_alert(p_id uuid, p_operator text, p_note text, p_now timestamptz DEFAULT NULL,
    OUT result text, OUT user_id uuid, OUT kind text, OUT counted bigint, OUT received bigint, OUT sent bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    a risk_alerts;
BEGIN
    SELECT * INTO a FROM risk_alerts x WHERE x.id = p_id FOR NO KEY UPDATE;
    result := CASE WHEN a.id IS NULL THEN 'unknown' WHEN a.state = 'cleared' THEN 'decided' END;
    IF result IS NOT NULL THEN RETURN; END IF;
    v_now := coalesce(p_now, transfa_now());
    UPDATE risk_alerts x SET state = 'cleared', cleared_by = p_operator, cleared_at = v_now, note = p_note
    WHERE x.id = p_id;
    SELECT 'cleared', a.user_id, a.kind, a.counted, a.received, a.sent
    INTO result, user_id, kind, counted, received, sent;
END $$;

-- 'opened', or why not. The person's receiving_counters row is the mutex of how many disputes they have.
CREATE OR REPLACE FUNCTION open_dispute(p_id uuid, p_transfer uuid, p_user uuid, p_reason text, p_description text,
    p_now timestamptz DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_of_transfer bigint;
    v_unanswered bigint;
BEGIN
    PERFORM 1 FROM receiving_counters c WHERE c.user_id = p_user FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    IF NOT EXISTS (SELECT 1 FROM transfers t
                   WHERE t.id = p_transfer AND (t.sender_id = p_user OR t.recipient_id = p_user)) THEN
        RETURN 'unknown';
    END IF;
    IF EXISTS (SELECT 1 FROM disputes d
               WHERE d.transfer_id = p_transfer AND d.user_id = p_user AND d.state <> 'closed') THEN
        RETURN 'dispute_open';
    END IF;
    SELECT count(*) FILTER (WHERE d.transfer_id = p_transfer), count(*) FILTER (WHERE d.state <> 'closed')
    INTO v_of_transfer, v_unanswered FROM disputes d WHERE d.user_id = p_user;
    IF v_of_transfer >= 5 OR v_unanswered >= 20 THEN RETURN 'too_many_disputes'; END IF;
    INSERT INTO disputes (id, transfer_id, user_id, reason, description, opened_at, due_at)
    VALUES (p_id, p_transfer, p_user, p_reason, p_description, v_now, v_now + interval '72 hours');
    RETURN 'opened';
END $$;
