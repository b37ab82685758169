package bankpay

import (
	"fmt"
	"strconv"

	"github.com/gonebox/gonebox/internal/wallet"
)

// Data objects of a VietQR payload: those of EMVCo's Merchant-Presented Mode (EMVCo MPM v1.1, §4.7) that NAPAS fills for
// a transfer to an account (QR Format T&C v1.0, 09/2021).
const (
	objectFormat     = "00" // Payload Format Indicator
	objectInitiation = "01" // Point of Initiation Method
	objectMerchant   = "38" // Merchant Account Information, by NAPAS
	objectCurrency   = "53" // Transaction Currency
	objectAmount     = "54" // Transaction Amount
	objectCountry    = "58" // Country Code
	objectAdditional = "62" // Additional Data Field Template
	objectCRC        = "63"

	objectNAPAS       = "00" // within 38: the owner of the template
	objectBeneficiary = "01" // within 38
	objectService     = "02" // within 38

	objectBank    = "00" // within 38-01: the bank's number
	objectAccount = "01" // within 38-01

	objectPurpose = "08" // within 62: Purpose of Transaction, the beginning of the transfer's text
)

// The constant values.
const (
	formatVersion = "01"
	onePayment    = "12"         // for one payment, with its amount
	napas         = "A000000727" // the application identifier of NAPAS
	toAccount     = "QRIBFTTA"   // a fast transfer to an account
	vnd           = "704"        // ISO 4217
	vietNam       = "VN"         // ISO 3166-1
)

// QR returns the text of the code that a payer scans: the account, the amount in VND, and the transfer's text, which
// has at most 25 ASCII characters.
//
// The caller ensures what the format demands and QR does not check: a BIN of six digits, an account number and a memo
// of ASCII letters and digits, each short enough for a length of two digits. The memo of an order has ten characters.
func QR(to wallet.Bank, amount int64, memo string) string {
	beneficiary := object(objectBank, to.BIN) + object(objectAccount, to.AccountNumber)
	payload := object(objectFormat, formatVersion) +
		object(objectInitiation, onePayment) +
		object(objectMerchant, object(objectNAPAS, napas)+object(objectBeneficiary, beneficiary)+object(objectService, toAccount)) +
		object(objectCurrency, vnd) +
		object(objectAmount, strconv.FormatInt(amount, 10)) +
		object(objectCountry, vietNam) +
		object(objectAdditional, object(objectPurpose, memo)) +
		objectCRC + "04" // the checksum covers its own number and length too (EMVCo MPM §4.7.3)
	return payload + fmt.Sprintf("%04X", checksum(payload))
}

// object encodes a data object: its number, its length in two digits, and its value, which has at most 99 octets.
func object(number, value string) string { return fmt.Sprintf("%s%02d%s", number, len(value), value) }

// checksum returns the CRC of ISO/IEC 13239 with the polynomial 1021 and the initial value FFFF, also known as
// CRC-16/CCITT-FALSE (EMVCo MPM §4.7.3).
func checksum(text string) uint16 {
	const polynomial, highest = 0x1021, 1 << 15
	crc := uint16(0xFFFF)
	for i := range len(text) {
		crc ^= uint16(text[i]) << 8
		for range 8 {
			carry := crc&highest != 0
			crc <<= 1
			if carry {
				crc ^= polynomial
			}
		}
	}
	return crc
}
