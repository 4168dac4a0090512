-- Who may call what is not for everybody.

REVOKE ALL ON PROCEDURE ensure_partitions(date, date), drop_partitions(date), attach_recorder(text) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE ensure_partitions(date, date), drop_partitions(date), attach_recorder(text) TO ${worker};

-- Whoever could make a trigger of it on a table of his own would write rows as the owner.
REVOKE ALL ON FUNCTION record_row_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION audit_hash(audit_log), check_audit(),
    record_act(text, text, text, text, text, text, uuid, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION check_audit(), record_act(text, text, text, text, text, text, uuid, timestamptz) TO ${worker};
