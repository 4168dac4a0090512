-- Profiles whose sign-in was deleted at Clerk, and the messages that said so.

ALTER TABLE users
    ADD COLUMN closed_at            timestamptz,
    ADD COLUMN erasure_asked_at     timestamptz;         -- when transaction was last asked whether money is left
CREATE INDEX users_to_erase ON users (closed_at) WHERE closed_at IS NOT NULL AND erased_at IS NULL;

-- The primary key is why a message counts once: Svix sends it again under the same id.
CREATE TABLE clerk_webhooks (
    message_id              text COLLATE "C" PRIMARY KEY,
    received_at             timestamptz NOT NULL
);
CREATE INDEX clerk_webhooks_received ON clerk_webhooks (received_at);

GRANT SELECT, INSERT, DELETE ON clerk_webhooks TO ${worker};
