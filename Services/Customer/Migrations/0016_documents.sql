-- Documents that the provider wants to see of a person or a business, and how far each is. The content is here, sealed,
-- from when it was handed in until the provider has it, and never longer than a day.

CREATE TABLE documents (
    id                  uuid PRIMARY KEY,
    user_id             uuid NOT NULL REFERENCES users (id),
    anchor_document_id  text COLLATE "C" NOT NULL,
    type                text COLLATE "C" NOT NULL,       -- the provider's word
    format              text COLLATE "C" NOT NULL CHECK (format IN ('file', 'text')),
    state               text COLLATE "C" NOT NULL DEFAULT 'wanted'
                        CHECK (state IN ('wanted', 'sending', 'sent', 'approved', 'refused')),
    reason              text COLLATE "C",
    content_type        text COLLATE "C",
    content             text CHECK (content LIKE 's1.%'),
    handed_at           timestamptz,
    updated_at          timestamptz NOT NULL,
    UNIQUE (user_id, anchor_document_id),
    CHECK ((content IS NOT NULL) = (state = 'sending') AND (content_type IS NOT NULL) = (state = 'sending')),
    CHECK ((reason IS NOT NULL) = (state = 'refused'))
);

ALTER TABLE documents ENABLE ROW LEVEL SECURITY;
ALTER TABLE documents FORCE ROW LEVEL SECURITY;
CREATE POLICY own_documents ON documents TO ${handler}
    USING (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid)
    WITH CHECK (user_id = nullif(current_setting('transfa.user_id', true), '')::uuid);
CREATE POLICY all_documents ON documents TO ${owner}, ${worker} USING (true) WITH CHECK (true);
GRANT SELECT, UPDATE (state, reason, content_type, content, handed_at, updated_at) ON documents TO ${handler};
GRANT SELECT, INSERT, UPDATE, DELETE ON documents TO ${worker};
