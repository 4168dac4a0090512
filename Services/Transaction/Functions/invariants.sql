-- What must hold at any moment; each returns what does not.

CREATE OR REPLACE FUNCTION check_invariants() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT * FROM check_entries()
    UNION ALL SELECT * FROM check_holds()
    UNION ALL SELECT * FROM check_counters()
    UNION ALL SELECT * FROM check_states()
    UNION ALL SELECT * FROM check_idempotency()
    UNION ALL SELECT * FROM check_events()
    UNION ALL SELECT * FROM check_drops()
    UNION ALL SELECT * FROM check_requests()
    UNION ALL SELECT * FROM check_charges()
    UNION ALL SELECT * FROM check_fees()
    UNION ALL SELECT * FROM check_audit()
    UNION ALL SELECT * FROM check_suspense()
    UNION ALL SELECT * FROM check_debts()
    UNION ALL SELECT * FROM check_decisions()
    UNION ALL SELECT * FROM check_recovery()
    UNION ALL SELECT * FROM check_bills()
$$;

-- Entries and the balances that they make.
CREATE OR REPLACE FUNCTION check_entries() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT 'I1 the legs of a transfer sum to zero', e.transfer_id::text
        FROM entries e GROUP BY e.transfer_id HAVING sum(e.amount) <> 0
    UNION ALL SELECT 'I1 all entries sum to zero', sum(e.amount)::text FROM entries e HAVING sum(e.amount) <> 0
    UNION ALL SELECT 'I1 all balances sum to zero', sum(b.posted)::text FROM balances b HAVING sum(b.posted) <> 0
    UNION ALL SELECT 'I2 a balance is the sum of its entries', b.account_id::text
        FROM balances b LEFT JOIN (SELECT account_id, sum(amount) AS total, count(*) AS n, max(sequence) AS last
            FROM entries GROUP BY 1) e USING (account_id)
        WHERE b.posted <> coalesce(e.total, 0) OR b.sequence <> coalesce(e.n, 0) OR b.sequence <> coalesce(e.last, 0)
    UNION ALL SELECT 'I2 running balances follow from the entries', x.account_id || ' #' || x.sequence
        FROM (SELECT account_id, sequence, balance_after,
                  sum(amount) OVER (PARTITION BY account_id ORDER BY sequence) AS expected,
                  row_number() OVER (PARTITION BY account_id ORDER BY sequence) AS nth FROM entries) x
        WHERE x.balance_after <> x.expected OR x.sequence <> x.nth
    UNION ALL SELECT 'I5 entries exist exactly for what was completed', t.id::text
        FROM transfers t LEFT JOIN (SELECT transfer_id, count(*) FILTER (WHERE leg = 'amount') AS forth,
                count(*) FILTER (WHERE leg = 'reversal') AS back,
                count(*) FILTER (WHERE leg <> 'collected') AS others,
                coalesce(sum(amount) FILTER (WHERE leg IN ('amount', 'fee', 'duty') AND amount > 0), 0) AS moved
            FROM entries GROUP BY 1) e ON e.transfer_id = t.id
        WHERE CASE WHEN t.state IN ('completed', 'reversed')
            THEN e.forth IS DISTINCT FROM 2 OR e.moved <> t.amount + t.fee + t.duty
                -- What was returned out of suspense came back by a transfer of its own.
                OR e.back <> CASE WHEN t.state = 'reversed' AND t.route_reason <> 'returned' THEN 2 ELSE 0 END
            ELSE e.others > 0 END
    UNION ALL SELECT 'I6 money is in a completed transfer''s accounts', e.transfer_id || ' leg ' || e.leg
        FROM entries e JOIN transfers t ON t.id = e.transfer_id
            LEFT JOIN money_drops d ON d.id = t.parent_id AND t.type IN ('money_drop', 'drop_refund')
            LEFT JOIN users u ON u.id = d.creator_id
        WHERE NOT coalesce(CASE e.leg
            WHEN 'amount' THEN e.account_id IN (t.debit_account, t.credit_account)
            WHEN 'reversal' THEN e.account_id IN (t.debit_account, t.credit_account)
            WHEN 'receivable' THEN e.account_id IN (t.debit_account, t.credit_account,
                system_account('receivable', t.id), u.wallet_id)
            WHEN 'collected' THEN e.account_id IN (t.debit_account, t.credit_account,
                system_account('receivable', t.id), u.wallet_id)
            WHEN 'given_back' THEN e.account_id IN (d.pool_id, u.wallet_id)
            WHEN 'fee' THEN e.account_id IN (t.debit_account, system_account('fees', t.id))
            WHEN 'reversed_fee' THEN e.account_id IN (t.debit_account, system_account('fees', t.id))
            ELSE e.account_id IN (t.debit_account, system_account('stamp_duty', t.id)) END, false)
