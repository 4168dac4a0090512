-- Which generations of a projection an event takes effect in.

-- Says in which generations an event that was heard takes effect, for the statements that follow in the transaction.
-- The row stays shared until the commit: no generation begins or ends under an event.
CREATE OR REPLACE FUNCTION aim_projection(p_name text, p_event uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    p projections;
    generations text := '';
BEGIN
    SELECT * INTO STRICT p FROM projections WHERE name = p_name FOR SHARE;
    DELETE FROM projection_events WHERE name = p_name AND generation = p.live AND event_id = p_event;
    IF NOT FOUND THEN generations := p.live::text; END IF;
    IF p.building IS NOT NULL THEN
        INSERT INTO projection_events VALUES (p_name, p.building, p_event) ON CONFLICT DO NOTHING;
        IF FOUND THEN generations := concat_ws(',', nullif(generations, ''), p.building); END IF;
    END IF;
    PERFORM set_config('transfa.generations', generations, true);
END $$;

-- The same for what is no event, such as something that a person or a job adds: it takes effect everywhere.
CREATE OR REPLACE FUNCTION aim_projection(p_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    p projections;
BEGIN
    SELECT * INTO STRICT p FROM projections WHERE name = p_name FOR SHARE;
    PERFORM set_config('transfa.generations', concat_ws(',', p.live, p.building), true);
END $$;

-- For the statements that apply it.
CREATE OR REPLACE FUNCTION aimed_generations() RETURNS SETOF smallint LANGUAGE sql STABLE ROWS 2 AS $$
    SELECT unnest(string_to_array(nullif(current_setting('transfa.generations', true), ''), ',')::smallint[])
$$;
