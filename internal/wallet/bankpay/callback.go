package bankpay

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/wallet"
)

// The fields of a callback that are used, in SePay's format (docs/spec/billing.md#bank-transfers). Numbers may come as
// strings and strings as numbers, fields may be null or missing, and there may be others: the money has moved, whatever
// the body looks like.
const (
	fieldID         = "id"
	fieldAccount    = "accountNumber"
	fieldSubAccount = "subAccount" // the virtual account of a payer or a shop, if the bank has them
	fieldContent    = "content"
	fieldCode       = "code"        // the memo as the bank's service recognized it
	fieldText       = "description" // the bank's whole message
	fieldDirection  = "transferType"
	fieldAmount     = "transferAmount"
)

// fields are the undecoded fields of a JSON object. They are decoded when they are used, so that a field of an
// unexpected type makes only that field unusable.
type fields map[string]json.RawMessage

// parseFields parses a JSON object. JSON null is rejected. If a field is repeated, the last one counts, as in
// encoding/json. Error: request.invalid.
func parseFields(body []byte) (fields, error) {
	var f fields
	if err := json.Unmarshal(body, &f); err != nil || f == nil {
		return nil, problem.Detailf(problem.RequestInvalid, "the body is not a JSON object")
	}
	return f, nil
}

// text returns a string field without surrounding white space, or a number as it is written. It returns "" for a field
// that is missing or neither.
func (f fields) text(name string) string {
	raw := bytes.TrimSpace(f[name])
	var text string
	if len(raw) > 0 && raw[0] == '"' {
		_ = json.Unmarshal(raw, &text) // valid, since the whole body was
		return strings.TrimSpace(text)
	}
	if len(raw) > 0 && (raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9') {
		return string(raw)
	}
	return ""
}

// idMax is the maximum length of an identifier in octets, which are all ASCII. Identifiers are primary keys and are
// written to logs.
const idMax = 64

// identifier returns a field that is an integer, or a string of the form of the bank's identifiers. The number 5 and
// the string "5" are the same. A number with a fraction or an exponent is rejected, since 5, 5.0 and 5e0 would
// be three identifiers of one transaction.
func (f fields) identifier(name string) (string, bool) {
	text := f.text(name)
	if text == "" || len(text) > idMax {
		return "", false
	}
	number := len(f[name]) > 0 && bytes.TrimSpace(f[name])[0] != '"'
	for _, r := range text {
		digit := '0' <= r && r <= '9'
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || strings.ContainsRune("-_.:", r)
		if !digit && (number || !letter) {
			return "", false
		}
	}
	return text, true
}

// amount returns a field that is a whole amount in VND, which has no smaller unit: a number or a string. 100000.00 and
// 1e5 are whole, 0.5 is not. An amount of 2^53 or more that is not written as an integer is rejected, since
// a float64 may not represent it exactly.
func (f fields) amount(name string) (int64, bool) {
	text := f.text(name)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, n >= 0
	}
	const exact = 1 << 53 // up to which a float64 represents every integer
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || n >= exact || n != math.Trunc(n) {
		return 0, false
	}
	return int64(n), true
}

// transfer parses a stored callback. It returns no error: Fault describes to staff what is missing or wrong. If both
// the direction and the amount are wrong, Fault names the amount.
func (r row) transfer() wallet.Transfer {
	t := wallet.Transfer{ID: r.id, ReceivedAt: r.receivedAt}
	f, err := parseFields(r.body)
	if err != nil { // Append does not store such a body
		t.Fault = "it is not a JSON object"
		return t
	}
	for _, name := range []string{fieldAccount, fieldSubAccount} {
		if number := f.text(name); number != "" {
			t.Accounts = append(t.Accounts, number)
		}
	}
	for _, name := range []string{fieldContent, fieldCode, fieldText} {
		if text := f.text(name); text != "" {
			t.Texts = append(t.Texts, text)
		}
	}
	switch direction := strings.ToLower(f.text(fieldDirection)); direction {
	case string(wallet.In), string(wallet.Out):
		t.Direction = wallet.Direction(direction)
	default:
		t.Fault = "it has no transferType in or out"
	}
	amount, ok := f.amount(fieldAmount)
	if t.Amount = amount; !ok || amount == 0 {
		t.Fault = "it has no transferAmount above zero"
	}
	return t
}
