package catchall

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/emersion/go-imap/v2"

	"github.com/gonebox/gonebox/internal/clock"
)

// errNotTaken means that the service did not read a message.
var errNotTaken = errors.New("the service has not taken the message out of the mailbox: does it run, and is the last error of the ingress on the page for staff?")

// Try puts a message with a Message-ID into the folder of a mailbox, and waits until a service has taken it out, at most for d.
func Try(ctx context.Context, c Config, message []byte, id string, d time.Duration) error {
	box, err := New(c, Parts{}).connect(ctx)
	if err != nil {
		return err
	}
	defer box.close()
	err = box.within(commandMost, answerMost, func() error {
		put := box.client.Append(c.Folder, int64(len(message)), nil)
		if _, err := put.Write(message); err != nil {
			return err
		}
		if err := put.Close(); err != nil {
			return err
		}
		_, err := put.Wait()
		return err
	})
	if err != nil {
		return fmt.Errorf("put a message into %s: %w", c.Folder, err)
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for {
		there, err := box.has(id)
		if err != nil || !there {
			return err
		}
		if err := box.wait(ctx, clock.System()); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return errNotTaken
		}
	}
}

// has reports whether the folder has a message with a Message-ID.
func (c *connection) has(id string) (there bool, err error) {
	err = c.within(answerIn, answerMost, func() error {
		found, err := c.find(&imap.SearchCriteria{Header: []imap.SearchCriteriaHeaderField{{Key: "Message-Id", Value: id}}})
		there = len(found) > 0
		return err
	})
	return there, err
}
