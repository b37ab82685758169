package retention_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"time"
)

// patience bounds a test that hangs.
const patience = time.Minute

// sender is an SMTP connection on which mails are sent one after the other.
type sender struct {
	conn net.Conn
	in   *bufio.Reader
}

func dial(addr string) (*sender, error) {
	conn, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, err
	}
	s := &sender{conn, bufio.NewReader(conn)}
	if err = s.expect("220"); err == nil {
		err = s.say("EHLO sender.example.org\r\n", "250")
	}
	if err != nil {
		conn.Close()
	}
	return s, err
}

// say sends a line and reads its reply.
func (s *sender) say(text string, replies ...string) error {
	if err := s.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := s.conn.Write([]byte(text)); err != nil {
		return err
	}
	for _, code := range replies {
		if err := s.expect(code); err != nil {
			return err
		}
	}
	return nil
}

// expect reads a reply, however many lines it has.
func (s *sender) expect(code string) error {
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			return err
		}
		if len(line) < 4 || line[:3] != code {
			return fmt.Errorf("reply %q instead of %s", strings.TrimSpace(line), code)
		}
		if line[3] == ' ' {
			return nil
		}
	}
}

// send sends a mail and returns the time from the end of its content to the 250.
func (s *sender) send(to, content string) (time.Duration, error) {
	if err := s.say("MAIL FROM:<bounce@shop.example.org>\r\nRCPT TO:<"+to+">\r\nDATA\r\n", "250", "250", "354"); err != nil {
		return 0, err
	}
	begun := time.Now()
	err := s.say(content+".\r\n", "250")
	return time.Since(begun), err
}

// sampleMail is a mail of about 4 KiB that compresses like prose.
func sampleMail(to string, serial int) string {
	words := strings.Fields("lamp quiet garden order window paper winter table gentle harbour river cotton bright parcel corner evening copper " +
		"simple letter meadow travel basket mirror autumn kettle sailor marble pepper violet hammer orchard lantern thunder velvet wagon anchor")
	dice := rand.New(rand.NewPCG(uint64(serial), 1))
	var b strings.Builder
	fmt.Fprintf(&b, "From: \"Shop %d\" <no-reply@shop.example.org>\r\nTo: <%s>\r\nSubject: Sign in to shop %[1]d\r\nDate: Sat, 14 Mar 2026 11:59:00 +0000\r\n"+
		"Message-ID: <%[1]d@out.shop.example.org>\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nYour sign-in code is:\r\n\r\n    %06[3]d\r\n\r\n", serial, to, 100_000+serial*618_031%900_000)
	for column := 0; b.Len() < 4<<10; {
		word := words[dice.IntN(len(words))]
		if column += len(word) + 1; column > 72 {
			b.WriteString("\r\n")
			column = len(word) + 1
		}
		b.WriteString(word + " ")
	}
	return b.String() + "\r\n"
}
