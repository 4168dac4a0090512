-- What the transaction service knows about people. Filled from events of other services; the money path asks nobody.
--
-- Columns are grouped by the service that owns the fact, each group with that service's event sequence: events of
-- different services interleave freely, so an update names its group's sequence and ignores what is older. Any event
-- may be the first that mentions a user; ensure_users() makes the row and everything the ledger needs beside it.

CREATE TABLE users (
    id                      uuid PRIMARY KEY,
    wallet_id               bigint NOT NULL UNIQUE,      -- ledger account
    created_at              timestamptz NOT NULL,

    username                text COLLATE "C" UNIQUE,     -- auth
    account_type            text COLLATE "C" NOT NULL DEFAULT 'personal',
    auth_sequence           bigint NOT NULL DEFAULT 0,

    status                  text COLLATE "C" NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'frozen', 'closed')),
    sending_allowed         boolean NOT NULL DEFAULT true,   -- customer; false: receive-only
    debits_blocked          boolean NOT NULL DEFAULT false,
    credits_blocked         boolean NOT NULL DEFAULT false,
    receive_preference      text COLLATE "C" NOT NULL DEFAULT 'external'
                            CHECK (receive_preference IN ('external', 'wallet')),
    customer_sequence       bigint NOT NULL DEFAULT 0,

    kyc_status              text COLLATE "C" NOT NULL DEFAULT 'pending'
                            CHECK (kyc_status IN ('pending', 'approved', 'rejected')),
    tier                    smallint NOT NULL DEFAULT 1,
    kyc_sequence            bigint NOT NULL DEFAULT 0,

    provider_account        text COLLATE "C" UNIQUE,     -- account; null until the provider opened it
    account_sequence        bigint NOT NULL DEFAULT 0,

    plan                    text COLLATE "C" NOT NULL DEFAULT 'free',    -- subscription
    active_until            timestamptz,
    subscription_sequence   bigint NOT NULL DEFAULT 0
);

CREATE TABLE beneficiaries (
    id                  uuid PRIMARY KEY,
    user_id             uuid NOT NULL,
    counterparty_id     text COLLATE "C",                -- at the provider
    verified            boolean NOT NULL DEFAULT false,
    is_default          boolean NOT NULL DEFAULT false,
    deleted_at          timestamptz,
    customer_sequence   bigint NOT NULL DEFAULT 0
);
CREATE INDEX beneficiaries_user ON beneficiaries (user_id);

CREATE TABLE devices (
    id                  uuid PRIMARY KEY,
    user_id             uuid NOT NULL,
    public_key          bytea NOT NULL,
    activated_at        timestamptz NOT NULL,
    revoked_at          timestamptz,
    auth_sequence       bigint NOT NULL DEFAULT 0,
    first_day_total     bigint NOT NULL DEFAULT 0 CHECK (first_day_total >= 0)   -- ours: sent while the device was new
) WITH (fillfactor = 80);
CREATE INDEX devices_user ON devices (user_id, activated_at DESC, id DESC);

-- The newest sign of life of each service the read model depends on.
CREATE TABLE source_heartbeats (
    source              text COLLATE "C" PRIMARY KEY,
    beat_at             timestamptz NOT NULL
);
INSERT INTO source_heartbeats VALUES ('auth', '-infinity'), ('customer', '-infinity'), ('subscription', '-infinity');

CREATE FUNCTION beat(p_source text, p_at timestamptz) RETURNS void LANGUAGE sql AS $$
    INSERT INTO source_heartbeats (source, beat_at) VALUES (p_source, p_at)
    ON CONFLICT (source) DO UPDATE SET beat_at = excluded.beat_at WHERE source_heartbeats.beat_at < excluded.beat_at
$$;

-- Transfers are submitted only while every source has been heard within thirty seconds.
CREATE FUNCTION read_model_is_fresh(p_now timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT count(*) = 3 FROM source_heartbeats
    WHERE source IN ('auth', 'customer', 'subscription') AND beat_at >= p_now - interval '30 seconds'
$$;
