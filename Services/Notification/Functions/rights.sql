-- Who may call what is not for everybody.

REVOKE ALL ON FUNCTION register_push_token(uuid, uuid, text, text, uuid, integer, timestamptz, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION register_push_token(uuid, uuid, text, text, uuid, integer, timestamptz, text) TO ${handler};
