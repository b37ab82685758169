package mailpit

import (
	"bufio"
	"context"
	"crypto/sha1" //nolint:gosec // RFC 6455 §4.2.2 asks for it
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// This file implements the server side of a WebSocket (RFC 6455) that sends text messages. It reads frames only to answer
// pings and to notice when the client closes the connection.

// Opcodes (RFC 6455 §5.2).
const (
	opText  = 1
	opClose = 8
	opPing  = 9
	opPong  = 10
)

const (
	// frameMax is the most octets that the payload of a frame from a client may have. Clients need to send only pings and
	// closes, which have at most 125 octets; messages up to this size are ignored.
	frameMax = 4 << 10

	// writeTimeout is how long a frame may take to write before a client that does not read is disconnected.
	writeTimeout = 10 * time.Second
)

// errInvalidFrame means that a frame is too large, not masked (RFC 6455 §5.1) or invalid for another reason. The connection
// is then closed.
var errInvalidFrame = errors.New("the frame of a client is not valid")

// socket is an open WebSocket. Any number of goroutines may write to it, but only one may read from it.
type socket struct {
	conn   net.Conn
	reader *bufio.Reader // of conn
	mu     sync.Mutex    // held while a frame is written
}

// upgrade turns the connection of a request into a WebSocket, which the caller must close. If it cannot, s is nil, and status
// and reason are those of the response.
//
// Browsers do not apply the same-origin policy to WebSockets, but they send Origin. API.check has rejected requests from
// another origin.
func upgrade(w http.ResponseWriter, r *http.Request) (s *socket, status int, reason string) {
	key := r.Header.Get("Sec-WebSocket-Key")
	if decoded, err := base64.StdEncoding.DecodeString(key); err != nil || len(decoded) != 16 ||
		!hasToken(r.Header, "Upgrade", "websocket") || !hasToken(r.Header, "Connection", "upgrade") {
		return nil, http.StatusBadRequest, "expected a WebSocket"
	}
	if r.Header.Get("Sec-WebSocket-Version") != "13" {
		w.Header().Set("Sec-WebSocket-Version", "13")
		return nil, http.StatusUpgradeRequired, "expected version 13 of the WebSocket protocol"
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, http.StatusInternalServerError, "the connection cannot be upgraded"
	}
	_ = conn.SetDeadline(time.Time{})                                     // clears the deadlines of the request; send sets its own
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // see the import
	s = &socket{conn: conn, reader: buffered.Reader}
	_ = s.send([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(sum[:]) + "\r\n\r\n"))
	return s, 0, ""
}

// hasToken reports whether a header field lists a token, regardless of case.
func hasToken(h http.Header, name, token string) bool {
	for part := range strings.SplitSeq(strings.Join(h.Values(name), ","), ",") {
		if strings.EqualFold(strings.TrimSpace(part), token) {
			return true
		}
	}
	return false
}

// writeFrame sends a payload in a single frame. A server does not mask its frames (RFC 6455 §5.1).
func (s *socket) writeFrame(opcode byte, payload []byte) error {
	return s.send(append(appendFrameHeader(nil, opcode, len(payload)), payload...))
}

// appendFrameHeader appends the header of a frame from the server, which has a payload of n octets.
func appendFrameHeader(b []byte, opcode byte, n int) []byte {
	switch b = append(b, 0x80|opcode); {
	case n > 0xffff:
		return binary.BigEndian.AppendUint64(append(b, 127), uint64(n))
	case n > 125:
		return binary.BigEndian.AppendUint16(append(b, 126), uint16(n))
	}
	return append(b, byte(n))
}

// send writes octets to the connection within writeTimeout.
func (s *socket) send(octets []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.conn.SetWriteDeadline(clock.System().Now().Add(writeTimeout))
	_, err := s.conn.Write(octets)
	return err
}

// readUntilClosed answers pings until the client closes the connection, or sends an invalid frame, and then calls cancel.
func (s *socket) readUntilClosed(cancel context.CancelFunc) {
	defer cancel()
	for {
		opcode, payload, err := s.readFrame()
		if err != nil {
			return
		}
		switch opcode {
		case opPing:
			err = s.writeFrame(opPong, payload)
		case opClose:
			_ = s.writeFrame(opClose, payload[:min(len(payload), 2)])
			return
		}
		if err != nil {
			return
		}
	}
}

// readFrame reads a frame from the client and unmasks its payload (RFC 6455 §5.3). It does not join the fragments of a
// message, since the content of messages is ignored.
func (s *socket) readFrame() (opcode byte, payload []byte, err error) {
	var header [2]byte
	if _, err := io.ReadFull(s.reader, header[:]); err != nil {
		return 0, nil, err
	}
	n := uint64(header[1] & 0x7f)
	switch n {
	case 126:
		var size [2]byte
		if _, err := io.ReadFull(s.reader, size[:]); err != nil {
			return 0, nil, err
		}
		n = uint64(binary.BigEndian.Uint16(size[:]))
	case 127:
		return 0, nil, errInvalidFrame
	}
	opcode = header[0] & 0x0f
	if header[1]&0x80 == 0 || n > frameMax || opcode >= opClose && n > 125 {
		return 0, nil, errInvalidFrame
	}
	var mask [4]byte
	if _, err := io.ReadFull(s.reader, mask[:]); err != nil {
		return 0, nil, err
	}
	payload = make([]byte, n)
	if _, err := io.ReadFull(s.reader, payload); err != nil {
		return 0, nil, err
	}
	for i := range payload {
		payload[i] ^= mask[i%4]
	}
	return opcode, payload, nil
}
