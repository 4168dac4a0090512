-- The inboxes of the last year, as filed message by message. `seed_told` has a row per message.

INSERT INTO notifications (id, user_id, category, kind, title, body, subject, event_id, position, created_at)
SELECT (lpad(to_hex((extract(epoch FROM t.at) * 1000)::bigint), 12, '0') || '7' || substr(t.h, 1, 3) || 'a' || substr(t.h, 4, 15))::uuid,
    t.user_id, t.category, t.kind, t.title, t.body, t.subject,
    (lpad(to_hex((extract(epoch FROM t.at) * 1000)::bigint), 12, '0') || '7' || substr(t.h, 20, 3) || 'b' || substr(t.h, 15, 15))::uuid,
    row_number() OVER (PARTITION BY t.user_id ORDER BY t.at, t.subject, t.kind), t.at
FROM (SELECT x.*, md5('${seed} ' || x.user_id || x.kind || x.subject) AS h FROM seed_told x) t
ORDER BY t.at;

-- Most of it was read; of the latest messages a few are not.
INSERT INTO inboxes (user_id, last_position, read_up_to, unread, revision)
SELECT user_id, max(position), greatest(max(position) - 40, 0), least(max(position), 40), max(position)
FROM notifications GROUP BY 1;