$$;

-- Money that is held while a transfer is open.
CREATE OR REPLACE FUNCTION check_holds() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT 'I3 no account is overdrawn but by what a recovery found gone', b.account_id::text
        FROM balances b JOIN ledger_accounts a ON a.id = b.account_id
        WHERE a.owner_id IS NOT NULL AND (b.held < 0 OR b.posted - b.held < CASE a.kind WHEN 'wallet' THEN
            -(SELECT coalesce(sum(t.amount), 0) FROM forgotten_transfers f JOIN transfers t ON t.id = f.transfer_id
              WHERE t.debit_account = b.account_id AND t.state = 'completed') ELSE 0 END)
    UNION ALL SELECT 'I3 only our accounts, and one that a recovery took from, may go below zero', b.account_id::text
        FROM balances b JOIN ledger_accounts a ON a.id = b.account_id
        WHERE b.checked <> (a.owner_id IS NOT NULL) AND NOT (a.kind = 'wallet' AND EXISTS (
            SELECT 1 FROM forgotten_transfers f JOIN transfers t ON t.id = f.transfer_id
            WHERE t.debit_account = b.account_id))
    UNION ALL SELECT 'I3 held is the sum of active holds', b.account_id::text
        FROM balances b LEFT JOIN (SELECT account_id, sum(amount) AS total FROM holds
            WHERE state = 'active' GROUP BY 1) h USING (account_id)
        WHERE b.held <> coalesce(h.total, 0)
    UNION ALL SELECT 'I3 a hold is active while its transfer is open and ends as the transfer does', t.id::text
        FROM transfers t FULL JOIN holds h ON h.transfer_id = t.id
        WHERE t.type IS DISTINCT FROM 'inbound' AND t.type IS DISTINCT FROM 'drop_claim'
          AND t.type IS DISTINCT FROM 'release' AND t.type IS DISTINCT FROM 'drop_refund'
          AND (h.transfer_id IS NULL OR t.id IS NULL
            OR h.account_id <> t.debit_account OR h.amount <> t.amount + t.fee + t.duty
            OR h.state <> CASE WHEN t.state IN ('accepted', 'submitted', 'unknown') THEN 'active'
                               WHEN t.state = 'failed' THEN 'released' ELSE 'posted' END)
$$;

-- What limits are compared with: free slots, spending, new devices, money on its way into a wallet.
CREATE OR REPLACE FUNCTION check_counters() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT 'I9 free slots used are slots held', c.user_id::text
        FROM receiving_counters c LEFT JOIN (SELECT recipient_id, slot_month, count(*) AS n FROM transfers
            WHERE slot_month IS NOT NULL AND state NOT IN ('failed', 'reversed') GROUP BY 1, 2) t
            ON t.recipient_id = c.user_id AND t.slot_month = c.month
        -- What was given back may have been taken anew; and that may have been taken away again since.
        WHERE c.slots_used <> coalesce(t.n, 0) OR c.slots_used > free_slot_allowance() + c.slots_forgiven
            OR c.slots_adjusted < -c.slots_forgiven
    UNION ALL SELECT 'I9 slots are held only by transfers to a bank', t.id::text
        FROM transfers t WHERE t.slot_month IS NOT NULL AND (t.route <> 'external' OR t.route_reason <> 'free_slot')
    UNION ALL SELECT 'I9 spending is what was sent and not given back', c.user_id::text
        FROM spending_counters c LEFT JOIN (
            SELECT x.*, x.amount - coalesce(d.given_back, 0) AS spent
            FROM transfers x LEFT JOIN money_drops d ON d.funding_id = x.id
            WHERE x.state NOT IN ('failed', 'reversed')) t ON t.sender_id = c.user_id
        GROUP BY c.user_id, c.day, c.day_total, c.month, c.month_total
        HAVING c.day_total <> coalesce(sum(t.spent) FILTER (WHERE t.spent_day = c.day), 0)
            OR c.month_total <> coalesce(sum(t.spent) FILTER (WHERE t.spent_month = c.month), 0)
    UNION ALL SELECT 'I9 a new device''s total is what it sent and did not get back', d.id::text
        FROM devices d LEFT JOIN (SELECT x.capped_device_id, sum(x.amount - coalesce(y.given_back, 0)) AS total
            FROM transfers x LEFT JOIN money_drops y ON y.funding_id = x.id
            WHERE x.state NOT IN ('failed', 'reversed') GROUP BY 1) t ON t.capped_device_id = d.id
        WHERE d.first_day_total <> coalesce(t.total, 0)
    UNION ALL SELECT 'I9 incoming is what is on its way', c.user_id::text
        FROM receiving_counters c LEFT JOIN (SELECT recipient_id, sum(amount) AS total FROM transfers
            WHERE incoming_counted AND state IN ('accepted', 'submitted', 'unknown') GROUP BY 1) t
            ON t.recipient_id = c.user_id
        WHERE c.incoming <> coalesce(t.total, 0)
