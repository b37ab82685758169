package smtpd

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/transcript"
)

// The bounds of a transcript. Lines beyond them are counted, except for the last one.
const (
	recordedLine    = 300 // octets of a line
	recordedOpening = 40  // lines before the first MAIL
	recordedMail    = 200 // lines of a mail
)

// secret stands for credentials in transcripts.
const secret = "********"

// recorder records what a session says for transcripts (docs/spec/faults.md#transcripts): a mail of the sink or of a project has one. Its
// methods do nothing on nil, so that other sessions pay nothing. It belongs to the session's goroutine.
type recorder struct {
	clock   clock.Clock
	opening []transcript.Line // before the first MAIL
	mail    []transcript.Line // since then, or since the last transcript
	left    int               // lines of the mail that were left out
	last    transcript.Line   // the last of them
	begun   bool              // there was a MAIL
	authed  bool              // there was an AUTH: what is no command may be a part of it

	testOwner
	box     id.Mailbox
	to      []string
	from    string
	refused bool // a command of the mail, or AUTH by a rule before the first MAIL
	mixed   bool // a recipient is of neither the sink nor a project, so that there is no transcript
}

// add adds a line.
func (r *recorder) add(from, text string) {
	if r == nil {
		return
	}
	if len(text) > recordedLine {
		text = text[:recordedLine] + " [...]"
	}
	line := transcript.Line{At: clock.Stamp{Time: r.clock.Now()}, From: from, Text: strings.ToValidUTF8(text, "?")}
	switch {
	case !r.begun && len(r.opening) < recordedOpening:
		r.opening = append(r.opening, line)
	case r.begun && len(r.mail) < recordedMail:
		r.mail = append(r.mail, line)
	case r.begun:
		r.last = line
		r.left++
	}
}

// command adds a command line of the client, without credentials.
func (r *recorder) command(line []byte) {
	if r == nil {
		return
	}
	text := string(bytes.TrimRight(line, "\r\n"))
	verb, arg, _ := strings.Cut(text, " ")
	switch verb = strings.ToUpper(verb); {
	case strings.HasPrefix(verb, "AUTH"):
		r.authed = true
		text = "AUTH " + secret
		if name, _, initial := strings.Cut(arg, " "); verb == "AUTH" && isMechanism(name) {
			text = "AUTH " + name
			if initial {
				text += " " + secret
			}
		}
	case r.authed && !isVerb(verb):
		text = secret
	}
	r.add(transcript.Client, text)
}

// isMechanism reports whether AUTH knows a mechanism.
func isMechanism(name string) bool {
	_, ok := mechanismNamed([]byte(name))
	return ok
}

// isVerb reports whether a word is a command that a client may send after AUTH.
func isVerb(word string) bool {
	switch word {
	case "EHLO", "HELO", "MAIL", "RCPT", "DATA", "BDAT", "RSET", "NOOP", "QUIT", "HELP", "VRFY", "STARTTLS":
		return true
	}
	return false
}

// reply adds a reply, of one line or more. It leaves out the trace, which differs from session to session, and the challenges of AUTH.
func (r *recorder) reply(text reply) {
	if r == nil {
		return
	}
	for line := range strings.SplitSeq(string(text), "\r\n") {
		line, _, _ = strings.Cut(line, ", trace ")
		if challenge, ok := strings.CutPrefix(line, string(replyChallenge)); ok && challenge != "" {
			line = string(replyChallenge) + secret
		}
		r.add(transcript.Server, line)
	}
	if r.begun && text != "" && (text[0] == '4' || text[0] == '5') {
		r.refused = true
	}
}

// cut adds what stands for a reply that was not sent, since the connection is closed on purpose: the mail is refused by that.
func (r *recorder) cut() {
	if r != nil {
		r.add(transcript.Server, "[connection closed]")
		r.refused = r.refused || r.begun
	}
}

// content adds what stands for the content of a message.
func (r *recorder) content(octets int64) {
	if r != nil {
		r.add(transcript.Client, fmt.Sprintf("[content, %d octets]", octets))
	}
}

// own says whose mail is recorded.
func (r *recorder) own(owner testOwner) {
	if r != nil {
		r.testOwner = owner
	}
}

// mark says whose mail is recorded, and names a recipient of it.
func (r *recorder) mark(owner testOwner, to inbound.Recipient) {
	if r == nil {
		return
	}
	if owner.account == "" {
		r.mixed = true
		return
	}
	r.testOwner = owner
	if owner.project != "" {
		r.box = to.Mailbox
	}
	if utf8.ValidString(to.Address) {
		r.to = append(r.to, to.Address)
	}
}

// beginMail begins a mail with MAIL.
func (r *recorder) beginMail() {
	r.begun = true
	r.reset()
}

// reset forgets what was recorded of a mail.
func (r *recorder) reset() {
	r.mail, r.left, r.refused = nil, 0, false
	r.testOwner, r.box, r.to, r.from, r.mixed = testOwner{}, "", nil, "", false
}

// transcript returns the transcript of the mail, whose messages were stored.
func (r *recorder) transcript(at time.Time, stored []inbound.Stored) *transcript.Transcript {
	t := &transcript.Transcript{
		Account: r.account, Project: r.project, Mailbox: r.box, At: at, Refused: r.refused, From: r.from, To: r.to,
		Lines: slices.Concat(r.opening, r.mail),
	}
	if r.left > 1 {
		t.Lines = append(t.Lines, transcript.Line{At: r.last.At, From: transcript.Server, Text: fmt.Sprintf("[%d lines left out]", r.left-1)})
	}
	if r.left > 0 {
		t.Lines = append(t.Lines, r.last)
	}
	for _, m := range stored {
		t.Stored = append(t.Stored, transcript.Stored{Mailbox: m.Recipient.Mailbox, Message: m.Message})
	}
	return t
}

// startRecording begins to record the session, if there is a use for transcripts of the client's mail: of every client of the sink, and of
// others once they have signed in to a project.
func (s *session) startRecording() {
	if s.record == nil && s.srv.cfg.Transcribe != nil && (s.project != nil || s.srv.cfg.Transcribes(s.connected.ip)) {
		s.record = &recorder{clock: s.srv.cfg.Clock}
	}
}

// recordCommand records a command line. MAIL begins another mail.
func (s *session) recordCommand(line []byte) {
	if s.record == nil {
		return
	}
	if len(line) >= len("MAIL") && strings.EqualFold(string(line[:len("MAIL")]), "MAIL") {
		s.endMail()
		s.record.beginMail()
	}
	s.record.command(line)
}

// endMail hands over the transcript of a mail of the sink or of a project, once it was stored or refused, or that of a session whose AUTH was
// refused by a rule.
func (s *session) endMail() {
	r := s.record
	if r == nil || !r.begun && !r.refused {
		return
	}
	if r.account != "" && !r.mixed && (r.refused || len(s.recorded) > 0) {
		s.srv.cfg.Transcribe(r.transcript(s.srv.cfg.Clock.Now(), s.recorded))
	}
	s.recorded = nil
	r.reset()
}
