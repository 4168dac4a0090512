-- What bank accounts that were added a moment ago take is counted together: who removed one and added it again, or added
-- several, could take out the whole of 0049's cap with each of them.
--
-- And how functions are changed from here on: one that fits on a screen is written anew, with CREATE OR REPLACE. Of the few
-- long ones a text that occurs once is replaced by amend_function(), which fails when it occurs otherwise.

CREATE FUNCTION amend_function(p_function regproc, p_found text, p_instead text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_text constant text := pg_get_functiondef(p_function);
BEGIN
    IF cardinality(string_to_array(v_text, p_found)) <> 2 THEN
        RAISE EXCEPTION '% does not hold this once: %', p_function, p_found;
    END IF;
    EXECUTE replace(v_text, p_found, p_instead);
END $$;

-- What a person has sent to accounts of their own that were added since a moment, also to those that are gone again.
CREATE FUNCTION sent_to_new_accounts(p_user uuid, p_since timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT coalesce(sum(t.amount), 0)::bigint
        FROM transactions t JOIN beneficiaries b ON b.id = t.beneficiary_id AND b.user_id = p_user AND b.added_at > p_since
        WHERE t.sender_id = p_user AND t.id >= first_id(p_since) AND t.type = 'self_transfer'
          AND t.state NOT IN ('failed', 'reversed'));
END $$;

-- A statement of accept_payments() that reads after the sender's lock, and what this batch takes besides.
SELECT amend_function('accept_payments', 'bc.cap - (SELECT coalesce(sum(y.amount), 0)::bigint
                FROM transactions y WHERE y.sender_id = q.sender_id AND y.id >= first_id(own.added_at)
                  AND y.beneficiary_id = own.id AND y.type = ''self_transfer'' AND y.state NOT IN (''failed'', ''reversed''))
                END AS own_left,', 'bc.cap - sent_to_new_accounts(q.sender_id, v_now - bc.lasting) END AS own_left,');
SELECT amend_function('accept_payments', 'r.own_left - v_young[r.at_target] THEN', 'r.own_left - v_young[r.at_sender] THEN');
SELECT amend_function('accept_payments', 'v_young[r.at_target] := v_young[r.at_target] + r.amount;',
    'IF r.own_left IS NOT NULL THEN v_young[r.at_sender] := v_young[r.at_sender] + r.amount; END IF;');

-- Asked once for each request, not twice.
CREATE OR REPLACE FUNCTION create_payment_request(p_id uuid, p_owner uuid, p_payer text, p_amount bigint,
    p_description text, p_link text, p_expires_at timestamptz, p_correlation uuid, p_traceparent text,
    p_now timestamptz DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $$
DECLARE
    v_bar text;
BEGIN
    IF NOT takes_requests_of(p_owner, p_payer) THEN RETURN 'requests_not_accepted'; END IF;
    v_bar := asking_bar(p_owner, p_payer, p_now);
    IF v_bar IS NOT NULL THEN RETURN v_bar; END IF;
    RETURN make_payment_request(p_id, p_owner, p_payer, p_amount, p_description, p_link, p_expires_at, p_correlation,
        p_traceparent, p_now);
END $$;

REVOKE ALL ON FUNCTION amend_function(regproc, text, text), sent_to_new_accounts(uuid, timestamptz) FROM PUBLIC;
