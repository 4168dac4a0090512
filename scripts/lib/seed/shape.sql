-- What happened: who moved how much to whom and when. Decided by numbers and the seed alone, in tables of this session.
--
-- Person 1 takes part in a tenth of all transactions, as payer, payee, or creator and claimant of drops. The others begin
-- transactions by Zipf's law, and meet people chosen evenly. Times are milliseconds of 1970.

-- From 0 to 1, the same for the same seed.
CREATE FUNCTION pg_temp.chance(n bigint, salt bigint) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT (hashint8extended(n, ${seed} * 1000 + salt) & 4294967295)::double precision / 4294967296
$$;

-- Anybody but person 1, by Zipf's law; anybody but person 1, evenly.
CREATE FUNCTION pg_temp.busy(x double precision) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT least(${users}, 1 + floor(4 * power((${users} + 3) / 4.0::double precision, x) - 3)::integer)
$$;
CREATE FUNCTION pg_temp.anybody(x double precision) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
    SELECT 2 + floor(x * (${users} - 1))::integer
$$;

-- As the product makes ids: of a moment, and random. `h` is 32 hexadecimal digits.
CREATE FUNCTION pg_temp.id_at(ms bigint, h text) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (lpad(to_hex(ms), 12, '0') || '7' || substr(h, 1, 3) || substr('89ab', 1 + ascii(h) % 4, 1) || substr(h, 5, 15))::uuid
$$;
CREATE FUNCTION pg_temp.random_id(h text) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (substr(h, 1, 12) || '4' || substr(h, 14, 3) || substr('89ab', 1 + ascii(h) % 4, 1) || substr(h, 18, 15))::uuid
$$;
CREATE FUNCTION pg_temp.moment(ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
    SELECT to_timestamp(ms::double precision / 1000)
$$;

-- Drops of person 1, one of them large, and drops of others that person 1 claims.
CREATE TEMP TABLE seed_drops AS
SELECT x.*, nextval('ledger_account_ids') AS pool_id, pg_temp.random_id(x.h) AS id
FROM (
    SELECT d AS n,
        CASE WHEN d <= ${own_drops} THEN 1 ELSE pg_temp.busy(pg_temp.chance(d, 1)) END AS creator,
        CASE WHEN d = ${own_drops} / 2 THEN ${big_slots} WHEN d <= ${own_drops} AND d % 10 = 0 THEN 3 ELSE 1 END AS slots,
        CASE WHEN d = ${own_drops} / 2 THEN ${big_slots} WHEN d <= ${own_drops} AND d % 10 = 0 THEN 2 ELSE 1 END AS claims,
        100 * (10 + floor(pg_temp.chance(d, 2) * 490))::bigint AS amount,
        ${first} + 7200000 + floor(pg_temp.chance(d, 3) * (${span} - 7200000))::bigint AS ms,
        md5('${seed} drop ' || d) AS h
    FROM generate_series(1, ${own_drops} + ${claimed_drops}) AS d
    ORDER BY 6
) x;
ANALYZE seed_drops;

CREATE TEMP TABLE seed_moves (
    n bigint NOT NULL, type text NOT NULL, ms bigint NOT NULL, sender integer, recipient integer, amount bigint NOT NULL,
    drop_n bigint
);

INSERT INTO seed_moves
SELECT 10000000 + d.n, 'money_drop', d.ms, d.creator, NULL, d.amount * d.slots, d.n FROM seed_drops d;
INSERT INTO seed_moves
SELECT 20000000 + d.n * 1000 + k, 'drop_claim', d.ms + 60000 + k * 1000, NULL,
    CASE WHEN d.creator = 1 THEN 2 + ((floor(pg_temp.chance(d.n, 4) * ${users})::bigint + k) % (${users} - 1))::integer ELSE 1 END,
    d.amount, d.n
FROM seed_drops d CROSS JOIN LATERAL generate_series(1, d.claims) k;
INSERT INTO seed_moves
SELECT 100000000 + d.n, 'drop_refund', d.ms + 86460000, NULL, d.creator, d.amount * (d.slots - d.claims), d.n
FROM seed_drops d WHERE d.claims < d.slots;

-- Plans: the current month of everybody who has one, two years of person 1.
INSERT INTO seed_moves
SELECT 110000000 + p.rank * 100 + j, 'subscription_charge',
    ${first} + ${span} - j * 2592000000 - floor(pg_temp.chance(p.rank, 5) * 2160000000)::bigint, p.rank, NULL, 150000, NULL
FROM seed_people p CROSS JOIN LATERAL generate_series(0, CASE WHEN p.rank = 1 THEN 22 ELSE 0 END) j
WHERE p.has_plan;

-- The rest of person 1, much of it with person 2.
INSERT INTO seed_moves
SELECT 200000000 + x.i, x.type, ${first} + 7200000 + floor(pg_temp.chance(x.i, 14) * (${span} - 7200000))::bigint,
    CASE WHEN x.type = 'self_transfer' OR x.type = 'p2p' AND x.pays THEN 1 WHEN x.type = 'p2p' THEN x.other END,
    CASE WHEN x.type = 'inbound' OR x.type = 'p2p' AND NOT x.pays THEN 1 WHEN x.type = 'p2p' THEN x.other END,
    CASE x.type WHEN 'inbound' THEN 20 ELSE 1 END * 100 * floor(exp(2.3 + 5 * pg_temp.chance(x.i, 15)))::bigint, NULL
FROM (
    SELECT i, CASE WHEN pg_temp.chance(i, 10) < 0.04 THEN 'inbound' WHEN pg_temp.chance(i, 10) < 0.07 THEN 'self_transfer'
            ELSE 'p2p' END AS type,
        pg_temp.chance(i, 11) < 0.5 AS pays,
        CASE WHEN pg_temp.chance(i, 12) < 0.42 THEN 2 ELSE pg_temp.anybody(pg_temp.chance(i, 13)) END AS other
    FROM generate_series(1, ${heavy} - 1 - (SELECT count(*) FROM seed_moves m WHERE 1 IN (m.sender, m.recipient))) i
) x;

-- Everybody else.
INSERT INTO seed_moves
SELECT 300000000 + x.i, x.type, ${first} + 7200000 + floor(pg_temp.chance(x.i, 24) * (${span} - 7200000))::bigint,
    CASE WHEN x.type <> 'inbound' THEN x.who END,
    CASE x.type WHEN 'inbound' THEN x.who WHEN 'p2p' THEN CASE WHEN x.other <> x.who THEN x.other
        WHEN x.who = ${users} THEN 2 ELSE x.who + 1 END END,
    CASE x.type WHEN 'inbound' THEN 20 ELSE 1 END * 100 * floor(exp(2.3 + 5 * pg_temp.chance(x.i, 25)))::bigint, NULL
FROM (
    SELECT 1000000 + i AS i, CASE WHEN pg_temp.chance(1000000 + i, 20) < 0.12 THEN 'inbound'
            WHEN pg_temp.chance(1000000 + i, 20) < 0.18 THEN 'self_transfer' ELSE 'p2p' END AS type,
        pg_temp.busy(pg_temp.chance(1000000 + i, 21)) AS who, pg_temp.anybody(pg_temp.chance(1000000 + i, 22)) AS other
    FROM generate_series(1, ${transactions} - ${users} - (SELECT count(*) FROM seed_moves)) i
) x;
ANALYZE seed_moves;

-- Which way each went and how it ended. Of a month's payments to the bank of somebody without plan five are free.
CREATE TEMP TABLE seed_routed AS
SELECT x.n, x.type, x.ms, x.ms + 300 + floor(pg_temp.chance(x.n, 40) * 2000)::bigint AS done, x.sender, x.recipient,
    x.amount, x.drop_n, x.way AS route_reason,
    CASE WHEN x.way IN ('plan', 'free_slot', 'self_transfer') THEN 'external' ELSE 'internal' END AS route,
    CASE WHEN x.type = 'p2p' AND pg_temp.chance(x.n, 41) < 0.03 THEN 'failed'
        WHEN x.type = 'p2p' AND x.way IN ('plan', 'free_slot') AND pg_temp.chance(x.n, 41) > 0.99 THEN 'reversed'
        ELSE 'completed' END AS state,
    CASE x.type WHEN 'self_transfer' THEN 1000 ELSE 0 END::bigint AS fee,
    CASE WHEN x.type = 'self_transfer' AND x.amount >= 100000 THEN 5000 ELSE 0 END::bigint AS duty,
    CASE WHEN x.way = 'free_slot' THEN month_of(x.day) END AS slot_month, x.day,
    md5('${seed} move ' || x.n) AS h
FROM (
    SELECT m.*, CASE WHEN m.type = 'inbound' THEN 'credited' WHEN m.type <> 'p2p' THEN m.type WHEN r.to_wallet THEN 'prefers_wallet'
        WHEN r.has_plan THEN 'plan'
        WHEN row_number() OVER (PARTITION BY CASE WHEN m.type = 'p2p' AND NOT r.to_wallet AND NOT r.has_plan THEN m.recipient END,
            month_of(m.day) ORDER BY m.ms, m.n) <= 5 THEN 'free_slot' ELSE 'no_slot' END AS way
    FROM (SELECT y.*, lagos_day(pg_temp.moment(y.ms)) AS day FROM seed_moves y) m
    LEFT JOIN seed_people r ON r.rank = m.recipient
) x;

-- Everybody's first money covers what they lack later.
INSERT INTO seed_routed
SELECT p.rank, 'inbound', f.ms, f.ms, NULL, p.rank, coalesce(-least(w.lowest, 0), 0) + 1000000, NULL, 'credited', 'internal',
    'completed', 0, 0, NULL, lagos_day(pg_temp.moment(f.ms)), md5('${seed} move ' || p.rank)
FROM seed_people p CROSS JOIN LATERAL (SELECT ${first} + p.rank * 3600000::bigint / ${users} AS ms) f
LEFT JOIN (
    SELECT z.rank, min(z.running)::bigint AS lowest FROM (
        SELECT y.rank, sum(y.delta) OVER (PARTITION BY y.rank ORDER BY y.done, y.n ROWS UNBOUNDED PRECEDING) AS running
        FROM (
            SELECT sender AS rank, done, n, -amount - fee - duty AS delta FROM seed_routed
            WHERE sender IS NOT NULL AND state <> 'failed'
            UNION ALL
            SELECT recipient, done, n, amount FROM seed_routed
            WHERE recipient IS NOT NULL AND state <> 'failed' AND route = 'internal' AND type <> 'money_drop'
        ) y
    ) z GROUP BY 1
) w ON w.rank = p.rank;
