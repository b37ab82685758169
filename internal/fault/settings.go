package fault

import (
	"regexp"
	"strings"

	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/wildcard"
)

// The forms of what owners of rules write. A reply is a code, perhaps an enhanced status code (RFC 3463) of the same class, and a text of
// printable ASCII (RFC 5321 §4.2).
var (
	replyForm   = regexp.MustCompile(`^(?:4[0-5][0-9](?: 4\.[0-9]{1,3}\.[0-9]{1,3})?|5[0-5][0-9](?: 5\.[0-9]{1,3}\.[0-9]{1,3})?)(?: [!-~][ -~]*)?$`)
	statusForm  = regexp.MustCompile(`^[45]\.[0-9]{1,3}\.[0-9]{1,3}$`)
	projectForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)
)

const (
	replyMax   = 400 // octets; RFC 5321 §4.5.3.1.5 allows 512 with the line end
	patternMax = 320
)

// check checks settings. Error: request.invalid.
func (s *Settings) check() error {
	switch {
	case s.Project != "" && !projectForm.MatchString(s.Project):
		return problem.Invalid("/project", "is not the name of a project")
	case len(s.From) > patternMax:
		return problem.Invalid("/from", "has more than %d octets", patternMax)
	case len(s.To) > patternMax:
		return problem.Invalid("/to", "has more than %d octets", patternMax)
	case s.Stage == AtAuth && s.From != "":
		return problem.Invalid("/from", "is not known at AUTH; use the stage mail")
	case (s.Stage == AtAuth || s.Stage == AtMail) && s.To != "":
		return problem.Invalid("/to", "is not known at %s; use the stage rcpt", strings.ToUpper(string(s.Stage)))
	case s.Reply != "" && (len(s.Reply) > replyMax || !replyForm.MatchString(s.Reply)):
		return problem.Invalid("/reply", `must be a code of 400 to 559, perhaps an enhanced status code of the same class, and a text, as in "451 4.3.2 Try again later"`)
	case hasMisplacedStatus(s.Reply):
		return problem.Invalid("/reply", "has an enhanced status code of another class than its code")
	case s.Reply == "" && s.Delay == 0 && !s.Close:
		return problem.Invalid("/reply", "is missing: a rule needs a reply, a delay or close")
	case s.Delay < 0 || s.Delay > DelayMax:
		return problem.Invalid("/delay", "must be 0 to 300 seconds")
	case s.Seed != 0 && s.Probability == 0:
		return problem.Invalid("/seed", "is used with probability only")
	case s.For < 0 || s.For > ForMax:
		return problem.Invalid("/for", "must be 1 to 604800 seconds")
	}
	return nil
}

// hasMisplacedStatus reports whether the second word of a reply is an enhanced status code of another class than its code.
func hasMisplacedStatus(reply string) bool {
	code, rest, _ := strings.Cut(reply, " ")
	status, _, _ := strings.Cut(rest, " ")
	return statusForm.MatchString(status) && status[0] != code[0]
}

// Mail is what is known of a mail when a command of it may be answered by a rule.
type Mail struct {
	Account id.Account // the owner of the sink or of the project; only its rules apply
	Project string     // the name of the project; "": the mail is the sink's
	Stage   Stage
	From    string   // the reverse-path; "" at AtAuth
	To      []string // the recipient at AtRcpt; those that were accepted at AtData and AtMessage; none before
}

// matches reports whether a rule is about a command of a mail, whatever its counts say. Addresses are compared in lower case.
func (s *Settings) matches(m *Mail) bool {
	if s.Stage != m.Stage || s.Project != "" && s.Project != m.Project {
		return false
	}
	if s.From != "" && !wildcard.Match(strings.ToLower(s.From), strings.ToLower(m.From)) {
		return false
	}
	if s.To == "" {
		return true
	}
	for _, to := range m.To {
		if wildcard.Match(strings.ToLower(s.To), strings.ToLower(to)) {
			return true
		}
	}
	return false
}
