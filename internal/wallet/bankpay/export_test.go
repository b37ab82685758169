package bankpay

import "github.com/gonebox/gonebox/internal/wallet"

// Checksum is checksum.
func Checksum(text string) uint16 { return checksum(text) }

// Read parses a body as an appended one is parsed.
func Read(body []byte) (transaction string, t wallet.Transfer, err error) {
	transaction, err = identify(body)
	return transaction, row{id: transaction, body: body}.transfer(), err
}
