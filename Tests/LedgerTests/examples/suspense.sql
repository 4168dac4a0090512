-- Money that reaches a wallet which may not take it waits in suspense.
SELECT pg_temp.join('ann'), pg_temp.join('bob');
SELECT pg_temp.receive('ann-account', 1000, 'payment-1');
SELECT count(*) AS entries FROM pg_temp.booked();
UPDATE users SET status = 'frozen' WHERE username = 'bob';
SELECT pg_temp.receive('bob-account', 70, 'payment-2');
SELECT * FROM pg_temp.booked();

-- On an account that nobody has as well, once account has given up looking for the owner.
SELECT hold_unmatched('payment-3', 'lost-account', 30, new_event_id(transfa_now()), 'the provider lists it', NULL);
SELECT * FROM pg_temp.booked();

-- And a payment whose payee was frozen while it was on its way.
UPDATE users SET status = 'active' WHERE username = 'bob';
SELECT * FROM pg_temp.place('rent', 'ann', 'bob', 200);
SELECT * FROM pg_temp.submit('rent');
UPDATE users SET status = 'frozen' WHERE username = 'bob';
SELECT pg_temp.settle('rent', 'completed');
SELECT * FROM pg_temp.booked();

-- Two operators release it into the wallet, or give it back to where it came from.
UPDATE users SET status = 'active' WHERE username = 'bob';
SELECT p.result FROM transfers t, propose_release(pg_temp.id_of('release'), t.id, 'credit', 'checked', 'grace') p
WHERE t.provider_id = 'payment-2';
SELECT result, amount FROM decide_release(pg_temp.id_of('release'), 'edsger', true);
SELECT * FROM pg_temp.booked();
SELECT p.result FROM transfers t, propose_release(pg_temp.id_of('return'), t.id, 'return', 'paid back', 'grace') p
WHERE t.provider_id = 'payment-3';
SELECT result, amount FROM decide_release(pg_temp.id_of('return'), 'edsger', true);
SELECT * FROM pg_temp.booked();

-- What one person has paid another is given back by an order to the provider: it is the payer's when that has arrived.
-- The provider is asked first whether the payment stands.
SELECT p.result FROM propose_release(pg_temp.id_of('back'), pg_temp.id_of('rent'), 'return', 'a mistake', 'grace') p;
SELECT result, amount FROM decide_release(pg_temp.id_of('back'), 'edsger', true);
SELECT * FROM pg_temp.submit('back');
INSERT INTO provider_answers (transfer_id, answer, first_seen_at, last_seen_at)
VALUES (pg_temp.id_of('rent'), 'completed', transfa_now(), transfa_now());
SELECT * FROM pg_temp.submit('back');
SELECT pg_temp.settle('back', 'completed');
SELECT * FROM pg_temp.booked();
SELECT state, route_reason FROM transfers WHERE id = pg_temp.id_of('rent');
SELECT count(*) AS broken FROM check_invariants();
