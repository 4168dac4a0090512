-- What people need who repair.

-- One more try of a parked event, by an operator. The first and the newest are kept.
CREATE OR REPLACE FUNCTION note_try(p_event uuid, p_tried_at timestamptz, p_microseconds bigint, p_error text)
RETURNS void LANGUAGE sql AS $$
    INSERT INTO parked_tries (event_id, number, tried_at, microseconds, error)
    SELECT e.id, 1 + coalesce((SELECT max(t.number) FROM parked_tries t WHERE t.event_id = e.id), 0), p_tried_at,
        p_microseconds, p_error
    FROM parked_events e WHERE e.id = p_event;
    DELETE FROM parked_tries t WHERE t.event_id = p_event AND t.number > 1
        AND t.number <= (SELECT max(n.number) FROM parked_tries n WHERE n.event_id = p_event) - 49;
$$;
