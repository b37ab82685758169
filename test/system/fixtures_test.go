package system_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// golden is how a fixture of test/mail must be shown; package mailparse has its own tests of the same files.
type golden struct {
	From        goldenAddress
	To          []goldenAddress
	CC          []goldenAddress
	ReplyTo     []goldenAddress
	Subject     string
	MessageID   string
	Date        *time.Time
	Fields      int
	Text, HTML  string
	Attachments []goldenAttachment
	Code        *string
}

type goldenAddress struct{ Name, Addr string }

type goldenAttachment struct {
	Filename, ContentType, ContentID string

	Inline bool
	Size   int
	SHA256 string
}

// TestFixtures sends every mail of test/mail and compares what the API shows with its entry of golden.json.
func TestFixtures(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../mail/*.eml")
	if err != nil || len(paths) < 60 {
		t.Fatalf("there are %d fixtures in test/mail, want 60 at least (error %v)", len(paths), err)
	}
	goldens := readGoldens(t)
	s := start(t, options{})
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".eml")
		t.Run(name, func(t *testing.T) {
			a := api{t: t, url: s.url}
			box := a.newMailbox()
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			reply := sendWhole(t, s.smtp, box.Address, content)
			if strings.HasPrefix(name, "smtp-refused-") {
				wantReply(t, "a fixture to be refused", reply, "550 5.6.0 ")
				a.wantSubjects(box)
				return
			}
			wantReply(t, "a fixture", reply, "250 ")
			m := a.only(box)
			a.checkBytes(box, m, content)
			want, ok := goldens[name]
			if !ok {
				t.Fatalf("golden.json has no entry %q, want one for each mail", name)
			}
			a.checkGolden(box, m, name, want)
		})
	}
}

// sendWhole sends content unchanged: with DATA if it ends with a line, otherwise with BDAT.
func sendWhole(t *testing.T, addr, to string, content []byte) string {
	t.Helper()
	if bytes.HasSuffix(content, []byte("\r\n")) {
		return send(t, addr, content, to)
	}
	reply, err := mustDial(t, addr).chunk("sender@example.org", to, content)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// checkBytes compares the raw message and every attachment, octet by octet.
func (a api) checkBytes(box mailbox, m message, content []byte) {
	a.t.Helper()
	trace, raw := a.raw(box, m.ID)
	if !bytes.Equal(raw, content) {
		a.t.Errorf("the raw message (-want as sent, +kept):\n%s", cmp.Diff(string(content), string(raw)))
	}
	if !bytes.Contains(trace, []byte("\r\nAuthentication-Results: ")) {
		a.t.Errorf(`the fields in front are %q, want "\r\nAuthentication-Results: " in it`, trace)
	}
	if int(m.Size) != len(content) {
		a.t.Errorf("the size is %d, want %d", m.Size, len(content))
	}
	for _, att := range m.Attachments {
		if data := a.get("/messages/"+m.ID+"/attachments/"+att.ID, box.Token); len(data) != att.Size {
			a.t.Errorf("the attachment %s has %d octets, want its size %d", att.Filename, len(data), att.Size)
		}
	}
}

func readGoldens(t *testing.T) (goldens map[string]golden) {
	t.Helper()
	text, err := os.ReadFile("../mail/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &goldens); err != nil {
		t.Fatal(err)
	}
	return goldens
}

// checkGolden compares the message with the entry of golden.json that belongs to the fixture.
func (a api) checkGolden(box mailbox, m message, name string, want golden) {
	a.t.Helper()
	if len(want.To) == 0 { // a mail without To shows the envelope's
		want.To = []goldenAddress{{Addr: box.Address}}
	}
	got := shown(m)
	if (want.HTML == "") != (m.HTML == nil) {
		a.t.Errorf("the API shows HTML for %s.eml: %v, want %v", name, m.HTML != nil, want.HTML != "")
	}
	if want.Text == "" && want.HTML != "" {
		got.Text = "" // made from the HTML
	}
	want.HTML = ""
	code := want.Code
	want.Code = nil
	if want.Date != nil {
		*want.Date = want.Date.Truncate(time.Millisecond)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		a.t.Errorf("the message in the API that was sent as %s.eml (-want of golden.json, +got):\n%s", name, diff)
	}
	found := "none"
	if m.OTP != nil {
		found = m.OTP.Code
	}
	switch {
	case code == nil && m.OTP != nil:
		a.t.Errorf("the API shows the code %s for %s.eml, want none", found, name)
	case code != nil && found != *code:
		a.t.Errorf("the API shows the code %s for %s.eml, want %s", found, name, *code)
	}
}

// shown is a message in the form of golden.json.
func shown(m message) golden {
	g := golden{
		From: goldenOf(m.From), To: goldens(m.To), CC: goldens(m.CC), ReplyTo: goldens(m.ReplyTo),
		Subject: m.Subject, MessageID: m.MessageID, Fields: len(m.Headers), Text: m.Text,
	}
	if m.SentAt != nil {
		if at, err := time.Parse(time.RFC3339, *m.SentAt); err == nil {
			g.Date = &at
		}
	}
	for _, a := range m.Attachments {
		v := goldenAttachment{Filename: a.Filename, ContentType: a.ContentType, Inline: a.Inline, Size: a.Size, SHA256: a.SHA256}
		if a.ContentID != nil {
			v.ContentID = *a.ContentID
		}
		g.Attachments = append(g.Attachments, v)
	}
	return g
}

func goldenOf(a address) goldenAddress { return goldenAddress{Name: a.Name, Addr: a.Address} }

func goldens(list []address) (out []goldenAddress) {
	for _, a := range list {
		out = append(out, goldenOf(a))
	}
	return out
}
