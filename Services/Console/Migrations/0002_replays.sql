-- Replays: one service handles archived events again. A row says what is wanted, and how far it is.

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
    up_to           bigint NOT NULL,                     -- events that were stored behind this position are not part of it
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
    finished_at     timestamptz
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

GRANT SELECT ON replays, replay_changes, replay_problems TO ${handler}, ${worker};
GRANT INSERT, UPDATE, DELETE ON replays, replay_changes, replay_problems TO ${worker};
