package inbound

import "github.com/gonebox/gonebox/internal/mailparse"

// What delivering a mail takes beside its own octets, before it is parsed, as multiples of its size: the decoded attachments, their stored
// form, the raw message and a statement. Text and header fields take more (they are decoded, searched, encoded and compressed), but their
// size is bounded. TestDeliverTakesNoMoreMemoryThanItSays measures all of it.
const (
	perOctet     = 4
	perTextOctet = 10
	perMail      = 16 << 10 // octets, whatever the size

	mostText = 2*mailparse.MaxText + mailparse.MaxHeader // most octets that are text and header fields
)

// Memory returns the most octets of memory that Deliver uses for a mail of size octets, besides the mail itself.
func (s *Service) Memory(size int64) int64 {
	text := min(size, mostText)
	return perMail + (size-text)*perOctet + text*perTextOctet
}

// shrinkLease returns the memory that the mail turns out not to need, now that it is parsed. received is the mail as it arrived; data is
// what was parsed, a copy if it is shorter.
func (e *Envelope) shrinkLease(received, data []byte, m *mailparse.Message) {
	const worthwhile = 16 << 10 // octets of mail
	if e.Memory == nil || len(data) < worthwhile {
		return
	}
	needed := int64(cap(received)) + memoryOf(int64(len(data)), m)
	if len(data) < len(received) {
		needed += int64(cap(data))
	}
	e.Memory.Shrink(e.Memory.Size() - needed)
}

// memoryOf returns the octets of memory that delivering a parsed mail takes in addition to the mail itself: slightly more than its size
// for the raw message as it is stored, and each attachment twice, decoded and in its stored form.
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
