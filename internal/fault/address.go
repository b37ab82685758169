package fault

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Kind is what a tag of an address asks for.
type Kind int

// The kinds of tags.
const (
	NoTag       Kind = iota
	ReplyTag         // +fault-550, +fault-451-4.7.1: the reply to RCPT
	ContentTag       // +fault-data-552: the reply to the content
	GreylistTag      // +fault-greylist-60: 451 until so long after the first try
	DelayTag         // +fault-delay-5: RCPT is answered so much later
	CloseTag         // +fault-close: RCPT closes the connection
	BounceTag        // +fault-bounce: the mail is taken, and then reported as undeliverable
)

// Tag is what an address asks for by its tag.
type Tag struct {
	Kind  Kind
	Reply string        // of ReplyTag and ContentTag, and of GreylistTag before it takes the mail
	Time  time.Duration // of GreylistTag and DelayTag
}

const (
	tagPrefix   = "fault-"
	tagText     = " The address asks for this reply"
	greylistMax = 24 * time.Hour
)

var codeForm = regexp.MustCompile(`^([45])[0-5][0-9](?:-([45])\.[0-9]{1,3}\.[0-9]{1,3})?$`)

// TagOf returns what an address, a forward-path without brackets, asks for. A tag that is not one of those of docs/spec/faults.md is an
// ordinary one.
func TagOf(address string) Tag {
	local := address
	if at := strings.LastIndexByte(address, '@'); at >= 0 {
		local = address[:at]
	}
	_, tag, _ := strings.Cut(strings.ToLower(strings.Trim(local, `"`)), "+")
	tag, ok := strings.CutPrefix(tag, tagPrefix)
	if !ok {
		return Tag{}
	}
	name, rest, _ := strings.Cut(tag, "-")
	switch name {
	case "close":
		return tagWithout(CloseTag, tag, name)
	case "bounce":
		return tagWithout(BounceTag, tag, name)
	case "delay":
		return timedTag(DelayTag, rest, DelayMax)
	case "greylist":
		t := timedTag(GreylistTag, rest, greylistMax)
		if t.Kind == GreylistTag {
			t.Reply = "451 4.7.1 Greylisted, try again later"
		}
		return t
	case "data":
		return replyTag(ContentTag, rest)
	default:
		return replyTag(ReplyTag, tag)
	}
}

// tagWithout returns a tag that has nothing behind its name.
func tagWithout(k Kind, tag, name string) Tag {
	if tag != name {
		return Tag{}
	}
	return Tag{Kind: k}
}

// timedTag returns a tag with a number of seconds.
func timedTag(k Kind, text string, most time.Duration) Tag {
	const digits = 6
	n, err := strconv.ParseUint(text, 10, 32)
	if d := time.Duration(n) * time.Second; err == nil && len(text) <= digits && d <= most {
		return Tag{Kind: k, Time: d}
	}
	return Tag{}
}

// replyTag returns a tag with a reply code, perhaps with an enhanced status code of the same class.
func replyTag(k Kind, text string) Tag {
	m := codeForm.FindStringSubmatch(text)
	if m == nil || m[2] != "" && m[2] != m[1] {
		return Tag{}
	}
	code, status, found := strings.Cut(text, "-")
	if !found {
		status = m[1] + ".0.0"
	}
	return Tag{Kind: k, Reply: code + " " + status + tagText}
}
