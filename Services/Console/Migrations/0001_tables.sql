-- The archive of all events, and what is handled again from it.

-- Archive -----------------------------------------------------------------------------------------------------------
-- Every event of the suite, once, as it was published.
--
-- Ids are UUIDv7s, so their order is that of time: a partition is a range of ids, one day long. There is a partition
-- for each day that is kept and for some days ahead; whatever claims another day goes to `archived_events_other`. The
-- order in which events were stored is `position`.

CREATE TABLE archived_events (
    id              uuid NOT NULL,
    position        bigint NOT NULL,
    time            timestamptz NOT NULL,                -- as the publisher says
    stored_at       timestamptz NOT NULL,
    sequence        bigint NOT NULL,
    correlation_id  uuid,
    causation_id    uuid,
    source          text COLLATE "C" NOT NULL,
    type            text COLLATE "C" NOT NULL,
    subject         text COLLATE "C" NOT NULL,
    origin          text COLLATE "C" NOT NULL CHECK (origin IN ('stream', 'outbox', 'import')),
    refs            text[] COLLATE "C",                  -- transfers and payments in the data, besides the subject
    body            text NOT NULL,                       -- the envelope, byte for byte; personal data in it is sealed
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);

CREATE INDEX archived_events_position ON archived_events (position);
CREATE INDEX archived_events_type ON archived_events (type, id);
CREATE INDEX archived_events_subject ON archived_events (subject, id);
CREATE INDEX archived_events_correlation ON archived_events (correlation_id) WHERE correlation_id IS NOT NULL;
CREATE INDEX archived_events_causation ON archived_events (causation_id) WHERE causation_id IS NOT NULL;
CREATE INDEX archived_events_refs ON archived_events USING gin (refs) WHERE refs IS NOT NULL;

CREATE TABLE archived_events_other PARTITION OF archived_events DEFAULT;

-- What stood in the event log and is no event.
CREATE TABLE malformed_messages (
    digest          bytea PRIMARY KEY,                   -- SHA-256 of the bytes
    stream_offset   bigint NOT NULL,
    routing_key     text NOT NULL,
    reason          text NOT NULL,
    size            integer NOT NULL,
    body            bytea NOT NULL,                      -- the first bytes, when there are very many
    stored_at       timestamptz NOT NULL
);
CREATE INDEX malformed_messages_stored ON malformed_messages (stored_at);

-- How far the archive is. Whoever stores events locks the row, so positions become visible in their order.
CREATE TABLE archive_progress (
    single          boolean PRIMARY KEY DEFAULT true CHECK (single),
    position        bigint NOT NULL DEFAULT 0,           -- of the newest event
    epoch           bigint NOT NULL DEFAULT 0,           -- counts readers of the log: only the last one may go on
    stream_offset   bigint,                              -- the last entry that was read; null before the first
    stream_digest   bytea,                               -- its SHA-256; null when the log was made anew and is unread
    newest_time     timestamptz,                         -- of the event that was stored last from the log
    read_at         timestamptz
);
INSERT INTO archive_progress DEFAULT VALUES;

-- Parts of the event log that were gone before they were read.
CREATE TABLE archive_gaps (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    reason          text NOT NULL CHECK (reason IN ('began_late', 'truncated', 'made_anew', 'asked')),
    since           timestamptz NOT NULL,                -- outboxes are read from here
    first_missing   bigint,
    last_missing    bigint,
    found_at        timestamptz NOT NULL,
    closed_at       timestamptz
);

-- How far the outbox of a service was read for a gap.
CREATE TABLE archive_backfills (
    gap_id          bigint NOT NULL REFERENCES archive_gaps,
    service         text COLLATE "C" NOT NULL,
    after_id        uuid NOT NULL,
    seen            bigint NOT NULL DEFAULT 0,
    added           bigint NOT NULL DEFAULT 0,
    finished_at     timestamptz,
    PRIMARY KEY (gap_id, service)
);

-- Days --------------------------------------------------------------------------------------------------------------