$$;

-- The way of each transfer: its states, what was sent, how it ended.
CREATE OR REPLACE FUNCTION check_states() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT 'I4 the history of a transfer has no gaps and ends in its state', t.id::text
        FROM transfers t LEFT JOIN (SELECT transfer_id, count(*) AS n, max(step) AS last,
                (array_agg(state ORDER BY step DESC))[1] AS state FROM transfer_steps GROUP BY 1) h
            ON h.transfer_id = t.id
        WHERE h.n IS DISTINCT FROM t.steps OR h.last <> t.steps OR h.state <> t.state
    UNION ALL SELECT 'I11 what left has its provider call, what was never sent has none', t.id::text
        FROM transfers t LEFT JOIN provider_calls c ON c.reference = t.reference AND c.attempt = 1
        WHERE t.type <> 'inbound' AND (t.submitted_at IS NOT NULL) <> (c.reference IS NOT NULL)
    UNION ALL SELECT 'I11 attempts are numbered without gaps', c.reference
        FROM provider_calls c GROUP BY c.reference HAVING max(c.attempt) <> count(*)
    UNION ALL SELECT 'I12 an outcome has evidence', h.transfer_id || ' #' || h.step
        FROM transfer_steps h WHERE h.state IN ('completed', 'failed', 'reversed') AND coalesce(h.evidence, '') = ''
    UNION ALL SELECT 'I13 states follow the graph', h.transfer_id || ' ' || h.before || ' to ' || h.state
        FROM (SELECT x.*, lag(x.state) OVER (PARTITION BY x.transfer_id ORDER BY x.step) AS before
              FROM transfer_steps x) h
        WHERE h.before IS NOT NULL AND (h.before, h.state) NOT IN (('accepted', 'accepted'), ('accepted', 'submitted'),
            ('accepted', 'failed'), ('submitted', 'unknown'), ('unknown', 'submitted'), ('submitted', 'completed'),
            ('submitted', 'failed'), ('unknown', 'completed'), ('unknown', 'failed'), ('completed', 'reversed'))
$$;

-- What may happen once.
CREATE OR REPLACE FUNCTION check_idempotency() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT 'I10 what was refused was not accepted too', k.user_id || ' ' || k.key
        FROM refused_orders k JOIN transfers t ON t.request_key = request_key(k.user_id, k.route, k.key)
    UNION ALL SELECT 'I16 one credit per provider payment', p.provider_payment_id
        FROM inbound_payments p LEFT JOIN transfers t
            ON t.type = 'inbound' AND t.provider_id = p.provider_payment_id
        GROUP BY p.provider_payment_id, p.disposition
        HAVING count(t.id) <> CASE p.disposition WHEN 'matched' THEN 0 ELSE 1 END
    UNION ALL SELECT 'I16 what counts as come back is what had left, once at each end', p.transfer_id::text
        FROM inbound_payments p JOIN transfers t ON t.id = p.transfer_id
        WHERE p.disposition = 'matched'
        GROUP BY p.transfer_id, p.provider_account
        HAVING count(*) > 1 OR bool_or(p.amount <> t.amount OR t.submitted_at IS NULL)
