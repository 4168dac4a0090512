-- What the inbox knows of events.
--
-- Always asked of the primary key. The planner must not choose: a day's partition is born empty and may hold a million
-- rows before statistics say so, and a plan made meanwhile would read all of them for every batch. OFFSET keeps the
-- look-up from becoming a join, and the two days let a kept plan open the partitions that matter and no others.

-- Which of these events the inbox has.
CREATE OR REPLACE FUNCTION known_events(ids uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql STABLE
SET enable_seqscan = off AS $$
DECLARE
    first_day date;
    last_day date;
BEGIN
    SELECT min(uuid_v7_day(u.id)), max(uuid_v7_day(u.id)) INTO first_day, last_day FROM unnest(ids) AS u(id);
    RETURN QUERY SELECT u.id FROM unnest(ids) AS u(id)
    WHERE EXISTS (
        SELECT 1 FROM inbox i
        WHERE i.day = uuid_v7_day(u.id) AND i.id = u.id AND i.day BETWEEN first_day AND last_day OFFSET 0
    );
END $$;

-- Which of these events wait parked, or were discarded: a retry applies them, or nobody.
CREATE OR REPLACE FUNCTION put_aside(ids uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql STABLE
SET enable_seqscan = off AS $$
DECLARE
    first_day date;
    last_day date;
BEGIN
    SELECT min(uuid_v7_day(u.id)), max(uuid_v7_day(u.id)) INTO first_day, last_day FROM unnest(ids) AS u(id);
    RETURN QUERY SELECT u.id FROM unnest(ids) AS u(id)
    WHERE EXISTS (
        SELECT 1 FROM inbox i WHERE i.day = uuid_v7_day(u.id) AND i.id = u.id AND i.day BETWEEN first_day AND last_day
            AND i.outcome <> 'handled' OFFSET 0
    ) OR EXISTS (SELECT 1 FROM parked_events p WHERE p.id = u.id OFFSET 0);
END $$;
