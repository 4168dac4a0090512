-- Messages in a person's inbox. Positions and counts change under the lock of the row in `inboxes`.
--
-- The tables are born empty: plans made then, or from statistics of a quiet hour, would read them whole.

-- Puts a message about an event where the person wants it, once. Returns the position, null when it is not in the
-- inbox; no row when nobody is to hear it, or heard it before.
CREATE OR REPLACE FUNCTION file_notification(p_id uuid, p_user uuid, p_category text, p_kind text, p_title text,
    p_body text, p_subject text, p_event uuid, p_now timestamptz)
RETURNS TABLE (place bigint) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    b inboxes;
BEGIN
    IF EXISTS (SELECT 1 FROM users u WHERE u.id = p_user AND u.erased_at IS NOT NULL) THEN RETURN; END IF;
    SELECT * INTO b FROM inboxes x WHERE x.user_id = p_user FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        INSERT INTO inboxes (user_id) VALUES (p_user) ON CONFLICT (user_id) DO NOTHING;
        SELECT * INTO STRICT b FROM inboxes x WHERE x.user_id = p_user FOR NO KEY UPDATE;
    END IF;
    IF p_category || '.in_app' = ANY (b.muted) THEN
        IF p_category || '.push' = ANY (b.muted) THEN RETURN; END IF;
        place := NULL;
    ELSE
        place := b.last_position + 1;
    END IF;
    INSERT INTO notifications (id, user_id, category, kind, title, body, subject, event_id, position, created_at)
    VALUES (p_id, p_user, p_category, p_kind, p_title, p_body, p_subject, p_event, place, p_now)
    ON CONFLICT (event_id, user_id) DO NOTHING;
    IF NOT FOUND THEN RETURN; END IF;
    IF place IS NOT NULL THEN
        UPDATE inboxes x SET last_position = place, unread = x.unread + 1, revision = x.revision + 1
        WHERE x.user_id = p_user;
    END IF;
    RETURN NEXT;
END $$;

-- Marks one message read; false when the person has no such message.
CREATE OR REPLACE FUNCTION read_notification(p_user uuid, p_id uuid, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
BEGIN
    PERFORM 1 FROM inboxes b WHERE b.user_id = p_user FOR NO KEY UPDATE;
    UPDATE notifications n SET read_at = p_now FROM inboxes b
    WHERE n.id = p_id AND n.user_id = p_user AND b.user_id = p_user AND n.read_at IS NULL AND n.position > b.read_up_to;
    IF FOUND THEN
        UPDATE inboxes b SET unread = b.unread - 1, revision = b.revision + 1 WHERE b.user_id = p_user;
        RETURN true;
    END IF;
    RETURN EXISTS (SELECT 1 FROM notifications n WHERE n.id = p_id AND n.user_id = p_user AND n.position IS NOT NULL);
END $$;

-- Marks everything up to a position read, or everything; returns what is unread then. However long the inbox is, one
-- row changes: what lies below `read_up_to` is read.
CREATE OR REPLACE FUNCTION read_notifications(p_user uuid, p_up_to bigint) RETURNS bigint LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    b inboxes;
    v_to bigint;
    v_unread bigint;
BEGIN
    SELECT * INTO b FROM inboxes x WHERE x.user_id = p_user FOR NO KEY UPDATE;
    IF NOT FOUND THEN RETURN 0; END IF;
    v_to := least(coalesce(p_up_to, b.last_position), b.last_position);
    IF v_to <= b.read_up_to THEN RETURN b.unread; END IF;
    v_unread := (SELECT count(*) FROM notifications n
        WHERE n.user_id = p_user AND n.position > v_to AND n.read_at IS NULL);
    UPDATE inboxes x SET read_up_to = v_to, unread = v_unread,
        revision = x.revision + CASE WHEN x.unread <> v_unread THEN 1 ELSE 0 END
    WHERE x.user_id = p_user;
    RETURN v_unread;
END $$;

-- Deletes some of the oldest messages made before a moment; returns how many. `p_before` is the smallest UUIDv7 of it.
CREATE OR REPLACE FUNCTION forget_notifications(p_before uuid, p_limit integer) RETURNS bigint LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
DECLARE
    v_ids uuid[] := ARRAY(SELECT n.id FROM notifications n WHERE n.id < p_before ORDER BY n.id LIMIT p_limit);
BEGIN
    PERFORM 1 FROM inboxes b
    WHERE b.user_id IN (SELECT n.user_id FROM notifications n WHERE n.id = ANY (v_ids))
    ORDER BY b.user_id FOR NO KEY UPDATE;
    WITH gone AS (
        DELETE FROM notifications n WHERE n.id = ANY (v_ids) RETURNING n.user_id, n.position, n.read_at
    ), counted AS (
        SELECT g.user_id, count(*) FILTER (WHERE g.read_at IS NULL AND g.position > b.read_up_to) AS unread
        FROM gone g JOIN inboxes b ON b.user_id = g.user_id GROUP BY g.user_id
    )
    UPDATE inboxes b SET unread = b.unread - c.unread, revision = b.revision + 1
    FROM counted c WHERE b.user_id = c.user_id;
    RETURN cardinality(v_ids);
END $$;
