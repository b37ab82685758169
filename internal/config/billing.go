package config

import (
	"net/netip"
	"time"
)

// Billing is the section billing (decisions §2, plans, wallet, payments).
type Billing struct {
	VNDPerPoint    int64         `key:"vnd_per_point" default:"1000" help:"what a point costs, in VND"`
	TopupMin       int64         `key:"topup_min" default:"10000" help:"smallest top-up, in VND"`
	TopupMax       int64         `key:"topup_max" default:"50000000" help:"largest top-up, in VND"`
	OrderTTL       time.Duration `key:"order_ttl" default:"24h" help:"time to pay a top-up order"`
	LatePayment    time.Duration `key:"late_payment" default:"720h" help:"how long after its creation an order is credited all the same when the payment matches"`
	OpenOrders     int           `key:"open_orders" default:"1000" help:"top-up orders of an account that may wait to be paid at once"`
	OrderKeep      time.Duration `key:"order_keep" default:"2160h" help:"how long after its creation an order that was never paid is erased"`
	RetryFor       time.Duration `key:"retry_for" default:"1h" help:"how long a bank transaction whose booking fails is tried again before it is left for staff"`
	ReconcileEvery time.Duration `key:"reconcile_every" default:"10s" help:"how often bank transactions are matched with orders"`
	RenewEvery     time.Duration `key:"renew_every" default:"1m" help:"how often ended subscription periods are looked for"`
	Providers      Providers     `key:"providers" help:"payment providers and whether they are offered"`
	Bankpay        Bankpay       `key:"bankpay" help:"the account that bank transfers go to, and the bank's callback"`
}

// Providers is the section billing.providers.
type Providers struct {
	Bankpay string `key:"bankpay" default:"active" oneof:"active coming_soon disabled" help:"VND bank transfer"`
	BNB     string `key:"bnb" default:"coming_soon" oneof:"coming_soon disabled" help:"BNB"`
}

// Bankpay is the section billing.bankpay.
type Bankpay struct {
	APIKey        Secret         `key:"apikey" default:"" help:"shared secret of the bank callback; empty: the callback is refused"`
	AllowNetworks []netip.Prefix `key:"allow_networks" default:"" help:"networks (CIDR) the bank callback may come from; all addresses would leave it to the shared secret, and are warned of at the start"`
	BankBIN       string         `key:"bank_bin" default:"" help:"the bank's number in VietQR, 6 digits"`
	BankName      string         `key:"bank_name" default:"" help:"the bank's name for people"`
	AccountNumber string         `key:"account_number" default:"" help:"number of the account to pay to"`
	AccountName   string         `key:"account_name" default:"" help:"holder of the account to pay to"`
}
