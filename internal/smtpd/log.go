package smtpd

import (
	"log/slog"
	"time"
)

// Log lines name the client, never whom the mail is for and never what is in it.

// beginLog gives the session what all its lines have in common, which is put together once: its trace and its client.
func (s *session) beginLog() {
	s.log = s.srv.cfg.Logger.With(slog.String("trace", s.trace), slog.String("ip", s.ip.String()))
}

func (s *session) logSession() {
	s.log.LogAttrs(s.srv.base, slog.LevelDebug, "smtp session",
		slog.String("helo", s.helo), slog.String("tls", s.tls),
		slog.Int("commands", s.total), slog.Int("messages", s.messages), slog.Duration("took", s.srv.wall.Now().Sub(s.begun)))
}

func (s *session) logMessage(r reply, octets int64, recipients int, took time.Duration) {
	s.log.LogAttrs(s.srv.base, slog.LevelInfo, "smtp message",
		slog.String("helo", s.helo), slog.String("protocol", s.protocol()),
		slog.Int("recipients", recipients), slog.Int64("octets", octets),
		slog.String("outcome", string(r.outcome())), slog.String("reply", r.status()), slog.Duration("took", took))
}

// fail notes what broke a session. It is mostly the client's doing, so it is no more than a detail.
func (s *session) fail(what string, err error) {
	s.log.LogAttrs(s.srv.base, slog.LevelDebug, "smtp "+what+" failed",
		slog.Any("error", err))
}

func (s *session) logFault(what string, cause any, stack string) {
	s.log.LogAttrs(s.srv.base, slog.LevelError, "smtp "+what,
		slog.Any("error", cause), slog.String("stack", stack))
}
