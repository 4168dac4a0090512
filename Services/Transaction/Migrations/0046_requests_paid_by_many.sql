-- A request that whoever has its link may pay, as often as they like until it ends: for a collection or a till. It stays
-- open while it is paid, and counts what has arrived.

ALTER TABLE payment_requests
    ADD COLUMN multiple     boolean NOT NULL DEFAULT false,
    ADD COLUMN paid_count   bigint NOT NULL DEFAULT 0 CHECK (paid_count >= 0),
    ADD COLUMN paid_total   bigint NOT NULL DEFAULT 0 CHECK (paid_total >= 0),
    ADD CHECK (NOT multiple OR payer_id IS NULL AND state NOT IN ('processing', 'fulfilled', 'declined'));

-- The request that was made a moment ago, in the same transaction: nobody has seen it yet.
CREATE FUNCTION let_many_pay(p_request uuid, p_owner uuid) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    UPDATE payment_requests q SET multiple = true
    WHERE q.id = p_request AND q.owner_id = p_owner AND q.state = 'open' AND q.xmin = pg_current_xact_id()::xid
$$;
REVOKE ALL ON FUNCTION let_many_pay(uuid, uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION let_many_pay(uuid, uuid) TO ${handler};

-- accept_payments() of 0010, follow_request() of 0012 and the checks of 0014, as texts with what is added here.
DO $patch$
DECLARE
    r record;
    v_text text;
BEGIN
    FOR r IN SELECT * FROM (VALUES
        ('accept_payments', 'pr.amount AS request_amount,', 'pr.amount AS request_amount, pr.multiple AS request_multiple,'),
        ('accept_payments', 'OR r.request_id IS NOT NULL AND v_requested[r.at_target] THEN',
         'OR r.request_id IS NOT NULL AND NOT r.request_multiple AND v_requested[r.at_target] THEN'),
        ('accept_payments', 'FROM unnest(w_accepted) f WHERE q.id = f.payment_request_id;',
         'FROM unnest(w_accepted) f WHERE q.id = f.payment_request_id AND NOT q.multiple;'),
        ('follow_request', 'IF v_state IS NOT NULL THEN',
         'UPDATE payment_requests q SET paid_count = q.paid_count + x.sign, paid_total = q.paid_total + x.sign * t.amount
    FROM (SELECT CASE p_state WHEN ''completed'' THEN 1 WHEN ''reversed'' THEN -1 ELSE 0 END AS sign) x
    WHERE q.id = t.payment_request_id AND x.sign <> 0;
    IF v_state IS NOT NULL THEN'),
        ('check_transfers', 'UNION ALL SELECT ''I19 no request is paid after its end'', t.id::text',
         'UNION ALL SELECT ''I19 a request has counted what arrived'', q.id::text
        FROM payment_requests q LEFT JOIN transactions t ON t.payment_request_id = q.id AND t.state = ''completed''
        GROUP BY q.id HAVING q.paid_count <> count(t.id) OR q.paid_total <> coalesce(sum(t.amount), 0)
            OR bool_or(t.recipient_id <> q.owner_id OR t.amount <> q.amount)
    UNION ALL SELECT ''I19 no request is paid after its end'', t.id::text'),
        ('check_transfers', 'HAVING count(t.id) <> (q.state IN (''processing'', ''fulfilled''))::integer',
         'HAVING NOT q.multiple AND count(t.id) <> (q.state IN (''processing'', ''fulfilled''))::integer'),
        ('check_transfers', 'OR t.sender_id <> q.payer_id OR (t.state = ''completed'') <> (q.state = ''fulfilled''))',
         'OR t.sender_id <> q.payer_id
                OR NOT q.multiple AND (t.state = ''completed'') <> (q.state = ''fulfilled''))'),
        ('check_transfers', 'OR q.state IN (''declined'', ''cancelled'') AND t.state NOT IN',
         'OR NOT q.multiple AND q.state IN (''declined'', ''cancelled'') AND t.state NOT IN')
    ) AS x(name, found, instead)
    LOOP
        v_text := pg_get_functiondef(r.name::regproc);
        IF cardinality(string_to_array(v_text, r.found)) <> 2 THEN
            RAISE EXCEPTION '% does not hold this once: %', r.name, r.found;
        END IF;
        EXECUTE replace(v_text, r.found, r.instead);
    END LOOP;
END $patch$;

-- What arrived for requests so far.
UPDATE payment_requests q SET paid_count = x.n, paid_total = x.total
FROM (SELECT t.payment_request_id AS id, count(*) AS n, sum(t.amount) AS total FROM transactions t
      WHERE t.payment_request_id IS NOT NULL AND t.state = 'completed' GROUP BY 1) x
WHERE q.id = x.id;
