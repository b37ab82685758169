package smtpd_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/inbound"
	"github.com/gonebox/gonebox/internal/smtpd"
)

// sink accepts every message at once and drops it, so that only the server is measured.
type sink struct{}

func (sink) Accept(_ context.Context, address string) (inbound.Recipient, error) {
	return inbound.Recipient{Address: address, Local: "box", Domain: "example.test"}, nil
}

func (sink) Deliver(context.Context, *inbound.Envelope, []byte) (inbound.Receipt, error) {
	return inbound.Receipt{}, nil
}

func (sink) Memory(size int64) int64 { return 2 * size }

// BenchmarkMail sends mails from several clients over loopback: each mail on its own connection, or all mails of a client on one.
func BenchmarkMail(b *testing.B) {
	for _, size := range []int{4 << 10, 64 << 10} {
		line := strings.Repeat("abcdefghijklmnopqrstuvwxyz0123456789+/ab", 2)[:74] + "\r\n"
		content := []byte(strings.Repeat(line, size/len(line)) + ".\r\n")
		for _, reused := range []bool{false, true} {
			b.Run(fmt.Sprintf("%dKiB/reused=%v", size>>10, reused), func(b *testing.B) {
				_, addr := serve(b, smtpd.Config{MaxConnections: 1000}, sink{})
				b.SetBytes(int64(len(content)))
				b.ReportAllocs()
				b.SetParallelism(8)
				b.RunParallel(func(pb *testing.PB) {
					s := &sender{b: b, addr: addr, r: bufio.NewReader(nil)}
					for pb.Next() {
						s.send(content)
						if !reused {
							s.hangUp()
						}
					}
					s.hangUp()
				})
			})
		}
	}
}

// sender is a minimal SMTP client.
type sender struct {
	b    *testing.B
	addr string
	conn net.Conn
	r    *bufio.Reader
}

func (s *sender) send(content []byte) {
	if s.conn == nil {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			s.b.Error(err)
			return
		}
		s.conn = conn
		s.r.Reset(conn)
		s.replies(1)
		s.say("EHLO client.test\r\n", 1)
	}
	s.say("MAIL FROM:<alice@sender.test>\r\nRCPT TO:<box@example.test>\r\nDATA\r\n", 3)
	_, _ = s.conn.Write(content)
	s.replies(1)
}

func (s *sender) say(octets string, replies int) {
	_, _ = s.conn.Write([]byte(octets))
	s.replies(replies)
}

func (s *sender) replies(n int) {
	for n > 0 {
		line, err := s.r.ReadSlice('\n')
		if err != nil || bytes.IndexByte([]byte("23"), line[0]) < 0 {
			s.b.Errorf("the reply is %q, %v, want one of the classes 2 and 3", line, err)
			return
		}
		if line[3] == ' ' {
			n--
		}
	}
}

func (s *sender) hangUp() {
	if s.conn == nil {
		return
	}
	s.say("QUIT\r\n", 1)
	_ = s.conn.Close()
	s.conn = nil
}
