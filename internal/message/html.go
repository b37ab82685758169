package message

import (
	"context"
	"io"
	"runtime"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/sanitize"
)

// largeHTML is the size in octets from which on sanitizing HTML takes so much memory that only a few calls may do it at the same time.
const largeHTML = 256 << 10

// sanitizer bounds how many large documents are sanitized at the same time: one for each core.
type sanitizer chan struct{}

func newSanitizer() sanitizer { return make(sanitizer, runtime.GOMAXPROCS(0)) }

// safeHTML is a message's HTML as it may be rendered, or nil. It is made when a program reads it first: most mail is never read, and a
// stricter rule then holds for what is stored already (docs/decisions/0003, docs/decisions/0079).
func (s *Service) safeHTML(ctx context.Context, box id.Mailbox, m id.Message, b *body) (*string, error) {
	if b.HTML == "" {
		return nil, nil
	}
	if len(b.HTML) > largeHTML {
		select {
		case s.sanitizer <- struct{}{}:
			defer func() { <-s.sanitizer }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	ids := indexByID(b.Attachments)
	safe := sanitize.HTML(b.HTML, string(m), func(cid string, most int) (string, []byte, bool) {
		b.embeds = true
		i, found := ids.find(cid)
		if !found {
			return "", nil, false
		}
		a := &b.Attachments[i]
		if !a.Available || a.Size > min(s.policy.InlineImageMax, int64(most)) {
			return a.ContentType, nil, false
		}
		r, err := s.open(ctx, box, m, b, i)
		if err != nil {
			return a.ContentType, nil, false
		}
		data, err := io.ReadAll(r)
		return a.ContentType, data, err == nil
	})
	return &safe, nil
}
