-- A plan is paid out of the wallet, without the provider: once for a reference, whatever the number of attempts.
SELECT pg_temp.join('ann');
SELECT pg_temp.receive('ann-account', 1000, 'payment-1');
SELECT count(*) AS entries FROM pg_temp.booked();
SELECT result FROM charge_subscriptions(
    ARRAY[new_event_id(transfa_now())], ARRAY['sub-' || pg_temp.id_of('ann') || '-20260515'], ARRAY[1],
    ARRAY[pg_temp.id_of('ann')], ARRAY[600], ARRAY[NULL::uuid], ARRAY[NULL]);
SELECT * FROM pg_temp.booked();
SELECT result FROM charge_subscriptions(
    ARRAY[new_event_id(transfa_now())], ARRAY['sub-' || pg_temp.id_of('ann') || '-20260515'], ARRAY[1],
    ARRAY[pg_temp.id_of('ann')], ARRAY[600], ARRAY[NULL::uuid], ARRAY[NULL]);
SELECT result FROM charge_subscriptions(
    ARRAY[new_event_id(transfa_now())], ARRAY['sub-' || pg_temp.id_of('ann') || '-20260615'], ARRAY[1],
    ARRAY[pg_temp.id_of('ann')], ARRAY[600], ARRAY[NULL::uuid], ARRAY[NULL]);
SELECT * FROM pg_temp.booked();
SELECT * FROM pg_temp.wallets();
SELECT count(*) AS broken FROM check_invariants();
