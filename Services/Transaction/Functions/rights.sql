-- Who may call what. Three roles: ${owner} migrates and owns, ${handler} answers requests, ${worker} handles events and
-- jobs.
--
-- Neither login role can write a ledger table: money moves only inside the SECURITY DEFINER functions, which run as the
-- owner with a pinned search path. Row level security is on and forced everywhere a row belongs to a person; the
-- handler sees the rows of `transfa.user_id`, which a connection sets for one request, and without it sees nothing.

-- Called by other functions alone.
REVOKE ALL ON FUNCTION
    adopt_transfers, advance, apply_move, arrive_late, ask_contradicted, asking_refusal, bill_account,
    charge_subscription, check_bills, check_charges, check_counters, check_debts, check_decisions, check_drops,
    check_entries, check_events, check_fees, check_holds, check_idempotency, check_recovery, check_requests,
    check_states, check_suspense, claim_refusal, close_drop, closed_suspense, collect_freed, collect_owed,
    count_orders, count_pool, count_room_refusals, decision_refusal, divert_to_suspense, doubt_open_transfers,
    drop_is_paused, empty_closed_wallets, end_holds, end_incoming, even_out_refunds, expire_proposals,
    fail_transfers, fail_unsent, fail_unsent_releases, find_risks, follow_drop, follow_release, follow_request,
    follow_transfers, forgotten_transfer, give_back_spending, is_return, is_still_there, lock_order_parties,
    lock_payments, lock_receivables, lock_settled, lock_transfer_parties, lock_unsent, look_again,
    make_payment_request, may_arrive, may_be_forgotten, may_resend, next_of_drop, order_release, order_under_way,
    owed_by, pair_of, pay_from_pool, payout_refusal, pool_covers, pool_is_closed, post_charge, post_completion,
    post_legs, post_release, post_reversal, publish, publish_adjusted_slots, publish_charge, publish_completed,
    publish_created, publish_drop_claimed, publish_drop_ended, publish_drop_opened, publish_drop_refunded,
    publish_failed, publish_orders, publish_released_slots, publish_request, publish_reversed, refund_drop,
    refuse_reopening, refuse_rewriting, release_refusal, release_slots, request_image_refusal, return_refusal,
    returned_by_forgotten, reverse_releases, sent_to_new_accounts, submission_refusal, suspense_move,
    switch_or_fail, switch_to_book, take_inbound, take_slot, takes_requests_of, unheld_refusal, void_drop,
    wait_again, was_refused, write_drops, write_orders, write_transfers
    FROM PUBLIC;

REVOKE ALL ON FUNCTION
    announce_request_image, bank_ahead, caps_of, claim_money_drop, create_payment_request, drop_password,
    end_money_drop, end_payment_request, give_back_drop_password, last_entry_before, let_many_pay, open_dispute,
    page_of_requests, place_orders, quote_payment, refer_payment_request, set_own_limits, show_request_image,
    stored_order, try_drop_password
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    announce_request_image, bank_ahead, caps_of, claim_money_drop, create_payment_request, drop_password,
    end_money_drop, end_payment_request, give_back_drop_password, last_entry_before, let_many_pay, open_dispute,
    page_of_requests, place_orders, quote_payment, refer_payment_request, set_own_limits, show_request_image,
    stored_order, try_drop_password
    TO ${handler};

REVOKE ALL ON FUNCTION
    accept_difference, adjust_slots, approve_outcome, ask_bills, ask_reconciliation, beat, begin_recovery,
    begin_resend, begin_submission, book_bills, charge_subscriptions, check_invariants, clear_risk_alert,
    close_products, continue_recovery, credit_inbound, decide_release, difference_mark, doubtful, end_recovery,
    ensure_users, expected_at_provider, expire_payment_requests, explained_money, finish_calls, follow_switch,
    hear_beneficiary, hear_default, hear_removal, hear_restriction, hear_revocation, hear_settings, hear_tier,
    hide_request_images, hold_unmatched, lock_heard, may_be_erased, note_absent, note_asked, note_breaks,
    note_device, note_recovered, note_risk_alerts, propose_outcome, propose_release, prune_orders, record_absence,
    recover_payment, recover_transfer, recovery_missing, request_image_fate, settle_payments, sweep_money_drops,
    unasked_transfers, unblock_wallet, weigh_banks, withdraw_outcome
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    accept_difference, adjust_slots, approve_outcome, ask_bills, ask_reconciliation, beat, begin_recovery,
    begin_resend, begin_submission, book_bills, charge_subscriptions, check_invariants, clear_risk_alert,
    close_products, continue_recovery, credit_inbound, decide_release, difference_mark, doubtful, end_recovery,
    ensure_users, expected_at_provider, expire_payment_requests, explained_money, finish_calls, follow_switch,
    hear_beneficiary, hear_default, hear_removal, hear_restriction, hear_revocation, hear_settings, hear_tier,
    hide_request_images, hold_unmatched, lock_heard, may_be_erased, note_absent, note_asked, note_breaks,
    note_device, note_recovered, note_risk_alerts, propose_outcome, propose_release, prune_orders, record_absence,
    recover_payment, recover_transfer, recovery_missing, request_image_fate, settle_payments, sweep_money_drops,
    unasked_transfers, unblock_wallet, weigh_banks, withdraw_outcome
    TO ${worker};
