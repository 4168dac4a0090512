-- Whom people have blocked: they are neither paid nor asked by them. And how often one may ask people for money: a link
-- asks nobody, so it is not counted.

CREATE TABLE blocks (
    user_id             uuid NOT NULL,                   -- who has blocked
    blocked_id          uuid NOT NULL,
    is_active           boolean NOT NULL,                -- false: blocked once, and no longer
    customer_sequence   bigint NOT NULL,
    PRIMARY KEY (user_id, blocked_id)
);
ALTER TABLE blocks ENABLE ROW LEVEL SECURITY;
ALTER TABLE blocks FORCE ROW LEVEL SECURITY;
CREATE POLICY all_rows ON blocks TO ${owner}, ${worker} USING (true) WITH CHECK (true);
GRANT SELECT, INSERT, UPDATE ON blocks TO ${worker};

CREATE INDEX payment_requests_asked ON payment_requests (owner_id, created_at DESC) WHERE payer_id IS NOT NULL;

-- Why somebody may not ask this person again now; null: nothing is in the way. Holds the mutex of the owner's requests,
-- so that requests at once are counted one after the other.
CREATE FUNCTION asking_bar(p_owner uuid, p_payer text, p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_now timestamptz;
    v_payer uuid;
    v_hour bigint;
    v_day bigint;
    v_declined bigint;
BEGIN
    SELECT u.id INTO v_payer FROM users u WHERE u.username = p_payer;
    IF v_payer IS NULL THEN RETURN NULL; END IF;
    IF EXISTS (SELECT 1 FROM blocks b WHERE b.user_id = v_payer AND b.blocked_id = p_owner AND b.is_active) THEN
        RETURN 'requests_not_accepted';
    END IF;
    PERFORM 1 FROM receiving_counters c WHERE c.user_id = p_owner FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    SELECT count(*) FILTER (WHERE q.created_at > v_now - interval '1 hour'),
        count(*) FILTER (WHERE q.payer_id = v_payer),
        count(*) FILTER (WHERE q.payer_id = v_payer AND q.state = 'declined')
    INTO v_hour, v_day, v_declined
    FROM payment_requests q
    WHERE q.owner_id = p_owner AND q.payer_id IS NOT NULL AND q.created_at > v_now - interval '1 day';
    RETURN CASE WHEN v_hour >= 60 OR v_day >= 20 OR v_declined >= 3 THEN 'asked_too_often' END;
END $$;
REVOKE ALL ON FUNCTION asking_bar(uuid, text, timestamptz) FROM PUBLIC;

-- accept_payments() of 0010 and create_payment_request() of 0018, as texts with what is added here.
DO $patch$
DECLARE
    r record;
    v_text text;
BEGIN
    FOR r IN SELECT * FROM (VALUES
        ('accept_payments', 'f.unavailable, f.external_bar, f.beneficiary_id,',
         'f.unavailable OR EXISTS (SELECT 1 FROM blocks y WHERE y.user_id = f.user_id AND y.blocked_id = q.sender_id
                AND y.is_active) AS unavailable, f.external_bar, f.beneficiary_id,'),
        ('create_payment_request', 'RETURN make_payment_request(',
         'IF asking_bar(p_owner, p_payer, p_now) IS NOT NULL THEN RETURN asking_bar(p_owner, p_payer, p_now); END IF;
    RETURN make_payment_request(')
    ) AS x(name, found, instead)
    LOOP
        v_text := pg_get_functiondef(r.name::regproc);
        IF cardinality(string_to_array(v_text, r.found)) <> 2 THEN
            RAISE EXCEPTION '% does not hold this once: %', r.name, r.found;
        END IF;
        EXECUTE replace(v_text, r.found, r.instead);
    END LOOP;
END $patch$;
