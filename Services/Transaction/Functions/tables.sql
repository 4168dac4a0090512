-- What tables need: applied before the migrations.

CREATE OR REPLACE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'append_only: %', tg_table_name USING ERRCODE = 'insufficient_privilege';
END $$;

-- Closed is the last word: nothing that is heard later opens a profile again.
CREATE OR REPLACE FUNCTION refuse_reopening() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'profile_closed' USING ERRCODE = 'check_violation';
END $$;

-- The user of the request; null, and so no row at all, when none is set.
CREATE OR REPLACE FUNCTION current_user_id() RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT nullif(current_setting('transfa.user_id', true), '')::uuid
$$;

-- Two people, whoever pays whom. A value of its own, and not an index over two columns: beside transfers_sent the
-- planner would take either of the two, and then read a sender's whole history to find one payment.
CREATE OR REPLACE FUNCTION pair_of(a uuid, b uuid) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT uuid_send(least(a, b)) || uuid_send(greatest(a, b))
$$;
