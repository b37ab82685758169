package diagnosis

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/deliverylog"
	"github.com/gonebox/gonebox/internal/otp"
	"github.com/gonebox/gonebox/internal/problem"
	"github.com/gonebox/gonebox/internal/resource"
	"github.com/gonebox/gonebox/internal/truncate"
)

// quotedMax bounds what is quoted of a message or a query, in characters.
const quotedMax = 80

// quoted returns the beginning of a text in quotation marks, on one line: characters that are not printable are escaped.
func quoted(text string) string {
	short := truncate.Runes(text, quotedMax)
	if len(short) < len(text) {
		short += "…"
	}
	return strconv.Quote(short)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// sender returns a sender as a mail names it.
func sender(a resource.Address) string {
	if a.Name == "" {
		return a.Address
	}
	return a.Name + " <" + a.Address + ">"
}

// refusal returns the cause of a mail that was refused.
func refusal(r *deliverylog.Refused) resource.Cause {
	reply := strings.TrimSpace(strconv.Itoa(r.Reply) + " " + r.Code)
	c := resource.Cause{Code: refusalCode(r.Reason), At: clock.Stamp{Time: r.At}, Address: r.Address}
	c.Detail = fmt.Sprintf("Mail for %s was refused with %s %s.", r.Address, reply, quoted(r.Reason))
	return c
}

// refusalCode returns the code of a refusal by the text of its reply: the replies for a full mailbox and for a quota have the
// same numbers. Those to blocked senders and recipients are in internal/smtpd.
func refusalCode(reason string) resource.CauseCode {
	switch reason {
	case problem.MailMailboxFull.Title():
		return resource.CauseMailboxFull
	case problem.MailDailyCap.Title(), problem.MailboxLimitReached.Title():
		return resource.CauseQuota
	case "Mail from this sender is blocked here", "Mail to this recipient is blocked here":
		return resource.CauseBlocked
	}
	if strings.HasPrefix(reason, "Mail from your address is refused, it is listed by ") {
		return resource.CauseBlocked
	}
	return resource.CauseRefused
}

// candidatesMax is how many candidates for the code a cause names.
const candidatesMax = 2

// candidates returns a sentence about the likeliest candidates for a code and what spoke against each, "" if there is none.
func candidates(subject, text string) string {
	e := otp.Explain(otp.Mail{Subject: subject, Text: truncate.Octets(text, explainedMax)})
	var best []otp.Candidate
	for _, c := range e.Candidates { // in the order of the mail
		if c.Chosen {
			return "" // its HTML spoke against it
		}
		at := len(best)
		for at > 0 && best[at-1].Score < c.Score {
			at--
		}
		isKnown := false
		for i := range best {
			isKnown = isKnown || best[i].Value == c.Value
		}
		if at < candidatesMax && !isKnown {
			best = append(best[:at], append([]otp.Candidate{c}, best[at:min(len(best), candidatesMax-1)]...)...)
		}
	}
	var parts []string
	for _, c := range best {
		parts = append(parts, quoted(c.Display)+", since "+against(c.Reasons))
	}
	if len(parts) == 0 {
		return " Nothing in it looks like a code."
	}
	return " The likeliest " + plural(len(parts), "text was", "texts were") + " not taken for a code: " + strings.Join(parts, "; and ") + "."
}

// against returns in words what speaks most against a candidate. The reasons of package otp have their weights in front.
func against(reasons []string) string {
	type counter struct {
		weight float64
		words  string
	}
	var all []counter
	for _, r := range reasons {
		number, words, _ := strings.Cut(r, " ")
		weight, err := strconv.ParseFloat(number, 64)
		if err != nil || weight >= 0 || slices.ContainsFunc(all, func(c counter) bool { return c.words == words }) {
			continue
		}
		if words == "form" {
			words = "it does not have the usual form of a code"
		}
		all = append(all, counter{weight, words})
	}
	if len(all) == 0 {
		return "no word near it says that it is one"
	}
	slices.SortStableFunc(all, func(a, b counter) int { return cmp.Compare(a.weight, b.weight) })
	var words []string
	for _, c := range all[:min(len(all), 3)] {
		words = append(words, truncate.Runes(c.words, quotedMax))
	}
	return strings.Join(words, ", ")
}
