-- Payments that no webhook told of are found by asking, account by account, the one not asked for longest first.

ALTER TABLE accounts ADD COLUMN swept_at timestamptz;
CREATE INDEX accounts_to_sweep ON accounts (coalesce(swept_at, opened_at)) WHERE status = 'open';

-- The provider shows the same money as an inbound transfer and as a payment, under two ids and one reference of its
-- own: the reference is why it is credited once.

ALTER TABLE inbound_payments ADD COLUMN provider_reference text COLLATE "C";
CREATE UNIQUE INDEX inbound_payments_reference ON inbound_payments (anchor_account_id, provider_reference)
    WHERE provider_reference IS NOT NULL;
