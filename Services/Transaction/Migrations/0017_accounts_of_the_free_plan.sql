-- Without a paid plan only the default one of a person's bank accounts takes withdrawals.
--
-- Those of a plan that has lapsed are kept and wait. One rule more in accept_payments(), which is too long to be
-- repeated for it: the text of 0010 with what is added here, or this file fails.

DO $patch$
DECLARE
    r record;
    v_text text;
BEGIN
    FOR r IN SELECT * FROM (VALUES
        ('accept_payments', 'own.counterparty_id AS own_counterparty,',
         'own.counterparty_id AS own_counterparty,
            NOT own.is_default AND NOT coalesce(s.active_until > v_now, false) AS own_idle,'),
        ('accept_payments', 'v_code := ''beneficiary_not_verified'';',
         'v_code := ''beneficiary_not_verified'';
        ELSIF r.own_idle THEN
            v_code := ''beneficiary_not_in_plan'';'),
        ('refusal_body', 'WHEN ''expiry_invalid'' THEN',
         'WHEN ''beneficiary_not_in_plan'' THEN ''On the free plan money goes to your default bank account only.''
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
