-- What must be true of the books at every commit, whatever happened. Empty answer: everything holds.
--
-- Tests call this after each run and operators whenever they like; it reads whole tables and so belongs on a replica
-- when they are large. Names follow the list of invariants in ARCHITECTURE.md.

CREATE FUNCTION check_invariants() RETURNS TABLE (name text, detail text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp SET jit = off AS $$
    -- Ledger
    SELECT 'I1 the legs of a transaction sum to zero', e.transaction_id::text
        FROM entries e GROUP BY e.transaction_id HAVING sum(e.amount) <> 0
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
    UNION ALL SELECT 'I3 no wallet is overdrawn', b.account_id::text
        FROM balances b WHERE b.checked AND b.posted - b.held < 0 OR b.held < 0
    UNION ALL SELECT 'I3 held is the sum of active holds', b.account_id::text
        FROM balances b LEFT JOIN (SELECT account_id, sum(amount) AS total FROM holds
            WHERE state = 'active' GROUP BY 1) h USING (account_id)
        WHERE b.held <> coalesce(h.total, 0)
    UNION ALL SELECT 'I3 a hold is active while its transfer is open and ends as the transfer does', t.id::text
        FROM transactions t FULL JOIN holds h ON h.transaction_id = t.id
        WHERE t.type IS DISTINCT FROM 'inbound' AND (h.transaction_id IS NULL OR t.id IS NULL
            OR h.account_id <> t.debit_account OR h.amount <> t.amount + t.fee + t.duty
            OR h.state <> CASE WHEN t.state IN ('accepted', 'submitted', 'unknown') THEN 'active'
                               WHEN t.state = 'failed' THEN 'released' ELSE 'posted' END)
    UNION ALL SELECT 'I4 the history of a transaction has no gaps and ends in its state', t.id::text
        FROM transactions t LEFT JOIN (SELECT transaction_id, count(*) AS n, max(step) AS last,
                (array_agg(state ORDER BY step DESC))[1] AS state FROM transaction_events GROUP BY 1) h
            ON h.transaction_id = t.id
        WHERE h.n IS DISTINCT FROM t.steps OR h.last <> t.steps OR h.state <> t.state
    UNION ALL SELECT 'I5 entries exist exactly for what was completed', t.id::text
        FROM transactions t LEFT JOIN (SELECT transaction_id, count(*) FILTER (WHERE leg = 'amount') AS forth,
                count(*) FILTER (WHERE leg = 'reversal') AS back,
                coalesce(sum(amount) FILTER (WHERE leg IN ('amount', 'fee', 'duty') AND amount > 0), 0) AS moved
            FROM entries GROUP BY 1) e ON e.transaction_id = t.id
        WHERE CASE WHEN t.state IN ('completed', 'reversed')
            THEN e.forth IS DISTINCT FROM 2 OR e.moved <> t.amount + t.fee + t.duty
                OR (t.state = 'completed' AND e.back <> 0) OR (t.state = 'reversed' AND e.back NOT BETWEEN 1 AND 2)
            ELSE e.transaction_id IS NOT NULL END
    UNION ALL SELECT 'I6 money is in a completed transfer''s accounts', e.transaction_id || ' leg ' || e.leg
        FROM entries e JOIN transactions t ON t.id = e.transaction_id
        WHERE NOT CASE e.leg
            WHEN 'amount' THEN e.account_id IN (t.debit_account, t.credit_account)
            WHEN 'reversal' THEN e.account_id IN (t.debit_account, t.credit_account)
            WHEN 'receivable' THEN e.account_id = system_account('receivable', t.id)
            WHEN 'fee' THEN e.account_id IN (t.debit_account, system_account('fees', t.id))
            WHEN 'reversed_fee' THEN e.account_id IN (t.debit_account, system_account('fees', t.id))
            ELSE e.account_id IN (t.debit_account, system_account('stamp_duty', t.id)) END

    -- Counters
    UNION ALL SELECT 'I9 free slots used are slots held', c.user_id::text
        FROM receiving_counters c LEFT JOIN (SELECT recipient_id, slot_month, count(*) AS n FROM transactions
            WHERE slot_month IS NOT NULL AND state NOT IN ('failed', 'reversed') GROUP BY 1, 2) t
            ON t.recipient_id = c.user_id AND t.slot_month = c.month
        WHERE c.slots_used <> coalesce(t.n, 0) OR c.slots_used > free_slot_allowance()
    UNION ALL SELECT 'I9 slots are held only by transfers to a bank', t.id::text
        FROM transactions t WHERE t.slot_month IS NOT NULL AND (t.route <> 'external' OR t.route_reason <> 'free_slot')
    UNION ALL SELECT 'I9 spending is what was sent and not given back', c.user_id::text
        FROM spending_counters c LEFT JOIN transactions t
            ON t.sender_id = c.user_id AND t.state NOT IN ('failed', 'reversed')
        GROUP BY c.user_id, c.day, c.day_total, c.month, c.month_total
        HAVING c.day_total <> coalesce(sum(t.amount) FILTER (WHERE t.spent_day = c.day), 0)
            OR c.month_total <> coalesce(sum(t.amount) FILTER (WHERE t.spent_month = c.month), 0)
    UNION ALL SELECT 'I9 a new device''s total is what it sent', d.id::text
        FROM devices d LEFT JOIN (SELECT capped_device_id, sum(amount) AS total FROM transactions
            WHERE state NOT IN ('failed', 'reversed') GROUP BY 1) t ON t.capped_device_id = d.id
        WHERE d.first_day_total <> coalesce(t.total, 0)
    UNION ALL SELECT 'I9 incoming is what is on its way', c.user_id::text
        FROM receiving_counters c LEFT JOIN (SELECT recipient_id, sum(amount) AS total FROM transactions
            WHERE incoming_counted AND state IN ('accepted', 'submitted', 'unknown') GROUP BY 1) t
            ON t.recipient_id = c.user_id
        WHERE c.incoming <> coalesce(t.total, 0)

    -- Idempotency, provider, states
    UNION ALL SELECT 'I10 an accepted answer has its transaction', k.user_id || ' ' || k.key
        FROM idempotency_keys k LEFT JOIN transactions t
            ON t.request_key = request_key(k.user_id, k.route, k.key)
        WHERE k.status = 202 AND k.body LIKE '{"transaction_id":%' AND t.id IS NULL
    UNION ALL SELECT 'I11 what left has its provider call, what was never sent has none', t.id::text
        FROM transactions t LEFT JOIN provider_calls c ON c.reference = t.reference AND c.attempt = 1
        WHERE t.type <> 'inbound' AND (t.submitted_at IS NOT NULL) <> (c.reference IS NOT NULL)
    UNION ALL SELECT 'I11 attempts are numbered without gaps', c.reference
        FROM provider_calls c GROUP BY c.reference HAVING max(c.attempt) <> count(*)
    UNION ALL SELECT 'I12 an outcome has evidence', h.transaction_id || ' #' || h.step
        FROM transaction_events h WHERE h.state IN ('completed', 'failed', 'reversed') AND coalesce(h.evidence, '') = ''
    UNION ALL SELECT 'I13 states follow the graph', h.transaction_id || ' ' || h.before || ' to ' || h.state
        FROM (SELECT x.*, lag(x.state) OVER (PARTITION BY x.transaction_id ORDER BY x.step) AS before
              FROM transaction_events x) h
        WHERE h.before IS NOT NULL AND (h.before, h.state) NOT IN (('accepted', 'accepted'), ('accepted', 'submitted'),
            ('accepted', 'failed'), ('submitted', 'unknown'), ('unknown', 'submitted'), ('submitted', 'completed'),
            ('submitted', 'failed'), ('unknown', 'completed'), ('unknown', 'failed'), ('completed', 'reversed'))
    UNION ALL SELECT 'I16 one credit per provider payment', p.provider_payment_id
        FROM inbound_payments p LEFT JOIN transactions t
            ON t.type = 'inbound' AND t.provider_id = p.provider_payment_id
        GROUP BY p.provider_payment_id, p.disposition
        HAVING count(t.id) <> CASE p.disposition WHEN 'matched' THEN 0 ELSE 1 END

    -- Events
    UNION ALL SELECT 'I25 one created event per transaction', t.id::text
        FROM transactions t LEFT JOIN outbox o ON o.subject = t.id::text AND o.type = 'transaction.created'
        WHERE t.type <> 'inbound' GROUP BY t.id, t.created_at
        HAVING count(o.id) <> 1 AND t.created_at >= (SELECT min(day) FROM outbox)
    UNION ALL SELECT 'I25 one event per ending', t.id || ' ' || s.state
        FROM transactions t JOIN (VALUES ('completed'), ('failed'), ('reversed')) AS s(state) ON true
        LEFT JOIN outbox o ON o.subject = t.id::text AND o.type = 'transaction.' || s.state
        WHERE t.type <> 'inbound' AND t.created_at >= (SELECT min(day) FROM outbox)
        GROUP BY t.id, t.state, s.state
        HAVING count(o.id) <> (t.state = s.state OR t.state = 'reversed' AND s.state = 'completed')::integer
    UNION ALL SELECT 'I25 events of a transaction or recipient are numbered without gaps', o.subject
        FROM outbox o WHERE o.type LIKE 'transaction.%' OR o.type LIKE 'transfer.%' OR o.type LIKE 'external_slot.%'
        GROUP BY o.subject HAVING max(o.sequence) - min(o.sequence) + 1 <> count(*)
            OR count(DISTINCT o.sequence) <> count(*)
    UNION ALL SELECT 'I25 one submission job per transfer', t.id::text
        FROM transactions t LEFT JOIN jobs j ON j.kind = 'submit_transfer' AND j.key = t.id::text
        WHERE t.type <> 'inbound' AND t.state IN ('accepted', 'submitted', 'unknown') AND j.id IS NULL

    -- Configuration
    UNION ALL SELECT 'every version of the fee schedule begins at zero', f.type || ' ' || f.route || ' ' || f.valid_from
        FROM fee_schedule f GROUP BY f.type, f.route, f.valid_from HAVING min(f.amount_from) > 0
$$;

REVOKE ALL ON FUNCTION check_invariants() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION check_invariants() TO ${worker};
