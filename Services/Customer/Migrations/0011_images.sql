-- Profile images. A row is written before the object is put into the store, and deleted after the object is: whatever
-- crashes, the job discard_image finds every object that nobody shows.

CREATE TABLE images (
    key             text COLLATE "C" PRIMARY KEY,        -- random; who knows it may see the image
    user_id         uuid NOT NULL REFERENCES users (id),
    content_type    text COLLATE "C" NOT NULL,
    is_uploaded     boolean NOT NULL DEFAULT false,      -- its bytes are kept, and it was shown
    created_at      timestamptz NOT NULL
);
CREATE INDEX images_user ON images (user_id);

ALTER TABLE users ADD COLUMN image_key text COLLATE "C" UNIQUE REFERENCES images (key);     -- the one that is shown
GRANT UPDATE (image_key) ON users TO ${handler};

ALTER TABLE images ENABLE ROW LEVEL SECURITY;
ALTER TABLE images FORCE ROW LEVEL SECURITY;
CREATE POLICY own_images ON images TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_images ON images TO ${owner}, ${worker} USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE (is_uploaded) ON images TO ${handler};
GRANT SELECT, DELETE ON images TO ${worker};
