-- +goose Up

-- Unpaid orders by age, and the transfers that name an order: what erasing the former asks.
CREATE INDEX topup_order_unpaid ON topup_order (created_at) WHERE paid_at IS NULL;
CREATE INDEX bankpay_match_order ON bankpay_match (order_id) WHERE order_id IS NOT NULL;
