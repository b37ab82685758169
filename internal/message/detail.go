package message

import (
	"encoding/binary"
	"errors"

	"github.com/gonebox/gonebox/internal/id"
)

// detail is what reading one message adds to its summary. It is kept compressed, in one column.
type detail struct {
	CC             []Address
	ReplyTo        []Address
	MessageID      string
	Headers        []Header
	Attachments    []Attachment
	Authentication Authentication
	EnvelopeFrom   string
	Helo           string
	RemoteIP       string
	TLS            bool
	Uncut          *uncut // nil: the summary holds all of it
	Text           string
	HTML           string
}

// uncut is what the summary of a message has in part only.
type uncut struct {
	Subject string
	From    Address
	To      []Address
}

// A detail is kept as its fields one after another in the order of packing: a number as unsigned LEB128, a text as its
// length and itself, a list as its length and its elements. Every mail is packed and few are read, so it is a form that
// costs little to write: as JSON it cost as much as finding the boundaries of the mail's parts.

// The version is what a packed detail begins with. A field more is a new version, which reads the old ones too.
const (
	detailVersion = 1
	detailUncut   = 2 // with Uncut before Text; written only where it is needed, so that an earlier release reads the rest
)

var errDetail = errors.New("not the detail of a message")

// plain appends the packed detail to p, not compressed.
func (d *detail) plain(p packer) packer {
	version := byte(detailVersion)
	if d.Uncut != nil {
		version = detailUncut
	}
	p = append(p, version)
	p.detail(d)
	return p
}

// detail appends all fields.
func (p *packer) detail(d *detail) {
	p.addresses(d.CC)
	p.addresses(d.ReplyTo)
	p.text(d.MessageID)
	p.number(len(d.Headers))
	for _, h := range d.Headers {
		p.text(h.Name)
		p.text(h.Value)
	}
	p.number(len(d.Attachments))
	for i := range d.Attachments {
		p.attachment(&d.Attachments[i])
	}
	for _, s := range [...]string{
		d.Authentication.SPF, d.Authentication.DKIM, d.Authentication.DMARC, d.EnvelopeFrom, d.Helo, d.RemoteIP,
	} {
		p.text(s)
	}
	p.flag(d.TLS)
	if u := d.Uncut; u != nil {
		p.text(u.Subject)
		p.addresses([]Address{u.From})
		p.addresses(u.To)
	}
	p.text(d.Text)
	p.text(d.HTML)
}

// parseDetail reads what plain gave. Anything else is errDetail, or some detail.
func parseDetail(plain []byte) (detail, error) {
	if len(plain) == 0 || plain[0] != detailVersion && plain[0] != detailUncut {
		return detail{}, errDetail
	}
	u := unpacker{rest: plain[1:]}
	d := detail{CC: elements(&u, u.address), ReplyTo: elements(&u, u.address), MessageID: u.text()}
	d.Headers = elements(&u, func() Header { return Header{Name: u.text(), Value: u.text()} })
	d.Attachments = elements(&u, u.attachment)
	for _, s := range [...]*string{
		&d.Authentication.SPF, &d.Authentication.DKIM, &d.Authentication.DMARC, &d.EnvelopeFrom, &d.Helo, &d.RemoteIP,
	} {
		*s = u.text()
	}
	d.TLS = u.flag()
	if plain[0] == detailUncut {
		d.Uncut = u.uncut()
	}
	d.Text, d.HTML = u.text(), u.text()
	if u.broken || len(u.rest) > 0 {
		return detail{}, errDetail
	}
	return d, nil
}

// packer appends fields to itself.
type packer []byte

func (p *packer) number(n int) { *p = binary.AppendUvarint(*p, uint64(n)) }

func (p *packer) text(s string) {
	p.number(len(s))
	*p = append(*p, s...)
}

func (p *packer) flag(b bool) {
	n := 0
	if b {
		n = 1
	}
	p.number(n)
}

func (p *packer) addresses(all []Address) {
	p.number(len(all))
	for _, a := range all {
		p.text(a.Name)
		p.text(a.Address)
	}
}

func (p *packer) attachment(a *Attachment) {
	p.text(string(a.ID))
	p.text(a.Filename)
	p.text(a.ContentType)
	p.number(int(a.Size))
	p.text(a.SHA256)
	p.flag(a.Inline)
	p.flag(a.Available)
	p.flag(a.ContentID != nil)
	if a.ContentID != nil {
		p.text(*a.ContentID)
	}
}

// unpacker takes fields off its front. Where there is none it gives zeros and is broken.
type unpacker struct {
	rest   []byte
	broken bool
}

func (u *unpacker) number() uint64 {
	v, n := binary.Uvarint(u.rest)
	if n <= 0 {
		u.rest, u.broken = nil, true
		return 0
	}
	u.rest = u.rest[n:]
	return v
}

func (u *unpacker) text() string {
	n := u.number()
	if n > uint64(len(u.rest)) {
		u.rest, u.broken = nil, true
		return ""
	}
	s := string(u.rest[:n])
	u.rest = u.rest[n:]
	return s
}

func (u *unpacker) flag() bool { return u.number() == 1 }

// elements reads a list; an empty one is nil. No element is shorter than an octet, which bounds what a length can claim.
func elements[T any](u *unpacker, one func() T) []T {
	n := u.number()
	if n > uint64(len(u.rest)) {
		u.broken = true
		return nil
	}
	var all []T
	for range n {
		if all = append(all, one()); u.broken {
			return nil
		}
	}
	return all
}

func (u *unpacker) address() Address { return Address{Name: u.text(), Address: u.text()} }

func (u *unpacker) uncut() *uncut {
	all := &uncut{Subject: u.text()}
	if from := elements(u, u.address); len(from) == 1 {
		all.From = from[0]
	} else {
		u.broken = true
	}
	all.To = elements(u, u.address)
	return all
}

func (u *unpacker) attachment() Attachment {
	a := Attachment{
		ID: id.Attachment(u.text()), Filename: u.text(), ContentType: u.text(), Size: int64(u.number()), SHA256: u.text(),
		Inline: u.flag(), Available: u.flag(),
	}
	if u.flag() {
		contentID := u.text()
		a.ContentID = &contentID
	}
	return a
}
