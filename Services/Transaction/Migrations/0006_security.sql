-- Who may do what. Three roles: ${owner} migrates and owns, ${handler} answers requests, ${worker} handles events and
-- jobs.
--
-- Neither login role can write a ledger table: money moves only inside the SECURITY DEFINER functions, which run as the
-- owner with a pinned search path. Row level security is on and forced everywhere a row belongs to a person; the
-- handler sees the rows of `transfa.user_id`, which a connection sets for one request, and without it sees nothing.

-- The user of the request; null, and so no row at all, when none is set.
CREATE FUNCTION current_user_id() RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT nullif(current_setting('transfa.user_id', true), '')::uuid
$$;

-- Functions: nobody by default. Only what is listed below can be called from outside; the rest is called by these.
DO $$
DECLARE
    f regprocedure;
BEGIN
    FOR f IN
        SELECT p.oid::regprocedure FROM pg_proc p
        WHERE p.pronamespace = 'public'::regnamespace AND p.proowner = '${owner}'::regrole AND p.prokind = 'f'
          AND p.proname = ANY (ARRAY[
              'accept_payments', 'stored_answer', 'find_recipient', 'quote_payment', 'prune_acceptance', 'ensure_users',
              'begin_submission', 'begin_resend', 'record_absence', 'finish_calls', 'settle_payments',
              'resolve_unknown', 'credit_inbound', 'take_inbound', 'adjust_slots', 'beat', 'post_legs',
              'post_completion', 'post_reversal', 'end_holds', 'end_incoming', 'release_slots', 'give_back_spending',
              'advance', 'fail_transfers', 'switch_to_book', 'apply_move', 'submission_bar', 'may_resend',
              'refuse_rewriting'])
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f);
        IF split_part(f::text, '(', 1) IN ('accept_payments', 'stored_answer', 'find_recipient', 'quote_payment') THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO ${handler}', f);
        END IF;
        IF split_part(f::text, '(', 1) IN ('prune_acceptance', 'ensure_users', 'begin_submission', 'begin_resend',
            'record_absence', 'finish_calls', 'settle_payments', 'resolve_unknown', 'credit_inbound', 'adjust_slots',
            'beat') THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO ${worker}', f);
        END IF;
    END LOOP;
END $$;

-- Tables: both roles read; the worker writes the read model and closes breaks; configuration belongs to the owner.
GRANT SELECT ON ledger_accounts, balances, transactions, transaction_events, holds, entries, users, beneficiaries,
    devices, user_limits, spending_counters, receiving_counters, tier_limits, device_caps, fee_schedule,
    source_heartbeats
    TO ${handler}, ${worker};
GRANT SELECT ON approval_nonces, inbound_payments, transfer_absences, breaks TO ${worker};
GRANT UPDATE (username, account_type, auth_sequence, status, sending_allowed, debits_blocked, credits_blocked,
    receive_preference, customer_sequence, kyc_status, tier, kyc_sequence, provider_account, account_sequence, plan,
    active_until, subscription_sequence) ON users TO ${worker};    -- not the wallet
GRANT INSERT, UPDATE ON beneficiaries, user_limits, source_heartbeats TO ${worker};
GRANT INSERT, UPDATE (public_key, activated_at, revoked_at, auth_sequence) ON devices TO ${worker};
GRANT UPDATE (closed_at, closed_by, resolution) ON breaks TO ${worker};

-- Row level security. The owner's functions and the worker pass; the handler gets what belongs to its user.
DO $$
DECLARE
    t record;
BEGIN
    FOR t IN SELECT * FROM (VALUES
        ('users', 'id = current_user_id()'),
        ('beneficiaries', 'user_id = current_user_id()'),
        ('devices', 'user_id = current_user_id()'),
        ('user_limits', 'user_id = current_user_id()'),
        ('spending_counters', 'user_id = current_user_id()'),
        ('receiving_counters', 'user_id = current_user_id()'),
        ('approval_nonces', 'false'),
        ('inbound_payments', 'false'),
        ('ledger_accounts', 'owner_id = current_user_id() AND kind = ''wallet'''),
        ('balances', 'account_id = (SELECT u.wallet_id FROM users u WHERE u.id = current_user_id())'),
        ('entries', 'account_id = (SELECT u.wallet_id FROM users u WHERE u.id = current_user_id())'),
        ('holds', 'account_id = (SELECT u.wallet_id FROM users u WHERE u.id = current_user_id())'),
        ('transactions', 'sender_id = current_user_id() OR recipient_id = current_user_id()'),
        ('transaction_events', 'EXISTS (SELECT 1 FROM transactions x WHERE x.id = transaction_events.transaction_id)')
    ) AS x(name, own)
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t.name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t.name);
        EXECUTE format('CREATE POLICY own_rows ON %I FOR SELECT TO ${handler} USING (%s)', t.name, t.own);
        EXECUTE format('CREATE POLICY all_rows ON %I TO ${owner}, ${worker} USING (true) WITH CHECK (true)', t.name);
    END LOOP;
END $$;

-- A wallet as a person sees it: what is theirs, what is on its way out, what they can spend.
CREATE VIEW wallets WITH (security_invoker = true) AS
    SELECT u.id AS user_id, b.posted, b.held, b.posted - b.held AS available, b.account_id, u.provider_account,
        b.debits_blocked
    FROM users u JOIN balances b ON b.account_id = u.wallet_id;
GRANT SELECT ON wallets TO ${handler}, ${worker};
