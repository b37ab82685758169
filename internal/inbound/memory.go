package inbound

import "github.com/gonebox/gonebox/internal/mailparse"

// What a mail takes beside its octets, before it is known what it consists of, as a multiple of them: decoded files, what is stored of
// them, the raw message, and a statement. Text and header fields take more, but there is never much of them: they are decoded, searched,
// written as JSON and compressed. memory_test.go measures all of it.
const (
	perOctet     = 4
	perTextOctet = 10
	perMail      = 16 << 10 // what does not depend on the size

	mostText = 2*mailparse.MaxText + mailparse.MaxHeader // octets that are text and header fields at most
)

// Memory is the most octets of memory that Deliver uses for a mail of size octets, beside the mail itself.
func (s *Service) Memory(size int64) int64 {
	text := min(size, mostText)
	return perMail + (size-text)*perOctet + text*perTextOctet
}

// shrinkLease gives back what was acquired for another kind of mail than it turned out to be. received is the mail as it came in, data what
// was parsed: a copy where it is shorter.
func (e *Envelope) shrinkLease(received, data []byte, m *mailparse.Message) {
	const worthwhile = 16 << 10
	if e.Memory == nil || len(data) < worthwhile {
		return
	}
	needed := int64(cap(received)) + memoryOf(int64(len(data)), m)
	if len(data) < len(received) {
		needed += int64(cap(data))
	}
	e.Memory.Shrink(e.Memory.Size() - needed)
}

// memoryOf is what a parsed mail of size octets takes beside its octets: little more than as many for the raw message, and files twice,
// decoded and being stored.
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
