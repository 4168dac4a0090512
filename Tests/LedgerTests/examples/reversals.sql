-- The provider takes a payment back: everything goes back, fee and duty too.
SELECT pg_temp.join('ann'), pg_temp.join('bob'), pg_temp.join('carl');
INSERT INTO fee_schedule VALUES ('p2p', 'internal', transfa_now() - interval '1 minute', 0, 5, 2);
SELECT pg_temp.receive('ann-account', 1000, 'payment-1');
SELECT * FROM pg_temp.place('lunch', 'ann', 'bob', 100);
SELECT * FROM pg_temp.submit('lunch');
SELECT pg_temp.settle('lunch', 'completed');
SELECT * FROM pg_temp.booked();
SELECT pg_temp.settle('lunch', 'reversed');
SELECT * FROM pg_temp.booked();

-- What the payee has spent by then is owed to us, and the wallet sends nothing more until it is paid, or somebody has looked.
SELECT * FROM pg_temp.place('dinner', 'ann', 'bob', 200);
SELECT * FROM pg_temp.submit('dinner');
SELECT pg_temp.settle('dinner', 'completed');
SELECT * FROM pg_temp.place('taxi', 'bob', 'carl', 150);
SELECT * FROM pg_temp.submit('taxi');
SELECT pg_temp.settle('taxi', 'completed');
SELECT count(*) AS entries FROM pg_temp.booked();
SELECT pg_temp.settle('dinner', 'reversed');
SELECT * FROM pg_temp.booked();
SELECT * FROM pg_temp.wallets();
SELECT * FROM pg_temp.place('coffee', 'bob', 'carl', 1);
SELECT count(*) AS broken FROM check_invariants();

-- What comes in pays what is owed before it is anything else, and then the wallet sends again.
SELECT pg_temp.receive('bob-account', 1000, 'payment-2');
SELECT * FROM pg_temp.booked();
SELECT w.posted, w.owed, w.debits_blocked FROM wallets w WHERE w.user_id = pg_temp.id_of('bob');
SELECT * FROM pg_temp.place('coffee again', 'bob', 'carl', 1);
SELECT count(*) AS broken FROM check_invariants();
