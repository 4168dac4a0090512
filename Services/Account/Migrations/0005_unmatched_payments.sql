-- Payments on accounts that belong to nobody we know, once they have waited long enough: transaction books them. One row
-- per money, whatever ids and messages the provider has for it.

CREATE TABLE unmatched_payments (
    provider_payment_id     text COLLATE "C" PRIMARY KEY,
    anchor_account_id       text COLLATE "C" NOT NULL,
    amount                  bigint NOT NULL CHECK (amount > 0),
    provider_reference      text COLLATE "C",
    paid_at                 timestamptz NOT NULL,
    told_at                 timestamptz NOT NULL
);
CREATE UNIQUE INDEX unmatched_payments_reference ON unmatched_payments (anchor_account_id, provider_reference)
    WHERE provider_reference IS NOT NULL;
GRANT SELECT, INSERT ON unmatched_payments TO ${worker};
