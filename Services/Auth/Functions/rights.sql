-- Who may call what is not for everybody.

REVOKE ALL ON FUNCTION is_barred(text[]), former_self(text, text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION is_barred(text[]), former_self(text, text[]) TO ${handler};
