-- Statements are read from the entries themselves; receipts show by which id the banks find a transfer.

-- The number of an account's last entry before a moment; 0: there is none. Entries are numbered without gaps and their
-- times never fall, so halving finds it: as many look-ups by primary key as the number has bits, and no index over
-- times that every posting would pay for. Reads what the caller may read.
CREATE FUNCTION last_entry_before(p_account bigint, p_moment timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    v_low bigint := 0;
    v_high bigint := coalesce((SELECT b.sequence FROM balances b WHERE b.account_id = p_account), 0);
    v_middle bigint;
BEGIN
    WHILE v_low < v_high LOOP
        v_middle := (v_low + v_high + 1) / 2;
        IF (SELECT e.posted_at < p_moment FROM entries e WHERE e.account_id = p_account AND e.sequence = v_middle) THEN
            v_low := v_middle;
        ELSE
            v_high := v_middle - 1;
        END IF;
    END LOOP;
    RETURN v_low;
END $$;
REVOKE ALL ON FUNCTION last_entry_before(bigint, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION last_entry_before(bigint, timestamptz) TO ${handler};

-- The session of a NIP transfer, as soon as the provider has told it.
CREATE TABLE provider_sessions (
    transaction_id  uuid PRIMARY KEY,
    session_id      text COLLATE "C" NOT NULL
);
ALTER TABLE provider_sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE provider_sessions FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON provider_sessions FOR SELECT TO ${handler}
    USING (EXISTS (SELECT 1 FROM transactions t WHERE t.id = provider_sessions.transaction_id));
CREATE POLICY all_rows ON provider_sessions TO ${owner}, ${worker} USING (true) WITH CHECK (true);
GRANT SELECT ON provider_sessions TO ${handler}, ${worker};
GRANT INSERT ON provider_sessions TO ${worker};
