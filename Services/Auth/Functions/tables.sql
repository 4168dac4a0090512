-- What tables and migrations need: applied before them.

-- Names that a person can take for one another are one name. `Username.skeleton` in Swift says the same; a test
-- compares the two.
CREATE OR REPLACE FUNCTION username_skeleton(p_username text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT translate(replace(replace(p_username, 'rn', 'm'), 'vv', 'w'), '01i258', 'ollzsb')
$$;
