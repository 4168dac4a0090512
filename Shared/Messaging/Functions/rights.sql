-- Who may call what is not for everybody.

REVOKE ALL ON PROCEDURE ensure_partitions(date, date), drop_partitions(date), attach_recorder(text) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE ensure_partitions(date, date), drop_partitions(date), attach_recorder(text) TO ${worker};

REVOKE ALL ON FUNCTION audit_hash(audit_log), check_audit(),
    record_act(text, text, text, text, text, text, uuid, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION check_audit(), record_act(text, text, text, text, text, text, uuid, timestamptz) TO ${worker};
