package bankpay

import "github.com/gonebox/gonebox/internal/wallet"

// Checksum lets the tests compute a checksum.
func Checksum(text string) uint16 { return checksum(text) }

// Read is what is read of a body that was appended.
func Read(body []byte) (transaction string, t wallet.Transfer, err error) {
	transaction, err = identify(body)
	return transaction, row{id: transaction, body: body}.transfer(), err
}
