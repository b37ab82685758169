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
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gonebox/gonebox/internal/clock"
)

// The server's side of a WebSocket (RFC 6455) that sends text messages and reads only to notice pings and the end.

// Opcodes (RFC 6455 §5.2).
const (
	opText  = 1
	opClose = 8
	opPing  = 9
	opPong  = 10
)

const (
	// Clients send pings and closes only, which have at most 125 octets; frameMax leaves room for messages, which are
	// ignored.
	frameMax     = 4 << 10 // octets of a frame from the client
	writeTimeout = 10 * time.Second
)

// errFrame means that a frame is too large, not masked (RFC 6455 §5.1) or otherwise not valid. The connection is
// closed.
var errFrame = errors.New("the frame of a client is not valid")

// socket is an open WebSocket. Several goroutines may write; one reads.
type socket struct {
	conn net.Conn
	in   *bufio.Reader
	mu   sync.Mutex // held while a frame is written
}

// upgrade turns a request into a WebSocket, or returns the status and the reason why it cannot.
//
// Browsers send Origin and do not apply the same-origin policy to WebSockets, so another origin is refused here. After
// a success the caller must close the connection.
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
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || !strings.EqualFold(u.Host, r.Host) {
			return nil, http.StatusForbidden, "web pages of other sites may not follow events"
		}
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, http.StatusInternalServerError, "the connection cannot be upgraded"
	}
	_ = conn.SetDeadline(time.Time{})                                     // those of the request; write sets its own
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // see the import
	s = &socket{conn: conn, in: buffered.Reader}
	_ = s.send([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(sum[:]) + "\r\n\r\n"))
	return s, 0, ""
}

// hasToken reports whether a header field lists a token, in any case.
func hasToken(h http.Header, name, token string) bool {
	for part := range strings.SplitSeq(strings.Join(h.Values(name), ","), ",") {
		if strings.EqualFold(strings.TrimSpace(part), token) {
			return true
		}
	}
	return false
}

// write sends a frame. Payloads are sent in one frame and, from a server, without a mask (RFC 6455 §5.1).
func (s *socket) write(opcode byte, payload []byte) error {
	head := []byte{0x80 | opcode, byte(len(payload))}
	switch n := len(payload); {
	case n > 0xffff:
		head = binary.BigEndian.AppendUint64([]byte{0x80 | opcode, 127}, uint64(n))
	case n > 125:
		head = binary.BigEndian.AppendUint16([]byte{0x80 | opcode, 126}, uint16(n))
	}
	return s.send(append(head, payload...))
}

// send writes octets to the connection, within writeTimeout: a client that does not read is disconnected.
func (s *socket) send(octets []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.conn.SetWriteDeadline(clock.System().Now().Add(writeTimeout))
	_, err := s.conn.Write(octets)
	return err
}

// read answers pings until the client ends the connection, and then calls ended.
func (s *socket) read(ended context.CancelFunc) {
	defer ended()
	for {
		opcode, payload, err := s.frame()
		if err != nil {
			return
		}
		switch opcode {
		case opPing:
			err = s.write(opPong, payload)
		case opClose:
			_ = s.write(opClose, payload[:min(len(payload), 2)])
			return
		}
		if err != nil {
			return
		}
	}
}

// frame reads a frame from the client and unmasks its payload (RFC 6455 §5.3). Fragments are returned like frames,
// since the content of messages is ignored.
func (s *socket) frame() (opcode byte, payload []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return 0, nil, err
	}
	n := uint64(head[1] & 0x7f)
	switch n {
	case 126:
		var size [2]byte
		if _, err := io.ReadFull(s.in, size[:]); err != nil {
			return 0, nil, err
		}
		n = uint64(binary.BigEndian.Uint16(size[:]))
	case 127:
		return 0, nil, errFrame
	}
	opcode = head[0] & 0x0f
	if head[1]&0x80 == 0 || n > frameMax || opcode >= opClose && n > 125 {
		return 0, nil, errFrame
	}
	var mask [4]byte
	if _, err := io.ReadFull(s.in, mask[:]); err != nil {
		return 0, nil, err
	}
	payload = make([]byte, n)
	if _, err := io.ReadFull(s.in, payload); err != nil {
		return 0, nil, err
	}
	for i := range payload {
		payload[i] ^= mask[i%4]
	}
	return opcode, payload, nil
}
