package diagnosis

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gonebox/gonebox/internal/clock"
	"github.com/gonebox/gonebox/internal/id"
	"github.com/gonebox/gonebox/internal/mailbox"
	"github.com/gonebox/gonebox/internal/message"
	"github.com/gonebox/gonebox/internal/resource"
	"github.com/gonebox/gonebox/internal/search"
)

// read returns the newest messages of some mailboxes in the time that is looked at, newest first.
func (q *inquiry) read(ctx context.Context, boxes []mailbox.Holder, max int) ([]message.Examined, error) {
	holders := make([]message.Holder, 0, min(len(boxes), boxesMax))
	for _, h := range boxes[:min(len(boxes), boxesMax)] {
		holders = append(holders, message.Holder{Box: h.ID, LastAt: h.LastAt})
	}
	refs, err := q.messages.Newest(ctx, holders, message.Span{After: id.Last[id.Message](q.since)}, max)
	if err != nil || len(refs) == 0 {
		return nil, err
	}
	return q.messages.Examine(ctx, refs, q.Query.Match)
}

// examine adds the messages that were there, with what kept each from ending the wait.
func (q *inquiry) examine(ctx context.Context, scope []mailbox.Holder) error {
	all, err := q.read(ctx, scope, messagesMax)
	if err != nil {
		return err
	}
	missed, err := q.searchedInVain(ctx, all)
	if err != nil {
		return err
	}
	explained := false
	for i := range all {
		m := &all[i]
		c := resource.Cause{At: m.ReceivedAt, MessageID: m.ID, Address: addressOf(m, scope)}
		isBefore, matches := m.ID <= q.bound, m.Lack == "" && !missed[m.ID]
		switch {
		case isBefore && matches:
			c.Code, c.Detail = resource.CauseArrivedBefore, q.earlier(m)
			q.add(rankBefore, c)
		case isBefore, matches: // what matches arrived while the wait ended: the next one finds it
		case m.Lack == message.LackCode && !missed[m.ID]:
			c.Code, c.Detail = resource.CauseNoCode, "A message arrived, but it has no code."
			if !explained && !q.Discreet {
				explained = true
				text, err := q.messages.Beginning(ctx, message.Ref{Box: m.MailboxID, Message: m.ID})
				if err != nil {
					return err
				}
				c.Detail += candidates(m.Subject, text)
			}
			q.add(rankContent, c)
		case isLink(m.Lack) && !missed[m.ID]:
			c.Code, c.Detail = resource.CauseNoLink, noLink(m)
			q.add(rankContent, c)
		case m.Lack == message.LackTo && q.Account != "" && isAddress(q.Query.Match.To) && q.similarRecipient(m) != "":
			q.addSimilar(c, q.similarRecipient(m), q.Query.Match.To)
		default:
			rank := rankFiltered
			if m.Lack == message.LackTo {
				rank = rankElsewhere
			}
			c.Code, c.Detail = resource.CauseFiltered, "A message arrived, but "+q.leftOut(m)+"."
			q.add(rank, c)
		}
	}
	return nil
}

// searchedInVain returns those of some messages that the search of the query does not find.
func (q *inquiry) searchedInVain(ctx context.Context, all []message.Examined) (map[id.Message]bool, error) {
	if q.Query.Search == nil || len(all) == 0 {
		return nil, nil
	}
	refs := make([]message.Ref, len(all))
	for i := range all {
		refs[i] = message.Ref{Box: all[i].MailboxID, Message: all[i].ID}
	}
	missed := make(map[id.Message]bool)
	err := q.messages.Searched(ctx, refs, func(r message.Ref, m search.Mail) {
		d := search.New(m)
		missed[r.Message] = !q.Query.Search.Matches(&d)
	})
	return missed, err
}