$$;

-- What is published, and that somebody goes on with what is open.
CREATE OR REPLACE FUNCTION check_events() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT 'I25 one created event per transfer', t.id::text
        FROM transfers t LEFT JOIN outbox o ON o.subject = t.id::text AND o.type = 'transaction.created'
        WHERE t.type NOT IN ('inbound', 'release') GROUP BY t.id, t.created_at
        HAVING count(o.id) <> 1 AND t.created_at >= (SELECT min(day) FROM outbox)
    UNION ALL SELECT 'I25 one event per ending', t.id || ' ' || s.state
        FROM transfers t JOIN (VALUES ('completed'), ('failed'), ('reversed')) AS s(state) ON true
        LEFT JOIN outbox o ON o.subject = t.id::text AND o.type = 'transaction.' || s.state
        WHERE t.type NOT IN ('inbound', 'release') AND t.created_at >= (SELECT min(day) FROM outbox)
        GROUP BY t.id, t.state, s.state
        HAVING count(o.id) <> (t.state = s.state OR t.state = 'reversed' AND s.state = 'completed')::integer
    UNION ALL SELECT 'I25 events of a transfer or recipient are numbered without gaps', o.subject
        FROM outbox o WHERE o.type LIKE 'transaction.%' OR o.type LIKE 'transfer.%' OR o.type LIKE 'external_slot.%'
            OR o.type LIKE 'money_drop.%' OR o.type LIKE 'payment_request.%'
        GROUP BY o.subject HAVING max(o.sequence) - min(o.sequence) + 1 <> count(*)
            OR count(DISTINCT o.sequence) <> count(*)
    UNION ALL SELECT 'I25 one submission job per transfer', t.id::text
        FROM transfers t LEFT JOIN jobs j ON j.kind = 'submit_transfer' AND j.key = t.id::text
        WHERE t.type <> 'inbound' AND t.state IN ('accepted', 'submitted', 'unknown') AND j.id IS NULL
$$;

