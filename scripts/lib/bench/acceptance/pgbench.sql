-- One payment by the service's own function for orders: the reference of part a. Run by pgbench -M prepared with
-- -D people=N -D n=0 -D start=<milliseconds since 1970>.
--
-- Ids are UUIDv7 made from a counter per client, so that rows come in at the right edge of their indexes as they do
-- from the service; keys and nonces are random, as they are there.
\set sender random(0, :people - 1)
\set recipient (:sender + random(1, :people - 1)) % :people
\set n :n + 1
\set ms :start + :n * 4
\set client 256 + :client_id
\set a random(1152921504606846976, 2305843009213693951)
\set b random(1152921504606846976, 2305843009213693951)
\set c random(1152921504606846976, 2305843009213693951)
SELECT code, is_replay, route, fee, duty, placed_at FROM place_orders(
    ARRAY[('0' || to_hex(:ms::bigint) || '7' || to_hex(:client::int) || '8' || right(to_hex(:a::bigint), 15))::uuid],
    ARRAY[(SELECT id FROM bench_people WHERE number = :sender::int)],
    ARRAY['bench' || :recipient::int],
    ARRAY[100::bigint],
    ARRAY[NULL::text],
    ARRAY['POST /transactions/p2p'],
    ARRAY[to_hex(:b::bigint) || '-' || to_hex(:c::bigint)],
    ARRAY[decode(repeat(to_hex(:a::bigint), 4), 'hex')],
    ARRAY[(to_hex(:b::bigint) || to_hex(:c::bigint))::uuid],
    ARRAY[(SELECT device FROM bench_people WHERE number = :sender::int)],
    ARRAY[('0' || to_hex(:ms::bigint) || '7' || to_hex(:client::int) || '8' || right(to_hex(:b::bigint), 15))::uuid],
    ARRAY[('0' || to_hex(:ms::bigint) || '7' || to_hex(:client::int) || '9' || right(to_hex(:b::bigint), 15))::uuid],
    ARRAY[('0' || to_hex(:ms::bigint) || '7' || to_hex(:client::int) || 'a' || right(to_hex(:b::bigint), 15))::uuid],
    ARRAY[('0' || to_hex(:ms::bigint) || '7' || to_hex(:client::int) || '8' || right(to_hex(:c::bigint), 15))::uuid],
    ARRAY['00-' || to_hex(:a::bigint) || to_hex(:b::bigint) || '-' || to_hex(:c::bigint) || '-01'],
    ARRAY['p2p'],
    ARRAY[NULL::uuid],
    ARRAY[NULL::text]) ORDER BY ord;
