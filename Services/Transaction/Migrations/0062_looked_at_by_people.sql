-- What people decide after a restore, and two ways in which money could be counted twice during one.
--
-- A difference that nobody can make good need not hold a recovery open for ever: an operator who has looked at it accepts
-- it. A wallet that went below zero, or of which a reversal found the money spent, is unblocked by one. Money that comes
-- back with a reference of ours waits until the recovery has booked the transfer that it belongs to. And who takes money
-- from outside takes turns with the recovery, which books in suspense what account has not told of.

SET LOCAL lock_timeout = '3s';

-- Accepted differences ------------------------------------------------------------------------------------------------

ALTER TABLE recovery_accounts ADD accepted_at timestamptz, ADD accepted_by text, ADD accept_reason text;
-- Not valid, for no row that is there has been accepted.
ALTER TABLE recovery_accounts ADD CONSTRAINT recovery_accounts_accepted CHECK ((accepted_at IS NULL) = (accepted_by IS NULL)
    AND (accepted_at IS NULL) = (accept_reason IS NULL) AND (accepted_at IS NULL OR coalesce(differences, 0) > 0)) NOT VALID;

-- By which an operator says what was looked at.
CREATE FUNCTION difference_mark(p_differences bigint, p_detail text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(md5(p_differences || ' ' || coalesce(p_detail, '')), 8)
$$;

-- 'accepted', also for what was accepted before; 'no_recovery', 'missing', 'ended', 'not_looked_at', 'agrees', and 'changed'
-- when something else differs than what the operator has seen. What differs before everything that was under way has arrived
-- may be made good by the next look.
CREATE FUNCTION accept_difference(p_recovery uuid, p_account text, p_mark text, p_operator text, p_reason text, p_request uuid,
    p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    r recoveries;
    a recovery_accounts;
BEGIN
    SELECT * INTO r FROM recoveries x WHERE x.id = p_recovery FOR NO KEY UPDATE;
    IF r.id IS NULL THEN RETURN 'no_recovery'; END IF;
    SELECT * INTO a FROM recovery_accounts x WHERE x.recovery_id = r.id AND x.account = p_account FOR NO KEY UPDATE;
    IF a.account IS NULL THEN RETURN 'missing'; END IF;
    IF a.accepted_at IS NOT NULL AND p_mark = difference_mark(a.differences, a.detail) THEN RETURN 'accepted'; END IF;
    IF r.ended_at IS NOT NULL THEN RETURN 'ended'; END IF;
    IF a.differences IS NULL OR a.looked_at < r.begun_at + recovery_patience() THEN RETURN 'not_looked_at'; END IF;
    IF a.differences = 0 THEN RETURN 'agrees'; END IF;
    IF p_mark <> difference_mark(a.differences, a.detail) THEN RETURN 'changed'; END IF;
    v_now := coalesce(p_now, transfa_now());
    UPDATE recovery_accounts x SET accepted_at = v_now, accepted_by = p_operator, accept_reason = p_reason
    WHERE x.recovery_id = r.id AND x.account = p_account;
    PERFORM record_act(p_operator, 'recovery.difference_accepted', r.id::text, p_reason, NULL,
        json_build_object('account', a.account, 'differences', a.differences, 'detail', a.detail)::text, p_request, v_now);
    RETURN 'accepted';
END $$;

SELECT amend_function('recovery_missing', 'a.recovery_id = r.id', 'a.recovery_id = r.id AND a.accepted_at IS NULL');

-- Another difference is one that nobody has looked at. Of a recovery that has ended nothing is noted any more.
CREATE OR REPLACE FUNCTION note_recovered(p_recovery uuid, p_account text, p_looked_at timestamptz, p_differences bigint,
    p_detail text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM 1 FROM recoveries r WHERE r.id = p_recovery AND r.ended_at IS NULL FOR SHARE;
    IF NOT FOUND THEN RETURN; END IF;
    UPDATE recovery_accounts a SET accepted_at = NULL, accepted_by = NULL, accept_reason = NULL
    WHERE a.recovery_id = p_recovery AND a.account = p_account AND a.looked_at <= p_looked_at
      AND (a.differences, a.detail) IS DISTINCT FROM (p_differences, p_detail);
    UPDATE recovery_accounts a SET looked_at = p_looked_at, differences = p_differences, detail = p_detail
    WHERE a.recovery_id = p_recovery AND a.account = p_account AND (a.looked_at IS NULL OR a.looked_at <= p_looked_at);
END $$;

-- A look that is under way has not looked at what is asked for now: it comes too late to be noted.
SELECT amend_function('begin_recovery', 'a SET looked_at = NULL, differences = NULL',
    'a SET looked_at = v_now, differences = NULL, accepted_at = NULL, accepted_by = NULL, accept_reason = NULL');
SELECT amend_function('begin_recovery', 'a SET differences = NULL',
    'a SET looked_at = v_now, differences = NULL, accepted_at = NULL, accepted_by = NULL, accept_reason = NULL');

-- Blocked wallets -----------------------------------------------------------------------------------------------------

-- safe: where the table is large, built before with CREATE INDEX CONCURRENTLY balances_blocked ON balances (account_id) WHERE debits_blocked
CREATE INDEX IF NOT EXISTS balances_blocked ON balances (account_id) WHERE debits_blocked;

-- What reversals of money that had reached a wallet found spent, in all its time.
CREATE FUNCTION owed_by(p_wallet bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(-sum(e.amount), 0)::bigint
    FROM ledger_accounts a JOIN entries e ON e.account_id = a.id AND e.leg = 'receivable'
    JOIN transactions t ON t.id = e.transaction_id
    WHERE a.kind = 'receivable' AND t.state = 'reversed' AND t.credit_account = p_wallet
$$;

-- Of what was taken back and had been spent nothing is paid by this: that is settled elsewhere, or given up.
-- 'unblocked', also for a request that has done it before; 'missing', 'not_blocked', 'below_zero', and 'changed' when
-- something else is owed than what the operator has seen.
CREATE FUNCTION unblock_wallet(p_user uuid, p_owed bigint, p_operator text, p_reason text, p_request uuid,
    p_now timestamptz DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    b balances;
BEGIN
    SELECT x.* INTO b FROM balances x JOIN users u ON u.wallet_id = x.account_id WHERE u.id = p_user
    FOR NO KEY UPDATE OF x;
    IF b.account_id IS NULL THEN RETURN 'missing'; END IF;
    IF EXISTS (SELECT 1 FROM audit_log l WHERE l.subject = p_user::text AND l.act = 'wallet.unblocked'
        AND l.request_id = p_request) THEN RETURN 'unblocked'; END IF;
    IF NOT b.debits_blocked THEN RETURN 'not_blocked'; END IF;
    IF b.posted - b.held < 0 THEN RETURN 'below_zero'; END IF;
    IF p_owed <> owed_by(b.account_id) THEN RETURN 'changed'; END IF;
    v_now := coalesce(p_now, transfa_now());
    UPDATE balances x SET checked = true, debits_blocked = false WHERE x.account_id = b.account_id;
    PERFORM record_act(p_operator, 'wallet.unblocked', p_user::text, p_reason,
        json_build_object('blocked', true, 'posted', b.posted, 'held', b.held)::text,
        json_build_object('blocked', false, 'owed', p_owed)::text, p_request, v_now);
    RETURN 'unblocked';
END $$;

-- Money from outside --------------------------------------------------------------------------------------------------

-- While a recovery is open, all who book a payment hold this until the commit, before any other lock: under either of the
-- provider's two ids it is booked once. Says whether one is open.
CREATE FUNCTION lock_payments(p_payments text[]) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT recovery_is_open() THEN RETURN false; END IF;
    PERFORM pg_advisory_xact_lock(x.key)
    FROM (SELECT DISTINCT hashtextextended(split_part(p.id, '-', 1), 6102) AS key FROM unnest(p_payments) AS p(id)
          ORDER BY 1) x;
    RETURN true;
END $$;

-- Whether money that carries a reference of ours may be of a forgotten transfer: it came back, and is no income. Once that
-- transfer is booked, the payment is one of its ends. Not what is booked already.
CREATE FUNCTION may_be_forgotten(p_payment text, p_reference text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN p_reference ~ '^trf-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' AND NOT payment_is_held(p_payment)
        AND NOT EXISTS (SELECT 1 FROM inbound_payments x WHERE x.provider_payment_id = p_payment);
END $$;

-- Whether a recovery is open is read before the transfers are: what one that has ended had booked is seen.
SELECT amend_function('credit_inbound', 'r record;', 'r record;
    v_recovering boolean;');
SELECT amend_function('credit_inbound',
    'PERFORM 1 FROM transactions t WHERE t.reference = ANY (p_references) ORDER BY t.id FOR NO KEY UPDATE;',
    'v_recovering := lock_payments(p_payments);
    PERFORM 1 FROM transactions t WHERE t.reference = ANY (p_references) ORDER BY t.id FOR NO KEY UPDATE;');
SELECT amend_function('credit_inbound', 'v_results[r.ord] := take_inbound(',
    'IF v_recovering AND r.ours IS NULL AND may_be_forgotten(r.payment, r.reference) THEN
            v_results[r.ord] := ''unknown_account'';             -- asked again later
            CONTINUE;
        END IF;
        v_results[r.ord] := take_inbound(');
SELECT amend_function('hold_unmatched',
    'PERFORM 1 FROM balances b WHERE b.account_id IN (v_clearing, v_suspense) ORDER BY b.account_id FOR NO KEY UPDATE;',
    'PERFORM lock_payments(ARRAY[p_payment]);
    PERFORM 1 FROM balances b WHERE b.account_id IN (v_clearing, v_suspense) ORDER BY b.account_id FOR NO KEY UPDATE;');

REVOKE ALL ON FUNCTION accept_difference(uuid, text, text, text, text, uuid, timestamptz), lock_payments(text[]),
    may_be_forgotten(text, text), owed_by(bigint), difference_mark(bigint, text),
    unblock_wallet(uuid, bigint, text, text, uuid, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION accept_difference(uuid, text, text, text, text, uuid, timestamptz), difference_mark(bigint, text),
    owed_by(bigint),
    unblock_wallet(uuid, bigint, text, text, uuid, timestamptz) TO ${worker};
