package inbound

import "github.com/gonebox/gonebox/internal/mailparse"

// Upper bounds of the memory that delivering a mail uses besides the mail itself, as multiples of its size, for a mail that has not been
// parsed: decoded attachments, their stored form, the raw message and a statement. Text and header fields need more, because they are
// decoded, searched, encoded and compressed, but their size is bounded. TestDeliverUsesNoMoreMemoryThanPredicted measures all of it.
const (
	perOctet     = 4
	perTextOctet = 10
	perMail      = 16 << 10 // octets, independent of the size

	maxText = 2*mailparse.MaxText + mailparse.MaxHeader // most octets that are text and header fields
)

// Memory returns the most octets of memory that Deliver uses for a mail of size octets, besides the mail itself.
func (s *Service) Memory(size int64) int64 {
	text := min(size, maxText)
	return perMail + (size-text)*perOctet + text*perTextOctet
}

// shrinkLease returns the part of the lease that the mail, now that it is parsed, does not need. received is the mail as it arrived; data
// is what was parsed, which is a copy if it is shorter than received.
func (e *Envelope) shrinkLease(received, data []byte, m *mailparse.Message) {
	const smallMail = 16 << 10 // octets of mail, below which shrinking is not worth its cost
	if e.Memory == nil || len(data) < smallMail {
		return
	}
	needed := int64(cap(received)) + memoryOf(int64(len(data)), m)
	if len(data) < len(received) {
		needed += int64(cap(data))
	}
	e.Memory.Shrink(e.Memory.Size() - needed)
}

// memoryOf returns the most octets of memory that delivering a parsed mail uses in addition to the mail itself: slightly more than its
// size for the stored form of the raw message, and the size of each attachment twice, decoded and in its stored form.
func memoryOf(size int64, m *mailparse.Message) int64 {
	var files, text int64
	for _, a := range m.Attachments {
		files += int64(len(a.Data))
	}
	for _, f := range m.Header {
		text += int64(len(f.Name) + len(f.Value))
	}
	text += int64(len(m.Text) + len(m.HTML))
	return perMail + size*6/5 + files*2 + text*perTextOctet
}
