-- Who may call what. Three roles: ${owner} migrates and owns, ${handler} answers requests, ${worker} handles events and
-- jobs.
--
-- Neither login role can write a ledger table: money moves only inside the SECURITY DEFINER functions, which run as the
-- owner with a pinned search path. Row level security is on and forced everywhere a row belongs to a person; the
-- handler sees the rows of `transfa.user_id`, which a connection sets for one request, and without it sees nothing.

-- Called by other functions alone.
REVOKE ALL ON FUNCTION
    adopt_transfers, advance, apply_move, asking_refusal, charge_subscription, check_charges, check_counters,
    check_decisions, check_drops, check_entries, check_events, check_fees, check_holds, check_idempotency,
    check_recovery, check_requests, check_states, check_suspense, claim_refusal, close_drop, count_orders,
    decision_refusal, divert_to_suspense, doubt_open_transfers, end_holds, end_incoming, expire_proposals,
    fail_transfers, find_risks, follow_drop, follow_request, follow_transfers, forgotten_transfer,
    give_back_spending, lock_order_parties, lock_payments, lock_transfer_parties, make_payment_request,
    may_be_forgotten, may_resend, next_of_drop, order_under_way, pair_of, pay_from_pool, post_charge,
    post_completion, post_legs, post_release, post_reversal, publish, publish_adjusted_slots, publish_charge,
    publish_completed, publish_created, publish_drop_claimed, publish_drop_ended, publish_drop_opened,
    publish_drop_refunded, publish_failed, publish_orders, publish_released_slots, publish_request,
    publish_reversed, refund_drop, refuse_reopening, refuse_rewriting, release_refusal,
    release_slots, request_image_refusal, sent_to_new_accounts, submission_refusal, switch_or_fail, switch_to_book,
    take_inbound, take_slot, takes_requests_of, void_drop, write_drops, write_orders, write_transfers
    FROM PUBLIC;

REVOKE ALL ON FUNCTION
    announce_request_image, bank_ahead, caps_of, claim_money_drop, create_payment_request, drop_password,
    end_money_drop, end_payment_request, find_recipient, last_entry_before, let_many_pay,
    note_wrong_drop_password, open_dispute, page_of_requests, place_orders, quote_payment,
    refer_payment_request, set_own_limits, show_request_image, stored_order
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    announce_request_image, bank_ahead, caps_of, claim_money_drop, create_payment_request, drop_password,
    end_money_drop, end_payment_request, find_recipient, last_entry_before, let_many_pay,
    note_wrong_drop_password, open_dispute, page_of_requests, place_orders, quote_payment,
    refer_payment_request, set_own_limits, show_request_image, stored_order
    TO ${handler};

REVOKE ALL ON FUNCTION
    accept_difference, adjust_slots, approve_outcome, ask_reconciliation, beat, begin_recovery, begin_resend,
    begin_submission, charge_subscriptions, check_invariants, clear_risk_alert, close_products, continue_recovery,
    credit_inbound, decide_release, difference_mark, doubtful, end_recovery, ensure_users,
    expected_at_provider, expire_payment_requests, finish_calls, follow_switch, hide_request_images,
    hold_unmatched, may_be_erased, note_absent, note_breaks, note_device, note_recovered, note_risk_alerts,
    owed_by, propose_outcome, propose_release, prune_orders, record_absence, recover_payment,
    recover_transfer, recovery_missing, request_image_fate, settle_payments, sweep_money_drops,
    unblock_wallet, weigh_banks, withdraw_outcome
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    accept_difference, adjust_slots, approve_outcome, ask_reconciliation, beat, begin_recovery, begin_resend,
    begin_submission, charge_subscriptions, check_invariants, clear_risk_alert, close_products, continue_recovery,
    credit_inbound, decide_release, difference_mark, doubtful, end_recovery, ensure_users,
    expected_at_provider, expire_payment_requests, finish_calls, follow_switch, hide_request_images,
    hold_unmatched, may_be_erased, note_absent, note_breaks, note_device, note_recovered, note_risk_alerts,
    owed_by, propose_outcome, propose_release, prune_orders, record_absence, recover_payment,
    recover_transfer, recovery_missing, request_image_fate, settle_payments, sweep_money_drops,
    unblock_wallet, weigh_banks, withdraw_outcome
    TO ${worker};