CREATE OR REPLACE FUNCTION check_drops() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT 'I18 claims and refunds hold nothing', h.transfer_id::text
        FROM holds h JOIN transfers t ON t.id = h.transfer_id WHERE t.type IN ('drop_claim', 'drop_refund')
    UNION ALL SELECT 'I18 a drop has its slots and is funded by their sum', d.id::text
        FROM money_drops d JOIN transfers t ON t.id = d.funding_id
            LEFT JOIN (SELECT drop_id, count(*) AS n FROM drop_slots GROUP BY 1) s ON s.drop_id = d.id
        WHERE s.n IS DISTINCT FROM d.slots
           OR (d.end_reason IS NOT DISTINCT FROM 'funding_reversed') <> (t.state = 'reversed')
           OR t.amount <> d.slots * d.amount_per_claim OR t.credit_account <> d.pool_id
           OR (d.state = 'pending') <> (t.state IN ('accepted', 'submitted', 'unknown'))
           OR (d.state = 'failed') <> (t.state = 'failed')
    UNION ALL SELECT 'I18 a pool holds what its slots have not paid out', d.id::text
        FROM money_drops d JOIN balances b ON b.account_id = d.pool_id
            LEFT JOIN (SELECT drop_id, count(*) FILTER (WHERE state IN ('open', 'claimed', 'closed', 'refunding')) AS n
                FROM drop_slots GROUP BY 1) s ON s.drop_id = d.id
        WHERE b.posted <> CASE WHEN d.state IN ('pending', 'failed') OR d.end_reason = 'funding_reversed' THEN 0
            ELSE s.n * d.amount_per_claim END
    UNION ALL SELECT 'I18 a pool whose funding was taken back pays nothing, and owes what has left it', d.id::text
        FROM money_drops d JOIN transfers f ON f.id = d.funding_id JOIN balances b ON b.account_id = d.pool_id
        WHERE b.debits_blocked <> (f.state = 'reversed') OR b.owed <> CASE f.state WHEN 'reversed' THEN
            (SELECT coalesce(sum(t.amount), 0) FROM transfers t
             WHERE t.parent_id = d.id AND t.type = 'drop_claim' AND t.state = 'completed') ELSE 0 END
    UNION ALL SELECT 'I18 nobody is given back a drop twice', d.id::text
        FROM money_drops d LEFT JOIN (SELECT account_id, sum(amount) AS total FROM entries
            WHERE leg = 'given_back' GROUP BY 1) e ON e.account_id = d.pool_id
        WHERE coalesce(e.total, 0) <> CASE WHEN d.end_reason = 'funding_reversed' THEN d.given_back ELSE 0 END
    UNION ALL SELECT 'I18 a pool covers what may still leave it', d.id::text
        FROM money_drops d JOIN transfers f ON f.id = d.funding_id JOIN balances b ON b.account_id = d.pool_id
        WHERE f.state <> 'reversed' AND b.posted < (SELECT coalesce(sum(t.amount), 0) FROM transfers t
            WHERE t.parent_id = d.id AND t.type IN ('drop_claim', 'drop_refund')
              AND t.state IN ('accepted', 'submitted', 'unknown'))
    UNION ALL SELECT 'I18 a slot is where its transfer is', s.drop_id || ' #' || s.position
        FROM drop_slots s LEFT JOIN transfers t ON t.id = s.transfer_id
        WHERE s.transfer_id IS NOT NULL AND (t.parent_id IS DISTINCT FROM s.drop_id OR NOT CASE s.state
            WHEN 'claimed' THEN t.type = 'drop_claim' AND t.state IN ('accepted', 'submitted', 'unknown')
            WHEN 'paid' THEN t.type = 'drop_claim' AND t.state = 'completed'
            WHEN 'refunding' THEN t.type = 'drop_refund' AND t.state IN ('accepted', 'submitted', 'unknown')
            ELSE t.type = 'drop_refund' AND t.state = 'completed' END)
    UNION ALL SELECT 'I18 a transfer out of a pool is for its slots', t.id::text
        FROM transfers t JOIN money_drops d ON d.id = t.parent_id
            LEFT JOIN (SELECT transfer_id, count(*) AS n FROM drop_slots GROUP BY 1) s ON s.transfer_id = t.id
        WHERE t.type IN ('drop_claim', 'drop_refund')
          AND (t.debit_account <> d.pool_id
            OR t.state NOT IN ('failed', 'reversed') AND t.amount IS DISTINCT FROM s.n * d.amount_per_claim
            OR t.type = 'drop_claim' AND (t.amount <> d.amount_per_claim OR t.created_at >= d.expires_at
                OR t.recipient_id = d.creator_id)
            OR t.type = 'drop_refund' AND t.recipient_id <> d.creator_id)
    UNION ALL SELECT 'I18 a drop has given back what its refunds brought', d.id::text
        FROM money_drops d LEFT JOIN (SELECT parent_id, sum(amount) AS total FROM transfers
            WHERE type = 'drop_refund' AND state = 'completed' GROUP BY 1) t ON t.parent_id = d.id
        WHERE d.given_back <> coalesce(t.total, 0)
    UNION ALL SELECT 'I18 a drop that has money is known to have it', d.id::text
        FROM money_drops d JOIN balances b ON b.account_id = d.pool_id WHERE d.has_money <> (b.posted > 0)
    UNION ALL SELECT 'I18 one claim per person', t.parent_id || ' ' || t.recipient_id
        FROM transfers t WHERE t.type = 'drop_claim' AND t.state NOT IN ('failed', 'reversed')
        GROUP BY t.parent_id, t.recipient_id HAVING count(*) > 1
    UNION ALL SELECT 'I18 no slot is open once the drop has ended', s.drop_id || ' #' || s.position
        FROM drop_slots s JOIN money_drops d ON d.id = s.drop_id
        WHERE s.state = 'open' AND d.state IN ('ended', 'failed') OR s.state <> 'void' AND d.state = 'failed'
$$;

