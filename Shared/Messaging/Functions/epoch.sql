-- What may be remembered of a database outside of it.
--
-- Whoever notes elsewhere that something was committed (Redis knows which events were handled, and holds copies of
-- answers) notes this name with it. As long as the name is the same, nothing that was committed under it has been lost
-- since. A name that changes too often costs a look into the tables, one that stays too long costs an event: so it
-- holds whatever could be different when a commit is gone.

-- Names the database as it stands; the same for all sessions, and asked about once a second.
CREATE OR REPLACE FUNCTION database_epoch() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- A standby, or a restore under way: what it lacks may never come. A name that nobody has seen or sees again.
    IF pg_is_in_recovery() THEN
        RETURN 'recovery-' || gen_random_uuid();
    END IF;
    RETURN left(encode(sha256(convert_to(json_build_array(
        -- Another cluster, with whatever it holds.
        (SELECT c.system_identifier FROM pg_control_system() c),
        -- A restore and a promotion begin a timeline. Of the file that is written now: pg_control_checkpoint() has the
        -- old one until the first checkpoint after a promotion.
        left(pg_walfile_name(pg_current_wal_lsn()), 8),
        -- A copy of the files that was started without a recovery goes on in its timeline, and two restores of one copy
        -- may begin timelines of the same number: but each server was started at a moment of its own.
        extract(epoch FROM pg_postmaster_start_time()),
        -- A backend that was killed has all others ended, and the log read again, in the same postmaster: commits that
        -- did not wait for the disk are gone. What the statistics had counted is thrown away then, and this says when.
        (SELECT extract(epoch FROM b.stats_reset) FROM pg_stat_bgwriter b),
        -- A database that was dropped and made again from a dump, and tables that were, get new numbers; one that was
        -- copied from another has the same tables, so its own number counts too. The idempotency keys are there where
        -- somebody answers requests.
        (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()),
        to_regclass('inbox')::oid, to_regclass('idempotency_keys')::oid,
        -- Emptied tables get new files. So does a day that is dropped, of which the inbox knows nothing any more.
        (SELECT json_agg(c.relfilenode ORDER BY c.oid) FROM pg_class c
            WHERE c.oid = to_regclass('idempotency_keys')
                OR c.oid IN (SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = to_regclass('inbox')))
    )::text, 'UTF8')), 'hex'), 32);
END $$;
