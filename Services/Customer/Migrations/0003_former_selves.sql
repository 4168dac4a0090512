-- Which address the provider may have, and whose customer somebody takes over who comes back.

SET LOCAL lock_timeout = '3s';

-- Both from auth, guarded by auth_sequence.
ALTER TABLE users
    ADD COLUMN email_verified boolean NOT NULL DEFAULT false,
    ADD COLUMN succeeds uuid;
