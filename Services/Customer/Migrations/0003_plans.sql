-- How long a user counts as having a paid plan, as subscription says: it allows more than one bank account.

ALTER TABLE users
    ADD COLUMN plan_until               timestamptz,         -- subscription
    ADD COLUMN subscription_sequence    bigint NOT NULL DEFAULT 0;
