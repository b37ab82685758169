package message_test

import (
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/problem"
)

func FuzzCursor(f *testing.F) {
	last := id.New[id.Message](time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC))
	for _, seed := range []string{"", message.Cursor(last), message.Cursor("msg_"), message.Cursor("mbx_" + last[4:]), "x", "%", "bXNn\n", string(last)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before, err := message.ParseCursor(text)
		switch {
		case text == "":
			if err != nil || before != message.Newest {
				t.Errorf("no cursor: %q, %v, want %v", before, err, message.Newest)
			}
		case err != nil:
			if !problem.Has(err, problem.RequestInvalid) || before != "" {
				t.Errorf(`%q: message.ParseCursor(text) = %q, %v, want the problem %v and ""`, text, before, err, problem.RequestInvalid)
			}
		case before >= message.Newest || message.Cursor(before) != text:
			t.Errorf("ParseCursor(%q) = %q with the cursor %q, want the same cursor and less than Newest", text, before, message.Cursor(before))
		}
	})
}

// A page begins below every identifier that there can be.
func TestNewestIsAboveEveryIdentifier(t *testing.T) {
	last := id.FromBytes[id.Message]([16]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	if last >= message.Newest {
		t.Errorf("the largest identifier is %s, want it below Newest = %s", last, message.Newest)
	}
}