// addressOf returns the address that a message was for: the mailbox of a project has mail for any address.
func addressOf(m *message.Examined, boxes []mailbox.Holder) string {
	address := boxAddress(m, boxes)
	if _, isProject := mailbox.ProjectName(address); isProject && len(m.EnvelopeTo) > 0 {
		return m.EnvelopeTo[0]
	}
	return address
}

// boxAddress returns the address of the mailbox of a message.
func boxAddress(m *message.Examined, boxes []mailbox.Holder) string {
	i := slices.IndexFunc(boxes, func(h mailbox.Holder) bool { return h.ID == m.MailboxID })
	if i < 0 {
		return ""
	}
	return boxes[i].Address
}

func isLink(l message.Lack) bool {
	return l == message.LackLink || l == message.LackBestLink || l == message.LackAction
}

// noLink says which link a message lacks.
func noLink(m *message.Examined) string {
	switch {
	case !m.HasLinks:
		return "A message arrived, but it has no link."
	case m.Lack == message.LackAction:
		return "A message arrived, but it asks its reader to open no link in particular."
	}
	return "A message arrived, but none of its links is one to follow: they lead to a front page, unsubscribe or the like."
}

// earlier says why a message that matches is too early.
func (q *inquiry) earlier(m *message.Examined) string {
	switch after := q.Query.After; {
	case after == m.ID:
		return "A message that matches arrived before: it is the one in after=" + string(after) + "."
	case after != "" && m.ID < after:
		return "A message that matches arrived before the one in after=" + string(after) + "."
	}
	return fmt.Sprintf("A message that matches arrived at %s, not later than since=%s.", m.ReceivedAt, clock.Stamp{Time: q.Query.Since})
}

// leftOut says which condition a message does not meet, and what it has instead.
func (q *inquiry) leftOut(m *message.Examined) string {
	match := q.Query.Match
	var filter, value, has, generic string
	switch m.Lack {
	case message.LackFrom:
		filter, value, has, generic = "from", match.From, "it is from "+quoted(sender(m.From)), "it is from another sender"
	case message.LackSubject:
		filter, value, has, generic = "subject", match.Subject, "its subject is "+quoted(m.Subject), "it has another subject"
	case message.LackTo:
		filter, value, has, generic = "to", match.To, "it is for "+quoted(recipients(m)), "it is for another recipient"
	case message.LackAttachment:
		return "has=attachment leaves it out: it has no attachment"
	case message.LackUnseen:
		return "unseen=true leaves it out: it was read already"
	default:
		return "the search q does not find it: its subject is " + quoted(m.Subject)
	}
	if q.Discreet {
		has = generic
	}
	return filter + "=" + quoted(value) + " leaves it out: " + has
}

// recipients returns the recipients of a message, as far as they are for its mailbox, or those of its header.
func recipients(m *message.Examined) string {
	if len(m.EnvelopeTo) > 0 {
		return strings.Join(m.EnvelopeTo, ", ")
	}
	var all []string
	for _, a := range m.To {
		all = append(all, a.Address)
	}
	return strings.Join(all, ", ")
}

// similarRecipient returns a recipient of a message that is similar to the one that was waited for, "" if there is none.
func (q *inquiry) similarRecipient(m *message.Examined) string {
	for _, path := range m.EnvelopeTo {
		if isSimilar(path, q.Query.Match.To) {
			return path
		}
	}
	return ""
}

// addSimilar adds a message for a similar address.
func (q *inquiry) addSimilar(c resource.Cause, address, wanted string) {
	c.Code, c.Address = resource.CauseOtherAddress, address
	c.Detail = fmt.Sprintf("A message arrived for %s instead of %s.", quoted(address), quoted(wanted))
	q.add(rankSimilar, c)
}

