-- Tokens of phones, to which pushes go.

-- Gives a token to a person. Whoever had it before has it no longer: the phone has changed hands. A device has one
-- token, a person at most `p_limit`: the oldest go. Returns the row's id, the old one when the token was there before.
--
-- As the owner, because the row that must go may be another person's.
CREATE OR REPLACE FUNCTION register_push_token(p_id uuid, p_user uuid, p_token text, p_hash text, p_device uuid,
    p_limit integer, p_now timestamptz, p_session text DEFAULT NULL)
RETURNS uuid LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_id uuid;
BEGIN
    IF p_user IS DISTINCT FROM nullif(current_setting('transfa.user_id', true), '')::uuid THEN
        RAISE EXCEPTION 'token_of_another' USING ERRCODE = 'insufficient_privilege';
    END IF;
    -- In this order everywhere: the person, then the token. Who removes a device or ends a session holds the former.
    PERFORM pg_advisory_xact_lock(hashtextextended(p_user::text, 7103));
    PERFORM pg_advisory_xact_lock(hashtextextended(p_hash, 7102));
    DELETE FROM push_tokens t WHERE t.token_hash = p_hash AND t.user_id <> p_user;
    DELETE FROM push_tokens t WHERE t.user_id = p_user AND t.device_id = p_device AND t.token_hash <> p_hash;
    INSERT INTO push_tokens AS t (id, user_id, token, token_hash, device_id, registered_at, session_id)
    VALUES (p_id, p_user, p_token, p_hash, p_device, p_now, p_session)
    ON CONFLICT (token_hash) DO UPDATE SET device_id = coalesce(excluded.device_id, t.device_id),
        registered_at = excluded.registered_at, session_id = excluded.session_id
    RETURNING t.id INTO v_id;
    DELETE FROM push_tokens t WHERE t.id IN (
        SELECT x.id FROM push_tokens x WHERE x.user_id = p_user AND x.id <> v_id
        ORDER BY x.registered_at DESC, x.id OFFSET p_limit - 1);
    RETURN v_id;
END $$;
