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

// The fields of a callback that are read (decisions §2; the shape is SePay's). Numbers may come as texts and texts as
// numbers, any may be null or missing, and others may come with them: money has moved, whatever the body looks like.
const (
	fieldID         = "id"
	fieldAccount    = "accountNumber"
	fieldSubAccount = "subAccount" // the virtual account of a payer or a shop, where the bank has such
	fieldContent    = "content"
	fieldCode       = "code"        // what the bank's service itself took for the memo
	fieldText       = "description" // the bank's whole message
	fieldDirection  = "transferType"
	fieldAmount     = "transferAmount"
)

// fields are those of a JSON object, not decoded yet.
type fields map[string]json.RawMessage

// parseFields reads a JSON object. Error: request.invalid.
func parseFields(body []byte) (fields, error) {
	var f fields
	if err := json.Unmarshal(body, &f); err != nil || f == nil {
		return nil, problem.Detailf(problem.RequestInvalid, "the body is not a JSON object")
	}
	return f, nil
}

// text is a field as text: a text without the blanks around it, or a number as it is written; else empty.
func (f fields) text(name string) string {
	raw := bytes.TrimSpace(f[name])
	var text string
	if len(raw) > 0 && raw[0] == '"' {
		_ = json.Unmarshal(raw, &text) // it is valid, being a part of what was
		return strings.TrimSpace(text)
	}
	if len(raw) > 0 && (raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9') {
		return string(raw)
	}
	return ""
}

// idMax is the most characters of an identifier.
const idMax = 64

// identifier is a field that is a whole number, or a text that could be one of the bank's own identifiers. The number 5 and the
// text "5" are the same.
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

// amount is a field that is an amount in VND, which has no smaller unit: a number, or a text that is one. 100000.00 is
// whole, and so is 1e5; 0.5 is none.
func (f fields) amount(name string) (int64, bool) {
	text := f.text(name)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, n >= 0
	}
	const exact = 1 << 53 // what a float64 holds to the unit
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || n >= exact || n != math.Trunc(n) {
		return 0, false
	}
	return int64(n), true
}

// transfer is what a stored callback says.
func (r row) transfer() wallet.Transfer {
	t := wallet.Transfer{ID: r.id, ReceivedAt: r.receivedAt}
	f, err := parseFields(r.body)
	if err != nil { // no Append kept it
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