// lookElsewhere adds mail in other mailboxes of the account: for a similar address, and what domain or source left out.
func (q *inquiry) lookElsewhere(ctx context.Context, scope []mailbox.Holder) error {
	if q.Account == "" || q.Discreet {
		return nil
	}
	wanted, err := q.wanted(ctx)
	if err != nil || len(wanted) == 0 && !q.isNarrowed() {
		return err
	}
	holders, err := q.mailboxes.Holders(ctx, q.Account, mailbox.HolderFilter{After: q.since, Max: similarMax})
	if err != nil {
		return err
	}
	var similar, others []mailbox.Holder
	instead := make(map[id.Mailbox]string)
	for _, h := range holders {
		isInScope := slices.ContainsFunc(scope, func(s mailbox.Holder) bool { return s.ID == h.ID })
		i := slices.IndexFunc(wanted, func(w string) bool { return isSimilar(h.Address, w) })
		switch {
		case isInScope:
		case i >= 0:
			similar, instead[h.ID] = append(similar, h), wanted[i]
		default:
			others = append(others, h)
		}
	}
	found, err := q.read(ctx, similar, ofCodeMax)
	if err != nil {
		return err
	}
	for i := range found {
		if m := &found[i]; m.ID > q.bound {
			q.addSimilar(resource.Cause{At: m.ReceivedAt, MessageID: m.ID}, addressOf(m, similar), instead[m.MailboxID])
		}
	}
	if !q.isNarrowed() {
		return nil
	}
	return q.addOthers(ctx, others)
}

// isNarrowed reports whether the query leaves out mailboxes by what they are.
func (q *inquiry) isNarrowed() bool {
	return q.Query.Domain != "" || q.Query.Source != "" || q.Query.Project != ""
}

// wanted returns the addresses that were waited for, as far as the wait names whole ones.
func (q *inquiry) wanted(ctx context.Context) (all []string, err error) {
	if q.Box != nil {
		if _, isProject := mailbox.ProjectName(q.Box.Address); !isProject { // mail is for no such address
			all = append(all, q.Box.Address)
		}
	}
	if name := q.Query.Mailbox; isAddress(name) {
		all = append(all, name)
	} else if name != "" {
		m, err := q.named(ctx, name)
		if err != nil {
			return nil, err
		}
		if m != nil {
			all = append(all, m.Address)
		}
	}
	if to := q.Query.Match.To; isAddress(to) {
		all = append(all, to)
	}
	return all, nil
}

// narrowedBy says which filter leaves out the mailbox at an address, and what it has instead.
func (q *inquiry) narrowedBy(address string) (filter, has string) {
	if _, domain := cutAddress(address); q.Query.Domain != "" && domain != q.Query.Domain {
		return "domain=" + quoted(q.Query.Domain), "it is for " + address
	}
	if name, isProject := mailbox.ProjectName(address); q.Query.Project != "" && name != q.Query.Project {
		if isProject {
			return "project=" + quoted(q.Query.Project), "it is in the project " + quoted(name)
		}
		return "project=" + quoted(q.Query.Project), "it is in no project"
	}
	return "source=" + string(q.Query.Source), "its mailbox was created otherwise"
}

// addOthers adds messages that match but for the domain, the project or the source of their mailboxes.
func (q *inquiry) addOthers(ctx context.Context, others []mailbox.Holder) error {
	all, err := q.read(ctx, others, messagesMax)
	if err != nil {
		return err
	}
	missed, err := q.searchedInVain(ctx, all)
	if err != nil {
		return err
	}
	for i := range all {
		m := &all[i]
		address := boxAddress(m, others)
		if m.Lack != "" || missed[m.ID] || m.ID <= q.bound || q.Query.Mailbox != "" && q.Query.Mailbox != address && q.Query.Mailbox != string(m.MailboxID) {
			continue
		}
		filter, has := q.narrowedBy(address)
		q.add(rankFiltered, resource.Cause{
			Code: resource.CauseFiltered, At: m.ReceivedAt, MessageID: m.ID, Address: addressOf(m, others),
			Detail: "A message arrived, but " + filter + " leaves it out: " + has + ".",
		})
	}
	return nil
}
