-- Old nonces are looked for every ten seconds, and so by their age: a summary of blocks keeps the age of rows that went.
SET LOCAL lock_timeout = '3s';
-- safe: where the table is large, built before with CREATE INDEX CONCURRENTLY approval_nonces_used ON approval_nonces (used_at)
CREATE INDEX IF NOT EXISTS approval_nonces_used ON approval_nonces (used_at);
