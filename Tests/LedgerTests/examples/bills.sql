-- The provider takes money for its service by rows of its own in its books. No wallet changes by them.

-- Ann has 20,000 and pays Bob's bank 12,000. Our fee is 30, the duty 50.
INSERT INTO fee_schedule VALUES ('p2p', 'external', transfa_now(), 0, 30, 50);
SELECT pg_temp.join('ann'), pg_temp.join('bob', 'bobs-bank');
SELECT pg_temp.receive('ann-account', 20000, 'payment-1');
SELECT * FROM pg_temp.place('rent', 'ann', 'bob', 12000);
SELECT * FROM pg_temp.submit('rent');
SELECT pg_temp.settle('rent', 'completed');
SELECT * FROM pg_temp.wallets();

-- Fee and duty are in our accounts, and stay in Ann's account at the provider.
SELECT expected FROM expected_at_provider('ann-account', (SELECT id FROM users WHERE username = 'ann'));

-- It bills 20 for the transfer, 50 of duty, and 5 for something that nobody foresaw.
SELECT book_bills('ann-account', ARRAY['row-1', 'row-2', 'row-3'], ARRAY['TRANSFER_FEE', 'STAMP_DUTY', 'LEVY'],
    ARRAY[20, 50, 5], ARRAY['rent', 'rent', NULL], array_fill(transfa_now(), ARRAY[3]),
    ARRAY[new_event_id(transfa_now()), new_event_id(transfa_now()), new_event_id(transfa_now())]);
SELECT a.kind, sum(b.posted) AS posted FROM ledger_accounts a JOIN balances b ON b.account_id = a.id
WHERE a.kind IN ('fees', 'stamp_duty', 'provider_costs') GROUP BY 1 ORDER BY 1;
SELECT * FROM pg_temp.wallets();
SELECT expected FROM expected_at_provider('ann-account', (SELECT id FROM users WHERE username = 'ann'));

-- The next look lists them again.
SELECT book_bills('ann-account', ARRAY['row-1'], ARRAY['TRANSFER_FEE'], ARRAY[20], ARRAY['rent'], ARRAY[transfa_now()],
    ARRAY[new_event_id(transfa_now())]);
