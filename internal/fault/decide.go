package fault

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/gonebox/gonebox/internal/db"
)

// Action is what happens to a command instead of its execution. The zero Action is nothing.
type Action struct {
	Reply string        // "": the command is executed, unless Close is true
	Delay time.Duration // before
	Close bool          // the connection is closed, after Reply if there is one
}

// counts are what is stored of the use of a rule.
type counts struct {
	matched  int64     // commands that the rule was about
	hits     int64     // commands that it answered
	minuteAt time.Time // when the current minute of PerMinute began
	passed   int64     // commands that passed in that minute
}

// decide reports whether a rule answers a command that it matches, and returns its counts after that. tried is how often the same mail came
// to the same rule before. The result depends on the arguments alone.
func (s *Settings) decide(c counts, now time.Time, key mailKey, tried int64) (after counts, answers bool) {
	if s.Times > 0 && c.hits >= s.Times {
		return c, false
	}
	c.matched++
	answers = (s.Every == 0 || c.matched%s.Every == 0) && (s.Probability == 0 || s.draw(key, tried) < s.Probability)
	if s.PerMinute > 0 && answers {
		if now.Sub(c.minuteAt) >= time.Minute || now.Before(c.minuteAt) {
			c.minuteAt, c.passed = now, 0
		}
		if c.passed < s.PerMinute {
			c.passed++
			answers = false
		}
	}
	if answers {
		c.hits++
	}
	return c, answers
}

// mailKey identifies the sender and the recipients of a mail.
type mailKey [sha256.Size]byte

// key returns the key of a mail. The order of its recipients and the case of letters do not matter.
func (m *Mail) key() mailKey {
	to := slices.Clone(m.To)
	for i := range to {
		to[i] = strings.ToLower(to[i])
	}
	slices.Sort(to)
	return sha256.Sum256([]byte(strings.ToLower(m.From) + "\x00" + strings.Join(to, "\x00")))
}

// draw returns a number of [0, 1) that the seed, the mail and the number of its tries determine, whatever other mails come in between.
func (s *Settings) draw(key mailKey, tried int64) float64 {
	p := binary.BigEndian.AppendUint64(key[:], uint64(s.Seed))
	p = binary.BigEndian.AppendUint64(p, uint64(tried))
	sum := sha256.Sum256(p)
	const mantissa = 53
	return float64(binary.BigEndian.Uint64(sum[:])>>(64-mantissa)) / (1 << mantissa)
}

// Decide returns what happens to a command of a mail: what the first rule does that matches it and whose counts make it answer. Without a
// matching rule it reads nothing but memory.
func (s *Service) Decide(ctx context.Context, m *Mail) (a Action, err error) {
	rules, err := s.cachedRules(ctx, m.Account)
	if err != nil {
		return a, err
	}
	matching := slices.DeleteFunc(slices.Clone(rules), func(r *Rule) bool { return !r.matches(m) })
	if len(matching) == 0 {
		return a, nil
	}
	err = s.db.Update(ctx, func(ctx context.Context, tx *db.Tx) error {
		a, err = s.decideTx(ctx, tx, matching, m)
		return err
	})
	return a, err
}

// decideTx tries rules in turn and stores their counts.
func (s *Service) decideTx(ctx context.Context, tx *db.Tx, rules []*Rule, m *Mail) (Action, error) {
	now, key := s.clock.Now(), m.key()
	for _, cached := range rules {
		r, err := lockTx(ctx, tx, cached.ID, now)
		if err != nil {
			return Action{}, err
		}
		if r == nil { // it was deleted, or has ended
			continue
		}
		tried := int64(0)
		if r.Probability > 0 {
			if tried, _, err = tryTx(ctx, tx, string(r.ID), key, now); err != nil {
				return Action{}, err
			}
		}
		after, answers := r.decide(r.counts, now, key, tried)
		if after != r.counts {
			if err := saveTx(ctx, tx, r.ID, after); err != nil {
				return Action{}, err
			}
		}
		if answers {
			return Action{Reply: complete(r.Reply), Delay: r.Delay, Close: r.Close}, nil
		}
	}
	return Action{}, nil
}

// complete returns a reply with a text, without which clients may not recognise it.
func complete(reply string) string {
	code, rest, _ := strings.Cut(reply, " ")
	switch {
	case reply == "":
		return ""
	case rest == "":
		return code + " " + code[:1] + ".0.0 Refused by a fault rule"
	case statusForm.MatchString(rest):
		return reply + " Refused by a fault rule"
	default:
		return reply
	}
}