CREATE OR REPLACE FUNCTION check_requests() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT 'I19 a request is paid by one payment', q.id::text
        FROM payment_requests q LEFT JOIN transfers t
            ON t.payment_request_id = q.id AND t.state NOT IN ('failed', 'reversed')
        GROUP BY q.id
        HAVING NOT q.multiple AND count(t.id) <> (q.state IN ('processing', 'fulfilled'))::integer
            OR bool_or(t.id <> q.transfer_id OR t.recipient_id <> q.owner_id OR t.amount <> q.amount
                OR t.sender_id <> q.payer_id
                OR NOT q.multiple
                    AND (t.state = 'completed' AND t.route_reason <> 'suspense') <> (q.state = 'fulfilled'))
    UNION ALL SELECT 'I19 a request has counted what arrived', q.id::text
        FROM payment_requests q LEFT JOIN transfers t ON t.payment_request_id = q.id AND t.state = 'completed'
            AND t.route_reason <> 'suspense'
        GROUP BY q.id HAVING q.paid_count <> count(t.id) OR q.paid_total <> coalesce(sum(t.amount), 0)
            OR bool_or(t.recipient_id <> q.owner_id OR t.amount <> q.amount)
    UNION ALL SELECT 'I19 no request is paid after its end', t.id::text
        FROM payment_requests q JOIN transfers t ON t.payment_request_id = q.id
        WHERE t.created_at >= q.expires_at
           OR NOT q.multiple AND q.state IN ('declined', 'cancelled') AND t.state NOT IN ('failed', 'reversed')
$$;

CREATE OR REPLACE FUNCTION check_charges() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT 'I21 a charge is paid by its one transfer, or by none', coalesce(c.reference, t.reference)
        FROM subscription_charges c
            FULL JOIN (SELECT * FROM transfers x WHERE x.type = 'subscription_charge') t ON t.id = c.transfer_id
        WHERE c.reference IS DISTINCT FROM t.reference AND (t.id IS NOT NULL OR c.transfer_id IS NOT NULL)
           OR t.id IS NOT NULL AND (t.sender_id <> c.user_id OR t.state <> 'completed'
                OR t.credit_account <> system_account('revenue', t.id)
                OR t.debit_account <> (SELECT u.wallet_id FROM users u WHERE u.id = c.user_id))
    UNION ALL SELECT 'I21 revenue is what charges brought', e.transfer_id::text
        FROM entries e JOIN ledger_accounts a ON a.id = e.account_id JOIN transfers t ON t.id = e.transfer_id
        WHERE a.kind = 'revenue' AND (t.type <> 'subscription_charge' OR e.amount <> t.amount)
    UNION ALL SELECT 'I21 an attempt is answered by one event', c.reference
        FROM subscription_charges c
            LEFT JOIN outbox o ON o.subject = c.reference AND o.type LIKE 'subscription\_charge.%'
        WHERE c.decided_at >= (SELECT min(day) FROM outbox) + 1
        GROUP BY c.reference, c.sequence
        HAVING max(o.sequence) IS DISTINCT FROM c.sequence OR count(o.sequence) <> count(DISTINCT o.sequence)
$$;

CREATE OR REPLACE FUNCTION check_fees() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    SELECT 'every version of the fee schedule begins at zero', f.type || ' ' || f.route || ' ' || f.valid_from
        FROM fee_schedule f GROUP BY f.type, f.route, f.valid_from HAVING min(f.amount_from) > 0
$$;

