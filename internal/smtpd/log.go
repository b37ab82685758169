package smtpd

import (
	"log/slog"
	"time"
)

// Log lines name the client, never whom the mail is for and never what is in it.

// log writes a line. All lines of a session begin with its trace and its client. These are put into each, since most sessions
// write one line, and it has no place in the source, which costs as much to find as the rest.
func (s *session) log(level slog.Level, text string, attrs ...slog.Attr) {
	h := s.srv.cfg.Logger.Handler()
	if !h.Enabled(s.srv.base, level) {
		return
	}
	line := slog.NewRecord(s.srv.wall.Now().Local(), level, text, 0) // local, as the lines of others
	if s.trace != "" {
		line.AddAttrs(slog.String("trace", s.trace), slog.String("ip", s.ip.String()))
	}
	line.AddAttrs(attrs...)
	_ = h.Handle(s.srv.base, line) // there is no other place to tell that it failed
}

func (s *session) logSession() {
	s.log(slog.LevelDebug, "smtp session",
		slog.String("helo", s.helo), slog.String("tls", s.tls),
		slog.Int("commands", s.total), slog.Int("messages", s.messages), slog.Duration("took", s.srv.wall.Now().Sub(s.begun)))
}

func (s *session) logMessage(r reply, octets int64, recipients int, took time.Duration) {
	s.log(slog.LevelInfo, "smtp message",
		slog.String("helo", s.helo), slog.String("protocol", s.protocol()),
		slog.Int("recipients", recipients), slog.Int64("octets", octets),
		slog.String("outcome", string(r.outcome())), slog.String("reply", r.status()), slog.Duration("took", took))
}

// fail notes what broke a session. It is mostly the client's doing, so it is no more than a detail.
func (s *session) fail(what string, err error) {
	s.log(slog.LevelDebug, "smtp "+what+" failed", slog.Any("error", err))
}

func (s *session) logFault(what string, cause any, stack string) {
	s.log(slog.LevelError, "smtp "+what, slog.Any("error", cause), slog.String("stack", stack))
}
