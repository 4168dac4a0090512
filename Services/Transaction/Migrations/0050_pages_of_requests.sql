-- Pages of payment requests. Of somebody who is asked often the planner expected three requests, gathered all of them and
-- sorted them for each page; read by the index, a page costs what it shows. What was cancelled is not the payer's to see,
-- so it is not in the payer's index either.

DROP INDEX payment_requests_payer;
CREATE INDEX payment_requests_payer ON payment_requests (payer_id, position DESC)
    WHERE payer_id IS NOT NULL AND state <> 'cancelled';
CREATE INDEX payment_requests_payer_reference ON payment_requests (payer_id, reference, position DESC)
    WHERE payer_id IS NOT NULL AND reference IS NOT NULL AND state <> 'cancelled';

-- A user's requests before a position, newest first: those that name the user, or the user's own, perhaps only of
-- one reference. As the caller: row level security holds.
CREATE FUNCTION page_of_requests(p_user uuid, p_incoming boolean, p_reference text, p_before bigint, p_limit bigint)
RETURNS SETOF payment_requests LANGUAGE plpgsql STABLE SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off AS $$
BEGIN
    IF p_incoming AND p_reference IS NULL THEN
        RETURN QUERY SELECT * FROM payment_requests q
        WHERE q.payer_id = p_user AND q.state <> 'cancelled' AND q.position < p_before
        ORDER BY q.position DESC LIMIT p_limit;
    ELSIF p_incoming THEN
        RETURN QUERY SELECT * FROM payment_requests q
        WHERE q.payer_id = p_user AND q.reference = p_reference AND q.state <> 'cancelled' AND q.position < p_before
        ORDER BY q.position DESC LIMIT p_limit;
    ELSIF p_reference IS NULL THEN
        RETURN QUERY SELECT * FROM payment_requests q
        WHERE q.owner_id = p_user AND q.position < p_before
        ORDER BY q.position DESC LIMIT p_limit;
    ELSE
        RETURN QUERY SELECT * FROM payment_requests q
        WHERE q.owner_id = p_user AND q.reference = p_reference AND q.position < p_before
        ORDER BY q.position DESC LIMIT p_limit;
    END IF;
END $$;
REVOKE ALL ON FUNCTION page_of_requests(uuid, boolean, text, bigint, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION page_of_requests(uuid, boolean, text, bigint, bigint) TO ${handler};
