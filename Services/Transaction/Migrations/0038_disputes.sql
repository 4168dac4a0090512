-- A person reports a problem with a transfer and gets an answer within 72 hours: the law's time for giving back what was
-- taken without consent (Cybercrimes Act, s. 37(3)), promised here for every report.
--
-- A dispute moves no money: what follows from it is done as every money of operators is, by two people. The words of both
-- sides are sealed with the person's key.

CREATE TABLE disputes (
    id              uuid PRIMARY KEY,
    position        bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    transaction_id  uuid NOT NULL REFERENCES transactions (id),
    user_id         uuid NOT NULL,                       -- who reports it
    reason          text COLLATE "C" NOT NULL CHECK (reason IN ('unauthorised', 'not_received', 'wrong_amount',
                    'wrong_recipient', 'charged_twice', 'other')),
    description     text NOT NULL,                       -- sealed
    state           text COLLATE "C" NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'answered', 'closed')),
    opened_at       timestamptz NOT NULL,
    due_at          timestamptz NOT NULL,
    answer          text,                                -- the last one, sealed
    answered_at     timestamptz,
    outcome         text COLLATE "C" CHECK (outcome IN ('refunded', 'corrected', 'explained', 'declined')),
    closed_at       timestamptz,
    CHECK ((answer IS NULL) = (answered_at IS NULL) AND (state <> 'answered' OR answer IS NOT NULL)),
    CHECK ((state = 'closed') = (closed_at IS NOT NULL) AND (closed_at IS NULL) = (outcome IS NULL))
);
CREATE UNIQUE INDEX disputes_once ON disputes (transaction_id, user_id) WHERE state <> 'closed';
CREATE INDEX disputes_of_user ON disputes (user_id, transaction_id, position);
CREATE INDEX disputes_due ON disputes (due_at, position) WHERE state <> 'closed';

-- 'opened', or why not. The person's receiving_counters row is the mutex of how many disputes they have.
CREATE FUNCTION open_dispute(p_id uuid, p_transaction uuid, p_user uuid, p_reason text, p_description text,
    p_now timestamptz DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now timestamptz;
    v_of_transfer bigint;
    v_unanswered bigint;
BEGIN
    PERFORM 1 FROM receiving_counters c WHERE c.user_id = p_user FOR NO KEY UPDATE;
    v_now := coalesce(p_now, transfa_now());
    IF NOT EXISTS (SELECT 1 FROM transactions t
                   WHERE t.id = p_transaction AND (t.sender_id = p_user OR t.recipient_id = p_user)) THEN
        RETURN 'unknown';
    END IF;
    IF EXISTS (SELECT 1 FROM disputes d
               WHERE d.transaction_id = p_transaction AND d.user_id = p_user AND d.state <> 'closed') THEN
        RETURN 'dispute_open';
    END IF;
    SELECT count(*) FILTER (WHERE d.transaction_id = p_transaction), count(*) FILTER (WHERE d.state <> 'closed')
    INTO v_of_transfer, v_unanswered FROM disputes d WHERE d.user_id = p_user;
    IF v_of_transfer >= 5 OR v_unanswered >= 20 THEN RETURN 'too_many_disputes'; END IF;
    INSERT INTO disputes (id, transaction_id, user_id, reason, description, opened_at, due_at)
    VALUES (p_id, p_transaction, p_user, p_reason, p_description, v_now, v_now + interval '72 hours');
    RETURN 'opened';
END $$;

REVOKE ALL ON FUNCTION open_dispute(uuid, uuid, uuid, text, text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION open_dispute(uuid, uuid, uuid, text, text, timestamptz) TO ${handler};
ALTER TABLE disputes ENABLE ROW LEVEL SECURITY;
ALTER TABLE disputes FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON disputes FOR SELECT TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_rows ON disputes TO ${owner}, ${worker} USING (true) WITH CHECK (true);
GRANT SELECT ON disputes TO ${handler}, ${worker};
GRANT UPDATE (state, answer, answered_at, outcome, closed_at) ON disputes TO ${worker};
