-- Limits, fees and counters.
--
-- Limits and fees are dated configuration: a row counts from valid_from until a newer one of the same key begins.
-- Counters are one rolling row per user, made with the user, so there is always a row to lock. They only move forward:
-- two replicas with clocks a second apart must not reset a day twice.

CREATE TABLE tier_limits (
    tier            smallint NOT NULL,                   -- KYC tier
    valid_from      timestamptz NOT NULL,
    per_transfer    bigint NOT NULL,
    per_day         bigint NOT NULL,
    per_month       bigint NOT NULL,
    maximum_balance bigint,                              -- null: no ceiling, and nobody waits for its row
    PRIMARY KEY (tier, valid_from)
);
INSERT INTO tier_limits VALUES
    (0, '-infinity', 0, 0, 0, 0),
    (1, '-infinity', 5000000, 5000000, 150000000, 30000000),
    (2, '-infinity', 20000000, 20000000, 600000000, 50000000),
    (3, '-infinity', 500000000, 500000000, 15000000000, NULL);

-- Lower limits that users set for themselves; null: none.
CREATE TABLE user_limits (
    user_id             uuid PRIMARY KEY,
    per_transfer        bigint CHECK (per_transfer >= 0),
    per_day             bigint CHECK (per_day >= 0),
    per_month           bigint CHECK (per_month >= 0),
    customer_sequence   bigint NOT NULL DEFAULT 0
);

-- What one newly activated device may send in its first hours.
CREATE TABLE device_caps (
    valid_from      timestamptz PRIMARY KEY,
    cap             bigint NOT NULL,
    lasting         interval NOT NULL
);
INSERT INTO device_caps VALUES ('-infinity', 2000000, '24 hours');

-- The newest valid_from of a type and route is the version in force; in it the highest band not above the amount.
-- Every version must begin with a band from zero.
CREATE TABLE fee_schedule (
    type            text COLLATE "C" NOT NULL,
    route           text COLLATE "C" NOT NULL CHECK (route IN ('external', 'internal')),
    valid_from      timestamptz NOT NULL,
    amount_from     bigint NOT NULL,
    fee             bigint NOT NULL CHECK (fee >= 0),
    duty            bigint NOT NULL CHECK (duty >= 0),
    PRIMARY KEY (type, route, valid_from, amount_from)
);
INSERT INTO fee_schedule VALUES ('p2p', 'external', '-infinity', 0, 0, 0), ('p2p', 'internal', '-infinity', 0, 0, 0);

-- External transfers a month that a recipient on the free plan may receive.
CREATE FUNCTION free_slot_allowance() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 5';

-- As a sender: what the limits have counted. Written while the sender's balances row is locked.
CREATE TABLE spending_counters (
    user_id         uuid PRIMARY KEY,
    day             date NOT NULL DEFAULT '2000-01-01',  -- in Lagos
    day_total       bigint NOT NULL DEFAULT 0 CHECK (day_total >= 0),
    month           date NOT NULL DEFAULT '2000-01-01',
    month_total     bigint NOT NULL DEFAULT 0 CHECK (month_total >= 0)
) WITH (fillfactor = 70);

-- As a recipient: free slots of the month, and book transfers on their way into a wallet that has a ceiling.
CREATE TABLE receiving_counters (
    user_id         uuid PRIMARY KEY,
    month           date NOT NULL DEFAULT '2000-01-01',
    slots_used      integer NOT NULL DEFAULT 0 CHECK (slots_used >= 0),
    slots_adjusted  integer NOT NULL DEFAULT 0,          -- by subscription's usage.adjusted, this month
    event_sequence  bigint NOT NULL DEFAULT 0,           -- of external_slot events, whose subject is the user
    incoming        bigint NOT NULL DEFAULT 0 CHECK (incoming >= 0)
) WITH (fillfactor = 70);

CREATE FUNCTION lagos_day(moment timestamptz) RETURNS date LANGUAGE sql STABLE AS $$
    SELECT (moment AT TIME ZONE 'Africa/Lagos')::date
$$;

CREATE FUNCTION month_of(day date) RETURNS date LANGUAGE sql STABLE AS $$
    SELECT date_trunc('month', day)::date
$$;

-- Looking configuration up -------------------------------------------------------------------------------------------

CREATE FUNCTION limits_of(p_tier smallint, p_now timestamptz) RETURNS SETOF tier_limits LANGUAGE sql STABLE AS $$
    SELECT * FROM tier_limits x
    WHERE x.tier = p_tier AND x.valid_from <= p_now ORDER BY x.valid_from DESC LIMIT 1
$$;

CREATE FUNCTION fee_for(p_type text, p_route text, p_amount bigint, p_now timestamptz)
RETURNS SETOF fee_schedule LANGUAGE sql STABLE AS $$
    SELECT * FROM fee_schedule x
    WHERE x.type = p_type AND x.route = p_route AND x.valid_from <= p_now AND x.amount_from <= greatest(p_amount, 0)
    ORDER BY x.valid_from DESC, x.amount_from DESC LIMIT 1
$$;

-- The device whose age limits a payment: the one that approved it, or for a PIN the user's newest one. Otherwise the
-- PIN would be the way around the first day.
CREATE FUNCTION device_to_cap(p_user uuid, p_device uuid) RETURNS SETOF devices LANGUAGE sql STABLE AS $$
    SELECT * FROM devices d
    WHERE d.user_id = p_user AND CASE WHEN p_device IS NULL THEN d.revoked_at IS NULL ELSE d.id = p_device END
    ORDER BY d.activated_at DESC, d.id DESC LIMIT 1
$$;

-- A user's destination outside: a verified default beneficiary.
CREATE FUNCTION default_beneficiary(p_user uuid) RETURNS SETOF beneficiaries LANGUAGE sql STABLE AS $$
    SELECT * FROM beneficiaries b
    WHERE b.user_id = p_user AND b.is_default AND b.verified AND b.deleted_at IS NULL AND b.counterparty_id IS NOT NULL
    ORDER BY b.id LIMIT 1
$$;

-- Users come into being ----------------------------------------------------------------------------------------------

CREATE FUNCTION ensure_users(p_users uuid[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_new uuid[];
BEGIN
    -- Sorted, so that two handlers that meet the same new users wait for each other in one order.
    SELECT array_agg(DISTINCT x.id ORDER BY x.id) INTO v_new
    FROM unnest(p_users) AS x(id) WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.id = x.id);
    IF v_new IS NULL THEN RETURN; END IF;

    INSERT INTO ledger_accounts (kind, owner_id, created_at)
    SELECT 'wallet', x.id, transfa_now() FROM unnest(v_new) AS x(id) ORDER BY x.id
    ON CONFLICT DO NOTHING;
    INSERT INTO balances (account_id)
    SELECT a.id FROM ledger_accounts a WHERE a.owner_id = ANY (v_new) AND a.kind = 'wallet' ORDER BY a.id
    ON CONFLICT DO NOTHING;
    INSERT INTO spending_counters (user_id) SELECT x.id FROM unnest(v_new) AS x(id) ON CONFLICT DO NOTHING;
    INSERT INTO receiving_counters (user_id) SELECT x.id FROM unnest(v_new) AS x(id) ON CONFLICT DO NOTHING;
    INSERT INTO users (id, wallet_id, created_at)
    SELECT a.owner_id, a.id, a.created_at FROM ledger_accounts a WHERE a.owner_id = ANY (v_new) AND a.kind = 'wallet'
    ON CONFLICT DO NOTHING;
END $$;
