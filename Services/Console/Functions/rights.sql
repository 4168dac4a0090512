-- Who may call what is not for everybody.

REVOKE ALL ON PROCEDURE ensure_archive_days(integer[]), drop_archive_day(integer) FROM PUBLIC;
GRANT EXECUTE ON PROCEDURE ensure_archive_days(integer[]), drop_archive_day(integer) TO ${worker};
REVOKE ALL ON FUNCTION forget_others(timestamptz, bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION forget_others(timestamptz, bigint) TO ${worker};
