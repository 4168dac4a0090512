-- What operators found out about a difference between the books: notes with author and time, appended only.
--
-- The column `note` of the break is no longer read; it stays for processes that still run, and goes with a later release.

CREATE TABLE break_notes (
    id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    break_id        bigint NOT NULL REFERENCES reconciliation_breaks (id),
    text            text NOT NULL CHECK (text <> ''),
    author          text NOT NULL CHECK (author <> ''),
    written_at      timestamptz NOT NULL
);
CREATE INDEX break_notes_break ON break_notes (break_id, id);
CREATE TRIGGER break_notes_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON break_notes
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
GRANT SELECT, INSERT ON break_notes TO ${worker};
