-- Ann has 1,000. A payment is held when it is placed, and booked when the provider has made it.
SELECT pg_temp.join('ann'), pg_temp.join('bob', 'bobs-bank'), pg_temp.join('carl');
SELECT pg_temp.receive('ann-account', 1000, 'payment-1');
SELECT * FROM pg_temp.booked();

-- Bob has a bank account and a free slot left: the money goes to his bank.
SELECT * FROM pg_temp.place('rent', 'ann', 'bob', 300);
SELECT * FROM pg_temp.wallets();
SELECT * FROM pg_temp.submit('rent');
SELECT pg_temp.settle('rent', 'completed');
SELECT * FROM pg_temp.booked();

-- Carl has none: the money goes to his wallet. Today that costs 5 and a stamp duty of 2.
INSERT INTO fee_schedule VALUES ('p2p', 'internal', transfa_now() - interval '1 minute', 0, 5, 2);
SELECT * FROM pg_temp.place('lunch', 'ann', 'carl', 100);
SELECT * FROM pg_temp.submit('lunch');
SELECT pg_temp.settle('lunch', 'completed');
SELECT * FROM pg_temp.booked();

-- The same order again is the same order; more than there is is refused.
SELECT code, is_replay FROM place_orders(
    ARRAY[gen_random_uuid()], ARRAY[pg_temp.id_of('ann')], ARRAY['carl'], ARRAY[100], ARRAY[NULL],
    ARRAY['example'], ARRAY['lunch'], ARRAY['\x00'::bytea], ARRAY[gen_random_uuid()], ARRAY[NULL::uuid],
    ARRAY[NULL::uuid], ARRAY[NULL::uuid], ARRAY[NULL::uuid], ARRAY[NULL::uuid], ARRAY[NULL], ARRAY['p2p'],
    ARRAY[NULL::uuid], ARRAY[NULL]);
SELECT * FROM pg_temp.place('yacht', 'ann', 'carl', 5000);

-- A payment that fails gives back what it held, and books nothing.
SELECT * FROM pg_temp.place('gift', 'ann', 'bob', 50);
SELECT * FROM pg_temp.submit('gift');
SELECT pg_temp.settle('gift', 'failed');
SELECT * FROM pg_temp.booked();
SELECT * FROM pg_temp.wallets();

-- A withdrawal to a bank account of one's own.
INSERT INTO beneficiaries (id, user_id, counterparty_id, verified, is_default)
VALUES (pg_temp.id_of('anns-bank'), pg_temp.id_of('ann'), 'anns-bank', true, true);
SELECT * FROM pg_temp.place('home', 'ann', NULL, 40, 'self_transfer', 'anns-bank');
SELECT * FROM pg_temp.submit('home');
SELECT pg_temp.settle('home', 'completed');
SELECT * FROM pg_temp.booked();
SELECT count(*) AS broken FROM check_invariants();
