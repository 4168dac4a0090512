-- A row per person: how far the inbox has got, what is read, and what the person wants to hear.
--
-- Positions are counted under the row's lock, held to the commit: a person's messages appear in their order and without
-- gaps. Pages, the live stream and its resume read by position, and `revision` changes with whatever a client may see.

CREATE TABLE inboxes (
    user_id         uuid PRIMARY KEY,
    last_position   bigint NOT NULL DEFAULT 0,
    read_up_to      bigint NOT NULL DEFAULT 0,
    unread          bigint NOT NULL DEFAULT 0 CHECK (unread >= 0),
    revision        bigint NOT NULL DEFAULT 0,
    shows_amounts   boolean NOT NULL DEFAULT false,      -- in pushes, which lie open on a locked phone
    -- What the person has turned off. Money and security are not among what may be.
    muted           text[] COLLATE "C" NOT NULL DEFAULT '{}' CHECK (muted <@ ARRAY[
                        'account.in_app', 'account.push', 'requests.in_app', 'requests.push', 'drops.in_app',
                        'drops.push', 'subscription.in_app', 'subscription.push']::text[]),
    CHECK (read_up_to BETWEEN 0 AND last_position)
) WITH (fillfactor = 70);

ALTER TABLE notifications
    ADD COLUMN category text COLLATE "C" NOT NULL DEFAULT 'account'
        CHECK (category IN ('money', 'security', 'account', 'requests', 'drops', 'subscription')),
    ADD COLUMN position bigint;                          -- null: not in the inbox, for a push alone

UPDATE notifications SET category = CASE
    WHEN kind LIKE 'transaction.%' OR kind IN ('wallet.credited', 'transfer.rerouted.internal') THEN 'money'
    WHEN kind LIKE 'device.%' OR kind = 'user.restricted' THEN 'security'
    WHEN kind LIKE 'payment_request.%' THEN 'requests'
    WHEN kind LIKE 'money_drop.%' THEN 'drops'
    WHEN kind LIKE 'subscription.%' THEN 'subscription' ELSE 'account' END;
UPDATE notifications n SET position = counted.position
FROM (SELECT id, row_number() OVER (PARTITION BY user_id ORDER BY id) AS position FROM notifications) AS counted
WHERE n.id = counted.id;
INSERT INTO inboxes (user_id, last_position, unread, revision)
SELECT user_id, max(position), count(*) FILTER (WHERE read_at IS NULL), 1 FROM notifications GROUP BY user_id;

DROP INDEX notifications_inbox, notifications_unread;
CREATE UNIQUE INDEX notifications_inbox ON notifications (user_id, position) WHERE position IS NOT NULL;
CREATE INDEX notifications_unread ON notifications (user_id, position) WHERE read_at IS NULL AND position IS NOT NULL;
-- Whatever an event means, a person hears of it once.
ALTER TABLE notifications DROP CONSTRAINT notifications_event_id_user_id_kind_key;
CREATE UNIQUE INDEX notifications_event ON notifications (event_id, user_id);

-- The tables are born empty: plans made then, or from statistics of a quiet hour, would read them whole.

-- Writing --------------------------------------------------------------------------------------------------------------

-- Puts a message about an event where the person wants it, once. Returns the position, null when it is not in the inbox;
-- no row when nobody is to hear it, or heard it before.
CREATE FUNCTION file_notification(p_id uuid, p_user uuid, p_category text, p_kind text, p_title text, p_body text,
    p_subject text, p_event uuid, p_now timestamptz)
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
CREATE FUNCTION read_notification(p_user uuid, p_id uuid, p_now timestamptz) RETURNS boolean LANGUAGE plpgsql
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
CREATE FUNCTION read_notifications(p_user uuid, p_up_to bigint) RETURNS bigint LANGUAGE plpgsql
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
CREATE FUNCTION forget_notifications(p_before uuid, p_limit integer) RETURNS bigint LANGUAGE plpgsql
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

-- Rights ---------------------------------------------------------------------------------------------------------------

ALTER TABLE inboxes ENABLE ROW LEVEL SECURITY;
ALTER TABLE inboxes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_inbox ON inboxes TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_inboxes ON inboxes TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON inboxes TO ${handler};
GRANT UPDATE (read_up_to, unread, revision, muted, shows_amounts) ON inboxes TO ${handler};
GRANT SELECT, INSERT, UPDATE, DELETE ON inboxes TO ${worker};
