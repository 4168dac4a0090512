-- Closed is the last word: nothing opens a profile again, whatever asks for it.

CREATE FUNCTION refuse_reopening() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a closed profile is not opened again' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER closed_for_good BEFORE UPDATE OF restriction ON users FOR EACH ROW
    WHEN (OLD.restriction = 'closed' AND NEW.restriction <> 'closed') EXECUTE FUNCTION refuse_reopening();
