-- Whose profile is closed: such a person gets no push and sets nothing. A row stays, for nothing opens a profile
-- again, and what is heard before the sign-up counts too.
SET LOCAL lock_timeout = '3s';

CREATE TABLE closed_profiles (
    user_id         uuid PRIMARY KEY,
    closed_at       timestamptz NOT NULL                 -- when it was heard
);

ALTER TABLE closed_profiles ENABLE ROW LEVEL SECURITY;
ALTER TABLE closed_profiles FORCE ROW LEVEL SECURITY;
CREATE POLICY own_profile ON closed_profiles TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_profiles ON closed_profiles TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT ON closed_profiles TO ${handler};
GRANT SELECT, INSERT ON closed_profiles TO ${worker};
