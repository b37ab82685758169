package bankpay_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gonebox/gonebox/internal/wallet"
	"github.com/gonebox/gonebox/internal/wallet/bankpay"
)

// Published payloads: the second is NAPAS's own example of a transfer with an amount, the others were scanned and paid.
func TestPublishedPayloadsAreReproduced(t *testing.T) {
	for want, params := range map[string]struct {
		bin, account string
		amount       int64
		memo         string
	}{
		"00020101021238570010A00000072701270006970415011300110019324180208QRIBFTTA530370454061200005802VN62170813ung ho lu lut6304C15C": {"970415", "0011001932418", 120000, "ung ho lu lut"},
		"00020101021238570010A00000072701270006970436011300110018008790208QRIBFTTA530370454061000005802VN62130809nhan tien6304D1EF":     {"970436", "0011001800879", 100000, "nhan tien"},
		"00020101021238530010A000000727012300069704230109mynamebvh0208QRIBFTTA53037045405500005802VN62080804test6304AB76":               {"970423", "mynamebvh", 50000, "test"},
		"00020101021238570010A000000727012700069704220113VQRQABSEF60540208QRIBFTTA5303704540420005802VN62230819Thanh toan don hang63048AE7": {
			"970422", "VQRQABSEF6054", 2000, "Thanh toan don hang",
		},
	} {
		if got := bankpay.QR(wallet.Bank{BIN: params.bin, AccountNumber: params.account}, params.amount, params.memo); got != want {
			t.Errorf("QR(%+v) =\n%s, want\n%s", params, got, want)
		}
	}
}

func TestChecksumOfThePublishedCheckString(t *testing.T) {
	if got := bankpay.Checksum("123456789"); got != 0x29B1 {
		t.Errorf(`bankpay.Checksum("123456789") = %04X, want 0x29B1`, got)
	}
}

// decode splits a payload into data objects, in order. It is written independently of the encoder.
func decode(text string) (objects map[string]string, order []string, err error) {
	objects = make(map[string]string)
	for text != "" {
		if len(text) < 4 {
			return nil, nil, fmt.Errorf("%q is cut off", text)
		}
		number := text[:2]
		length, err := strconv.Atoi(text[2:4])
		if err != nil || len(text) < 4+length {
			return nil, nil, fmt.Errorf("object %s: %q is cut off", number, text)
		}
		if _, twice := objects[number]; twice {
			return nil, nil, fmt.Errorf("object %s comes twice", number)
		}
		objects[number] = text[4 : 4+length]
		order = append(order, number)
		text = text[4+length:]
	}
	return objects, order, nil
}

// Payloads of any account, amount and memo can be decoded, and the checksum detects every changed character.
func TestPayloadsCanBeDecoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bank := wallet.Bank{
			BIN:           rapid.StringMatching(`[0-9]{6}`).Draw(t, "bin"),
			AccountNumber: rapid.StringMatching(`[0-9A-Za-z]{1,19}`).Draw(t, "account"),
		}
		amount, memo := rapid.Int64Range(1, 50_000_000).Draw(t, "amount"), rapid.StringMatching(`[A-Z0-9 ]{1,25}`).Draw(t, "memo")
		payload := bankpay.QR(bank, amount, memo)
		root, order, err := decode(payload)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(order, " ") != "00 01 38 53 54 58 62 63" {
			t.Errorf("the fields are in the order %v, want 00 01 38 53 54 58 62 63", order) // the first and the last are demanded by EMVCo
		}
		merchant, _, err := decode(root["38"])
		if err != nil {
			t.Fatal(err)
		}
		beneficiary, _, err := decode(merchant["01"])
		if err != nil {
			t.Fatal(err)
		}
		additional, _, err := decode(root["62"])
		if err != nil {
			t.Fatal(err)
		}
		if root["00"] != "01" || root["01"] != "12" || root["53"] != "704" || root["58"] != "VN" || merchant["00"] != "A000000727" || merchant["02"] != "QRIBFTTA" {
			t.Errorf(`decode(root["38"]) = %v %v, want 00 "01", 01 "12", 53 "704", 58 "VN", 00 "A000000727" and 02 "QRIBFTTA"`, root, merchant)
		}
		if beneficiary["00"] != bank.BIN || beneficiary["01"] != bank.AccountNumber || root["54"] != strconv.FormatInt(amount, 10) || additional["08"] != memo {
			t.Errorf("%s says %v %v %v, want 00 %v, 01 %v, 54 %v and 08 %v", payload, beneficiary, root, additional, bank.BIN, bank.AccountNumber, strconv.FormatInt(amount, 10), memo)
		}
		body, sum := payload[:len(payload)-4], payload[len(payload)-4:]
		if fmt.Sprintf("%04X", bankpay.Checksum(body)) != sum {
			t.Errorf("the payload ends with the checksum %s, want %04X", sum, bankpay.Checksum(body))
		}
		at := rapid.IntRange(0, len(body)-1).Draw(t, "at")
		if changed := body[:at] + string(body[at]^1) + body[at+1:]; bankpay.Checksum(changed) == bankpay.Checksum(body) {
			t.Errorf("the checksum of %s is that of %s too, want another", changed, body)
		}
	})
}
