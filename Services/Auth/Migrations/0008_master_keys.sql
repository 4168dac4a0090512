-- What a master key has wrapped is found without reading everybody's, so that it can be wrapped anew when the master key is
-- replaced.

CREATE INDEX data_keys_master_key ON data_keys (master_key_id, user_id) WHERE wrapped IS NOT NULL;