DO $$
DECLARE
    days integer[] := ARRAY(SELECT ((now() AT TIME ZONE 'UTC')::date - date '1970-01-01') + generate_series(-2, 8));
BEGIN
    CALL ensure_archive_days(days);
END $$;

-- Replays -----------------------------------------------------------------------------------------------------------
-- One service handles archived events again. A row says what is wanted, and how far it is.
--
-- A rebuild of a projection is a replay whose events a service applies beside what people see. They are read in the
-- order in which they were stored, so that what comes late is not left out.

CREATE TABLE replays (
    id              uuid PRIMARY KEY,
    service         text COLLATE "C" NOT NULL,
    mode            text COLLATE "C" NOT NULL CHECK (mode IN ('dry_run', 'run', 'rebuild')),
    effects         text COLLATE "C" NOT NULL CHECK (effects IN ('off', 'on')),
    rate            integer NOT NULL CHECK (rate BETWEEN 1 AND 20000),
    selection       text NOT NULL,                       -- JSON
    operator        text NOT NULL,
    reason          text NOT NULL,
    request_id      uuid,
    up_to           bigint NOT NULL,                     -- events that were stored behind this position are left out
    planned         bigint NOT NULL,
    state           text COLLATE "C" NOT NULL DEFAULT 'running'
                    CHECK (state IN ('running', 'finished', 'failed', 'cancelled')),
    place           uuid NOT NULL,                       -- everything up to this id is behind it
    done            bigint NOT NULL DEFAULT 0,
    applied         bigint NOT NULL DEFAULT 0,
    known           bigint NOT NULL DEFAULT 0,
    refused         bigint NOT NULL DEFAULT 0,
    failed          bigint NOT NULL DEFAULT 0,
    differing       bigint NOT NULL DEFAULT 0,
    changes         bigint NOT NULL DEFAULT 0,           -- that are kept
    problems        bigint NOT NULL DEFAULT 0,           -- that are kept
    error           text,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    finished_at     timestamptz,
    projection      text COLLATE "C",                    -- that is rebuilt
    position        bigint NOT NULL DEFAULT 0,           -- everything up to here was sent
    generation      smallint,                            -- of the projection, that is being made
    behind_since    timestamptz,                         -- the service was found to have events that do not come
    CONSTRAINT replays_projection CHECK ((projection IS NOT NULL) = (mode = 'rebuild'))
);
-- One at a time per service: two would write the same rows, and their dry runs would see each other's locks.
CREATE UNIQUE INDEX replays_under_way ON replays (service) WHERE state = 'running';

-- What a dry run found, as the service told it: nothing personal is in the clear.
CREATE TABLE replay_changes (
    replay_id       uuid NOT NULL REFERENCES replays ON DELETE CASCADE,
    number          bigint NOT NULL,
    kind            text COLLATE "C" NOT NULL,
    body            text NOT NULL,                       -- JSON
    PRIMARY KEY (replay_id, number)
);

-- Events that took no effect although they should have.
CREATE TABLE replay_problems (
    replay_id       uuid NOT NULL REFERENCES replays ON DELETE CASCADE,
    number          bigint NOT NULL,
    event_id        uuid NOT NULL,
    type            text COLLATE "C" NOT NULL,
    subject         text COLLATE "C" NOT NULL,
    outcome         text COLLATE "C" NOT NULL CHECK (outcome IN ('refused', 'failed')),
    reason          text NOT NULL,
    PRIMARY KEY (replay_id, number)
);

-- Rights ------------------------------------------------------------------------------------------------------------
-- Nobody but the owner can change or delete an event.

GRANT SELECT ON archived_events, malformed_messages, archive_progress, archive_gaps, archive_backfills
    TO ${handler}, ${worker};
GRANT INSERT ON archived_events, malformed_messages TO ${worker};
GRANT INSERT, UPDATE ON archive_gaps, archive_backfills TO ${worker};
GRANT UPDATE ON archive_progress TO ${worker};

GRANT SELECT ON replays, replay_changes, replay_problems TO ${handler}, ${worker};
GRANT INSERT, UPDATE, DELETE ON replays, replay_changes, replay_problems TO ${worker};
