package mailpit

import (
	"bufio"
	"bytes"
)

// Depth parses a raw message as MailHog shows it, and returns how deep its parts nest, how many there are, and how many octets
// their bodies have.
func Depth(data []byte) (depth, parts, octets int) {
	var walk func(c hogContent, at int)
	walk = func(c hogContent, at int) {
		depth = max(depth, at)
		for _, p := range c.Parts {
			parts++
			octets += len(p.Body)
			walk(p, at+1)
		}
	}
	walk(parseHog(string(data)), 0)
	return depth, parts, octets
}

// HogPart is a part as MailHog shows it.
type HogPart struct {
	Header map[string][]string
	Body   string
}

// HogParts returns the parts of a multipart message, without those in them.
func HogParts(data string) (all []HogPart) {
	for _, p := range parseHog(data).Parts {
		all = append(all, HogPart{p.Headers, p.Body})
	}
	return all
}

// Frames reads frames of a WebSocket until one is not valid, and returns how many octets of payload they had.
func Frames(data []byte) (frames, octets int) {
	s := &socket{reader: bufio.NewReader(bytes.NewReader(data))}
	for {
		_, payload, err := s.readFrame()
		if err != nil {
			return frames, octets
		}
		frames, octets = frames+1, octets+len(payload)
	}
}

// The bounds of the parsers.
const (
	DepthMax  = depthMax
	PartsMax  = partsMax
	BodiesMax = bodiesMax
	FrameMax  = frameMax
)

// Scaled and Measure export scaled and measure.
var (
	Scaled  = scaled
	Measure = measure
)
