-- Old keys are looked for every ten seconds, and so by their age.
SET LOCAL lock_timeout = '3s';
-- safe: where the table is large, built before with CREATE INDEX CONCURRENTLY idempotency_keys_age ON idempotency_keys (created_at)
CREATE INDEX IF NOT EXISTS idempotency_keys_age ON idempotency_keys (created_at);
