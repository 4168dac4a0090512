-- Who may call what is not for everybody.

REVOKE ALL ON FUNCTION begin_recovery(timestamptz, text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION begin_recovery(timestamptz, text, text) TO ${worker};
