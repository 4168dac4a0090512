-- Why a verification failed, as a code, and which details the provider did not take.

ALTER TABLE users
    ADD COLUMN verification_reason  text COLLATE "C",                   -- notification
    ADD COLUMN refusal              text COLLATE "C",                   -- customer
    ADD COLUMN customer_sequence    bigint NOT NULL DEFAULT 0,
    ADD COLUMN details_sequence     bigint NOT NULL DEFAULT 0;          -- ours: the event that told of the newest details

GRANT UPDATE (verification_status, verification_reason, refusal, details_sequence) ON users TO ${handler};
