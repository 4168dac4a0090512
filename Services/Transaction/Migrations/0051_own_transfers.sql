-- Whose transfers are shown is asked once per statement: for each of the thousands of rows that a list with a filter looks
-- through, reading the setting and making an id of it took longer than reading the row.

ALTER POLICY own_rows ON transactions
    USING (sender_id = (SELECT current_user_id()) OR recipient_id = (SELECT current_user_id()));
