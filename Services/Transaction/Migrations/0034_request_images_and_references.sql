-- What payment requests show besides: an image, and the reference that a merchant gives a sale.
--
-- A row of an image is written before the object is put into the store, and deleted after the object
-- is: whatever crashes, the job discard_image finds every object that no request shows.

CREATE TABLE request_images (
    key             text COLLATE "C" PRIMARY KEY,        -- random; who knows it may see the image
    request_id      uuid NOT NULL REFERENCES payment_requests (id),
    user_id         uuid NOT NULL,                       -- the request's owner
    content_type    text COLLATE "C" NOT NULL,
    is_uploaded     boolean NOT NULL DEFAULT false,      -- its bytes are kept, and it was shown
    created_at      timestamptz NOT NULL
);
CREATE INDEX request_images_user ON request_images (user_id);

ALTER TABLE payment_requests ADD COLUMN image_key text COLLATE "C";      -- the one that is shown
CREATE INDEX payment_requests_image ON payment_requests (owner_id) WHERE image_key IS NOT NULL;

-- The owner's number of a sale: no free text, so it is kept readable and can be looked for.
ALTER TABLE payment_requests ADD COLUMN reference text COLLATE "C" CHECK (reference ~ '^[A-Za-z0-9._/-]{1,40}$');
CREATE INDEX payment_requests_reference ON payment_requests (owner_id, reference, position DESC)
    WHERE reference IS NOT NULL;

ALTER TABLE request_images ENABLE ROW LEVEL SECURITY;
ALTER TABLE request_images FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON request_images FOR SELECT TO ${handler} USING (user_id = current_user_id());
CREATE POLICY all_rows ON request_images TO ${owner}, ${worker} USING (true) WITH CHECK (true);
GRANT SELECT ON request_images TO ${handler};
GRANT SELECT, DELETE ON request_images TO ${worker};

-- Whether the owner may change the image; if so, the request's row is locked.
CREATE FUNCTION request_image_bar(p_request uuid, p_user uuid, p_now timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    q payment_requests;
BEGIN
    SELECT * INTO q FROM payment_requests x WHERE x.id = p_request AND x.owner_id = p_user FOR NO KEY UPDATE;
    RETURN CASE
        WHEN q.id IS NULL OR q.state = 'cancelled' THEN 'request_unknown'
        WHEN q.state = 'processing' THEN 'request_in_payment'
        WHEN q.state = 'fulfilled' THEN 'request_paid'
        WHEN q.state = 'expired' OR q.state = 'open' AND q.expires_at <= p_now THEN 'request_expired'
        WHEN q.state <> 'open' THEN 'request_declined' END;
END $$;

-- 'announced', or why not: bytes of an image are about to come.
CREATE FUNCTION announce_request_image(p_request uuid, p_user uuid, p_key text, p_type text,
    p_now timestamptz DEFAULT NULL) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    v_now constant timestamptz := coalesce(p_now, transfa_now());
    v_bar constant text := request_image_bar(p_request, p_user, v_now);
BEGIN
    IF v_bar IS NOT NULL THEN RETURN v_bar; END IF;
    INSERT INTO request_images (key, request_id, user_id, content_type, created_at)
    VALUES (p_key, p_request, p_user, p_type, v_now);
    RETURN 'announced';
END $$;

-- Shows an image whose bytes are kept, or none. 'shown' with the one that was shown before, or why not.
CREATE FUNCTION show_request_image(p_request uuid, p_user uuid, p_key text, p_now timestamptz DEFAULT NULL,
    OUT outcome text, OUT replaced text) LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    outcome := request_image_bar(p_request, p_user, coalesce(p_now, transfa_now()));
    IF outcome IS NOT NULL THEN RETURN; END IF;
    IF p_key IS NOT NULL THEN
        UPDATE request_images i SET is_uploaded = true WHERE i.key = p_key AND i.request_id = p_request;
        IF NOT FOUND THEN
            outcome := 'request_unknown';
            RETURN;
        END IF;
    END IF;
    SELECT q.image_key INTO replaced FROM payment_requests q WHERE q.id = p_request;
    UPDATE payment_requests q SET image_key = p_key WHERE q.id = p_request;
    outcome := 'shown';
END $$;

-- What is to be done with an image: 'keep' what a request shows, 'wait' for an upload that may still come to an end,
-- 'discard'. The request is locked, so what is not shown now never will be.
CREATE FUNCTION request_image_fate(p_key text, p_now timestamptz DEFAULT NULL) RETURNS text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    i request_images;
    q payment_requests;
BEGIN
    SELECT * INTO i FROM request_images x WHERE x.key = p_key;
    SELECT * INTO q FROM payment_requests x WHERE x.id = i.request_id FOR NO KEY UPDATE;
    SELECT * INTO i FROM request_images x WHERE x.key = p_key;
    RETURN CASE
        WHEN q.image_key = p_key AND q.state <> 'cancelled' THEN 'keep'
        WHEN NOT i.is_uploaded AND i.created_at > coalesce(p_now, transfa_now()) - interval '15 minutes' THEN 'wait'
        ELSE 'discard' END;
END $$;

-- An erased person's requests show no image any more. Gives all images of theirs.
CREATE FUNCTION hide_request_images(p_user uuid) RETURNS SETOF text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE payment_requests q SET image_key = NULL WHERE q.owner_id = p_user AND q.image_key IS NOT NULL;
    RETURN QUERY SELECT i.key FROM request_images i WHERE i.user_id = p_user ORDER BY i.key;
END $$;

-- Gives a request that was made just now its reference.
CREATE FUNCTION refer_payment_request(p_request uuid, p_owner uuid, p_reference text) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    UPDATE payment_requests q SET reference = p_reference
    WHERE q.id = p_request AND q.owner_id = p_owner AND q.reference IS NULL;
END $$;

REVOKE ALL ON FUNCTION refer_payment_request(uuid, uuid, text), request_image_bar(uuid, uuid, timestamptz),
    announce_request_image(uuid, uuid, text, text, timestamptz), show_request_image(uuid, uuid, text, timestamptz),
    request_image_fate(text, timestamptz), hide_request_images(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION announce_request_image(uuid, uuid, text, text, timestamptz),
    show_request_image(uuid, uuid, text, timestamptz), refer_payment_request(uuid, uuid, text) TO ${handler};
GRANT EXECUTE ON FUNCTION request_image_fate(text, timestamptz), hide_request_images(uuid) TO ${worker};
