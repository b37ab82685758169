package smtpd

import (
	"log/slog"
	"time"
)

// Log lines contain the client's address, never recipients and never content.

// log writes a line. All lines of a session that was admitted begin with its trace and the client's address.
func (s *session) log(level slog.Level, text string, attrs ...slog.Attr) {
	if !s.srv.cfg.Logger.Enabled(s.srv.base, level) {
		return
	}
	if s.trace != "" {
		attrs = append([]slog.Attr{slog.String("trace", s.trace), slog.String("ip", s.ip.String())}, attrs...)
	}
	s.srv.cfg.Logger.LogAttrs(s.srv.base, level, text, attrs...)
}

// logSession logs the end of a session, for debugging.
func (s *session) logSession() {
	s.log(slog.LevelDebug, "smtp session",
		slog.String("helo", s.heloName()), slog.String("tls", s.tls),
		slog.Int("commands", s.totalCommands), slog.Int("messages", s.messages), slog.Duration("took", s.srv.wall.Now().Sub(s.begun)))
}

// logMessage logs the reply to the content of a message, for debugging.
func (s *session) logMessage(r reply, octets int64, recipients int, took time.Duration) {
	s.log(slog.LevelDebug, "smtp message", // Config.Attempt reports each recipient
		slog.String("helo", s.heloName()), slog.String("protocol", s.protocol()),
		slog.Int("recipients", recipients), slog.Int64("octets", octets),
		slog.String("outcome", string(r.outcome())), slog.String("reply", r.status()), slog.Duration("took", took))
}

// logBlocked counts and logs that a client or a sender is blocked by the operator. Blocked recipients are reported by Config.Attempt instead.
func (s *session) logBlocked(b Block, r reply, attrs ...slog.Attr) {
	s.log(slog.LevelInfo, string(b)+" blocked", append([]slog.Attr{slog.String("client", s.ip.String()), slog.String("reply", r.status())}, attrs...)...)
	s.srv.cfg.Metrics.Blocked(b)
}

// logConnError logs an error of the connection, at debug level, since most of them are caused by clients.
func (s *session) logConnError(operation string, err error) {
	s.log(slog.LevelDebug, "smtp "+operation+" failed", slog.Any("error", err))
}

// logFault logs an error of this server, which an operator should look at.
func (s *session) logFault(operation string, cause any, stack string) {
	s.log(slog.LevelError, "smtp "+operation, slog.Any("error", cause), slog.String("stack", stack))
}
