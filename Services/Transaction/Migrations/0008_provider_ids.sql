-- The provider's messages name its own id and not always our reference.
CREATE INDEX transactions_provider ON transactions (provider_id) WHERE provider_id IS NOT NULL;
