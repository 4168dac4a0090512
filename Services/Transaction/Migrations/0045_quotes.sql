-- An order may name the quote it was decided on: what it may cost at most, and until when that counts. An order that comes
-- later, or would cost more by now, is refused and takes nothing. Which quote it was is in the body that was approved.
--
-- Two rules more in accept_payments(), as text of 0010 with what is added here. The details of an order of any kind may
-- hold {"quote": {"cost", "expires_at"}}; the HTTP side has checked that we made the quote, and for this order.

DO $patch$
DECLARE
    r record;
    v_text text;
BEGIN
    FOR r IN SELECT * FROM (VALUES
        ('accept_payments', '(q.details::jsonb->>''expires_at'')::timestamptz AS drop_expires_at',
         '(q.details::jsonb->>''expires_at'')::timestamptz AS drop_expires_at,
            (q.details::jsonb->''quote''->>''expires_at'')::timestamptz AS quote_expires_at,
            (q.details::jsonb->''quote''->>''cost'')::bigint AS quote_cost'),
        ('accept_payments', 'v_code := ''expiry_invalid'';',
         'v_code := ''expiry_invalid'';
        ELSIF r.quote_expires_at <= v_now THEN
            v_code := ''quote_expired'';'),
        ('accept_payments', 'v_code := ''recipient_limit'';',
         'v_code := ''recipient_limit'';
            ELSIF t.fee + t.duty > r.quote_cost THEN
                v_code := ''quote_changed'';'),
        ('refusal_body', 'WHEN ''expiry_invalid'' THEN',
         'WHEN ''quote_expired'' THEN ''This quote has expired. Ask for another one.''
            WHEN ''quote_changed'' THEN ''It costs more by now than was quoted. Ask for another quote.''
            WHEN ''expiry_invalid'' THEN')
    ) AS x(name, found, instead)
    LOOP
        v_text := pg_get_functiondef(r.name::regproc);
        IF cardinality(string_to_array(v_text, r.found)) <> 2 THEN
            RAISE EXCEPTION '% does not hold this once: %', r.name, r.found;
        END IF;
        EXECUTE replace(v_text, r.found, r.instead);
    END LOOP;
END $patch$;
