-- What people are told: a row per message of the last year.
SELECT l.user_id, l.category, l.kind, l.title, l.body, t.id, l.at
FROM (SELECT x.*, '₦' || to_char(x.amount / 100.0, 'FM999,999,999,990.00') AS naira,
          x.ended_at - CASE x.state WHEN 'reversed' THEN interval '2 hours' ELSE '0' END AS done
      FROM transfers x WHERE x.ended_at > pg_temp.moment(${first} + ${span} - 31104000000)) t
LEFT JOIN money_drops d ON d.id = t.parent_id
LEFT JOIN drop_slots s ON s.transfer_id = t.id AND t.type = 'drop_claim'
CROSS JOIN LATERAL (VALUES
    (CASE WHEN t.state <> 'failed' AND t.type <> 'subscription_charge' THEN t.sender_id END, 'money', 'transaction.completed',
        'Transfer Successful', t.naira || CASE t.type WHEN 'self_transfer' THEN ' arrived in your bank account.'
            WHEN 'money_drop' THEN ' was set aside for your money drop.' ELSE ' was sent.' END, t.done),
    (CASE WHEN t.state <> 'failed' AND t.type <> 'inbound' THEN t.recipient_id END, 'money', 'transaction.received', 'Money Received',
        t.naira || CASE t.type WHEN 'drop_claim' THEN ' of a money drop arrived in your wallet.'
            WHEN 'drop_refund' THEN ' was left of your drop and is back in your wallet.'
            ELSE ' arrived in your ' || CASE t.route WHEN 'external' THEN 'bank account.' ELSE 'wallet.' END END, t.done),
    (CASE WHEN t.type = 'inbound' THEN t.recipient_id END, 'money', 'wallet.credited', 'Money Received',
        t.naira || ' was added to your wallet.', t.done),
    (CASE WHEN t.state = 'failed' THEN t.sender_id END, 'money', 'transaction.failed', 'Transfer Failed',
        t.naira || ' could not be sent and is back in your wallet, fees included.', t.done),
    (CASE WHEN t.state = 'reversed' THEN t.sender_id END, 'money', 'transaction.reversed', 'Transfer Reversed',
        t.naira || ' was returned to your wallet, fees included.', t.ended_at),
    (CASE WHEN t.route_reason = 'no_slot' THEN t.recipient_id END, 'money', 'transfer.rerouted.internal', 'Sent To Your Wallet',
        t.naira || ' is on its way to your wallet: no free transfer to your bank is left this month.', t.created_at),
    (CASE WHEN t.type = 'drop_claim' THEN d.creator_id END, 'drops', 'money_drop.claimed', 'Money Drop Claimed',
        s.position || ' of ' || d.slots || ' slots of your drop were claimed.', t.done)
) AS l(user_id, category, kind, title, body, at)
WHERE l.user_id IS NOT NULL
UNION ALL
SELECT l.user_id, 'requests', l.kind, l.title, l.body, q.id, l.at
FROM (SELECT x.*, '₦' || to_char(x.amount / 100.0, 'FM999,999,999,990.00') AS naira
      FROM payment_requests x WHERE x.created_at > pg_temp.moment(${first} + ${span} - 31104000000)) q
CROSS JOIN LATERAL (VALUES
    (q.payer_id, 'payment_request.created', 'Payment Request', 'You were asked for ' || coalesce(q.naira, 'money') || '.', q.created_at),
    (CASE q.state WHEN 'fulfilled' THEN q.owner_id END, 'payment_request.fulfilled', 'Request Paid',
        'Your payment request' || coalesce(' of ' || q.naira, '') || ' was paid.', q.ended_at),
    (CASE q.state WHEN 'declined' THEN q.owner_id END, 'payment_request.declined', 'Request Declined',
        'Your payment request was declined.', q.ended_at),
    (CASE q.state WHEN 'expired' THEN q.owner_id END, 'payment_request.expired', 'Request Expired',
        'Your payment request has expired.', q.ended_at)
) AS l(user_id, kind, title, body, at)
WHERE l.user_id IS NOT NULL
