-- Which of these events the inbox has.
--
-- Always asked of the primary key. The planner must not choose: a day's partition is born empty and may hold a million rows
-- before statistics say so, and a plan made meanwhile would read all of them for every batch. OFFSET keeps the look-up
-- from becoming a join, and the two days let a kept plan open the partitions that matter and no others.
CREATE FUNCTION known_events(ids uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql STABLE
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
