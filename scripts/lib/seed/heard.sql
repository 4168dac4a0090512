-- What analytics hears: a row per transfer that moved money.
SELECT t.id, t.type, t.sender_id, t.recipient_id, r.account_type, t.amount, t.fee, t.duty, t.route, t.route_reason,
    t.state = 'reversed', t.ended_at - CASE t.state WHEN 'reversed' THEN interval '2 hours' ELSE '0' END, d.id, d.creator_id,
    d.slots, s.position
FROM transfers t
LEFT JOIN users r ON r.id = t.recipient_id
LEFT JOIN money_drops d ON d.id = t.parent_id AND t.type = 'drop_claim'
LEFT JOIN drop_slots s ON s.transfer_id = t.id AND t.type = 'drop_claim'
WHERE t.state IN ('completed', 'reversed')
  AND (t.type IN ('p2p', 'subscription_charge', 'inbound', 'drop_claim') OR t.type = 'self_transfer' AND t.fee + t.duty > 0)
