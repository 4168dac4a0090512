-- A drop holds the money of all its slots in a pool of its own.
SELECT pg_temp.join('ann'), pg_temp.join('bob');
SELECT pg_temp.receive('ann-account', 1000, 'payment-1');
SELECT count(*) AS entries FROM pg_temp.booked();
SELECT * FROM pg_temp.place('funding', 'ann', NULL, 300, 'money_drop', 'party',
    json_build_object('amount_per_claim', 100, 'slots', 3, 'expires_at', transfa_now() + interval '1 hour',
        'pool_account', 'pool-account', 'link', 'https://example.com/d/1')::text);
SELECT * FROM pg_temp.submit('funding');
SELECT pg_temp.settle('funding', 'completed');
SELECT * FROM pg_temp.booked();

-- Bob takes one slot.
INSERT INTO named VALUES ('claim', new_event_id(transfa_now()));
SELECT outcome, amount FROM claim_money_drop(pg_temp.id_of('claim'), pg_temp.id_of('bob'), pg_temp.id_of('party'), NULL,
    new_event_id(transfa_now()), NULL, NULL);
SELECT * FROM pg_temp.submit('claim');
SELECT pg_temp.settle('claim', 'completed');
SELECT * FROM pg_temp.booked();

-- Ann ends it: what is left goes back.
SELECT end_money_drop(pg_temp.id_of('party'), pg_temp.id_of('ann'), NULL);
INSERT INTO named SELECT 'refund', t.id FROM transfers t WHERE t.type = 'drop_refund';
SELECT * FROM pg_temp.submit('refund');
SELECT pg_temp.settle('refund', 'completed');
SELECT * FROM pg_temp.booked();
SELECT state, end_reason FROM money_drops;
SELECT count(*) AS broken FROM check_invariants();
