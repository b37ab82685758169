package mailpit

import (
	"bufio"
	"bytes"
)

// Depth parses a raw message as MailHog shows it, and returns how deep its parts nest and how many there are.
func Depth(data []byte) (depth, parts int) {
	remaining := partsMax
	var walk func(c hogContent, at int)
	walk = func(c hogContent, at int) {
		depth = max(depth, at)
		if c.MIME == nil {
			return
		}
		for _, p := range c.MIME.Parts {
			parts++
			walk(p, at+1)
		}
	}
	walk(parsePart(data, 0, &remaining), 0)
	return depth, parts
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

// IsPrivateHost exports isPrivateHost.
var IsPrivateHost = isPrivateHost

// The bounds of the parsers.
const (
	DepthMax = depthMax
	PartsMax = partsMax
	FrameMax = frameMax
)

// Scaled exports scaled.
var Scaled = scaled
