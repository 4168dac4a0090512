-- What the examples share: short names for people, accounts and calls. Made for one session and gone with it.
SET TIME ZONE 'UTC';

CREATE TEMPORARY TABLE named (name text PRIMARY KEY, id uuid NOT NULL DEFAULT gen_random_uuid());

CREATE FUNCTION pg_temp.id_of(p_name text) RETURNS uuid LANGUAGE sql AS $$
    INSERT INTO named (name) VALUES (p_name) ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING id
$$;

-- A verified person with a wallet; with a bank account when one is named.
CREATE FUNCTION pg_temp.join(p_name text, p_bank text DEFAULT NULL) RETURNS void LANGUAGE sql AS $$
    SELECT ensure_users(ARRAY[pg_temp.id_of(p_name)]);
    UPDATE users SET username = p_name, tier = 3, kyc_status = 'approved', provider_account = p_name || '-account'
    WHERE id = pg_temp.id_of(p_name);
    INSERT INTO beneficiaries (id, user_id, counterparty_id, verified, is_default)
    SELECT pg_temp.id_of(p_bank), pg_temp.id_of(p_name), p_bank, true, true WHERE p_bank IS NOT NULL;
$$;

-- Money from outside arrives on somebody's account.
CREATE FUNCTION pg_temp.receive(p_account text, p_amount bigint, p_payment text) RETURNS text LANGUAGE sql AS $$
    SELECT result FROM credit_inbound(ARRAY[p_payment], ARRAY[p_account], ARRAY[p_amount], ARRAY[NULL::text],
        ARRAY[new_event_id(transfa_now())], ARRAY['the provider lists it'], ARRAY[NULL::uuid])
$$;

-- An order, named so that what becomes of it can be asked for.
CREATE FUNCTION pg_temp.place(p_name text, p_from text, p_to text, p_amount bigint, p_type text DEFAULT 'p2p',
    p_target text DEFAULT NULL, p_details text DEFAULT NULL)
RETURNS TABLE (code text, route text, fee bigint, duty bigint) LANGUAGE sql AS $$
    INSERT INTO named VALUES (p_name, new_event_id(transfa_now()));
    SELECT o.code, o.route, o.fee, o.duty FROM place_orders(
        ARRAY[pg_temp.id_of(p_name)], ARRAY[pg_temp.id_of(p_from)], ARRAY[p_to], ARRAY[p_amount], ARRAY[NULL::text],
        ARRAY['example'], ARRAY[p_name], ARRAY['\x00'::bytea], ARRAY[gen_random_uuid()], ARRAY[NULL::uuid],
        ARRAY[new_event_id(transfa_now())], ARRAY[new_event_id(transfa_now())], ARRAY[new_event_id(transfa_now())],
        ARRAY[NULL::uuid], ARRAY[NULL::text], ARRAY[p_type],
        ARRAY[CASE WHEN p_target IS NOT NULL THEN pg_temp.id_of(p_target) END], ARRAY[p_details]) o;
$$;

-- What the worker does before it calls the provider, and what the provider says afterwards.
CREATE FUNCTION pg_temp.submit(p_name text) RETURNS TABLE (verdict text, kind text, destination text) LANGUAGE sql AS $$
    SELECT s.verdict, s.kind, s.destination FROM begin_submission(ARRAY[pg_temp.id_of(p_name)], 'example') s
$$;
CREATE FUNCTION pg_temp.settle(p_name text, p_outcome text) RETURNS text LANGUAGE sql AS $$
    SELECT s.result FROM settle_payments(ARRAY[pg_temp.id_of(p_name)], ARRAY[p_outcome], ARRAY[NULL::text],
        ARRAY['the provider says so'], ARRAY[NULL::text], ARRAY[new_event_id(transfa_now())], ARRAY[NULL::uuid],
        'example') s
$$;

-- An account by the name of who owns it.
CREATE FUNCTION pg_temp.account(p_id bigint) RETURNS text LANGUAGE sql AS $$
    SELECT a.kind || coalesce(' of ' || coalesce(u.username, n.name), '')
    FROM ledger_accounts a LEFT JOIN users u ON u.id = a.owner_id LEFT JOIN named n ON n.id = a.owner_id
    WHERE a.id = p_id
$$;
-- What was booked since the last look, in the order of booking.
CREATE TEMPORARY TABLE seen (account_id bigint, sequence bigint);
CREATE FUNCTION pg_temp.booked() RETURNS TABLE (account text, leg text, amount bigint) LANGUAGE sql AS $$
    WITH fresh AS (
        INSERT INTO seen SELECT e.account_id, e.sequence FROM entries e
        WHERE NOT EXISTS (SELECT 1 FROM seen s WHERE s.account_id = e.account_id AND s.sequence = e.sequence)
        RETURNING *
    )
    SELECT pg_temp.account(e.account_id), e.leg, e.amount FROM fresh f JOIN entries e USING (account_id, sequence)
    ORDER BY e.posted_at, e.transfer_id, e.leg, e.amount, 1
$$;
CREATE FUNCTION pg_temp.wallets() RETURNS TABLE (owner text, posted bigint, held bigint, available bigint)
LANGUAGE sql AS $$
    SELECT u.username, w.posted, w.held, w.available FROM wallets w JOIN users u ON u.id = w.user_id ORDER BY 1
$$;
UPDATE source_heartbeats SET beat_at = transfa_now() + interval '1 hour';
