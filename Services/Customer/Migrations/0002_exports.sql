-- What people ask to be given of all that is held about them, for the day for which it is kept.

SET LOCAL lock_timeout = '3s';

CREATE TABLE exports (
    id              uuid PRIMARY KEY,
    user_id         uuid NOT NULL REFERENCES users (id),
    state           text COLLATE "C" NOT NULL DEFAULT 'requested'
                    CHECK (state IN ('requested', 'collecting', 'ready', 'failed', 'expired')),
    requested_at    timestamptz NOT NULL,
    place           text COLLATE "C",                    -- what is asked for next; null: nothing more
    parts           integer NOT NULL DEFAULT 0 CHECK (parts >= 0),
    size            bigint NOT NULL DEFAULT 0 CHECK (size >= 0),     -- bytes of JSON
    reason          text COLLATE "C",
    ready_at        timestamptz,
    expires_at      timestamptz,
    ended_at        timestamptz,                         -- when it failed or its parts were deleted
    CHECK ((state IN ('requested', 'collecting')) = (place IS NOT NULL)),
    CHECK ((state IN ('ready', 'expired')) = (ready_at IS NOT NULL)),
    CHECK ((ready_at IS NULL) = (expires_at IS NULL)),
    CHECK ((state = 'failed') = (reason IS NOT NULL))
);
CREATE INDEX exports_user ON exports (user_id, requested_at DESC);
-- One collection of a person at a time.
CREATE UNIQUE INDEX exports_running ON exports (user_id) WHERE state IN ('requested', 'collecting');
CREATE INDEX exports_unended ON exports (requested_at) WHERE state IN ('requested', 'collecting', 'ready');
CREATE INDEX exports_failed ON exports (ended_at) WHERE state = 'failed';

ALTER TABLE exports ENABLE ROW LEVEL SECURITY;
ALTER TABLE exports FORCE ROW LEVEL SECURITY;
CREATE POLICY own_exports ON exports TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_exports ON exports TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT ON exports TO ${handler};
GRANT SELECT, UPDATE, DELETE ON exports TO ${worker};

-- Pages of the services, each sealed with the person's key, in the order in which the file has them.
CREATE TABLE export_parts (
    export_id       uuid NOT NULL REFERENCES exports (id) ON DELETE CASCADE,
    number          integer NOT NULL CHECK (number > 0),     -- 1..n without gaps
    service         text COLLATE "C" NOT NULL,
    content         text NOT NULL CHECK (content LIKE 's1.%'),
    PRIMARY KEY (export_id, number)
);

ALTER TABLE export_parts ENABLE ROW LEVEL SECURITY;
ALTER TABLE export_parts FORCE ROW LEVEL SECURITY;
CREATE POLICY own_parts ON export_parts TO ${handler}
    USING (EXISTS (SELECT 1 FROM exports e WHERE e.id = export_parts.export_id));
CREATE POLICY all_parts ON export_parts TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON export_parts TO ${handler};
GRANT SELECT, INSERT, DELETE ON export_parts TO ${worker};
