package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// summary is what the bench reads of a listed message.
type summary struct {
	ID, Subject string
	OTP         *struct{ Code string }
}

// verify looks over HTTP whether each mailbox holds exactly the mails that were answered 250 since it was last called, and
// returns how many of them have the code that was sent as their code.
func (g *gonebox) verify(ctx context.Context, boxes []mailbox, taken []sent) (coded int, err error) {
	want := make([][]int, len(boxes))
	for _, s := range taken {
		want[s.box] = append(want[s.box], s.code)
	}
	c, err := dial(ctx, g.web)
	if err != nil {
		return 0, err
	}
	defer c.conn.Close()
	for i := range boxes {
		n, err := c.verifyBox(&boxes[i], want[i])
		if err != nil {
			return 0, err
		}
		coded += n
	}
	return coded, nil
}

func (c *caller) verifyBox(box *mailbox, want []int) (coded int, err error) {
	all, err := c.newer(box)
	if err != nil {
		return 0, err
	}
	got := make([]int, len(all))
	for i, m := range all {
		if got[i], err = subjectCode(m.Subject); err != nil {
			return 0, err
		}
		if m.OTP != nil && m.OTP.Code == m.Subject[:len(codeMark)] {
			coded++
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return 0, fmt.Errorf("%s holds %d new mails, %d were answered 250, and they are not the same", box.Address, len(got), len(want))
	}
	return coded, nil
}

// newer lists what came into a mailbox since the last call.
func (c *caller) newer(box *mailbox) ([]summary, error) {
	var all []summary
	path := "/mailboxes/me/messages?limit=100"
	if box.last != "" {
		path += "&after=" + box.last
	}
	for cursor := ""; ; {
		var page struct {
			Data       []summary
			NextCursor *string
		}
		if err := c.call(200, "GET", path+cursor, box.Token, "", &page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if page.NextCursor == nil {
			break
		}
		cursor = "&cursor=" + *page.NextCursor
	}
	if len(all) > 0 {
		box.last = all[0].ID
	}
	return all, nil
}

// remember notes the newest message of the list that was last answered.
func (c *caller) remember(box *mailbox) error {
	var page struct{ Data []summary }
	if err := json.Unmarshal(c.body, &page); err != nil {
		return fmt.Errorf("decode a list: %w", err)
	}
	if len(page.Data) == 0 {
		return fmt.Errorf("the list of %s is empty", box.Address)
	}
	box.last = page.Data[0].ID
	return nil
}
