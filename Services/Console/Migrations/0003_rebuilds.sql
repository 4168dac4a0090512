-- A rebuild of a projection is a replay whose events a service applies beside what people see. They are read in the order in
-- which they were stored, so that what comes late is not left out.

ALTER TABLE replays ADD COLUMN projection text COLLATE "C",
    ADD COLUMN position bigint NOT NULL DEFAULT 0,       -- everything up to here was sent
    ADD COLUMN generation smallint,                      -- of the projection, that is being made
    ADD COLUMN behind_since timestamptz,                 -- the service was found to have events that do not come
    ADD CONSTRAINT replays_projection CHECK ((projection IS NOT NULL) = (mode = 'rebuild'));
