package blackbox_test

import (
	"regexp"
	"testing"
	"time"
)

// The resources of the API, as a client reads them.
type (
	mailbox struct {
		ID, Address, LocalPart, Domain, Tier, Source, Token string
		CreatedAt, ExpiresAt                                time.Time
		TTL, MessageCount, UnreadCount                      int
	}
	address struct{ Name, Address string }
	code    struct {
		Code, Display, MessageID, Subject, Source, Kind string
		From                                            address
		ReceivedAt                                      time.Time
		Confidence                                      float64
		FilterID                                        *string
		Links                                           []string
	}
	summary struct {
		ID, MailboxID, Subject, Preview string
		From                            address
		To                              []address
		ReceivedAt                      time.Time
		SentAt                          *time.Time
		Size                            int
		Seen, HasAttachments            bool
		OTP                             *code
		Source                          string
		Verified                        bool
		Action                          *struct{ URL, Host, Kind string }
	}
	attachment struct {
		ID, Filename, ContentType, SHA256 string
		Size                              int
		Inline, Available                 bool
		ContentID                         *string
	}
	message struct {
		summary
		CC, ReplyTo    []address
		MessageID      string
		Headers        []struct{ Name, Value string }
		Text           string
		HTML           *string
		Attachments    []attachment
		Links          []string
		Authentication struct {
			SPF, DKIM, DMARC string
			Verified         bool
			Domain           *string
		}
		Envelope struct {
			From, Helo, RemoteIP string
			To                   []string
			TLS                  bool
		}
		RawExpiresAt time.Time
	}
	session struct {
		ExpiresAt time.Time
		Mailboxes []mailbox
	}
)

// identifier fails the test unless an id has the prefix and form of its kind (docs/spec/conventions.md#identifiers).
func identifier(t *testing.T, id, prefix string) {
	t.Helper()
	if !regexp.MustCompile("^" + prefix + "_[0-9a-hjkmnp-tv-z]{26}$").MatchString(id) {
		t.Errorf("the identifier is %q, want %s_ and 26 characters", id, prefix)
	}
}

// body is the body of a request.
type body map[string]any
