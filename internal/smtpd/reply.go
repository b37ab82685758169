package smtpd

// reply is the text of an SMTP reply without its last CRLF: a code, an enhanced status code (RFC 3463) and words. The code
// determines how the session continues: 221 and 421 end it, 5yz counts as an error. The empty reply is not sent.
type reply string

const (
	replyOK               reply = "250 2.0.0 Ok"
	replyGoodbye          reply = "221 2.0.0 Goodbye"
	replyBlockedClient    reply = "554 5.7.1 Connections from your address are blocked here"
	replyBlockedSender    reply = "550 5.7.1 Mail from this sender is blocked here"
	replyBlockedRecipient reply = "550 5.7.1 Mail to this recipient is blocked here"
	replyStartTLS         reply = "220 2.0.0 Ready to start TLS"
	replySender           reply = "250 2.1.0 Sender ok"
	replyRecipient        reply = "250 2.1.5 Recipient ok"
	replyAuthenticated    reply = "235 2.7.0 Authentication successful"
	replyChallenge        reply = "334 "
	replyUserName         reply = "334 VXNlcm5hbWU6" // "Username:"
	replyPassword         reply = "334 UGFzc3dvcmQ6" // "Password:"
	replyStartContent     reply = "354 Start mail input; end with <CRLF>.<CRLF>"
	replyChunk            reply = "250 2.0.0 Chunk taken"
	replyVerify           reply = "252 2.5.0 Cannot verify, but will take mail for a mailbox that exists"
	replyHelp             reply = "214 2.0.0 Commands: EHLO HELO MAIL RCPT DATA BDAT RSET NOOP QUIT VRFY HELP STARTTLS; see RFC 5321"

	replyTimeout       reply = "421 4.4.2 Timeout, closing the connection"
	replyLost          reply = "421 4.4.2 The connection broke within the message"
	replyDraining      reply = "421 4.3.2 The server is going down, try again later"
	replyCut           reply = "421 4.4.2 The connection is closed on purpose" // is not sent
	replyFault         reply = "421 4.3.0 Something went wrong on our side, try again later"
	replyTooMany       reply = "421 4.7.0 Too many connections from your address, try again later"
	replyCommands      reply = "421 4.7.0 Too many commands, try again later"
	replyErrors        reply = "421 4.7.0 Too many errors, closing the connection"
	replyNotSMTP       reply = "421 4.7.0 This is a mail server, closing the connection"
	replyEnded         reply = "451 4.2.1 A mailbox has ended since RCPT, try again for the others"
	replyForwardFailed reply = "451 4.5.0 XFORWARD was refused, so that the client is not known; send RSET first"
	replyRecipients    reply = "452 4.5.3 The message has too many recipients"

	replyLongLine          reply = "500 5.5.2 The command line is too long"
	replyControl           reply = "500 5.5.2 A command ends in CRLF and has no control characters"
	replyUnknown           reply = "500 5.5.1 No such command"
	replyNoArgument        reply = "501 5.5.4 The command takes no argument"
	replyArgument          reply = "501 5.5.4 The command needs an argument"
	replyHelloArgument     reply = "501 5.5.4 The name is not one"
	replyMailSyntax        reply = "501 5.5.4 Expected MAIL FROM:<address>"
	replyRcptSyntax        reply = "501 5.5.4 Expected RCPT TO:<address>"
	replySenderSyntax      reply = "501 5.1.7 The sender's address is not valid"
	replyRcptAddress       reply = "501 5.1.3 The recipient's address is not valid"
	replyParameters        reply = "501 5.5.4 The parameters are not valid"
	replyChunkSyntax       reply = "501 5.5.4 Expected BDAT size [LAST]; closing, since the chunk's end is not known"
	replyNoInitial         reply = "501 5.7.0 The mechanism begins with a challenge, not with a response"
	replyAuthCancelled     reply = "501 5.7.0 Authentication cancelled"
	replyAuthSyntax        reply = "501 5.5.2 The response is not valid base64"
	replyAttributes        reply = "501 5.5.4 The attributes are not valid"
	replyNoSuch            reply = "502 5.5.1 The command is not implemented"
	replyNoTLS             reply = "502 5.5.1 TLS is not available"
	replyHelloFirst        reply = "503 5.5.1 Send EHLO first"
	replyMailFirst         reply = "503 5.5.1 Send MAIL first"
	replyNoRecipient       reply = "503 5.5.1 No valid recipient"
	replyChunked           reply = "503 5.5.1 The message has begun with BDAT, go on with BDAT or RSET"
	replyTLSAlready        reply = "503 5.5.1 TLS is on already"
	replyAuthAlready       reply = "503 5.5.1 Already authenticated"
	replyAuthInTransaction reply = "503 5.5.1 AUTH is not allowed within a mail transaction"
	replyNotInTransaction  reply = "503 5.5.1 The command is not allowed within a mail transaction"
	replyMechanism         reply = "504 5.5.4 The mechanism is not supported, use PLAIN, LOGIN, CRAM-MD5 or XOAUTH2"
	replyCredentials       reply = "535 5.7.8 The name and the password are not those of a project"
	replyNeedsUTF8         reply = "553 5.6.7 The address needs SMTPUTF8"
	replyParameter         reply = "555 5.5.4 A parameter is not known or not available"
)

// endsSession reports whether the session ends with the reply.
func (r reply) endsSession() bool { return len(r) > 2 && (r[:3] == "421" || r[:3] == "221") }

// isPermanent reports whether the reply is 5yz.
func (r reply) isPermanent() bool { return r != "" && r[0] == '5' }

// status returns the reply's code with its enhanced status code, for the log.
func (r reply) status() string {
	const length = len("250 2.0.0")
	return string(r[:min(len(r), length)])
}

// outcome returns the outcome of a message that got the reply.
func (r reply) outcome() Outcome {
	switch {
	case r == replyLost, r == replyTimeout:
		return Aborted
	case r.isPermanent():
		return Refused
	case r != "" && r[0] == '2':
		return Taken
	default:
		return Deferred
	}
}