CREATE OR REPLACE FUNCTION check_suspense() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 'I27 what is in suspense is what waits there', sum(b.posted)::text
        FROM ledger_accounts a JOIN balances b ON b.account_id = a.id WHERE a.kind = 'suspense'
        HAVING sum(b.posted) <> (SELECT coalesce(sum(CASE
                WHEN t.route_reason = 'suspense' AND t.state = 'completed' THEN t.amount ELSE 0 END), 0)
            FROM transfers t WHERE t.route_reason = 'suspense')
    UNION ALL SELECT 'I27 a release is reversed when what it released is, and not otherwise', r.id::text
        FROM transfers r JOIN transfers t ON t.id = r.parent_id
        WHERE r.type = 'inbound' AND r.route_reason = 'released' AND r.state <> t.state
    UNION ALL SELECT 'I27 a release is posted once, by two people', r.id::text
        FROM suspense_releases r LEFT JOIN transfers t ON t.id = r.id JOIN transfers p ON p.id = r.transfer_id
        WHERE (r.state IN ('approved', 'failed')) <> (t.id IS NOT NULL) OR r.decided_by = r.proposed_by
           OR t.id IS NOT NULL AND (t.amount <> p.amount OR t.debit_account <> p.credit_account)
    UNION ALL SELECT 'I27 money leaves suspense by one order, and is where that has brought it', t.id::text
        FROM transfers t JOIN transfers p ON p.id = t.parent_id LEFT JOIN suspense_releases r ON r.id = t.id
        WHERE t.type = 'release' AND NOT coalesce(CASE t.state
            WHEN 'completed' THEN r.state = 'approved' AND CASE r.disposition
                WHEN 'return' THEN p.state = 'reversed' AND p.route_reason = 'returned'
                WHEN 'payout' THEN p.state = 'completed' AND p.route_reason = 'paid_out' END
            WHEN 'failed' THEN r.state = 'failed'
            WHEN 'reversed' THEN r.state = 'failed' AND r.disposition = 'payout'
            ELSE r.state = 'approved' AND p.state = 'completed' AND p.route_reason = 'suspense' END, false)
    UNION ALL SELECT 'I27 money is given out of suspense to whom it belongs', t.id::text
        FROM transfers t JOIN transfers p ON p.id = t.parent_id
        WHERE t.type = 'release' AND NOT coalesce(t.source_account = p.destination AND CASE t.route
            WHEN 'internal' THEN t.credit_account = p.debit_account AND t.destination = p.source_account
            ELSE EXISTS (SELECT 1 FROM beneficiaries b JOIN suspense_releases r ON r.beneficiary_id = b.id
                WHERE r.id = t.id AND b.user_id = p.recipient_id AND b.counterparty_id = t.destination) END, false)
    UNION ALL SELECT 'I27 what was returned or paid out of suspense left it', p.id::text
        FROM transfers p WHERE (p.state = 'reversed' AND p.route_reason = 'returned' OR p.route_reason = 'paid_out')
          AND NOT EXISTS (SELECT 1 FROM transfers t WHERE t.parent_id = p.id AND t.type = 'release'
            AND t.state = 'completed')
    -- What was credited while the wallet was closed, or could not be moved at once, the next run of the closing takes.
    UNION ALL SELECT 'I31 a closed wallet that was emptied has nothing to take, or is to be emptied again', u.id::text
        FROM users u JOIN balances b ON b.account_id = u.wallet_id
        WHERE u.emptied_at IS NOT NULL AND u.provider_account IS NOT NULL AND b.posted > b.held
          AND NOT EXISTS (SELECT 1 FROM jobs j
              WHERE j.kind = 'close_products' AND j.key = u.id::text AND j.state IN ('queued', 'running'))
$$;

-- What an account owes is what reversals found spent, less what came in since.
CREATE OR REPLACE FUNCTION owed_by(p_account bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(e.amount), 0)::bigint FROM entries e
    WHERE e.account_id = p_account AND e.leg IN ('receivable', 'collected')
$$;

CREATE OR REPLACE FUNCTION check_debts() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 'I30 what is owed is what was found spent, less what was collected', b.account_id::text
        FROM balances b JOIN ledger_accounts a ON a.id = b.account_id
        WHERE b.owed <> CASE WHEN a.owner_id IS NULL THEN 0 ELSE owed_by(b.account_id) END
    UNION ALL SELECT 'I30 what we are owed is what accounts owe', sum(b.posted)::text
        FROM ledger_accounts a JOIN balances b ON b.account_id = a.id WHERE a.kind = 'receivable'
        HAVING sum(b.posted) <> -(SELECT sum(x.owed) FROM balances x)
            - (SELECT coalesce(sum(t.amount), 0) FROM forgotten_transfers f JOIN transfers t ON t.id = f.transfer_id
               JOIN ledger_accounts x ON x.id = t.debit_account WHERE x.kind = 'receivable' AND t.state = 'completed')
    UNION ALL SELECT 'I30 who owes has nothing to spend', b.account_id::text
        FROM balances b WHERE b.owed > 0 AND b.posted > b.held
$$;

