-- Puts the people of people.csv into the transaction service's database, as its owner and past the events that would
-- bring them: signing up thousands of people through seven services would take longer than the measurement.
--
--   psql OWNER_URL -v handler=transaction_handler -f people.sql <people.csv
--
-- The users and what belongs to them are rows of the read model; the money comes in through credit_inbound(), so that
-- the books are right from the first entry on. Of ten people four receive at their bank (paid plan), four in their
-- wallet (their choice), two at their bank until their free slots are used up; every fourth wallet has a ceiling.
\set ON_ERROR_STOP on
BEGIN;

-- Stays: pgbench finds its senders here.
CREATE TABLE bench_people (
    number integer PRIMARY KEY, id uuid NOT NULL, device uuid NOT NULL, point text NOT NULL, username text NOT NULL,
    account text NOT NULL, counterparty text NOT NULL, payment text NOT NULL, funds bigint NOT NULL, credit uuid NOT NULL
);
GRANT SELECT ON bench_people TO :"handler";
\copy bench_people FROM pstdin WITH (FORMAT csv, HEADER)

SELECT ensure_users(array_agg(id)) FROM bench_people;

UPDATE users u SET
    username = p.username, auth_sequence = 1, kyc_status = 'approved', tier = CASE WHEN p.number % 4 = 0 THEN 2 ELSE 3 END,
    kyc_sequence = 1, settings_sequence = 1, provider_account = p.account, account_sequence = 1,
    receive_preference = CASE WHEN p.number % 10 BETWEEN 4 AND 7 THEN 'wallet' ELSE 'external' END,
    plan = CASE WHEN p.number % 10 < 4 THEN 'paid' ELSE 'free' END,
    active_until = CASE WHEN p.number % 10 < 4 THEN now() + interval '1 year' END, subscription_sequence = 1
FROM bench_people p WHERE u.id = p.id;

INSERT INTO beneficiaries (id, user_id, counterparty_id, verified, is_default, customer_sequence)
SELECT gen_random_uuid(), p.id, p.counterparty, true, true, 1 FROM bench_people p;

-- Two days old: what a new device may send in its first hours is another matter.
INSERT INTO devices (id, user_id, public_key, activated_at, auth_sequence)
SELECT p.device, p.id, decode(p.point, 'hex'), now() - interval '2 days', 1 FROM bench_people p;

SELECT result, count(*) FROM (
    SELECT array_agg(p.payment) AS payments, array_agg(p.account) AS accounts, array_agg(p.funds) AS amounts,
        array_agg(NULL::text) AS links, array_agg(p.credit) AS credits, array_agg('bench'::text) AS evidence,
        array_agg(NULL::uuid) AS correlations
    FROM bench_people p
) x, credit_inbound(x.payments, x.accounts, x.amounts, x.links, x.credits, x.evidence, x.correlations)
GROUP BY result;

COMMIT;
