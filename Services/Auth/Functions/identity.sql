-- What a sign-up must know of others, and may not read. As the owner: rows of others are not for the handler's eyes.

-- Which of these marks are of somebody who may not come back.
CREATE OR REPLACE FUNCTION is_barred(p_marks text[]) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM barred_marks b WHERE b.mark = ANY (p_marks))
$$;

-- Whose profile somebody had who comes back: closed, of the same person in every detail, with an address or number
-- that was verified there and is verified here. The one that was closed last; null when there is none. A BVN alone
-- proves nothing: many people know it.
CREATE OR REPLACE FUNCTION former_self(p_person text, p_verified text[]) RETURNS uuid
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT u.id FROM user_marks m JOIN users u ON u.id = m.user_id JOIN sign_ins s ON s.user_id = u.id
    WHERE m.person = p_person AND u.closed_at IS NOT NULL AND u.erased_at IS NULL
        AND (s.told || s.claimed) && p_verified
    ORDER BY u.closed_at DESC, u.id LIMIT 1
$$;