CREATE OR REPLACE FUNCTION check_decisions() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 'I28 what two people decided happened, once, in their names', p.id::text
        FROM transfer_proposals p LEFT JOIN transfer_steps h
            ON h.transfer_id = p.transfer_id AND h.evidence = 'proposal:' || p.id AND h.state = p.outcome
        GROUP BY p.id, p.state, p.decided_by, p.proposed_by
        HAVING count(h.step) <> (p.state = 'approved')::integer OR p.state = 'approved' AND
            (p.decided_by = p.proposed_by OR min(h.actor) <> 'operators ' || p.proposed_by || ' and ' || p.decided_by)
    UNION ALL SELECT 'I28 operators fail nothing that may still arrive', p.id::text
        FROM transfer_proposals p JOIN transfers t ON t.id = p.transfer_id
            JOIN provider_calls c ON c.reference = t.reference
        WHERE p.state = 'approved' AND p.outcome = 'failed' AND may_arrive(c, p.decided_at)
    UNION ALL SELECT 'I28 operators end nothing alone', h.transfer_id || ' #' || h.step
        FROM transfer_steps h LEFT JOIN transfer_proposals p
            ON h.evidence = 'proposal:' || p.id AND p.transfer_id = h.transfer_id AND p.state = 'approved'
        WHERE h.evidence LIKE 'proposal:%' AND p.id IS NULL
$$;

CREATE OR REPLACE FUNCTION check_recovery() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 'I29 what was forgotten is booked once, as it was made', f.provider_id
        FROM forgotten_transfers f LEFT JOIN transfers t ON t.id = f.transfer_id
        WHERE t.id IS NULL OR t.reference <> f.reference OR t.amount <> f.amount OR t.provider_id <> f.provider_id
           OR f.status = 'completed' AND t.state NOT IN ('completed', 'reversed')
           OR f.status <> 'completed' AND t.state <> f.status
    UNION ALL SELECT 'I29 a wallet below zero sends nothing', b.account_id::text
        FROM ledger_accounts a JOIN balances b ON b.account_id = a.id
        WHERE a.kind = 'wallet' AND NOT b.checked AND NOT b.debits_blocked
    UNION ALL SELECT 'I29 nothing is sent while a recovery is open', c.reference || ' #' || c.attempt
        FROM recoveries r JOIN provider_calls c ON c.started_at > r.begun_at
            AND c.started_at < coalesce(r.ended_at, 'infinity') AND c.outcome IS DISTINCT FROM 'forgotten'
    UNION ALL SELECT 'I29 what had not left at a restore is never sent', t.id::text
        FROM recoveries r JOIN recovery_doubts d ON d.recovery_id = r.id AND d.finding = 'absent'
            JOIN transfers t ON t.id = d.transfer_id
        WHERE r.ended_at IS NOT NULL AND t.type <> 'drop_refund' AND t.state <> 'failed'
    UNION ALL SELECT 'I29 a recovery ends when nothing is missing', r.id::text
        FROM recoveries r CROSS JOIN LATERAL recovery_missing(r.id) m
        WHERE r.ended_at IS NOT NULL AND (m.not_planned OR m.accounts > 0 OR m.doubts > 0)
$$;

CREATE OR REPLACE FUNCTION check_bills() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 'I32 a bill is booked once, with its amount, out of no wallet', coalesce(b.provider_row_id, t.id::text)
        FROM provider_bills b
            FULL JOIN (SELECT * FROM transfers x WHERE x.route_reason = 'bill') t ON t.id = b.transfer_id
        WHERE b.provider_row_id IS NULL OR t.id IS NULL OR t.amount <> b.amount OR t.fee + t.duty <> 0
           OR t.state <> 'completed' OR t.source_account <> b.provider_account
           OR t.debit_account <> system_account(b.account, t.id)
           OR t.credit_account <> system_account('provider_clearing', t.id)
    UNION ALL SELECT 'I32 a bill is booked where its kind belongs', b.provider_row_id
        FROM provider_bills b
        WHERE b.account <> CASE WHEN b.is_known THEN (bill_account(b.kind, b.billed_at)).account
            ELSE 'provider_costs' END
    UNION ALL SELECT 'I32 costs are what the provider billed', sum(b.posted)::text
        FROM ledger_accounts a JOIN balances b ON b.account_id = a.id WHERE a.kind = 'provider_costs'
        HAVING sum(b.posted) <> -(SELECT coalesce(sum(x.amount), 0) FROM provider_bills x
            WHERE x.account = 'provider_costs')
$$;
